"""What docs/testing.md shows does what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from host.messages.reading import call_name, calls_of
from host.messages.types import Message
from host.provider.errors import ServiceError, Unreachable
from host.provider.openai_client import OpenAIProvider
from host.provider.script_file import Script, Step, scripted_from
from host.testing import LoopbackServer
from host.testing.messages import user

PAGE = (Path(__file__).parents[2] / "docs" / "testing.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def told(provider: OpenAIProvider) -> Message | ServiceError:
    try:
        return provider.ask([user("hi")], on_delta=lambda delta: None).message
    except ServiceError as error:
        return error


def test_the_steps_that_it_shows_are_played(capsys: pytest.CaptureFixture[str]) -> None:
    scope: dict[str, Any] = {}
    exec(blocks("python")[0], scope)
    with LoopbackServer(scope["steps"]) as server:
        provider = OpenAIProvider("m", base_url=server.base_url, timeout=20.0, max_retries=0)
        said: list[Any] = [told(provider) for _ in scope["steps"]]
    assert said[0]["content"] == "Six degrees, and rain." and len(said[1]["tool_calls"]) == 2
    assert [error.status for error in said[2:4]] == [429, 502] and isinstance(said[4], Unreachable)
    assert said[5]["content"] == "You sent 1 messages."
    assert capsys.readouterr().out.startswith("http://127.0.0.1:")


def test_the_window_that_it_shows_opens() -> None:
    exec(blocks("python")[1], {})


def test_the_script_that_it_shows_is_read(tmp_path: Path) -> None:
    (tmp_path / "script.yaml").write_text(blocks("yaml")[0], "utf-8")
    script = scripted_from(tmp_path / "script.yaml")
    hello, looks = (script.ask([user("hi")]).message for _ in range(2))
    assert hello["content"] == "Hello." and [call_name(call) for call in calls_of(looks)] == ["lcm_grep"]


def test_every_key_of_a_step_is_told() -> None:
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE.split("| key of a step |")[1].split("\n\n")[0], re.MULTILINE)) == set(Step.model_fields)
    assert all(f"{key}:" in PAGE for key in Script.model_fields)
