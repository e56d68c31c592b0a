"""The loop of the README works as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from openai import BadRequestError, OpenAI

from host import Host
from host.testing import LoopbackServer

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
LOOP = next(block for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if "host.conversation(" in block)


def test_the_loop_asks_and_keeps_question_and_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXHOST_HOME", str(tmp_path))
    with LoopbackServer(["Six degrees."]) as server:
        client = OpenAI(base_url=server.base_url, api_key="loopback")
        names: dict[str, Any] = {"Host": Host, "BadRequestError": BadRequestError, "client": client, "MODEL": "m", "tools": []}
        exec(compile(LOOP, "README.md", "exec"), {**names, "question": "How warm is it?"})
    with Host() as host:
        kept = host.conversation("work").archive.read(1, 9)
    assert [(message["role"], message["content"]) for message in kept] == [("user", "How warm is it?"), ("assistant", "Six degrees.")]
