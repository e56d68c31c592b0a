"""OpenAI chat messages, in the containers that people keep them in. What is a message stays as it is, every key of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeGuard, cast

from host.errors import NotAConversation
from host.formats.loose import listed, objects_in, text_under
from host.formats.source import Source, kind_of
from host.formats.transcript import Draft
from host.messages.types import JSON, Message, ToolSchema

MESSAGE_KEYS = ("messages", "traj", "trajectory", "history", "conversation")
"""Where an object keeps its conversation, the first that fits."""

TITLE_KEYS = ("id", "title", "instance_id", "conversation_id", "session_id", "custom_id")


def is_message(value: object) -> TypeGuard[JSON]:
    """Whether a JSON value is an OpenAI message: an object with a role."""
    return isinstance(value, dict) and isinstance(value.get("role"), str)


def messages_in(record: object) -> list[Any] | None:
    """The list of messages that an object holds, or that a list is; None where there is none."""
    if isinstance(record, list):
        return record if record and is_message(record[0]) else None
    if not isinstance(record, dict):
        return None
    lists = (found for key in MESSAGE_KEYS if isinstance(found := record.get(key), list))
    return next((found for found in lists if not found or is_message(found[0])), None)


def is_message_list(source: Source) -> bool:
    """One JSON list of messages."""
    return isinstance(source.document, list) and messages_in(source.document) is not None


def is_request(source: Source) -> bool:
    """One JSON object that holds the messages, as a request's body does."""
    document = source.document
    if not isinstance(document, dict) or "history" in document or source.path.suffix == ".jsonl":
        return False
    return messages_in(document) is not None


def is_trajectories(source: Source) -> bool:
    """One JSON list of objects that hold messages each."""
    return isinstance(source.document, list) and any(messages_in(record) is not None for record in source.document)


def is_dialogues(source: Source) -> bool:
    """One object or list with messages a line."""
    return any(messages_in(record) is not None for record in source.sample)


def is_message_lines(source: Source) -> bool:
    """One message a line."""
    return any(map(is_message, source.sample))


def read_message_list(source: Source) -> Iterator[Draft]:
    """The one conversation of a JSON list."""
    yield Draft(_checked(source, source.document, "entry"))


def read_request(source: Source) -> Iterator[Draft]:
    """The conversation of a request body, with its model and tools."""
    yield from _drafts(source, [source.document])


def read_trajectories(source: Source) -> Iterator[Draft]:
    """The conversations of a JSON list, one per object."""
    records = source.document if isinstance(source.document, list) else [source.document]
    yield from _drafts(source, records)


def read_dialogues(source: Source) -> Iterator[Draft]:
    """The conversations of a JSONL file, one a line; a line without any is damaged."""
    for number, record in source.values():
        messages = messages_in(record)
        if messages is not None and all(isinstance(message, dict) for message in messages):
            yield _draft(record, messages, number)
        else:
            source.left_out(number, "no list of messages in this line")


def read_message_lines(source: Source) -> Iterator[Draft]:
    """The one conversation of a JSONL file with a message a line."""
    messages: list[Message] = []
    for number, row in source.rows():
        if is_message(row):
            messages.append(cast("Message", row))
        else:
            source.left_out(number, "a message without a role")
    yield Draft(messages)


def tools_in(record: JSON) -> list[ToolSchema]:
    """The tool schemas of a request body; the older ``functions`` are wrapped."""
    wrapped = [{"type": "function", "function": function} for function in objects_in(record.get("functions"))]
    return [*(objects_in(record.get("tools")) or wrapped)]


def title_of(record: JSON, number: int) -> str:
    """The id that a record gives itself, else its number in the file."""
    ids = (str(value).strip() for key in TITLE_KEYS if isinstance(value := record.get(key), str | int))
    return next(filter(None, ids), "") or _task_of(record) or str(number)


def _task_of(record: JSON) -> str:
    trial = f"-trial-{record['trial']}" if "trial" in record else ""
    return f"task-{record['task_id']}{trial}" if "task_id" in record else ""


def _drafts(source: Source, records: list[Any]) -> Iterator[Draft]:
    for number, record in enumerate(records, start=1):
        messages = messages_in(record)
        if messages is None:
            raise NotAConversation(source.path, f"entry {number} of it holds no messages")
        yield _draft(record, _checked(source, messages, f"entry {number}, message"), number)


def _draft(record: object, messages: list[Message], number: int) -> Draft:
    if not isinstance(record, dict):
        return Draft(messages, title=str(number))
    return Draft(messages, title=title_of(record, number), tools=tools_in(record), model=text_under(record, "model") or None)


def _checked(source: Source, value: object, where: str) -> list[Message]:
    """The messages of a document; an entry that is no object is named with its place."""
    entries = listed(value)
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            raise NotAConversation(source.path, f"{where} {number} of it is {kind_of(entry)}, not a message")
    return cast("list[Message]", entries)
