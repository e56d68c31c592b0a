"""What becomes of a client's file as text: our entry is in, every other byte is as it was."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from os.path import commonprefix
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from host.mcp.connect.obstacles import Obstacle, Taken
from host.mcp.connect.parts import Entry, Hook, Part, Server

OURS: Entry = {"command": "/bin/ctxhost", "args": ["mcp"]}
JSON = Server("json", "mcpServers", OURS)
TOML = Server("toml", "mcp_servers", OURS)
HOOK = Hook("/bin/ctxhost mcp recall --hook")
TABLE = '[mcp_servers.ctxhost]\ncommand = "/bin/ctxhost"\nargs = ["mcp"]\n'
ENTRY = '"ctxhost": {\n      "command": "/bin/ctxhost",\n      "args": [\n        "mcp"\n      ]\n    }'
ENTRY_INLINE = '"ctxhost": {"command": "/bin/ctxhost", "args": ["mcp"]}'

INTO_JSON = {
    "empty file": ("", '{\n  "mcpServers": {\n    ' + ENTRY + "\n  }\n}\n"),
    "blank file": (" \n", '{\n  "mcpServers": {\n    ' + ENTRY + "\n  }\n}\n"),
    "empty object": ("{}", '{\n  "mcpServers": {\n    ' + ENTRY + "\n  }\n}"),
    "no servers yet": (
        '{\n  "a": 1.0\n}\n',
        '{\n  "a": 1.0,\n  "mcpServers": {\n    ' + ENTRY + "\n  }\n}\n",
    ),
    "empty servers": (
        '{\n  "mcpServers": {},\n  "b": 1e400\n}',
        '{\n  "mcpServers": {\n    ' + ENTRY + '\n  },\n  "b": 1e400\n}',
    ),
    "another server, its own layout kept": (
        '{\n  "mcpServers": {\n    "x": { "command":"npx" }\n  },\n  "z": [1,2]}',
        '{\n  "mcpServers": {\n    "x": { "command":"npx" },\n    ' + ENTRY + '\n  },\n  "z": [1,2]}',
    ),
    "four spaces": (
        '{\n    "a": 1\n}',
        '{\n    "a": 1,\n    "mcpServers": {\n        '
        + ENTRY.replace("\n    ", "\n        ")
        .replace('\n          "command', '\n            "command')
        .replace('\n          "args', '\n            "args')
        .replace('\n            "mcp"', '\n                "mcp"')
        .replace("\n          ]", "\n            ]")
        + "\n    }\n}",
    ),
    "one line": ('{"a": 1, "b": "é"}', '{"a": 1, "b": "é", "mcpServers": {' + ENTRY_INLINE + "}}"),
    "one line without spaces": (
        '{"a":1,"mcpServers":{"x":{}}}',
        '{"a":1,"mcpServers":{"x":{},"ctxhost":{"command":"/bin/ctxhost","args":["mcp"]}}}',
    ),
    "windows line ends": ('{\r\n  "a": 1\r\n}\r\n', ('{\n  "a": 1,\n  "mcpServers": {\n    ' + ENTRY + "\n  }\n}\n").replace("\n", "\r\n")),
    "another installation, what the user added stays": (
        '{"mcpServers": {"ctxhost": {"command": "/old/ctxhost", "args": ["mcp"], "env": {"K": "v"}}}}',
        '{"mcpServers": {"ctxhost": {"command": "/bin/ctxhost", "args": ["mcp"], "env": {"K": "v"}}}}',
    ),
    "by way of uvx": (
        '{"mcpServers": {"ctxhost": {"command": "uvx", "args": ["ctxhost", "mcp"]}}}',
        '{"mcpServers": {"ctxhost": {"command": "/bin/ctxhost", "args": ["mcp"]}}}',
    ),
    "the last of two equal keys counts": (
        '{"mcpServers": {"a": {}}, "mcpServers": {"b": {}}}',
        '{"mcpServers": {"a": {}}, "mcpServers": {"b": {}, ' + ENTRY_INLINE + "}}",
    ),
    "escapes and lone surrogates": (
        '{"a\\u00e9": "\\ud800", "b": "\\u0000"}',
        '{"a\\u00e9": "\\ud800", "b": "\\u0000", "mcpServers": {' + ENTRY_INLINE + "}}",
    ),
    "a number too long for a number": (
        '{"a": ' + "9" * 5_000 + "}",
        '{"a": ' + "9" * 5_000 + ', "mcpServers": {' + ENTRY_INLINE + "}}",
    ),
}

INTO_TOML = {
    "empty file": ("", TABLE),
    "other settings": ('model = "x"  # mine\n', 'model = "x"  # mine\n\n' + TABLE),
    "no final newline": ("[a]\nb = 1", "[a]\nb = 1\n\n" + TABLE),
    "windows line ends": ("# c\r\n[a]\r\nb = 1\r\n", "# c\r\n[a]\r\nb = 1\r\n\r\n" + TABLE.replace("\n", "\r\n")),
    "another server": ('[mcp_servers.x]\ncommand = "y"\n', '[mcp_servers.x]\ncommand = "y"\n\n' + TABLE),
    "arrays of tables": ("[[a]]\nb = 1\n[[a]]\nb = nan\n", "[[a]]\nb = 1\n[[a]]\nb = nan\n\n" + TABLE),
    "dotted keys of another server": ('mcp_servers.x.command = "y"\n', 'mcp_servers.x.command = "y"\n\n' + TABLE),
    "a header inside a string": ('a = """\n[mcp_servers.ctxhost]\n"""\n', 'a = """\n[mcp_servers.ctxhost]\n"""\n\n' + TABLE),
    "another installation": (
        '[mcp_servers.ctxhost]  # memory\nargs = [\n  "mcp",  # serve\n  "--scope", "all",\n]\ncommand = "/old/ctxhost"\n'
        "startup_timeout_sec = 20\n# below\n[b]\nc = 1979-05-27T07:32:00Z\n",
        '[mcp_servers.ctxhost]  # memory\nargs = ["mcp"]\ncommand = "/bin/ctxhost"\nstartup_timeout_sec = 20\n'
        "# below\n[b]\nc = 1979-05-27T07:32:00Z\n",
    ),
    "another installation, quoted and with a table below": (
        '[ mcp_servers . "ctxhost" ]\ncommand = "/old/ctxhost"\nargs = ["mcp"]\n[mcp_servers.ctxhost.env]\nK = "v"\n',
        '[ mcp_servers . "ctxhost" ]\ncommand = "/bin/ctxhost"\nargs = ["mcp"]\n[mcp_servers.ctxhost.env]\nK = "v"\n',
    ),
    "dotted keys of ours": (
        'mcp_servers.ctxhost.command = "/old/ctxhost"\nmcp_servers.ctxhost.args = ["mcp"]',
        'mcp_servers.ctxhost.command = "/bin/ctxhost"\nmcp_servers.ctxhost.args = ["mcp"]',
    ),
    "keys below their parent's header": (
        '[mcp_servers]\nctxhost.command = "ctxhost"\nctxhost.args = ["mcp"]\n\n[z]\n',
        '[mcp_servers]\nctxhost.command = "/bin/ctxhost"\nctxhost.args = ["mcp"]\n\n[z]\n',
    ),
    "no arguments said": (
        '[mcp_servers.ctxhost]\ncommand = "ctxhost"\nargs = ["mcp", "--scope", "all"]',
        '[mcp_servers.ctxhost]\ncommand = "/bin/ctxhost"\nargs = ["mcp"]',
    ),
}

HOOKS = {
    "others in the same list": '{"hooks": {"SessionStart": [{"matcher": "compact", "hooks": [{"type": "x", "command": "mine"}]}]}}',
    "other events": '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": []}\n\t\t]\n\t},\n\t"env": {"A": "b"}\n}',
    "no hooks": '{"model": "x"}',
    "an empty list": '{"hooks": {"SessionStart": []}}',
    "an odd group": '{"hooks": {"SessionStart": [null, "x", {"hooks": "y"}, {"hooks": [1, {"command": 2}, {"command": "open \'quote"}]}]}}',
}

REFUSED = {
    "comments": (JSON, '{\n  // mine\n  "mcpServers": {}\n}', 2, "comments would be lost"),
    "block comment": (JSON, '{"a": 1,\n\n /* b */ "c": 2}', 3, "comments would be lost"),
    "trailing comma": (JSON, '{\n "a": 1,\n}', 3, "this is no JSON"),
    "half a file": (JSON, '{\n "a": {"b":', 2, "this is no JSON"),
    "not a number": (JSON, '{"a": NaN}', 1, "NaN is no JSON"),
    "a list": (JSON, "\n[]", 2, "expected an object"),
    "servers are a list": (JSON, '{\n\n"mcpServers": []}', 3, "expected an object"),
    "servers are null": (JSON, '{"mcpServers": null}', 1, "expected an object"),
    "hooks are a list": (HOOK, '{"a": 1,\n"hooks": []}', 2, "expected an object"),
    "hooks of the event are no list": (HOOK, '{"hooks": {"SessionStart": {}}}', 1, "expected a list"),
    "nested too deeply": (JSON, '{"a":' + "[" * 200_000, 1, "nested too deeply"),
    "broken table": (TOML, "a = 1\nb =\n", 2, "this is no TOML"),
    "open string": (TOML, 'a = 1\nb = """\n', 2, "this is no TOML"),
    "servers in one line": (TOML, "\nmcp_servers = {x = {command = 'y'}}\n", 2, "nothing can be added"),
    "ours in one line": (TOML, "[mcp_servers]\nctxhost = {command = 'ctxhost', args = ['mcp', '-x']}\n", 2, "not written as a table"),
    "an array of servers": (TOML, "[[mcp_servers]]\na = 1\n", 1, "nothing can be added"),
}


