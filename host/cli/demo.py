"""``ctxhost demo``: a conversation of our own under the built-in compressor, and what is left in the window."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import eq
from typing import TYPE_CHECKING, Any

import click

from host.cli.globals import Globals

if TYPE_CHECKING:
    from rich.console import Console

    from host.conversation.conversation import Conversation
    from host.engine.outcome import Outcome
    from host.loop.replay import Replayed
    from host.messages.ledger import Entry
    from host.messages.types import Message
    from host.tokens import Remembered

WINDOW = 32_000  # tokens: the conversation is more than twice as long
LEAST_WINDOW = 8_000  # below this the handoff has hardly room for anything
PIPED_COLUMNS = 110
FIRST_SHOWN, LAST_SHOWN = 7, 9  # lines of the window at either end; --all shows those between
MARGIN = 22  # columns of a window line before its words
BODY_MARGIN = 6  # and of a line of the handoff

NEXT = (
    "next: `ctxhost replay --latest claude-code` (or codex, or a FILE) shows the same on a session of your own; "
    "`ctxhost init` writes a config.yaml"
)

PROBES: tuple[tuple[str, str], ...] = (
    ("staging only", "You must never connect to production."),
    ("folders", "Only change files under services/payments, tests/payments and docs/payments."),
    ("money", "Amounts are always integers in minor units, never floats."),
    ("commits", "Commit in small steps, but do not push."),
    ("merchant", "LL-40917"),
    ("key format", "ll-pay-{order_id}-{attempt}"),
    ("refund limit", "Refund limit stays 15000 cents without a person, rule F-12."),
    ("declined cards", "不要重试 card_declined"),
)
"""Label -> what the users laid down in the first third of the conversation, as they wrote it."""


@dataclass(frozen=True)
class Probe:
    """What became of one thing that was said. ``message`` counts from 1."""

    label: str
    text: str
    message: int
    in_handoff: bool
    in_message: bool  # said again, or still there, in a message that is in the window as such
    in_archive: bool

    @property
    def in_window(self) -> bool:
        """Whether the model can read it word for word."""
        return self.in_handoff or self.in_message

    @property
    def place(self) -> str:
        """Where it is, for a reader."""
        places = {"in the handoff": self.in_handoff, "in the window": self.in_message, "only in the archive": self.in_archive}
        return next((place for place, there in places.items() if there), "lost")


@dataclass(frozen=True)
class Played:
    """The conversation as it was fed in, and what its last request is sent with. Tokens are exact counts."""

    recording: Sequence[Message] = field(repr=False)
    result: Replayed
    compactions: Sequence[Outcome]
    window: Sequence[tuple[Entry, int]] = field(repr=False)  # each message with its tokens
    probes: Sequence[Probe]
    archived: int  # messages that the archive gives back as they came

    @property
    def tokens(self) -> int:
        """Tokens of the window at the end."""
        return sum(tokens for _, tokens in self.window)

    @property
    def calls(self) -> int:
        """Model calls: one for each recorded reply, and one for the request at the end."""
        return len(self.result.calls) + 1

    @property
    def sent(self) -> int:
        """Prompt tokens of all calls."""
        return self.result.sent + self.tokens

    @property
    def sent_without(self) -> int:
        """The same without an engine."""
        return self.result.sent_without + self.result.tokens_in

    @property
    def peak(self) -> int:
        """Tokens of the fullest call."""
        return max(self.result.peak, self.tokens)

    @property
    def full_at(self) -> int | None:
        """The message, counted from 1, at which the window would have been full without an engine; None: never."""
        over = (call.index for call in self.result.calls if call.recorded_tokens > self.result.window)
        return next(over, len(self.recording) if self.result.tokens_in > self.result.window else None)


@click.command()
@click.option("--window", type=click.IntRange(min=LEAST_WINDOW), default=WINDOW, show_default=True, metavar="N", help="Window in tokens.")
@click.option("--all", "everything", is_flag=True, help="Show every message of the window at the end.")
@click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON.")
@click.pass_obj
def demo(settings: Globals, window: int, everything: bool, as_json: bool) -> int:
    """Watch an engine work on a conversation that comes along.

    Two engineers and their agent move the payments of a web shop to another provider. The built-in compressor keeps their
    conversation within the window; no model is asked, nothing is sent, and config.yaml is not read: it is the same everywhere.
    """
    from host.cli.replay_screen import Screen

    messages = recording()
    if as_json:
        click.echo(json.dumps(figures(play(messages, window, lambda outcome: None)), ensure_ascii=False, indent=2))
        return 0
    out = console(settings.color)
    announce(out, messages, window)
    played = play(messages, window, Screen(color=settings.color, quiet=False).compaction)
    show(out, played, everything)
    return 0


def recording() -> list[Message]:
    """The conversation that comes along."""
    from importlib.resources import files

    lines = files("host.demo").joinpath("conversation.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def play(messages: Sequence[Message], window: int, watch: Callable[[Outcome], None]) -> Played:
    """Run the conversation in a window of that many tokens; ``watch`` is told of every compaction."""
    from host.loop.replay import replay

    outcomes: list[Outcome] = []

    def report(outcome: Outcome) -> None:
        outcomes.append(outcome)
        watch(outcome)

    conversation, count = open_conversation(window, report)
    result = replay(conversation, messages, [], count=count.messages, compactions=outcomes)
    conversation.window()  # the request at the end, which nobody has answered yet
    entries = conversation.view.ledger.entries
    kept = conversation.archive.read(1, len(messages))
    return Played(
        recording=messages,
        result=result,
        compactions=tuple(outcome for outcome in outcomes if outcome.refused is None),
        window=tuple((entry, count.message(entry.message)) for entry in entries),
        probes=tuple(probe(label, text, messages, entries, kept) for label, text in PROBES),
        archived=sum(map(eq, kept, messages)),
    )


def open_conversation(window: int, watch: Callable[[Outcome], None]) -> tuple[Conversation, Remembered]:
    """A conversation under the built-in compressor with every setting at its default, whatever files and variables say."""
    from host.app import built_ins, main_model, make_engine, services_of
    from host.config import Config, Loaded
    from host.conversation.conversation import Conversation
    from host.discovery import BUILT_IN
    from host.store.memory import MemoryArchive
    from host.tokens import Counter, Remembered

    loaded = Loaded(Config(), {})
    count, archive = Remembered(Counter(sampled=False)), MemoryArchive()
    services = services_of(loaded, count, main_model(loaded, window), archive)
    engine = make_engine(built_ins()[BUILT_IN], BUILT_IN, loaded, services)
    keep = loaded.config.compression.keep_exact_tokens
    return Conversation(engine, services, archive, gauge=count.gauge, warn=services.log.warning, watch=watch, keep_exact=keep), count


def probe(label: str, text: str, messages: Sequence[Message], entries: Sequence[Entry], kept: Sequence[Message]) -> Probe:
    """Look for a text in the window and in what the archive gave back, ``kept``."""
    from host.messages.ledger import Kind
    from host.messages.searchable import searchable

    said = next(index for index, message in enumerate(messages, 1) if message["role"] == "user" and text in searchable(message))
    holding = {entry.kind for entry in entries if text in searchable(entry.message)}
    made = {Kind.SUMMARY, Kind.MERGED}
    return Probe(label, text, said, bool(holding & made), bool(holding - made), kept[said - 1] == messages[said - 1])


def console(color: bool) -> Console:
    """Where the demo is shown: as wide as the terminal, or fixed where there is none."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPED_COLUMNS
    return Console(width=width, color_system="auto" if color else None, highlight=False, markup=False)


