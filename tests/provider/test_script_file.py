"""A scripted model from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from host.messages.reading import calls_of, text_of
from host.provider.errors import BadRequest, OutOfReplies, ServiceError, TimedOut
from host.provider.provider import Delta
from host.provider.refusals.classifier import classify
from host.provider.refusals.kinds import Kind, Sent
from host.provider.script_file import BadScript, scripted_from
from host.testing.messages import user

EXAMPLE = Path(__file__).parents[2] / "examples" / "script.yaml"


def script(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "script.yaml"
    path.write_text(text, "utf-8")
    return path


def test_replies_come_in_their_order_and_by_what_the_user_says(tmp_path: Path) -> None:
    model = scripted_from(script(tmp_path, "- one\n- {when: Weather, text: rain}\n- two\n"))
    said = [text_of(model.ask([user(words)]).message) for words in ("a", "the weather?", "b")]
    assert said == ["one", "rain", "two"]
    with pytest.raises(OutOfReplies):
        model.ask([user("c")])


def test_the_last_reply_may_be_repeated_and_json_is_a_script_too(tmp_path: Path) -> None:
    path = script(tmp_path, json.dumps({"repeat": True, "steps": ["one", {"echo": True}]}))
    model = scripted_from(path)
    assert [text_of(model.ask([user(words)]).message) for words in "abc"] == ["one", "b", "c"]


def test_calls_reasoning_and_pieces(tmp_path: Path) -> None:
    model = scripted_from(
        script(tmp_path, "- {text: I look., reasoning: Hm., calls: [{name: look, arguments: {at: 1}}, {name: odd, arguments: '{'}]}\n")
    )
    heard: list[Delta] = []
    reply = model.ask([user("go")], on_delta=heard.append)
    assert [call["function"]["arguments"] for call in calls_of(reply.message)] == ['{"at": 1}', "{"]
    assert reply.message["reasoning_content"] == "Hm."
    assert "".join(delta.text for delta in heard) == "I look."


def test_what_is_longer_than_the_window_is_refused(tmp_path: Path) -> None:
    model = scripted_from(script(tmp_path, "{window: 50, steps: [fine]}"))
    with pytest.raises(BadRequest, match="maximum context length is 50 tokens"):
        model.ask([user("word " * 100)])
    assert text_of(model.ask([user("word")]).message) == "fine"


def test_the_example_plays_a_failure(tmp_path: Path) -> None:
    model = scripted_from(EXAMPLE)
    with pytest.raises(ServiceError):
        model.ask([user("overload")])
    assert calls_of(model.ask([user("What did we say about it?")]).message)[0]["function"]["name"] == "lcm_grep"


def test_the_room_for_the_answer_counts_and_its_refusal_is_understood(tmp_path: Path) -> None:
    model = scripted_from(script(tmp_path, "{window: 9000, steps: [fine]}"))
    assert model.window == 9000
    with pytest.raises(BadRequest) as refused:
        model.ask([user("word " * 100)], max_tokens=8950)
    verdict = classify(refused.value, Sent(tokens=110, messages=1, window=9000, max_tokens=8950))
    assert verdict.reserve == 8950
    assert (verdict.kind, verdict.limit) == (Kind.CONTEXT_OVERFLOW, 9000)


def test_a_behaviour_that_answers_is_streamed_too(tmp_path: Path) -> None:
    heard: list[Delta] = []
    reply = scripted_from(script(tmp_path, "- {fail: declines}\n")).ask([user("go")], on_delta=heard.append)
    assert "".join(delta.text for delta in heard) == text_of(reply.message) != ""


def test_nobody_waits_longer_than_asked(tmp_path: Path) -> None:
    with pytest.raises(TimedOut):
        scripted_from(script(tmp_path, "- {text: late, wait: 3600}\n")).ask([user("go")], timeout=0.01)


def test_a_script_that_is_over_says_how_to_go_on(tmp_path: Path) -> None:
    with pytest.raises(OutOfReplies, match="repeat: true"):
        scripted_from(script(tmp_path, "- {when: hello, text: Hello.}\n")).ask([user("go")])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "a script is a list of replies"),
        ("[]", "a script is a list of replies"),
        ("steps: nothing", "a script is a list of replies"),
        ("- [", ":1"),
        ("- fine\n- {txt: typo}\n", ":2"),
        ("- fine\n- {fail: nonsense}\n", "no failure is called 'nonsense'"),
        ("steps: [fine]\nwindw: 3\n", "windw"),
        ("- {text: a, wait: -1}\n", "wait"),
        ("- fine\n- 2026-01-01\n", ":2: only texts"),
        ("{day: 2026-01-01, steps: [fine]}", "only texts"),
    ],
)
def test_what_is_no_script_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    path = script(tmp_path, text)
    with pytest.raises(BadScript) as raised:
        scripted_from(path)
    assert told in raised.value.what
    assert str(path) in raised.value.what


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name in ("nowhere", ".", "bytes"):
        with pytest.raises(BadScript, match="cannot be read"):
            scripted_from(tmp_path / name)
