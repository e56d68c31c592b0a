"""Taking out of a model's text what it only thought: reasoning blocks, and tool calls written as markup (hermes.md 7.3)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from host.compressor.template import heading_of
from host.messages.reading import parts_of
from host.messages.types import Message, Part

REASONING_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning.text", "reasoning_text", "summary_text"})
"""Types of content parts that hold thoughts."""

THOUGHTS = "think|thinking|reasoning|thoughts?|analysis|reasoning_scratchpad|scratchpad|inner_monologue"
TAG = re.compile(rf"(?<!`)<(?P<closes>/?)(?:[a-z]{{1,12}}:)?(?:{THOUGHTS})(?:\s[^<>]{{0,200}})?>(?!`)", re.IGNORECASE)
CALL_TAG = re.compile(
    r"(?<!`)<(?P<closes>/?)(?:[a-z]{1,12}:)?(?:tool_calls?|tool_use|function_calls?|invoke)(?:[\s=][^<>]{0,200})?>(?!`)", re.IGNORECASE
)

INDENT = 40  # blanks that may stand before a tag at the beginning of a line
MARKS = ("<", "◁", "[T", "[/T", "[REASONING]", "[/REASONING]", "assistantfinal", "...done thinking.", "my thought process:")
"""One of them is in every text that holds anything of this kind."""

CHANNEL = r"(?:<\|(?:end|call)\|>\s*)?(?:<\|start\|>[\w.]{0,40})?<\|channel\|>\s*"
HEADER = r"[^<>\n]{0,120}(?:<\|constrain\|>[\w ]{0,40})?<\|message\|>"
SPELLINGS = tuple(
    (re.compile(rf"(?<!`)(?:{spelling})(?!`)"), plain)
    for spelling, plain in (
        (rf"◁(/?)(?:{THOUGHTS})▷", r"<\1think>"),
        (r"\[(/?)(?:THINK|THINKING|REASONING)\]", r"<\1think>"),
        (r"<\|(/?)(?:think|thinking)\|>", r"<\1think>"),
        (r"<\|(?i:start|begin(?:_of)?)_(?i:think|thinking|thought|reasoning)\|>", "<think>"),
        (r"<\|(?i:end(?:_of)?)_(?i:think|thinking|thought|reasoning)\|>", "</think>"),
        (r"<\|(?i:start|begin_of|end|end_of)_(?i:response|solution|answer|text)\|>", ""),
        (r"<\|inner_prefix\|>|<unused94>(?:thought)?|<\|channel>(?:thought|analysis)", "<think>"),
        (r"<\|inner_suffix\|>|<unused95>|<channel\|>", "</think>"),
        (rf"{CHANNEL}(?:analysis|commentary){HEADER}", "<think>"),
        (rf"{CHANNEL}final{HEADER}", "</think>"),
        (r"\[TOOL_CALLS\]|<｜tool▁calls▁begin｜>|<\|tool_calls_section_begin\|>|<\|python_tag\|>", "<tool_call>"),
        (r"<｜tool▁calls▁end｜>|<\|tool_calls_section_end\|>", "</tool_call>"),
    )
)
"""How models of other families write the tags, and the plain ones in their place; none of these is left in the end."""

PREAMBLES = re.compile(
    r"\s*+(?:Here(?:'s| is) my thought process:.*?Here(?:'s| is) my response:"
    r"|Thinking\.\.\.\n.*?\n\.\.\.done thinking\.|analysis.*?assistantfinal"
    r"|<details type=\"reasoning\".*?</details>)",
    re.DOTALL,
)
"""Thoughts that words set apart; the third are channels whose marks a server took out."""

STOP_TOKENS = re.compile(
    r"(?:(?:<\|(?:end|return|call|im_end|eot_id|eom_id|endoftext|end_of_text|END_OF_TURN_TOKEN)\|>"
    r"|<end_of_turn>|<｜end▁of▁sentence｜>)\s*+){1,8}+\Z"
)
"""What a server should have kept to itself at the end of a text."""


def spoken_parts(message: Message) -> list[Part]:
    """The parts of a message that are no thoughts."""
    return [part for part in parts_of(message) if part.get("type") not in REASONING_TYPES]


def without_reasoning(text: str) -> str:
    """The text without reasoning blocks and calls of tools as markup; the same text where it has none.

    A block may end with another tag than it began with. One that never ends reaches to the end of the text if it begins a line;
    otherwise only its tag goes, as in a text about such tags. Tags between backticks are none.
    """
    if not any(mark in text for mark in MARKS):
        return text
    plain = text
    if (preamble := PREAMBLES.match(plain)) is not None:
        plain = plain[preamble.end() :].strip()
    for spelling, tag_for_it in SPELLINGS:
        plain = spelling.sub(tag_for_it, plain)
    for tag in (TAG, CALL_TAG):
        if tag.search(plain):
            plain = _without_blocks(plain, tag).strip()
    return plain[: end.start()].rstrip() if (end := STOP_TOKENS.search(plain)) is not None else plain


def _without_blocks(text: str, tag: re.Pattern[str]) -> str:
    """The text between the blocks. Thoughts end at a tag that nothing opened, where their opening was part of the prompt.

    Notes before such a tag are no thoughts, and what ends the text is kept, too.
    """
    tags, end = list(tag.finditer(text)), len(text.rstrip())
    ends = _ends_of_blocks(tags)
    kept: list[str] = []
    at, has_notes = 0, False
    for found in tags:
        if found.start() < at:
            continue
        kept.append(text[at : found.start()])
        at = found.end()
        if not found["closes"]:
            at = ends.get(found.start()) or _end_of_open_block(text, found)
        elif not has_notes and found.end() < end:
            has_notes = any(map(heading_of, "".join(kept).splitlines()))
            kept = kept if has_notes else []
    return "".join([*kept, text[at:]])


def _ends_of_blocks(tags: Sequence[re.Match[str]]) -> dict[int, int]:
    """Where the text goes on behind a block, by where that begins: blocks may nest, one that never ends goes to the next tag."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for found in tags:
        if not found["closes"]:
            opened.append(found.start())
        elif opened:
            ends[opened.pop()] = found.end()
    closing = 0
    for found in reversed(tags):
        closing = found.end() if found["closes"] else closing
        if closing:
            ends.setdefault(found.start(), closing)
    return ends


def _end_of_open_block(text: str, opening: re.Match[str]) -> int:
    """A block that never ends: to the end of the text where it begins a line, else its tag alone."""
    before = text[max(0, opening.start() - INDENT) : opening.start()]
    begins_line = not before.rpartition("\n")[2].strip()
    return len(text) if begins_line else opening.end()
