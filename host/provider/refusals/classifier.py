"""Why a model's service refused a request, whatever words it found for it (hermes.md 3.4)."""

from __future__ import annotations

from host.messages.reading import text_of
from host.messages.types import Reply, Usage
from host.provider.bodies import pause_in
from host.provider.errors import EmptyReply, KeyMissing, ServiceError, TimedOut, Unreachable, class_of
from host.provider.refusals import numbers
from host.provider.refusals.kinds import Kind as Kind
from host.provider.refusals.kinds import Refusal as Refusal
from host.provider.refusals.kinds import Sent as Sent
from host.provider.refusals.kinds import kinds_as_markdown as kinds_as_markdown
from host.provider.refusals.shapes import BY_STATUS, DISCONNECTED, SHAPES
from host.provider.refusals.texts import texts_of

SMALL_WINDOW = 256_000  # tokens; up to here absolute sizes count as large too
GENERIC_CHARS = 30  # of a refusal that says nothing
GENERIC_LARGE = (0.4, 80_000, 80)  # share of the window, tokens, messages above which such a refusal is of the length
CUT_LARGE = (0.6, 120_000, 200)  # the same where the connection was cut
READ_SHARE = 0.6  # of the estimate; a service that counted less has not read all
LEAST_SENT = 4_000  # tokens; estimates of less are too rough to tell
LENGTH_REASONS = frozenset({"length", "model_context_window_exceeded"})
WITH_NUMBERS = frozenset({Kind.CONTEXT_OVERFLOW, Kind.OUTPUT_CAP})

BY_CLASS: tuple[tuple[type[ServiceError], Kind], ...] = (
    (KeyMissing, Kind.AUTH),
    (EmptyReply, Kind.SERVER_ERROR),
    (TimedOut, Kind.NETWORK),
    (Unreachable, Kind.NETWORK),
)


def classify(error: object, sent: Sent) -> Refusal:
    """Why a request was refused, for any exception, ours or another's. Never raises."""
    status, codes, text = texts_of(error)
    kind = _kind(error, status, codes, text, sent)
    wait, message = _wait(error, text), numbers.message_in(text)
    if kind is Kind.OVER_RATE_BUDGET:
        limit, requested = numbers.number(numbers.BUDGET, text), numbers.number(numbers.REQUESTED, text)
        paired = numbers.pair_in(text)
        return Refusal(kind, limit or paired[0], requested or paired[1], wait=wait)
    if kind not in WITH_NUMBERS:
        return Refusal(kind, message=message, wait=wait)
    limit, available = numbers.limit_in(text), numbers.available_in(text)
    counted, reserve = numbers.sent_in(text), numbers.number(numbers.RESERVE, text)
    if kind is Kind.OUTPUT_CAP:
        available = available or numbers.ceiling_in(text)
    else:
        limit, counted = _completed(limit, counted, text)
    limit = None if limit == available else limit
    over = numbers.number(numbers.EXCESS, text)
    if over is None and limit and counted and counted + (reserve or 0) > limit:
        over = counted + (reserve or 0) - limit
    return Refusal(kind, limit, counted, available, message, wait, reserve=reserve, over=over)


def _completed(limit: int | None, counted: int | None, text: str) -> tuple[int | None, int | None]:
    """Both numbers of an overflow: what the wordings did not name is read from where the numbers stand."""
    smaller, larger = numbers.pair_in(text)
    if limit is None:
        limit = smaller if counted in {None, larger} and smaller else numbers.window_in(text)
    if counted is None and larger and limit in {None, smaller}:
        counted = larger
    return (None if limit == counted else limit), counted


def classify_reply(reply: Reply, sent: Sent) -> Refusal | None:
    """What the counts of an answer show that no refusal said; None for an answer that counts."""
    usage = reply.usage
    if usage is None or usage.prompt <= 0:
        return None
    if _says_nothing(reply) and _has_overflowed(usage, reply.finish_reason, sent):
        return Refusal(Kind.SILENT_OVERFLOW, sent=usage.prompt)
    if sent.tokens > LEAST_SENT and (usage.prompt < READ_SHARE * sent.tokens or _fills_window(usage, sent)):
        return Refusal(Kind.SILENT_TRUNCATION, sent=usage.prompt)
    return None


def _says_nothing(reply: Reply) -> bool:
    return not reply.message.get("tool_calls") and not text_of(reply.message).strip()


def _has_overflowed(usage: Usage, finish_reason: str | None, sent: Sent) -> bool:
    if sent.window and usage.prompt > sent.window:
        return True
    if usage.completion:
        return False
    return finish_reason in LENGTH_REASONS or bool(finish_reason == "stop" and sent.window and sent.tokens > sent.window)


def _fills_window(usage: Usage, sent: Sent) -> bool:
    """Whether more was sent than the window holds, and just the window or its half was read."""
    return 0 < sent.window < sent.tokens and any(abs(usage.prompt - part) <= 0.01 * part for part in (sent.window, sent.window / 2))


def _kind(error: object, status: int | None, codes: frozenset[str], text: str, sent: Sent) -> Kind:
    shaped = next((shape.kind for shape in SHAPES if shape.takes(status, codes, text)), None)
    if shaped is not None:
        return shaped
    if status is None and DISCONNECTED.search(text):
        return Kind.CONTEXT_OVERFLOW if _is_large(sent, CUT_LARGE) else Kind.NETWORK
    if status == 400 and len(text.strip()) < GENERIC_CHARS and (_is_large(sent, GENERIC_LARGE) or _has_grown(sent)):
        return Kind.CONTEXT_OVERFLOW
    return _by_status(status) if status is not None else _by_class(error)


def _by_status(status: int) -> Kind:
    if status in BY_STATUS:
        return BY_STATUS[status]
    if status >= 500:
        return Kind.SERVER_ERROR
    return Kind.FORMAT if status >= 400 else Kind.UNKNOWN


def _by_class(error: object) -> Kind:
    found = class_of(error)
    return next((kind for cls, kind in BY_CLASS if issubclass(found, cls)), Kind.UNKNOWN)


def _is_large(sent: Sent, limits: tuple[float, int, int]) -> bool:
    share, tokens, messages = limits
    if sent.window and sent.tokens > share * sent.window:
        return True
    return sent.window <= SMALL_WINDOW and (sent.tokens > tokens or sent.messages > messages)


def _has_grown(sent: Sent) -> bool:
    """Whether the same model answered shorter requests."""
    return 0 < sent.accepted < sent.tokens and sent.tokens > LEAST_SENT


def _wait(error: object, text: str) -> float | None:
    if isinstance(error, ServiceError) and error.retry_after is not None:
        return error.retry_after
    try:
        headers = getattr(getattr(error, "response", None), "headers", None)
        told = pause_in({str(name).lower(): str(value) for name, value in (headers or {}).items()})
    except Exception:  # noqa: BLE001  headers of somebody's own making say nothing
        told = None
    return told if told is not None else numbers.wait_in(text)
