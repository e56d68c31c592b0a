"""The system prompt of a new conversation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from host.loop.opening import CUT, DEFAULT, LONGEST_BLOCK, system_prompt


@dataclass
class Notes:
    """A memory that says this, or raises it."""

    says: Any
    name: str = "NOTES"

    def block(self) -> Any:
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


def test_the_default_is_short_and_names_the_tools() -> None:
    assert len(DEFAULT.split()) < 120
    assert "lcm_grep" in DEFAULT and "lcm_expand" in DEFAULT and "summary" in DEFAULT
    assert system_prompt(" \n", [], print) == DEFAULT


def test_each_memory_stands_under_its_name_and_blank_ones_are_left_out() -> None:
    memories = [Notes("The user is Eve."), Notes("  "), Notes("Tea, not coffee.", name="USER")]
    assert system_prompt("Be brief.", memories, print) == "Be brief.\n\n# NOTES\n\nThe user is Eve.\n\n# USER\n\nTea, not coffee."


def test_a_long_memory_is_cut_and_one_that_fails_is_told() -> None:
    warnings: list[str] = []
    prompt = system_prompt("Hi.", [Notes("x" * 9_000), Notes(OSError("disk gone")), Notes(7)], warnings.append)
    assert prompt == f"Hi.\n\n# NOTES\n\n{'x' * LONGEST_BLOCK}{CUT.format(LONGEST_BLOCK, 9_000)}"
    assert len(warnings) == 3 and "disk gone" in warnings[1] and "int, not text" in warnings[2]