def announce(out: Console, messages: Sequence[Message], window: int) -> None:
    """What will be seen."""
    out.print(f"Two engineers and their agent move a web shop's payments to another provider: one afternoon, {len(messages):,} messages.")
    out.print(f"The model's window holds {window:,} tokens. See what is done when it fills up, and what is left in it at the end.\n")


def show(out: Console, played: Played, everything: bool) -> None:
    """All that follows the compactions."""
    from host.cli.replay_screen import chart

    out.print(f"  how full it was, call by call:\n  {chart(played.result)}")
    show_window(out, played, everything)
    show_handoff(out, played)
    show_probes(out, played)
    show_costs(out, played)
    out.print(f"\n{NEXT}", style="bold", soft_wrap=True)


def show_window(out: Console, played: Played, everything: bool) -> None:
    """Each message of the window in a line."""
    heading(out, f"The window now: {len(played.window):,} messages, {played.tokens:,} tokens")
    hidden = range(0) if everything else hidden_lines(len(played.window))
    for index, (entry, tokens) in enumerate(played.window):
        if index not in hidden:
            made = bool(entry.covers)
            role = "HANDOFF" if made else entry.message["role"]
            words = f"stands for {sum(map(len, entry.covers)):,} messages; its text is below" if made else first_words(entry.message)
            out.print(
                f"{'>' if made else ' '} {role:<10}{tokens:>7,}  {cut_to(words, out.width - MARGIN)}", style="bold cyan" if made else ""
            )
        elif index == hidden.start:
            between = sum(tokens for _, tokens in played.window[hidden.start : hidden.stop])
            out.print(f"  {'...':<10}{between:>7,}  {len(hidden)} more messages; --all shows them", style="dim")


