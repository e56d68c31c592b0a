"""Where the list is cut: hermes.md 6. No threshold is given here, so that the anchors always hold."""

from __future__ import annotations

from host.messages.types import Message
from host.transforms.boundary import (
    align_backward,
    align_forward,
    choose_cut,
    head_end,
    newest_reply,
    newest_request,
    tail_cut,
)
from host.transforms.handoff import handoff_text
from host.transforms.plan import Plan
from tests.golden.engines import compressor
from tests.golden.reading import Driver, Golden, written
from tests.reference_cost import tail_cost


def plan_of(case: Golden) -> Plan:
    """The case's budgets; those that it does not name are the reference's own."""
    given = case.input
    return Plan(
        cost=tail_cost,
        tail=given["tail_token_budget"],
        summary=0,
        protect_first_n=given.get("protect_first_n", 3),
        protect_last_n=given.get("protect_last_n", 20),
    )


def bound(case: Golden) -> None:
    cut = choose_cut(case.input["messages"], plan_of(case))
    found = {"compress_start": cut.start, "compress_end": cut.end, "has_content": cut.start < cut.end}
    assert found == case.output
    assert cut.lifted is None


def bound_at_the_request(case: Golden) -> None:
    """The newest request joins the head, and what the reference cut off behind it stays compressible."""
    messages = case.input["messages"]
    request = newest_request(messages)
    assert request == case.output["compress_start"]
    cut = choose_cut(messages, plan_of(case))
    assert cut.start == request + 1
    assert cut.start < cut.end <= tail_cut(messages, cut.start, plan_of(case)), "the cut never moves later"


def forward(case: Golden) -> None:
    assert [align_forward(case.input["messages"], index) for index in case.input["indexes"]] == case.output


def backward(case: Golden) -> None:
    assert [align_backward(case.input["messages"], index) for index in case.input["indexes"]] == case.output


def head_size(case: Golden) -> None:
    system: Message = {"role": "system", "content": "s"}
    spoken: list[Message] = [{"role": role, "content": "x"} for role in ("user", "assistant") * 4]
    summary: Message = {"role": "assistant", "content": handoff_text("earlier")}
    fresh, later = compressor(), compressor()
    later.compression_count = 1
    found = [
        head_end([system, *spoken], fresh.plan(), condensed=False),
        head_end(spoken, fresh.plan(), condensed=False),
        head_end([system, *spoken], later.plan(), condensed=False),
        head_end(spoken, later.plan(), condensed=False),
        head_end([system, *spoken[:1], summary, *spoken], fresh.plan(), condensed=True),
    ]
    assert found == case.output


def last_user(case: Golden) -> None:
    assert newest_request(written(case.input["messages"]), case.input["head_end"]) == case.output


def last_assistant(case: Golden) -> None:
    assert [newest_reply(case.input["messages"]), newest_reply(case.input["only_tools"])] == case.output


DRIVERS: dict[str, Driver] = {
    "bound_[!p]*": bound,
    "bound_p[!a]*": bound,
    "bound_pair_push_forward_22523": bound_at_the_request,
    "align_forward": forward,
    "align_backward": backward,
    "head_size_decay_11996": head_size,
    "last_user_skips_summary": last_user,
    "last_visible_assistant": last_assistant,
}
