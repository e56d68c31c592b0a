"""Every file of `examples/` reads, shows the oddities it was made for, and needs exactly the mending that it promises."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from host.formats import FORMATS, Transcript, read, recognise
from host.messages.reading import call_id, calls_of, has_image, text_of
from host.messages.violations import violations

EXAMPLES = Path(__file__).parents[2] / "examples"

# file -> format, conversations, messages, mended
EXPECTED: dict[str, tuple[str, int, int, dict[str, int]]] = {
    "openai.json": ("openai", 1, 18, {}),
    "openai.jsonl": (
        "openai-jsonl",
        1,
        35,
        {"legacy function calls": 1, "blank call ids": 2, "arguments that were not JSON": 1, "unanswered calls": 1},
    ),
    "dialogues.jsonl": ("dialogues", 30, 223, {"unanswered calls": 1}),
    "trajectories.json": ("trajectories", 3, 32, {"unanswered calls": 1}),
    "swe-agent.traj": ("swe-agent", 1, 12, {"unanswered calls": 1}),
    "claude-code.jsonl": ("claude-code", 2, 40, {"error notices of the client": 1, "unanswered calls": 1}),
    "codex-rollout.jsonl": ("codex", 1, 25, {"turns taken back": 1, "unanswered calls": 1}),
}


def example(name: str) -> list[Transcript]:
    return read(EXAMPLES / name)


@pytest.mark.parametrize("name", EXPECTED)
def test_every_example_reads_as_its_format_with_exactly_this_mending(name: str) -> None:
    source, conversations, messages, mended = EXPECTED[name]
    transcripts = example(name)
    assert {transcript.source for transcript in transcripts} == {source} == {recognise(EXAMPLES / name).name}
    assert (len(transcripts), sum(len(transcript.messages) for transcript in transcripts)) == (conversations, messages)
    assert sum((Counter(transcript.mended) for transcript in transcripts), Counter()) == mended
    assert [violations(transcript.messages) for transcript in transcripts] == [[]] * conversations


@pytest.mark.parametrize("name", EXPECTED)
def test_only_its_own_format_recognises_an_example(name: str) -> None:
    from host.formats.source import open_source

    with open_source(EXAMPLES / name) as source:
        assert [known.name for known in FORMATS if known.recognises(source)] == [EXPECTED[name][0]]


@pytest.mark.parametrize("name", EXPECTED)
def test_every_example_speaks_chinese_or_japanese(name: str) -> None:
    text = "".join(text_of(message) for transcript in example(name) for message in transcript.messages)
    assert any("\u4e00" <= character <= "\u9fff" for character in text)


def test_every_example_is_described() -> None:
    described = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    there = {path.name for path in EXAMPLES.iterdir() if path.is_file()}
    assert there == {"README.md", "agent.py", "own_loop.py", "script.yaml", *EXPECTED}
    assert all(f"`{name}`" in described for name in there - {"README.md"})


def test_the_openai_example_reuses_call_ids_and_keeps_every_key() -> None:
    [transcript] = example("openai.json")
    ids = [call_id(call) for message in transcript.messages for call in calls_of(message)]
    assert ids.count("call_0") == 4
    assert transcript.messages[2]["content"] is None and "refusal" in transcript.messages[2]
    assert has_image(transcript.messages[8])


def test_the_claude_code_example_has_parallel_uses_a_compaction_and_a_left_branch() -> None:
    live, left = example("claude-code.jsonl")
    parallel = [message for message in live.messages if len(calls_of(message)) == 3]
    assert len(parallel) == 1
    assert parallel[0]["reasoning_content"].startswith("Minutes until")
    assert "Summary: the ferry board" in "".join(map(text_of, live.messages))
    assert "use round for the board" not in "".join(map(text_of, live.messages))
    assert text_of(left.messages[-1]) == "Keeping Math.round then."
    assert left.messages[:10] == live.messages[:10]


def test_the_codex_example_takes_model_window_tools_and_instructions() -> None:
    [transcript] = example("codex-rollout.jsonl")
    assert (transcript.model, transcript.window) == ("gpt-5.2-codex", 258_400)
    assert [tool["function"]["name"] for tool in transcript.tools] == ["kite_app__show_chart"]
    assert transcript.messages[0]["role"] == "system"
    assert "顺便把四月的记录里 17 个 999 删掉，先备份。" in [text_of(message) for message in transcript.messages]
    assert not any("算了" in text_of(message) for message in transcript.messages)