@pytest.mark.parametrize("before, after", INTO_JSON.values(), ids=list(INTO_JSON))
def test_a_server_goes_into_json(before: str, after: str) -> None:
    assert JSON.into(before) == after
    assert JSON.into(after) == after, "a second time changes nothing"


@pytest.mark.parametrize("before, after", INTO_TOML.values(), ids=list(INTO_TOML))
def test_a_server_goes_into_toml(before: str, after: str) -> None:
    assert TOML.into(before) == after
    assert TOML.into(after) == after, "a second time changes nothing"


@pytest.mark.parametrize(
    "before", [before for before, _ in INTO_TOML.values() if "ctxhost.command" not in before and "ctxhost" not in before]
)
def test_what_went_into_toml_comes_out_again(before: str) -> None:
    rest = TOML.out_of(TOML.into(before))
    assert rest.rstrip() == before.rstrip()
    assert repr(tomllib.loads(rest)) == repr(tomllib.loads(before))


def test_a_table_comes_out_with_what_the_client_put_below_it() -> None:
    text = f'a = 1\n\n{TABLE}startup_timeout_sec = 5\n\n[mcp_servers.ctxhost.tools.lcm_grep]\napproval_mode = "approve"\n\n[z]\n'
    assert TOML.out_of(text) == "a = 1\n\n[z]\n"


