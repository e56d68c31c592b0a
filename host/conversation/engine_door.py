"""The door at which an engine's code is called: what it raises is told once, and the turn goes on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from host.conversation.engine_memory import COUNTERS, EngineMemory
from host.discovery.aside import printing_aside
from host.discovery.foreign import words_of
from host.discovery.keywords import accepted_keywords
from host.discovery.names import printable
from host.engine.contract import COMPRESS_KEYWORDS, ContextEngine
from host.engine.engine import Engine, same_messages
from host.engine.idle import Idle, Reason
from host.engine.report import Report
from host.engine.services import ModelFacts, Services
from host.errors import CtxhostError, EngineFailed
from host.messages.reading import call_arguments, call_name
from host.messages.redact import redact
from host.messages.types import Message, ToolCall, ToolSchema, Usage

T = TypeVar("T")
FAILURES = 3  # in a row; then a conversation goes on without the engine
NUMBER = re.compile(r"\d[\d,.]*")


masked = partial(redact, force=True)
"""What an engine or a provider says may quote a key: whatever is told or kept of it goes through here."""


class Broken(Exception):
    """The engine raised; the text says what, without secrets."""

    def __init__(self, text: str) -> None:
        super().__init__(masked(text))


class EngineDoor:
    """All calls of one engine. With ``strict`` (``context.on_error: error``) a fault ends the turn instead."""

    def __init__(self, engine: ContextEngine, warn: Callable[[str], None], *, strict: bool) -> None:
        self.engine = engine
        self._warn = warn
        self._strict = strict
        self._told: set[str] = set()
        self.failures = 0  # compactions in a row that ended in an exception

    def tell_model(self, facts: ModelFacts, *, learnt: bool = False) -> None:
        """Give an engine its window. One built on ``Engine`` has read it from its services, unless it was learnt since."""
        if isinstance(self.engine, Engine) and not learnt:
            return

        def update() -> object:
            method: Callable[..., object] = self.engine.update_model
            offered = {"base_url": "", "api_key": "", "provider": "", "api_mode": ""}
            return method(facts.model, facts.usable, **accepted_keywords(method, offered))

        self._tried(update, None)

    def counters(self, services: Services) -> EngineMemory:
        """What the engine remembers of the compactions that it made."""
        return EngineMemory(self.engine, hosts=hosts_of(services), only=COUNTERS)

    def take_back(self, counters: EngineMemory, tokens: int | None) -> None:
        """The engine's counters as they were: the window that it made is not the one that goes on.

        An engine built on ``Engine`` is told, with the tokens where it was an automatic compaction that came to nothing.
        """
        counters.put_back()
        if isinstance(engine := self.engine, Engine):
            self._tried(lambda: engine.on_not_published(tokens), None)

    @contextmanager
    def untouched(self, services: Services) -> Iterator[None]:
        """Whatever is asked of the engine in this block is forgotten behind it, by the engine too, and no warning is given.

        Where the engine keeps something that cannot be put back, that is said once.
        """
        failures, warn, told = self.failures, self._warn, self._told
        memory = EngineMemory(self.engine, hosts=hosts_of(services))
        self._told, self._warn = set(), lambda warning: None
        try:
            yield
        finally:
            self._told, self._warn, self.failures = told, warn, failures
            memory.put_back()
        if memory.unknown:
            kept = ", ".join(memory.unknown)
            self.warn_once(f"engine {self.engine.name!r} keeps what a preview cannot put back ({kept}): it may remember the preview there")

    def tell_start(self, session: str) -> None:
        """A conversation begins, or goes on after a restart."""
        self._tried(lambda: self.engine.on_session_start(session), None)

    def tell_boundary(self, session: str, old: str) -> None:
        """A view was published: the same conversation goes on, in a child session or in place (hermes.md 1.3)."""

        def tell() -> object:
            method: Callable[..., object] = self.engine.on_session_start
            offered = {"boundary_reason": "compression", "old_session_id": old}
            return method(session, **accepted_keywords(method, offered))

        self._tried(tell, None)

    def tell_end(self, session: str, messages: list[Message]) -> None:
        """A real boundary: exit, reset, expiry."""
        self._tried(lambda: self.engine.on_session_end(session, deepcopy(messages)), None)

    def take_usage(self, usage: Usage | None) -> None:
        """Hand on what the provider counted; an empty usage where it counted nothing."""
        self._tried(lambda: self.engine.update_from_response(usage.as_openai() if usage else {}), None)

    def why_idle(self, tokens: int, window: int) -> Idle | None:
        """Why the engine would not compact a window of this size, in its own words where it has some; None: it would."""
        if self.failures >= FAILURES:
            self.warn_once(f"engine {self.engine.name!r} failed {FAILURES} times in a row and is not asked again, but by hand")
            return Idle(Reason.NOT_FOLLOWED, f"it failed {FAILURES} times in a row")
        faulty = Idle(Reason.NOT_FOLLOWED, "it could not say whether to compact")
        if (wanted := self._tried(lambda: bool(self.engine.should_compress(tokens)), None)) is not False:
            return None if wanted else faulty
        words = self._tried(lambda: getattr(self.engine, "why_idle", lambda tokens: None)(tokens), None)
        if isinstance(words, Idle):
            return replace(words, detail=masked(words.detail))
        threshold = self.threshold(window)
        below = Idle(Reason.BELOW_THRESHOLD, f"{tokens:,} of {threshold:,} tokens")
        return below if tokens < threshold else Idle(Reason.DECLINED, f"{tokens:,} tokens, its threshold is {threshold:,}")

    def waits_for_usage(self, tokens: int) -> bool:
        """Whether the engine has an estimate over its threshold wait for the provider's own count."""
        return self._tried(lambda: bool(self.engine.should_defer_preflight_to_real_usage(tokens)), False)

    def report(self) -> Report:
        """The engine's word on its last compaction; an empty one from an engine that gives none."""
        said = self._tried(lambda: getattr(self.engine, "last_report", None), None)
        return replace(said, error=masked(said.error), note=masked(said.note)) if isinstance(said, Report) else Report()

    def times_compacted(self) -> int:
        """How often the engine says that it has compacted this conversation."""
        return self._tried(lambda: int(self.engine.compression_count), 0)

    def threshold(self, window: int) -> int:
        """The engine's threshold, if it is a size within the window."""
        said = self._tried(lambda: int(self.engine.threshold_tokens), window)
        return said if 0 < said <= window else window

    def protected(self) -> int:
        """Messages at both ends that the engine says it keeps."""
        return self._tried(lambda: int(self.engine.protect_first_n) + int(self.engine.protect_last_n), 0)

    def last_prompt(self) -> int:
        """The engine's last_prompt_tokens."""
        return self._tried(lambda: int(self.engine.last_prompt_tokens), 0)

    def compress(
        self, messages: list[Message], tokens: int, focus: str | None, *, force: bool, memory: str = "", services: Services
    ) -> object:
        """What the engine makes of the messages; the same list where it gave back its own unchanged. Raises Broken.

        An engine that does not promise to leave its input alone gets a copy, and its services the pins among the copies. What it
        writes into the copy and gives back is a result as any other.
        Keywords that it lacks are not passed.
        """
        offered = dict(zip(COMPRESS_KEYWORDS, (tokens, focus, force, memory), strict=True))
        given = messages
        if getattr(self.engine, "leaves_input_alone", False) is not True:
            given, services.pins = deepcopy((messages, services.pins))  # together: a pin is the same object in both
        copies = list(given)

        def compress() -> object:
            method: Callable[..., object] = self.engine.compress
            accepted = accepted_keywords(method, offered)
            if memory and "memory_context" not in accepted:
                self.warn_once(f"engine {self.engine.name!r} takes no memory_context: what memory plugins say does not reach it")
            return method(given, **accepted)

        returned = self._counted(compress)
        after = unchanged(plain(returned), copies, messages)
        return messages if returned is given and same_messages(after, messages) else after

    def tools(self) -> list[ToolSchema]:
        """The engine's tools as they are offered to the model; schemas without a name are left out, of one name the first counts."""
        none: list[dict[str, Any]] = []
        named: dict[str, dict[str, Any]] = {}
        for schema in self._tried(lambda: list(self.engine.get_tool_schemas()), none):
            name = schema.get("name") if isinstance(schema, dict) else None
            if isinstance(name, str) and name and named.setdefault(name, schema) is not schema:
                self.warn_once(f"engine {self.engine.name!r} offers the tool {name!r} more than once; the first one counts")
        return [{"type": "function", "function": schema} for schema in named.values()]

    def answer(self, tool_call: ToolCall, messages: list[Message]) -> str:
        """Answer a call of one of these tools, as JSON text; an error is an answer too."""
        name, text = call_name(tool_call), call_arguments(tool_call)
        try:
            arguments = json.loads(text or "{}")
        except ValueError as error:
            return json.dumps({"error": f"arguments of {name} are not JSON: {error}"})
        if not isinstance(arguments, dict):
            return json.dumps({"error": f"arguments of {name} are no JSON object"})
        try:
            return self._called(lambda: self.engine.handle_tool_call(name, arguments, messages=deepcopy(messages)))
        except Broken as error:
            return json.dumps({"error": f"{name}: {error}"}, ensure_ascii=False)

    def refuse(self, rule: str) -> None:
        """Say once that the engine was not followed."""
        if self._strict:
            raise EngineFailed(self.engine.name, rule)
        self.warn_once(f"engine {self.engine.name!r} was not followed: {rule}; the window stays as it was")

    def warn_once(self, warning: str) -> None:
        """Warn, unless only numbers have changed since."""
        kind = NUMBER.sub("N", warning)
        if kind not in self._told:
            self._told.add(kind)
            self.warn(warning)

    def warn(self, warning: str) -> None:
        """Warn, whatever was said before."""
        self._warn(printable(masked(warning)))

    def _tried(self, call: Callable[[], T], otherwise: T) -> T:
        try:
            return self._called(call)
        except Broken as error:
            self.refuse(str(error))
            return otherwise

    def _counted(self, call: Callable[[], T]) -> T:
        """A call that counts among the failures in a row; an interrupt is the user's and none of the engine's."""
        try:
            result = self._called(call)
        except Broken:
            self.failures += 1
            raise
        self.failures = 0
        return result

    def _called(self, call: Callable[[], T]) -> T:
        try:
            with printing_aside():  # what an engine prints is no part of a command's answer
                result = call()
        except KeyboardInterrupt:
            raise
        except CtxhostError as error:  # the engine's own word for what is missing, a model for example
            raise Broken(f"it raised {type(error).__name__}: {error.what}. {error.advice}".rstrip(". ")) from error
        except BaseException as error:  # foreign code, exit() included; the warning tells the cause, the old window stays
            raise Broken(f"it raised {type(error).__name__}: {words_of(error)}") from error
        if isinstance(result, Coroutine):
            result.close()
            raise Broken("it is async; an engine's methods are plain functions")
        return result


def hosts_of(services: Services) -> Collection[object]:
    """The host's objects that an engine may hold."""
    return services, *vars(services).values(), *services.summary_models


def plain(returned: object) -> object:
    """A list of dicts as just that, whatever classes they are of; anything else as it is."""
    if not isinstance(returned, list):
        return returned
    return [dict(message) if isinstance(message, dict) and type(message) is not dict else message for message in list(returned)]


def unchanged(returned: object, copies: Sequence[Message], messages: Sequence[Message]) -> object:
    """What came back of copies: the messages themselves where an engine changed nothing in them."""
    if not isinstance(returned, list):
        return returned
    originals = {id(copy): message for copy, message in zip(copies, messages, strict=True)}
    known = [(message, originals.get(id(message))) for message in returned]
    return [message if original is None or message != original else original for message, original in known]
