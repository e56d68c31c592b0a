"""When a compaction is considered: the cheap gate, deferral, what is counted, progress; pictures made smaller (hermes.md 3, 15.3)."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass, replace
from io import BytesIO

from host.conversation.considered import is_worth_measuring
from host.conversation.triggers import reported
from host.engine.outcome import Outcome
from host.engine.thrash import Effect
from host.messages.types import Message
from host.provider.images import picture_in, shrink_images
from tests.engines_for_tests import compressor
from tests.golden.reading import Driver, Golden

PROTECTED = 3 + 20
SMALL, HUGE = 10, 2_000  # tokens of a message


def gate(case: Golden) -> None:
    windows = ((24, SMALL), (25, SMALL), (1, HUGE), (2, SMALL))
    found = [is_worth_measuring(number, number * each, protected=PROTECTED, threshold=1_000) for number, each in windows]
    assert found == case.output


def deferral(case: Golden) -> None:
    engine = compressor(200_000, threshold=0.75)
    assert engine.threshold_tokens == 150_000
    engine.state = replace(engine.state, effect=Effect(real=90_000, left=155_000))
    found = []
    for rough, *_ in case.output:
        deferred = engine.should_defer_preflight_to_real_usage(rough)
        found.append([rough, deferred, engine.state.effect.fitting])
    assert found == case.output


def progress(case: Golden) -> None:
    outcomes = [Outcome("preflight", before, after, were, are) for were, are, before, after in case.input["cases"]]
    assert [outcome.progressed for outcome in outcomes] == case.output


@dataclass
class Counted:
    """A conversation as a trigger sees it (protocol Gauged)."""

    last_prompt: int
    rough: int
    calls_wait: bool = False

    def estimate(self) -> int:
        return self.rough

    def rough_or_estimate(self) -> int:
        return self.rough


def after_a_response(case: Golden) -> None:
    engine = compressor(200_000, threshold=0.75)
    found = []
    for last, completion, rough, *_ in case.output:
        tokens = reported(Counted(last, rough))
        found.append([last, completion, rough, tokens, engine.should_compress(tokens)])
    assert found == case.output


def smaller_picture(case: Golden) -> None:
    from PIL import Image

    written = BytesIO()
    size = (case.input["width"], case.input["height"])
    Image.new("RGB", size, "teal").save(written, "PNG")
    url = f"data:image/png;base64,{b64encode(written.getvalue()).decode()}"
    messages: list[Message] = [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]
    shrunk = shrink_images(messages, max_side=case.input["max_dimension"])
    content = shrunk.messages[0]["content"]
    picture = picture_in(content[0]) if isinstance(content, list) else None
    assert picture is not None
    found = Image.open(BytesIO(b64decode(picture.data))).size
    assert {"changed": shrunk.changed > 0, "size": list(found)} == case.output


def web_picture(case: Golden) -> None:
    shrunk = shrink_images(case.input["messages"])
    assert {"changed": shrunk.changed > 0} == case.output
    assert shrunk.messages == case.input["messages"]


DRIVERS: dict[str, Driver] = {
    "preflight_gate": gate,
    "defer_growth": deferral,
    "progress_rule_39548": progress,
    "post_response_token_source": after_a_response,
    "image_shrink_[!h]*": smaller_picture,
    "image_shrink_http": web_picture,
}
