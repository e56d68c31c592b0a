"""Changing one value of a file."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.config.editing import set_value, with_value
from host.config.reading import read_text
from host.config.template import FOR_HOME, FOR_PROJECT
from host.errors import ConfigError

Desk = Any  # conftest.Desk

FILE = """\
# top

# about engines
context:
    engine: lcm   # mine

compression:   # section
    threshold: "0.5"    # half
    in_place: yes

# plugins
plugins:
    enabled:
      - a   # first
      - b
    paths: [x, 'y']
# the end
"""


def test_a_replaced_value_changes_its_line_and_no_other() -> None:
    assert with_value(FILE, ("compression", "in_place"), False) == FILE.replace("in_place: yes", "in_place: false")


def test_a_new_value_goes_to_the_end_of_its_section_above_the_comments_of_the_next() -> None:
    changed = with_value(FILE, ("compression", "protect_last_n"), 7)
    assert changed == FILE.replace("in_place: yes\n", "in_place: yes\n    protect_last_n: 7\n")


def test_a_new_section_goes_to_the_end() -> None:
    assert with_value(FILE, ("engines", "lcm", "depth"), 3) == FILE.replace("# the end", "engines:\n    lcm:\n        depth: 3\n# the end")


def test_a_list_is_written_in_one_line() -> None:
    assert "    enabled: [q, r]\n    paths: [x, 'y']\n# the end\n" in with_value(FILE, ("plugins", "enabled"), ["q", "r"])


def test_comments_alone_stay_above_the_first_value() -> None:
    assert with_value("# mine\n", ("store", "durability"), "normal") == "# mine\n\nstore:\n  durability: normal\n"


@given(
    st.sampled_from(["threshold", "protect_last_n", "new"]),
    st.integers() | st.booleans() | st.text(alphabet="ab:#'\" -\n", max_size=12) | st.lists(st.integers(), max_size=3) | st.none(),
)
def test_what_is_set_is_what_is_read_and_nothing_else_changes(key: str, value: Any) -> None:
    before = read_text(FILE, "f").tree
    after = read_text(with_value(FILE, ("compression", key), value), "f").tree
    assert after == {**before, "compression": {**before["compression"], key: value}}


def test_a_missing_file_is_made(tmp_path: Path) -> None:
    set_value(tmp_path / "new" / "config.yaml", "compression.threshold", "0.4")
    assert (tmp_path / "new" / "config.yaml").read_text() == "compression:\n  threshold: 0.4\n"


def test_mode_link_and_line_ends_stay(tmp_path: Path) -> None:
    real = tmp_path / "real.yaml"
    real.write_bytes(b"store:\r\n  durability: full # x\r\n")
    real.chmod(0o640)
    link = tmp_path / "config.yaml"
    link.symlink_to(real)
    set_value(link, "store.durability", "normal")
    assert link.is_symlink()
    assert real.read_bytes() == b"store:\r\n  durability: normal # x\r\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.yaml", "real.yaml"]


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("compression.treshold", "0.4", "did you mean 'compression.threshold'?"),
        ("compression.threshold", "4", "expected a number above 0 and at most 1, found 4"),
        ("compression.threshold", "[", "not valid YAML"),
        ("compression", "{}", "is a section"),
        ("engines.lcm", "{}", "engines.NAME.KEY"),
        ("model.api_key", "sk-1234", "did you mean 'model.api_key_env'?"),
        ("", "1", "unknown key"),
    ],
)
def test_what_has_no_meaning_is_refused_before_anything_is_written(tmp_path: Path, key: str, value: str, says: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("store: {durability: full}\n")
    with pytest.raises(ConfigError) as caught:
        set_value(path, key, value)
    assert says in str(caught.value)
    assert "sk-1234" not in str(caught.value)
    assert path.read_text() == "store: {durability: full}\n"


def test_somebody_elses_file_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("title: My site\n")
    with pytest.raises(ConfigError, match="title: unknown key"):
        set_value(path, "compression.threshold", "0.4")
    assert path.read_text() == "title: My site\n"


@pytest.mark.parametrize("template", [FOR_HOME, FOR_PROJECT])
def test_the_first_file_loads_and_stays_in_place(desk: Desk, template: str) -> None:
    desk.write(template)
    assert desk.load().config.compression.in_place


@pytest.mark.parametrize("template", [FOR_HOME, FOR_PROJECT])
def test_what_the_first_file_suggests_in_comments_is_valid(desk: Desk, template: str) -> None:
    words = ("# model:", "#   ", "# auxiliary:", "  # ")
    lines = [line.replace("# ", "", 1) if line.startswith(words) else line for line in template.splitlines()]
    desk.write("\n".join(lines))
    loaded = desk.load()
    assert loaded.warnings == ()
    assert loaded.origins["compression.threshold"].kind == "file"


@pytest.mark.parametrize(("written", "found"), [("[1, 2]", "a list"), ("5", "5")])
def test_a_value_where_a_mapping_would_have_to_be_is_not_replaced(tmp_path: Path, written: str, found: str) -> None:
    path = tmp_path / "config.yaml"
    text = f"engines:\n  foo:\n    bar: {written}\n"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        set_value(path, "engines.foo.bar.baz", "1")
    assert str(caught.value.problems[0]) == f"{path}:3:5: engines.foo.bar: expected a mapping, found {found}; remove it first"
    assert path.read_text() == text
