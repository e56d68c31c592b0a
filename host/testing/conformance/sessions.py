"""Checks of sessions: names, titles, ends (hermes.md 8.5)."""

from __future__ import annotations

from functools import partial

from host.errors import NoSuchSession, NotStorable, TitleTaken
from host.messages.ledger import Ledger
from host.store.protocols import Store
from host.store.values import Publication, Session
from host.testing.conformance.expecting import raises, same, true
from host.testing.conformance.odd import user


def rotate(store: Store, conversation: str) -> Session:
    """Go on in a child; returns it."""
    views = store.views(conversation)
    views.publish(Publication(Ledger(), 0, rotate=True), expected=views.version())
    return store.sessions.tip(conversation)


def a_new_session_is_as_asked(store: Store) -> None:
    about = {"model": "m", "chat": {"id": "42", "深": "\udc81"}}
    session = store.sessions.create(title="  my\n work\u200b ", source="cli", about=about, settings={"goal": "ship it", "n": [1.0, None]})
    found = store.sessions.get(session.id)
    same("what create gave and get gives", found, session)
    same("title, source and parent", (found.title, found.source, found.parent), ("my work", "cli", None))
    same("origin and settings", (found.about, found.settings), (about, {"goal": "ship it", "n": [1.0, None]}))
    same("it is open", (found.ended, found.end_reason), (None, None))
    same("it has no rows", (found.rows, found.messages), ((), 0))
    true("it began now", found.started is not None and found.started.utcoffset() is not None)
    plain = store.sessions.create()
    same("nothing asked", (plain.title, plain.source, plain.about, plain.settings), (None, "", {}, {}))


def nobody_shares_settings_with_the_store(store: Store) -> None:
    settings = {"list": [1]}
    session = store.sessions.create(settings=settings)
    settings["list"].append(2)
    session.settings["list"].append(3)
    store.sessions.get(session.id).settings["list"].append(4)
    same("settings", store.sessions.get(session.id).settings, {"list": [1]})


def a_session_counts_its_rows(store: Store) -> None:
    session = store.sessions.create()
    store.archive(session.conversation).extend([user("a"), user("b")])
    child = rotate(store, session.conversation)
    store.archive(session.conversation).append(user("c"))
    rows = [store.sessions.get(id).rows for id in (session.id, child.id)]
    same("rows of parent and child", rows, [(range(1, 3),), (range(3, 4),)])
    same("messages", store.sessions.get(session.id).messages, 2)


def a_session_is_found_by_id_prefix_title_and_last(store: Store) -> None:
    sessions = store.sessions
    one, two = sessions.create(title="my work"), sessions.create(title="other")
    store.archive(one.conversation).append(user("newest"))
    same("by id", sessions.find(two.id).id, two.id)
    same("by title", sessions.find(" my  work ").id, one.id)
    same("the one with the newest message", sessions.find("last").id, one.id)
    prefix = one.id[: next(at for at in range(len(one.id)) if one.id[at] != two.id[at]) + 1]
    same(f"by the unique prefix {prefix}", sessions.find(prefix).id, one.id)
    error = raises("an ambiguous prefix", NoSuchSession, partial(sessions.find, prefix[:-1]))
    true("the error names both", one.id in str(error) and two.id in str(error))


def what_is_not_there_is_not_found(store: Store) -> None:
    sessions = store.sessions
    for name in ("last", "x", ""):
        raises(f"find({name!r}) in an empty store", NoSuchSession, partial(sessions.find, name))
    session = sessions.create(title="work")
    for name in ("", " ", "%", "_", "work #2", "wor", "WORK", "\udc81", "a\x00b", f"{session.id}x", "' OR 1=1"):
        raises(f"find({name!r})", NoSuchSession, partial(sessions.find, name))
    for attempt in (sessions.get, sessions.tip, partial(sessions.rename, title="x"), partial(sessions.end, reason="x"), sessions.set):
        raises("a session that is not there", NoSuchSession, partial(attempt, "nothing"))
        raises("a session with an odd name", NoSuchSession, partial(attempt, "\udc81"))


