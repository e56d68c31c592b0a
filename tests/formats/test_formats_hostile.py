"""Files that are no conversation, and conversations that are damaged: named, with line, nothing half read."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from host.errors import CtxhostError, DamagedLine, NotAConversation, UsageError
from host.formats import pick, read, recognise

GOOD = '{"role": "user", "content": "hi"}'

NOT_CONVERSATIONS: dict[str, tuple[bytes, str]] = {
    "empty.jsonl": (b"", "an empty file"),
    "blank.jsonl": (b"\n \r\n\t\n", "an empty file"),
    "bom.json": (b"\xef\xbb\xbf", "an empty file"),
    "a.png": (b"\x89PNG\r\n\x1a\n\0\0", "a PNG picture"),
    "a.db": (b"SQLite format 3\0rest", "an SQLite database"),
    "a.gz": (gzip.compress(b"{}"), "gzip data"),
    "a.zip": (b"PK\x03\x04...", "a zip archive"),
    "a.bin": (b"\x01\x02\0\0\x07", "binary data"),
    "utf16.jsonl": (GOOD.encode("utf-16"), "text in UTF-16"),
    "utf16le.jsonl": (GOOD.encode("utf-16-le"), "text in UTF-16"),
    "page.html": (b"<!DOCTYPE html>\n<html></html>", "an HTML page"),
    "a.xml": (b"<?xml version='1.0'?><a/>", "XML"),
    "a.csv": (b"time,role,content\n1,user,hi\n", "a CSV table"),
    "notes.txt": (b"Dear all, here is the log.\nBye\n", "plain text"),
    "readme.md": (b"# Title\n\nText\n\n```\n{}\n```\n", "plain text"),
    "number.json": (b"42", "plain text"),
    "package.json": (b'{"name": "x", "version": "1", "scripts": {}}', "a package.json"),
    "object.json": (b'{"a": 1, "b": 2}', "a JSON object with the keys a, b"),
    "nothing.json": (b"{}", "a JSON object with no keys"),
    "list.json": (b"[]", "an empty list"),
    "numbers.json": (b"[1, 2]", "a JSON list, but not of messages"),
    "objects.json": (b'[{"x": 1}]', "a JSON list of objects with the key x"),
    "rows.jsonl": (b'{"x": 1}\n{"y": 2}\n', "JSON lines with the key x"),
    "lists.jsonl": (b"[1]\n[2]\n", "JSON lines without a single object"),
    "exec.jsonl": (b'{"type":"thread.started","thread_id":"t"}\n{"type":"turn.started"}\n', "an event log of `codex exec --json`"),
    "history.jsonl": (b'{"session_id":"s","ts":1,"text":"hi"}\n{"session_id":"s","ts":2,"text":"ho"}\n', "Codex's list of prompts"),
    "prompts.jsonl": (b'{"display":"hi","timestamp":1,"project":"p"}\n' * 2, "Claude Code's list of prompts"),
    "snapshots.jsonl": (b'{"type":"file-history-snapshot","messageId":"m"}\n' * 2, "read as claude-code, it holds no message"),
    "meta.jsonl": (b'{"type":"session_meta","payload":{"id":"s"}}\n' * 2, "read as codex, it holds no message"),
    "empty-dialogue.jsonl": (b'{"messages": []}\n{"messages": []}\n', "read as dialogues, it holds no message"),
    "mixed.json": (b'[{"role": "user", "content": "a"}, 5]', "entry 2 of it is a number, not a message"),
    "mixed-traj.json": (b'[{"traj": [{"role": "user"}]}, {"task_id": 2}]', "entry 2 of it holds no messages"),
}


@pytest.mark.parametrize("name", NOT_CONVERSATIONS)
def test_a_file_that_is_no_conversation_is_told_what_it_is(tmp_path: Path, name: str) -> None:
    data, found = NOT_CONVERSATIONS[name]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(NotAConversation) as refused:
        read(path)
    assert found in refused.value.what and str(path) in refused.value.what
    assert refused.value.exit_status == 2


def test_a_directory_and_a_missing_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(NotAConversation, match="a directory"):
        read(tmp_path)
    with pytest.raises(UsageError, match="No such file"):
        read(tmp_path / "gone.jsonl")


DAMAGED: dict[str, tuple[bytes, int, str]] = {
    "last line cut off": (f'{GOOD}\n{GOOD}\n{{"role": "assis'.encode(), 3, "breaks off"),
    "first line cut off": (f'{{"role": "us\n{GOOD}\n{GOOD}\n'.encode(), 1, "not JSON|breaks off"),
    "only line cut off": (b'{"role": "user", "cont', 1, "breaks off"),
    "start of the file missing": (f'ent": "x"}}\n{GOOD}\n{GOOD}\n'.encode(), 1, "not JSON"),
    "text between": (f"{GOOD}\n\nTraceback:\n{GOOD}\n".encode(), 3, "not JSON"),
    "another value": (f"{GOOD}\n[1]\n".encode(), 2, "an object is expected, this is a list"),
    "no role": (f'{GOOD}\n{{"x": 1}}\n'.encode(), 2, "a message without a role"),
    "not UTF-8": (GOOD.encode() + b'\n{"role": "user", "content": "\xff"}\n', 2, "not UTF-8"),
    "NUL bytes of a crash": (GOOD.encode() + b"\n" + b"\0" * 40, 2, "NUL bytes"),
    "too deep": (GOOD.encode() + b'\n{"role": "user", "content": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n", 2, "too deeply"),
    "too long a number": (GOOD.encode() + b'\n{"role": "user", "x": ' + b"9" * 5_000 + b"}\n", 2, "too long"),
    "list cut off": (b'[\n {"role": "user", "content": "a"},\n {"role": "assis', 3, "breaks off"),
    "list not UTF-8": (b'[\n{"role": "user",\n "content": "\xfe"}]', 3, "not UTF-8"),
    "dialogue without messages": (b'{"messages": [{"role": "user"}]}\n{"x": 1}\n', 2, "no list of messages"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_line_is_told_with_file_and_line(tmp_path: Path, name: str) -> None:
    data, line, why = DAMAGED[name]
    path = tmp_path / "talk.jsonl"
    path.write_bytes(data)
    with pytest.raises(DamagedLine, match=why) as refused:
        read(path)
    assert refused.value.line == line
    assert f"{path}:{line}: " in refused.value.what


def test_a_tolerant_reading_leaves_damaged_lines_out_and_counts_them(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(f'{GOOD}\nnoise\n{{"x": 1}}\n[1]\n{GOOD}\n{{"role": "assis'.encode())
    [transcript] = read(path, tolerant=True)
    assert len(transcript.messages) == 2
    assert transcript.mended == {"damaged lines": 4}


def test_bom_crlf_and_blank_lines_are_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(b"\xef\xbb\xbf\r\n" + GOOD.encode() + b"\r\n\r\n" + GOOD.encode() + b"\r\n")
    [transcript] = read(path)
    assert transcript.messages == [json.loads(GOOD)] * 2
    document = tmp_path / "talk.json"
    document.write_bytes(b"\xef\xbb\xbf[\r\n" + GOOD.encode() + b"\r\n]")
    assert read(document)[0].messages == [json.loads(GOOD)]


@pytest.mark.parametrize("written", ["\\ud800", "a\\u0000b", "a\0b"])
def test_lone_surrogates_and_nul_survive(tmp_path: Path, written: str) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes(f'{{"role": "user", "content": "{written}"}}\n{GOOD}\n'.encode())
    [transcript] = read(path)
    assert transcript.messages[0]["content"] == {"\\ud800": "\ud800"}.get(written, "a\0b")


def test_surrogates_encoded_as_bytes_survive(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_bytes('{"role": "user", "content": "\ud83c"}\n'.encode("utf-8", "surrogatepass"))
    assert read(path)[0].messages[0]["content"] == "\ud83c"


def test_an_unknown_format_names_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(GOOD)
    with pytest.raises(UsageError, match="did you mean 'claude-code'") as refused:
        read(path, format="claude-cod")
    assert "openai-jsonl" in refused.value.advice


def test_a_named_format_overrides_recognition(tmp_path: Path) -> None:
    path = tmp_path / "talk.json"
    path.write_text(json.dumps({"history": [json.loads(GOOD)], "messages": [json.loads(GOOD)] * 2}))
    assert recognise(path).name == "swe-agent"
    assert len(read(path)[0].messages) == 1
    assert len(read(path, format="request")[0].messages) == 2


@pytest.mark.parametrize("name", ["swe-agent", "request", "openai", "trajectories", "claude-code", "codex", "dialogues", "openai-jsonl"])
@pytest.mark.parametrize(
    "data", [GOOD, f"[{GOOD}]", f'{{"messages": [{GOOD}]}}', "[\n1,\n2]", '{"type": "user"}\n{"payload": 3}', '{"history": [1]}']
)
def test_a_wrongly_named_format_is_an_error_or_a_reading_never_a_traceback(tmp_path: Path, name: str, data: str) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(data)
    try:
        transcripts = read(path, format=name)
    except CtxhostError as refused:
        assert refused.exit_status == 2
    else:
        assert all(transcript.messages for transcript in transcripts)


def test_pick_takes_all_a_number_or_a_title(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    path.write_text("".join(json.dumps({"id": key, "messages": [json.loads(GOOD)]}) + "\n" for key in ("one", "2303", "one")))
    transcripts = read(path)
    assert [transcript.title for transcript in transcripts] == ["one", "2303", "one (2)"]
    assert pick(transcripts, "all") == transcripts
    assert pick(transcripts, "2") == [transcripts[1]] == pick(transcripts, "2303")
    assert pick(transcripts, "one (2)") == [transcripts[2]]
    for wrong in ("4", "0", "-1", "tow", ""):
        with pytest.raises(UsageError, match="holds 3 conversations"):
            pick(transcripts, wrong)


def test_pick_with_a_digit_that_is_no_number_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    path.write_text(GOOD)
    with pytest.raises(UsageError, match="holds 1 conversation"):
        pick(read(path), "²")
    with pytest.raises(UsageError, match="holds 1 conversation"):
        pick(read(path), "9" * 5_000)
