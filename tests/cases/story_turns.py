"""Steps in which an agent takes turns while its conversation is compacted: in the turn itself, or by somebody else."""

from __future__ import annotations

import json
import re
import threading
from pathlib import Path
from typing import Any

from host import Host
from host.app.agents import SCRIPTED
from host.loop.agent import Agent, Turn
from host.loop.events import Compacted, Event
from host.messages.reading import text_of
from tests.cases.facts import NoDriver
from tests.cases.house import TITLE, said
from tests.cases.story import ENOUGH, Steps, Story
from tests.cases.story_talk import count_of

ANSWER = "Understood, I go on."
LOOKS = {"calls": [{"name": "lcm_grep", "arguments": {"query": "note"}}]}
HELD = "SELECT name FROM leases WHERE holder IS NOT NULL"

Found = re.Match[str]


def rotate_in_a_turn(story: Story, found: Found) -> None:
    """A turn that finds the window over its threshold and goes on in a child session; then what still marks the parent as at work."""
    story.tell(ENOUGH)
    heard: list[Event] = []
    agent = agent_of(story, heard)
    parent = agent.conversation.session
    take_turn(story, agent)
    if agent.conversation.session == parent or not any(isinstance(event, Compacted) for event in heard):
        raise NoDriver("nothing was rotated in the turn")
    kept = story.house.host.store.sessions.get(parent)
    marks = [name for (name,) in _outside(story, HELD)]
    marks += [f"{key}={value}" for key, value in {**kept.about, **kept.settings}.items() if re.search(r"stream|running|active|turn", key)]
    marks += [] if kept.ended else ["not ended"]
    story.seen |= {"parent.active_stream": marks or None, "parent.end_reason": kept.end_reason}


def turn_ends(story: Story, found: Found) -> None:
    """A turn of an agent that stays, behind enough messages to compact."""
    story.tell(ENOUGH)
    take_turn(story, agent_of(story, []))


def compact_elsewhere(story: Story, found: Found) -> None:
    """A compaction of the same conversation by another host, in a thread, while the agent holds what it knows."""
    refused: list[str | None] = []

    def compact() -> None:
        with Host(home=story.house.home, warn=story.house.warnings.append) as other:
            refused.append(other.conversation(TITLE, window=story.house.window).compact().refused)

    for _ in range(count_of(found["times"]) if found["times"] else 1):
        worker = threading.Thread(target=compact)
        worker.start()
        worker.join(60)
    if not refused or refused[0] is not None:
        raise NoDriver(f"nothing was compacted in the background: {refused}")


def next_turn(story: Story, found: Found) -> None:
    """The next message of the user, to the agent that was there before."""
    for _ in range(count_of(found["times"]) if found["times"] else 1):
        take_turn(story, story.house.host.agent(TITLE, model=script_of(story)))


def agent_of(story: Story, heard: list[Event]) -> Agent:
    """An agent in the conversation of the story, its window as narrow as that of the story."""
    story.house.close()
    file = story.house.home / "config.yaml"
    config = json.loads(file.read_text(encoding="utf-8"))
    file.write_text(json.dumps({**config, "model": {"context_length": story.house.window}}), encoding="utf-8")
    return story.house.host.agent(TITLE, model=script_of(story), tell=heard.append)


def script_of(story: Story) -> str:
    """A model that looks something up, and answers."""
    file = story.house.home / "script.json"
    Path(file).write_text(json.dumps({"repeat": True, "steps": [LOOKS, ANSWER]}), encoding="utf-8")
    return f"{SCRIPTED}{file}"


def take_turn(story: Story, agent: Agent) -> None:
    """The user's next message and the answer to it; both, and all before them, are archived then, each once."""
    message = said(len(story.told) + 1, role="user", chars=80)
    story.told.append(message)
    turn: Turn | None = None
    with story.attempt():
        turn = agent.turn(message)
    if turn is not None and turn.message is not None:
        story.told.append(turn.message)
    rows: list[Any] = [row.message for row in agent.conversation.archive.rows()]
    is_seen = message in agent.conversation.view.messages
    answered = turn is not None and turn.message is not None and text_of(turn.message) == ANSWER
    story.seen |= {
        "next_turn": "ok" if answered and is_seen else story.error or "not answered",
        "lost_messages": sum(each not in rows for each in story.told),
        "doubled_messages": sum(max(0, rows.count(each) - story.told.count(each)) for each in story.told),
    }


def _outside(story: Story, sql: str) -> list[Any]:
    with story.house.outside() as connection:
        return connection.execute(sql).fetchall()


TIMES = r"(?:,? (?P<times>once|twice|\w+(?= times))(?: times)?)?"
STEPS: Steps = (
    (r"^rotat(?:e|ion) during an? (?:active|running) turn$", rotate_in_a_turn),
    (r"^(?:a |the )?turn ends$", turn_ends),
    (rf"^(?:a )?compaction commits in (?:the )?background{TIMES}$", compact_elsewhere),
    (rf"^next user message(?: at once)?{TIMES}$", next_turn),
)
