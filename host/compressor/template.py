"""The thirteen sections of a summary and what belongs under each (seed 6.1)."""

from __future__ import annotations

from enum import StrEnum


class Section(StrEnum):
    """The headings, in the order in which a summary has them."""

    TASK = "Historical Task Snapshot"
    GOAL = "Goal"
    CONSTRAINTS = "Constraints & Preferences"
    ACTIONS = "Completed Actions"
    STATE = "Active State"
    IN_PROGRESS = "Historical In-Progress State"
    BLOCKED = "Blocked"
    DECISIONS = "Key Decisions"
    RESOLVED = "Resolved Questions"
    ASKS = "Historical Pending User Asks"
    FILES = "Relevant Files"
    REMAINING = "Historical Remaining Work"
    CONTEXT = "Critical Context"


WANTED: dict[Section, str] = {
    Section.TASK: "the user's newest input that is not fulfilled yet, word for word: a task, a question, a decision that is waited for, "
    "a discussion under way. A stop, undo or never mind is written down word for word too and ends the task before it. "
    "None only if everything is done",
    Section.GOAL: "what the user wants to reach in the end",
    Section.CONSTRAINTS: "rules, limits, tastes, coding style that the user set, each in the user's own words; "
    "where a later one replaced an earlier one, only the later one",
    Section.ACTIONS: "a numbered list, one line each: N. ACTION target — outcome [tool: name]; with the paths, commands, line numbers "
    "and figures that matter",
    Section.STATE: "working folder, branch, changed files, state of the tests, running processes",
    Section.IN_PROGRESS: "what was being done when the conversation was cut here",
    Section.BLOCKED: "what is stuck, with the exact error text",
    Section.DECISIONS: "technical choices, each with its reason",
    Section.RESOLVED: "questions of the user that were answered, each with its answer, so that nobody answers it again",
    Section.ASKS: "older requests without an answer; stale, for reference, not to be acted on",
    Section.FILES: "files read, changed, created, with a word on each",
    Section.REMAINING: "work that was left then; stale, for reference, not to be acted on",
    Section.CONTEXT: "exact values, settings, messages that cannot be looked up again; never a key, token or password: [REDACTED]",
}


def section_list() -> str:
    """The headings with what belongs under each."""
    return "\n".join(f"## {section}\n({wanted})" for section, wanted in WANTED.items())


def heading_of(line: str) -> Section | None:
    """The section that a line is the heading of, at any depth; None for other lines."""
    return _BY_NAME.get(line.strip("#*: \t").casefold()) if line.startswith("#") else None


_BY_NAME = {section.value.casefold(): section for section in Section}
