"""What plugins offer and hear: checked when it is offered, told once where it is broken."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from host.discovery import Places, Plugins, load_plugins
from host.plugin import Place, SessionCompress, hookimpl

PAGE = Path(__file__).parents[2] / "docs" / "plugins.md"
HERE = Place(Path("work"), Path("notes"))
COMPRESSED = SessionCompress("cli", "S", "", in_place=True, count=1)


def made_tool(name: object = "good", schema: object = None, call: object = str) -> Any:
    return SimpleNamespace(name=name, schema={"name": "good", "parameters": {}} if schema is None else schema, call=call)


def offering(hook: str, answer: object) -> object:
    def implementation() -> object:
        if isinstance(answer, BaseException):
            raise answer
        print("printed")
        return answer

    implementation.__name__ = hook
    return SimpleNamespace(**{hook: hookimpl(implementation)})


async def later() -> None: ...


def loaded(told: list[str], **plugins: object) -> Plugins:
    return load_plugins(Places({}, entry_points=list, registered=plugins), told.append)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (SystemExit("no"), "raised SystemExit"),
        (7, "returned int, not a list"),
        ([7], "raised AttributeError"),
        ([made_tool(name="a b")], "the name 'a b' is left out"),
        ([made_tool(name="a" * 65)], "1 to 64"),
        ([made_tool(name=None)], "the name None"),
        ([made_tool(schema="text")], "its schema is no object"),
        ([made_tool(schema={"parameters": {1, 2}})], "its schema is no object"),
        ([made_tool(schema={"description": {1, 2}})], "not JSON serializable"),
        ([made_tool(call=None)], "its call is no plain method"),
        ([made_tool(call=later)], "its call is no plain method"),
    ],
)
def test_a_broken_offer_is_told_once_and_the_others_are_there(answer: object, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    told: list[str] = []
    plugins = loaded(told, bad=offering("ctxhost_tools", answer), good=offering("ctxhost_tools", [made_tool()]))
    for _ in range(2):
        assert [tool.name for _, tool in plugins.tools(HERE)] == ["good"]
    (warning,) = told
    assert words in warning and warning.startswith("plugin bad") and "\n" not in warning
    assert capsys.readouterr().out == ""


def test_an_async_hook_and_a_misspelt_one_are_told() -> None:
    async def ctxhost_commands() -> list[object]:
        return []

    told: list[str] = []
    wrong = {"slow": SimpleNamespace(ctxhost_commands=hookimpl(ctxhost_commands)), "misspelt": offering("ctxhost_tool", [])}
    assert loaded(told, **wrong).commands() == []
    assert "did you mean 'ctxhost_tools'" in told[0] and "is async" in told[1]


def test_of_two_commands_of_one_name_the_first_counts() -> None:
    told: list[str] = []
    command = SimpleNamespace(name="say", summary="", run=str)
    plugins = loaded(told, a=offering("ctxhost_commands", [command]), b=offering("ctxhost_commands", [command]))
    assert len(plugins.commands()) == 1
    (warning,) = told
    assert "/say is left out" in warning and warning.startswith("plugin")


def test_switches_and_compactions_are_heard() -> None:
    heard: list[object] = []

    class Listener:
        @hookimpl
        def on_session_switch(self, session: str, parent: str, reset: bool, reason: str) -> None:
            heard.append((session, parent, reset, reason))

        @hookimpl
        def on_session_compress(self, event: SessionCompress) -> None:
            heard.append(event)

    told: list[str] = []
    plugins = loaded(told, bad=offering("on_session_switch", ValueError("no")), good=Listener())
    for _ in range(2):
        plugins.tell_switch("S", "", reset=False, reason="compression")
    plugins.tell_compress(COMPRESSED)
    assert heard == [("S", "", False, "compression")] * 2 + [COMPRESSED] and len(told) == 1


def of_docs(kind: str) -> Plugins:
    source = PAGE.read_text("utf-8").split(f"```python {kind}\n")[1].split("```")[0]
    module: dict[str, Any] = {"__name__": "docs"}
    exec(compile(source, str(PAGE), "exec", dont_inherit=True), module)
    return load_plugins(Places({}, entry_points=list, registered={kind: SimpleNamespace(**module)}), pytest.fail)


def test_the_tool_of_the_docs_works() -> None:
    ((_, tool),) = of_docs("tool").tools(HERE)
    assert tool.call({"text": "a bb ccc", "longest": "2"}) == "2"


def test_the_memory_of_the_docs_works(tmp_path: Path) -> None:
    (memory,) = of_docs("memory").memory(Place(tmp_path, tmp_path))
    assert memory.block() == ""
    (tmp_path / "RULES.md").write_text("no shoes")
    assert memory.block() == "no shoes"


def test_the_command_of_the_docs_works() -> None:
    ((_, command),) = of_docs("command").commands()
    assert (command.name, command.run("hey")) == ("shout", "HEY")
