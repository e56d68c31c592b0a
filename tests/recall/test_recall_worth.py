"""Which values the hook's text has room for: what is said again before what stands in one listing, each thing once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from host.messages.facts import facts_of, kept, told
from host.messages.facts.fact import FactKind
from host.messages.ledger import Entry, Kind, Ledger
from host.messages.searchable import searchable
from host.messages.types import Message
from host.recall.leaving import left_behind
from host.recall.spellings import ALIKE, groups_of, is_part
from host.recall.worth import MOST_OF_A_KIND, MOST_OF_A_ROW, Mentions, best_first
from host.store.memory import MemoryStore
from host.store.values import Publication
from host.testing.messages import assistant, call, result, user
from host.tokens.estimate import estimate_text

UUIDS = [f"{number:08x}-1111-4111-8111-{number:012x}" for number in range(40)]
PLENTY = 100_000  # tokens


def best(*messages: Message) -> list[str]:
    """The values of these rows, the one that is worth most first."""
    mentions, heard = Mentions(), []
    for row, message in enumerate(messages, start=1):
        facts = told(kept(facts_of(message)), searchable(message), row=row, role=message["role"])
        mentions.hear(message, facts)
        heard += facts
    return [each.told.fact.text for each in best_first(heard, mentions)]


def hook(*messages: Message, budget: int = 800) -> str:
    """The text after such a conversation."""
    store = MemoryStore()
    conversation = store.sessions.create().conversation
    store.archive(conversation).extend(messages)
    return left_behind(store, conversation, everything=True, budget=budget, count=estimate_text) or ""


def asked(tool: str, **arguments: str) -> Message:
    """An assistant that calls a tool and says nothing."""
    return assistant(None, [call("c1", tool, arguments)])


@pytest.mark.parametrize(
    ("better", "worse", "messages"),
    [
        ("docs/a1.md", "src/b2.py", [user("See docs/a1.md"), *[assistant("I look into src/b2.py now")] * 9]),
        ("src/often.py", "src/once.py", [assistant("src/often.py is it"), assistant("yes, src/often.py"), assistant("or src/once.py?")]),
        ("src/made.py", "src/read.py", [asked("write_file", path="src/made.py", content="x"), assistant("Then I read src/read.py here")]),
        ("src/changed.py", "src/read.py", [asked("Edit", file_path="src/changed.py"), asked("Read", file_path="src/read.py")]),
        (
            "src/patched.py",
            "src/read.py",
            [asked("apply_patch", input="*** Update File: src/patched.py\n@@"), asked("Read", path="src/read.py")],
        ),
        ("src/read.py", "src/listed.py", [asked("Read", path="src/read.py"), result("c1", "src/listed.py\n")]),
        ("ConnectionResetError", "src/listed.py", [result("c1", "ConnectionResetError\n"), result("c2", "src/listed.py\n")]),
    ],
    ids=["the user's", "said again", "written", "edited", "patched", "asked for", "an error"],
)
def test_what_is_worth_more_comes_first(better: str, worse: str, messages: Sequence[Message]) -> None:
    found = best(*messages)
    assert found.index(better) < found.index(worse)


@pytest.mark.parametrize(
    "text",
    [
        "It was Deleted/recreated there",
        "findings/amendments and fix/enhancement",
        "run it 2> /dev/null",
        "<steps>go on</steps>",
        "VERY IMPORTANT for me",
    ],
)
def test_what_says_nothing_by_itself_is_left_out(text: str) -> None:
    assert best(user(text)) == []


@pytest.mark.parametrize("path", ["docs/v2", "src/net/gate", "/etc/hosts", "docs/read.me", "~/notes", "_site/posts"])
def test_what_is_a_path_by_more_than_its_slash_stays(path: str) -> None:
    assert best(user(f"It is in {path} as always")) == [path]


def test_imports_of_code_are_no_paths_and_what_is_run_is_one() -> None:
    assert best(result("c1", "import { log } from '../../utils/logger.js';\n")) == []
    assert best(asked("terminal", command="./scripts/release.sh")) == ["./scripts/release.sh"]


def test_one_row_and_one_kind_do_not_fill_the_block_and_all_that_the_user_said_comes_first() -> None:
    assert len(best(result("c1", "\n".join(f"src/part{number}.py" for number in range(99))))) == MOST_OF_A_ROW
    rows = [result(f"c{number}", each) for number, each in enumerate(UUIDS)]
    assert len([each for each in best(*rows) if each in UUIDS]) == MOST_OF_A_KIND[FactKind.id]
    said = [f"src/part{number}.py" for number in range(30)]
    assert sorted(best(user("\n".join(said)))) == sorted(said)


def test_a_listing_of_ids_leaves_room_for_a_file_that_was_read_before() -> None:
    text = hook(asked("Read", path="src/gate.py"), *[result("c1", "\n".join(UUIDS))] * 3, budget=300)
    assert "src/gate.py" in text
    assert sum(text.count(each) for each in UUIDS) <= MOST_OF_A_KIND[FactKind.id]


def test_a_thing_is_told_once_however_it_is_spelled() -> None:
    messages = [
        asked("Read", file_path="/home/ann/shop/src/gate.py"),
        assistant("`src/gate.py` and gate.py are one file"),
        asked("Read", file_path="/home/ann/shop/src/gate.py"),
    ]
    assert best(*messages) == ["/home/ann/shop/src/gate.py"]
    assert best(user("look into @src/gate.py"), *messages) == ["@src/gate.py"]
    assert best(user("look into gate.py"), *messages) == ["/home/ann/shop/src/gate.py"]


def test_a_part_of_a_longer_value_is_not_told_again_but_for_the_users_own() -> None:
    listed = asked("terminal", command="cat ~/.shop/logs/today.log")
    log = [assistant("It is in ~/.shop/logs then"), assistant("yes, ~/.shop/logs it is"), listed]
    assert "~/.shop/logs [" not in hook(*log)
    assert "~/.shop/logs/today.log [3]" in hook(*log)
    assert "~/.shop/logs [1]" in hook(user("look into ~/.shop/logs"), *log)


def test_what_a_summary_names_in_another_spelling_is_not_told_and_what_it_has_the_bare_name_of_is() -> None:
    store = MemoryStore()
    conversation = store.sessions.create().conversation
    store.archive(conversation).extend(
        [asked("Read", path="/shop/src/gate.py"), assistant("so src/gate.py"), asked("Read", path="src/till.py")]
    )
    summary: Message = {"role": "user", "content": "src/gate.py was read, and till.py"}
    position = store.archive(conversation).append(summary)
    ledger = Ledger([Entry(summary, position, Kind.SUMMARY, (range(1, position),))])
    store.views(conversation).publish(Publication(ledger, position, trigger="import"), expected=0)
    text = left_behind(store, conversation, count=estimate_text) or ""
    assert "gate.py" not in text
    assert "src/till.py" in text


@pytest.mark.parametrize(
    ("text", "longer", "is_one"),
    [
        ("gate.py", "src/gate.py", True),
        ("196820da", "/x/196820da-1026.jsonl", True),
        ("src/gate.py", "src/gate.py", True),
        ("/clear", "src/clear", False),
        ("412", "4127", False),
        ("412", "4127 or 412", True),
        ("412", "", False),
        ("~/.shop", "~/.shopping", False),
    ],
)
def test_a_part_is_made_of_whole_words(text: str, longer: str, is_one: bool) -> None:
    assert is_part(text, longer) is is_one


@pytest.mark.parametrize(
    ("paths", "groups"),
    [
        (["a/b.py", "/x/a/b.py", "b.py"], [["a/b.py", "/x/a/b.py", "b.py"]]),
        (["b.py", "x/b.py", "y/b.py"], [["b.py"], ["x/b.py"], ["y/b.py"]]),
        (["~/.shop/a.json", "/home/ann/.shop/a.json"], [["~/.shop/a.json", "/home/ann/.shop/a.json"]]),
        (["@src/b.py", "src/b.py", "src/b.py/"], [["@src/b.py", "src/b.py", "src/b.py/"]]),
        (["/b.py", "/x/b.py"], [["/b.py"], ["/x/b.py"]]),
        (["../b.py", "x/b.py"], [["../b.py"], ["x/b.py"]]),
        (["", "/", "@", "~/"], None),
    ],
    ids=["three of one", "two ends", "home", "marks", "roots", "relative to what", "hardly any"],
)
def test_spellings_of_one_path_are_grouped(paths: list[str], groups: list[list[str]] | None) -> None:
    found = groups_of([(path, True) for path in paths])
    assert sorted(text for group in found for text in group) == sorted(paths)
    assert groups is None or found == groups


def test_other_values_are_alike_only_where_they_are_equal_and_many_files_of_one_name_stay_apart() -> None:
    assert groups_of([("a/b.py", True), ("b.py", False)]) == [["a/b.py"], ["b.py"]]
    many = [(f"/x{number}/index.ts", True) for number in range(3 * ALIKE)]
    assert len(groups_of([*many, ("index.ts", True)])) == 3 * ALIKE + 1
