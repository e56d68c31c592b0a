"""Functions as tools: the schema of a signature, and what its arguments may be."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest

from host.plugin import ToolError, tool, toolset


def look(
    where: Annotated[str, "a place"],
    how: Literal["near", "far"] = "near",
    often: int | None = 1,
    all_of: bool = False,
    more: list[str] | None = None,
) -> str:
    """Look somewhere."""
    return f"{where} {how} {often} {all_of} {more}"


(LOOK,) = toolset(look)


def test_the_signature_is_the_schema() -> None:
    assert LOOK.schema == {
        "name": "look",
        "description": "Look somewhere.",
        "parameters": {
            "type": "object",
            "properties": {
                "where": {"type": "string", "description": "a place"},
                "how": {"type": "string", "enum": ["near", "far"]},
                "often": {"type": "integer"},
                "all_of": {"type": "boolean"},
                "more": {"type": "array"},
            },
            "required": ["where"],
        },
    }


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ({}, "x near 1 False None"),
        ({"often": "3", "all_of": "True"}, "x near 3 True None"),
        ({"often": 3.0, "how": None}, "x near 3 False None"),
        ({"more": '["a"]'}, "x near 1 False ['a']"),
    ],
)
def test_arguments_may_be_written_as_models_write_them(given: dict[str, Any], answer: str) -> None:
    assert LOOK.call({"where": "x", **given}) == answer


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"where": 7}, "give where as JSON string"),
        ({"where": None}, "give where as JSON string"),
        ({"where": "x", "often": True}, "give often as JSON integer"),
        ({"where": "x", "often": "many"}, "often is 'many'"),
        ({"where": "x", "how": "up"}, "give one of near, far"),
        ({"where": "x", "when": 1}, "takes no 'when'"),
        ({}, "needs where"),
    ],
)
def test_any_other_argument_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ToolError, match=words):
        LOOK.call(given)


def test_an_object_gives_its_marked_methods() -> None:
    class Pair:
        @tool
        def one(self) -> dict[str, int]:
            """One."""
            return {"a": 1}

        def other(self) -> None: ...

    (one,) = toolset(Pair())
    assert (one.name, one.call({})) == ("one", '{"a": 1}')
