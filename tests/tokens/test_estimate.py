"""The estimate against the real vocabulary, kind by kind."""

from __future__ import annotations

import argparse
import asyncio.tasks
import base64
import email.message
import inspect
import json
import logging
import random
import stat
import textwrap
import time
import typing
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from host.tokens import Counter, estimate_text
from host.tokens.estimate import WHOLE_CHARS

EXACT = Counter("gpt-4o", sampled=False)
TEXTS = Path(__file__).parent / "texts"
DATA = Path(__file__).parents[2].parent / "shared" / "data"
RANDOM = random.Random(20_240_515)


def listing() -> str:
    """What ``ls -lR`` prints for the folder of the standard library."""
    lines = []
    for folder in (Path(inspect.getfile(asyncio.tasks)).parent, Path(inspect.getfile(email.message)).parent, Path(typing.__file__).parent):
        entries = sorted(folder.iterdir())
        lines += [f"{folder}:", f"total {len(entries) * 4}"]
        for entry in entries:
            info = entry.stat()
            day = time.strftime("%b %d %H:%M", time.gmtime(info.st_mtime))
            lines.append(f"{stat.filemode(info.st_mode)} {info.st_nlink} root root {info.st_size:>8} {day} {entry.name}")
        lines.append("")
    return "\n".join(lines)


def records() -> str:
    """JSON as tools answer it: ids, dates, prices, names, nested lists."""
    draw = random.Random(3)
    names = ["Anna Keller", "Omar Haddad", "Liu Wei", "Maria Souza", "John Smith"]
    return "\n".join(
        json.dumps(
            {
                "order_id": f"#W{draw.randrange(10**7):07}",
                "customer": {"name": draw.choice(names), "email": f"user{draw.randrange(9999)}@example.com", "member": draw.random() < 0.5},
                "status": draw.choice(["pending", "delivered", "cancelled", "processed"]),
                "created_at": f"2024-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}T{draw.randint(0, 23):02}:15:00",
                "items": [
                    {
                        "product": draw.choice(["Water Bottle", "Desk Lamp", "Running Shoes"]),
                        "price": round(draw.uniform(5, 500), 2),
                        "available": True,
                    }
                    for _ in range(draw.randint(1, 4))
                ],
            }
        )
        for _ in range(300)
    )


def paths() -> str:
    """What ``find`` prints for the standard library."""
    return "\n".join(map(str, sorted(Path(typing.__file__).parent.glob("[a-l]*/**/*.py"))))


