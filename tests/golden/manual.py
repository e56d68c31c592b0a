"""Compaction by hand: arguments, partial, preview, feedback; and the user's newest message in every window (hermes.md 8.2, 12)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from host.conversation.conversation import Conversation
from host.conversation.feedback import feedback, preview_lines
from host.conversation.manual import KEEP, parse_compress_arguments, without_flags
from host.conversation.preview import Preview
from host.engine.idle import Reason
from host.engine.outcome import Outcome
from host.engine.report import Report
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.reading import text_of
from host.messages.types import Message
from host.messages.violations import violations
from host.pipeline.settle import Settled, settle
from host.store.sqlite.store import SqliteStore
from host.testing.engines import services
from host.testing.messages import chat, system
from host.transforms.exchanges import is_request, rejoin, split_exchanges
from tests.desk import Desk, fed
from tests.golden.publishing import reference_engine
from tests.golden.reading import Driver, Golden, shown, written
from tests.golden.stores import new_store

CHARS = 200  # of a message: of shorter ones the part before the kept ones is not worth the frame of a summary, and stays
FIGURE = re.compile(r"\d[\d,]*")


def arguments(case: Golden) -> None:
    found = parse_compress_arguments(case.input["args"])
    assert [found.keep is not None, found.keep or KEEP, found.focus] == case.output


def flags(case: Golden) -> None:
    found = without_flags(case.input["args"])
    assert [found.rest, found.preview, found.aggressive] == case.output


def split(case: Golden) -> None:
    messages = case.input.get("messages") or [system("S"), *chat(8)]
    head, tail = split_exchanges(messages, case.input["keep"], is_request)
    assert [len(head), len(tail)] == case.output
    assert [*head, *tail] == messages


def joined(case: Golden) -> None:
    assert rejoin(case.input["head"], case.input["tail"]) == case.output


def kept_in_place(case: Golden) -> None:
    """The note: what is kept stays live in the store, as the rows that it was."""
    with new_store() as store:
        desk, engine = Desk(store), reference_engine()
        talk = fed(
            Conversation(engine, getattr(engine, "services", services()), desk.shelf(in_place=True), warn=desk.warnings.append),
            chat(case.input["history"], chars=CHARS),
        )
        kept = list(talk.view.messages)[-case.input["tail"] :]
        assert talk.compact(keep=2).refused is None
        assert_live(store, desk.kept.conversation, kept)
        assert all(now is then for now, then in zip(list(talk.view.messages)[-len(kept) :], kept, strict=True))


def assert_live(store: SqliteStore, conversation: str, kept: list[Message]) -> None:
    """The newest view ends with references to the rows of these messages."""
    published = store.views(conversation).current()
    assert published is not None
    entries = published.ledger[-len(kept) :]
    assert [(entry.kind, entry.message) for entry in entries] == [(Kind.ORIGINAL, message) for message in kept]
    last = store.archive(conversation).range()[1]
    assert [entry.row for entry in entries] == list(range(last - len(kept) + 1, last + 1))


def preview_report(case: Golden) -> None:
    """The facts, which the wording is ours."""
    wanted = case.output
    preview = Preview(
        before=case.input["tokens"],
        after=700,
        messages_before=wanted["total"],
        messages_after=6,
        given=wanted["head_count"],
        kept=wanted["tail_count"],
        focus=case.input["focus"],
        keep=case.input["keep"],
    )
    told = "\n".join(preview_lines(preview))
    for line in wanted["lines"]:
        assert set(FIGURE.findall(line)) <= set(FIGURE.findall(told)), line
    assert "no changes made" in told and "--preview" in told


def words_after(case: Golden) -> None:
    """The facts: which of the four kinds, counts, tokens, whether something is to be added, and no secret in it."""
    found, wanted = feedback(outcome_of(case.input)), case.output
    assert (found.noop, found.aborted, found.fallback_used) == (wanted["noop"], wanted["aborted"], wanted["fallback_used"])
    assert (found.headline, found.token_line) == (wanted["headline"], wanted["token_line"])
    assert (found.note is None) == (wanted["note"] is None)
    if wanted["note"]:
        assert set(FIGURE.findall(wanted["note"])) <= set(FIGURE.findall(found.note or ""))
    if "Reason: " in (wanted["note"] or ""):
        assert wanted["note"].partition("Reason: ")[2] in (found.note or "")


def outcome_of(given: Mapping[str, Any]) -> Outcome:
    """The reference's flags as an outcome."""
    state = given["state"]
    aborted = state.get("_last_compress_aborted", False)
    unchanged = "there was nothing to compact" if given["same_messages"] else None
    return Outcome(
        trigger="manual",
        before=given["before_tokens"],
        after=given["after_tokens"],
        messages_before=given["before_count"],
        messages_after=given["after_count"],
        refused=state.get("_last_summary_error") if aborted else unchanged,
        reason=Reason.ABORTED if aborted else (Reason.NOTHING_TO_COMPRESS if unchanged else None),
        report=Report(
            aborted=aborted,
            error=state.get("_last_summary_error", ""),
            fallback_used=state.get("_last_summary_fallback_used", False),
            dropped=state.get("_last_summary_dropped_count", 0),
        ),
    )


def settled(case: Golden, returned: list[Message]) -> list[Message]:
    """The window that goes on after an engine returned this: the old one where it is not followed."""
    original: list[Message] = written(case.input["original"])
    before = Ledger(Entry(message, row) for row, message in enumerate(original, 1))
    found = settle(before, returned, count=lambda messages: 0)
    return found.messages if isinstance(found, Settled) else original


def user_turn_kept(case: Golden) -> None:
    assert shown(settled(case, written(case.input["compressed"]))) == case.output


def user_turn_restored(case: Golden) -> None:
    """The reference puts a copy of the user's words at the end. Here an engine that drops the newest message is not followed.

    Where that is there and the request is not, the request comes back before its answer, whole behind the notes.
    """
    original, compressed = written(case.input["original"]), written(case.input["compressed"])
    assert settled(case, compressed) == original
    window = settled(case, [compressed[0], original[-1]])
    assert [message["role"] for message in window] == ["user", "assistant"]
    text = text_of(window[0])
    assert text.endswith(f"\n\n{case.output[-1]['content']}") and shown(text).startswith("<SUMMARY_PREFIX>")


def user_turn_behind_what_is_made(case: Golden) -> None:
    """The same messages as the reference's. What an engine says in the user's name never follows the user's own newest words."""
    window = settled(case, written(case.input["compressed"]))
    assert sorted(map(str, shown(window))) == sorted(map(str, shown(case.output)))
    assert [message for message in window if message["role"] == "user"][-1] == written(case.input["original"])[0]


def user_turn_none(case: Golden) -> None:
    """No words are put into the mouth of a user who said nothing: the reference's marker for that is not made."""
    for returned in (written(case.input["compressed"]), [*written(case.input["compressed"]), *written(case.input["original"])]):
        window = settled(case, returned)
        assert case.input["original"][0] in window and violations(window) == []
        assert not any(message["role"] == "user" for message in window)


DRIVERS: dict[str, Driver] = {
    "compress_args_*": arguments,
    "compress_flags_*": flags,
    "partial_split_*": split,
    "partial_rejoin_*": joined,
    "partial_in_place_tail_is_archived": kept_in_place,
    "preview_report": preview_report,
    "feedback_*": words_after,
    "user_turn_kept": user_turn_kept,
    "user_turn_inserted": user_turn_restored,
    "user_turn_todo_merge": user_turn_behind_what_is_made,
    "user_turn_none": user_turn_none,
}
