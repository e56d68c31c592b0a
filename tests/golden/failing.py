"""A summary that could not be had, and compactions that do not help: hermes.md 8.2, 10 and 11."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from host.compressor.compressor import Compressor
from host.compressor.failures import Failure
from host.compressor.policy import POLICY
from host.conversation.conversation import Conversation
from host.conversation.shelf import Shelf
from host.engine.services import ModelFacts, SummaryModel, Thresholds
from host.engine.thrash import Effect
from host.messages.types import Message, Reply
from host.testing.messages import chat, user
from host.transforms.handoff import is_handoff
from tests.desk import Desk, fed
from tests.golden.engines import BODY, compressor
from tests.golden.publishing import COMPARED, figures
from tests.golden.reading import Driver, Golden
from tests.golden.stores import new_store

TAIL = 60  # tokens
CHARS = 600  # of a message on a store: a summary is shorter than what it stands for
MAIN = "(main)"
GOOD = f"## Goal\n{BODY}"


@dataclass
class Clock:
    """Stands still until it is moved."""

    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@dataclass
class Models:
    """What each call comes to, in order, the last one again and again; ``called`` are the models that were asked."""

    outcomes: Sequence[Callable[[str], Reply]]
    called: list[str] = field(default_factory=list)

    def named(self, name: str, window: int = 200_000) -> SummaryModel:
        def ask(prompt: str, *, max_tokens: int | None = None, timeout: float | None = None) -> Reply:
            self.called.append(name)
            return self.outcomes[min(len(self.called), len(self.outcomes)) - 1](prompt)

        return SummaryModel(name, ask, window)


def outcome(text: str, status: int | None, kind: str) -> Callable[[str], Reply]:
    """A reply with this text, or an exception of this kind and status."""

    def answer(prompt: str) -> Reply:
        if kind == "str":
            return Reply({"role": "assistant", "content": GOOD if text == "good" else text}, finish_reason="stop")
        if kind == "JSONDecodeError":
            raise json.JSONDecodeError("Expecting value", "", 0)
        error = {"ConnectionError": ConnectionError, "RuntimeError": RuntimeError}.get(kind, Exception)(text)
        if status is not None:
            error.status_code = status  # type: ignore[attr-defined]
        raise error

    return answer


def engine_with(models: Models, *, auxiliary: str | None = None, clock: Clock | None = None, abort: bool = False) -> Compressor:
    """The engine with the reference's tail, a main model and, where one is named, a summary model before it."""
    engine = compressor(thresholds=Thresholds(abort_on_summary_failure=abort), kind=Compressor)
    engine.budgets = replace(engine.budgets, tail=TAIL)
    engine.services.summary_models = tuple(models.named(name) for name in filter(None, (auxiliary, MAIN)))
    engine.services.clock = clock or Clock()
    return engine


def exchanges() -> list[Message]:
    """System prompt and ten exchanges of about 45 characters."""
    turns = [m for n in range(10) for m in (user(f"q{n} " + "a" * 40), Message(role="assistant", content=f"r{n} " + "b" * 40))]
    return [{"role": "system", "content": "sys"}, *turns]


@dataclass(frozen=True)
class Tried:
    """One compaction under the reference's names, and what came back."""

    figures: dict[str, Any]
    error: str
    after: list[Message]


def tried(case: Golden, outcomes: Sequence[Callable[[str], Reply]]) -> Tried:
    models = Models(outcomes)
    engine = engine_with(models, auxiliary=case.input["summary_model"], abort=case.input["abort_on_summary_failure"])
    given = exchanges()
    after = engine.compress(given)
    report = engine.last_report
    assert (after is given) is report.aborted
    return Tried(
        {
            "models_called": list(dict.fromkeys(models.called)),
            "aborted": report.aborted,
            "fallback_used": report.fallback_used,
            "dropped": report.dropped,
            "cooldown_s": round(engine.cooling),
            "aux_failed_model": report.failed_model or None,
            "messages_out": len(after),
            "compression_count": engine.compression_count,
        },
        "" if report.failed_model and not (report.aborted or report.fallback_used) else report.error,
        after,
    )


