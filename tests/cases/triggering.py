"""Kinds ``trigger-loop`` and ``cli-gateway``, and bodies that are too large: when a conversation is compacted, and when it is given up."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from host.app.models import main_model
from host.compressor.compressor import Compressor
from host.compressor.focus import HEADING
from host.config.loader import load_here
from host.conversation.asked import size_in_bytes
from host.conversation.conversation import Conversation
from host.conversation.feedback import feedback
from host.conversation.retrying import GiveUp
from host.engine.engine import EngineState
from host.engine.services import Ask, Thresholds
from host.engine.thrash import Effect
from host.messages.reading import has_image, text_of
from host.messages.types import Message, Part, Reply, Usage
from host.messages.violations import violations
from host.provider.ask import asking
from host.store.memory import MemoryArchive, MemoryStore
from host.testing.messages import assistant, call, result, system, user
from host.transforms.handoff import handoff_text
from tests.cases.case import Case
from tests.cases.facts import Facts, NoDriver
from tests.cases.house import messages_of, said
from tests.cases.scribe import ANSWER, Scribe, always, reply_of
from tests.cases.sitting import PRICE, narrow_window, sitting, turns
from tests.cases.watched import Priced, Watched, services
from tests.desk import Desk
from tests.engines_for_tests import Scripted

LIMIT = 5_000  # messages, where a case names none
ROOMY = 128_000
SHORT, LONG = 5, 50  # tokens of a message
STOPS = "stop with an error that names the counts; no fourth request"
MOST_REQUESTS = 3
FITS = "either fits or one clear error with a way out (/new); session file still readable"
WORK = 10  # calls and their results behind a case's messages
DATA = "data:image/png;base64," + "A" * 100_000


class Refused(Exception):
    """A refusal as a client raises it."""

    def __init__(self, words: str, status: int) -> None:
        super().__init__(words)
        self.status_code, self.body = status, {"error": {"message": words}}


def refusal_of(described: str) -> Refused:
    """The refusal that a case describes: its status, and its words."""
    found = re.search(r"(?P<status>[45]\d\d) (?P<words>.+)", described)
    if found is None:
        raise NoDriver(f"no driver reads {described!r}")
    return Refused(found["words"].replace("_", " "), int(found["status"]))


def swept(case: Case, folder: Path) -> Facts:
    """Hygiene on a conversation of so many messages and tokens, its engine paused where the case says so."""
    given = case.input
    window = int(given.get("context_length") or given["hygiene_limit"] / 0.85)
    at = sitting(window=window)
    at.hear([system("You are an agent."), *turns(given["messages"] - 1)], price=given["tokens"] // given["messages"])
    if "guard_count" in given:
        at.engine.state = replace(EngineState(), effect=Effect(ineffective=given["guard_count"], left=given["tokens"]))
    outcome = at.talk.hygiene(given.get("hygiene_hard_message_limit", LIMIT))
    return {"forced": outcome is not None, "hygiene_fires": outcome is not None, "messages_after": len(at.window)}


def swept_in_vain(case: Case, folder: Path) -> Facts:
    """A limit that no round reaches, and messages that keep coming in."""
    given, rounds = case.input, []

    def shortened(messages: list[Message]) -> list[Message]:
        rounds.append(len(messages))
        gone = len(messages) - given["after_round"]
        return [messages[0], user(handoff_text("notes")), *messages[gone + 2 :]] if gone > 0 else messages

    engine = Scripted(shortened, 1_000_000)
    engine.services = services(window=1_000_000)  # type: ignore[attr-defined]
    talk = Desk(MemoryStore()).open(engine)
    for message in [system("You are an agent."), *turns(given["messages"] - 1)]:
        talk.add(message)
    delivered = []
    for number in range(given["inbound_messages"]):
        talk.hygiene(given["hygiene_hard_message_limit"])
        talk.add(user(f"inbound {number}"))
        delivered.append(text_of(talk.window()[-1]) == f"inbound {number}")
        talk.add(assistant("done"))
    return {"summarizer_calls": len(rounds), "reply_delivered_each": all(delivered)}


def grown(case: Case, folder: Path) -> Facts:
    """An engine that pauses after compactions without effect, and a history that has doubled since."""
    engine = Watched(services(window=ROOMY))
    left = engine.threshold_tokens
    engine.state = replace(EngineState(), effect=Effect(ineffective=2, left=left))
    assert not engine.should_compress(left)
    return {"should_compress": engine.should_compress(left * 2)}


def far_over(case: Case, folder: Path) -> Facts:
    """A history that is over the limit already, and a service that says so each time."""
    limit = case.input["limit"]
    at = sitting(window=limit)
    at.hear([system("You are an agent."), *turns(200)], price=case.input["prompt_tokens"] // 200)
    words = f"The input token count ({case.input['prompt_tokens']}) exceeds the maximum number of tokens allowed ({limit})."
    requests, answer = 0, True
    while answer and requests < 9:
        at.talk.window()
        requests += 1
        answer = at.talk.estimate() > limit and bool(at.talk.refused(Refused(words, 400)))
    fits = at.talk.estimate() <= limit and len(at.talk.archive.read(1, 300)) == 201
    return {"retries": requests - 1, "final_state": FITS if fits else "too long"}


def nothing_to_do(case: Case, folder: Path) -> Facts:
    """A short conversation over its threshold, turn by turn."""
    scribe = Scribe(always(reply_of(ANSWER)))
    at, threshold, tail = watched(window=ROOMY, ask=asking(scribe)), case.input["threshold_tokens"], case.input["tail_budget"]
    engine = engine_of(at)
    engine.threshold_tokens = threshold
    engine.budgets = replace(engine.budgets, threshold=threshold, tail=tail, soft_ceiling=tail)
    for number in range(5):
        for message in messages_like(case.input["messages"]) if not number else turns(2, first=number + 2):
            at.add(priced(at, message, SHORT if number else LONG))
        at.window()
        at.measured(None)
    return {"summarizer_calls_over_5_turns": len(scribe.prompts), "compress_attempts_over_5_turns": engine.called}


def long_turn(case: Case, folder: Path) -> Facts:
    """One turn of many tool rounds; after each it is asked whether to compact."""
    rounds, tokens, window = (int(number.replace(",", "")) for number in re.findall(r"\d[\d,]{1,}", case.input["turn"])[:3])
    at = watched(window=window, threshold=0.5, price=None)
    at.add(user("Do it."))
    asked = []
    for number in range(rounds):
        at.window()
        at.measured(None)
        at.add(assistant(None, [call(f"c{number}", "run")]))
        before = len(engine_of(at).questions)
        at.add(priced(at, result(f"c{number}", "out"), tokens))
        asked.append(len(engine_of(at).questions) > before)
    return {"compress_checked_after_each_tool_round": all(asked) and at.estimate() < window}


def refused(case: Case, folder: Path) -> Facts:
    """A service that refuses: the bytes of pictures, or each request."""
    return too_heavy(case, folder) if "messages" in case.input else always_refused(case, folder)


def always_refused(case: Case, folder: Path) -> Facts:
    """A service that refuses each request, and a window that could be made shorter each time, once before the first call."""
    engine = Scripted(lambda messages: [messages[0], *messages[13:]], 8_000)
    talk = Desk(MemoryStore()).open(engine)
    for message in [system("You are an agent."), *(said(n, chars=300) for n in range(2, 100))]:
        talk.add(message)
    refusal, requests = refusal_of(str(case.input["provider"])), 0
    answer: object = True
    while answer:
        talk.window()
        requests += 1
        answer = talk.refused(refusal)
    assert isinstance(answer, GiveUp)
    named = bool(re.search(r"\d attempts", answer.why) and re.search(r"\d messages", answer.why))
    then = STOPS if named and requests == MOST_REQUESTS else f"{requests} requests: {answer.why}"
    return {"compress_attempts": engine.calls, "then": then}


def never_shorter(case: Case, folder: Path) -> Facts:
    """One message, refused."""
    talk = Desk(MemoryStore()).open()
    for message in messages_of(case.input["messages"]):
        talk.add(message)
    sent = []
    answer: object = True
    while answer:
        sent.append(str(talk.window()))
        answer = talk.refused(refusal_of(case.input["provider"]))
    assert isinstance(answer, GiveUp)
    says = "system prompt, tools and newest message alone exceed the window"
    return {"identical_requests": max(map(sent.count, sent)), "message_says": says if says in answer.why else answer.why}


def too_heavy(case: Case, folder: Path) -> Facts:
    """Pictures that are too many bytes, in old turns."""
    number = int(re.findall(r"\d+", case.input["messages"])[0])
    at = sitting(window=1_000_000)
    picture: Part = {"type": "image_url", "image_url": {"url": DATA}}
    by_tools = "tool" in case.input["messages"]
    for place in range(number):
        content: list[Part] = [{"type": "text", "text": f"picture {place}"}, picture]
        at.talk.add(user("look"))
        if by_tools:
            at.talk.add(assistant(None, [call(f"c{place}", "shot")]))
            at.talk.add({"role": "tool", "tool_call_id": f"c{place}", "content": content})
        else:
            at.talk.add({"role": "user", "content": content})
        at.talk.add(assistant("seen"))
    at.talk.add(user("and now?"))
    first = at.talk.window()
    answer = at.talk.refused(refusal_of(case.input["provider"]))
    second = at.talk.window()
    removed = bool(answer) and sum(map(has_image, second)) < sum(map(has_image, first))
    return {
        "class": "payload_too_large",
        "old_images_removed": removed,
        "oldest_images_removed": removed and not has_image(second[1]),
        "second_request_bytes<first": size_in_bytes(second) < size_in_bytes(first),
        "retry_bytes<first": size_in_bytes(second) < size_in_bytes(first),
    }


def switched_off(case: Case, folder: Path) -> Facts:
    """A window over its threshold, and no automatic compaction."""
    at = watched(window=2 * case.input["threshold"], threshold=0.5, price=case.input["estimated_tokens"] // 10, automatic=False)
    for message in turns(10):
        at.add(message)
    at.window()
    at.hygiene(5)
    return {"compress_calls": engine_of(at).called}


def by_hand(case: Case, folder: Path) -> Facts:
    """The messages of a case, compacted by hand; what is kept, and what is told."""
    messages = messages_of(case.input["messages"])
    at = sitting(window=ROOMY, protect_first_n=case.input.get("protect_first_n", 3))
    at.talk.receive(messages)
    at.compact()
    window = at.window
    told = " ".join(feedback(at.outcome).lines()) + str(at.talk.idle or "")
    focus = focus_after_recovery(messages)
    users = [message for message in messages if message["role"] == "user"]
    return {
        "summarizer_calls": len(at.prompts),
        "message": "nothing to compress" if re.search(r"nothing to comp|nothing to gain", told) else told,
        "VISIBLE_in_tail": any(text_of(message) == "VISIBLE" for message in window),
        "open_in_head_or_summary": any("open" in text_of(message) for message in window),
        "active_user_in_tail": users[-1] in window,
        "last_user": text_of(next(message for message in reversed(window) if message["role"] == "user")),
        **({"focus_topic": focus} if focus else {}),
        "every_tool_message_follows_its_assistant_tool_calls_block": not violations(window),
        "every_tool_call_id_has_exactly_one_result": not violations(window),
        "no_orphan_results": not violations(window),
    }


def focus_after_recovery(messages: Sequence[Message]) -> str:
    """What the summary model is told to dwell on, where the conversation was opened anew and its agent has worked on since."""
    at = sitting(Scribe(always(reply_of(ANSWER))), window=narrow_window([*messages, *range(2 * WORK)]))
    at.hear(messages, PRICE)
    at.talk = at.desk.open(Compressor(at.talk.services), at.desk.shelf())
    for number in range(WORK):
        at.hear([assistant(None, [call(f"w{number}", "run")]), result(f"w{number}", f"output {number}")], PRICE)
    at.compact()
    _, heading, focus = "\n".join(at.prompts).partition(HEADING)
    newest = [line for line in focus.split("\n\n")[0].splitlines() if line.startswith("- ")]
    return newest[-1] if heading and newest else ""


def cut_short(case: Case, folder: Path) -> Facts:
    """A count far below what was sent."""
    heard: list[str] = []
    price = case.input["estimated_prompt_tokens"] // 10
    talk = watched(window=case.input["context_length"], price=price, automatic=False, heard=heard)
    for message in turns(10):
        talk.add(message)
    talk.window()
    talk.answered(Reply(assistant("Yes."), Usage(case.input["usage"]["prompt_tokens"], 5), "stop"))
    warned = any("not believed" in warning for warning in heard)
    trusted = talk.gauge.real_tokens is not None
    return {"class": "silent_truncation" if warned else "none", "warning": warned, "real_count_trusted": trusted}


def declared(case: Case, folder: Path) -> Facts:
    """A window that the user declared, for a model whose name is known."""
    file = folder / "config.yaml"
    section = {"name": case.input["config"]["model"], "context_length": case.input["config"]["context_length"]}
    file.write_text("model:\n" + "".join(f"  {key}: {value}\n" for key, value in section.items()), encoding="utf-8")
    loaded = load_here(file, folder)
    return {"engine.context_length": main_model(loaded, home=folder).window}


def carried_over(case: Case, folder: Path) -> Facts:
    """The origin of a session whose conversation went on in a child."""
    parent = case.input["parent"]
    store = MemoryStore()
    origin = {key: value for key, value in parent.items() if key != "title"}
    desk = Desk(store)
    desk.kept = store.sessions.create(title=parent["title"], about=origin)
    talk = desk.open()
    for message in [system("You are an agent."), *(said(n, chars=900) for n in range(2, 40))]:
        talk.add(message)
    talk.compact()
    child = store.sessions.get(talk.session)
    is_child = child.parent == desk.kept.id
    seen: Mapping[str, Any] = {
        **child.about,
        "title_contains": parent["title"] if parent["title"] in (child.title or "") else child.title,
        "parent_session_id": "<parent>" if is_child else child.parent,
    }
    return {"child": {key: seen.get(key) for key in case.expected["child"]}}


def messages_like(number: int) -> list[Message]:
    """So many ordinary messages behind a prompt."""
    return [system("You are an agent."), *turns(number - 1)]


def watched(
    *,
    window: int,
    price: int | None = 50,
    automatic: bool = True,
    heard: list[str] | None = None,
    ask: Ask | None = None,
    **thresholds: Any,
) -> Conversation:
    """A conversation under the watched engine, whose messages cost what the case says."""
    given = services(window=window, count=Priced(otherwise=price), ask=ask, thresholds=Thresholds(**thresholds))
    warn: Callable[[str], None] = heard.append if heard is not None else lambda text: None
    return Conversation(Watched(given), given, MemoryArchive(), warn=warn, automatic=automatic)


def engine_of(talk: Conversation) -> Watched:
    """Its engine."""
    assert isinstance(talk.engine, Watched)
    return talk.engine


def priced(talk: Conversation, message: Message, tokens: int) -> Message:
    """A message that costs so much there."""
    assert isinstance(talk.services.count, Priced)
    return talk.services.count.price(message, tokens)
