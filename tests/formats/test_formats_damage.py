"""Whatever happens to a recording, it is read legally or refused with an error of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from host.errors import CtxhostError, DamagedLine, FormatError
from host.formats import read
from host.messages.violations import violations

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = [
    "openai.json",
    "openai.jsonl",
    "dialogues.jsonl",
    "trajectories.json",
    "swe-agent.traj",
    "claude-code.jsonl",
    "codex-rollout.jsonl",
]
ODD: list[Any] = [
    None,
    5,
    0.5,
    True,
    "",
    "x",
    "\ud800",
    [],
    {},
    [None],
    [[]],
    ["x"],
    [{}],
    {"type": 1},
    [{"type": "text"}],
    {"content": {}},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("damaged")


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to every value inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(deeper for key, entry in inside for deeper in places(entry, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    if not path:
        return odd
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], odd)
    return copy


def reads_or_refuses(path: Path) -> None:
    try:
        transcripts = read(path)
    except CtxhostError as refused:
        assert refused.exit_status == 2
    else:
        assert [violations(transcript.messages) for transcript in transcripts] == [[]] * len(transcripts)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_value_may_be_any_other(folder: Path, name: str, data: st.DataObject) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    values = [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else [json.loads(text)]
    for _ in range(data.draw(st.integers(1, 3))):
        line = data.draw(st.integers(0, len(values) - 1))
        values[line] = replaced(values[line], data.draw(st.sampled_from(places(values[line]))), data.draw(st.sampled_from(ODD)))
    path = folder / name
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    reads_or_refuses(path)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_file_may_end_anywhere_and_hold_any_byte(folder: Path, name: str, data: st.DataObject) -> None:
    original = (EXAMPLES / name).read_bytes()
    cut = bytearray(original[: data.draw(st.integers(0, len(original)))])
    if cut:
        cut[data.draw(st.integers(0, len(cut) - 1))] = data.draw(st.integers(0, 255))
    path = folder / name
    path.write_bytes(cut)
    reads_or_refuses(path)


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".jsonl")])
def test_a_last_line_cut_off_in_mid_write_is_told_by_its_number(tmp_path: Path, name: str) -> None:
    lines = (EXAMPLES / name).read_bytes().splitlines(keepends=True)
    path = tmp_path / name
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:30])
    with pytest.raises(DamagedLine, match="breaks off") as refused:
        read(path)
    assert refused.value.line == len(lines)
    assert read(path, tolerant=True)[0].mended["damaged lines"] == 1


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith(".jsonl")])
def test_a_document_cut_off_is_told_by_its_line(tmp_path: Path, name: str) -> None:
    whole = (EXAMPLES / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(whole[: len(whole) // 2].rsplit(b",", 1)[0])
    with pytest.raises(FormatError, match=f"{name}:[0-9]+: damaged line"):
        read(path)
