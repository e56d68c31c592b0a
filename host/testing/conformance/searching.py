"""Checks of search: what a plain reading of the messages finds, newest first (design, The store)."""

from __future__ import annotations

from host.errors import UsageError
from host.store.protocols import Store
from host.store.query import Mode, Query
from host.testing.conformance.expecting import raises, same, true
from host.testing.conformance.odd import assistant, call, user
from host.testing.conformance.sessions import rotate

SPOKEN = (
    user("The port is 8443, see src/parser.py:42"),
    user("请把网关的超时改成三十秒"),
    assistant("nul \x00 inside and a bad \udc81 byte"),
    assistant(None, tool_calls=[call("c1", "terminal", '{"command": "grep -rn \\"Straße\\" src"}')]),
    user([{"type": "text", "text": "PORT again 👩‍💻"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,cG9ydA=="}}]),
)
FOUND: tuple[tuple[Mode, str, list[int]], ...] = (
    (Mode.LITERAL, "port", [5, 1]),
    (Mode.LITERAL, "parser.py:42", [1]),
    (Mode.LITERAL, "关", [2]),
    (Mode.LITERAL, "👩‍💻", [5]),
    (Mode.LITERAL, "\udc81 byte", [3]),
    (Mode.LITERAL, 'grep -rn "STRASSE"', [4]),
    (Mode.LITERAL, "cG9ydA", []),
    (Mode.LITERAL, "%", []),
    (Mode.WORDS, "see port", [1]),
    (Mode.REGEX, r"8\d{3}", [1]),
    (Mode.REGEX, "^PORT", [5]),
    (Mode.AUTO, "inside nul", [3]),
)
"""How it is looked for, what, and the positions that are found."""


def search_finds_what_reading_finds(store: Store) -> None:
    session = store.sessions.create(title="work")
    archive = store.archive(session.conversation)
    archive.extend(SPOKEN)
    for mode, text, wanted in FOUND:
        page = store.search.find(Query(text, mode))
        same(f"{mode} {text!r}", [hit.position for hit in page.hits], wanted)
        true(f"{mode} {text!r} says that nothing is left", page.complete)
    same("rows of the archive", archive.search("port"), [(5, SPOKEN[4]), (1, SPOKEN[0])])
    same("the newest one alone", archive.search("port", limit=1), [(5, SPOKEN[4])])
    hit = store.search.find(Query("8443")).hits[0]
    same("a hit", (hit.conversation, hit.session, hit.title, hit.role), (session.conversation, session.id, "work", "user"))
    same("what is marked in its excerpt", [hit.excerpt[start:end] for start, end in hit.spans], ["8443"])


def search_keeps_to_its_conversation(store: Store) -> None:
    one, two = store.sessions.create(), store.sessions.create()
    for session in (one, two, one):
        store.archive(session.conversation).append(user("the needle"))
    same("everywhere", len(store.search.find(Query("needle")).hits), 3)
    same("in one", [hit.position for hit in store.search.find(Query("needle", conversation=one.conversation)).hits], [2, 1])
    same("in the other's archive", [position for position, _ in store.archive(two.conversation).search("needle")], [1])
    store.sessions.delete(one.conversation)
    same("after the one was deleted", [hit.conversation for hit in store.search.find(Query("needle")).hits], [two.conversation])


def search_keeps_to_its_working_directories(store: Store) -> None:
    places = ("/src/here", "/src/there", "/src/\udce9")
    here, there, odd = (store.sessions.create(about={"working_directory": path}).conversation for path in places)
    nowhere = store.sessions.create().conversation
    for conversation in (here, there, odd, nowhere):
        store.archive(conversation).append(user("the needle"))
    rotate(store, here)
    store.archive(here).append(user("another needle"))
    for directories, wanted in (
        (("/src/here",), [here, here]),
        (("/src/there", "/src/here", "/nowhere"), [here, there, here]),
        (("/src/\udce9",), [odd]),
        (("/src", "/SRC/HERE", ""), []),
        ((), [here, nowhere, odd, there, here]),
    ):
        for mode in (Mode.LITERAL, Mode.WORDS, Mode.REGEX):
            page = store.search.find(Query("needle", mode, directories=directories))
            same(f"{mode} in {directories}", [hit.conversation for hit in page.hits], wanted)
            true(f"{mode} in {directories} says that nothing is left", page.complete)
    ranked = store.search.find(Query("needle", Mode.RANKED, directories=("/src/there",)))
    same("the best ones", [hit.conversation for hit in ranked.hits], [there])
    same("in a conversation of another one", store.search.find(Query("needle", conversation=there, directories=("/src/here",))).hits, ())
    first = store.search.find(Query("needle", directories=("/src/here",), limit=1))
    second = store.search.find(Query("needle", directories=("/src/here",), limit=1, cursor=first.cursor))
    same("page by page", [[hit.position for hit in page.hits] for page in (first, second)], [[2], [1]])


def search_sees_what_was_just_said(store: Store) -> None:
    archive = store.archive(store.sessions.create().conversation)
    for number in range(5):
        archive.append(user(f"needle {number}"))
        same("how many are found", len(store.search.find(Query("needle")).hits), number + 1)
    same("rows that are not indexed", store.search.catch_up(), 0)
    archive.append(user("needle, mended"), replaces=2)
    found = [(hit.position, hit.superseded) for hit in store.search.find(Query("needle")).hits]
    same("all versions, the newest first", found, [(6, False), (5, False), (4, False), (3, False), (2, True), (1, False)])


def search_goes_on_page_by_page(store: Store) -> None:
    archive = store.archive(store.sessions.create().conversation)
    archive.extend([user(f"needle {number}") for number in range(7)])
    first = store.search.find(Query("needle", limit=3))
    archive.append(user("needle, later"))
    second = store.search.find(Query("needle", limit=3, cursor=first.cursor))
    third = store.search.find(Query("needle", limit=3, cursor=second.cursor))
    same("positions", [[hit.position for hit in page.hits] for page in (first, second, third)], [[7, 6, 5], [4, 3, 2], [1]])
    same("complete", [page.complete for page in (first, second, third)], [False, False, True])


def what_is_said_later_is_on_no_later_page(store: Store) -> None:
    store.archive(store.sessions.create().conversation).extend([user(f"needle {number}") for number in range(4)])
    doomed = store.sessions.create().conversation
    store.archive(doomed).extend([user(f"doomed needle {number}") for number in range(4)])
    first = store.search.find(Query("needle", limit=2))
    store.sessions.delete(doomed)
    store.archive(store.sessions.create().conversation).extend([user(f"later needle {number}") for number in range(4)])
    second = store.search.find(Query("needle", cursor=first.cursor))
    same("the second page", [hit.excerpt for hit in second.hits], [f"needle {number}" for number in (3, 2, 1, 0)])


def no_text_is_an_error(store: Store) -> None:
    store.archive(store.sessions.create().conversation).append(user("x"))
    for text in ("", " ", '"', "'", "OR", "AND NOT", "a* NEAR(b", "-x", "\x00", "\udc81", "(", "%_", "x" * 5_000):
        for mode in (Mode.AUTO, Mode.LITERAL, Mode.WORDS, Mode.RANKED):
            store.search.find(Query(text, mode))
    raises("a pattern that is none", UsageError, lambda: store.search.find(Query("(", Mode.REGEX)))


CHECKS = (
    search_finds_what_reading_finds,
    search_keeps_to_its_conversation,
    search_keeps_to_its_working_directories,
    search_sees_what_was_just_said,
    search_goes_on_page_by_page,
    what_is_said_later_is_on_no_later_page,
    no_text_is_an_error,
)
