"""What goes over the wire and comes back: requests as services get them, and refusals as the client raises them."""

from __future__ import annotations

import io
import json
import logging
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from host.messages.types import JSON, Message
from host.provider.dialects import DIALECTS, dialect_for
from host.provider.errors import ServiceError
from host.provider.openai_client import OpenAIProvider
from host.provider.provider import Delta
from host.provider.refusals.classifier import Kind, Sent, classify
from host.provider.wire import ANY, wire
from host.store.memory import MemoryStore
from host.testing import Answer, LoopbackServer
from host.testing.loopback import Step
from tests.cases import pairing
from tests.cases.case import Case
from tests.cases.facts import Each, Facts, NoDriver
from tests.cases.refused_talk import with_a_large_picture
from tests.desk import Desk, fed
from tests.engines_for_tests import compressor

KEY = "sk-loopback-0123456789"
EVENTS = {"Content-Type": "text/event-stream"}
BETWEEN = "an {} message stands between the tool result and the user turn"
ROOMY = 1_000_000
QUESTION: list[Message] = [{"role": "user", "content": "hello?"}]
CALL: Any = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
LOOKED: list[Message] = [
    *QUESTION,
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "seen"}, PICTURE]},
]


# --- kind pairing ------------------------------------------------------------------------------------------------


def repaired_and_sent(case: Case, folder: Path) -> Facts:
    """The history on all its ways through the product, and as services of every dialect get it."""
    messages = case.input["messages"]
    given = deepcopy(messages)
    sent = {"any": wire(messages, ANY)} | {(*known.providers, "")[0]: wire(messages, known.dialect) for known in DIALECTS}
    facts = pairing.repair(case, folder)
    return {
        **facts,
        "wire_for_*": lambda provider: between(wire(messages, dialect_for("", provider=provider))),
        "no_http_400": not list(follow(wire(messages, dialect_for("", provider="mistral")))) and not any(map(silent, sent["mistral"])),
        "sent_messages_with_empty_content_excluding_tool_calls": Each({way: sum(map(silent, each)) for way, each in sent.items()}),
        "tool_result_*_present": lambda key: any(each.get("tool_call_id") == key and not silent(each) for each in sent["any"]),
        "messages_unchanged": facts["messages_unchanged"] and given == messages,
    }


def follow(sent: Sequence[JSON]) -> Iterator[JSON]:
    """User turns that stand right after a result."""
    return (message for before, message in pairwise(sent) if before["role"] == "tool" and message["role"] == "user")


def between(sent: Sequence[JSON]) -> str:
    """What stands between a result and the next user turn, as a sentence."""
    roles = [message["role"] for message in sent]
    users = [at for at, role in enumerate(roles) if role == "user" and "tool" in roles[:at]]
    last = {roles[at - 1] for at in users}
    return BETWEEN.format(" or ".join(sorted(last))) if users and "tool" not in last else "nothing stands between them"


def silent(message: JSON) -> bool:
    """Whether a message without calls says nothing."""
    content = message.get("content")
    return not message.get("tool_calls") and not (content.strip() if isinstance(content, str) else content)


# --- kind tokens -------------------------------------------------------------------------------------------------


def asked(case: Case, folder: Path) -> Facts:
    """A question to a local server, streamed where the case says so: the keys of the request that arrives."""
    address = urlsplit(case.input["base_url"])
    if address.hostname != "127.0.0.1" or address.path != "/v1":
        raise NoDriver(f"no driver asks {case.input['base_url']}")
    with LoopbackServer(["ok"]) as server:
        provider(server).ask(QUESTION, on_delta=_ignored if case.input["stream"] else None)
    return {f"request.{key}": value for key, value in server.requests[0].body.items()}


# --- kinds secrets, images, provider-error -----------------------------------------------------------------------


def echoed(case: Case, folder: Path) -> Facts:
    """A refusal that quotes a key: all that is logged, and all that the error says."""
    with listening() as log:
        error = refusal(case.input["http_status"], case.input["body"])
    shown = "".join(traceback.format_exception(error))
    return {"log_and_notice": f"{log.getvalue()}\n{shown}\n{error!r}\n{error.detail}\n{error.body}", "status": error.status}


def picture_refused(case: Case, folder: Path) -> Facts:
    """A picture that a service refuses: what the refusal is taken for, and a result with a picture as it is sent again."""
    error = refusal(case.input["http_status"], case.input["body"])
    taken_for = classify(error, Sent())
    with LoopbackServer([_step(case.input["http_status"], case.input["body"]), "seen"]) as server, suppress(ServiceError):
        provider(server).ask(LOOKED)
    sent = [request.messages[-1]["content"] for request in server.requests]
    return {
        "class": str(taken_for.kind),
        "parsed_message_index": taken_for.message,
        "first_tool_content_type": type(sent[0]).__name__,
        "retry_tool_content_type": Each({"the client": type(sent[-1]).__name__, "a conversation": type(as_text(error)).__name__}),
        "requests": len(sent),
        **(with_a_large_picture(error) if taken_for.kind is Kind.IMAGE_TOO_LARGE else {}),
    }


def as_text(error: ServiceError) -> object:
    """What a conversation makes of a result with a picture after a refusal."""
    talk = fed(Desk(MemoryStore()).open(compressor(ROOMY)), LOOKED)
    talk.window()
    talk.refused(error)
    return talk.window()[-1].get("content")


def refusal(status: int | None, body: Any) -> ServiceError:
    """What the client raises where a service refuses with this status and body; without a status, in the middle of a stream."""
    with LoopbackServer([_step(status, body)]) as server:
        try:
            provider(server).ask(QUESTION, on_delta=_ignored if status is None else None)
        except ServiceError as error:
            return error
    raise NoDriver("the service did not refuse")


def provider(server: LoopbackServer) -> OpenAIProvider:
    """A model behind the server, each question sent once."""
    return OpenAIProvider("some-model", base_url=server.base_url, api_key=KEY, timeout=20.0, max_retries=0)


@contextmanager
def listening() -> Iterator[io.StringIO]:
    """Everything that anybody logs meanwhile, down to the last detail."""
    heard, root = io.StringIO(), logging.getLogger()
    handler, level = logging.StreamHandler(heard), root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        yield heard
    finally:
        root.setLevel(level)
        root.removeHandler(handler)


def _step(status: int | None, body: Any) -> Step:
    if status is not None:
        return Answer(body if isinstance(body, str) else json.dumps(body), status=status)
    event = body.get("stream_event", body) if isinstance(body, dict) else body
    return Answer(f"data: {json.dumps(event)}\n\n", headers=EVENTS)


def _ignored(delta: Delta) -> None:
    """Hear a piece of an answer."""
