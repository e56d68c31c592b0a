"""What is done about a refusal, kind by kind (hermes.md 3.4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from host.conversation.asked import share_of_pictures, size_in_bytes
from host.conversation.picturing import with_pictures, with_smaller_images
from host.conversation.refused import Refused, arithmetic
from host.conversation.retrying import GiveUp, Retry
from host.conversation.triggers import REFUSAL
from host.conversation.verdict import Wish, helped
from host.conversation.wording import CAPPED, DISABLED, OUT_OF_MEMORY, words_of_error
from host.messages.types import Message
from host.provider.refusals.kinds import Kind
from host.provider.refusals.limits import ImageTooLarge, image_too_large
from host.transforms.media import strip_historical_media, without_images

STANDARD_WINDOW = 200_000  # tokens that are left where the long-context tier is not to be had
SPARE = 64  # tokens by which an answer's cap stays below what is left: services count otherwise than we do
LIGHTER = 0.95  # of the bytes that were refused; a request that is hardly shorter is refused again
PAUSE = 2.0  # seconds before the same request goes to the standard tier

Answer = Retry | GiveUp


@dataclass(frozen=True)
class Remedy:
    """What to do. ``stated``: a limit that the service names is the model's window, and remembered once it has proved right.

    ``bounds``: what was refused was too long, and requests stay below it from then on where the service states no limit.
    ``resends``: the very same request may be sent again, for what has changed is not in it.
    """

    do: Callable[[Refused], Answer]
    stated: bool = False
    bounds: bool = False
    resends: bool = False


def shorter(refused: Refused) -> Answer:
    """Cap the answer where only that is too long, else compact."""
    available = refused.refusal.available
    if available is not None and available > 0 and (refused.prompt < refused.current.threshold or not refused.current.automatic):
        return capped(refused)
    return compacted(refused)


def compacted(refused: Refused) -> Answer:
    """Compact the window, whatever its size."""
    if not refused.current.automatic:
        return GiveUp(DISABLED)
    outcome = refused.current.compacted(Wish(REFUSAL))
    if helped(outcome):
        return Retry(f"the window was compacted from {outcome.before:,} to {outcome.after:,} tokens")
    why = outcome.refused or "nothing came of it"
    return GiveUp(f"the window could not be made shorter ({why}): {arithmetic(refused.current)}")


def capped(refused: Refused) -> Answer:
    """Ask for a shorter answer; the conversation has no part in this."""
    available = refused.refusal.available
    if available is None:
        return GiveUp(CAPPED)
    room = refused.current.services.facts.usable - refused.current.estimate()
    cap = max(1, (min(available, room) if room > 0 else available) - SPARE)
    if refused.max_tokens is not None and cap >= refused.max_tokens:
        return GiveUp(CAPPED)
    own = refused.refusal.kind is Kind.OUTPUT_CAP and refused.refusal.limit is None and cap == available - SPARE  # not what a prompt leaves
    return Retry(f"the answer may have {cap:,} tokens at most", max_tokens=cap, stays=own)


def lighter(refused: Refused) -> Answer:
    """Fewer bytes: old pictures go, then those that tools sent, and a compaction; pictures first where they are the bulk."""
    messages = refused.asked.messages or refused.current.request()
    before = size_in_bytes(messages)
    steps = [_without_old_pictures, _without_pictures_of_tools]
    if refused.current.automatic:
        steps.insert(len(steps) if share_of_pictures(messages) > 0.5 else 0, _after_compaction)
    for step in steps:
        step(refused)
        if (after := size_in_bytes(refused.current.request())) < LIGHTER * before:
            return Retry(f"the request has {after:,} bytes in place of {before:,}")
    return GiveUp(f"the request has {before:,} bytes and could not be made smaller; start a fresh conversation, or send smaller files")


def standard_tier(refused: Refused) -> Answer:
    """Go on with the window of the standard tier in this conversation, compacted where it does not fit."""
    current = refused.current
    if not current.adopt(STANDARD_WINDOW):
        return not_ours(refused)
    if current.estimate() < current.threshold:
        return Retry(f"the window has {STANDARD_WINDOW:,} tokens without the long-context tier", wait=PAUSE)
    answer = compacted(refused)
    return replace(answer, wait=PAUSE) if isinstance(answer, Retry) else answer


def within_budget(refused: Refused) -> Answer:
    """Fewer tokens in one request: a shorter answer, else one compaction; the model's window is another thing and stays."""
    budget, cap = refused.refusal.limit, refused.max_tokens
    left = (budget or 0) - refused.current.estimate() - SPARE
    if cap is not None and 0 < left < cap:
        return Retry(
            f"the answer may have {left:,} tokens at most, so that the request is within the budget of {budget:,}", max_tokens=left
        )
    if refused.times:
        return GiveUp(
            f"one request may have {budget or 'few':,} tokens at this service, whatever the model takes: {arithmetic(refused.current)}"
        )
    return compacted(refused)