@pytest.mark.parametrize("before", HOOKS.values(), ids=list(HOOKS))
def test_a_hook_goes_in_beside_others_and_comes_out(before: str) -> None:
    after = HOOK.into(before)
    group = json.loads(after)["hooks"]["SessionStart"][-1]
    assert group == {"matcher": "compact", "hooks": [{"type": "command", "command": HOOK.command, "timeout": 30}]}
    assert HOOK.into(after) == after
    assert json.loads(HOOK.out_of(after, HOOK.made_in(before))) == json.loads(before)


def test_a_hook_of_another_installation_is_updated_where_it_is() -> None:
    other = ', {"command": "/o/ctxhost mcp recall --hook", "timeout": 5}'
    text = '{"hooks": {"SessionStart": [{"matcher": "", "hooks": [{"command": "mine"}' + other + "]}]}}"
    after = HOOK.into(text)
    assert after == text.replace("/o/ctxhost", "/bin/ctxhost")
    assert HOOK.out_of(after) == text.replace(other, "")


@pytest.mark.parametrize("part, text, line, why", REFUSED.values(), ids=list(REFUSED))
def test_what_cannot_be_changed_safely_is_named_with_its_line(part: Part, text: str, line: int, why: str) -> None:
    with pytest.raises(Obstacle) as caught:
        part.into(text)
    assert caught.value.line == line
    assert why in caught.value.why


