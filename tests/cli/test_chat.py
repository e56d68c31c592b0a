"""``ctxhost chat`` through pipes, as a script meets it."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from host.cli.screen import Answer
from host.engine.outcome import Outcome
from host.loop.events import Answered, Compacted, Event, Said, Warned, Working
from host.testing.messages import assistant, tool_session
from tests.cli.conftest import Home

ROOT = Path(__file__).parents[2]
SCRIPT = [
    "Fine.",
    {"when": "hello", "text": "Hello."},
    {"when": "overload", "fail": "overloaded"},
    {"when": "rich", "text": "\x1b[2Jred\r\u202e"},
]
PLUGIN = """
from host.plugin import hookimpl

class Shout:
    name, summary = "shout", "Say it\\x1b[31m loud."

    def run(self, words):
        if words == "break":
            raise RuntimeError("no voice")
        return words.upper()

@hookimpl
def ctxhost_commands():
    return [Shout()]
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"steps": SCRIPT, "repeat": True}), "utf-8")
    return f"scripted:{path}"


def chat(home: Home, script: str, typed: str | bytes, *arguments: str, redirect: str = "") -> subprocess.CompletedProcess[bytes]:
    line = f"exec {sys.executable} -m host --home {home.path} chat --model {script} {' '.join(arguments)} {redirect}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    data = typed.encode("utf-8", "surrogateescape") if isinstance(typed, str) else typed
    return subprocess.run(
        ["bash", "-c", line], input=data, capture_output=True, cwd=home.path.parent, env=environment, check=False, timeout=60
    )


def sessions(home: Home) -> list[tuple[str | None, int]]:
    with home.opened() as store:
        return [(each.title, each.messages) for each in store.sessions.listed()]


def test_each_line_is_a_message_and_nothing_but_the_answers_is_on_standard_output(home: Home, script: str) -> None:
    done = chat(home, script, "hello\n\nhow are\\\nyou?\n")
    assert (done.returncode, done.stdout) == (0, b"Hello.\nFine.\n"), done.stderr
    with home.opened() as store:
        (kept,) = store.sessions.listed()
        said = [row.message["content"] for row in store.archive(kept.conversation).rows() if row.message and row.role == "user"]
    assert said == ["hello", "how are\nyou?"]


def test_a_session_without_a_message_leaves_no_trace(home: Home, script: str) -> None:
    assert chat(home, script, "").returncode == 0
    assert chat(home, script, "/new one\n/new two\n/status\n/exit\nnever read\n").returncode == 0
    assert sessions(home) == []


def test_an_empty_session_of_somebody_else_stays(home: Home, script: str) -> None:
    with home.opened() as store:
        store.sessions.create(title="kept")
    assert chat(home, script, "/new\n/resume kept\n", "--session", "kept").returncode == 0
    assert sessions(home) == [("kept", 0)]


def test_new_and_resume_change_the_session_of_what_is_said_next(home: Home, script: str) -> None:
    done = chat(home, script, "one\n/new work\ntwo\n/new work\nthree\n/resume nobody\n/resume work\nfour\n")
    assert done.returncode == 0
    assert b"already in use" in done.stderr and b"no session is called" in done.stderr
    assert set(sessions(home)) == {(None, 3), ("work", 7)}


def test_the_exit_status_is_that_of_the_last_message(home: Home, script: str) -> None:
    failed = chat(home, script, "hello\noverload\n")
    assert failed.returncode == 3 and b"Overloaded" in failed.stderr and b"Traceback" not in failed.stderr
    mended = chat(home, script, "/retry\nhello\n/resume nobody\n", "--session", "last")
    assert mended.returncode == 0
    assert b"/retry asks for it" in mended.stderr


def test_without_a_model_three_lines_say_how_to_set_one(
    home: Home, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert home.run("chat") == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4 and "scripted:FILE" in lines[3]
    assert not (home.path / "archive.db").exists()


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("/nosuch", "there is no command /nosuch"),
        ("/hepl", "did you mean /help"),
        ("/" + "x" * 500, "there is no command"),
        ("/\x1b[2J", "there is no command /\\x1b[2J"),
        ('/pin "', "No closing quotation"),
        ("/pin 99", "99 is no message"),
        ("/pin abc", "it goes: /pin "),
        ("/model", "scripted"),
        ("/undo", "no compaction to undo"),
        ("/undo --nonsense", "No such option"),
        ("/diff 5 9", "error"),
        ("/grep", "needs something to look for"),
        ("/grep --help", "0 hits"),
        ("/model scripted:/nowhere", "cannot be read"),
        ("/compress", "Not enough conversation"),
        ("/compress --aggressive", "Not enough conversation"),
        ("/status now", "scripted"),
        ("/help", "The model may call: lcm_grep"),
        ("overload", "/retry asks again"),
        ("/retry", "nothing is left unanswered"),
        ("/resume", "TITLE"),
        ("/resume \x00", "no session is called"),
    ],
)
def test_commands_with_wrong_and_hostile_words_are_told_and_the_chat_goes_on(home: Home, script: str, typed: str, told: str) -> None:
    done = chat(home, script, f"{typed}\nhello\n")
    assert told in (done.stdout + done.stderr).decode()
    assert b"Traceback" not in done.stderr and done.stdout.endswith(b"Hello.\n")
    assert done.returncode == 0


@pytest.mark.parametrize("typed", [b"caf\xe9 \xff\n", b"nul \x00 byte\n", b"x" * 300_000 + b"\n", b"no end of line", b"\r\n \t\nhi\r\n"])
def test_odd_bytes_are_messages(home: Home, script: str, typed: bytes) -> None:
    done = chat(home, script, typed)
    assert (done.returncode, done.stdout) == (0, b"Fine.\n"), done.stderr


