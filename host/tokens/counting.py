"""Tokens of texts, messages and tools, as they go over the wire."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from host.messages.reading import TEXT_TYPES, calls_of, parts_of
from host.messages.types import Message, Part, ToolSchema
from host.tokens.estimate import estimate_text
from host.tokens.vocabulary import encoding_name, load_encoding

if TYPE_CHECKING:
    from tiktoken import Encoding

MESSAGE_OVERHEAD = 4  # role and the marks around a message
CALL_OVERHEAD = 4  # the marks around a tool call
TOOL_OVERHEAD = 4
IMAGE_TOKENS = 1_600
"""One image, whatever its size. The reference says 1,500 in requests and 1,600 in tail walks; this is the larger, used everywhere."""

EXACT_BYTES = 262_144  # texts up to here are counted whole
WINDOW_BYTES = 128
WINDOWS = 1_024
SETTLE_CHARS = 32  # a window begins and ends at the end of a token where one is this near
DENSE_TOKENS = 28_000  # encoded data reaches this with half of the windows: it is slow to count, and the same all over
PIECE_CHARS = 2_048  # tiktoken overflows its stack on very long runs of blanks and slows down on runs of letters
RUN_CHARS = 128  # the longest run that is one token
ENCODED_CHARS = 1_024  # this many characters of the base64 alphabet in a row are no words

_NOT_SENT = frozenset({"role", "content", "tool_calls", "cache_control"})  # counted by rules of their own, or free
_PART_MARKS = frozenset({"type", "text", "cache_control"})
_BASE64 = re.compile(r"[A-Za-z0-9+/=_-]*", re.ASCII)
# Both vocabularies always split between a letter or digit and one of these: a text cut here has the tokens of the whole.
_SPLIT = r"(?:[^\W_](?=[\s!-&(-/:-@\[-`{-~，。、！？：；（）「」])|[A-Za-z](?=[0-9]))"
_NEXT_SPLIT = re.compile(_SPLIT)
_LAST_SPLIT = re.compile(f"(?s:.*){_SPLIT}")


class MessageCounter(ABC):
    """What a message is made of; a subclass says what a text costs."""

    @abstractmethod
    def text(self, text: str) -> int:
        """Tokens of a text."""

    def message(self, message: Message) -> int:
        """Tokens of one message: wire overhead, text, images, calls, reasoning and every other key that is sent."""
        return MESSAGE_OVERHEAD + self._content(message) + self._calls(message) + self._rest(message, _NOT_SENT)

    def messages(self, messages: Iterable[Message]) -> int:
        """Tokens of a list."""
        return sum(map(self.message, messages))

    def tools(self, tools: Sequence[ToolSchema]) -> int:
        """Tokens of the tool schemas of a request."""
        return sum(TOOL_OVERHEAD + self.text(_json(tool)) for tool in tools)

    def _content(self, message: Message) -> int:
        content = message.get("content")
        if isinstance(content, str):
            return self.text(content)
        return sum(map(self._part, parts_of(message)))

    def _part(self, part: Part) -> int:
        if part.get("type") in TEXT_TYPES and isinstance(part.get("text"), str):
            return self.text(part["text"]) + self._rest(part, _PART_MARKS)
        told, media = without_media(part)
        return media * IMAGE_TOKENS + (self.text(_json(told)) if told else 0)

    def _calls(self, message: Message) -> int:
        return sum(CALL_OVERHEAD + self._call(dict(call)) for call in calls_of(message))

    def _call(self, call: dict[str, object]) -> int:
        function = call.get("function")
        words = function.values() if isinstance(function, dict) else ()
        return sum(self._value(word) for word in (call.get("id"), call.get("call_id"), *words))

    def _rest(self, holder: Mapping[str, object], counted: frozenset[str]) -> int:
        kept = (value for key, value in holder.items() if key not in counted and not key.startswith("_"))
        return sum(map(self._value, kept))

    def _value(self, value: object) -> int:
        if value is None or value in ("", [], {}):
            return 0
        return self.text(value if isinstance(value, str) else _json(value))


class Estimator(MessageCounter):
    """Counts by estimate alone: no vocabulary, no files."""

    def text(self, text: str) -> int:
        """Tokens of a text, within about 5 % per kind of text."""
        return estimate_text(text)


class Counter(MessageCounter):
    """Counts with the vocabulary of a model; where that cannot be had offline, by estimate.

    Texts up to 256 KiB are counted exactly, longer ones by 1,024 evenly spread windows unless ``sampled`` is False.
    ``cache`` is the folder of the unpacked vocabularies. Models of makers other than OpenAI are counted with o200k.
    """

    def __init__(self, model: str = "", *, cache: Path | None = None, sampled: bool = True) -> None:
        self.model = model
        self.cache = cache
        self.sampled = sampled

    @property
    def is_exact(self) -> bool:
        """Whether the vocabulary is there; loads it."""
        return self._encoding() is not None

    def text(self, text: str) -> int:
        """Tokens of a text. Special tokens are text like any other, lone surrogates count as replacement characters."""
        encoding = self._encoding()
        if encoding is None:
            return estimate_text(text)
        if not self.sampled or len(text) <= EXACT_BYTES // 4:
            return _exact(text, encoding)
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        return _exact(text, encoding) if size <= EXACT_BYTES else _sampled(text, size, encoding)

    def _encoding(self) -> Encoding | None:
        return load_encoding(encoding_name(self.model), self.cache)


def without_media(value: object) -> tuple[object, int]:
    """A content part without its pictures and attachments, and how many of them it had."""
    if isinstance(value, str):
        return (None, 1) if _is_encoded(value) else (value, 0)
    if isinstance(value, dict):
        if "image" in str(value.get("type") or ""):
            return None, 1
        return _without_media(value, value.values(), lambda kept: dict(zip(value, kept, strict=True)))
    if isinstance(value, list):
        return _without_media(value, value, list)
    return value, 0


def _without_media(whole: object, members: Iterable[object], rebuilt: Callable[[list[object]], object]) -> tuple[object, int]:
    pairs = [without_media(member) for member in members]
    media = sum(count for _, count in pairs)
    return (rebuilt([kept for kept, _ in pairs]), media) if media else (whole, 0)


def _is_encoded(text: str) -> bool:
    if text.startswith("data:") and ";base64," in text[:128]:
        return True
    return len(text) >= ENCODED_CHARS and _BASE64.fullmatch(text, 0, ENCODED_CHARS) is not None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _exact(text: str, encoding: Encoding) -> int:
    if len(text) <= PIECE_CHARS:
        return len(encoding.encode_ordinary(text))
    return sum(len(encoding.encode_ordinary(piece)) for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """Cut a text where its tokens end; a stretch with no such place in runs."""
    start = 0
    while len(text) - start > PIECE_CHARS:
        found = _LAST_SPLIT.match(text, start, start + PIECE_CHARS)
        end = found.end() if found else start + PIECE_CHARS
        step = PIECE_CHARS if found else RUN_CHARS
        yield from (text[at : min(at + step, end)] for at in range(start, end, step))
        start = end
    yield text[start:]


def _sampled(text: str, size: int, encoding: Encoding) -> int:
    """Mean density of evenly spread windows: every second one first, the others unless those were dense."""
    width = max(1, WINDOW_BYTES * len(text) // size)
    counted: list[float] = []
    for first in (0, 1):
        windows = _windows(text, width, range(first, WINDOWS, 2))
        counted += [len(encoding.encode_ordinary(window)) / len(window) for window in windows]
        if sum(counted) * width > DENSE_TOKENS:
            break
    return round(len(text) * sum(counted) / len(counted))


def _windows(text: str, width: int, indices: Iterable[int]) -> Iterator[str]:
    stride = (len(text) - width - 2 * SETTLE_CHARS) / WINDOWS
    for index in indices:
        start = _settled(text, round(index * stride))
        yield text[start : _settled(text, start + width)]


def _settled(text: str, position: int) -> int:
    """The nearest place after a position where tokens end, else the position."""
    found = _NEXT_SPLIT.search(text, position, position + SETTLE_CHARS)
    return found.end() if found else position
