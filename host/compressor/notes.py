"""A summary without a model: the user's requests, rules, exact values, files, errors, the last state (hermes.md 10.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice, zip_longest

from host.compressor.grounding import request_of
from host.compressor.replaced import SAID_BY_USER, Replaced, said_once
from host.compressor.sources import SOURCES, Source, Turns, holds_exact_value, is_rule, sentences, states_something
from host.compressor.template import Section, heading_of
from host.messages.clients import own_words
from host.messages.masked import Mask
from host.messages.types import Message
from host.transforms.handoff import handoff_text

LEAST = 256  # tokens of a body: a shorter one has no room for a sentence of each section
SHARE = 0.25  # of what it replaces, which is what a model may take too
CHARS = 8_000 - len(handoff_text(" "))  # of the body: with its frame it is no longer than hermes.md 10.3 allows
CLOSE = 64  # characters that the longest body which fits is found to
GOAL_CHARS = 500
SAYS_NOTHING = frozenset({"none", "n/a"})  # what models write under a heading that stays empty
ITEM = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+")


def notes_budget(new: int, before: int) -> int:
    """Tokens for notes of ``new`` tokens of turns and of an earlier summary of ``before`` tokens, which was cut to size already."""
    return max(LEAST, before + int(new * SHARE))


def allows(size: int, costs: Iterable[int], before: int) -> bool:
    """Whether the budget of turns that cost so much allows ``size`` tokens; no more turns are counted than it takes to know."""
    return any(size <= notes_budget(new, before) for new in accumulate(costs, initial=0))


def write_notes(
    turns: Sequence[Message], *, previous: str, opening: str, mask: Mask, fits: Callable[[str], bool], later: Sequence[Message] = ()
) -> str:
    """The body of a summary of these turns that takes up ``previous``; the longest that ``fits``.

    ``opening`` is what the user began the conversation with; of the ``later`` turns, which stay, it is told what they replaced.
    """
    items = all_items(parse_notes(previous), Turns(turns, mask, later), opening)
    body, fitting, limit, over = "", 0, CHARS, CHARS + 1
    while over - fitting > CLOSE:
        longer = render(chosen(items, limit))
        if fits(longer):
            body, fitting = longer, limit
        else:
            over = min(limit, len(longer))
        limit = (fitting + over) // 2
    return body


def all_items(earlier: Mapping[Section, list[str]], turns: Turns, opening: str) -> dict[Section, list[str]]:
    """All that could be told, by section, newest first: of an earlier summary what still holds, and what is in the turns."""
    began = own_words(turns.masked(opening))
    replaced = Replaced(earlier, turns, began)
    holding = {section: list(filter(None, map(replaced.still, earlier.get(section, ())))) for section in SAID_BY_USER}
    goal = list(filter(None, [_one_item(began, GOAL_CHARS)]))
    items = merged({**earlier, **holding}, collect_notes(turns, replaced) | {Section.GOAL: goal})
    items[Section.GOAL] = [replaced.still(item) or replaced.beside_new(item) for item in items[Section.GOAL]]
    items[Section.TASK] = list(map(replaced.beside_new, items[Section.TASK]))
    for section in TOLD_AGAIN:
        items[section] = list(said_once(items[section]))
    rules = frozenset(items[Section.CONSTRAINTS])
    return {**items, Section.ASKS: [item for item in items[Section.ASKS] if item not in rules]}


def collect_notes(turns: Turns, replaced: Replaced | None = None) -> dict[Section, list[str]]:
    """What the turns hold for each section, newest first, cut; of what the user was to be told again, what still holds."""
    still = dict.fromkeys(TOLD_AGAIN, replaced.still) if replaced is not None else {}
    return {section: list(islice(_items(source, turns, still.get(section)), source.limit)) for section, source in SOURCES.items()}


def parse_notes(body: str) -> dict[Section, list[str]]:
    """The items of a summary by section, newest first; text under no known heading counts as critical context."""
    found: dict[Section, list[str]] = {}
    section = Section.CONTEXT
    for line in body.splitlines():
        if line.startswith("#"):
            section = heading_of(line) or Section.CONTEXT
        elif (item := request_of(ITEM.sub("", line).strip())) and item.casefold().rstrip(".") not in SAYS_NOTHING:
            found.setdefault(section, []).insert(0, item)
    return found


def merged(previous: Mapping[Section, list[str]], new: Mapping[Section, list[str]]) -> dict[Section, list[str]]:
    """Both, newest first and each item once; a task and a state of its own take the place of the earlier ones, the first goal stays."""
    older = {section: list(items) for section, items in previous.items()}
    for section, (heir, worth_keeping) in HEIRS.items():
        if new.get(section):
            left = (part for item in older.pop(section, []) for part in worth_keeping(item))
            older[heir] = [*left, *older.get(heir, [])]
    fresh = {**new, Section.GOAL: [] if older.get(Section.GOAL) else new.get(Section.GOAL, [])}
    return {section: list(dict.fromkeys([*fresh.get(section, []), *older.get(section, [])])) for section in Section}


def chosen(items: Mapping[Section, list[str]], limit: int) -> dict[Section, list[str]]:
    """The items that fit ``limit`` characters, newest first: every section in turn, none more than its share.

    What is left goes to the rest, also to requests and a state that tell nothing ("go on", "Done.").
    """
    taken: dict[Section, dict[str, None]] = {}
    spent = dict.fromkeys(Section, 0)
    served = list(_served(items))
    for is_first in (True, False):
        for section, item in served:
            if item in taken.get(section, ()) or (section in REPEATING and _is_said(item, taken)):
                continue
            if is_first and section in IDLE and not states_something(item):
                continue
            price = len(item) + 4 + (0 if section in taken else len(section) + 5)
            share = int(limit * SOURCES.get(section, PLAIN).share) if is_first else limit
            if price <= min(limit - sum(spent.values()), share - spent[section]):
                taken.setdefault(section, {})[item] = None
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

HEIRS: dict[Section, tuple[Section, Callable[[str], list[str]]]] = {
    Section.TASK: (Section.ASKS, lambda item: [_one_item(item, SOURCES[Section.ASKS].chars)]),
    Section.STATE: (Section.CONTEXT, lambda item: list(filter(holds_exact_value, sentences(item)))),
}
"""Section that has one item -> where the earlier one goes when a new one comes, and what of it."""

TOLD_AGAIN = (Section.CONSTRAINTS, Section.ASKS)
"""Sections in the user's words of which only what still holds is told."""

