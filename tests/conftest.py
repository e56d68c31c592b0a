"""Settings of the whole suite."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# derandomized: a landing does not hang on luck; `HYPOTHESIS_PROFILE=thorough` looks for what is new
settings.register_profile("default", deadline=None, derandomize=True, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", deadline=None, max_examples=2_000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


@pytest.fixture(autouse=True)
def no_user_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test sees the configuration, the keys or the proxies of whoever runs it."""
    for name in list(os.environ):
        if name.startswith(("CTXHOST_", "OPENAI_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("CTXHOST_HOME", str(tmp_path_factory.getbasetemp() / "home"))