BY_HAND = {
    "servers in one line": ("mcp_servers = {x = {command = 'y'}}\n", "}}\n", "}, HERE}\n"),
    "no servers in one line": ("a = 1\nmcp_servers = {}\n", "{}", "{HERE}"),
    "ours in one line": (
        "[mcp_servers]\nctxhost = {command = 'ctxhost', args = ['mcp', '-x'], env = {'K.1' = \"v\"}, on = true}\n",
        None,
        "",
    ),
    "no obstacle": ("a = 1\n", "a = 1", "a = 1\nHERE"),
}


@pytest.mark.parametrize("text, spot, put", BY_HAND.values(), ids=list(BY_HAND))
def test_what_is_to_be_put_in_by_hand_fits_there(text: str, spot: str | None, put: str) -> None:
    told = TOML.by_hand(text)
    line = told.split("\n", 1)[1] if told.startswith("#") else told
    done = text.replace(spot, put.replace("HERE", line)) if spot else f"[mcp_servers]\n{line}\n"
    found = tomllib.loads(done)["mcp_servers"]["ctxhost"]
    assert {**found, **OURS} == found
    assert ("env" in found) == ("env" in text) and found.get("env", {"K.1": "v"}) == {"K.1": "v"}


def test_what_fits_nowhere_is_said() -> None:
    assert "once mcp_servers is a table" in TOML.by_hand("[[mcp_servers]]\na = 1\n")
    assert TOML.by_hand("a = ") == TABLE.rstrip()


FOREIGN = {
    "json": (JSON, '{\n"mcpServers": {\n"ctxhost": {"command": "docker", "args": ["run", "x"]}}}', 3),
    "json, no entry": (JSON, '{"mcpServers": {"ctxhost": "x"}}', 1),
    "json, remote": (JSON, '{"mcpServers": {"ctxhost": {"url": "http://localhost/"}}}', 1),
    "toml": (TOML, 'a = 1\n[mcp_servers.ctxhost]\nurl = "http://localhost/"\n', 2),
}


@pytest.mark.parametrize("part, text, line", FOREIGN.values(), ids=list(FOREIGN))
def test_an_entry_of_that_name_that_is_not_ours_is_replaced_by_force_only(part: Server, text: str, line: int) -> None:
    with pytest.raises(Taken) as caught:
        part.into(text)
    assert caught.value.line == line
    assert part.out_of(text) == text, "nor is it taken out"
    assert part.is_in(replace(part, replaces=True).into(text))


KEYS = st.text(max_size=6) | st.sampled_from(["mcpServers", "hooks", "SessionStart", "ctxhost"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=8)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=5)
LAYOUTS: list[dict[str, Any]] = [
    {},
    {"indent": 2},
    {"indent": "\t"},
    {"indent": 0},
    {"separators": (",", ":")},
    {"ensure_ascii": False, "indent": 4},
]


@given(DOCUMENTS, st.sampled_from(LAYOUTS), st.sampled_from([JSON, HOOK]), st.booleans())
def test_ours_is_put_between_two_parts_of_the_text_and_comes_out_again(
    document: dict[str, Any], layout: dict[str, Any], part: Part, windows: bool
) -> None:
    assume("ctxhost" not in _keys(document.get("mcpServers")))
    before = json.dumps(document, **layout).replace("\n", "\r\n" if windows else "\n")
    try:
        after = part.into(before)
    except Obstacle:
        assert _is_in_the_way(document, part)
        return
    kept = len(commonprefix([before, after]))  # noqa: RUF071  characters are meant
    assert after.endswith(before[kept:]), "nothing but an insertion"
    assert part.is_in(after)
    assert "\r\n" not in before or "\n" not in after.replace("\r\n", ""), "one kind of line ends"
    assert part.out_of(after, part.made_in(before)) == before


def _keys(value: object) -> list[str]:
    return list(value) if isinstance(value, dict) else []


def _is_in_the_way(document: dict[str, Any], part: Part) -> bool:
    """Whether something else than a container is where ours would go."""
    if isinstance(part, Server):
        return "mcpServers" in document and not isinstance(document["mcpServers"], dict)
    hooks = document.get("hooks")
    return "hooks" in document and not (isinstance(hooks, dict) and isinstance(hooks.get("SessionStart", []), list))
