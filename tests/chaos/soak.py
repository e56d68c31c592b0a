"""Many processes on the same conversations: reading, writing, compacting and searching at once."""

from __future__ import annotations

import json
import os
import random
import time
import traceback
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host import Host
from host.messages.reading import text_of
from host.messages.types import Message
from host.messages.violations import violations
from host.store.query import Mode, Query
from host.testing.messages import assistant, user
from tests.chaos.hearing import unexpected
from tests.chaos.killing import POLITE, WINDOW


@dataclass(frozen=True)
class Soaked:
    """What came out: counts of all processes together, and what went wrong."""

    messages: int
    compactions: int
    searches: int
    versions: int
    faults: tuple[str, ...]


def worker(home: Path, number: int, title: str, seconds: float, out: Path) -> None:
    """One process: add, look, search for what it said, sometimes compact by hand."""
    noise, done = random.Random(number), Counter[str]()
    said, faults = list[str](), list[str]()
    until = time.monotonic() + seconds
    with Host(home=home, warn=unexpected(faults)) as host:
        talk = host.conversation(title, window=WINDOW)
        while time.monotonic() < until:
            try:
                word = f"w{number}x{len(said):05d}"
                talk.add(user(f"{word} from process {number}: " + "the gateway drops requests 网关超时 " * noise.randint(1, 8)))
                said.append(word)
                talk.add(assistant("noted, " + "we look at the logs " * noise.randint(1, 8)))
                window: list[Message] = talk.window()
                faults += [f"illegal window: {violation}" for violation in violations(window)]
                if noise.random() < 0.1:
                    done["compactions"] += int(talk.compact().refused is None)
                if noise.random() < 0.3:
                    done["searches"] += 1
                    wanted = noise.choice(said)
                    page = host.store.search.find(Query(wanted, Mode.LITERAL, conversation=talk.shelf.conversation))
                    if len(page.hits) != 1:
                        faults.append(f"{wanted} found {len(page.hits)} times")
            except Exception:  # noqa: BLE001  whatever a user would have seen is a fault of the soak
                faults.append(traceback.format_exc())
    out.write_text(json.dumps({"said": said, "faults": faults, **done}))


def soak(home: Path, processes: int, sessions: int, seconds: float) -> Soaked:
    """Run the processes, then check that no row is lost or doubled and that each view was published once."""
    titles = [f"soak {number % sessions}" for number in range(processes)]
    with Host(home=home) as host:
        for title in dict.fromkeys(titles):
            host.conversation(title, window=WINDOW)
    outs = [home.with_name(f"{home.name}-{number}.json") for number in range(processes)]
    children: list[int] = []
    for number in range(processes):
        pid = os.fork()
        if pid == 0:
            try:
                worker(home, number, titles[number], seconds, outs[number])
            finally:
                os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    reports = [json.loads(out.read_text()) for out in outs]
    return checked(home, titles, reports)


def checked(home: Path, titles: list[str], reports: list[dict[str, Any]]) -> Soaked:
    """Hold what the processes said against what is kept."""
    faults: list[str] = [fault for report in reports for fault in report["faults"] if not any(words in fault for words in POLITE)]
    messages = versions = 0
    with Host(home=home, warn=unexpected(faults)) as host:
        for title in dict.fromkeys(titles):
            talk = host.conversation(title, window=WINDOW)
            rows = list(talk.archive.rows())
            words = Counter(text_of(row.message).split()[0] for row in rows if row.message is not None and row.role == "user")
            wanted = Counter(word for own, report in zip(titles, reports, strict=True) if own == title for word in report["said"])
            if words != wanted:
                faults.append(f"{title}: lost {(wanted - words).total()}, doubled {(words - wanted).total()}")
            if [row.position for row in rows] != list(range(1, len(rows) + 1)):
                faults.append(f"{title}: positions are not dense")
            history = talk.shelf.views.history() if talk.shelf.views is not None else []
            if [view.version for view in history] != list(range(1, len(history) + 1)):
                faults.append(f"{title}: versions are not dense")
            messages, versions = messages + len(rows), versions + len(history)
        faults += [f"verify: {finding.where}: {finding.what}" for finding in host.store.admin.verify(prove=True).findings]
    totals = [sum(int(report.get(key, 0)) for report in reports) for key in ("compactions", "searches")]
    return Soaked(messages, totals[0], totals[1], versions, tuple(faults))
