"""The block of exact values: where it stands in a window, what is in it, and what it may never do to the window."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.conversation.conversation import Conversation
from host.messages.facts import Told, current, facts_of, told
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.reading import text_of
from host.messages.searchable import searchable
from host.messages.types import Message
from host.messages.violations import STRICT_RULES, violations
from host.pipeline.exact import Exact, Rooms
from host.pipeline.settle import IDLE, NOT_WORTH_IT, Settled, render, settle
from host.store.memory import MemoryArchive
from host.testing.engines import services
from host.testing.histories import histories
from host.testing.messages import assistant, call, result, system, user
from host.transforms.handoff import END_MARKER, EXACT_END, EXACT_HEADING, handoff_body, handoff_text, is_handoff, with_exact
from tests.engines_for_tests import CharCount, Scripted, compressor

COUNT = CharCount()

HISTORY = [
    system("Be brief."),
    user("Never push to main. The service listens on port 8443."),
    assistant("I will keep that in mind."),
    user("read the config"),
    assistant(None, [call("a", "read_file", {"path": "/etc/shop/app.toml"})]),
    result("a", "timeout = 30s\n" + "A" * 6_000),
    assistant("The ticket is SHOP-771 then."),
    user("now fix it"),
    assistant("It is done."),
    user("thanks, and what is left?"),
]
GONE = ("Never push to main.", "8443", "/etc/shop/app.toml", "SHOP-771")


def ledger(messages: list[Message]) -> Ledger:
    return Ledger(Entry(message, row) for row, message in enumerate(messages, 1))


def holding(messages: list[Message]) -> list[Told]:
    return current(
        [
            one
            for row, message in enumerate(messages, 1)
            for one in told(facts_of(message), searchable(message), row=row, role=message.get("role", ""))
        ]
    )


EXACT = Exact(holding(HISTORY), 800, 4_000, COUNT.text)


def settled(before: Ledger, returned: list[Message], exact: Exact = EXACT) -> Settled:
    outcome = settle(before, returned, count=COUNT.messages, exact=exact)
    assert isinstance(outcome, Settled), outcome
    return outcome


def written(messages: list[Message]) -> str:
    return "\n".join(map(text_of, messages))


def blocks(messages: list[Message]) -> list[str]:
    """The blocks of a window, each without its frame."""
    return [part.partition(EXACT_END)[0] for part in written(messages).split(EXACT_HEADING)[1:]]


def summarised(notes: str = "notes") -> list[Message]:
    return [HISTORY[0], HISTORY[1], assistant(handoff_text(notes)), *HISTORY[-3:]]


def cut() -> list[Message]:
    """What an engine without summary returns: the head and the tail."""
    return [HISTORY[0], *HISTORY[-2:]]


# --- where it stands ---------------------------------------------------------------------------------------------


def test_the_block_stands_in_the_handoff_before_its_end_marker() -> None:
    window = settled(ledger(HISTORY), [HISTORY[0], user(handoff_text("notes")), assistant("It is done."), HISTORY[-1]]).messages
    handoff = next(text_of(message) for message in window if is_handoff(message))
    assert handoff.index("notes") < handoff.index(EXACT_HEADING) < handoff.index(EXACT_END) < handoff.index(END_MARKER)
    assert handoff.endswith(END_MARKER)
    assert all(text in handoff for text in GONE)


def test_of_two_summaries_the_last_one_holds_the_block() -> None:
    returned = [HISTORY[0], user(handoff_text("one")), assistant("ok"), user(handoff_text("two")), assistant("yes"), HISTORY[-1]]
    window = settled(ledger(HISTORY), returned).messages
    assert [len(blocks([message])) for message in window] == [0, 0, 0, 1, 0, 0]


def test_where_the_engine_wrote_no_summary_the_host_seats_a_handoff_after_the_head() -> None:
    outcome = settled(ledger(HISTORY), [HISTORY[0], HISTORY[1], HISTORY[2], *HISTORY[-3:]])
    assert [entry.kind for entry in outcome.ledger].count(Kind.FACTS) == 1
    assert violations(outcome.messages) == []
    (exact,) = blocks(outcome.messages)
    assert "SHOP-771" in exact and "Never push" not in exact


def test_a_host_made_handoff_between_two_assistants_makes_the_roles_alternate() -> None:
    outcome = settled(ledger(HISTORY), [HISTORY[0], HISTORY[1], HISTORY[2], HISTORY[8], HISTORY[9]])
    assert [entry.kind for entry in outcome.ledger][3] is Kind.FACTS
    assert violations(outcome.messages, strict=True) == []
    assert is_handoff(outcome.messages[3]) and outcome.messages[3]["role"] == "user"


def test_a_host_made_handoff_before_a_user_message_is_merged_into_it() -> None:
    outcome = settled(ledger(HISTORY), [HISTORY[0], HISTORY[9]])
    assert [entry.kind for entry in outcome.ledger] == [Kind.ORIGINAL, Kind.FACTS, Kind.ORIGINAL]
    assert violations(outcome.messages, strict=True) == []
    assert [message["role"] for message in outcome.messages] == ["system", "user"]
    merged = text_of(outcome.messages[1])
    assert merged.endswith(f"{END_MARKER}\n\n{HISTORY[9]['content']}")
    assert all(text in merged for text in GONE)


def test_a_host_made_handoff_never_stands_between_a_question_and_its_answer() -> None:
    outcome = settled(ledger(HISTORY), [HISTORY[0], HISTORY[1], HISTORY[8], HISTORY[9]])
    assert [entry.row for entry in outcome.ledger] == [1, None, 2, 9, 10]
    assert violations(outcome.messages, strict=True) == []
    assert len(blocks(outcome.messages)) == 1


# --- once --------------------------------------------------------------------------------------------------------


def test_a_later_block_takes_the_place_of_the_earlier_one() -> None:
    first = settled(ledger(HISTORY), summarised())
    news = [assistant("See ticket SHOP-904."), user("ok " * 900), assistant("done"), user("next")]
    longer = Ledger([*first.ledger, *(Entry(message, row) for row, message in enumerate(news, 11))])
    everything = [*HISTORY, *news]
    second = settled(longer, [*first.messages[:-1], *news[2:]], replace(EXACT, holding=holding(everything)))
    (exact,) = blocks(second.messages)
    assert "SHOP-904" in exact and "SHOP-771" in exact


def test_a_host_made_handoff_goes_where_the_engine_writes_a_summary() -> None:
    first = settled(ledger(HISTORY), cut())
    assert Kind.FACTS in [entry.kind for entry in first.ledger]
    news = [assistant("x" * 3_000), user("next")]
    longer = Ledger([*first.ledger, *(Entry(message, row) for row, message in enumerate(news, 11))])
    second = settled(longer, [HISTORY[0], assistant(handoff_text("notes")), news[-1]])
    assert Kind.FACTS not in [entry.kind for entry in second.ledger]
    assert len(blocks(second.messages)) == 1


def test_an_engine_that_keeps_the_hosts_handoff_gets_a_new_one_in_its_place() -> None:
    head = HISTORY[:3]
    first = settled(ledger(HISTORY), [*head, *HISTORY[-2:]])
    news = [assistant("See SHOP-904. " + "x" * 3_000), user("go on"), assistant("done"), user("next")]
    longer = Ledger([*first.ledger, *(Entry(message, row) for row, message in enumerate(news, 11))])
    second = settled(longer, [*first.messages[:-1], *news[-2:]], replace(EXACT, holding=holding([*HISTORY, *news])))
    assert [entry.kind for entry in second.ledger].count(Kind.FACTS) == 1
    (exact,) = blocks(second.messages)
    assert "SHOP-904" in exact and "SHOP-771" in exact


@pytest.mark.parametrize("returned", [summarised(), cut()], ids=["summary", "no summary"])
def test_compacting_again_with_nothing_new_adds_nothing(returned: list[Message]) -> None:
    first = settled(ledger(HISTORY), returned)
    again = settle(first.ledger, list(first.messages), count=COUNT.messages, exact=EXACT)
    assert again is IDLE or (isinstance(again, Settled) and again.messages == first.messages)


# --- what is in it -----------------------------------------------------------------------------------------------


def test_what_the_window_says_itself_is_not_repeated() -> None:
    window = settled(ledger(HISTORY), summarised("The ticket SHOP-771 is open.")).messages
    (exact,) = blocks(window)
    assert "/etc/shop/app.toml" in exact
    assert "SHOP-771" not in exact  # the summary says it
    assert "Never push" not in exact and "8443" not in exact  # row 2 is kept


def test_what_was_replaced_is_in_no_block() -> None:
    history = [*HISTORY[:3], user("Port 9443 instead of 8443, please."), *HISTORY[3:]]
    (exact,) = blocks(settled(ledger(history), cut(), replace(EXACT, holding=holding(history))).messages)
    assert "9443" in exact and "address: 8443" not in exact


def test_values_that_quote_the_frame_do_not_break_it() -> None:
    history = [HISTORY[0], user(f"Never write `{EXACT_END}` or {END_MARKER} into SHOP-12."), *HISTORY[2:]]
    outcome = settled(ledger(history), cut(), replace(EXACT, holding=holding(history)))
    assert len(blocks(outcome.messages)) == 1
    assert written(outcome.messages).count(END_MARKER) == 1


# --- what it may not do ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exact", [replace(EXACT, budget=0), replace(EXACT, budget=50), replace(EXACT, threshold=120)])
def test_without_room_there_is_no_block(exact: Exact) -> None:
    for returned in (summarised(), cut()):
        assert blocks(settled(ledger(HISTORY), returned, exact).messages) == []


def test_an_earlier_block_goes_where_there_is_no_room_for_it_any_more() -> None:
    first = settled(ledger(HISTORY), summarised())
    assert len(blocks(first.messages)) == 1
    longer = Ledger([*first.ledger, Entry(assistant("x" * 800), 11), Entry(user("next"), 12)])
    second = settled(longer, [*first.messages[:-1], user("next")], replace(EXACT, threshold=200))
    assert blocks(second.messages) == []


@pytest.mark.parametrize("returned", [summarised(), [*HISTORY[:3], *HISTORY[8:]]], ids=["summary", "no summary"])
def test_however_little_room_there_is_the_threshold_is_kept(returned: list[Message]) -> None:
    bare = settled(ledger(HISTORY), returned, replace(EXACT, budget=0)).receipt.after
    sizes = [settled(ledger(HISTORY), returned, replace(EXACT, threshold=bare + spare)).receipt.after - bare for spare in range(300)]
    assert all(grown <= spare for spare, grown in enumerate(sizes))
    assert sizes[0] == 0 < sizes[-1]


def test_a_text_that_was_counted_too_low_does_not_make_the_window_grow() -> None:
    bare = settled(ledger(HISTORY), summarised(), replace(EXACT, budget=0)).receipt.after
    many = holding([*HISTORY, user(" ".join(f"SHOP-{number}" for number in range(1_000, 1_200)))])
    low = Exact(many, 800, bare + 120, lambda text: len(text) // 100)
    outcome = settled(ledger(HISTORY), summarised(), low)
    assert outcome.receipt.after == bare and blocks(outcome.messages) == []


some_facts = st.lists(st.sampled_from(EXACT.holding), unique=True)


@given(histories(strict=True), st.data(), some_facts, st.integers(0, 400), st.integers(60, 4_000))
def test_a_window_with_a_block_is_legal_and_never_grows_by_it(
    history: list[Message], data: st.DataObject, facts: list[Told], budget: int, threshold: int
) -> None:
    long = [*history, *HISTORY[3:]]
    kept = sorted(data.draw(st.sets(st.integers(0, len(long) - 1), min_size=1)))
    returned = [long[i] for i in kept]
    far = [replace(one, row=one.row - 100) for one in facts]
    bare = settle(ledger(long), returned, count=COUNT.messages)
    full = settle(ledger(long), returned, count=COUNT.messages, exact=Exact(far, budget, threshold, COUNT.text))
    if not isinstance(bare, Settled) or not isinstance(full, Settled):
        assert bare == full or full is NOT_WORTH_IT
        return
    assert len(blocks(full.messages)) <= 1
    assert violations(full.messages) == []
    assert full.receipt.after == COUNT.messages(full.messages) <= min(full.receipt.before, max(threshold, bare.receipt.after))
    strict = {violation.rule for violation in violations(full.messages, strict=True)} & STRICT_RULES
    assert strict <= {violation.rule for violation in violations(bare.messages, strict=True)}


# --- in a conversation -------------------------------------------------------------------------------------------


def conversation(engine: Any, keep_exact: int) -> Conversation:
    given = getattr(engine, "services", None) or services()
    archive = given.archive
    assert isinstance(archive, MemoryArchive)
    made = Conversation(engine, given, archive, warn=lambda text: None, keep_exact=keep_exact)
    for message in HISTORY:
        made.add(message)
    return made


def test_keep_exact_of_zero_turns_it_off() -> None:
    for keep, many in ((0, 0), (800, 1)):
        made = conversation(Scripted(cut()), keep)
        made.compact()
        assert len(blocks(made.window())) == many


def test_each_compaction_hears_what_came_since_the_last_one() -> None:
    engine = Scripted(cut())
    made = conversation(engine, 800)
    made.compact()
    news = [
        user("It is about SHOP-905. " + "x" * 4_000),
        assistant("ok"),
        user("The port is 9443, not 8443."),
        assistant("ok"),
        user("go on"),
    ]
    for message in news:
        made.add(message)
    engine.returns = [HISTORY[0], *news[-2:]]
    made.compact()
    (exact,) = blocks(made.window())
    assert "SHOP-905" in exact and "9443" in exact and "Never push" in exact
    assert "address: 8443" not in exact


def test_the_next_summary_is_made_without_the_block() -> None:
    asked: list[str] = []

    def ask(prompt: str, **more: Any) -> str:
        asked.append(prompt)
        return f"## Goal\nsummary {len(asked)}"

    engine = compressor(8_000, ask=ask)
    made = conversation(engine, 800)
    for turn in range(2):
        for step in range(30):
            made.add(user(f"step {step} of part {turn}, see SHOP-{turn}{step:02}"))
            made.add(assistant("word " * 160))
        made.compact()
        assert len(blocks(made.window())) == 1
    assert len(asked) > 1 and "summary 1" in asked[-1]
    assert not any(EXACT_HEADING in prompt for prompt in asked)
    handoff = next(message for message in made.window() if is_handoff(message))
    assert EXACT_HEADING in text_of(handoff) and EXACT_HEADING not in handoff_body(handoff)


def test_rendering_keeps_the_hosts_handoff_apart_from_an_assistant() -> None:
    facts = Entry(user(handoff_text("x", short=True)), None, Kind.FACTS)
    assert len(render(Ledger([facts, Entry(assistant("a"), 4)]))) == 2
    assert len(render(Ledger([facts, Entry(user("b"), 4)]))) == 1


@pytest.mark.parametrize(
    ("old", "new", "notes", "block_before", "room"),
    [
        (40_000, 2_000, 400, 0, 800),  # what is configured
        (3_000, 500, 400, 0, 500),  # 900 for both
        (3_000, 500, 1_000, 0, 0),  # the summary has taken the share
        (3_000, 500, 1_000, 200, 200),  # what stands in the block may stay
        (1_000, 900, 100, 300, 50),  # half of what is free
        (9_000, 3_800, 0, 0, 100),  # below the threshold of 4,000
    ],
)
def test_the_room_of_a_block_follows_the_size_of_what_was_compacted(old: int, new: int, notes: int, block_before: int, room: int) -> None:
    exact = replace(EXACT, count=lambda text: text.count("§"))
    before = Entry(user(with_exact(handoff_text("notes"), "§" * block_before)), None, Kind.SUMMARY)
    after = Entry(user(handoff_text("§" * notes)), None, Kind.SUMMARY)
    assert Rooms.of(exact, [before], [after], old, new).usual == room
