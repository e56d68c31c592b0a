"""The worked cases of the reference, as they lie in ``tests/given/golden.json``."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from host.transforms.handoff import NOTE, PREFIX
from tests.issues import DONE

FILE = Path(__file__).parents[1] / "given" / "golden.json"
PLACEHOLDERS = {PREFIX: "<SUMMARY_PREFIX>", NOTE: "<COMPACTION_NOTE>"}


@dataclass(frozen=True)
class Golden:
    """One worked case. ``use`` says how far the output is right; ``note`` what is right where it is not."""

    name: str
    use: str
    input: Any
    output: Any
    note: str = ""


Driver = Callable[[Golden], None]
"""Asserts one case; raises AssertionError where the product says otherwise."""


@cache
def golden_cases() -> tuple[Golden, ...]:
    """The cases of the issues that are done, in the order of the file."""
    cases = json.loads(FILE.read_text(encoding="utf-8"))["cases"]
    return tuple(
        Golden(case["name"], case["use"], case["input"], shown(case["output"]), case.get("note", ""))
        for case in cases
        if case["issue"] in DONE
    )


def shown(value: Any) -> Any:
    """A value without underscore keys, its long texts of ours as the placeholders of the file."""
    if isinstance(value, str):
        for text, placeholder in PLACEHOLDERS.items():
            value = value.replace(text, placeholder)
        return value
    if isinstance(value, dict):
        return {key: shown(entry) for key, entry in value.items() if not key.startswith("_")}
    if isinstance(value, list | tuple):
        return [shown(entry) for entry in value]
    return value


def written(value: Any) -> Any:
    """The other way round: placeholders as the texts they stand for."""
    if isinstance(value, str):
        for text, placeholder in PLACEHOLDERS.items():
            value = value.replace(placeholder, text)
        return value
    if isinstance(value, dict):
        return {key: written(entry) for key, entry in value.items()}
    return [written(entry) for entry in value] if isinstance(value, list) else value
