"""Windows that services stated: remembered by model and address, by several processes at once, without secrets."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from host.app.models import main_model
from host.config.loader import load_here
from host.provider.learnt_windows import FILE, MOST, learn_window, learnt_window

URL = "http://127.0.0.1:8080/v1"


def test_a_window_is_known_for_its_model_at_its_address_alone(tmp_path: Path) -> None:
    learn_window(tmp_path, "m", URL, 4_096)
    assert learnt_window(tmp_path, "m", URL) == learnt_window(tmp_path, "m", URL + "/") == 4_096
    assert learnt_window(tmp_path, "m") is learnt_window(tmp_path, "other", URL) is None
    learn_window(tmp_path, "m", URL, 2_048)
    assert learnt_window(tmp_path, "m", URL) == 2_048


def test_no_password_is_written(tmp_path: Path) -> None:
    learn_window(tmp_path, "m", "https://user:secret@models.invalid/v1?key=hidden", 4_096)
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    assert "models.invalid" in text and "secret" not in text and "hidden" not in text


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"m": "many"}', '{"m": true}', '{"m": -5}', "\x00"])
def test_a_file_that_is_none_of_ours_is_nothing_known(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert learnt_window(tmp_path, "m") is None
    learn_window(tmp_path, "m", "", 4_096)
    assert learnt_window(tmp_path, "m") == 4_096


def test_a_home_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    home = tmp_path / "file"
    home.write_text("", encoding="utf-8")
    learn_window(home, "m", "", 4_096)
    assert learnt_window(home, "m") is None


def test_the_file_stays_small(tmp_path: Path) -> None:
    for number in range(MOST + 3):
        learn_window(tmp_path, f"m{number}", "", 4_096)
    assert learnt_window(tmp_path, "m2") is None and learnt_window(tmp_path, f"m{MOST + 2}") == 4_096


def test_processes_that_learn_at_once_lose_nothing(tmp_path: Path) -> None:
    words = "import sys, pathlib\nfrom host.provider.learnt_windows import learn_window as w\n"
    words += "for n in range(20): w(pathlib.Path(sys.argv[1]), f'{sys.argv[2]}-{n}', '', 4096)"
    running = [subprocess.Popen([sys.executable, "-c", words, str(tmp_path), name]) for name in "abc"]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert all(learnt_window(tmp_path, f"{name}-{number}") for name in "abc" for number in range(20))


def test_what_was_learnt_is_the_models_window_unless_the_user_declared_one(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    learn_window(tmp_path, "gpt-4o", URL, 4_096)
    file.write_text(f"model:\n  name: gpt-4o\n  base_url: {URL}\n", encoding="utf-8")
    assert main_model(load_here(file, tmp_path), home=tmp_path).window == 4_096
    assert main_model(load_here(file, tmp_path)).window != 4_096
    file.write_text(f"model:\n  name: gpt-4o\n  base_url: {URL}\n  context_length: 32768\n", encoding="utf-8")
    assert main_model(load_here(file, tmp_path), home=tmp_path).window == 32_768
