"""An agent at work, and the command line: tools of one name, arguments as they were written, outcomes as they are reported."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from host.cli import run
from host.loop.agent import Agent
from host.loop.models import AgentModel, Models
from host.loop.toolbox import HOST, Owned, Toolbox
from host.messages.reading import call_arguments, calls_of
from host.messages.types import Message
from host.provider.scripted import Scripted, ScriptedProvider
from host.store.memory import MemoryStore
from host.testing.messages import assistant, call
from tests.agents_for_tests import Echo
from tests.cases.case import Case
from tests.cases.facts import Facts, NoDriver
from tests.cases.house import said
from tests.cases.story_talk import count_of
from tests.desk import Desk
from tests.engines_for_tests import Scripted as ScriptedEngine

UNREACHABLE = {"model": {"name": "m", "base_url": "http://127.0.0.1:9/v1"}, "auxiliary": {"transient_retries": 0}}


class WithTools(ScriptedEngine):
    """An engine that offers tools of these names."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(lambda messages: messages)
        self.names = list(names)

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return [{"name": name, "description": "The engine's.", "parameters": {"type": "object"}} for name in self.names]


def bench(
    replies: Iterable[Scripted], tools: Iterable[Echo], engine: ScriptedEngine | None = None
) -> tuple[Agent, ScriptedProvider, list[str]]:
    """An agent with tools of the host's own, its model, and what is warned of."""
    desk, model = Desk(MemoryStore()), ScriptedProvider(replies)
    talk = desk.open(engine)
    models = Models(AgentModel("scripted", model, talk.services.facts))
    toolbox = Toolbox(talk, [Owned(HOST, tool) for tool in tools], warn=desk.warnings.append)
    return Agent(talk, models, toolbox), model, desk.warnings


def tools_of_one_name(case: Case, folder: Path) -> Facts:
    """The tools of a request where an engine and the host name theirs alike, turn after turn."""
    engine, own = case.input["engine_tools"], case.input["host_tools"]
    agent, model, warnings = bench(["one", "two"], map(Echo, own), WithTools(engine))
    for text in ("first", "second"):
        agent.turn(text)
    requests = [[schema["function"]["name"] for schema in asked.tools] for asked in model.requests]
    return {
        "request_tool_names_unique": all(len(set(names)) == len(names) for names in requests),
        "request_tool_names": sorted(requests[0]),
        "every_name_is_offered": all(set(names) >= {*engine, *own} for names in requests),
        "warning": bool(warnings),
        "warnings": len(warnings),
        "warning_lines": warnings,
    }


def executed(case: Case, folder: Path) -> Facts:
    """Arguments of a call: as the tool gets them, as they are archived, and as the model is shown its own call afterwards."""
    arguments = case.input["tool_args"]
    text = json.dumps(arguments, ensure_ascii=False)
    tool = Echo("write_file", behave=lambda given: "written")
    agent, model, _ = bench([assistant(None, [call("c1", tool.name, text)]), "done"], [tool])
    agent.turn("write it")
    archived = [row.message for row in agent.conversation.archive.rows() if row.message is not None]
    return {
        "executed_content_unchanged": tool.calls == [arguments],
        "archived_arguments_unchanged": _arguments(archived) == [text],
        "sent_arguments_unchanged": _arguments(model.requests[-1].messages) == [text],
    }


def _arguments(messages: Iterable[Message]) -> list[str]:
    return [call_arguments(each) for message in messages for each in calls_of(message)]


# --- the command line --------------------------------------------------------------------------------------------


def applied(folder: Path) -> list[str]:
    return ["sessions", "compress", _recording(folder, 40), "--window", "8000"]


def nothing_to_do(folder: Path) -> list[str]:
    return ["sessions", "compress", _recording(folder, 2), "--window", "8000"]


def failed(folder: Path) -> list[str]:
    (folder / "config.yaml").write_text(json.dumps(UNREACHABLE), encoding="utf-8")
    return applied(folder)


def previewed(folder: Path) -> list[str]:
    return [*applied(folder), "--preview"]


def wrong_usage(folder: Path) -> list[str]:
    return [*applied(folder), "--keep", "0"]


OUTCOMES: dict[str, Callable[[Path], list[str]]] = {
    "applied": applied,
    "nothing to do": nothing_to_do,
    "failed": failed,
    "previewed": previewed,
    "wrong usage": wrong_usage,
}
"""What a compaction by hand can end with, and a command line that ends so."""


def reported(case: Case, folder: Path) -> Facts:
    """Each outcome by its own command line: what is printed, without its numbers and names, and the exit status."""
    messages: dict[str, str] = {}
    codes: dict[str, int] = {}
    for number, name in enumerate(case.input["outcomes"]):
        if name not in OUTCOMES:
            raise NoDriver(f"no driver makes a compaction end with {name!r}")
        home = folder / str(number)
        home.mkdir()
        codes[name], printed = _printed(home, OUTCOMES[name](home))
        messages[name] = re.sub(r"\S*/\S*|[\d,]+", "", printed).strip()
    distinct = len(set(messages.values()))
    return {
        "messages": messages,
        "*_distinct_messages": lambda word: distinct == len(messages) == count_of(word) and all(messages.values()),
        "exit_code_*_nonzero": lambda name: codes[name.replace("_", " ")] != 0,
        "exit_code_*": lambda name: codes[name.replace("_", " ")],
    }


def _printed(home: Path, arguments: list[str]) -> tuple[int, str]:
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        status = run(["--home", str(home), *arguments])
    return status, out.getvalue()


def _recording(folder: Path, count: int) -> str:
    path = folder / "talk.json"
    path.write_text(json.dumps([{"role": "system", "content": "Be an agent."}, *(said(n, chars=900) for n in range(1, count + 1))]))
    return str(path)
