"""A scripted model from a file: ``--model scripted:FILE``, for rehearsals without a key or a network."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from host.errors import FormatError
from host.messages.reading import text_of
from host.messages.types import Message, Reply, ToolSchema, Usage
from host.provider.answers import arguments_text, new_call_id
from host.provider.errors import BadRequest, OutOfReplies
from host.provider.provider import OnDelta
from host.provider.scripted import BEHAVIOURS, SERVICE, Asked, let_pass, told

if TYPE_CHECKING:
    from host.tokens import Counter

MORE = "add replies to the script; repeat: true gives the last one again and again, one with when: is given at those words alone"
REFUSED = "This model's maximum context length is {:,} tokens. However, your messages resulted in {:,} tokens."
NO_ROOM = (
    "This model's maximum context length is {:,} tokens. However, you requested {:,} tokens "
    "({:,} in the messages, {:,} in the completion). Please reduce the length of the messages or completion."
)


class BadScript(FormatError):
    """A script cannot be read."""

    def __init__(self, path: Path, line: int | None, why: str) -> None:
        place = str(path) if line is None else f"{path}:{line}"
        super().__init__(f"{place}: {why}", "docs/testing.md tells what a script may hold; examples/script.yaml is one")


class Strict(BaseModel):
    """A part of a script, without any key that is not written here."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ScriptCall(Strict):
    """A tool call."""

    name: str = Field(min_length=1)
    arguments: dict[str, Any] | str = {}  # a text is sent as it is, JSON or not


class Step(Strict):
    """One reply. ``wait`` is in seconds before it; ``fail`` is one of BEHAVIOURS; ``when`` gives it whenever the user says these words."""

    text: str | None = None
    reasoning: str | None = None
    calls: list[ScriptCall] = []
    echo: bool = False
    fail: str | None = None
    wait: float = Field(default=0.0, ge=0, le=3600)
    when: str | None = None


class Script(Strict):
    """The whole: replies in their order. ``repeat``: the last one again and again; ``window``: tokens, longer requests are refused."""

    steps: list[str | Step]
    repeat: bool = False
    window: int | None = Field(default=None, gt=0)


class ScriptedFile:
    """Gives the replies of a script (protocol Provider); raises OutOfReplies behind the last one."""

    def __init__(self, script: Script) -> None:
        steps = [Step(text=step) if isinstance(step, str) else step for step in script.steps]
        self._always = [step for step in steps if step.when is not None]
        self._in_order = [step for step in steps if step.when is None]
        self._script = script
        self._asked = 0

    @property
    def window(self) -> int | None:
        """Tokens that its requests may have, None where the script says nothing of it."""
        return self._script.window

    def ask(
        self,
        messages: list[Message],
        *,
        tools: Sequence[ToolSchema] = (),
        max_tokens: int | None = None,
        timeout: float | None = None,
        on_delta: OnDelta | None = None,
    ) -> Reply:
        """The next reply, or the one for what the user has just said."""
        sent = self._count.messages(messages) + self._count.tools(tools)
        self._refuse(sent, max_tokens or 0)
        step = self._step(messages)
        let_pass(step.wait, timeout, time.sleep)
        if step.fail is not None:
            return told(BEHAVIOURS[step.fail](Asked(tuple(messages), tuple(tools), max_tokens, timeout)), on_delta)
        message = _message_of(step, messages)
        usage = Usage(sent, self._count.message(message))
        return told(Reply(message, usage, "tool_calls" if step.calls else "stop"), on_delta)

    def _refuse(self, sent: int, max_tokens: int) -> None:
        """Refuse what does not fit, as a service does for which the answer counts too."""
        window = self._script.window
        if window is not None and sent > window:
            raise BadRequest(SERVICE, REFUSED.format(window, sent), status=400)
        if window is not None and sent + max_tokens > window:
            raise BadRequest(SERVICE, NO_ROOM.format(window, sent + max_tokens, sent, max_tokens), status=400)

    def _step(self, messages: Sequence[Message]) -> Step:
        said = text_of(messages[-1]).casefold() if messages and messages[-1].get("role") == "user" else ""
        for step in self._always:
            if said and step.when is not None and step.when.casefold() in said:
                return step
        self._asked += 1
        if self._asked <= len(self._in_order):
            return self._in_order[self._asked - 1]
        if not self._script.repeat or not self._in_order:
            raise OutOfReplies(self._asked, len(self._in_order), MORE)
        return self._in_order[-1]

    @cached_property
    def _count(self) -> Counter:
        from host.tokens import Counter

        return Counter()


