"""Counting: what texts and messages cost, how full a window is, and how much of it may be used.

The vocabulary (tiktoken) is imported and loaded with the first text that is counted, never with this package.
"""

from host.tokens.budgets import (
    Budgets,
    budgets,
    effective_percent,
    output_reserve,
    summary_budget,
    summary_ceiling,
    threshold_tokens,
)
from host.tokens.counting import IMAGE_TOKENS, MESSAGE_OVERHEAD, Counter, Estimator, MessageCounter
from host.tokens.estimate import estimate_text
from host.tokens.gauge import Gauge
from host.tokens.remembered import Remembered

__all__ = [
    "Budgets",
    "Counter",
    "Estimator",
    "Gauge",
    "IMAGE_TOKENS",
    "MESSAGE_OVERHEAD",
    "MessageCounter",
    "Remembered",
    "budgets",
    "effective_percent",
    "estimate_text",
    "output_reserve",
    "summary_budget",
    "summary_ceiling",
    "threshold_tokens",
]