def outcomes_of(case: Golden) -> list[Callable[[str], Reply]]:
    given = case.input
    return [outcome(*row) for row in zip(given["outcomes"], given["statuses"], given["types"], strict=True)]


def failure(case: Golden) -> None:
    """Who was asked, what became of the list, for how long nobody is asked, and the service's own words."""
    found = tried(case, outcomes_of(case))
    assert found.figures == {name: case.output[name] for name in found.figures}
    assert bool(found.error) == bool(case.output["error"])
    if "str" not in case.input["types"]:
        assert found.error == case.output["error"]


def failure_by_choice(case: Golden) -> None:
    """No model is configured: notes, and no failure of anybody's."""
    found = tried(case, outcomes_of(case))
    wanted = {**case.output, "fallback_used": False, "dropped": 0, "cooldown_s": 0}
    assert found.figures == {name: wanted[name] for name in found.figures}
    assert sum(map(is_handoff, found.after)) == 1


def failure_of_quota(case: Golden) -> None:
    """Used up for good: nothing is dropped."""
    found = tried(case, outcomes_of(case))
    wanted = {**case.output, "aborted": True, "fallback_used": False, "dropped": 0, "messages_out": 21, "compression_count": 0}
    assert found.figures == {name: wanted[name] for name in found.figures}
    assert found.error == case.output["error"]


def failure_for_length(case: Golden) -> None:
    """A model that takes no more than four turns at once gets all of them in pieces."""
    (refuse,) = outcomes_of(case)
    seen: list[str] = []

    def answer(prompt: str) -> Reply:
        turns = [line for line in prompt.splitlines() if line.startswith(("[USER]: ", "[ASSISTANT]: "))]
        if len(turns) > 4:
            refuse(prompt)
        seen.extend(turns)
        return Reply({"role": "assistant", "content": GOOD}, finish_reason="stop")

    found = tried(case, [answer])
    wanted = {**case.output, "fallback_used": False, "dropped": 0, "cooldown_s": 0}
    assert found.figures == {name: wanted[name] for name in found.figures}
    assert len(seen) == len(set(seen)) == case.output["dropped"]


def timeout_ladder(case: Golden) -> None:
    """Each cooldown runs out, and the next question fails again."""
    clock = Clock()
    engine = engine_with(Models([outcome("Request timed out", None, "E")]), clock=clock)
    found = []
    for _ in case.output:
        engine.compress(exchanges())
        found.append(round(engine.cooling))
        clock.pass_by(found[-1] + 1)
    assert found == case.output == [POLICY[Failure.TIMEOUT].seconds(n) for n in (1, 2, 3, 4)]


def cooldown_then_force(case: Golden) -> None:
    models = Models([outcome("connection refused", None, "ConnectionError")])
    engine = engine_with(models)
    for step in case.output:
        asked = len(models.called)
        engine.compress(exchanges(), force=step["force"])
        assert len(models.called) - asked == step["model_calls"]
        assert engine.last_report.aborted is step["aborted"]
        assert engine.should_compress(engine.threshold_tokens) is step["should_compress"]


# --- effect ------------------------------------------------------------------------------------------------------


@dataclass
class Thrashing:
    """The engine of 200,000 tokens with the threshold of 150,000, told of compactions as its host tells it."""

    engine: Compressor

    def completed(self, left: int, *, without_model: bool = False, times: int = 1) -> None:
        """Compactions that saved enough."""
        for _ in range(times):
            effect = self.engine.state.effect.after_compaction(saved=0.5, left=left, without_model=without_model)
            self.engine.state = replace(self.engine.state, effect=effect)
        self.engine.last_prompt_tokens = -1

    def step(self, name: str) -> bool | None:
        """What the engine says to one step of the case."""
        engine = self.engine
        words, _, number = name.removesuffix(")").partition("(")
        if words == "should_compress":
            return engine.should_compress(int(number))
        if words == "defer":
            return engine.should_defer_preflight_to_real_usage(int(number))
        happen: dict[str, Callable[[], object]] = {
            "compaction completed, rough 160000": lambda: self.completed(160_000),
            "usage 151000": lambda: engine.update_from_response({"prompt_tokens": 151_000}),
            "usage 1000": lambda: engine.update_from_response({"prompt_tokens": 1_000}),
            "two fallback boundaries": lambda: self.completed(1_000, without_model=True, times=2),
            "usage 1000 (streak survives)": lambda: engine.update_from_response({"prompt_tokens": 1_000}),
            "healthy boundary": lambda: self.completed(1_000),
            "empty usage": lambda: engine.update_from_response({}),
        }
        happen[name]()
        return None


