"""What is told of a kind of refusal agrees with what is done about it."""

from __future__ import annotations

from host.conversation.remedies import REMEDIES, compacted, lighter, shorter, standard_tier, within_budget
from host.provider.refusals.kinds import Kind

SHORTEN = {compacted, lighter, shorter, standard_tier, within_budget}


def test_a_kind_is_cured_by_a_shorter_window_where_its_remedy_makes_one() -> None:
    """A closed beta asks for the standard tier's window, which the conversation mostly fits."""
    differ = {kind for kind, remedy in REMEDIES.items() if (remedy.do in SHORTEN) != kind.compresses}
    assert differ == {Kind.LONG_CONTEXT_BETA}
