"""What a summary without a model is made of: where each section finds its items in the turns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from host.compressor.template import Section
from host.messages.clients import is_of_the_client, own_words
from host.messages.facts.constraints import binds, constraints_in
from host.messages.masked import Mask, masked, with_values
from host.messages.reading import (
    call_arguments,
    call_id,
    call_name,
    calls_of,
    has_words,
    is_system,
    parsed_arguments,
    text_of,
    tool_call_id,
)
from host.messages.types import Message, ToolCall
from host.transforms.digests import digest

READ = 8_000  # characters of a text, and of a value in a call's arguments
SCANNED = 400  # newest messages of a kind that are searched; what the user wrote is searched whole
EDGE_CHARS = 1_200  # of either end of a tool result: errors stand at its beginning or its end
FAILURES_EACH = 2  # lines of one result
LEAST_WORDS, LEAST_CHARS = 3, 16
SHORT_LINE = 160  # characters


@dataclass(frozen=True)
class Wording:
    """A pattern, and what no text that it matches can be without: looking for that first is ten times faster."""

    words: tuple[str, ...]  # in small letters
    pattern: re.Pattern[str]

    def search(self, text: str) -> bool:
        """Whether the pattern is found."""
        small = text.casefold()
        return any(word in small for word in self.words) and self.pattern.search(text) is not None


def wording(words: str, pattern: str) -> Wording:
    """A wording in any case; its words are separated by bars."""
    return Wording(tuple(words.split("|")), re.compile(pattern, re.IGNORECASE))


NORMATIVE = wording(
    "must|never|always|only|do not|don't|prefer|require|make sure|avoid|不要|必须|务必|禁止|只能|不能|しないで|必ず|てください",
    r"\b(must|never|always|only|do not|don't|prefer|required?|make sure|avoid)\b"
    r"|不要|必须|务必|禁止|只能|不能|しないで|必ず|てください",
)
DECIDING = wording(
    "decid|instead of|because|chose|choose|will use|going with|switch|root cause|turns out|决定|选择|改用|因为|にします|採用",
    r"\b(decid\w+|instead of|because|chose|choose|will use|going with|switch(?:ed|ing)? to|root cause|turns out)\b"
    r"|决定|选择|改用|因为|にします|採用",
)
STATING = wording(
    "want|prefer|would like|rather|please|next|current|until|belong|style|awaiting|open question|if|unless|whenever|instead"
    "|希望|想要|喜欢|下一步|目前|请|如果|次は|現在|好み|場合",
    r"\b(wants?|prefer\w*|would like|rather|please|next|current(?:ly)?|until|belongs? to|style|awaiting|open question"
    r"|if|unless|whenever|instead)\b|希望|想要|喜欢|下一步|目前|请|如果|次は|現在|好み|場合",
)
NAMED = re.compile(r"(?<=[a-z,] )[A-Z][\w-]+")
"""A word with a capital inside a sentence: somebody's or something's name."""
FAILING = wording(
    "error|fail|exception|traceback|fatal|denied|timed|not found|错误|失败|エラー",
    r"\w*error\b|\bfail(?:ed|ure|s)?\b|\w*exception\b|traceback|\bfatal\b|\bdenied\b|\btimed ?out\b|\bnot found\b|错误|失败|エラー",
)
NO_FAILURE = re.compile(
    r"\b(?:0|no) (?:failed|failures?|errors?)\b"  # what a good run says
    r"|^\W*(?:\d+[→:|]|[-+@]|(?:def|class|if|elif|return|import|from|for|try|except|raise|with|assert|SELECT|INSERT|UPDATE)\b)"  # code
    r"|^\s*[\w.]+ ?= |[;{(,]\s*$",
    re.IGNORECASE,
)
EXACT = re.compile(
    r"(?=[h/~.\da-fvA-Z`\"「])(?:"  # what one begins with: one look instead of ten
    r"https?://\S+|(?<!\w)[~.]{0,2}/[\w.-]+(?:/[\w.-]+)+|\b(?=[a-f]{0,39}\d)[0-9a-f]{7,40}\b|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\bv?\d+\.\d+(?:\.\d+)*\b"
    r"|\b[A-Z]{1,5}-?\d{2,}\b|`[^`\n]{2,80}`|\"[^\"\n]{2,80}\"|「[^」\n]{2,40}」|\d+(?:[.,]\d+)*\s?(?:%|ms|s|MB|GB|KB|元|円|€|\$|px|tokens?))"
)
EXACT_SIGN = re.compile(r"[\d/_`\"「](?<!\w/)")  # no exact value is without one of these
PATH = re.compile(r"(?<![\w/:.])(?:[~.]{0,2}/)?(?:[\w.-]+/)+[\w-]+\.\w{1,8}\b")
PATH_ARGUMENTS = ("path", "file_path", "filename", "workdir", "output_path", "notebook_path")
SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")


class Turns:
    """The turns that notes are made of. Their texts are masked before anything is cut, each once."""

    def __init__(self, messages: Sequence[Message], mask: Mask, later: Sequence[Message] = ()) -> None:
        self.messages = messages
        self._later = later
        self._mask = mask
        self._texts: dict[int, str] = {}
        self._masked: dict[str, str] = {}

    def text(self, message: Message) -> str:
        """The beginning of a message's words, without secrets."""
        key = id(message)
        if key not in self._texts:
            self._texts[key] = self.masked(text_of(message))
        return self._texts[key]

    def masked(self, text: str) -> str:
        """The beginning of any text, without secrets."""
        if text not in self._masked:
            self._masked[text] = masked(text, self._mask, READ)
        return self._masked[text]

    def of_user(self) -> Iterator[Message]:
        """What the user wrote, newest first."""
        return (m for m in reversed(self.messages) if m.get("role") == "user" and has_words(m))

    def said_by_user(self) -> Iterator[str]:
        """What the user wrote, also since these turns, newest first; not what a client wrote in the user's name."""
        since = (m for m in reversed(self._later) if m.get("role") == "user" and has_words(m))
        return (self.text(m) for m in chain(since, self.of_user()) if not is_of_the_client(m))

    def newest(self, role: str) -> Iterator[Message]:
        """The newest messages of one role, newest first, as many as are searched."""
        return islice((m for m in reversed(self.messages) if m.get("role") == role), SCANNED)


