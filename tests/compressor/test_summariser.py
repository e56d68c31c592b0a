"""Who is asked for a summary, in which pieces, and what happens when that fails."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from host.compressor.compressor import RECOVERED, Compressor, Stays
from host.compressor.summariser import MOST_HALVINGS, window_of
from host.conversation.wording import words_of_report
from host.engine.report import Report
from host.engine.services import SummaryModel
from host.errors import ProviderError
from host.messages.types import Message, Reply
from host.messages.violations import violations
from host.pipeline.compact import Middle
from host.provider.ask import TextAsReply
from host.testing.engines import services
from host.testing.messages import assistant, result, system, user
from host.transforms.handoff import handoff_body, handoff_text, is_handoff
from tests.engines_for_tests import CharCount

WINDOW = 32_000
COUNT = CharCount()
NAMED = re.compile(r"fact-\d+")


@dataclass
class Model:
    """A summary model: it notes every fact that it reads. ``say`` answers in its place, or raises."""

    name: str
    window: int = 200_000
    say: Callable[[str], str] | None = None
    prompts: list[str] = field(default_factory=list)

    def __call__(self, prompt: str, *, max_tokens: int | None = None, timeout: float | None = None) -> str:
        self.prompts.append(prompt)
        facts = dict.fromkeys(NAMED.findall(prompt))
        return self.say(prompt) if self.say else "## Critical Context\nso far: " + " ".join(facts)

    @property
    def as_summary_model(self) -> SummaryModel:
        return SummaryModel(self.name, TextAsReply(self), self.window)


def engine_with(*models: Model, window: int = WINDOW, **thresholds: Any) -> Compressor:
    given = services(window, count=COUNT, **thresholds)
    given.summary_models = tuple(model.as_summary_model for model in models)
    return Compressor(given)


def conversation(exchanges: int = 200, chars: int = 300) -> list[Message]:
    """Each exchange holds a fact of its own."""
    turns = [m for n in range(exchanges) for m in (user(f"q{n} " + "a" * chars), assistant(f"fact-{n} " + "b" * chars))]
    return [system("s"), *turns, user("and now?")]


def failing(error: Exception) -> Callable[[str], str]:
    def fail(prompt: str) -> str:
        raise error

    return fail


def at_most(tokens: int, words: str = "maximum context length exceeded") -> Callable[[str], str]:
    def answer(prompt: str) -> str:
        if COUNT.text(prompt) > tokens:
            raise ProviderError(f"400 {words}")
        return "## Critical Context\nso far: " + " ".join(dict.fromkeys(NAMED.findall(prompt)))

    return answer


def summary_of(after: Sequence[Message]) -> str:
    (handoff,) = filter(is_handoff, after)
    return handoff_body(handoff)


def facts_lost(before: Sequence[Message], after: Sequence[Message]) -> set[str]:
    return set(NAMED.findall(str(before))) - set(NAMED.findall(str(after)))


def test_a_middle_that_does_not_fit_the_models_window_is_read_in_pieces_and_loses_nothing() -> None:
    model, before = Model("small", window=8_000), conversation()
    engine = engine_with(model)
    after = engine.compress(before)
    assert len(model.prompts) > 3
    assert all(COUNT.text(prompt) + 1_600 <= 8_000 for prompt in model.prompts)
    assert facts_lost(before, after) == set()
    assert engine.last_report == Report(made_progress=True)
    assert "this is piece 2" in model.prompts[1] and "PREVIOUS SUMMARY:\n## Critical Context\nso far: fact-" in model.prompts[1]


def test_each_turn_is_read_once_and_in_order() -> None:
    model = Model("small", window=8_000)
    engine_with(model).compress(conversation())
    read = [int(n) for prompt in model.prompts for n in re.findall(r"\[USER\]: q(\d+) ", prompt)]
    assert read == sorted(set(read))


def test_a_middle_that_fits_is_one_question() -> None:
    model = Model("large")
    engine_with(model).compress(conversation())
    assert len(model.prompts) == 1 and "piece" not in model.prompts[0]


def test_the_pieces_are_told_as_they_come() -> None:
    model, told = Model("small", window=8_000), []
    engine = engine_with(model)
    engine.services.progress = lambda done, total, text: told.append((done, total))
    engine.compress(conversation())
    assert len(told) == len(model.prompts) + 1
    assert told[0][0] == 0 and told[-1][0] == told[-1][1]
    assert [done for done, _ in told] == sorted({done for done, _ in told})


@pytest.mark.parametrize(
    "words", ["maximum context length exceeded", "maximum context length is 6000 tokens", "prompt too long: 9 > 6000 maximum"]
)
def test_a_prompt_that_is_too_long_is_asked_again_in_smaller_pieces(words: str) -> None:
    model, before = Model("m", say=at_most(6_000, words)), conversation()
    engine = engine_with(model)
    after = engine.compress(before)
    assert facts_lost(before, after) == set()
    assert not engine.last_report.fallback_used and not engine.cooling


def test_a_window_that_was_named_is_remembered() -> None:
    model = Model("m", say=at_most(6_000, "maximum context length is 6000 tokens"))
    engine = engine_with(model)
    first = engine.compress(conversation())
    asked = len(model.prompts)
    engine.compress([*first, *conversation()[1:]], force=True)
    assert all(COUNT.text(prompt) <= 6_000 for prompt in model.prompts[asked:])


def test_a_model_that_takes_next_to_nothing_is_left_after_a_few_tries_for_the_main_one() -> None:
    tiny, main = Model("tiny", say=at_most(10)), Model("main")
    engine, before = engine_with(tiny, main), conversation()
    after = engine.compress(before)
    assert len(tiny.prompts) == 1 + MOST_HALVINGS
    assert facts_lost(before, after) == set()
    assert (engine.last_report.failed_model, engine.last_report.note) == ("tiny", RECOVERED)


def test_a_single_message_larger_than_the_window_is_no_endless_loop() -> None:
    model = Model("tiny", window=500)
    turns = [system("s"), user("go"), *(m for n in range(9) for m in (assistant(f"fact-{n}"), user("word " * 9_000))), user("now?")]
    after = engine_with(model).compress(turns)
    assert violations(after) == [] and facts_lost(turns, after) == set()


def test_the_main_model_goes_on_where_the_first_one_failed() -> None:
    aux, main = Model("aux", window=8_000), Model("main", window=8_000)
    answer = at_most(10**9)
    aux.say = lambda prompt: answer(prompt) if len(aux.prompts) < 3 else failing(TimeoutError("slow"))(prompt)
    engine, before = engine_with(aux, main), conversation()
    after = engine.compress(before)
    assert len(aux.prompts) == 3 and "PREVIOUS SUMMARY" in main.prompts[0]
    assert facts_lost(before, after) == set()


def test_one_that_failed_is_not_asked_again_while_another_answers() -> None:
    aux, main = Model("aux", say=failing(RuntimeError("HTTP 504"))), Model("main")
    engine = engine_with(aux, main)
    first = engine.compress(conversation())
    assert engine.last_report == Report(made_progress=True, note=RECOVERED, error="HTTP 504", failed_model="aux", answered_by="main")
    engine.compress([*first, *conversation()[1:]])
    assert (len(aux.prompts), len(main.prompts)) == (1, 2)
    assert engine.last_report == Report(made_progress=True)
    engine.update_model("another", WINDOW)
    engine.compress([*first, *conversation()[1:]])
    assert len(aux.prompts) == 2


def test_what_a_model_wrote_before_it_failed_is_not_lost_in_the_notes() -> None:
    model = Model("m", window=8_000)
    answer = at_most(10**9)
    model.say = lambda prompt: answer(prompt) if len(model.prompts) < 3 else failing(RuntimeError("odd"))(prompt)
    engine, before = engine_with(model), conversation()
    middle = engine.window(before, engine.plan(), "automatic").middle
    after = engine.compress(before)
    report = engine.last_report
    assert report.fallback_used and report.error == "odd"
    read = len(re.findall(r"^\[(?:USER|ASSISTANT)\]: ", "\n".join(model.prompts[:2]), re.MULTILINE))
    assert report.dropped == len(middle) - read
    assert "fact-5" in summary_of(after)


def test_an_abort_gives_back_the_very_list_and_counts_nothing() -> None:
    engine, before = engine_with(Model("m", say=failing(ConnectionError("refused")))), conversation()
    assert engine.compress(before) is before
    assert engine.last_report == Report(aborted=True, error="refused")
    assert engine.compression_count == 0 and engine.state.ineffective == 0 and engine.last_prompt_tokens == 0


@pytest.mark.parametrize("force", [False, True])
def test_network_failures_do_not_strand_a_window_that_no_longer_fits_its_model(force: bool) -> None:
    engine, before = engine_with(Model("m", say=failing(TimeoutError("ReadTimeout")))), conversation(400)
    after, attempts = before, 0
    while after is before and attempts < 5:
        after, attempts = engine.compress(before, current_tokens=60_000, force=force), attempts + 1
    assert attempts == (3 if force else 2)
    assert engine.last_report.fallback_used and COUNT.messages(after) < engine.threshold_tokens


def test_a_user_who_wants_no_notes_keeps_the_window_whatever_its_size() -> None:
    engine = engine_with(Model("m", say=failing(TimeoutError("slow"))), abort_on_summary_failure=True)
    before = conversation(400)
    assert all(engine.compress(before, current_tokens=60_000) is before for _ in range(4))


def test_notes_for_want_of_a_model_are_a_choice() -> None:
    engine = engine_with()
    for _ in range(3):
        after = engine.compress(conversation())
        assert summary_of(after) and engine.last_report == Report(made_progress=True)
    assert engine.state.effect.streak == 0 and engine.should_compress(engine.threshold_tokens + 4_096) is not engine.cooling


def test_an_earlier_summary_with_nothing_new_stays_as_it_is_and_nobody_is_asked() -> None:
    model, wordless = Model("m"), [assistant(""), user(" "), assistant(None)]
    engine = engine_with(model)
    window = engine.window(conversation(), engine.plan(), "manual")
    for turns in ([], wordless):
        nothing_new = Middle(turns, partial(list, turns), previous="## Goal\nport 8443", room=500)
        assert engine.summarise(window, nothing_new) == "## Goal\nport 8443"
    assert model.prompts == []


def test_messages_without_words_make_no_summary() -> None:
    model = Model("m")
    blank = [m for _ in range(40) for m in (user(" "), assistant(""))]
    engine = engine_with(model)
    given = [system("s"), *blank, user("now")]
    window = engine.window(given, engine.plan(), "manual")
    with pytest.raises(Stays):
        engine.summarise(window, Middle(blank, partial(list, blank), previous="", room=500))
    assert engine.compress(given, force=True) is given
    assert model.prompts == []


def test_a_summary_that_grows_each_round_stays_within_its_ceiling() -> None:
    model = Model("m", say=lambda prompt: "## Goal\n" + str(model.prompts)[-40_000:].replace("\\", "") + "word " * 4_000)
    engine, window = engine_with(model), conversation()
    for _ in range(5):
        window = engine.compress([*window, *conversation(80)[1:]])
        assert COUNT.text(summary_of(window)) <= engine.budgets.summary


def test_memory_and_focus_reach_the_model_masked() -> None:
    model, key = Model("m"), "ghp_" + "Ab1" * 12
    engine_with(model).compress(conversation(), focus_topic="the parser", memory_context=f"the user likes tea; {key}")
    assert "the user likes tea" in model.prompts[0] and "FOCUS: the parser" in model.prompts[0]
    assert key not in model.prompts[0]


def test_without_a_topic_the_newest_requests_are_the_focus() -> None:
    model = Model("m")
    engine_with(model).compress(conversation())
    assert "- and now?" in model.prompts[0]


def test_small_models_are_named_once_with_both_windows_and_both_remedies(caplog: pytest.LogCaptureFixture) -> None:
    engine = engine_with(Model("small", window=8_000), Model("main"))
    with caplog.at_level(logging.WARNING, logger=engine.services.log.name):
        first = engine.compress(conversation())
        engine.compress([*first, *conversation()[1:]])
    (told,) = [record.getMessage() for record in caplog.records if "window of" in record.getMessage()]
    assert all(
        words in told
        for words in ("small", "8,000", f"{engine.threshold_tokens:,}", "auxiliary.compression.model", "compression.threshold")
    )


@pytest.mark.parametrize(
    "reply",
    [
        Reply({"role": "assistant", "content": "## Goal\nport par"}, finish_reason="length"),
        Reply({"role": "assistant", "content": " \n\t "}, finish_reason="stop"),
        Reply({"role": "assistant", "content": None}),
        Reply({"role": "assistant", "content": "I'm sorry, but I can't help with that."}, finish_reason="refusal"),
    ],
)
def test_an_answer_that_is_no_summary_is_a_failure_and_its_words_are_nowhere(reply: Reply) -> None:
    given = services(WINDOW, count=COUNT)
    given.summary_models = (SummaryModel("m", lambda prompt, **more: reply, 200_000),)
    engine = Compressor(given)
    after = engine.compress([*conversation(), result("x", "y")][:-1])
    assert engine.last_report.fallback_used and engine.cooling
    assert str(reply.message["content"]).strip() not in summary_of(after) or not str(reply.message["content"]).strip()


def test_what_memory_plugins_told_is_told_with_the_first_piece_alone() -> None:
    model = Model("small", window=8_000)
    engine_with(model).compress(conversation(), memory_context="the user likes tea")
    assert len(model.prompts) > 3
    assert ["the user likes tea" in prompt for prompt in model.prompts] == [True, *[False] * (len(model.prompts) - 1)]


SECRET = "sk-proj-" + "Ab3dEf6hIj9kLmN0pQrS"
EARLIER = f"## Goal\n- ship it\n\n## Critical Context\n- deploy uses OPENAI_API_KEY={SECRET} on host 10.0.0.1"


@pytest.mark.parametrize("models", [[], [Model("m")]], ids=["notes", "model"])
def test_no_secret_of_an_earlier_summary_is_passed_on(models: list[Model]) -> None:
    engine, asked = engine_with(*models), conversation()
    after = engine.compress([asked[0], user(handoff_text(EARLIER)), *asked[1:]])
    assert SECRET not in str(after) and all(SECRET not in prompt for model in models for prompt in model.prompts)


def test_an_earlier_summary_that_stays_is_masked_too() -> None:
    engine = engine_with()
    window = engine.window(conversation(), engine.plan(), "manual")
    stays = engine.summarise(window, Middle([], list, previous=EARLIER, room=500))
    assert SECRET not in stays and "10.0.0.1" in stays


def test_a_model_in_the_middle_of_the_chain_is_named_for_what_it_wrote() -> None:
    first, second, main = Model("first", say=failing(RuntimeError("HTTP 504"))), Model("second"), Model("main")
    engine = engine_with(first, second, main)
    engine.compress(conversation())
    report = engine.last_report
    assert (report.failed_model, report.answered_by, main.prompts) == ("first", "second", [])
    assert words_of_report(report)[0].endswith("Recovered with 'second'; check auxiliary.compression.model in config.yaml.")


PATIENCE = [("by hand", 1), ("later", 901), ("both failed", 61)]


@pytest.mark.parametrize(("again", "seconds"), PATIENCE)
def test_one_that_was_given_up_is_asked_again_by_hand_after_its_pause_and_when_the_other_failed_too(again: str, seconds: int) -> None:
    aux, main = Model("aux", say=failing(RuntimeError("HTTP 504"))), Model("main")
    engine, now = engine_with(aux, main), [datetime(2026, 1, 1, tzinfo=UTC)]
    engine.services.clock = partial(now.__getitem__, 0)
    for _ in range(2):
        engine.compress(conversation())
    assert (len(aux.prompts), len(main.prompts)) == (1, 2)
    if again == "both failed":
        main.say = failing(RuntimeError("HTTP 500"))
        engine.compress(conversation())
    now[0] += timedelta(seconds=seconds)
    aux.say = main.say = None
    engine.compress(conversation(), force=again == "by hand")
    assert len(aux.prompts) == 2 and not engine.last_report.fallback_used


def test_two_models_of_one_name_keep_windows_of_their_own() -> None:
    narrow, wide = Model("same", say=at_most(6_000, "maximum context length is 6000 tokens")), Model("same")
    engine = engine_with(narrow, wide)
    engine.compress(conversation())
    assert [window for _, window in engine.record.windows] == [6_000]
    assert window_of(engine.services.summary_models[1], engine.record.windows) == 200_000
