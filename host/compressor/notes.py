"""A summary without a model: the user's requests, decisions, exact values, files, errors, the last state (hermes.md 10.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

from host.compressor.template import Mask, Section
from host.messages.reading import call_arguments, call_id, call_name, calls_of, has_words, parsed_arguments, text_of, tool_call_id
from host.messages.types import Message, ToolCall
from host.transforms.digests import digest

CHARS = 8_000  # of the whole body
RAW_CHARS = 2_000  # of a text before it is masked and cut
SCANNED = 400  # newest messages of a kind that are searched; what the user wrote is searched whole
EDGE_CHARS = 1_200  # of either end of a tool result: errors stand at its beginning or its end


@dataclass(frozen=True)
class Wording:
    """A pattern, and what no text that it matches can be without: looking for that first is ten times faster."""

    words: tuple[str, ...]  # in small letters
    pattern: re.Pattern[str]

    def search(self, text: str) -> bool:
        """Whether the pattern is found."""
        small = text.casefold()
        return any(word in small for word in self.words) and self.pattern.search(text) is not None


def wording(words: str, pattern: str) -> Wording:
    """A wording in any case; its words are separated by bars."""
    return Wording(tuple(words.split("|")), re.compile(pattern, re.IGNORECASE))


NORMATIVE = wording(
    "must|never|always|only|do not|don't|prefer|require|make sure|avoid|不要|必须|务必|禁止|只能|不能|しないで|必ず|てください",
    r"\b(must|never|always|only|do not|don't|prefer|required?|make sure|avoid)\b"
    r"|不要|必须|务必|禁止|只能|不能|しないで|必ず|てください",
)
DECIDING = wording(
    "decid|instead of|because|chose|choose|will use|going with|switch|root cause|turns out|决定|选择|改用|因为|にします|採用",
    r"\b(decid\w+|instead of|because|chose|choose|will use|going with|switch(?:ed|ing)? to|root cause|turns out)\b"
    r"|决定|选择|改用|因为|にします|採用",
)
FAILING = wording(
    "error|fail|exception|traceback|fatal|denied|time|not found|错误|失败|エラー",
    r"error|failed|failure|exception|traceback|fatal|denied|timed? ?out|not found|错误|失败|エラー",
)
EXACT = re.compile(
    r"(?=[h/~.\da-fvA-Z`\"「])(?:"  # what one begins with: one look instead of ten
    r"https?://\S+|(?<!\w)[~.]{0,2}/[\w.-]+(?:/[\w.-]+)+|\b(?=[a-f]{0,39}\d)[0-9a-f]{7,40}\b|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\bv?\d+\.\d+(?:\.\d+)*\b"
    r"|\b[A-Z]{1,5}-?\d{2,}\b|`[^`\n]{2,80}`|\"[^\"\n]{2,80}\"|「[^」\n]{2,40}」|\d+(?:[.,]\d+)*\s?(?:%|ms|s|MB|GB|KB|元|円|€|\$|px|tokens?))"
)
EXACT_SIGN = re.compile(r"[\d/_`\"「](?<!\w/)")  # no exact value is without one of these
PATH = re.compile(r"(?<![\w/:.])(?:[~.]{0,2}/)?(?:[\w.-]+/)+[\w-]+\.\w{1,8}\b")
PATH_ARGUMENTS = ("path", "file_path", "filename", "workdir", "output_path", "notebook_path")
SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")


@dataclass(frozen=True)
class Source:
    """How a section is filled: its items newest first, how many, how long, and how many go in per round."""

    collect: Callable[[Sequence[Message]], Iterable[str]]
    limit: int
    chars: int
    weight: int = 1


def write_notes(turns: Sequence[Message], previous: str, *, mask: Mask, fits: Callable[[str], bool]) -> str:
    """The body of a summary of these turns that takes up ``previous``; the longest that ``fits``."""
    items = merged(parse_notes(previous), collect_notes(turns, mask))
    limit = CHARS
    while limit > 0:
        body = render(chosen(items, limit))
        if fits(body):
            return body
        limit = min(limit, len(body)) * 4 // 5
    return ""


def collect_notes(turns: Sequence[Message], mask: Mask) -> dict[Section, list[str]]:
    """What the turns hold for each section, newest first, masked and cut."""
    return {section: list(islice(_items(source, turns, mask), source.limit)) for section, source in SOURCES.items()}


def parse_notes(body: str) -> dict[Section, list[str]]:
    """The items of a summary by section, newest first; text under no known heading counts as critical context."""
    found: dict[Section, list[str]] = {}
    known = {section.value.lower(): section for section in Section}
    section = Section.CONTEXT
    for line in body.splitlines():
        if line.startswith("#"):
            section = known.get(line.strip("# ").lower(), Section.CONTEXT)
        elif line.strip():
            found.setdefault(section, []).insert(0, ITEM.sub("", line).strip())
    return found


def merged(previous: Mapping[Section, list[str]], new: Mapping[Section, list[str]]) -> dict[Section, list[str]]:
    """Both, newest first and each item once; a task and a state of its own replace the earlier one, the first goal stays."""
    together: dict[Section, list[str]] = {}
    for section in Section:
        old, fresh = previous.get(section, []), new.get(section, [])
        if section is Section.GOAL:
            old, fresh = [], old or fresh
        elif section in (Section.TASK, Section.STATE) and fresh:
            old = []
        together[section] = list(dict.fromkeys([*fresh, *old]))
    return together


def chosen(items: Mapping[Section, list[str]], limit: int) -> dict[Section, list[str]]:
    """The items that fit ``limit`` characters: every section in turn, its newest first."""
    queues = [_rounds(section, items[section]) for section in ORDER]
    taken: dict[Section, list[str]] = {}
    spent = 0
    for turn in zip_longest(*queues, fillvalue=()):
        for section, item in (pair for queue in turn for pair in queue):
            price = len(item) + 4 + (0 if section in taken else len(section) + 5)
            if spent + price <= limit:
                taken.setdefault(section, []).append(item)
                spent += price
    return taken


def render(items: Mapping[Section, list[str]]) -> str:
    """Headings in their order, oldest item first; actions are numbered."""
    blocks = []
    for section in Section:
        if section in items:
            lines = reversed(items[section])
            numbered = section is Section.ACTIONS
            blocks.append("\n".join([f"## {section}", *(f"{i}. {line}" if numbered else f"- {line}" for i, line in enumerate(lines, 1))]))
    return "\n\n".join(blocks)


def newest_request_of(turns: Sequence[Message]) -> Iterator[str]:
    """The user's newest message."""
    yield from islice(requests(turns), 1)