REAL_COMPACTIONS = 10  # steps from which on the reference's compactions are told to its counters alone


def known(effect: Effect, last_prompt: int) -> dict[str, Any]:
    """The state under the reference's names."""
    return {
        "last_prompt": last_prompt,
        "last_real": effect.real,
        "ineffective": effect.ineffective,
        "streak": effect.streak,
        "awaiting": effect.waiting,
        "verify": effect.saved is not None,
    }


def thrash_state_machine(case: Golden) -> None:
    """With the option that the threshold of the case needs; from the eleventh step on the counters alone are compared."""
    facts, thresholds = ModelFacts(window=case.input["window"]), Thresholds(small_window_floor=0.75)
    engine = compressor(facts=facts, thresholds=thresholds, kind=Compressor)
    engine.services.summary_models = (Models([outcome("good", None, "str")]).named(MAIN),)
    thrashing = Thrashing(engine)
    for number, row in enumerate(case.output):
        assert thrashing.step(row["step"]) == row["result"], row["step"]
        found = known(engine.state.effect, engine.last_prompt_tokens)
        names = found.keys() if number < REAL_COMPACTIONS else ("last_real", "ineffective", "streak", "verify")
        assert {name: found[name] for name in names} == {name: row["state"][name] for name in names}, row["step"]


# --- on a real store ---------------------------------------------------------------------------------------------


def compacted_on_a_store(case: Golden, engine: Compressor) -> tuple[dict[str, Any], list[str]]:
    """Twenty messages; one compaction by hand, or where the case does not force it a window at the threshold."""
    with new_store() as store:
        desk = Desk(store)
        shelf = Shelf.of(store, desk.kept.conversation, engine.name, in_place=case.input["in_place"])
        talk = fed(Conversation(engine, engine.services, shelf, warn=desk.warnings.append), chat(20, chars=CHARS))
        before = list(talk.view.messages)
        if case.input.get("force", True):
            talk.compact()
        else:
            engine.threshold_tokens = 100
            talk.window()
        return figures(desk, store, talk, before), desk.warnings


def boundary(case: Golden) -> None:
    """What a caller sees of the conversation and of its store, and whether a model was asked."""
    failing, blocked = "fault" in case.input, case.input.get("force") is False
    models = Models([outcome("boom", None, "E") if failing else outcome("good", None, "str")])
    engine = engine_with(models, abort=case.input.get("abort_on_summary_failure", False))
    idle = replace(engine.state.effect, ineffective=case.input.get("ineffective", 0))
    engine.state = replace(engine.state, effect=idle)
    found, warnings = compacted_on_a_store(case, engine)
    for name in (*COMPARED, *([] if case.output["returned_same_list"] else ["last_prompt_tokens"])):
        assert found[name] == case.output[name], name
    assert models.called == ([] if blocked else [MAIN])
    assert engine.state.effect.streak == case.output.get("fallback_streak", 0)
    assert engine.last_report.error == ("boom" if failing else "")
    assert any("Compression" in warning for warning in warnings) is bool(case.output["warnings"] or blocked)


DRIVERS: dict[str, Driver] = {
    "failure_[!ni4]*": failure,
    "failure_40[!0]*": failure,
    "failure_400_main": failure,
    "failure_4[!0]*": failure,
    "failure_no_provider": failure_by_choice,
    "failure_insufficient_quota": failure_of_quota,
    "failure_400_context_main": failure_for_length,
    "timeout_ladder": timeout_ladder,
    "cooldown_then_force": cooldown_then_force,
    "thrash_state_machine": thrash_state_machine,
    "boundary_abort": boundary,
    "boundary_fallback": boundary,
    "boundary_blocked": boundary,
    "boundary_blocked_force": boundary,
}