def test_undo_diff_and_pin_are_of_the_window_that_goes_on(home: Home, script: str) -> None:
    conversation = home.talk("long", tool_session(60, seed=5))
    typed = "/compress\n/status\n/undo\n/status\n/diff 0 1\n/pin 2\n/pin\ngo on\n"
    done = chat(home, script, typed, "--session", "long", "--window", "8000")
    out = done.stdout.decode()
    assert done.returncode == 0, done.stderr
    assert "Compressed" in out and "is taken back by version" in out
    compacted, undone = (int(line.split(",")[-1].split()[0]) for line in out.splitlines() if line.startswith("window "))
    assert undone > compacted
    with home.opened() as store:
        assert [pin.position for pin in store.pins(conversation).all()] == [2]


def test_the_commands_of_plugins(home: Home, script: str) -> None:
    (home.path / "plugins" / "shout").mkdir(parents=True)
    (home.path / "plugins" / "shout" / "__init__.py").write_text(PLUGIN, "utf-8")
    (home.path / "config.yaml").write_text("plugins: {enabled: [shout]}\n", "utf-8")
    done = chat(home, script, "/help\n/shout quietly\n/shout break\nhello\n")
    out = done.stdout.decode()
    assert "QUIETLY\n" in out and "/shout failed: RuntimeError: no voice" in out and "/shout" in out.partition("/exit")[0], done.stderr
    assert "\x1b" not in out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device here")
def test_a_full_or_closed_standard_output_ends_the_chat_without_a_traceback(home: Home, script: str) -> None:
    full = chat(home, script, "hello\nhello\n", redirect=">/dev/full")
    assert full.returncode == 2 and b"standard output" in full.stderr and b"Traceback" not in full.stderr
    closed = chat(home, script, "hello\nhello\n", redirect="| head -c 0")
    assert b"Traceback" not in closed.stderr and b"Exception" not in closed.stderr
    assert chat(home, script, "", redirect="<&-").returncode == 0
    assert all(messages for _, messages in sessions(home))


class Screen(io.StringIO):
    """A terminal, as far as the code can see."""

    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, *events: Event, term: str = "xterm", columns: int = 40) -> tuple[str, str]:
    """What these events leave on standard output and standard error, both a terminal."""
    out, errors = Screen(), Screen()
    monkeypatch.setattr(sys, "stderr", errors)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setenv("COLUMNS", str(columns))
    screen = Answer(out, quiet=False, verbose=False)
    for event in events:
        screen.tell(event)
    screen.end()
    return out.getvalue(), errors.getvalue()


WORKING = [Working(f"summarising messages {number} of 400", number, 400) for number in (100, 200)]
DONE = Compacted(Outcome("preflight", 9_000, 3_000, 40, 12))


def test_how_far_a_compaction_is_stands_on_one_line_that_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    _, errors = shown(monkeypatch, *WORKING, DONE)
    first, second, rest = errors.split("\x1b[K", 2)
    assert first.startswith("\rCompacting context 25%") and second.startswith("\rCompacting context 50%")
    assert max(map(len, (first, second))) <= 40, "a narrow terminal does not wrap it"
    assert rest == "\r\x1b[Kcompacted: 9,000 → 3,000 tokens\n"


def test_where_a_line_cannot_be_rewritten_it_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    _, errors = shown(monkeypatch, *WORKING, DONE, term="dumb")
    assert [line.partition(":")[0] for line in errors.splitlines()] == ["Compacting context 25%", "compacted"]


def test_the_line_of_a_compaction_goes_before_the_answer_and_at_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, *WORKING)[1].endswith("\x1b[K\r\x1b[K")
    out, errors = shown(monkeypatch, WORKING[0], Said("Yes."))
    assert out == "Yes.\n" and errors.endswith("\r\x1b[K")


@pytest.mark.parametrize("text", ["\x1b[2J", "\x1b]0;title\x07", "a\rb", "\u202eabc", "\x9b31m", "\ud800", "\x00"])
def test_a_terminal_is_never_commanded(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    for events in ([Said(text), Said(text)], [Answered(assistant(text), None)], [Warned(text)]):
        shows = "".join(shown(monkeypatch, *events))
        assert all(char.isprintable() or char == "\n" for char in shows), repr(shows)


def test_emoji_line_ends_and_tabs_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, Said("👩\u200d💻\tone\r\ntwo"))[0] == "👩\u200d💻\tone\ntwo\n"
    assert shown(monkeypatch, Said("5\xa0€,\u3000全角"))[0] == "5\xa0€,\u3000全角\n"


def test_a_character_in_two_halves_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, Said("so \ud83d"), Said("\ude00 well"))[0] == "so 😀 well\n"
    assert shown(monkeypatch, Said("so \ud83d"))[0] == "so ?\n"


def test_a_model_of_which_nothing_is_known_is_told_so(home: Home) -> None:
    home.path.mkdir(exist_ok=True)
    (home.path / "config.yaml").write_text("model: {name: gpt-4o, base_url: 'http://127.0.0.1:9/v1'}", "utf-8")
    done = chat(home, "gpt-4o", "/model nope\n/status\n/model gpt-4.1\n")
    first, second, *status, third = done.stdout.decode().splitlines()
    assert "guessed; set model.context_length" in "\n".join(status)
    assert first == "nope answers from now on, window 128,000 tokens (guessed; set model.context_length)"
    assert "nothing is known" in second and third.startswith("gpt-4.1 answers from now on, window 1,")
