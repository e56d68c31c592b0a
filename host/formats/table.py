"""The formats that are read, and the three questions asked of them: which one, what is in it, which of those."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from host.errors import NotAConversation, UsageError
from host.formats import chat, claude_code, codex, swe_agent
from host.formats.found import json_kind
from host.formats.loose import did_you_mean
from host.formats.mend import mend
from host.formats.source import Source, open_source
from host.formats.transcript import Draft, Format, Transcript

FORMATS: tuple[Format, ...] = (
    Format("swe-agent", "SWE-agent .traj: a JSON object with a history", swe_agent.recognises, swe_agent.read),
    Format("request", "a request body: a JSON object with messages, tools, model", chat.is_request, chat.read_request),
    Format("openai", "OpenAI messages as a JSON list", chat.is_message_list, chat.read_message_list),
    Format("trajectories", "a JSON list of objects with traj or messages", chat.is_trajectories, chat.read_trajectories),
    Format("claude-code", "a Claude Code session (JSONL)", claude_code.recognises, claude_code.read),
    Format("codex", "a Codex rollout (JSONL)", codex.recognises, codex.read),
    Format("dialogues", "JSONL of objects with messages", chat.is_dialogues, chat.read_dialogues),
    Format("openai-jsonl", "OpenAI messages, one a line", chat.is_message_lines, chat.read_message_lines),
)
"""The formats in the order in which they are tried."""


def format_named(name: str, formats: Sequence[Format] = FORMATS) -> Format:
    """The format of that name; ``UsageError`` with the nearest one where there is none."""
    names = [known.name for known in formats]
    if name in names:
        return formats[names.index(name)]
    raise UsageError(f"there is no format {name!r}{did_you_mean(name, names)}", f"formats: {', '.join(names)}")


def recognise(path: Path, formats: Sequence[Format] = FORMATS) -> Format:
    """The format of a file; ``NotAConversation`` says what it is where it is none of them."""
    with open_source(path) as source:
        return _recognise(source, formats)


def read(path: Path, *, format: str | None = None, tolerant: bool = False, formats: Sequence[Format] = FORMATS) -> list[Transcript]:
    """Every conversation of a file, mended to what a provider accepts.

    ``format`` names the format where it shall not be guessed. A damaged line raises ``DamagedLine``; with ``tolerant`` (a
    session that is still being written) it is left out and counted. A conversation without messages is no conversation.
    A pipe is read once, into a temporary file; the path ``-`` is standard input.
    """
    with open_source(path, tolerant=tolerant) as source:
        chosen = format_named(format, formats) if format is not None else _recognise(source, formats)
        found = [transcript for draft in chosen.read(source) if (transcript := _transcript(draft, chosen.name)).messages]
    if not found:
        raise NotAConversation(path, f"read as {chosen.name}, it holds no message")
    if source.damaged:
        found[0] = replace(found[0], mended={"damaged lines": len(source.damaged), **found[0].mended})
    titles = _unique(transcript.title or path.stem for transcript in found)
    return [replace(transcript, title=title) for transcript, title in zip(found, titles, strict=True)]


def drafts(source: Source, formats: Sequence[Format] = FORMATS) -> tuple[str, list[Draft]]:
    """The format of an opened file, and its conversations as they were recorded: not mended. Of several each has a title of its own."""
    chosen = _recognise(source, formats)
    found = [draft for draft in chosen.read(source) if draft.messages]
    if len(found) == 1:
        return chosen.name, found
    titles = _unique(draft.title or str(number) for number, draft in enumerate(found, start=1))
    return chosen.name, [replace(draft, title=title) for draft, title in zip(found, titles, strict=True)]


def pick(transcripts: Sequence[Transcript], which: str) -> list[Transcript]:
    """``all``, the one of a number from 1, or the one of a title; a number within the range is never taken as a title."""
    if which == "all":
        return list(transcripts)
    count = len(transcripts)
    if which in map(str, range(1, count + 1)):
        return [transcripts[int(which) - 1]]
    titled = [transcript for transcript in transcripts if transcript.title == which]
    if titled:
        return titled
    held = "1 conversation" if count == 1 else f"{count} conversations"
    hint = did_you_mean(which, (transcript.title for transcript in transcripts))
    raise UsageError(
        f"there is no conversation {which!r} in the file, which holds {held}{hint}", f"give a number from 1 to {count}, a title, or all"
    )


def _recognise(source: Source, formats: Sequence[Format]) -> Format:
    found = next((known for known in formats if known.recognises(source)), None)
    if found is None:
        raise NotAConversation(source.path, json_kind(source.document, source.objects))
    return found


def _transcript(draft: Draft, source: str) -> Transcript:
    messages, mended = mend(draft.messages)
    counts = dict(Counter(draft.left_out) + Counter(mended))
    return Transcript(messages, draft.tools, draft.model, draft.window, draft.title, counts, source)


def _unique(titles: Iterable[str]) -> Iterator[str]:
    """The titles, those that come again with a number behind them."""
    seen: Counter[str] = Counter()
    for title in titles:
        seen[title] += 1
        yield title if seen[title] == 1 else f"{title} ({seen[title]})"
