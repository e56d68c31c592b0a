"""Many threads or processes that open and write at once."""

from __future__ import annotations

import json
import multiprocessing
import re
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from host import Host
from host.conversation.conversation import Conversation
from host.messages.types import Message
from tests.cases.case import Case
from tests.cases.described import amount_of
from tests.cases.facts import Facts, NoDriver
from tests.cases.house import TITLE, WINDOW, House

PATIENCE = 60.0  # seconds that a member waits for the others
FORK = multiprocessing.get_context("fork")  # nothing is open yet, and eight interpreters would take their time


def crowd(case: Case, folder: Path) -> Facts:
    """As many threads or processes as the case gives, all at once, on one or more fresh archives."""
    op = str(case.input.get("op", ""))
    if not re.search(r"\b(?:append|write|add|open|insert)", op):
        raise NoDriver(f"no driver reads op {op!r}")
    each = amount_of(op, "messages?") or 1
    homes = [House(folder / f"home-{number}", durability="normal").home for number in range(int(case.input.get("databases", 1)))]
    if "threads" in case.input:
        errors = [error for home in homes for error in threads(home, int(case.input["threads"]), each)]
    else:
        errors = processes(homes, int(case.input["processes"]), each)
    members = int(case.input.get("threads", case.input.get("processes")))
    rows = [_rows(home) for home in homes]
    lost = sum(members * each - len(kept) for kept in rows)
    return {
        "failures": len(errors) + abs(lost),
        "errors": len(errors),
        "error_lines": errors,
        "rows": sum(map(len, rows)),
        "lost": lost,
        "order_per_thread_kept": all(map(in_order, rows)),
        "order_per_process_kept": all(map(in_order, rows)),
    }


def by(member: int, number: int) -> Message:
    """The message with this number of a member."""
    return {"role": "user", "content": f"member {member} says {number}"}


def in_order(rows: Sequence[Message]) -> bool:
    """Whether every member's messages are there in the order in which it wrote them."""
    told: dict[str, list[int]] = {}
    for message in rows:
        member, number = re.findall(r"\d+", str(message["content"]))
        told.setdefault(member, []).append(int(number))
    return all(numbers == list(range(len(numbers))) for numbers in told.values())


def threads(home: Path, count: int, each: int) -> list[str]:
    """The errors of threads that share one conversation."""
    errors: list[str] = []
    start = threading.Barrier(count)

    def write(member: int) -> None:
        start.wait(PATIENCE)
        errors.extend(written(talk, member, each))

    with Host(home=home, warn=errors.append) as host:
        talk = host.conversation(TITLE, window=WINDOW * 1_000)
        running = [threading.Thread(target=write, args=(member,)) for member in range(count)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    return errors


def written(talk: Conversation, member: int, each: int) -> list[str]:
    """The errors of one member that adds its messages."""
    try:
        for number in range(each):
            talk.add(by(member, number))
    except Exception as error:  # noqa: BLE001  the product at work: what it raises is counted
        return [f"{type(error).__name__}: {error}"]
    return []


def processes(homes: Sequence[Path], count: int, each: int) -> list[str]:
    """The errors of processes that open each of the archives at the same moment and write to the same conversation."""
    threads(House(homes[0].with_name("warm")).home, 1, 1)  # what is imported now need not be imported by each of them
    start, told = FORK.Barrier(count), FORK.SimpleQueue()
    running = [FORK.Process(target=_member, args=(homes, member, each, start, told.put)) for member in range(count)]
    for process in running:
        process.start()
    answers = [told.get() for _ in running]
    for process in running:
        process.join()
    return [error for answer in answers for error in json.loads(answer)]


def _member(homes: Sequence[Path], member: int, each: int, start: Barrier, tell: Callable[[str], Any]) -> None:
    errors: list[str] = []
    for home in homes:
        with suppress(threading.BrokenBarrierError):
            start.wait(PATIENCE)
        try:
            with Host(home=home, warn=errors.append) as host:
                errors += written(host.conversation(TITLE, window=WINDOW * 1_000), member, each)
        except Exception as error:  # noqa: BLE001  the product at work: what it raises is counted
            errors.append(f"{type(error).__name__}: {error}")
    tell(json.dumps(errors))


def _rows(home: Path) -> list[Message]:
    with Host(home=home) as host:
        sessions = {session.conversation for session in host.store.sessions.listed()}
        return [row.message for each in sessions for row in host.store.archive(each).rows() if row.message is not None]