def sessions_are_listed_newest_message_first(store: Store) -> None:
    sessions = store.sessions
    one, two, three = (sessions.create(title=title) for title in ("one", "two", "three"))
    for session in (two, one):
        store.archive(session.conversation).append(user("x"))
    child = rotate(store, one.conversation)
    same("all", [session.id for session in sessions.listed()], [child.id, one.id, two.id, three.id])
    same("the first two", [session.id for session in sessions.listed(limit=2)], [child.id, one.id])
    same("none", sessions.listed(limit=0), [])
    same("of one conversation, oldest first", [s.id for s in sessions.listed(conversation=one.conversation)], [one.id, child.id])
    same("of one conversation, the first", [s.id for s in sessions.listed(conversation=one.conversation, limit=1)], [one.id])
    same("of a conversation that is not there", sessions.listed(conversation="nothing"), [])


def sessions_of_a_working_directory_are_told_apart(store: Store) -> None:
    sessions = store.sessions
    here, there, odd = (sessions.create(about={"working_directory": path}) for path in ("/src/here", "/src/there", "/src/\udce9"))
    nowhere = sessions.create(about={"directory": "/src/here"})
    for session in (odd, nowhere, there, here):
        store.archive(session.conversation).append(user("x"))
    child = rotate(store, here.conversation)
    for directories, wanted in (
        (["/src/here"], [child.id, here.id]),
        (["/src/there", "/src/here"], [child.id, here.id, there.id]),
        (["/src/\udce9"], [odd.id]),
        (["/src", "/src/her", "/SRC/HERE", "/src/here/", "%", "'", "\x00", ""], []),
        ([], [child.id, here.id, there.id, nowhere.id, odd.id]),
    ):
        same(f"of {directories}", [session.id for session in sessions.listed(directories=directories)], wanted)
    same("the newest of two", [session.id for session in sessions.listed(directories=["/src/here"], limit=1)], [child.id])
    listed = partial(sessions.listed, directories=["/src/here"])
    same("the conversation too, oldest first", [session.id for session in listed(conversation=here.conversation)], [here.id, child.id])
    same("another conversation", listed(conversation=there.conversation), [])


def a_title_belongs_to_one_conversation(store: Store) -> None:
    sessions = store.sessions
    holder, other = sessions.create(title="my work"), sessions.create()
    text = f"Title 'my work' is already in use by session {holder.id}"
    for what, attempt in (
        ("rename", lambda: sessions.rename(other.id, " my\twork ")),
        ("create", lambda: sessions.create(title="my work")),
    ):
        error = raises(what, TitleTaken, attempt)
        true(f"{what} says who has it: {error}", str(error).startswith(text))
    same("nothing changed", [session.title for session in sessions.listed()], [None, "my work"])
    same("renamed to its own title", sessions.rename(holder.id, "my work").title, "my work")
    same("taken away", sessions.rename(holder.id, None).title, None)
    same("free for the other", sessions.rename(other.id, "my work").title, "my work")


def a_title_moves_from_an_ancestor(store: Store) -> None:
    parent = store.sessions.create(title="my work")
    child = rotate(store, parent.conversation)
    same("title of the child", store.sessions.rename(child.id, "my work").title, "my work")
    same("title of the parent", store.sessions.get(parent.id).title, None)
    same("found by it", store.sessions.find("my work").id, child.id)


def titles_are_cleaned(store: Store) -> None:
    session = store.sessions.create(title="x")
    for given, wanted in TITLES:
        same(f"title of {given!r}", store.sessions.rename(session.id, given).title, wanted)


