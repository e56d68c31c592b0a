"""Pictures and summaries: no picture reaches the summary model, and old ones leave the window."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import replace
from itertools import chain
from random import Random
from typing import cast

import pytest

from host.compressor.compressor import Compressor
from host.messages.reading import has_image
from host.messages.types import Message, Part
from host.messages.violations import violations
from host.provider.scripted import ScriptedSummary
from host.testing.engines import services
from host.testing.messages import assistant, chat, system, user


def photo(seed: int, size: int) -> str:
    return b64encode(Random(seed).randbytes(size)).decode()


def as_url(data: str) -> Part:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}


def as_source(data: str) -> Part:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


def as_input(data: str) -> Part:
    return {"type": "input_image", "image_url": f"data:image/png;base64,{data}"}


def shown(text: str, *parts: Part) -> Message:
    return cast(Message, {"role": "user", "content": [{"type": "text", "text": text}, *parts]})


SHAPES = (as_url, as_source, as_input)


def session(photos: list[str], *, last: bool) -> list[Message]:
    """A conversation with these photos in its middle, the last of them in the newest request if asked."""
    told = photos[:-1] if last else photos
    looks = [[shown(f"look at screen {n}", SHAPES[n % 3](data)), assistant(f"I see screen {n}. " * 40)] for n, data in enumerate(told)]
    newest = shown("and this", as_url(photos[-1])) if last else user("what did you see?")
    return [system("Be an agent."), *chat(6, 400), *chain.from_iterable(looks), *chat(60, 600), newest]


@pytest.mark.parametrize("size", [600, 3_000_000])
def test_the_summary_model_never_gets_a_picture_14562(size: int) -> None:
    model = ScriptedSummary()
    engine = Compressor(replace(services(16_000), summary_models=(model.as_model(),), ask=None))
    photos = [photo(seed, size) for seed in range(6)]
    messages = session(photos, last=False)
    window = engine.compress(list(messages), force=True)
    assert len(window) < len(messages)
    assert model.requests
    for asked in model.requests:
        assert "base64" not in asked.prompt
        assert not any(data[:80] in asked.prompt for data in photos)
        assert "look at screen 0" in asked.prompt
    assert violations(window) == []
    assert not any(map(has_image, window))


def test_the_newest_picture_stays_and_older_ones_leave() -> None:
    engine = Compressor(replace(services(16_000), summary_models=(ScriptedSummary().as_model(),)))
    old, new = photo(1, 900), photo(2, 900)
    messages = session([old, new], last=True)
    window = engine.compress(list(messages), force=True)
    assert window[-1] is messages[-1]
    assert new in str(window)
    assert old not in str(window)


def test_without_a_summary_model_no_picture_is_in_the_notes_either() -> None:
    photos = [photo(seed, 900) for seed in range(4)]
    window = Compressor(services(16_000)).compress(session(photos, last=False), force=True)
    assert not any(data[:60] in str(window) for data in photos)
