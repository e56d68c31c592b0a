"""Turns as text for a summary model: labelled, masked, cut, without pictures and thoughts (hermes.md 7.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from host.compressor.reasoning import spoken_parts, without_reasoning
from host.messages.masked import Mask
from host.messages.reading import call_arguments, call_name, calls_of, is_image, part_text
from host.messages.types import Message, Part, ToolCall

CONTENT_LIMIT, CONTENT_HEAD, CONTENT_TAIL = 6_000, 4_000, 1_500  # characters of one message
ARGUMENTS_LIMIT, ARGUMENTS_HEAD = 1_500, 1_200
NAME_LIMIT = 120  # characters of a role, an id, a tool's name
ADDRESS_LIMIT = 2_000

OMITTED = "\n...[truncated]...\n"
ATTACHED = re.compile(r"\bMEDIA:\S+")
DATA_URL = re.compile(r"data:(?P<type>[\w.+/-]{0,80})(?:;[\w.=+-]{1,80}){0,4};base64,[A-Za-z0-9+/=_%-]*", re.IGNORECASE)
ENCODED = re.compile(r"[A-Za-z0-9+/_-]{60,}+=*+(?:(?:\s|\\r|\\n){1,4}+[A-Za-z0-9+/_-]{60,}+=*+)*+(?:\s{1,2}[A-Za-z0-9+/]{1,59}={1,2})?")
ENCODED_FROM = 256  # characters; a shorter run may be a hash, a token, a long name
MANY_LETTERS = 24  # different characters in the beginning of a run: base64 has many, a ruler or a hexadecimal number few
BREAKS = "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"
LABEL_LIKE = re.compile(
    rf"(?:(?<=[{BREAKS}])|\A)(?=[^\w>{BREAKS}]{{0,8}}(?:"
    r"\[(?:tool (?:result|calls)|user|assistant|system|developer|tool|function)\b[^\]\r\n]{0,200}\]?\s*:"
    r"|\[tool calls:"
    r"|end of (?:new )?turns\b|(?:previous summary|(?:new )?turns|memory context|focus)\s*:))",
    re.IGNORECASE,
)
"""Where a line begins that could pass for one of the prompt's own."""


def serialise(turns: Sequence[Message], mask: Mask) -> str:
    """The turns as labelled blocks, a blank line between them.

    Only a label at the beginning of a line tells who speaks: a line of a turn that looks like one is quoted by ``> ``.
    """
    return "\n\n".join(_block(message, mask) for message in turns)


def quoted(text: str) -> str:
    """The text with ``> `` before each line that looks like a label or heading of the prompt."""
    return LABEL_LIKE.sub("> ", text)


def without_encoded(text: str) -> str:
    """The text with a note in place of data URLs and long base64 runs."""
    if "base64," in text.lower():
        text = DATA_URL.sub(lambda found: f"[{found['type'] or 'data'} left out]", text)
    return ENCODED.sub(_encoded_note, text) if len(text) >= ENCODED_FROM else text


def shorten(text: str) -> str:
    """A long content as its beginning and its end."""
    return text if len(text) <= CONTENT_LIMIT else text[:CONTENT_HEAD] + OMITTED + text[-CONTENT_TAIL:]


def _encoded_note(found: re.Match[str]) -> str:
    run: str = found[0]
    is_encoded = len(run) >= ENCODED_FROM and len(set(run[:ENCODED_FROM])) >= MANY_LETTERS and any(map(str.isdigit, run))
    return f"[{len(run):,} encoded characters left out]" if is_encoded else run


def _block(message: Message, mask: Mask) -> str:
    role = _name(message.get("role") or "?")
    label = f"TOOL RESULT {_name(message.get('tool_call_id') or '')}" if role == "tool" else role.upper()
    words = "\n".join(filter(None, (_part(part) for part in spoken_parts(message))))
    if role == "assistant":
        words = without_reasoning(words)
    block = f"[{label}]: {quoted(shorten(_clean(words, mask)))}"
    calls = [f"  {_call(call, mask)}" for call in calls_of(message)]
    return "\n".join([block, "[Tool calls:", *calls, "]"]) if calls else block


def _clean(text: str, mask: Mask) -> str:
    return ATTACHED.sub("[media attachment]", without_encoded(mask(text)))


def _part(part: Part) -> str:
    if is_image(part):
        return _picture(part)
    return part_text(part) or f"[{_name(part.get('type') or 'attachment')}]"


def _picture(part: Part) -> str:
    """A picture by its address on the web; one that is carried in the message has none."""
    source = part.get("image_url") or part.get("source") or {}
    address = source if isinstance(source, str) else source.get("url") if isinstance(source, dict) else None
    is_web = isinstance(address, str) and address.lower().startswith(("http://", "https://")) and len(address) <= ADDRESS_LIMIT
    return f"[image: {address}]" if is_web else "[image]"


def _call(call: ToolCall, mask: Mask) -> str:
    arguments = quoted(_clean(call_arguments(call), mask))
    shown = arguments if len(arguments) <= ARGUMENTS_LIMIT else arguments[:ARGUMENTS_HEAD] + "..."
    return f"{_name(call_name(call) or '?')}({shown})"


def _name(value: object) -> str:
    """A role, an id or a name on one line, without the brackets that end a label."""
    return " ".join(str(value).split()).replace("[", "(").replace("]", ")")[:NAME_LIMIT]