def scripted_from(path: Path) -> ScriptedFile:
    """The model in a script: YAML or JSON, a list of replies or a mapping with ``steps``. Raises BadScript with the line."""
    read, script = _read(path), None
    steps = read.get("steps") if isinstance(read, dict) else read
    if not isinstance(steps, list) or not steps:
        raise BadScript(path, None, "a script is a list of replies, or a mapping with steps: and a list behind it")
    whole = read if isinstance(read, dict) else {"steps": read}
    try:
        script = Script.model_validate(json.loads(json.dumps(whole)))
    except ValidationError as wrong:
        raise BadScript(path, _line_of(wrong, read, steps), _words_of(wrong)) from None
    except (TypeError, ValueError) as wrong:
        raise BadScript(path, _line_of_odd(steps), f"only texts, numbers, lists and mappings make sense here: {wrong}") from None
    for index, step in enumerate(script.steps):
        if isinstance(step, Step) and step.fail is not None and step.fail not in BEHAVIOURS:
            raise BadScript(path, _line_at(steps, index), f"no failure is called {step.fail!r}; there are: {', '.join(sorted(BEHAVIOURS))}")
    return ScriptedFile(script)


def _read(path: Path) -> Any:
    """What YAML, and so JSON, says; lists and mappings know their lines."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is no UTF-8 text"
        raise BadScript(path, None, f"it cannot be read: {why}") from None
    try:
        return YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else None
        raise BadScript(path, line, str(error.problem or "this is neither YAML nor JSON")) from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise BadScript(path, None, f"this is neither YAML nor JSON: {str(error).splitlines()[0]}") from None


def _message_of(step: Step, messages: Sequence[Message]) -> Message:
    newest = next((message for message in reversed(messages) if message.get("role") == "user"), None)
    text = text_of(newest) if step.echo and newest is not None else step.text
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if step.reasoning is not None:
        message["reasoning_content"] = step.reasoning
    if step.calls:
        message["tool_calls"] = [
            {
                "id": new_call_id(),
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_text(call.arguments)},
            }
            for call in step.calls
        ]
    return cast(Message, message)


def _line_of(wrong: ValidationError, read: Any, steps: Any) -> int | None:
    """The line of the step that is wrong, else of the key."""
    place = wrong.errors()[0]["loc"]
    if place and place[0] == "steps":
        return _line_at(steps, place[1]) if len(place) > 1 and isinstance(place[1], int) else None
    try:
        return int(read.lc.key(place[0])[0]) + 1
    except (AttributeError, KeyError, IndexError, TypeError):
        return None


def _line_of_odd(steps: Any) -> int | None:
    """The line of the first step that JSON has no word for, such as a date without quotes."""
    for index, step in enumerate(steps):
        try:
            json.dumps(step)
        except (TypeError, ValueError):
            return _line_at(steps, index)
    return None


def _line_at(steps: Any, index: int) -> int | None:
    try:
        return int(steps.lc.item(index)[0]) + 1
    except (AttributeError, KeyError, IndexError, TypeError):
        return None


def _words_of(wrong: ValidationError) -> str:
    """The most telling of pydantic's complaints: a step that is a mapping is no text, which need not be said."""
    told = [error for error in wrong.errors() if "str" not in error["loc"][2:3]] or wrong.errors()
    place = ".".join(str(part) for part in told[0]["loc"] if part != "Step")
    return f"{place}: {told[0]['msg']}"
