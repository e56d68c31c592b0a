"""The plugin manager: one hook file, and an answer to a misspelt hook."""

from __future__ import annotations

from types import ModuleType

import pytest

from host import hookspecs
from host.discovery.foreign import Unusable
from host.discovery.manager import admit, engines_of, hooks_of, plugin_manager
from host.hookspecs import hookimpl


class Good:
    @hookimpl
    def ctxhost_engines(self) -> dict[str, object]:
        return {"good": Good}


class Misspelt:
    @hookimpl
    def ctxhost_engine(self) -> dict[str, object]:
        return {}


class Unlike:
    @hookimpl
    def something_else(self) -> None: ...


class ExtraArgument:
    @hookimpl
    def ctxhost_engines(self, config: object) -> dict[str, object]:
        return {}


class Listed:
    @hookimpl
    def ctxhost_engines(self) -> list[str]:
        return ["demo"]


class Raising:
    @hookimpl
    def ctxhost_engines(self) -> dict[str, object]:
        raise SystemExit("no")


class Unhashable(Good):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self is other


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        (Misspelt(), ["unknown hook 'ctxhost_engine'", "did you mean 'ctxhost_engines'"]),
        (Unlike(), ["unknown hook 'something_else'"]),
        (ExtraArgument(), ["ctxhost_engines", "config"]),
    ],
)
def test_a_plugin_with_a_wrong_hook_is_refused_and_the_others_stay(plugin: object, words: list[str]) -> None:
    manager, good = plugin_manager(), Good()
    admit(manager, good)
    with pytest.raises(Unusable) as caught:
        admit(manager, plugin)
    assert all(word in str(caught.value) for word in words)
    assert manager.get_plugins() == {good}
    assert engines_of(manager, good) == {"good": Good}
    manager.check_pending()


@pytest.mark.parametrize(("plugin", "word"), [(Listed(), "list"), (Raising(), "SystemExit: no")])
def test_a_hook_that_answers_nonsense_or_raises_is_a_reason(plugin: object, word: str) -> None:
    manager = plugin_manager()
    admit(manager, plugin)
    with pytest.raises(Unusable, match=word):
        engines_of(manager, plugin)


def test_a_plugin_without_hooks_has_none() -> None:
    manager, plain = plugin_manager(), ModuleType("plain")
    admit(manager, plain)
    assert hooks_of(manager, plain) == set()


def test_each_plugin_is_asked_for_its_own_engines() -> None:
    manager, first, second = plugin_manager(), Good(), Good()
    admit(manager, first)
    manager.register(second, "second")
    assert engines_of(manager, first) == engines_of(manager, second) == {"good": Good}


def test_an_unhashable_plugin_cannot_do_more_harm_than_be_refused() -> None:
    manager, plugin = plugin_manager(), Unhashable()
    with pytest.raises(Unusable):
        admit(manager, plugin)
        engines_of(manager, plugin)


def test_every_hook_is_documented() -> None:
    marked = [name for name, value in vars(hookspecs).items() if hasattr(value, f"{hookspecs.PROJECT}_spec")]
    assert {"ctxhost_engines", "on_pre_compress"} <= set(marked)
    assert all(vars(hookspecs)[name].__doc__ for name in marked)


def test_a_misspelt_hook_without_the_prefix_is_recognised_too() -> None:
    class Memory:
        @hookimpl
        def on_pre_compres(self, messages: object, session: str) -> str:
            return ""

    with pytest.raises(Unusable, match="did you mean 'on_pre_compress'"):
        admit(plugin_manager(), Memory())