DOCUMENTED = (argparse, logging, textwrap, email.message.Message, typing.Protocol)
KINDS: dict[str, Callable[[], str]] = {
    "english": lambda: (TEXTS / "english.txt").read_text(encoding="utf-8"),
    "docstrings": lambda: "\n\n".join(filter(None, map(inspect.getdoc, DOCUMENTED))),
    "python": lambda: "".join(map(inspect.getsource, (argparse, logging, textwrap, typing, asyncio.tasks))),
    "json": records,
    "listing": listing,
    "paths": paths,
    "base64": lambda: base64.b64encode(random.Random(5).randbytes(60_000)).decode(),
    "base64 lines": lambda: base64.encodebytes(random.Random(6).randbytes(60_000)).decode(),
    "hex": lambda: random.Random(7).randbytes(30_000).hex(),
    "uuid": lambda: "\n".join(str(uuid.UUID(int=RANDOM.getrandbits(128))) for _ in range(800)),
    "chinese": lambda: (TEXTS / "chinese.txt").read_text(encoding="utf-8"),
    "japanese": lambda: (TEXTS / "japanese.txt").read_text(encoding="utf-8"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_within_five_percent_of_the_vocabulary(kind: str) -> None:
    text = KINDS[kind]()
    assert estimate_text(text) == pytest.approx(EXACT.text(text), rel=0.05)


@pytest.mark.parametrize(
    "text",
    [
        "過長的對話會佔滿上下文視窗，所以我們保留開頭與最近的訊息，把中間的部分整理成摘要。"
        "工具的輸出太長時只留下一行說明，需要時再從檔案庫裡取回原文。",
        "请先运行 `pytest -q`，再看 **host/store** 里的报错：\n\n"
        "```python\ndef total(rows: list[int]) -> int:\n    return sum(rows)\n```\n\n"
        "如果结果不对，请把日志发给我，我会检查配置文件和数据库的版本。\n",
    ],
    ids=["traditional chinese", "chinese with code"],
)
def test_short_texts_of_mixed_kind_are_close(text: str) -> None:
    assert estimate_text(text) == pytest.approx(EXACT.text(text), rel=0.08)


@pytest.mark.parametrize(
    "text",
    [
        "대화가 길어지면 새 메시지를 위한 자리가 없어집니다. 그래서 가운데 부분을 요약하고 처음과 끝은 그대로 둡니다.",
        "Когда разговор становится длинным, для новых сообщений не остаётся места, поэтому середину нужно пересказать.",
        "عندما تطول المحادثة لا يبقى مكان للرسائل الجديدة، ولذلك يجب أن نلخص الجزء الأوسط منها.",
        "Wenn das Gespräch länger wird, bleibt für neue Nachrichten kein Platz, also fasst man die Mitte zusammen.",
        "😀🎉🚀👍🔥✅❌💡📦🐛😂" * 4,
        "--- a/host/app.py\n+++ b/host/app.py\n@@ -12,7 +12,9 @@ def main():\n-    return run()\n+    with quiet:\n+        run()\n",
    ],
    ids=["korean", "russian", "arabic", "german", "emoji", "diff"],
)
def test_other_scripts_are_in_the_right_order(text: str) -> None:
    assert estimate_text(text) == pytest.approx(EXACT.text(text), rel=0.3)


@pytest.mark.parametrize("text", ["a", " ", "\n", "，", "\0", "\ud800", "é"])
def test_no_text_is_free(text: str) -> None:
    assert estimate_text(text) >= 1
    assert estimate_text("") == 0


def test_a_long_text_is_sampled_close_to_its_whole() -> None:
    texts = [KINDS[kind]() for kind in ("python", "json", "listing", "chinese")]
    text = "".join(texts)
    assert len(text) > 4 * WHOLE_CHARS
    whole = sum(estimate_text(text[start : start + 8_192]) for start in range(0, len(text), 8_192))
    assert estimate_text(text) == pytest.approx(whole, rel=0.05)


def conversations() -> Iterator[tuple[str, str]]:
    """The texts of each real collection, one kind at a time."""
    trajectories = json.loads((DATA / "tau-airline-openai" / "gpt-4o-airline.json").read_text(encoding="utf-8"))
    spoken = [message for trajectory in trajectories for message in trajectory["traj"] if message.get("content")]
    yield "english", "\n".join(message["content"] for message in spoken if message["role"] in ("user", "assistant"))
    yield "json", "\n".join(message["content"] for message in spoken if message["role"] == "tool")
    yield "chinese", "\n".join(_texts(DATA / "crosswoz-zh" / "dialogues.jsonl"))
    yield "japanese", "\n".join(_texts(DATA / "jmultiwoz-openai-ja" / "dialogues.jsonl"))


def _texts(path: Path) -> Iterator[str]:
    for line in path.read_text(encoding="utf-8").splitlines():
        messages: list[dict[str, Any]] = json.loads(line)["messages"]
        yield from (message["content"] for message in messages if message.get("content") and message["role"] != "tool")


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared conversations (../shared/data) are not on this machine")
def test_real_conversations_are_within_five_percent() -> None:
    misses = {kind: estimate_text(text) / EXACT.text(text) - 1 for kind, text in conversations()}
    assert {kind: f"{miss:+.1%}" for kind, miss in misses.items() if abs(miss) > 0.05} == {}


@pytest.mark.parametrize("unit", ["a", "Z", "ж", "=", " ", "\n", "xy", "é", "-=", "zq"])
def test_a_run_is_never_taken_for_one_word(unit: str) -> None:
    text = unit * (20_000 // len(unit))
    counted = Counter(sampled=False).text(text)
    assert 0.4 * counted <= estimate_text(text) <= 8 * counted
