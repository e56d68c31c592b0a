"""One's own agent loop with the openai client, and ctxhost around it: the five lines marked with a number.

    OPENAI_API_KEY=... python examples/own_loop.py "How warm is it in Bergen?"

Every message is kept in the home folder; run it again and the conversation goes on.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from openai import BadRequestError, OpenAI

from host import Host

MODEL = os.environ.get("MODEL", "gpt-5-mini")
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "temperature",
            "description": "The temperature in a town, in degrees Celsius.",
            "parameters": {"type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]},
        },
    }
]


def temperature(town: str) -> str:
    """A thermometer of one's own."""
    return json.dumps({"town": town, "celsius": len(town)})


def main(question: str) -> None:
    """Ask until the model answers in words."""
    client = OpenAI()
    with Host() as host:
        talk = host.conversation("own loop")  # 1  found again by its title
        talk.add({"role": "user", "content": question})  # 2  kept before anything else happens
        while True:
            try:
                window: Any = talk.window(TOOLS)  # 3  fits the model, whatever was said before
                reply = client.chat.completions.create(model=MODEL, messages=window, tools=TOOLS)
            except BadRequestError as refusal:
                if not talk.refused(refusal):  # 4  too long after all: made shorter, or not to be helped
                    raise
                continue
            talk.measured(reply.usage)  # 5  what was really counted
            answer = reply.choices[0].message
            said: Any = answer.model_dump(exclude_none=True)
            talk.add(said)
            if not answer.tool_calls:
                print(answer.content)
                return
            for call in answer.tool_calls:
                if call.type == "function":
                    result = temperature(**json.loads(call.function.arguments))
                    talk.add({"role": "tool", "tool_call_id": call.id, "content": result})


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "How warm is it in Bergen?")