@dataclass(frozen=True)
class Source:
    """How a section is filled: its items newest first, how many, how long, and how many go in per round."""

    collect: Callable[[Turns], Iterable[str]]
    limit: int
    chars: int
    weight: int = 1
    share: float = 1.0  # of the whole body at most


def newest_request_of(turns: Turns) -> Iterator[str]:
    """The user's newest message."""
    yield from islice(requests(turns), 1)


def requests(turns: Turns) -> Iterator[str]:
    """What the user wrote, without what a client put before it."""
    return filter(None, map(own_words, map(turns.text, turns.of_user())))


def rules(turns: Turns) -> Iterator[str]:
    """Sentences in which the user sets a rule or a value, or an instruction does that came later than the prompt."""
    instructing = (m for m in reversed(turns.messages) if is_system(m) or (m.get("role") == "user" and not is_of_the_client(m)))
    return (statement for m in instructing for statement in binding(turns.text(m)))


def binding(text: str) -> Iterator[str]:
    """Statements of a text that set a rule, as facts know rules, or a value; others' rules, quoted or pasted, are left out."""
    own = [rule.text for rule in constraints_in(text)]
    for statement in statements(text):
        if any(rule in statement or statement in rule for rule in own) or (holds_exact_value(statement) and not is_normative(statement)):
            yield statement


def is_normative(text: str) -> bool:
    """Whether a text, whoever wrote it, says what must be or must not be."""
    return NORMATIVE.search(text) or is_rule(text)


def is_rule(text: str) -> bool:
    """Whether a sentence of a user's text sets a rule."""
    return any(map(binds, sentences(text)))


def states_something(text: str) -> bool:
    """Whether the user says what is wanted, how things stand, or who and what is meant: more than that work goes on."""
    return any(map(str.isdigit, text)) or bool(NORMATIVE.search(text) or STATING.search(text) or NAMED.search(text) or EXACT.search(text))


