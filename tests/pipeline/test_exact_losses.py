"""What left and is said nowhere has room up to the threshold; a compaction that saves less than that is not worth it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from host.conversation.conversation import Conversation
from host.engine.idle import Reason
from host.messages.facts import Told, current, facts_of, told
from host.messages.ledger import Entry, Ledger
from host.messages.reading import text_of
from host.messages.searchable import searchable
from host.messages.types import Message
from host.pipeline.exact import Exact
from host.pipeline.settle import Refused, Settled, settle
from host.testing.engines import services
from host.testing.messages import assistant, chat, system, user
from host.transforms.handoff import EXACT_HEADING, handoff_text
from tests.engines_for_tests import CharCount, Scripted

COUNT = CharCount()
RULE = "Never push to main."
HISTORY = [system("Be brief."), user(f"{RULE} The service listens on port 8443."), assistant("Yes."), *chat(30, chars=400), user("go on")]
NOTES = user(handoff_text("notes " * 300))


def ledger(messages: list[Message]) -> Ledger:
    return Ledger(Entry(message, row) for row, message in enumerate(messages, 1))


def holding(messages: list[Message]) -> list[Told]:
    heard = (told(facts_of(m), searchable(m), row=row, role="user") for row, m in enumerate(messages, 1) if m["role"] == "user")
    return current([one for each in heard for one in each])


EXACT = Exact(holding(HISTORY), 800, 40_000, COUNT.text)
SHORT = [HISTORY[0], NOTES, *HISTORY[-14:]]  # the notes have more than the block's share


def settled(returned: list[Message], exact: Exact = EXACT, before: Ledger | None = None) -> Settled | Refused:
    return settle(before or ledger(HISTORY), returned, count=COUNT.messages, exact=exact)


def texts(outcome: Settled | Refused) -> str:
    assert isinstance(outcome, Settled), outcome
    return "\n".join(map(text_of, outcome.messages))


def test_a_summary_that_takes_the_whole_share_leaves_room_for_the_users_rule() -> None:
    outcome = settled(SHORT)
    assert RULE in texts(outcome) and "8443" in texts(outcome)
    assert isinstance(outcome, Settled) and outcome.receipt.after <= outcome.receipt.before


LONG = [HISTORY[0], user(f"{RULE} The port is 8443. " + "word " * 800), *HISTORY[2:]]


def test_a_compaction_that_saves_less_than_the_rules_it_takes_out_is_refused() -> None:
    before = ledger(LONG)
    bare = [LONG[0], user(handoff_text("n")), *LONG[3:]]
    spare = COUNT.messages(LONG) - COUNT.messages(bare)
    returned = [LONG[0], user(handoff_text("n" * (4 * (spare - 12)))), *LONG[3:]]
    outcome = settled(returned, replace(EXACT, holding=holding(LONG)), before)
    assert isinstance(outcome, Refused) and outcome.is_worthless and "rules" in outcome.rule
    longer = [LONG[0], user(handoff_text("n" * (4 * (spare - 120)))), *LONG[3:]]
    assert RULE in texts(settled(longer, replace(EXACT, holding=holding(LONG)), before))


@pytest.mark.parametrize("exact", [replace(EXACT, budget=0), replace(EXACT, threshold=100)])
def test_what_the_settings_or_the_threshold_leave_no_room_for_stops_no_compaction(exact: Exact) -> None:
    assert EXACT_HEADING not in texts(settled(SHORT, exact))


def test_what_was_not_in_the_window_before_stops_no_compaction() -> None:
    before = Ledger([Entry(HISTORY[0], 1), *(Entry(m, row) for row, m in enumerate(HISTORY[3:], 4))])
    assert isinstance(settled([HISTORY[0], *HISTORY[4:]], EXACT, before), Settled)


def test_it_is_told_as_nothing_worth_compacting() -> None:
    given = services(16_000)

    def little(messages: list[Message]) -> list[Message]:
        return [messages[0], *messages[2:]]

    history = [HISTORY[0], user("Never push."), assistant("Yes."), *HISTORY[3:]]
    talk = Conversation(Scripted(little, 16_000), given, given.archive, warn=lambda text: None, keep_exact=800)  # type: ignore[arg-type]
    for message in history:
        talk.add(message)
    outcome = talk.compact()
    assert outcome.reason is Reason.NOTHING_TO_COMPRESS and "rules" in (outcome.refused or "")
    assert talk.view.messages == tuple(history)
