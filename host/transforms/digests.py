"""One line that says what an old tool call did, in place of its whole output (hermes.md 5.1.1, seed 4, phase 1)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

DIGEST_LIMIT = 200  # as long as the longest result that is kept: a digest is never digested again
COMMAND_LIMIT = 80
GOAL_LIMIT = 60
CODE_LIMIT = 60
QUESTION_LIMIT = 50
VALUE_LIMIT = 40
SHOWN_ARGUMENTS = 2

ALIASES = {"path": ("file_path", "filename", "notebook_path"), "command": ("cmd", "script")}

EXIT_CODE = re.compile(r'"exit_code"\s*:\s*(-?\d+)')
SPOKEN_EXIT_CODE = re.compile(r"[Ee]xit(?:ed with)? code:? (-?\d+)")
SPOKEN_WITHIN = 400  # characters, where clients that speak it put it
TOTAL_COUNT = re.compile(r'"total_count"\s*:\s*(\d+)')


@dataclass(frozen=True)
class Finished:
    """A finished call: the tool, its parsed arguments, the text that came back."""

    tool: str
    arguments: Mapping[str, Any]
    text: str

    def argument(self, key: str, default: str) -> str:
        """An argument on one line, under any of the names that clients give it; the default where it is missing."""
        names = (key, *ALIASES.get(key, ()))
        value = next((self.arguments[name] for name in names if name in self.arguments), default)
        return one_line(" ".join(map(str, value)) if isinstance(value, list) else str(value))

    @property
    def chars(self) -> str:
        """Length of the output with thousands separators."""
        return f"{len(self.text):,}"

    @property
    def lines(self) -> int:
        """Lines of the output, 0 for a blank one."""
        return self.text.count("\n") + 1 if self.text and not self.text.isspace() else 0


def digest(tool: str, arguments: Mapping[str, Any], text: str) -> str:
    """The line for one call, at most DIGEST_LIMIT characters."""
    outcome = Finished(tool, arguments, text)
    return cut_text(f"[{tool}] {DIGESTS.get(tool, describe_unknown)(outcome)}", DIGEST_LIMIT)


def one_line(text: str) -> str:
    """The text with its line breaks as blanks."""
    return text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")


def cut_text(text: str, limit: int) -> str:
    """The text, or its beginning and three dots, at most ``limit`` characters."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


def describe_terminal(outcome: Finished) -> str:
    """Command, exit code, lines of output."""
    command = cut_text(outcome.argument("command", ""), COMMAND_LIMIT)
    found = EXIT_CODE.search(outcome.text) or SPOKEN_EXIT_CODE.search(outcome.text, 0, SPOKEN_WITHIN)
    return f"ran `{command}` -> exit {found.group(1) if found else '?'}, {outcome.lines} lines output"


def describe_read(outcome: Finished) -> str:
    """Path and first line."""
    return f"read {outcome.argument('path', '?')} from line {outcome.argument('offset', '1')} ({outcome.chars} chars)"


def describe_write(outcome: Finished) -> str:
    """Path and written lines."""
    content = str(outcome.arguments.get("content") or "")
    lines = content.count("\n") + 1 if content else "?"
    return f"wrote to {outcome.argument('path', '?')} ({lines} lines)"


def describe_file_search(outcome: Finished) -> str:
    """What was searched where, with the hits."""
    what, where = outcome.argument("pattern", "?"), outcome.argument("path", ".")
    found = TOTAL_COUNT.search(outcome.text)
    return f"{outcome.argument('target', 'content')} search for '{what}' in {where} -> {found.group(1) if found else '?'} matches"


def describe_patch(outcome: Finished) -> str:
    """Kind of change and path."""
    return f"{outcome.argument('mode', 'replace')} in {outcome.argument('path', '?')} ({outcome.chars} chars result)"


def describe_browser(outcome: Finished) -> str:
    """Address or element."""
    target = outcome.argument("url", "") or (f"ref={outcome.argument('ref', '')}" if outcome.arguments.get("ref") else "")
    return f"{target} ({outcome.chars} chars)".lstrip()


def describe_web_search(outcome: Finished) -> str:
    """The query."""
    return f"query='{outcome.argument('query', '?')}' ({outcome.chars} chars result)"


def describe_web_extract(outcome: Finished) -> str:
    """The first address and how many more."""
    urls = outcome.arguments.get("urls")
    entries = urls if isinstance(urls, list) else []
    first = entries[0] if entries else "?"
    if isinstance(first, dict):
        first = first.get("url") or first.get("href") or "?"
    more = f" (+{len(entries) - 1} more)" if len(entries) > 1 else ""
    return f"{one_line(str(first))}{more} ({outcome.chars} chars)"


def describe_delegation(outcome: Finished) -> str:
    """The goal handed on."""
    return f"'{cut_text(outcome.argument('goal', '?'), GOAL_LIMIT)}' ({outcome.chars} chars result)"


def describe_code(outcome: Finished) -> str:
    """The beginning of the code."""
    code = outcome.argument("code", "")
    shown = code[:CODE_LIMIT] + ("..." if len(code) > CODE_LIMIT else "")
    return f"`{shown}` ({outcome.lines} lines output)"


def describe_skill(outcome: Finished) -> str:
    """The skill's name."""
    return f"name={outcome.argument('name', '?')} ({outcome.chars} chars)"


def describe_unknown(outcome: Finished) -> str:
    """The first arguments of a tool that has no line of its own."""
    pairs = list(outcome.arguments.items())[:SHOWN_ARGUMENTS]
    shown = " ".join(f"{one_line(str(key))}={one_line(str(value))[:VALUE_LIMIT]}" for key, value in pairs)
    return f"{shown} ({outcome.chars} chars result)".lstrip()


DIGESTS: dict[str, Callable[[Finished], str]] = {
    "terminal": describe_terminal,
    "read_file": describe_read,
    "write_file": describe_write,
    "search_files": describe_file_search,
    "patch": describe_patch,
    "Bash": describe_terminal,
    "shell": describe_terminal,
    "exec_command": describe_terminal,
    "Read": describe_read,
    "Write": describe_write,
    "Edit": describe_patch,
    "MultiEdit": describe_patch,
    "Grep": describe_file_search,
    "Glob": describe_file_search,
    "browser_navigate": describe_browser,
    "browser_click": describe_browser,
    "browser_snapshot": describe_browser,
    "browser_type": describe_browser,
    "browser_scroll": describe_browser,
    "browser_vision": describe_browser,
    "web_search": describe_web_search,
    "web_extract": describe_web_extract,
    "delegate_task": describe_delegation,
    "execute_code": describe_code,
    "skill_view": describe_skill,
    "skills_list": describe_skill,
    "skill_manage": describe_skill,
    "vision_analyze": lambda o: f"'{o.argument('question', '?')[:QUESTION_LIMIT]}' ({o.chars} chars)",
    "memory": lambda o: f"{o.argument('action', '?')} on {o.argument('target', '?')}",
    "todo": lambda o: "updated task list",
    "clarify": lambda o: "asked user a question",
    "text_to_speech": lambda o: f"generated audio ({o.chars} chars)",
    "cronjob": lambda o: o.argument("action", "?"),
    "process": lambda o: f"{o.argument('action', '?')} session={o.argument('session_id', '?')}",
}
"""Tool name -> what its line says after the name in brackets. Tools that are not listed show their first arguments."""
