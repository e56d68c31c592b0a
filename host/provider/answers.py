"""A chat completion as a Reply, or the error that a service puts in its place."""

from __future__ import annotations

import json
import uuid
from typing import Any, cast

from host.messages.types import JSON, Message, Reply, Usage
from host.provider.bodies import code_in, words_of
from host.provider.errors import (
    BadRequest,
    EmptyReply,
    KeyRefused,
    NotThere,
    PaymentDue,
    QuotaUsedUp,
    RateLimited,
    ServerFailed,
    Service,
    ServiceError,
    TimedOut,
    Unreadable,
    of_status,
)

SHOWN_BYTES = 200  # of an answer that is no chat completion
USAGE_KEYS = ("usage", "usageMetadata", "timings")  # where services count, the first that counted anything

BY_CODE: dict[str, type[ServiceError]] = {
    "context_length_exceeded": BadRequest,
    "invalid_request_error": BadRequest,
    "invalid_prompt": BadRequest,
    "exceed_context_size_error": BadRequest,
    "invalid_api_key": KeyRefused,
    "authentication_error": KeyRefused,
    "permission_error": KeyRefused,
    "billing_error": PaymentDue,
    "insufficient_quota": QuotaUsedUp,
    "rate_limit_exceeded": RateLimited,
    "rate_limit_error": RateLimited,
    "model_not_found": NotThere,
    "not_found_error": NotThere,
    "timeout": TimedOut,
    "timeout_error": TimedOut,
    "server_error": ServerFailed,
    "internal_server_error": ServerFailed,
    "api_error": ServerFailed,
    "overloaded_error": ServerFailed,
    "service_unavailable": ServerFailed,
}
"""Name of an error that comes without an HTTP status of its own -> class; others are plain ServiceErrors."""


def reply_of(body: bytes, service: Service) -> Reply:
    """Read a chat completion; the message keeps every key it came with, a refusal or ``content: null`` included.

    Raises Unreadable for anything else, EmptyReply where there are no choices, and the error inside the body where
    a service reports its failure with status 200.
    """
    return reply_in(_object_in(body, service), service)


def reply_in(answer: JSON, service: Service) -> Reply:
    """The reply in the JSON of a chat completion; raises as ``reply_of`` does."""
    choice = _first_choice(answer, service)
    message = choice.get("message")
    if not isinstance(message, dict):
        raise Unreadable(service, "the choice holds no message")
    usages = (Usage.from_provider(found) for key in USAGE_KEYS if isinstance(found := answer.get(key), dict))
    reason, role = choice.get("finish_reason"), message.get("role")
    return Reply(
        message=cast(Message, _with_whole_calls({**message, "role": role if isinstance(role, str) and role else "assistant"})),
        usage=next((usage for usage in usages if usage), None),
        finish_reason=reason if isinstance(reason, str) else None,
        raw=answer,
    )


def failure_in(body: JSON, service: Service) -> ServiceError | None:
    """The error that a body of status 200, an event of a stream or a choice holds; None where it holds none."""
    response = body.get("response")
    error: Any = body.get("error") or (response.get("error") if isinstance(response, dict) else None)
    if not error and body.get("type") == "error":
        error = {key: value for key, value in body.items() if key != "type"}
    if not error:
        return None
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(code, str) and code.isascii() and code.isdigit():
        code = int(code)
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    kind = of_status(status) if status else BY_CODE.get(code_in(error) or "") or BY_CODE.get(_type_of(error), ServiceError)
    return kind(service, words_of(error), status=status, body={"error": error})


def _type_of(error: object) -> str:
    kind = error.get("type") if isinstance(error, dict) else None
    return kind if isinstance(kind, str) else ""


def _object_in(body: bytes, service: Service) -> JSON:
    try:
        answer: object = json.loads(body)
    except (ValueError, RecursionError):
        raise Unreadable(service, body[:SHOWN_BYTES].decode("utf-8", "replace") or "an empty body") from None
    if not isinstance(answer, dict):
        raise Unreadable(service, f"the body is a JSON {type(answer).__name__}, not an object")
    return answer


def _first_choice(answer: JSON, service: Service) -> JSON:
    choices = answer.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    failure = failure_in(first if isinstance(first, dict) else answer, service)
    if failure:
        raise failure
    if isinstance(first, dict):
        return first
    if first is not None:
        raise Unreadable(service, "the choice is no object")
    if choices is None:
        raise Unreadable(service, "the body holds no choices")
    raise EmptyReply(service, "no choices")


def _with_whole_calls(message: JSON) -> JSON:
    """The message with calls that can be answered: each has an id, and arguments that are text."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return message
    whole = [_whole_call(call) if isinstance(call, dict) else call for call in calls]
    return message if whole == calls else {**message, "tool_calls": whole}


def _whole_call(call: JSON) -> JSON:
    function = call.get("function")
    if isinstance(function, dict):
        function = {**function, "arguments": arguments_text(function.get("arguments"))}
        call = {**call, "function": function}
    key = call.get("id")
    return call if key and isinstance(key, str) else {**call, "id": str(key or new_call_id())}


def new_call_id() -> str:
    """An id for a call that has none."""
    return f"call_{uuid.uuid4().hex[:24]}"


def arguments_text(arguments: object) -> str:
    """The arguments of a call as text, which some services give as an object, or leave out."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