def requests(turns: Sequence[Message]) -> Iterator[str]:
    """What the user wrote."""
    return (text_of(m) for m in reversed(turns) if m.get("role") == "user" and has_words(m))


def first_request(turns: Sequence[Message]) -> Iterator[str]:
    """What the user began with."""
    yield from islice((text_of(m) for m in turns if m.get("role") == "user" and has_words(m)), 1)


def user_rules(turns: Sequence[Message]) -> Iterator[str]:
    """Sentences in which the user sets a rule."""
    return (s for text in requests(turns) if NORMATIVE.search(text) for s in sentences(text) if NORMATIVE.search(s))


def actions(turns: Sequence[Message]) -> Iterator[str]:
    """Finished calls, one line each."""
    results: dict[str, str] = {}
    for message in reversed(turns):
        if message.get("role") == "tool":
            results[tool_call_id(message)] = text_of(message)
        for call in reversed(calls_of(message)):
            yield _action(call, results.pop(call_id(call), ""))


def last_state(turns: Sequence[Message]) -> Iterator[str]:
    """What the assistant said last."""
    yield from islice((text_of(m) for m in reversed(turns) if m.get("role") == "assistant" and has_words(m)), 1)


def errors(turns: Sequence[Message]) -> Iterator[str]:
    """Lines of tool results that report a failure."""
    results = (m for m in reversed(turns) if m.get("role") == "tool")
    for message in islice(results, SCANNED):
        text = text_of(message)
        edges = text if len(text) <= 2 * EDGE_CHARS else f"{text[:EDGE_CHARS]}\n{text[-EDGE_CHARS:]}"
        if FAILING.search(edges):
            yield from islice((line.strip() for line in edges.splitlines() if FAILING.search(line)), 2)


