"""``ctxhost chat`` in front of somebody: a pseudo-terminal, keys, Ctrl-C."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from host.messages.violations import violations
from tests.cli.conftest import Home

pty = pytest.importorskip("pty")
ROOT = Path(__file__).parents[2]
SCRIPT = """
repeat: true
steps:
  - {when: hello, text: "Hello."}
  - {when: slow, wait: 60, text: never}
  - {when: clear, text: "\\e[2Jgone\\e]0;title\\a"}
  - Fine.
"""


class Terminal:
    """A chat in a terminal of its own: ``types`` and ``sees``."""

    def __init__(self, home: Home, *arguments: str, **environment: str) -> None:
        path = home.path.parent / "script.yaml"
        path.write_text(SCRIPT, "utf-8")
        self.master, slave = pty.openpty()
        command = [sys.executable, "-m", "host", "--home", str(home.path), "chat", "--model", f"scripted:{path}", *arguments]
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "LC_ALL": "C.UTF-8", **environment}
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=home.path.parent,
            env=environ,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(slave)
        self.seen = ""
        self._at = 0

    def types(self, keys: str | bytes) -> None:
        os.write(self.master, keys.encode() if isinstance(keys, str) else keys)

    def sees(self, wanted: str) -> str:
        """Wait until this is shown, behind what was waited for before; returns all between."""
        until = time.monotonic() + 60
        while (found := self.seen.find(wanted, self._at)) < 0:
            assert time.monotonic() < until, f"{wanted!r} is not in {self.seen[self._at :]!r}"
            self._read()
        before, self._at = self.seen[self._at : found], found + len(wanted)
        return before

    def prompts(self) -> str:
        """Wait until it can be typed: Python misses an interrupt in the moment between the prompt and the first look for keys."""
        before = self.sees("> ")
        time.sleep(0.3)
        return before

    def ends(self) -> int:
        """Read to the end; the exit status."""
        until = time.monotonic() + 60
        while self.process.poll() is None:
            assert time.monotonic() < until, f"it goes on: {self.seen[self._at :]!r}"
            self._read()
        return self.process.returncode

    def _read(self) -> None:
        if select.select([self.master], [], [], 0.1)[0]:
            try:
                self.seen += os.read(self.master, 65_536).decode("utf-8", "replace")
            except OSError:  # the other side is closed
                self.process.wait(timeout=30)


def _own_terminal() -> None:
    import fcntl
    import termios

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # whoever runs the tests may ignore it
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal(home: Home) -> Iterator[Terminal]:
    opened = Terminal(home)
    yield opened
    if opened.process.poll() is None:
        opened.process.kill()
        opened.process.wait()
    os.close(opened.master)


def waits_for_an_answer(home: Home) -> None:
    """Until the message is archived, and the model asked a moment later."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with home.opened() as store:
            if any(row.role == "user" for each in store.sessions.listed() for row in store.archive(each.conversation).rows()):
                break
        time.sleep(0.1)
    time.sleep(0.2)


def kept(home: Home) -> list[tuple[str, object]]:
    with home.opened() as store:
        (session,) = store.sessions.listed()
        messages = [row.message for row in store.archive(session.conversation).rows() if row.message is not None]
    assert violations(messages) == []
    return [(message["role"], message["content"]) for message in messages[1:]]


def test_it_greets_answers_shows_how_things_stand_and_ends_with_control_d(home: Home, terminal: Terminal) -> None:
    terminal.sees("Ctrl-D ends the chat")
    terminal.prompts()
    terminal.types("hello\n")
    terminal.sees("Hello.")
    terminal.sees("scripted | ")
    terminal.prompts()
    terminal.types("\x04")
    assert terminal.ends() == 0
    assert (home.path / "chat-history").stat().st_mode & 0o777 == 0o600
    assert "hello" in (home.path / "chat-history").read_text("utf-8")


