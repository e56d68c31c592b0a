"""The engine of the README works as it stands there, from a folder, with a model."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from host.cli import run
from host.testing import LoopbackServer
from host.testing.engines import services
from host.testing.messages import system, tool_session

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
SOURCE = next(block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "ctxhost_engines" in block)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home" / "plugins" / "context_engine" / "recap"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(SOURCE, "utf-8")
    (tmp_path / "session.json").write_text(json.dumps([system("s"), *tool_session(120, seed=3)]))
    return tmp_path / "home"


def replay(home: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert run(["--home", str(home), "replay", str(home.parent / "session.json"), "--window", "16000", "--json"]) == 0
    (conversation,) = json.loads(capsys.readouterr().out)["conversations"]
    return dict(conversation)


def test_it_compacts_a_conversation_with_the_models_words(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with LoopbackServer(["All tests pass now."], repeat=True) as server:
        (home / "config.yaml").write_text(
            f"context: {{engine: recap}}\nengines: {{recap: {{words: 50}}}}\nmodel: {{name: gpt-4o, base_url: '{server.base_url}'}}\n"
        )
        shown = replay(home, capsys)
        asked = server.requests[0].messages[0]["content"]
    assert shown["engine_used"] == "recap" and shown["fine"]
    assert shown["compactions"]
    assert asked.startswith("In 50 words, what was done:")


def test_its_settings_are_checked_where_they_stand(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.yaml").write_text("context: {engine: recap}\nengines:\n  recap:\n    words: 3\n")
    assert run(["--home", str(home), "replay", str(home.parent / "session.json")]) == 2
    assert "config.yaml:4:5" in capsys.readouterr().err


def test_without_a_model_it_is_asked_for_one_in_a_warning_and_the_turn_goes_on(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / "config.yaml").write_text("context: {engine: recap}\n")
    assert run(["--home", str(home), "replay", str(home.parent / "session.json"), "--window", "16000", "--json"]) == 1
    (shown,) = json.loads(capsys.readouterr().out)["conversations"]
    assert any("set model.name" in warning for warning in shown["warnings"])


def test_the_test_of_the_docs_is_one_that_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "writing-an-engine.md").read_text("utf-8")
    (source,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    namespace: dict[str, Any] = {}
    exec(SOURCE, namespace)  # the engine of the README
    exec(source, namespace)
    namespace["test_what_comes_out_is_legal"]()


def test_its_tool_opens_the_originals() -> None:
    namespace: dict[str, Any] = {}
    exec(SOURCE, namespace)
    given = services(settings=namespace["Settings"]())
    for message in tool_session(6, seed=1):
        given.archive.append(message)  # type: ignore[attr-defined]
    engine = namespace["Recap"](given)
    (schema,) = engine.get_tool_schemas()
    assert schema["parameters"]["properties"] == {"position": {"type": "integer"}, "until": {"type": "integer"}}
    assert json.loads(engine.handle_tool_call("recap_open", {"position": 2, "until": 3})) == tool_session(6, seed=1)[1:3]