REPEATING = frozenset({Section.ASKS, Section.CONTEXT, Section.DECISIONS})
"""Sections whose items may stand in another one already."""

IDLE = frozenset({Section.ASKS, Section.STATE})
"""Sections whose items may tell nothing."""

PLAIN = Source(lambda turns: (), 0, 0)
"""How a section is served that only a model fills."""


def _items(source: Source, turns: Turns, still: Callable[[str], str] | None) -> Iterator[str]:
    seen: set[str] = set()
    for text in distinct(source.collect(turns)):
        item = _one_item(still(text) if still else text, source.chars)
        if item and item not in seen:
            seen.add(item)
            yield item


def distinct(texts: Iterable[str]) -> Iterator[str]:
    """Each text once."""
    seen: set[str] = set()
    for text in texts:
        if text not in seen:
            seen.add(text)
            yield text


def _one_item(text: str, limit: int) -> str:
    item = ITEM.sub("", " ".join(text.split()))
    return item if len(item) <= limit else item[: limit - 1] + "…"


def _served(items: Mapping[Section, list[str]]) -> Iterator[tuple[Section, str]]:
    """All items in the order in which they are served: round by round, in each round every section its weight."""
    rounds = zip_longest(*(_rounds(section, _by_worth(section, items[section])) for section in ORDER), fillvalue=())
    return chain.from_iterable(chain.from_iterable(rounds))


def _by_worth(section: Section, items: Sequence[str]) -> Sequence[str]:
    """The newest first; of what the user stated the rules, then the values, of both the newest and the oldest in turn."""
    return sorted(from_both_ends(items), key=lambda item: not is_rule(item)) if section is Section.CONSTRAINTS else items


def from_both_ends(items: Sequence[str]) -> list[str]:
    """The newest and the oldest in turn: what was said at the beginning holds as much as what was said now."""
    half = (len(items) + 1) // 2
    pairs = zip_longest(items[:half], reversed(items[half:]))
    return [item for pair in pairs for item in pair if item is not None]


def _rounds(section: Section, items: Sequence[str]) -> list[list[tuple[Section, str]]]:
    size = SOURCES.get(section, PLAIN).weight
    return [[(section, item) for item in items[at : at + size]] for at in range(0, len(items), size)]


def _is_said(item: str, taken: Mapping[Section, Iterable[str]]) -> bool:
    return any(item in other for others in taken.values() for other in others)
