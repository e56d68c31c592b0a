"""Models that are compacted at a share of their own: hermes.md 4.1."""

from __future__ import annotations

from host.config.shares import ModelShare, model_share, resolved_share
from tests.golden.reading import Driver, Golden


def share_of_a_model(case: Golden) -> None:
    given = case.input
    found = model_share(given["model"], given["provider"], autoraise=given["autoraise"])
    assert (found.share if found else None) == case.output


def share_in_force(case: Golden) -> None:
    given, (share, notice) = case.input, case.output
    raises = given["is_codex_autoraise"]
    own = given["override"] and ModelShare("any", given["override"], only_raises=raises, switch=raises)
    found = resolved_share(given["global"], own, "gpt-5.5")
    assert found.share == share
    told = {"model": found.model, "from": found.configured, "to": found.share} if found.raised else None
    assert told == notice


DRIVERS: dict[str, Driver] = {
    "model_threshold_*": share_of_a_model,
    "resolve_threshold_*": share_in_force,
}