def decisions(turns: Sequence[Message]) -> Iterator[str]:
    """Sentences in which the assistant chose or explained."""
    return (s for text in said(turns, "assistant") if DECIDING.search(text) for s in sentences(text) if DECIDING.search(s))


def files(turns: Sequence[Message]) -> Iterator[str]:
    """Paths from call arguments and texts."""
    for message in islice(reversed(turns), 2 * SCANNED):
        for call in calls_of(message):
            arguments = parsed_arguments(call) if any(key in call_arguments(call) for key in PATH_ARGUMENTS) else {}
            yield from (str(arguments[key]) for key in PATH_ARGUMENTS if isinstance(arguments.get(key), str))
        if message.get("role") != "tool":
            text = text_of(message)[:RAW_CHARS]
            yield from PATH.findall(text) if "/" in text else ()


def exact_values(turns: Sequence[Message]) -> Iterator[str]:
    """Sentences with a value that must not be guessed: of the user first, then of the assistant."""
    for role in ("user", "assistant"):
        texts = (text for text in said(turns, role) if EXACT_SIGN.search(text))
        yield from (s for text in texts for s in sentences(text) if EXACT_SIGN.search(s) and EXACT.search(s))


def said(turns: Sequence[Message], role: str) -> Iterator[str]:
    """Texts of one side, newest first."""
    mine = (m for m in reversed(turns) if m.get("role") == role)
    return (text_of(m) for m in (mine if role == "user" else islice(mine, SCANNED)))


def sentences(text: str) -> Iterator[str]:
    """Sentences and lines of a text, blank ones left out."""
    return (part.strip() for part in SENTENCE.split(text[: 4 * RAW_CHARS]) if part.strip())


SOURCES: dict[Section, Source] = {
    Section.TASK: Source(newest_request_of, 1, 1_400),
    Section.GOAL: Source(first_request, 1, 500),
    Section.CONSTRAINTS: Source(user_rules, 24, 240, weight=2),
    Section.ACTIONS: Source(actions, 40, 160, weight=2),
    Section.STATE: Source(last_state, 1, 500),
    Section.BLOCKED: Source(errors, 8, 240),
    Section.DECISIONS: Source(decisions, 12, 240),
    Section.ASKS: Source(requests, 40, 260, weight=2),
    Section.FILES: Source(files, 24, 160, weight=2),
    Section.CONTEXT: Source(exact_values, 30, 200, weight=2),
}
"""Section -> where its items come from; sections that need judgement are left to a model."""

ORDER = (
    Section.TASK,
    Section.GOAL,
    Section.CONSTRAINTS,
    Section.ASKS,
    Section.CONTEXT,
    Section.STATE,
    Section.BLOCKED,
    Section.DECISIONS,
    Section.FILES,
    Section.ACTIONS,
    Section.IN_PROGRESS,
    Section.RESOLVED,
    Section.REMAINING,
)
"""Which section is served first while there is room."""


def _items(source: Source, turns: Sequence[Message], mask: Mask) -> Iterator[str]:
    seen: set[str] = set()
    for text in distinct(source.collect(turns)):
        item = _one_item(text, source.chars, mask)
        if item and item not in seen:
            seen.add(item)
            yield item


def distinct(texts: Iterable[str]) -> Iterator[str]:
    """Each text once: looking it up is cheaper than masking it again."""
    seen: set[str] = set()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text


def _one_item(text: str, limit: int, mask: Mask) -> str:
    item = " ".join(mask(text[:RAW_CHARS]).split())
    return item if len(item) <= limit else item[: limit - 1] + "…"


def _rounds(section: Section, items: Sequence[str]) -> list[list[tuple[Section, str]]]:
    size = SOURCES[section].weight if section in SOURCES else 1
    return [[(section, item) for item in items[at : at + size]] for at in range(0, len(items), size)]


def _action(call: ToolCall, result: str) -> str:
    return digest(call_name(call) or "unknown", parsed_arguments(call), result)