def test_control_c_drops_a_line_stops_an_answer_and_the_chat_goes_on(home: Home, terminal: Terminal) -> None:
    terminal.prompts()
    terminal.types("half a li\x03")
    terminal.prompts()
    terminal.types("slow\n")
    waits_for_an_answer(home)
    terminal.types("\x03")
    terminal.sees("interrupted")
    terminal.prompts()
    terminal.types("\x03")
    terminal.types("\x03")
    terminal.prompts()
    terminal.types("hello\n")
    terminal.sees("Hello.")
    terminal.types("/exit\n")
    assert terminal.ends() == 0
    assert kept(home) == [("user", "slow"), ("user", "hello"), ("assistant", "Hello.")]


def test_two_quick_interrupts_in_an_answer_leave_a_chat_that_goes_on(home: Home, terminal: Terminal) -> None:
    terminal.prompts()
    terminal.types("slow\n")
    waits_for_an_answer(home)
    terminal.types("\x03\x03")
    terminal.sees("interrupted")
    terminal.prompts()
    terminal.types("hello\n")
    terminal.sees("Hello.")
    terminal.prompts()
    terminal.types("\x04")
    assert terminal.ends() == 0


def test_tab_completes_commands_and_sessions(home: Home) -> None:
    home.talk("harbour")
    terminal = Terminal(home)
    try:
        terminal.prompts()
        terminal.types("/stat\t\n")
        terminal.sees("threshold")
        terminal.prompts()
        terminal.types("/resume harb\t\n")
        terminal.sees("messages in the window")
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.master)


def test_a_pasted_text_of_several_lines_is_one_message(home: Home, terminal: Terminal) -> None:
    terminal.prompts()
    terminal.types("\x1b[200~one\ntwo\x1b[201~")
    time.sleep(0.3)
    terminal.types("\n")
    terminal.sees("Fine.")
    terminal.prompts()
    terminal.types("three\\\n")
    terminal.sees("... ")
    terminal.types("four\n")
    terminal.sees("Fine.")
    terminal.prompts()
    terminal.types("\x04")
    assert terminal.ends() == 0
    assert [words for role, words in kept(home) if role == "user"] == ["one\ntwo", "three\nfour"]


def test_bytes_that_are_no_text_and_an_answer_that_commands_the_terminal(home: Home, terminal: Terminal) -> None:
    terminal.prompts()
    terminal.types(b"caf\xe9 clear\n")
    answer = terminal.sees("gone")
    assert "[2J" in answer and "\x1b[2J" not in answer
    assert "\x1b]0;" not in terminal.prompts()
    terminal.types("\x04")
    assert terminal.ends() == 0


def test_an_order_to_end_is_obeyed_in_the_middle_of_an_answer(home: Home, terminal: Terminal) -> None:
    terminal.prompts()
    terminal.types("slow\n")
    waits_for_an_answer(home)
    terminal.process.send_signal(signal.SIGTERM)
    assert terminal.ends() == 128 + signal.SIGTERM
    assert "Traceback" not in terminal.seen
    assert kept(home) == [("user", "slow")]


def test_no_color_and_a_narrow_terminal(home: Home) -> None:
    terminal = Terminal(home, NO_COLOR="1", COLUMNS="20")
    try:
        terminal.prompts()
        terminal.types("/help\n")
        shown = terminal.sees("The model may call")
        assert not re.search("\x1b\\[[0-9;]*m", shown)
    finally:
        terminal.process.kill()
        terminal.process.wait()
        os.close(terminal.master)


def test_two_chats_write_one_history_that_is_their_owners_and_holds_no_secret(home: Home) -> None:
    home.path.mkdir(exist_ok=True)
    history = home.path / "chat-history"
    history.write_text("from before\n", "utf-8")
    history.chmod(0o644)
    key = "sk-proj-" + "a1B2c3D4" * 5
    both = [Terminal(home), Terminal(home)]
    try:
        for number, each in enumerate(both):
            each.prompts()
            each.types(f"hello {number} {key}\n")
            each.sees("Hello.")
            each.prompts()
        for each in both:
            each.types("\x04")
            assert each.ends() == 0
    finally:
        for each in both:
            each.process.kill()
            each.process.wait()
            os.close(each.master)
    lines = history.read_text("utf-8").splitlines()
    assert [line.rpartition(" ")[0] for line in lines[:3]] == ["from", "hello 0", "hello 1"]
    assert key not in history.read_text("utf-8")
    assert history.stat().st_mode & 0o777 == 0o600
