"""All conversations of a folder through the archive and back: ``python -m tests.store.round_trip PATH...``.

Each is archived message by message and as a list that grows, with compactions between, and compared in canonical form and
order; opened anew and compared again; handed over three times, as other clients would tell it, and edited.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from host import Host
from host.conversation.conversation import Conversation
from host.errors import CtxhostError, UsageError
from host.formats import read
from host.messages.canonical import canonical
from host.messages.types import Message

WINDOW = 8_000  # tokens: nearly every conversation is compacted


def conversations(paths: Sequence[Path]) -> Iterator[tuple[str, list[Message]]]:
    """Everything below the paths that host.formats can read."""
    for path in sorted(file for given in paths for file in ([given] if given.is_file() else given.rglob("*")) if file.is_file()):
        try:
            found = read(path)
        except CtxhostError:
            continue
        for number, transcript in enumerate(found):
            yield f"{path.name} {number}", list(transcript.messages)


def kept(talk: Conversation) -> list[bytes]:
    """The newest version of every message, as bytes, in order."""
    return [canonical(row.message) for row in talk.archive.current() if row.message is not None]


def compacted(talk: Conversation) -> None:
    """The window as small as it gets, unless calls wait for their results."""
    talk.window()
    with suppress(UsageError):
        talk.compact()


def as_other_clients_tell_it(messages: Sequence[Message]) -> list[Message]:
    """Other order of keys, a time of its own, a cache marker at the end, no reasoning."""
    dropped = ("reasoning", "reasoning_content")
    told = [cast(Message, {key: value for key, value in reversed(message.items()) if key not in dropped}) for message in messages]
    told = [cast(Message, {**message, "timestamp": "2026-11-30T10:00:00Z"}) for message in told]
    if told and isinstance(told[-1].get("content"), str) and told[-1]["content"]:
        told[-1] = {**told[-1], "content": [{"type": "text", "text": told[-1]["content"], "cache_control": {"type": "ephemeral"}}]}
    return told


def faults_of(home: Path, title: str, messages: list[Message], counts: Counter[str]) -> list[str]:
    """What is not as it should be with one conversation."""
    faults: list[str] = []
    wanted = list(map(canonical, messages))
    with Host(home=home, warn=lambda text: None) as host:
        talk = host.conversation(title, window=WINDOW)
        for message in messages[: len(messages) // 2]:
            talk.add(message)
        compacted(talk)
        for end in range(len(messages) // 2, len(messages) + 1, max(1, len(messages) // 8)):
            talk.receive(messages[:end])
        talk.receive(messages)
        faults += ["archived otherwise"] if kept(talk) != wanted else []
        compacted(talk)
    with Host(home=home, warn=lambda text: None) as host:
        talk = host.conversation(title, window=WINDOW)
        counts["compactions"] += talk.view.version
        faults += ["otherwise after compaction and restart"] if kept(talk) != wanted else []
        for name, told in {
            "the same list": messages,
            "the same list again": messages,
            "and again": messages,
            "told by another client": as_other_clients_tell_it(messages),
            "the window": talk.window(),
        }.items():
            received = talk.receive(told)
            faults += [f"{name}: {received.added} added, {received.versions} versions"] if received.added or received.versions else []
        at = next((i for i, message in enumerate(messages) if message["role"] in ("user", "tool")), None)
        if at is not None:
            received = talk.receive([cast(Message, {**m, "content": "edited"}) if i == at else m for i, m in enumerate(messages)])
            faults += (
                [f"an edit: {received.added} added, {received.versions} versions"] if (received.added, received.versions) != (0, 1) else []
            )
    counts["messages"] += len(messages)
    return [f"{title}: {fault}" for fault in faults]


def main(paths: list[str]) -> int:
    """Exit status 1 if anything came back otherwise."""
    counts, faults = Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "config.yaml").write_text("context: {engine: compressor}\nstore: {durability: normal}\n")
        for number, (name, messages) in enumerate(conversations(list(map(Path, paths)))):
            faults += faults_of(home, f"{number} {name}"[:80], messages, counts)
            counts["conversations"] += 1
        with Host(home=home) as host:
            counts["rows"] = sum(session.messages for session in host.store.sessions.listed())
            found = host.store.admin.verify(prove=True).findings
            faults += [f"verify: {finding.where}: {finding.what}" for finding in found]
    print(", ".join(f"{count:,} {what}" for what, count in counts.items()), f"{len(faults)} faults", sep=", ")
    for fault in faults[:30]:
        print(f"  {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
