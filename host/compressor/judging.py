"""Whether a text is a summary of the turns at all, by what it says (hermes.md 7.3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from host.compressor.addressing import addresses_reader, only_orders, overrides
from host.compressor.declining import declines
from host.compressor.error_reports import is_error_document, is_error_sentence
from host.compressor.faults import Fault
from host.compressor.headings import has_headings, is_heading, section_named
from host.compressor.prompt import without_previous
from host.compressor.repetition import repeats_a_phrase, runs_in_circles
from host.compressor.serialise import serialise
from host.compressor.template import WANTED
from host.compressor.unwrapping import json_object
from host.messages.reading import text_of
from host.messages.types import Message

SHORT = 400  # characters; a refusal or an excuse is no longer
LIST_ITEM = re.compile(r"^\s*(?:[-*•#]|\d+[.)])\s", re.MULTILINE)


@dataclass(frozen=True)
class Answer:
    """An answer as it is judged: its notes, and what was asked."""

    text: str
    turns: Sequence[Message]
    previous: str
    prompt: str
    asked: int = 0  # tokens that the notes were to have, 0 where nobody said

    @cached_property
    def has_headings(self) -> bool:
        """Whether it has headings, ours or others."""
        return has_headings(self.text)

    @cached_property
    def is_bare(self) -> bool:
        """Short, and neither headings nor lists."""
        return len(self.text) <= SHORT and not self.has_headings and not LIST_ITEM.search(self.text)

    @cached_property
    def shared(self) -> frozenset[str]:
        """Its terms that the turns or the previous summary hold."""
        source = f"{serialise(self.turns, str)}\n{self.previous}".casefold()
        return frozenset(term for term in self.terms if term in source)

    @cached_property
    def terms(self) -> frozenset[str]:
        """What can be looked for of what it says."""
        return frozenset(terms_of(self.text))


# --- words, whatever the language ----------------------------------------------------------------------------------

WORD = re.compile(r"[^\W_](?:[^\W_]|[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0900-\u0dff])*")
DENSE = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
"""Letters of which two in a row say something; most of these scripts have no blanks between words."""
LONG = 4  # letters of a word that tells what a text is about; the shorter ones are in every text
STEM = 5  # letters of a word that stay the same when it is bent


def terms_of(text: str) -> Iterator[str]:
    """Numbers, beginnings of longer words, and pairs of letters of scripts without blanks, in small letters."""
    for word in WORD.findall(text.casefold()):
        for run in DENSE.findall(word):
            yield from (run[at : at + 2] for at in range(len(run) - 1))
        yield from (_stem(rest) for rest in DENSE.split(word) if len(rest) >= LONG or _has_digit(rest))


def _stem(word: str) -> str:
    return word if _has_digit(word) else word[:STEM]


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


# --- what makes a text no summary ----------------------------------------------------------------------------------

NOTHING_THERE = re.compile(
    r"(?:there (?:is|was|are|were) )?(?:no|not any|nothing)\b.{0,40}\b(?:history|conversation|context|content|messages?|turns|summar\w+)\b"
    r".{0,60}|.{0,12}(?:没有|暂无|无).{0,10}(?:历史|对话|内容|上下文).{0,20}|.{0,20}(?:履歴|会話|内容)は?(?:ありません|なし).{0,20}",
    re.IGNORECASE,
)
BLANK_ITEM = re.compile(
    r"[\W_]*+(?:none|nothing|n/?a|empty|unknown|tbd|not (?:applicable|available|specified|provided|yet)|no (?:prior|previous|earlier) \w+"
    r"|无|無|没有|沒有|暂无|なし|特になし|없음|해당 없음|ninguno|ninguna|nada|nenhum\w*|keine?|aucune?|nessun[oa]?|niente|geen|inga?|ingen"
    r"|brak|нет|немає|отсутству\w+|لا (?:يوجد|شيء)|yok|null)?[\W_]*+",
    re.IGNORECASE,
)
HINTS = tuple(" ".join(wanted.split()) for wanted in WANTED.values())
HINTS_MANY = 3
SAME_ITEM = 30  # characters of a text that stands under every heading, which is none in any language
SECTIONS_MANY = 3
ECHO_FROM, WINDOW, STEP = 600, 60, 30  # characters: of an answer that is looked at, of one run, from run to run
RUNS_MANY = 300
ECHO_SHARE, ECHO_SHARE_WITH_HEADINGS = 0.75, 0.95
OBEYED = 200  # characters of an answer that is compared with what the turns told their reader to say
SPEAKER = re.compile(r"^\[(?:USER|ASSISTANT|TOOL RESULT[^\]]*)\]: ", re.MULTILINE)
CALL_NAMES, CALL_ARGUMENTS = frozenset({"name", "tool", "function", "tool_name"}), frozenset({"arguments", "args", "parameters", "input"})
TERMS_MANY = 4  # terms without which nothing can be told from their absence
STATUS = re.compile(r"[45]\d\d")
CHARS, TOO_MANY = 4, 8  # characters of a token; times the length that was asked for
SHRUNK = 4  # times shorter than the structured summary that it should bring up to date


def is_call(answer: Answer) -> bool:
    """A JSON object that names a tool and its arguments."""
    keys = {key.casefold() for key in json_object(answer.text)}
    return bool(keys & CALL_NAMES and keys & CALL_ARGUMENTS)


def reports_an_error(answer: Answer) -> bool:
    """The report of a service; a sentence with a number in it that the turns hold tells of an error, unless it is a status."""
    if answer.has_headings or is_error_document(answer.text):
        return not answer.has_headings
    return answer.is_bare and is_error_sentence(answer.text) and not any(map(_is_value, answer.shared))


def _is_value(term: str) -> bool:
    return _has_digit(term) and STATUS.fullmatch(term) is None


def is_refusal(answer: Answer) -> bool:
    """A short text that only declines, in a language that we know."""
    return answer.is_bare and declines(answer.text)


def is_unfilled(answer: Answer) -> bool:
    """The template with nothing in it, or the word that there is no history."""
    lines = [line for line in answer.text.splitlines() if line.strip()]
    under = [line for line in lines if not _is_frame(line)]
    said = [line for line in under if not BLANK_ITEM.fullmatch(line)]
    same = {line.strip("-*•()[]_ .。").casefold() for line in said}
    if not said or (len(same) == 1 and len(said) >= SECTIONS_MANY and answer.has_headings and len(*same) <= SAME_ITEM):
        return True
    return len(answer.text) <= SHORT and all(NOTHING_THERE.fullmatch(line.strip("-*•. 。")) for line in said)


def _is_frame(line: str) -> bool:
    """A heading that says nothing by itself, or what belongs under one."""
    is_title = is_heading(line) and not _has_digit(line) and ":" not in line.rstrip("* :")
    return section_named(line) is not None or is_title or line.strip("() ") in HINTS


def is_echo(answer: Answer) -> bool:
    """The prompt or the turns once more, mostly in verbatim runs; what is kept of the previous summary is none."""
    flat = " ".join(answer.text.split())
    if sum(hint in flat for hint in HINTS) >= HINTS_MANY:
        return True
    if len(flat) < ECHO_FROM:
        return len(SPEAKER.findall(answer.text)) > 1
    source = " ".join(without_previous(answer.prompt).split())
    step = max(STEP, len(flat) // RUNS_MANY)
    runs = [flat[at : at + WINDOW] for at in range(0, len(flat) - WINDOW, step)]
    share = sum(run in source for run in runs) / len(runs)
    return share >= (ECHO_SHARE_WITH_HEADINGS if answer.has_headings else ECHO_SHARE)


def obeys(answer: Answer) -> bool:
    """A few words without a heading that a turn holds to the letter: it says what it was told to say."""
    said = answer.text.strip(" \t\n\"'`.!。！").casefold()
    return answer.is_bare and len(said) <= OBEYED and any(said in text_of(turn).casefold() for turn in answer.turns)


def is_code(answer: Answer) -> bool:
    """Mostly a block of code without a heading: it did the work instead of noting it."""
    inside = answer.text.split("```")[1::2]
    return not answer.has_headings and sum(map(len, inside)) * 2 > len(answer.text)


def only_asks(answer: Answer) -> bool:
    """One question to the user and nothing else."""
    return answer.is_bare and re.fullmatch(r"[^.!?。！？؟\n]{0,200}[?？؟]", answer.text) is not None


def repeats_itself(answer: Answer) -> bool:
    """The same again and again, throughout or at its end, whatever headings it has."""
    return runs_in_circles(answer.text) or (answer.is_bare and repeats_a_phrase(answer.text))


def gives_orders(answer: Answer) -> bool:
    """Without a heading: orders and nothing else, or one to follow other instructions."""
    return not answer.has_headings and (overrides(answer.text) or (answer.is_bare and only_orders(answer.text)))


def speaks_to_the_user(answer: Answer) -> bool:
    """A few words without a heading that go on with the conversation."""
    return answer.is_bare and addresses_reader(answer.text)


def is_endless(answer: Answer) -> bool:
    """Without a heading, and many times as long as was asked for: cut to its room it would end anywhere."""
    return bool(answer.asked) and not answer.has_headings and len(answer.text) > answer.asked * CHARS * TOO_MANY


def is_of_something_else(answer: Answer) -> bool:
    """A few words without a heading of which nothing was ever said: a refusal or a greeting in whatever language."""
    return answer.is_bare and len(answer.terms) >= TERMS_MANY and not answer.shared


def has_lost_its_headings(answer: Answer) -> bool:
    """A few words in the place of a structured summary."""
    return answer.is_bare and has_headings(answer.previous) and len(answer.text) * SHRUNK < len(answer.previous)


UNLIKE_A_SUMMARY: tuple[tuple[Callable[[Answer], bool], Fault, str], ...] = (
    (is_call, Fault.TOOL_CALL, "it asked for a tool in words, which is not run"),
    (reports_an_error, Fault.ERROR, "it is the report of a service on an error"),
    (is_refusal, Fault.REFUSED, "it only declines"),
    (is_unfilled, Fault.UNFILLED, "it says nothing about the conversation"),
    (is_echo, Fault.ECHO, "it repeats what it was given"),
    (obeys, Fault.OFF_TOPIC, "it says what a text in the conversation told it to say"),
    (repeats_itself, Fault.REPEATS, "it says the same again and again"),
    (is_endless, Fault.OFF_TOPIC, "it has no heading and is many times as long as was asked for"),
    (gives_orders, Fault.OFF_TOPIC, "it gives orders instead of noting what was said"),
    (is_code, Fault.OFF_TOPIC, "it does the work instead of noting it"),
    (only_asks, Fault.OFF_TOPIC, "it asks something instead of noting what was said"),
    (speaks_to_the_user, Fault.OFF_TOPIC, "it speaks to the user instead of noting what was said"),
    (is_of_something_else, Fault.OFF_TOPIC, "it shares no word with the conversation"),
    (has_lost_its_headings, Fault.OFF_TOPIC, "it drops the previous summary"),
)
"""What is asked of the text of an answer, in this order."""
