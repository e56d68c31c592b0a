"""The longest conversations of ../shared/data at 32,000 tokens: ten compactions in a row with three pins each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from host.conversation.conversation import Conversation
from host.errors import NotAConversation, UsageError
from host.formats import Transcript, read
from host.messages.reading import is_system
from host.messages.searchable import searchable
from host.messages.types import Message
from host.store.memory import MemoryStore
from host.tokens import Counter, Remembered
from host.transforms.handoff import is_handoff
from tests.conversation.pin_faults import faults, faults_of_receipt, group
from tests.desk import Desk
from tests.engines_for_tests import compressor

DATA = Path(__file__).parents[3] / "shared" / "data"
WINDOW = 32_000
FILES = 6  # the largest
ROUNDS = 10
PINS = 3
LEAST = 60  # messages: a shorter conversation has no ten stretches

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the real conversations of ../shared/data are not here")


def largest() -> list[Path]:
    files = [path for path in DATA.rglob("*") if path.is_file()] if DATA.is_dir() else []
    return sorted(files, key=lambda path: path.stat().st_size, reverse=True)[:FILES]


def longest_in(path: Path) -> Transcript:
    try:
        return max(read(path), key=lambda transcript: len(transcript.messages))
    except NotAConversation:
        pytest.skip("holds no conversation")


@pytest.mark.parametrize("path", largest(), ids=lambda path: path.name[:32])
def test_ten_compactions_in_a_row_keep_three_pins(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = longest_in(path).messages
    if len(said) < LEAST:
        pytest.skip(f"{len(said)} messages only")
    desk = Desk(MemoryStore())
    talk = desk.open(compressor(WINDOW, count=Remembered(Counter(sampled=False))))
    pinned: set[int] = set()
    figures: list[str] = []
    fed = listed = 0
    for stretch in range(1, ROUNDS + 1):
        until = whole(said, len(said) * stretch // ROUNDS)
        for message in said[fed:until]:
            talk.add(message)
        fed = max(fed, until)
        for position in range(1, fed + 1):
            if len(talk.pins()) == PINS:
                break
            pinned |= tried(talk, said, position, pinned)
        outcome = talk.compact()
        figures.append(f"{outcome.before:,}>{outcome.after:,}")
        assert outcome.after <= outcome.before and outcome.after <= WINDOW
        assert [*faults(talk, sorted(pinned)), *(faults_of_receipt(talk.view) if outcome.refused is None else ())] == []
        assert sum(map(is_handoff, talk.view.messages)) == (talk.view.version > 0)
        listed += checked_receipt(talk) if outcome.refused is None else 0
    with capsys.disabled():
        held = sum(pin.tokens for pin in talk.pins())
        pins = f"{len(pinned)} rows pinned ({held:,} tokens)"
        print(f"\n{path.name[:40]}: {len(said)} messages, {pins}, {listed} facts in receipts: {' '.join(figures)}")


def checked_receipt(talk: Conversation) -> int:
    """How many facts the newest receipt lists; each is visible exactly if the window has its text."""
    window = "\n".join(map(searchable, talk.view.messages))
    page = talk.receipt()
    assert [one.text for one in page.listed if one.is_visible != (one.text in window)] == []
    return len(page.listed)


def whole(said: Sequence[Message], end: int) -> int:
    """The first place at or after ``end`` where no tool group is open."""
    while end < len(said) and said[end].get("role") == "tool":
        end += 1
    return end


def tried(talk: Conversation, said: Sequence[Message], position: int, pinned: set[int]) -> set[int]:
    """Pin the message unless it needs no pin or is too large; what it pinned."""
    if position in pinned or is_system(said[position - 1]):
        return set()
    try:
        talk.pin(position)
    except UsageError:
        return set()
    return group(said, position)