def hidden_lines(count: int) -> range:
    """Which lines of the window are left out: the middle, where that saves more than a few."""
    return range(FIRST_SHOWN, count - LAST_SHOWN) if count - LAST_SHOWN - FIRST_SHOWN > 3 else range(0)


def first_words(message: Message) -> str:
    """The beginning of a message on one line; of one that has no words, the tools it calls."""
    from host.messages.reading import call_name, calls_of, has_image, text_of

    picture = "[picture] " if has_image(message) else ""
    words = " ".join(text_of(message).split())
    return picture + (words or f"[calls {', '.join(map(call_name, calls_of(message)))}]")


def cut_to(text: str, columns: int) -> str:
    """The text, or as much of it as fits the columns; a Chinese character takes two."""
    from rich.cells import cell_len, set_cell_size

    return text if cell_len(text) <= columns else f"{set_cell_size(text, max(1, columns - 3)).rstrip()}..."


def show_handoff(out: Console, played: Played) -> None:
    """The text of the handoff, headings apart."""
    from rich.text import Text

    body = handoff_of(played)
    if body:
        heading(out, "The handoff, as the model reads it")
    for line in filter(str.strip, body.splitlines()):
        if line.startswith("#"):
            out.print(f"  {line.lstrip('# ')}", style="bold")
            continue
        for number, piece in enumerate(Text(line).wrap(out, out.width - BODY_MARGIN)):
            out.print(f"    {'  ' if number else ''}{piece.plain.rstrip()}", soft_wrap=True)


def handoff_of(played: Played) -> str:
    """The body of the handoff in the window, empty where there is none."""
    from host.transforms.handoff import handoff_body

    return next((handoff_body(entry.message) for entry, _ in played.window if entry.covers), "")


def show_probes(out: Console, played: Played) -> None:
    """What was laid down early, and where it is now."""
    heading(out, "What was laid down early on: is it still in the window, word for word?")
    for one in played.probes:
        where = f"{'yes' if one.in_window else 'no':<5}{one.place} (said in message {one.message})"
        out.print(cut_to(f"  {where:<50}{one.text}", out.width), style="green" if one.in_window else "yellow")
    found = sum(one.in_window for one in played.probes)
    archive = f"the archive holds {played.archived:,} of {len(played.recording):,} messages, as they came"
    out.print(f"  {found} of {len(played.probes)} in the window; {archive}")


def show_costs(out: Console, played: Played) -> None:
    """Tokens of all calls with the engine and without."""
    saved = 1 - played.sent / played.sent_without
    heading(out, f"{played.calls:,} model calls")
    out.print(f"  with the engine     {played.sent:>10,} tokens, the fullest call {played.peak:,}")
    out.print(f"  without             {played.sent_without:>10,} tokens: {saved:.0%} saved")
    if played.full_at is not None:
        out.print(f"  and without an engine the window would have been full at message {played.full_at:,} of {len(played.recording):,}")


def heading(out: Console, text: str) -> None:
    """A line between two parts."""
    out.print(f"\n{text}", style="bold")


def figures(played: Played) -> dict[str, Any]:
    """All figures; tokens are exact counts, messages count from 1."""
    return {
        "messages": len(played.recording),
        "tokens": played.result.tokens_in,
        "window": played.result.window,
        "threshold": played.result.threshold,
        "compactions": [outcome.as_json() for outcome in played.compactions],
        "window_messages": len(played.window),
        "window_tokens": played.tokens,
        "peak_window": played.peak,
        "calls": played.calls,
        "tokens_sent": played.sent,
        "tokens_sent_without_engine": played.sent_without,
        "full_without_engine_at": played.full_at,
        "archived": played.archived,
        "probes": [
            {"label": p.label, "text": p.text, "message": p.message, "in_window": p.in_window, "place": p.place} for p in played.probes
        ],
        "handoff": handoff_of(played),
        "next": NEXT,
    }
