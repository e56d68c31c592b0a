"""The kinds of values that ``config.yaml`` holds: how each is read, and what it may not be."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

SMALLEST_TARGET_RATIO, LARGEST_TARGET_RATIO = 0.10, 0.80
SHORTEST_KEY = 20  # characters; keys of providers are longer, names of variables in lower case with digits are not

NEEDS_TRUST: dict[str, Any] = {"x-needs-trust": True}
"""Marks a key that can send messages or keys elsewhere, or run code: in a project's file it waits for ``config trust``."""

OWN_WORDS = "setting"
"""The type of an error whose message already says what was expected, without repeating a value that could be secret."""


def _no_switch(value: object) -> object:
    # pydantic would read true as 1
    if isinstance(value, bool):
        raise PydanticCustomError("no_number", "expected a number")
    return value


def _none_as_empty(value: object) -> object:
    return "" if value is None else value


def _whole_characters(value: str) -> str:
    if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
        raise PydanticCustomError(OWN_WORDS, "expected text; half of a character is in it")
    return value


def _one_as_list(value: object) -> object:
    return [value] if isinstance(value, str) else value


def _variable_name(value: str) -> str:
    looks_like_a_key = len(value) >= SHORTEST_KEY and re.search("[a-z]", value) and re.search("[0-9]", value)
    if value and (looks_like_a_key or not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", value)):
        raise PydanticCustomError(OWN_WORDS, "expected the name of the environment variable that holds the key, not the key itself")
    return value


def _address(value: str) -> str:
    if value and not value.startswith(("http://", "https://")):
        raise PydanticCustomError(OWN_WORDS, "expected an address that begins with http:// or https://")
    return value


def clamped_ratio(value: float) -> float:
    """The nearest ratio that leaves both a tail and something to summarise."""
    return min(max(value, SMALLEST_TARGET_RATIO), LARGEST_TARGET_RATIO)


Text = Annotated[str, AfterValidator(_whole_characters), BeforeValidator(_none_as_empty)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_one_as_list)]
Share = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False), BeforeValidator(_no_switch)]
Ratio = Annotated[float, Field(allow_inf_nan=False), AfterValidator(clamped_ratio), BeforeValidator(_no_switch)]
Count = Annotated[int, Field(ge=0), BeforeValidator(_no_switch)]
Positive = Annotated[int, Field(gt=0), BeforeValidator(_no_switch)]
Retries = Annotated[int, Field(ge=0, le=6), BeforeValidator(_no_switch)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(_no_switch)]
Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False), BeforeValidator(_no_switch)]
Provider = Annotated[Text, Field(json_schema_extra=NEEDS_TRUST)]
Address = Annotated[Text, AfterValidator(_address), Field(json_schema_extra=NEEDS_TRUST)]
VariableName = Annotated[Text, AfterValidator(_variable_name), Field(json_schema_extra=NEEDS_TRUST)]
