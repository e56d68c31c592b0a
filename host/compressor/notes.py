"""A summary without a model: the user's requests, rules, exact values, files, errors, the last state (hermes.md 10.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, zip_longest

from host.compressor.sources import RAW_CHARS, SOURCES, Source
from host.compressor.template import Mask, Section
from host.messages.types import Message

CHARS = 8_000  # of the whole body
GOAL_CHARS = 500
ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")


def write_notes(turns: Sequence[Message], *, previous: str, opening: str, mask: Mask, fits: Callable[[str], bool]) -> str:
    """The body of a summary of these turns that takes up ``previous``; the longest that ``fits``.

    ``opening`` is what the user began the conversation with.
    """
    goal = {Section.GOAL: list(filter(None, [_one_item(opening, GOAL_CHARS, mask)]))}
    items = merged(parse_notes(previous), collect_notes(turns, mask) | goal)
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
    """The items that fit ``limit`` characters, newest first: every section in turn, none more than its share."""
    taken: dict[Section, list[str]] = {}
    spent = dict.fromkeys(Section, 0)
    for section, item in _served(items):
        price = len(item) + 4 + (0 if section in taken else len(section) + 5)
        most = min(limit - sum(spent.values()), int(limit * SOURCES.get(section, PLAIN).share) - spent[section])
        if price <= most and not (section in REPEATING and _is_said(item, taken)):
            taken.setdefault(section, []).append(item)
            spent[section] += price
    return {section: [item for item in items[section] if item in chosen] for section, chosen in taken.items()}


def render(items: Mapping[Section, list[str]]) -> str:
    """Headings in their order, oldest item first; actions are numbered."""
    blocks = []
    for section in Section:
        if section in items:
            lines = reversed(items[section])
            numbered = section is Section.ACTIONS
            blocks.append("\n".join([f"## {section}", *(f"{i}. {line}" if numbered else f"- {line}" for i, line in enumerate(lines, 1))]))
    return "\n\n".join(blocks)


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

REPEATING = frozenset({Section.ASKS, Section.CONTEXT, Section.DECISIONS})
"""Sections whose items may stand in another one already."""

PLAIN = Source(lambda turns: (), 0, 0)
"""How a section is served that only a model fills."""


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
    item = ITEM.sub("", " ".join(mask(text[:RAW_CHARS]).split()))
    return item if len(item) <= limit else item[: limit - 1] + "…"


def _served(items: Mapping[Section, list[str]]) -> Iterator[tuple[Section, str]]:
    """All items in the order in which they are served: round by round, in each round every section its weight."""
    rounds = zip_longest(*(_rounds(section, _by_worth(section, items[section])) for section in ORDER), fillvalue=())
    return chain.from_iterable(chain.from_iterable(rounds))


def _by_worth(section: Section, items: Sequence[str]) -> Sequence[str]:
    """The newest first; of rules the newest and the oldest in turn."""
    return from_both_ends(items) if section is Section.CONSTRAINTS else items


def from_both_ends(items: Sequence[str]) -> list[str]:
    """The newest and the oldest in turn: what was said at the beginning holds as much as what was said now."""
    half = (len(items) + 1) // 2
    pairs = zip_longest(items[:half], reversed(items[half:]))
    return [item for pair in pairs for item in pair if item is not None]


def _rounds(section: Section, items: Sequence[str]) -> list[list[tuple[Section, str]]]:
    size = SOURCES.get(section, PLAIN).weight
    return [[(section, item) for item in items[at : at + size]] for at in range(0, len(items), size)]


def _is_said(item: str, taken: Mapping[Section, list[str]]) -> bool:
    return any(item in other for others in taken.values() for other in others)
