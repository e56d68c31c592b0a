"""A conversation under the built-in compressor, in a window so small that it has a middle, and what a compaction made of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Any

from host.compressor.compressor import Compressor
from host.conversation.conversation import Conversation
from host.engine.idle import Reason
from host.engine.outcome import Outcome
from host.engine.services import ModelFacts, Services, Thresholds
from host.messages.reading import calls_of, is_system, text_of
from host.messages.searchable import searchable
from host.messages.types import Message
from host.messages.violations import violations
from host.provider.ask import asking
from host.store.memory import MemoryStore
from host.tokens.budgets import TRIGGER_RATIO
from host.transforms.handoff import handoff_body, is_handoff
from tests.cases.facts import Each
from tests.cases.scribe import Scribe
from tests.cases.watched import Priced
from tests.desk import Desk, fed

PRICE = 1_000  # tokens of each message of a case: what the host adds to a compacted list is small beside them
FAILURE = re.compile(r"abort|fail", re.IGNORECASE)
NARROW = {"protect_first_n": 0, "protect_last_n": 2}


@dataclass
class Sitting:
    """A conversation with its models, the newest compaction, and the window as it was before that."""

    desk: Desk
    count: Priced
    scribes: tuple[Scribe, ...]
    talk: Conversation
    before: list[Message] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    called: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    @property
    def engine(self) -> Compressor:
        """The engine of the conversation."""
        assert isinstance(self.talk.engine, Compressor)
        return self.talk.engine

    @property
    def window(self) -> list[Message]:
        """The window as it is."""
        return list(self.talk.view.messages)

    @property
    def outcome(self) -> Outcome:
        """What the host says about the newest compaction."""
        return self.outcomes[-1]

    def hear(self, messages: Iterable[Message], price: int = PRICE) -> None:
        """Add messages that cost so much."""
        fed(self.talk, [self.count.price(message, price) for message in messages])

    def compact(self) -> None:
        """Compact now, and keep what was asked and said meanwhile."""
        self.before = self.window
        asked = [len(scribe.prompts) for scribe in self.scribes]
        called, warned = len(self.log), len(self.desk.warnings)
        self.outcomes.append(self.talk.compact())
        self.prompts = [prompt for scribe, start in zip(self.scribes, asked, strict=True) for prompt in scribe.prompts[start:]]
        self.called, self.notices = self.log[called:], self.desk.warnings[warned:]

    @property
    def log(self) -> list[str]:
        """The names of the models in the order in which they were asked."""
        return self.scribes[0].log if self.scribes else []


def sitting(*scribes: Scribe, window: int, in_place: bool = False, count: Priced | None = None, **thresholds: Any) -> Sitting:
    """A new conversation whose summaries these models write, the first of them first; without a model where there is none."""
    for scribe in scribes[1:]:
        scribe.log = scribes[0].log
    count = count or Priced()
    desk = Desk(MemoryStore())
    shelf = desk.shelf(in_place=in_place)
    given = Services(
        settings=None,
        facts=ModelFacts("main-model", window),
        count=count,
        archive=shelf.archive,
        state=shelf.state,
        ask=asking(scribes[0]) if scribes else None,
        summary_models=tuple(scribe.as_model() for scribe in scribes),
        thresholds=Thresholds(**{**NARROW, **thresholds}),
    )
    return Sitting(desk, count, scribes, desk.open(Compressor(given), shelf))


def narrow_window(messages: Sequence[object], price: int = PRICE) -> int:
    """Tokens of a window in which so many messages are just over the threshold."""
    return max(1, int(len(messages) * price * 0.98 / TRIGGER_RATIO))


def turns(count: int, first: int = 1) -> list[Message]:
    """Ordinary turns to go on with, the user's first."""
    words = (("user", "now step {}"), ("assistant", "finished step {}"))
    return [{"role": words[n % 2][0], "content": words[n % 2][1].format(first + n // 2)} for n in range(count)]


# --- what is true after a compaction ----------------------------------------------------------------------------------


def outlook(at: Sitting, answer: str = "") -> dict[str, Any]:
    """The facts of the newest compaction; ``answer`` is what the model wrote, where that matters."""
    window, report = at.window, at.outcome.report
    body = body_of(window)
    plain = at.outcome.refused is None and not report.aborted and not report.fallback_used
    unchanged = same(window, at.before)
    written = bool(answer.strip()) and flat(answer) in flat(body)
    return {
        "messages_unchanged": unchanged,
        "aborted_flag": report.aborted and at.outcome.reason is Reason.ABORTED,
        "user_notice": any(map(FAILURE.search, at.notices)),
        "notices": "\n".join(at.notices),
        "accepted": plain and written,
        "accepted_as_final": written or (plain and not unchanged and not report.failed_model),
        "treated_as_failure": not written and (report.aborted or report.fallback_used or bool(report.failed_model)),
        "reported_as_completed": plain and not report.failed_model,
        "error_is_told": bool(report.error) or not (report.aborted or report.fallback_used),
        "history_lost": lost(at, summarised=plain),
        "silent_loss": lost(at, summarised=plain) and not at.notices,
        "compressed": at.outcome.progressed,
        "outcome": outcome_word(at.outcome),
        "outcomes": [outcome_word(outcome) for outcome in at.outcomes],
        "stored_summary": body,
        "summary": body,
        "fallback": body if report.fallback_used else "",
        "stored_summary_nonempty": all(handoff_body(m).strip() for m in window if is_handoff(m)) and (unchanged or bool(body.strip())),
        "previous_summary_kept_if_abort": not report.aborted or body == body_of(at.before),
        "placeholder_only_summary": bool(handoffs(window)) and not says_something(body, answer, at.before),
        "handoffs": len(handoffs(window)),
        "summaries_created": sum(not any(is_handoff(m) and m is old for old in at.before) for m in handoffs(window)),
        "summarizer_called": bool(at.prompts),
        "models_called": list(at.called),
        "summarizer_input": "\n".join(at.prompts),
        "list_text": text_in(window),
        "tool_executed": executed(at),
        "result_tokens_less_than_before": at.outcome.after < at.outcome.before,
        "counted_as_ineffective": at.engine.state.ineffective > 0,
        "retried": len(at.prompts) > 1 and not written,
        "fell_back": report.fallback_used and bool(body.strip()),
        "aborted_unchanged": report.aborted and unchanged,
        "main_model_answered": bool(report.failed_model) and plain,
        "legal": not violations(window),
    }


def merged(runs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The facts of several runs, each in all its ways. Where no model was asked there is no input; with no cause for one no summary."""
    names = list(dict.fromkeys(name for run in runs.values() for name in run))
    facts: dict[str, Any] = {name: _in_ways({way: run[name] for way, run in runs.items() if name in run}) for name in names}
    asked = {way: run["summarizer_input"] for way, run in runs.items() if run.get("summarizer_input")}
    noted = {way: run["summary"] for way, run in runs.items() if run.get("summary") or run.get("outcome") not in (None, "nothing")}
    return {**facts, "summarizer_input": Each(asked or {"no model was asked": ""}), "summary": Each(noted or {"no summary": ""})}


def _in_ways(seen: dict[str, Any]) -> Any:
    """A fact in its ways; facts about the rest of a key as one about it in all ways."""
    if any(map(callable, seen.values())):
        return lambda rest: Each({way: about(rest) for way, about in seen.items()})
    return Each(seen)


def body_of(window: Sequence[Message]) -> str:
    """The notes of all handoffs of a window: there should be one."""
    return "\n\n".join(map(handoff_body, handoffs(window)))


def handoffs(window: Sequence[Message]) -> list[Message]:
    """The handoffs of a window."""
    return [message for message in window if is_handoff(message)]


def same(window: Sequence[Message], other: Sequence[Message]) -> bool:
    """Whether both hold the same objects."""
    return len(window) == len(other) and all(map(is_, window, other))


def flat(text: str) -> str:
    """The text with each gap as one blank."""
    return " ".join(text.split())


def text_in(window: Iterable[Message]) -> str:
    """All that can be read in a window."""
    return "\n".join(map(searchable, window))


def outcome_word(outcome: Outcome) -> str:
    """What became of a compaction: aborted, fallback, refused, nothing (to do), recovered (by the main model), summarised."""
    report = outcome.report
    words = (
        (report.aborted, "aborted"),
        (report.fallback_used, "fallback"),
        (outcome.reason is Reason.NOTHING_TO_COMPRESS or outcome.refused == "there was nothing to compact", "nothing"),
        (outcome.refused is not None, "refused"),
        (bool(report.failed_model), "recovered"),
    )
    return next((word for holds, word in words if holds), "summarised")


def lost(at: Sitting, *, summarised: bool) -> bool:
    """Whether anything that was said is gone: from the archive, or from a window without a model's summary to stand for it."""
    window = at.window
    archived = [row.message for row in at.talk.archive.rows()]
    if any(message not in archived for message in at.before if not is_made(message)):
        return True
    if same(window, at.before):
        return False
    if any("without a summary that stands for them" in notice for notice in at.notices):
        return True
    seen = flat(text_in(window))
    said = [flat(text_of(m)) for m in at.before if m.get("role") == "user" and not is_made(m)]
    return not handoffs(window) or (not summarised and any(words not in seen for words in said))


def is_made(message: Message) -> bool:
    """Whether host or engine wrote into a message: a handoff, a prompt with a note."""
    return is_handoff(message) or is_system(message)


def says_something(body: str, answer: str, before: Sequence[Message]) -> bool:
    """Whether notes hold what the model wrote, or any of the words that were said."""
    if answer.strip() and flat(answer) in flat(body):
        return True
    return any(flat(text_of(message)) in flat(body) for message in before if flat(text_of(message)))


def executed(at: Sitting) -> bool:
    """Whether calls or results are there that nobody added."""
    ours = {id(message) for message in at.count.held}
    shown = [*at.window, *(row.message for row in at.talk.archive.rows() if row.message is not None)]
    known = [message for message in at.count.held if calls_of(message) or message.get("role") == "tool"]
    spoken = [message for message in shown if calls_of(message) or message.get("role") == "tool"]
    return any(id(message) not in ours and message not in known for message in spoken)
