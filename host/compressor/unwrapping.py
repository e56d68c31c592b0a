"""The notes in a text without what a model puts around them: frame, fence, tag, object, greeting, farewell."""

from __future__ import annotations

import json
import re
from itertools import pairwise

from host.compressor.headings import is_heading, section_named, with_plain_headings
from host.messages.types import Message
from host.transforms.handoff import END_MARKER, LEGACY_TAG, PREFIXES, handoff_body, is_handoff

FENCE = re.compile(r"(?P<fence>```+|~~~+)(?:markdown|md|text|txt)?[ \t]*\n(?P<inside>.*)\n(?P=fence)", re.DOTALL | re.IGNORECASE)
WRAPPER = re.compile(
    r"<(?P<tag>summary|notes|checkpoint|answer|response|output|result|final)>(?P<inside>.*)</(?P=tag)>", re.DOTALL | re.IGNORECASE
)
WRAPPING_KEYS = frozenset({"summary", "notes", "checkpoint", "answer", "response", "output", "result", "content", "text"})
GREETING = re.compile(
    r"(?:sure|certainly|of course|absolutely|okay|ok|got it|understood|here(?:’s|'s| is| are)|below (?:is|are)|this is"
    r"|以下|好的|当然|當然|下面|这是|這是|はい|承知|claro|aquí|por supuesto|aqui|segue|voici|bien sûr|d'accord|hier|gerne|natürlich"
    r"|вот|конечно|ecco|certo|여기|다음은|네|물론|إليك|بالتأكيد|oto|tutaj|işte|tabii|här|her er|hieronder|đây)"
    r"(?:[^\n]{0,12}[!.！。]|[^\n]{0,200}[:：]"
    r"|[^\n]{0,200}(?:summary|notes|checkpoint|摘要|总结|要約|요약|resumen|resumo|résumé|zusammenfassung|riassunto|сводка|резюме)"
    r"[^\n]{0,80}[.!！。])",
    re.IGNORECASE,
)
FAREWELL = re.compile(
    r"(?:let me know|feel free|i hope this|if you (?:need|want|would)|请告诉我|如果您?需要|avísame|me avise|n'hésitez"
    r"|lass(?:en sie)? (?:es )?mich wissen|sag(?:en sie)? bescheid|fammi sapere|дайте знать|если (?:вам|нужно)|필요하시면)",
    re.IGNORECASE,
)
FULL_PREFIXES = tuple(prefix for prefix in PREFIXES if prefix != LEGACY_TAG)
INTRODUCTION = 200  # characters of a line before the first heading that ends in a colon
LAYERS = 20  # of frames and fences around one another that are taken off
COLONS = (":", "：", ":**", "：**")


def unwrapped(text: str) -> str:
    """The notes without our own frame, a fence, tag or object around all of them, a greeting before and a farewell behind."""
    for _ in range(LAYERS):
        if (inner := _one_layer_off(text.strip())) == text:
            break
        text = inner
    return with_plain_headings(text)


def _one_layer_off(text: str) -> str:
    for layer in (_without_frame, _without_fence, _without_wrapper, _without_object, _without_greeting, _without_farewell):
        text = layer(text).strip()
    return text


def _without_frame(text: str) -> str:
    as_message: Message = {"role": "user", "content": text}
    if is_handoff(as_message):
        return handoff_body(as_message)
    for prefix in FULL_PREFIXES:
        text = text.replace(prefix, "")
    return _before_marker(text)


def _before_marker(text: str) -> str:
    """The text up to an end marker that stands on a line of its own: behind it the model went on with the conversation."""
    lines = text.splitlines(keepends=True)
    end = next((index for index, line in enumerate(lines) if line.strip() == END_MARKER), len(lines))
    before = "".join(lines[:end])
    return before if before.strip() else "".join(lines[end + 1 :])


def _without_fence(text: str) -> str:
    found = FENCE.fullmatch(text)
    is_around_all = found is not None and (found["fence"] not in found["inside"] or found["inside"].lstrip().startswith("#"))
    return found["inside"] if found is not None and is_around_all else text


def _without_wrapper(text: str) -> str:
    found = WRAPPER.fullmatch(text)
    return found["inside"] if found is not None else text


def _without_object(text: str) -> str:
    """The notes of a JSON object: its only text, or its sections under their headings."""
    given = json_object(text)
    if len(given) == 1 and (key := next(iter(given))).casefold() in WRAPPING_KEYS and isinstance(given[key], str):
        return str(given[key])
    if not any(section_named(key) for key in given):
        return text
    return "\n\n".join(f"## {section_named(key) or key}\n{_as_lines(value)}" for key, value in given.items())


def json_object(text: str) -> dict[str, object]:
    """The object that all of the text is; an empty one for any other text."""
    try:
        given = json.loads(text) if text.startswith("{") else {}
    except (ValueError, RecursionError):
        return {}
    return given if isinstance(given, dict) else {}


def _as_lines(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(f"- {_as_line(item)}" for item in value)
    return "" if value is None else _as_line(value)


def _as_line(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _without_greeting(text: str) -> str:
    lines = text.split("\n")
    spoken = [at for at, line in enumerate(lines) if line.strip()]
    first = next((at for at, following in pairwise(spoken) if not _greets(lines[at], lines[following])), spoken[-1] if spoken else 0)
    return "\n".join(lines[first:])


def _greets(line: str, following: str) -> bool:
    line = line.strip()
    introduces = line.endswith(COLONS) and len(line) <= INTRODUCTION and not is_heading(line) and is_heading(following)
    return introduces or GREETING.fullmatch(line) is not None


def _without_farewell(text: str) -> str:
    lines = text.split("\n")
    last = next((at for at in range(len(lines) - 1, 0, -1) if lines[at].strip() and not FAREWELL.match(lines[at].strip())), 0)
    return "\n".join(lines[: last + 1])