def smaller_images(refused: Refused) -> Answer:
    """Make pictures smaller."""
    limits = image_too_large(refused.error) if refused.error is not None else None
    view, answer = with_smaller_images(refused.current.view, limits or ImageTooLarge(), refused.shelf)
    if answer:
        refused.current.show(view)
    return answer


def text_results(refused: Refused) -> Answer:
    """Send tool results as text from now on."""
    refused.current.asked = replace(refused.asked, text_only_tools=True)
    return Retry("tool results are sent as text from now on")


def paired(refused: Refused) -> Answer:
    """Look through calls and results once more."""
    refused.current.turn = replace(refused.current.turn, torn=True)
    return Retry("calls and results were paired anew")


def out_of_memory(refused: Refused) -> Answer:
    """Nothing that a shorter conversation would mend for long."""
    return GiveUp(f"{OUT_OF_MEMORY}: {words_of_error(refused.error)}")


def not_ours(refused: Refused) -> Answer:
    """Leave it to the caller: another model, another key, or a pause."""
    return GiveUp(f"{refused.refusal.kind.words}; the refusal is not about the length of the window: {words_of_error(refused.error)}")


def _after_compaction(refused: Refused) -> None:
    compacted(refused)


def _without_old_pictures(refused: Refused) -> None:
    _show_with(
        refused, strip_historical_media(refused.current.view.ledger.messages(), refused.current.compaction.pinned(refused.current.view))
    )


def _without_pictures_of_tools(refused: Refused) -> None:
    pins = frozenset(map(id, refused.current.compaction.pinned(refused.current.view)))
    messages = refused.current.view.ledger.messages()
    _show_with(refused, [without_images(m) if m.get("role") == "tool" and id(m) not in pins else m for m in messages])


def _show_with(refused: Refused, messages: list[Message]) -> None:
    view = with_pictures(refused.current.view, messages, refused.shelf)
    if view is not refused.current.view:
        refused.current.show(view)


REMEDIES: dict[Kind, Remedy] = {
    Kind.CONTEXT_OVERFLOW: Remedy(shorter, stated=True, bounds=True),
    Kind.SILENT_OVERFLOW: Remedy(shorter, stated=True, bounds=True),
    Kind.SILENT_TRUNCATION: Remedy(shorter),
    Kind.PAYLOAD_TOO_LARGE: Remedy(lighter, bounds=True),
    Kind.OUTPUT_CAP: Remedy(capped),
    Kind.LONG_CONTEXT_TIER: Remedy(standard_tier, resends=True),
    Kind.LONG_CONTEXT_BETA: Remedy(standard_tier, resends=True),
    Kind.OVER_RATE_BUDGET: Remedy(within_budget, bounds=True),
    Kind.IMAGE_TOO_LARGE: Remedy(smaller_images),
    Kind.TOOL_CONTENT: Remedy(text_results),
    Kind.PAIRING: Remedy(paired),
    Kind.SERVER_RESOURCE: Remedy(out_of_memory),
    Kind.RATE_LIMIT: Remedy(not_ours),
    Kind.SERVER_ERROR: Remedy(not_ours),
    Kind.AUTH: Remedy(not_ours),
    Kind.BILLING: Remedy(not_ours),
    Kind.NETWORK: Remedy(not_ours),
    Kind.FORMAT: Remedy(not_ours),
    Kind.UNKNOWN: Remedy(not_ours),
}
"""Every kind; the client has tried again already where that may help."""
