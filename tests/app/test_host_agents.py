"""The Python door to agents and gateways."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from host import Host
from host.app.agents import NoModel
from host.errors import UsageError
from host.gateway.inbound import Inbound, Origin
from host.loop.events import Event, Said
from host.messages.reading import text_of

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTED = f"scripted:{EXAMPLES / 'script.yaml'}"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)


def test_the_example_runs_and_goes_on(tmp_path: Path) -> None:
    environment = {**os.environ, "CTXHOST_HOME": str(tmp_path), "PYTHONPATH": str(EXAMPLES.parent)}
    for words in ("hello", "what did we say about the port?"):
        command = [sys.executable, str(EXAMPLES / "agent.py"), words]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
        assert done.returncode == 0, done.stderr
    assert "[calls lcm_grep]" in done.stderr and "answered after 2 replies" in done.stderr
    assert done.stdout.endswith("Ask me what we said about it.\n")
    with Host(home=tmp_path) as host:
        rows = [row.role for row in host.conversation("an example").archive.rows()]
    assert rows == ["system", "user", "assistant", "user", "assistant", "tool", "assistant"]


def test_an_agent_is_found_again_and_heard(tmp_path: Path) -> None:
    heard: list[Event] = []
    with Host(home=tmp_path) as host:
        agent = host.agent("work", model=SCRIPTED, tell=heard.append)
        assert host.agent("work", model=SCRIPTED) is agent
        assert host.conversation("work") is agent.conversation
        turn = agent.turn("hello")
    assert turn.message is not None
    assert "".join(event.text for event in heard if isinstance(event, Said)) == text_of(turn.message)


def test_a_gateway_answers_and_is_closed_with_its_host(tmp_path: Path) -> None:
    origin = Origin("irc", "#port", user="anna")
    for text in ("hello", "and you?"):
        with Host(home=tmp_path) as host:
            assert host.gateway(model=SCRIPTED).receive(Inbound(origin, text, id=text)).reason == "answered"
    with Host(home=tmp_path) as host:
        session = host.gateway(model=SCRIPTED).session(origin)
        assert session is not None
        assert session.messages == 5


def test_without_a_model_nothing_is_made(tmp_path: Path) -> None:
    with Host(home=tmp_path) as host:
        with pytest.raises(NoModel):
            host.agent("work")
        with pytest.raises(NoModel):
            host.gateway()
    assert not (tmp_path / "archive.db").exists()


@pytest.mark.parametrize("name", ["", "last", "x" * 200, None, 7])
def test_what_is_no_title_is_refused(tmp_path: Path, name: object) -> None:
    with Host(home=tmp_path) as host, pytest.raises(UsageError):
        host.agent(name, model=SCRIPTED)  # type: ignore[arg-type]


def test_a_conversation_of_ones_own_loop_is_not_taken_over(tmp_path: Path) -> None:
    with Host(home=tmp_path) as host:
        host.conversation("work", window=8_000)
        with pytest.raises(UsageError, match="without an agent"):
            host.agent("work", model=SCRIPTED)


def test_the_host_reads_the_file_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.yaml").write_text("model: {name: chosen, base_url: http://127.0.0.1:9/v1}\n")
    monkeypatch.setenv("CTXHOST_CONFIG", str(tmp_path / "other.yaml"))
    with Host(home=tmp_path / "home") as host:
        assert host.agent("x").model.name == "chosen"
