"""A child that archives and compacts is killed at a random moment, again and again on one home folder."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from host import Host
from host.messages.canonical import canonical
from host.messages.types import Message
from host.messages.violations import violations
from host.testing.messages import assistant, call, result, user
from tests.chaos.hearing import unexpected

WINDOW = 3_000  # tokens: small enough that a child compacts several times a second
LONGEST = 0.4  # seconds that a child lives
LEASE = 0.2  # seconds: the next child does not wait for a dead one
POLITE = ("is not compacted now", "the window holds about", "the window grew")  # no fault: held by a dead child, or as small as it gets


@dataclass
class Acknowledged:
    """What the children were told is kept: position -> digest, and the newest version of the view."""

    digests: dict[int, str] = field(default_factory=dict)
    version: int = 0
    deaths: int = 0


def said(number: int) -> list[Message]:
    """The next messages of the conversation: a question, a call, its result, an answer."""
    noise = random.Random(number)
    words = " ".join(noise.choices(["gateway", "retry", "连接超时", "port", "設定", "logs", "deploy"], k=40))
    name = f"call-{number}"
    return [
        user(f"Question {number}: what about {words}?"),
        assistant(None, calls=[call(name, "look", json.dumps({"at": number}))]),
        result(name, f"{words} {number} \ud83d \x00"),
        assistant(f"Answer {number}: {words}"),
    ]


def child(home: Path, out: int, seed: int) -> None:
    """Archive and compact until killed; every acknowledgement is one write to ``out``."""
    with Host(home=home, warn=lambda text: None) as host:
        talk = host.conversation("killed", window=WINDOW)
        talk.shelf.lease_seconds = LEASE
        number = seed * 100_000
        while True:
            number += 1
            for message in said(number):
                row = talk.add(message)
                os.write(out, f"row {row} {digest(message)}\n".encode())
            talk.window()
            os.write(out, f"view {talk.view.version}\n".encode())


def digest(message: Message) -> str:
    """Of the canonical bytes."""
    return sha256(canonical(message)).hexdigest()


def kill_once(home: Path, seed: int, known: Acknowledged) -> None:
    """One child's life; what it acknowledged is added to ``known``."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            child(home, write, seed)
        finally:
            os._exit(1)
    os.close(write)
    time.sleep(random.Random(seed).uniform(0.02, LONGEST))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    known.deaths += 1
    with os.fdopen(read, "rb") as pipe:
        for line in pipe.read().decode().split("\n")[:-1]:
            kind, *values = line.split()
            if kind == "row":
                known.digests[int(values[0])] = values[1]
            else:
                known.version = max(known.version, int(values[0]))


def faults_after(home: Path, known: Acknowledged) -> list[str]:
    """What is wrong with the archive now; nothing should be."""
    faults: list[str] = []
    with Host(home=home, warn=unexpected(faults)) as host:
        talk = host.conversation("killed", window=WINDOW)
        kept = {row.position: digest(row.message) for row in talk.archive.rows() if row.message is not None}
        faults += [f"row {row} is not as acknowledged" for row, told in known.digests.items() if kept.get(row) != told]
        if list(kept) != list(range(1, len(kept) + 1)):
            faults.append("positions have gaps")
        if talk.view.version < known.version:
            faults.append(f"view {talk.view.version} is older than the acknowledged {known.version}")
        faults += [f"window: {violation}" for violation in (violations(talk.window()) if kept else [])]
        checked = host.store.admin.verify(prove=True)
        faults += [f"verify: {finding.where}: {finding.what}" for finding in checked.findings]
        faults += [f"not represented: {proof.not_represented}" for proof in checked.proofs if proof.not_represented]
    return [fault for fault in faults if not any(words in fault for words in POLITE)]


def killer_loop(home: Path, runs: int, *, verify_each: int = 1) -> tuple[Acknowledged, list[str]]:
    """Kill ``runs`` children; the archive is checked after each ``verify_each``."""
    known = Acknowledged()
    for run in range(1, runs + 1):
        kill_once(home, run, known)
        if run % verify_each == 0 or run == runs:
            faults = faults_after(home, known)
            if faults:
                return known, [f"after death {run}: {fault}" for fault in faults]
    return known, []