TITLES = (
    ("  fix   the\tparser\n", "fix the parser"),
    ("a\u200bb\u202e\x00c\x1b[31m", "abc[31m"),
    ("bad \udc81 byte", "bad byte"),
    ("修复解析器 👩‍💻", "修复解析器 👩💻"),
    ("w" * 150, "w" * 100),
    (" \u200b\n", None),
    ("", None),
    (None, None),
)
"""As given, and as it is."""


def the_first_end_stays(store: Store) -> None:
    session = store.sessions.create()
    ended = store.sessions.end(session.id, "done")
    true("it ended", ended.ended is not None)
    same("a second end changes nothing", store.sessions.end(session.id, "again"), ended)
    same("the reason", ended.end_reason, "done")


def settings_change_one_by_one(store: Store) -> None:
    session = store.sessions.create(settings={"goal": "a", "keep": 1})
    same("set", store.sessions.set(session.id, goal="b", pins=[1, 2]).settings, {"goal": "b", "keep": 1, "pins": [1, 2]})
    same("taken away", store.sessions.set(session.id, goal=None, unknown=None).settings, {"keep": 1, "pins": [1, 2]})
    raises("what is no JSON", TypeError, lambda: store.sessions.set(session.id, keep={1}))
    same("after a failure", store.sessions.get(session.id).settings, {"keep": 1, "pins": [1, 2]})


def a_deleted_conversation_is_gone(store: Store) -> None:
    kept, gone = store.sessions.create(title="kept"), store.sessions.create(title="gone")
    for session in (kept, gone):
        store.archive(session.conversation).extend([user("a"), user("b")])
    child = rotate(store, gone.conversation)
    archive, views, state = store.archive(gone.conversation), store.views(gone.conversation), store.state(gone.conversation, "e")
    state.save({"n": 1})
    store.leases.acquire(gone.conversation, "A", 300.0)
    same("rows that it had", store.sessions.delete(gone.conversation), 2)
    for name in (gone.id, child.id, "gone", "gone #2"):
        raises(f"find({name!r})", NoSuchSession, partial(store.sessions.find, name))
    same("who holds its lease", store.leases.holder(gone.conversation), None)
    raises("its archive", NoSuchSession, lambda: store.archive(gone.conversation))
    raises("deleted again", NoSuchSession, lambda: store.sessions.delete(gone.conversation))
    raises("one more message", NoSuchSession, lambda: archive.append(user("late")))
    raises("one more view", NoSuchSession, lambda: views.publish(Publication(Ledger(), 0), expected=0))
    raises("one more state", NoSuchSession, lambda: state.save({}))
    same("what is left of it", (archive.read(1, 9), views.current(), views.history(), state.load()), ([], None, [], {}))
    same("the other one", store.archive(kept.conversation).read(1, 9), [user("a"), user("b")])
    title_is_free = store.sessions.create(title="gone")
    later = store.archive(title_is_free.conversation)
    later.append(user("new"))
    raises("one more message, when there is a new conversation", NoSuchSession, lambda: archive.append(user("late")))
    same("the new one", later.read(1, 9), [user("new")])
    same("the old one's archive, still held", (archive.range(), archive.read(1, 9), views.version()), ((0, 0), [], 0))


def closing_twice_is_fine(store: Store) -> None:
    raises("a message that JSON cannot hold", NotStorable, lambda: store.archive(store.sessions.create().id).append(user({1})))
    store.close()
    store.close()


CHECKS = (
    a_new_session_is_as_asked,
    nobody_shares_settings_with_the_store,
    a_session_counts_its_rows,
    a_session_is_found_by_id_prefix_title_and_last,
    what_is_not_there_is_not_found,
    sessions_are_listed_newest_message_first,
    sessions_of_a_working_directory_are_told_apart,
    a_title_belongs_to_one_conversation,
    a_title_moves_from_an_ancestor,
    titles_are_cleaned,
    the_first_end_stays,
    settings_change_one_by_one,
    a_deleted_conversation_is_gone,
    closing_twice_is_fine,
)
