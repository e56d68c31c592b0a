"""What a willing summary model would write: short structured notes from the turns that stand in its prompt."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice, zip_longest

SPEAKER = re.compile(r"^\[(?P<who>USER|ASSISTANT|TOOL RESULT)[^\]\n]*\]: ?", re.MULTILINE)
HEADING = re.compile(r"^## *(.+?) *$", re.MULTILINE)
MATERIAL = re.compile(r"^(?:NEW )?TURNS:\n(?P<turns>.*?)^END OF (?:NEW )?TURNS", re.MULTILINE | re.DOTALL)
PREVIOUS = re.compile(r"^PREVIOUS SUMMARY:\n(?P<body>.*?)(?=^(?:NEW )?TURNS:\n)", re.MULTILINE | re.DOTALL)
LENGTH = re.compile(r"about ([\d,]+) tokens")
ORDERS = re.compile(r"\b(?:must|never|always|only|do not|don't|prefer)\b|不要|必须|务必|禁止", re.IGNORECASE)
PATHS = re.compile(r"(?<![\w/.])(?:[\w.-]+/)+[\w.-]+\.\w+")
VALUES = re.compile(r"\b\w+[=:]\s?[\w./-]*\d[\w./-]*|\bport \d+|https?://[^\s)\]]+")
ACTION = re.compile(r"^\d+\. ")

USUAL_TOKENS, CHARS_PER_TOKEN = 600, 3
ITEM_CHARS = 160
LATEST = 12  # items of a section


@dataclass(frozen=True)
class Notes:
    """A prompt as it was understood."""

    turns: Sequence[tuple[str, str]]  # who spoke, and what
    headings: Sequence[str]
    earlier: dict[str, list[str]] = field(default_factory=dict)  # the items of the previous summary by heading
    chars: int = USUAL_TOKENS * CHARS_PER_TOKEN

    def said_by(self, who: str) -> list[str]:
        """What one speaker said, in order."""
        return [text for speaker, text in self.turns if speaker == who and text]


def notes_from(prompt: str) -> str:
    """Notes of the sections that the prompt asks for, within the length that it names; items of a previous summary come first."""
    notes = understood(prompt)
    written = [f"## {heading}\n" + "\n".join(_items(notes, heading) or ["None"]) for heading in notes.headings]
    return "\n\n".join(written) if len("\n\n".join(written)) <= notes.chars else _shortened(written, notes.chars)


def understood(prompt: str) -> Notes:
    """Take a prompt apart: turns by speaker, the wanted headings, the previous summary."""
    material, previous, length = MATERIAL.search(prompt), PREVIOUS.search(prompt), LENGTH.search(prompt)
    turns = turns_in(material["turns"] if material else prompt)
    headings = HEADING.findall(prompt[material.end() :] if material else "")
    tokens = int(length[1].replace(",", "")) if length else USUAL_TOKENS
    earlier = _by_heading(previous["body"]) if previous else {}
    return Notes(turns, list(dict.fromkeys(headings)) or ["Notes"], earlier, tokens * CHARS_PER_TOKEN)


def turns_in(text: str) -> list[tuple[str, str]]:
    """Who spoke and what, by the labels at the beginnings of lines."""
    labels = list(SPEAKER.finditer(text))
    return [
        (label["who"], text[label.end() : after.start() if after else len(text)].strip())
        for label, after in zip_longest(labels, labels[1:])
        if label is not None
    ]


def _by_heading(body: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    heading = ""
    for line in filter(None, map(str.strip, body.splitlines())):
        if line.startswith("#"):
            heading = line.strip("# ")
        elif line.strip("- ") != "None":
            found.setdefault(heading, []).append(line)
    return found


def _items(notes: Notes, heading: str) -> list[str]:
    return SECTIONS[heading](notes, notes.earlier.get(heading, [])) if heading in SECTIONS else notes.earlier.get(heading, [])


def _task(notes: Notes, earlier: list[str]) -> list[str]:
    return [_line(text) for text in notes.said_by("USER")[-1:]] or earlier


def _goal(notes: Notes, earlier: list[str]) -> list[str]:
    return earlier or [_line(text) for text in notes.said_by("USER")[:1]]


def _rules(notes: Notes, earlier: list[str]) -> list[str]:
    lines = [line for text in notes.said_by("USER") for line in text.splitlines() if ORDERS.search(line)]
    return _newest([*earlier, *(f"- {_line(line)}" for line in lines)])


def _actions(notes: Notes, earlier: list[str]) -> list[str]:
    done = [ACTION.sub("", item) for item in earlier] + [_line(text) for text in notes.said_by("ASSISTANT")]
    first = max(0, len(done) - LATEST)
    return [f"{number}. {item}" for number, item in enumerate(done[first:], first + 1)]


def _files(notes: Notes, earlier: list[str]) -> list[str]:
    return _newest([*earlier, *(f"- {path}" for _, text in notes.turns for path in PATHS.findall(text))])


def _values(notes: Notes, earlier: list[str]) -> list[str]:
    return _newest([*earlier, *(f"- {value}" for text in notes.said_by("USER") for value in VALUES.findall(text))])


SECTIONS: dict[str, Callable[[Notes, list[str]], list[str]]] = {
    "Historical Task Snapshot": _task,
    "Goal": _goal,
    "Constraints & Preferences": _rules,
    "Completed Actions": _actions,
    "Relevant Files": _files,
    "Critical Context": _values,
    "Notes": _actions,
}
"""Heading -> what is written under it, from the turns and the items of the previous summary; others keep the latter."""


def _newest(items: list[str]) -> list[str]:
    return list(dict.fromkeys(items))[-LATEST:]


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= ITEM_CHARS else line[: ITEM_CHARS - 1] + "…"


def _shortened(written: list[str], chars: int) -> str:
    """The sections, each with fewer lines, until they fit."""
    for lines in range(LATEST, 1, -1):
        body = "\n\n".join("\n".join(islice(section.splitlines(), lines)) for section in written)
        if len(body) <= chars:
            return body
    return body[:chars]
