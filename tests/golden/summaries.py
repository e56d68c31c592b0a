"""The texts of a summary: what a model is shown, how its words are grounded and found again (hermes.md 7, 10.3)."""

from __future__ import annotations

import re
from dataclasses import replace

from host.compressor.focus import implicit_focus
from host.compressor.grounding import ground_snapshot
from host.compressor.memory import sanitised
from host.compressor.notes import parse_notes, write_notes
from host.compressor.serialise import serialise
from host.compressor.template import Section
from host.messages.redact import redact
from host.messages.types import Message
from host.messages.violations import violations
from host.pipeline.compact import Middle, compact
from host.transforms.handoff import EARLIER_PREFIXES, NOTE, handoff_body, handoff_text, is_handoff, split_merged
from tests.golden.compressing import compressed, engine_for
from tests.golden.engines import BODY
from tests.golden.reading import Driver, Golden, shown, written

RUN = re.compile(r"<(.)\*(\d+)>")
"""How the file writes a long run of one character."""
HISTORICAL = re.compile(r"<HISTORICAL_PREFIX_\d>")


def middle_seen(case: Golden) -> Middle:
    """What a summary is made of when the case's list is compacted."""
    seen: list[Middle] = []

    def summarise(middle: Middle) -> str:
        seen.append(middle)
        return BODY

    compact(written(case.input["messages"]), engine_for(case).plan(), summarise)
    (middle,) = seen
    return middle


def rehydrated(case: Golden) -> None:
    """The head is gone after a resume too, so the turns that the reference protected once more are summarised before the others."""
    middle, messages = middle_seen(case), written(case.input["messages"])
    assert middle.previous == case.output["previous_summary"]
    turns, protected_again = case.output["turns_summarised"], 2
    assert middle.originals == messages[2 : 2 + protected_again + len(turns)]
    assert middle.originals[protected_again:] == turns
    assert implicit_focus(messages, redact) == case.output["focus"]


def nothing_of_another_session(case: Golden) -> None:
    assert (middle_seen(case).previous or None) == case.output["previous_summary_seen_by_summariser"]


def compress_twice(case: Golden) -> None:
    """The rules of the window, which the reference breaks here; and the old summary goes into the new one."""
    given = written({**case.input, "compression_count": case.output["compression_count"] - 1})
    second = replace(case, input=given)
    after, figures = compressed(second)
    texts = [str(part["content"]) for message in after for part in split_merged(message) if part["role"] == "user" and not is_handoff(part)]
    assert figures["input_unchanged"] and figures["made_progress"] and figures["compression_count"] == case.output["compression_count"]
    assert sum(map(is_handoff, after)) == 1 and violations(after) == []
    assert sum(str(message["content"]).count(NOTE) for message in after) == case.output["note_occurrences"]
    assert texts and texts[-1] == [m["content"] for m in given["messages"] if m["role"] == "user"][-1]
    assert middle_seen(second).previous == BODY
    assert not any(map(is_handoff, middle_seen(second).originals))


def resumed(case: Golden) -> None:
    """One handoff, right after the system prompt: nothing of the old head is protected a second time."""
    after, _ = compressed(replace(case, input=written(case.input)))
    assert [is_handoff(message) for message in after].index(True) == 1
    assert sum(map(is_handoff, after)) == 1
    assert not any(str(message["content"]).startswith("q0") for message in after)


def snapshot_grounded(case: Golden) -> None:
    assert ground_snapshot(case.input["summary"], case.input["turns"], redact) == case.output


def focus_of_the_newest(case: Golden) -> None:
    assert implicit_focus(case.input["messages"], redact) == case.output


def prefix_recognised(case: Golden) -> None:
    """A historical prefix of the file is each of ours."""
    for earlier in EARLIER_PREFIXES:
        text = HISTORICAL.sub(earlier, written(case.input["text"]))
        message: Message = {"role": "user", "content": text}
        assert is_handoff(message) == case.output["is_summary"]
        stripped = handoff_body(message) if is_handoff(message) else text
        assert stripped == case.output["stripped"]
        assert shown(handoff_text(stripped)).startswith(case.output["normalised"])


def serialised(case: Golden) -> None:
    text = serialise(case.input["turns"], redact)
    assert text == RUN.sub(lambda run: run[1] * int(run[2]), case.output["text"])
    assert len(text) == case.output["length"]


def notes_of(turns: list[Message]) -> str:
    """The summary that needs no model."""
    return write_notes(turns, previous="", opening="", mask=redact, fits=lambda body: True)


def notes_in_order(case: Golden) -> None:
    """The headings in the reference's order; what stands under them are facts of the turns, not a transcript of them."""
    body = notes_of(case.input["turns"])
    headings = [line for line in body.splitlines() if line.startswith("## ")]
    assert headings == [heading for heading in case.output["headings"] if heading in headings]
    found = parse_notes(body)
    assert found[Section.TASK] == ["Fix /srv/app.py please"]
    assert found[Section.FILES] == ["/srv/app.py"]
    assert found[Section.BLOCKED] == ["Traceback: failed to open"]
    assert found[Section.STATE] == ["I looked"]
    assert "read_file" in found[Section.ACTIONS][0]


def notes_capped(case: Golden) -> None:
    """The reference's own wording gives its length; the limit is what counts."""
    number, chars = (int(figure.replace(",", "")) for figure in re.findall(r"[\d,]+", case.input["turns"]))
    turns: list[Message] = [{"role": "user", "content": f"{n} must {'x' * chars}"[:chars]} for n in range(number)]
    body = notes_of(turns)
    assert case.output["length"] < len(handoff_text(body)) <= 8_000


def memory_capped(case: Golden) -> None:
    text = sanitised("m" * case.input["chars"], redact)
    assert len(text) == case.output["length"]
    assert case.output["middle"] in text


DRIVERS: dict[str, Driver] = {
    "rehydrate_previous_summary": rehydrated,
    "cross_session_leak_38788": nothing_of_another_session,
    "compress_twice": compress_twice,
    "fresh_engine_on_resumed_transcript": resumed,
    "ground_snapshot_*": snapshot_grounded,
    "auto_focus": focus_of_the_newest,
    "prefix_*": prefix_recognised,
    "serialize_for_summary": serialised,
    "static_fallback_structure": notes_in_order,
    "static_fallback_cap": notes_capped,
    "memory_context_cap": memory_capped,
}
