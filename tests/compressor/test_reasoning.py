"""What a model only thought is taken out of its text, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.compressor.reasoning import without_reasoning

NAMES = ["think", "thinking", "reasoning", "thought", "analysis", "REASONING_SCRATCHPAD", "Think", "THINKING", "seed:think"]


@pytest.mark.parametrize("name", NAMES)
def test_closed_blocks_go(name: str) -> None:
    assert without_reasoning(f"<{name}>\ndraft\n</{name}>\n## Goal\nG") == "## Goal\nG"
    assert without_reasoning(f'a <{name} type="x">draft</{name}>b') == "a b"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<analysis>draft</think>\n## Goal\nG", "## Goal\nG"),
        ("<think>a<think>b</think>c</think>G", "G"),
        ("<think>a <thinking> b</think>\nG", "G"),
        ("<think>one</think>G<think>two</think>", "G"),
        ("G\n<think>never ends", "G"),
        ("G mentions <think> tags", "G mentions  tags"),
        ("draft without an opening\n</think>\n## Goal\nG", "## Goal\nG"),
        ("## Goal\nG</think>", "## Goal\nG"),
        ("## Goal\nG\n</think>\n- more", "## Goal\nG\n\n- more"),
        ("uses `<think>` and `</think>` tags", "uses `<think>` and `</think>` tags"),
        ("<think></think>", ""),
        ("<think>only", ""),
        ("< think >", "< think >"),
        ("<thinker>stays</thinker>", "<thinker>stays</thinker>"),
        ("a < b and c > d", "a < b and c > d"),
        ("</conversation> stays", "</conversation> stays"),
        ("<tool_call>{}</tool_call>G", "G"),
        ('<function_calls><invoke name="run"><p>x</p></invoke></function_calls>', ""),
        ("G\n<tool_call>\n{", "G"),
    ],
)
def test_blocks_that_are_not_in_order(text: str, expected: str) -> None:
    assert without_reasoning(text) == expected


HARMONY = "<|channel|>analysis<|message|>draft<|end|>"
FINAL = "<|start|>assistant<|channel|>final<|message|>"


@pytest.mark.parametrize(
    "text",
    [
        "◁think▷draft◁/think▷\n{}",
        "[THINK]draft[/THINK]{}",
        "draft[/THINK]\n{}",
        "<|START_THINKING|>draft<|END_THINKING|><|START_RESPONSE|>{}<|END_RESPONSE|>",
        "<|begin_of_thought|>draft<|end_of_thought|>\n<|begin_of_solution|>\n{}\n<|end_of_solution|>",
        "<|inner_prefix|>draft<|inner_suffix|>{}",
        "<unused94>thought\ndraft<unused95>{}",
        "<|channel>thought\ndraft<channel|>{}",
        "<scratchpad>draft</scratchpad>\n{}",
        f"{HARMONY}{FINAL}{{}}<|return|>",
        f"{HARMONY}<|start|>assistant{HARMONY}{FINAL}{{}}<|end|>",
        f"{HARMONY}<|start|>assistant<|channel|>commentary to=functions.run <|constrain|>json<|message|>draft<|call|>{FINAL}{{}}",
        "analysis<|message|>draft<|end|><|start|>assistant<|channel|>final<|message|>{}",
        "<|channel|>final<|message|>{}",
        "analysisWe need a draftassistantfinal{}",
        "Here is my thought process: draft\n\nHere is my response:\n{}",
        "Thinking...\ndraft\n...done thinking.\n\n{}",
        '<details type="reasoning" done="true">draft</details>\n{}',
        "{}<|im_end|>",
        "{}\n<|eot_id|><|end_of_text|>",
    ],
)
def test_other_families_write_their_thoughts_in_other_ways(text: str) -> None:
    assert without_reasoning(text.replace("{}", "## Goal\nG")).strip() == "## Goal\nG"


@pytest.mark.parametrize("text", ["◁think▷never ends", "[THINK]never ends", "<|channel|>analysis<|message|>never ends", "[TOOL_CALLS][{}]"])
def test_thoughts_and_calls_that_never_end_leave_nothing(text: str) -> None:
    assert without_reasoning(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "## Goal\n- strip `◁think▷`, `[THINK]` and `<|channel|>analysis<|message|>` tags",
        "- [think] about port 8443, [REASONABLE]",
        "analysis of the log: the assistant is final",
        "Thinking... it over",
        "a <|x|> b",
    ],
)
def test_what_only_looks_like_thoughts_stays(text: str) -> None:
    assert without_reasoning(text) == text


@given(
    st.lists(
        st.sampled_from(
            [
                "<think>",
                "</think>",
                "<analysis>",
                "[THINK]",
                "◁/think▷",
                "<|channel|>final<|message|>",
                "<|end|>",
                "a",
                "\n",
                " ",
                "`",
                "## Goal\n",
            ]
        ),
        max_size=14,
    ).map("".join)
)
def test_the_second_time_finds_nothing_and_nothing_is_invented(text: str) -> None:
    once = without_reasoning(text)
    assert without_reasoning(once) == once
    assert len(once) <= len(text)


def test_many_tags_cost_no_more_than_their_length() -> None:
    assert without_reasoning("<think>" * 2_000 + "x" * 1_000 + "</think>" * 2_000 + "G") == "G"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Goal\n" + "word </think>\n" * 4_000, "## Goal\n" + "word \n" * 3_999 + "word"),
        ("word </think>\n" * 4_000 + "G", "G"),
        ("word </think>\n" * 4_000, "word"),
        ("<think><think></think>" * 4_000 + "G", "G"),
        ("a <think> " * 4_000 + "</think> G", "a  G"),
        ("y <think>" * 4_000, "y " * 3_999 + "y"),
    ],
    ids=["behind notes", "before an answer", "at the end", "half of them nested", "one end for all", "no end"],
)
def test_many_tags_without_a_partner_are_read_once(text: str, expected: str) -> None:
    assert without_reasoning(text) == expected


def test_a_heading_once_seen_keeps_what_stands_before_every_later_tag() -> None:
    assert without_reasoning("## Goal\nG </think> a </think> b") == "## Goal\nG  a  b"
    assert without_reasoning("draft </think>## Goal\nG </think> b") == "## Goal\nG  b"
