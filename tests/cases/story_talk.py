"""Steps in which a conversation goes its ordinary way: messages, restarts, compactions, searches."""

from __future__ import annotations

import re
import threading
from typing import Any

from host.errors import CtxhostError
from host.messages.types import Message
from tests.cases.facts import NoDriver
from tests.cases.house import TITLE, is_unlocked, said, stray_rows, word_of
from tests.cases.searching import hits_of
from tests.cases.story import Steps, Story

ROLES = ("tool", "user", "assistant", "system")
WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
NUMBERS = {**{word: number for number, word in enumerate(WORDS, 1)}, "once": 1, "again": 1, "twice": 2, "twenty": 20, "hundred": 100}
UNFIT = (
    (r"type object|class", int),
    (r"\bset\b", {1, 2}),
    (r"bytes", b"\xff"),
    (r"lambda|function", len),
    (r"object|instance", object()),
)
"""What JSON cannot hold, by how a sentence calls it."""

Found = re.Match[str]


def count_of(text: str) -> int:
    """A number in digits or as a word."""
    digits = re.sub(r"[,.]", "", text)
    number = int(digits) if digits.isdigit() else NUMBERS.get(text.lower())
    if number is None:
        raise NoDriver(f"no driver reads {text!r} as a number")
    return number


def messages(story: Story, found: Found) -> None:
    """So many messages, one of them with a word."""
    word, at = found["word"] or "", int(found["at"] or 0)
    story.tell(count_of(found[1]), word, at)


def append(story: Story, found: Found) -> None:
    """Add messages in the process that writes."""
    if story.child is None:
        story.tell(count_of(found[1]))
    else:
        report = story.child.ask(f"write {count_of(found[1])}")
        story.seen["reported"] = bool(report["warnings"] or report["errors"])
        story.seen["rows_reported_as_saved"] = report["saved"]


def one_message(story: Story, found: Found) -> None:
    """A message of this role, with a key of its own where one is named."""
    message: dict[str, Any] = {**said(len(story.told) + 1, role=found[1].lower())}
    if found[2]:
        message[found[2]] = "a_tool"
    story.add(message)  # type: ignore[arg-type]
    story.house.index()


def unfit(story: Story, found: Found) -> None:
    """A message that JSON cannot hold."""
    content = next((value for pattern, value in UNFIT if re.search(pattern, found[1] or "")), object())
    message: Any = {"role": "user", "content": content}
    with story.attempt():
        story.house.talk().add(message)
    story.seen["first_rows_written"] = story.house.value("SELECT count(*) FROM messages")


def setting(story: Story, found: Found) -> None:
    """Nothing: it is in config.yaml since the beginning."""


def compact(story: Story, found: Found) -> None:
    """Compact now, as often as it says."""
    for _ in range(count_of(found["times"] or "once")):
        story.compact()


def restart(story: Story, found: Found) -> None:
    """Close everything, and open it again."""
    story.house.close()


def replay(story: Story, found: Found) -> None:
    """Restart and hand over what was told, again and again."""
    for _ in range(count_of(found[2]) if found[2] else 1):
        story.house.close()
        story.receive(list(story.told[: count_of(found[1])]))


def go_on(story: Story, found: Found) -> None:
    """Restart, and hand over the history with more behind it: one message of a role, or some."""
    more = re.match(r"(\d+) (?:more |new )?messages?$", found[2])
    role = next((role for role in ROLES if role in found[2].lower()), None)
    if more is None and role is None:
        raise NoDriver(f"no driver reads {found[2]!r} as a message")
    story.house.close()
    known: list[Message] = story.told[: count_of(found[1])]
    new = range(len(known) + 1, len(known) + 1 + (int(more[1]) if more else 1))
    story.receive([*known, *(said(number, role="" if more else role or "") for number in new)])


def search_word_of(story: Story, found: Found) -> None:
    """Look for a word of one message."""
    _search(story, word_of(int(found[1])))


def search_text(story: Story, found: Found) -> None:
    """Look for this text."""
    _search(story, found[1])


