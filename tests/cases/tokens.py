"""Kind ``tokens``: counts, estimates, thresholds, and what a provider's usage leads to."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from host.engine.services import Thresholds
from host.messages.types import Message, Usage
from host.tokens import Counter, Estimator, budgets, estimate_text
from tests.cases.case import Case
from tests.cases.described import amount_of, needed_amount, schemas, text_of_size
from tests.cases.facts import Each, Facts, NoDriver
from tests.cases.watched import EXACT, Idle, Priced, Watched, services, stage

ROOT = Path(__file__).parents[2]
ROOMY = 128_000  # tokens of a window that no case of usage alone fills


def count_text(case: Case, folder: Path) -> Facts:
    """A text, counted by vocabulary (whole and sampled) and by estimate."""
    text, counter = case.input["text"], Counter(str(case.input.get("model", "")))
    if not isinstance(text, str):
        raise NoDriver(f"no driver reads {text!r}")
    counter.text("the vocabulary is loaded")
    started = time.perf_counter()
    tokens = counter.text(text)
    seconds = time.perf_counter() - started
    exact = Counter(counter.model, sampled=False).text(text)
    return {
        "tokens": Each(counter=tokens, exact=exact),
        "estimate": Each(counter=tokens, estimator=estimate_text(text)),
        "seconds": seconds,
        "chars": len(text),
    }


def count_offline(case: Case, folder: Path) -> Facts:
    """A text, counted by a process that has no network and the environment that the case describes."""
    text = case.input.get("text") or quoted(str(case.input.get("call", "")))
    answer = subprocess.run(
        [sys.executable, "-m", "tests.cases.offline"],
        input=text.encode("utf-8", "surrogatepass"),
        env=environment(case.input["env"], folder),
        cwd=ROOT,
        capture_output=True,
        check=False,
        timeout=120,
    )
    if answer.returncode:
        return {"raises": answer.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]}
    seen = json.loads(answer.stdout)
    return {
        "tokens": Each(shipped=seen["shipped"]["tokens"], bare=seen["bare"]["tokens"]),
        "estimate": seen["bare"]["tokens"],
        "falls_back_to_estimate": seen["bare"]["estimated"] and seen["bare"]["tokens"] == seen["estimate"],
        "blocks_seconds": Each(shipped=seen["shipped"]["seconds"], bare=seen["bare"]["seconds"]),
        "network_attempts": len(seen["attempts"]),
    }


def quoted(call: str) -> str:
    """The text in quotation marks."""
    found = re.search(r"'(.*)'|\"(.*)\"|`(.*)`", call, re.DOTALL)
    if found is None:
        raise NoDriver(f"no driver reads {call!r}")
    return next(text for text in found.groups() if text is not None)


def environment(described: object, folder: Path) -> dict[str, str]:
    """This process's environment with home and caches in an empty folder, and the variables that the case names."""
    home = folder / "home"
    home.mkdir()
    own = {name: value for name, value in os.environ.items() if name not in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR", "XDG_CACHE_HOME")}
    own |= {"HOME": str(home), "PYTHONPATH": str(ROOT)}
    if isinstance(described, Mapping):
        return own | {str(name): str(value) for name, value in described.items()}
    for name in re.findall(r"empty ([A-Z_]+)", str(described)):
        own[name] = str(folder / "empty")
        (folder / "empty").mkdir(exist_ok=True)
    return own


def find_thresholds(case: Case, folder: Path) -> Facts:
    """The figures of a window, by the formula and as an engine has them."""
    given = case.input
    percent, ratio = given.get("threshold_percent", 0.5), given.get("target_ratio", 0.2)
    found = budgets(given["context_length"], threshold=percent, target_ratio=ratio, max_tokens=given.get("max_tokens"))
    thresholds = Thresholds(threshold=percent, target_ratio=ratio)
    engine = Watched(services(window=given["context_length"], thresholds=thresholds, reserve=given.get("max_tokens") or 0))
    both = [("formula", found), ("engine", engine.budgets)]
    return {
        "threshold_tokens": Each({"formula": found.threshold, "engine": engine.threshold_tokens}),
        "tail_token_budget": Each({way: each.tail for way, each in both}),
        "max_summary_tokens": Each({way: each.summary for way, each in both}),
        "soft_ceiling": Each({way: each.soft_ceiling for way, each in both}),
    }


USAGE_KEYS = ("usage", "usageMetadata", "usage_metadata", "timings")


def usage_of(given: Mapping[str, Any]) -> Usage | None:
    """The usage of a reply: under one of the keys that providers have for it, else in the reply itself."""
    places = [given[key] for key in USAGE_KEYS if isinstance(given.get(key), Mapping)]
    return next(filter(None, map(Usage.from_provider, [*places, given])), None)


def decide(case: Case, folder: Path) -> Facts:
    """What a reply's usage leads to once its tool results are in. A message costs what the case estimates, all others nothing."""
    given = case.input
    estimated = estimate_in(given)
    count = Priced(otherwise=0)
    on = stage(Idle, services(window=window_for(given, estimated), count=count, thresholds=thresholds_of(given)))
    engine, conversation = cast(Idle, on.engine), on.conversation
    for tokens, message in estimated:
        conversation.add(count.price(message, tokens))
    conversation.window()
    with_threshold(engine, given)
    usage = usage_of(given)
    if "last_prompt_tokens" in given:
        engine.last_prompt_tokens = given["last_prompt_tokens"]
    else:
        conversation.measured(usage)
    engine.questions, engine.called = [], 0
    context = Each(conversation=conversation.estimate(), **({"engine": engine.last_prompt_tokens} if usage else {}))
    conversation.add({"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]})
    conversation.add({"role": "tool", "tool_call_id": "c", "content": "ok"})
    used, answer = engine.questions[-1]
    return {
        "should_compress": answer,
        "compress_called": engine.called > 0,
        "used_value": used,
        "source": "usage" if engine.last_prompt_tokens > 0 else "estimate" if used else "none",
        "context_tokens": context,
        "prompt_tokens": usage.prompt if usage else None,
        "completion_tokens": usage.completion if usage else None,
    }


def estimate_in(given: Mapping[str, Any]) -> list[tuple[int, Message]]:
    """The messages of the case with their tokens; one that stands for all where it only says how many there are."""
    messages = given.get("messages", [])
    if isinstance(messages, list):
        told = [(EXACT.message(message), message) for message in messages]
    else:
        told = [(needed_amount(messages, "tokens"), Message(role="user", content="all of it"))]
    estimated = given.get("estimated", given.get("estimate"))
    if estimated is None:
        return told
    tokens = estimated if isinstance(estimated, int) else needed_amount(estimated, "tokens")
    return [(tokens, Message(role="user", content="all of it"))]


def window_for(given: Mapping[str, Any], estimated: list[tuple[int, Message]]) -> int:
    """The window of the case, else one that has room for the threshold and all messages."""
    threshold = given.get("threshold", 0)
    return int(
        given.get("context_length") or max(ROOMY, 2 * (threshold if threshold > 1 else 0), 2 * sum(tokens for tokens, _ in estimated))
    )


def thresholds_of(given: Mapping[str, Any]) -> Thresholds:
    """The share that the case configures, if it does."""
    share = given.get("threshold_percent", given.get("threshold", 0.5))
    return Thresholds(threshold=share if 0 < share <= 1 else 0.5)


def with_threshold(engine: Idle, given: Mapping[str, Any]) -> None:
    """Put the case's threshold in force where it gives one in tokens."""
    tokens = given.get("threshold_tokens", given.get("threshold", 0))
    if tokens > 1:
        engine.threshold_tokens = tokens
        engine.budgets = replace(engine.budgets, threshold=tokens)


def count_request(case: Case, folder: Path) -> Facts:
    """A request: messages, system prompt and tools, estimated and then shown to a conversation before a model call."""
    given = case.input
    messages = list(given["messages"]) if isinstance(given["messages"], list) else described_messages(given["messages"])
    if "system" in given:
        messages.insert(0, {"role": "system", "content": text_of_size(given["system"])})
    tools = schemas(given["tools"]) if "tools" in given else []
    estimates = Each({"counter": of_request(Counter(), messages, tools), "estimator": of_request(Estimator(), messages, tools)})
    on = stage(Watched, services(window=given.get("context_length", ROOMY), thresholds=thresholds_of(given)))
    engine, conversation = cast(Watched, on.engine), on.conversation
    for message in messages:
        conversation.add(message)
    engine.questions.clear()
    before = conversation.estimate()
    conversation.window(tools)
    whole = of_request(EXACT, messages, tools)
    return {
        "estimate": estimates,
        "full_estimate_run": bool(engine.questions) and engine.questions[0][0] == whole >= before,
        "should_compress": bool(engine.questions) and engine.questions[0][1],
        "compress_or_trim_attempted": engine.called > 0,
        "compress_called": engine.called > 0,
        "tokens_after": conversation.estimate(),
    }


def of_request(counter: Counter | Estimator, messages: list[Message], tools: list[dict[str, Any]]) -> int:
    """Tokens of all of it."""
    return counter.messages(messages) + counter.tools(tools)


def described_messages(text: object) -> list[Message]:
    """Messages as many and as long as described ("200 messages of 300 chars"); one where only the size is given."""
    size = needed_amount(text, "(?:chars|characters)")
    number = amount_of(str(text), "messages?") or 1
    return [{"role": ("user", "assistant")[index % 2], "content": text_of_size(f"{size} chars")} for index in range(number)]
