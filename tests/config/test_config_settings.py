"""Settings of engines: checked by the engine's own model, or by the host where it has none."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, RootModel, field_validator, model_validator

from host.config import no_settings_for, settings_for, unchecked_engines
from host.errors import ConfigError

Desk = Any  # conftest.Desk


class Recap(BaseModel):
    words: int = Field(default=200, ge=20)
    style: str = "plain"

    @field_validator("style")
    @classmethod
    def known(cls, value: str) -> str:
        if value == "purple":
            raise ValueError("is in bad taste")
        return value


class Strict(Recap):
    model_config = ConfigDict(extra="forbid")


class Open(Recap):
    model_config = ConfigDict(extra="allow")


class Deaf(Recap):
    model_config = ConfigDict(extra="ignore")


class Nested(BaseModel):
    inner: Recap = Recap()
    deaf: Deaf = Deaf()
    several: tuple[Recap, ...] = ()


class Renamed(BaseModel):
    words: int = Field(default=200, validation_alias=AliasChoices("words", "length"))
    style: str = Field(default="plain", alias="manner")

    @model_validator(mode="before")
    @classmethod
    def former(cls, tree: Any) -> Any:
        return {"manner" if key == "tone" else key: value for key, value in tree.items()}


class Anything(RootModel[dict[str, int]]):
    pass


def problems(desk: Desk, model: type[BaseModel]) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        settings_for(desk.load(), "recap", model)
    return [str(problem).replace(f"{desk.home}/", "") for problem in caught.value.problems]


@pytest.mark.parametrize("model", [Recap, Strict, Open, Deaf])
def test_an_engines_settings_are_checked_by_its_own_model(desk: Desk, model: type[Recap]) -> None:
    desk.write("engines:\n  recap:\n    words: 50\n    timeout: 9\n")
    assert settings_for(desk.load(), "recap", model) == model(words=50)
    assert settings_for(desk.load(), "other", model) == model()


@pytest.mark.parametrize("model", [Recap, Strict])
def test_an_engines_problems_stand_at_their_lines(desk: Desk, model: type[Recap]) -> None:
    desk.write("engines:\n  recap:\n    words: 3\n    wrods: 4\n    style: purple\n")
    assert problems(desk, model) == [
        "config.yaml:3:5: engines.recap.words: expected a whole number of at least 20, found 3",
        "config.yaml:4:5: engines.recap.wrods: unknown key; did you mean 'engines.recap.words'?",
        "config.yaml:5:5: engines.recap.style: is in bad taste",
    ]


@pytest.mark.parametrize("model", [Open, Deaf])
def test_a_model_that_says_what_becomes_of_other_keys_has_its_way(desk: Desk, model: type[Recap]) -> None:
    desk.write("engines: {recap: {wrods: 50}}")
    assert settings_for(desk.load(), "recap", model).words == 200


def test_a_model_inside_a_model_is_checked_as_well(desk: Desk) -> None:
    desk.write("engines:\n  recap:\n    inner: {wrods: 50}\n    deaf: {wrods: 50}\n    several: [{words: 50}, {wrods: 50}]\n")
    assert problems(desk, Nested) == [
        "config.yaml:3:13: engines.recap.inner.wrods: unknown key; did you mean 'engines.recap.inner.words'?",
        "config.yaml:5:29: engines.recap.several.1.wrods: unknown key; did you mean 'engines.recap.several.1.words'?",
    ]


def test_other_names_that_a_model_reads_are_no_mistake(desk: Desk) -> None:
    desk.write("engines: {recap: {length: 30, tone: dry}}")
    assert settings_for(desk.load(), "recap", Renamed).model_dump() == {"words": 30, "style": "dry"}
    desk.write("engines: {recap: {a: 30}}")
    assert settings_for(desk.load(), "recap", Anything).root == {"a": 30}


def test_a_model_made_inside_a_function_is_checked_too(desk: Desk) -> None:
    class Part(BaseModel):
        words: int = 1

    class Local(BaseModel):
        parts: list[Part] = []
        one: Part | None = None

    desk.write("engines: {recap: {parts: [{words: 2}], one: {words: 3}}}")
    assert settings_for(desk.load(), "recap", Local) == Local(parts=[Part(words=2)], one=Part(words=3))


def test_settings_of_an_engine_without_any_are_errors_but_for_the_hosts_own(desk: Desk) -> None:
    path = desk.write("engines:\n  compressor:\n    timeout: 9\n    timeuot: 4\n    words: 50\n")
    with pytest.raises(ConfigError) as caught:
        no_settings_for(desk.load(), "compressor")
    says = "unknown key: this engine has no settings of its own, only timeout"
    assert list(map(str, caught.value.problems)) == [
        f"{path}:4:5: engines.compressor.timeuot: {says}; did you mean 'engines.compressor.timeout'?",
        f"{path}:5:5: engines.compressor.words: {says}",
    ]
    no_settings_for(desk.load(), "other")


def test_engines_with_nothing_but_the_hosts_own_settings_are_checked(desk: Desk) -> None:
    desk.write("engines: {a: {timeout: 3}, b: {depth: 1}, c: {}, d: {timeout: 1, on: true}}")
    assert unchecked_engines(desk.load()) == ["b", "d"]