def search_any(story: Story, found: Found) -> None:
    """Look for each message by its own word."""
    story.seen["hits"] = sum(len(hits_of(story.house, word_of(number))) for number in range(1, len(story.told) + 1))
    story.seen["hits_wanted"] = len(story.told)


def _search(story: Story, text: str) -> None:
    found = len(hits_of(story.house, text))
    story.seen |= {"hits": found, "search_hits": found}


def load(story: Story, found: Found) -> None:
    """Open the conversation again and take its window."""
    story.house.close()
    story.house.talk().window()


def delete(story: Story, found: Found) -> None:
    """Erase the conversation."""
    talk, before = story.house.talk(), story.house.dump()
    story.house.index()
    with story.attempt():
        story.house.host.store.sessions.delete(talk.shelf.conversation)
        story.positions.clear()
    story.seen |= {
        "rows_before": len(before),
        "rows_after": len(story.house.dump()),
        "lock_free": is_unlocked(story.house),
        "fts_rows_left": stray_rows(story.house),
    }
    story.house.close()


def rewrite(story: Story, found: Found) -> None:
    """Hand the conversation over with its last message in other words."""
    changed: Message = {**story.told[-1], "content": "in other words"}
    with story.attempt():
        story.receive([*story.told[:-1], changed])
    story.house.index()
    story.seen["fts_rows_left"] = stray_rows(story.house)


def compact_together(story: Story, found: Found) -> None:
    """Compact several conversations of one process at the same moment."""
    names = [name for name in found.groups() if name]
    for name in names:
        for number in range(1, 31):
            story.house.talk(f"{TITLE} {name}").add(said(number))
    start, progressed, errors = threading.Barrier(len(names)), list[bool](), list[str]()

    def run(name: str) -> None:
        start.wait(10)
        try:
            progressed.append(story.house.talk(f"{TITLE} {name}").compact().progressed)
        except CtxhostError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=run, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    succeeded = progressed == [True] * len(names)
    story.seen |= {"both_succeed": succeeded, "all_succeed": succeeded, "error_lines": [*errors, *story.house.warnings]}


COUNT = r"(\d[\d,.]*)"
WITH_A_WORD = r"(?:,? (?:with )?(?:the )?word ['\"](?P<word>[^'\"]+)['\"] in message (?P<at>\d+))"
TIMES = r"(?P<times>once|twice|again|\w+(?= times))(?: times)?"
STEPS: Steps = (
    (r"^\w+\s*=\s*\d+(?:\.\d+)?$", setting),
    (r"append a message whose content is not JSON[- ]serializable(?: \((.*)\))?", unfit),
    (rf"^append {COUNT} messages?$", append),
    (rf"^(?:archive |add )?{COUNT} messages?(?: archived)?{WITH_A_WORD}?$", messages),
    (r"^archive an? (\w+) message(?: with (\w+))?$", one_message),
    (rf"restart and hand over the same {COUNT}(?: messages)?(?:,? (\w+)(?: times)?)?$", replay),
    (rf"new engine object.*history of {COUNT} \+ (.+)$", go_on),
    (r"^restart$", restart),
    (r"(?:compact|compress) session (\w+)(?:,? and|,) session (\w+)(?:,? and session (\w+))? at the same time", compact_together),
    (r"(?:lcm_grep|search|grep)(?: for)? (?:a|the) word of message (\d+)", search_word_of),
    (r"(?:lcm_grep|search|grep)(?: for)? ['\"]([^'\"]+)['\"]", search_text),
    (r"^(?:run )?(?:lcm_grep|search|grep)$", search_any),
    (r"load (?:the )?session for the model", load),
    (r"\b(?:clear|delete)\b.*\bsession", delete),
    (r"re-?write\b.*\bsession", rewrite),
    (rf"^/?(?:compress|compact)(?: in[- ]place| by rotation)?(?: {TIMES})?$", compact),
    (rf"^rotat(?:e|ion)(?: with boundary reason compression)?(?: {TIMES})?$", compact),
)