def actions(turns: Turns) -> Iterator[str]:
    """Finished calls, one line each."""
    results: dict[str, str] = {}
    for message in reversed(turns.messages):
        if message.get("role") == "tool":
            results[tool_call_id(message)] = text_of(message)
        for call in reversed(calls_of(message)):
            yield _action(call, results.pop(call_id(call), ""), turns)


def last_state(turns: Turns) -> Iterator[str]:
    """What the assistant said last."""
    yield from islice((turns.text(m) for m in reversed(turns.messages) if m.get("role") == "assistant" and has_words(m)), 1)


def errors(turns: Turns) -> Iterator[str]:
    """Lines of tool results that report a failure."""
    for text in map(text_of, turns.newest("tool")):
        edges = text if len(text) <= 2 * EDGE_CHARS else f"{text[:EDGE_CHARS]}\n{_whole_lines(text[-EDGE_CHARS:])}"
        if FAILING.search(edges):
            lines = turns.masked(edges).splitlines()
            yield from islice((line.strip() for line in lines if FAILING.search(line) and not NO_FAILURE.search(line)), FAILURES_EACH)


def decisions(turns: Turns) -> Iterator[str]:
    """Sentences in which the assistant chose or explained."""
    deciding = (m for m in turns.newest("assistant") if DECIDING.search(text_of(m)))
    return (s for m in deciding for s in sentences(turns.text(m)) if DECIDING.search(s))


def files(turns: Turns) -> Iterator[str]:
    """Paths from call arguments and texts."""
    for message in islice(reversed(turns.messages), 2 * SCANNED):
        for call in calls_of(message):
            arguments = parsed_arguments(call) if any(key in call_arguments(call) for key in PATH_ARGUMENTS) else {}
            named = (arguments.get(key) for key in PATH_ARGUMENTS)
            yield from (turns.masked(path) for path in named if isinstance(path, str) and path.strip("./"))
        if message.get("role") != "tool" and "/" in text_of(message):
            yield from PATH.findall(turns.text(message))


def exact_values(turns: Turns) -> Iterator[str]:
    """Sentences of the assistant with a value that must not be guessed."""
    telling = (m for m in turns.newest("assistant") if EXACT_SIGN.search(text_of(m)))
    return (s for m in telling for s in sentences(turns.text(m)) if holds_exact_value(s))


def holds_exact_value(sentence: str) -> bool:
    """Whether a sentence gives a path, address, number with a unit, id, name of a setting or quoted text, and says what it is."""
    return bool(EXACT_SIGN.search(sentence) and EXACT.search(sentence)) and says_something(sentence)


def says_something(sentence: str) -> bool:
    """Whether a sentence is more than a bare value: three words, or as much without blanks."""
    return len(sentence.split()) >= LEAST_WORDS or len(sentence) >= LEAST_CHARS


def statements(text: str) -> Iterator[str]:
    """Short lines of a text whole, so that a rule keeps what it is about; longer ones by sentences."""
    for line in filter(None, map(str.strip, text.splitlines())):
        yield from [line] if len(line) <= SHORT_LINE else sentences(line)


def sentences(text: str) -> Iterator[str]:
    """Sentences and lines of a text, blank ones left out."""
    return (part.strip() for part in SENTENCE.split(text) if part.strip())


SOURCES: dict[Section, Source] = {
    Section.TASK: Source(newest_request_of, 1, 1_400),
    Section.CONSTRAINTS: Source(rules, 80, 240, weight=80, share=0.45),
    Section.ACTIONS: Source(actions, 40, 160),
    Section.STATE: Source(last_state, 1, 500),
    Section.BLOCKED: Source(errors, 8, 240),
    Section.DECISIONS: Source(decisions, 12, 240),
    Section.ASKS: Source(requests, 40, 260, weight=2),
    Section.FILES: Source(files, 24, 160),
    Section.CONTEXT: Source(exact_values, 40, 200, weight=4),
}
"""Section -> where its items come from; sections that need judgement are left to a model."""


def _action(call: ToolCall, result: str, turns: Turns) -> str:
    return digest(call_name(call) or "unknown", with_values(parsed_arguments(call), turns.masked), result)


def _whole_lines(text: str) -> str:
    """The end of a text without the line that it begins in the middle of."""
    return text.partition("\n")[2]
