"""The one door for plugin authors: what a plugin needs is here, and nothing else has to be imported.

from host.plugin import Engine, Message, Window, hookimpl
"""

from __future__ import annotations

from host.engine.contract import ContextEngine, EngineFactory
from host.engine.engine import Engine, EngineState
from host.engine.idle import Idle, Reason
from host.engine.offers import Command, Memory, Place, SessionCompress, Tool
from host.engine.report import Report
from host.engine.services import ArchiveReader, Ask, Count, ModelFacts, Progress, Services, State, SummaryModel, Thresholds
from host.engine.tools import ToolError, tool, toolset
from host.engine.window import Window
from host.errors import CtxhostError, ProviderError
from host.hookspecs import hookimpl
from host.messages.redact import redact
from host.messages.types import Message, Part, ToolCall, ToolSchema, Usage
from host.messages.violations import Violation, violations
from host.pipeline.compact import Middle, compact
from host.transforms.assemble import assemble
from host.transforms.boundary import Cut, choose_cut
from host.transforms.digests import digest
from host.transforms.handoff import handoff_body, handoff_text, is_handoff
from host.transforms.media import strip_historical_media
from host.transforms.plan import Plan
from host.transforms.prune import prune
from host.transforms.sanitize import repair_pairs

__all__ = [
    "ArchiveReader",
    "Ask",
    "Command",
    "ContextEngine",
    "Count",
    "CtxhostError",
    "Cut",
    "Engine",
    "EngineFactory",
    "EngineState",
    "Idle",
    "Memory",
    "Message",
    "Middle",
    "ModelFacts",
    "Part",
    "Place",
    "Plan",
    "Progress",
    "ProviderError",
    "Reason",
    "Report",
    "Services",
    "SessionCompress",
    "State",
    "SummaryModel",
    "Thresholds",
    "Tool",
    "ToolCall",
    "ToolError",
    "ToolSchema",
    "Usage",
    "Violation",
    "Window",
    "assemble",
    "choose_cut",
    "compact",
    "digest",
    "handoff_body",
    "handoff_text",
    "hookimpl",
    "is_handoff",
    "prune",
    "redact",
    "repair_pairs",
    "strip_historical_media",
    "tool",
    "toolset",
    "violations",
]
