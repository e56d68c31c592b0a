"""Which names are safe, and which one was meant."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host.discovery.names import LONGEST_NAME, check_name, nearest_name, printable
from host.errors import UnsafeName

UNSAFE = {
    "empty": "",
    "blank": "  ",
    "parent": "..",
    "climbing out": "../../tmp/evil",
    "absolute": "/tmp/evil",
    "inner separator": "demo/../evil",
    "windows separator": "..\\evil",
    "drive": "C:evil",
    "hidden": ".demo",
    "private": "_demo",
    "nul": "demo\0",
    "newline": "demo\nevil",
    "escape": "\x1b[31mdemo",
    "right-to-left override": "demo\u202e",
    "lone surrogate": "demo\udcff",
    "fullwidth solidus": "..／evil".lstrip("."),
    "one dot leader": "․․evil",
    "too long": "d" * (LONGEST_NAME + 1),
    "too long in bytes": "ü" * (LONGEST_NAME // 2 + 1),
}


@pytest.mark.parametrize("name", UNSAFE.values(), ids=UNSAFE.keys())
def test_unsafe_names_are_refused(name: str) -> None:
    with pytest.raises(UnsafeName):
        check_name(name)


@pytest.mark.parametrize("name", ["lcm", "my-engine", "v1.2", "压缩", "demo_2", "d" * LONGEST_NAME])
def test_plain_folder_names_pass(name: str) -> None:
    assert check_name(name) == name


@given(st.text())
def test_a_name_that_passes_is_one_visible_path_component(name: str) -> None:
    try:
        check_name(name)
    except UnsafeName:
        return
    assert name.isprintable()
    assert not set(name) & set("/\\:\0")
    assert name[0] not in "._"


@pytest.mark.parametrize(
    ("meant", "known", "nearest"),
    [
        ("compresor", ["compressor", "lcm"], "compressor"),
        ("LCM", ["compressor", "lcm"], "lcm"),
        ("lcm", ["lcm", "lcm2"], "lcm2"),
        ("something", ["compressor", "lcm"], None),
        ("demo", [], None),
    ],
)
def test_the_nearest_name_is_another_one_that_is_close(meant: str, known: list[str], nearest: str | None) -> None:
    assert nearest_name(meant, known) == nearest


@given(st.text())
def test_printable_text_is_one_line_that_any_terminal_takes(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    shown.encode()
