"""What ``config.yaml`` may say: one model a section, one field a key. The descriptions are the reference that users read."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from host.config.kinds import (
    NEEDS_TRUST,
    Address,
    Count,
    Dollars,
    Positive,
    Provider,
    Ratio,
    Retries,
    Seconds,
    Share,
    Text,
    Texts,
    VariableName,
)

ENGINES = "engines"
"""The one section whose keys are not known here: each engine brings its own settings."""


class Section(BaseModel):
    """A part of the configuration: fixed once it is read, and without any key that is not written here."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelRef(Section):
    """Another model to ask."""

    name: str = Field(min_length=1, description="The model, as its provider spells it.")
    provider: Text = Field(default="", description="Who serves it; empty: the provider is found from the name.")
    base_url: Address = Field(default="", description="Address of an OpenAI-compatible service.")
    api_key_env: VariableName = Field(default="", description="Environment variable that holds the key.")


def _named(value: object) -> object:
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, dict) and "model" in value and "name" not in value:
        return {"name" if key == "model" else key: entry for key, entry in value.items()}
    return value


ModelRefs = tuple[Annotated[ModelRef, BeforeValidator(_named)], ...]


class ContextSection(Section):
    """Which engine decides what the model sees."""

    engine: str = Field(
        default="compressor", min_length=1, description="The engine that compacts conversations; `ctxhost engines` lists them."
    )
    on_missing: Literal["fallback", "error"] = Field(
        default="fallback",
        description="When nobody knows the engine: the built-in compressor takes over, or the start fails.",
    )
    on_error: Literal["fallback", "error"] = Field(
        default="fallback",
        description="When the engine cannot be used: the built-in compressor takes over, and a turn in which it fails goes on "
        "with the window as it was; or both end.",
    )


class PriceSection(Section):
    """What the model's tokens cost."""

    input: Dollars | None = Field(default=None, description="Dollars per million tokens sent; null: looked up.")
    output: Dollars | None = Field(default=None, description="Dollars per million tokens answered; null: looked up.")


class ModelSection(Section):
    """The model that leads the conversation."""

    name: Text = Field(default="", description="The model, as its provider spells it; empty: none is asked.", json_schema_extra=NEEDS_TRUST)
    provider: Provider = Field(default="", description="Who serves it; empty: the provider is found from the name.")
    base_url: Address = Field(default="", description="Address of an OpenAI-compatible service; empty: OpenAI's.")
    api_key_env: VariableName = Field(
        default="", description="Environment variable that holds the key; empty: OPENAI_API_KEY where no address is set."
    )
    context_length: Positive | None = Field(default=None, description="Window in tokens; null: looked up by the model's name.")
    max_tokens: Positive | None = Field(
        default=None, description="Longest answer in tokens, kept free in the window; null: the provider's default, nothing kept free."
    )
    price: PriceSection = PriceSection()
    fallback: ModelRefs = Field(
        default=(),
        description="Models asked in this order when the first one fails: names, or mappings like `model`.",
        json_schema_extra=NEEDS_TRUST,
    )


class AuxiliaryCompression(Section):
    """The model that writes summaries."""

    provider: Provider = Field(
        default="auto", description="Who serves the summary model: `auto`, `main` (as the conversation's), or a provider's name."
    )
    model: Text = Field(
        default="",
        description="The summary model; empty: the conversation's own. Its window should not be smaller than that one's.",
        json_schema_extra=NEEDS_TRUST,
    )
    base_url: Address = Field(default="", description="Address of an OpenAI-compatible service for summaries.")
    api_key_env: VariableName = Field(default="", description="Environment variable that holds the summary model's key.")
    api_mode: Provider = Field(default="", description="Dialect of the service, where it cannot be told from the address.")
    timeout: Seconds = Field(default=300, description="Seconds that one summary may take.")
    context_length: Positive | None = Field(default=None, description="Window of the summary model in tokens; null: looked up.")
    reasoning_effort: Text = Field(
        default="", description="How hard the summary model thinks, in its provider's words; empty: its default."
    )
    extra_body: dict[str, Any] = Field(
        default={}, description="Further fields of the request, passed on as they are.", json_schema_extra=NEEDS_TRUST
    )
    fallback_chain: ModelRefs = Field(
        default=(),
        description="Summary models asked in this order when the first one fails, before the conversation's own; one without provider "
        "and address is asked where the first one is.",
        json_schema_extra=NEEDS_TRUST,
    )


class AuxiliarySection(Section):
    """Models that work beside the conversation."""

    compression: AuxiliaryCompression = AuxiliaryCompression()
    transient_retries: Retries = Field(default=2, description="How often a call that failed for a passing reason is repeated.")


class CompressionSection(Section):
    """When conversations are compacted, and what stays as it was."""

    enabled: bool = Field(default=True, description="Compact by itself when the window fills; a manual compaction works either way.")
    threshold: Share = Field(
        default=0.50,
        description="Share of the window at which compaction starts; never below 64,000 tokens where the window has room for them.",
    )
    target_ratio: Ratio = Field(
        default=0.20, description="Share of the threshold that is kept word for word at the end; held between 0.10 and 0.80."
    )
    protect_last_n: Count = Field(default=20, description="Messages at the end that stay as they are where the tail has room for them.")
    protect_first_n: Count = Field(default=3, description="Messages after the system prompt that survive the first compaction.")
    codex_gpt55_autoraise: bool = Field(
        default=True, description="Start at 0.85 for the models whose window the Codex service cuts to 272,000 tokens."
    )
    codex_gpt55_autoraise_notice: bool = Field(default=True, description="Say so once at the start of a session.")
    in_place: bool = Field(
        default=False, description="Keep the session's id over a compaction; otherwise a new session goes on from the old one."
    )
    abort_on_summary_failure: bool = Field(
        default=False, description="Leave the window as it is when no summary could be written, in place of a plain digest."
    )
    hygiene_hard_message_limit: Positive = Field(
        default=5000, description="Messages at which an incoming session is compacted whatever its size in tokens."
    )
    small_window_floor: Share | None = Field(
        default=None,
        description="Lowest such share for windows under 512,000 tokens, for example 0.75; null: `threshold` alone decides.",
    )
    keep_exact_tokens: Count = Field(
        default=800, description="Room in tokens for the exact values and limits that are kept beside a summary; 0: none are kept."
    )


class AgentSection(Section):
    """The agent of `ctxhost chat`, `ctxhost run` and the gateway."""

    system_prompt: Text = Field(
        default="", description="What the agent is told first; read once, when a conversation begins.", json_schema_extra=NEEDS_TRUST
    )
    max_calls: Positive = Field(default=60, description="Model calls that one turn may take; then it ends and says so.")
    tool_timeout: Seconds = Field(default=120, description="Seconds that one call of a plugin's tool may take.")


class GatewaySection(Section):
    """Conversations that come in from chat platforms."""

    expire_hours: Positive | None = Field(
        default=None, description="Hours without a message after which the next one starts a new session; null: never."
    )


class CachingSection(Section):
    """Prompt caching at providers that charge for it."""

    cache_ttl: Literal["5m", "1h"] = Field(
        default="5m", description="How long a cached prompt is kept; 1h suits sessions with long breaks."
    )


class PluginsSection(Section):
    """Which plugins are loaded."""

    enabled: Texts = Field(default=(), description="Installed plugins to load.", json_schema_extra=NEEDS_TRUST)
    disabled: Texts = Field(default=(), description="Plugins never to load; wins over `enabled`.", json_schema_extra=NEEDS_TRUST)
    paths: Texts = Field(
        default=(),
        description="Further folders of plugins; a relative one starts at the folder of the file that names it.",
        json_schema_extra=NEEDS_TRUST,
    )


class StoreSection(Section):
    """How the archive is written."""

    durability: Literal["full", "normal"] = Field(
        default="full",
        description="`full` survives a power cut after every live turn; `normal` is faster and can lose the last moments then.",
    )


class RecallSection(Section):
    """What an agent may search with the recall tools."""

    scope: Literal["directory", "all"] = Field(
        default="directory",
        description="How far `ctxhost mcp` lets an agent look: into the sessions of its own working directory, or into all of them. "
        "Counts in the home folder's file or in the one of --config only.",
        json_schema_extra=NEEDS_TRUST,
    )


class SecuritySection(Section):
    """What must not leak."""

    redact_secrets: bool = Field(
        default=True, description="Mask keys and passwords before text goes to the summary model.", json_schema_extra=NEEDS_TRUST
    )


class EngineLimits(BaseModel):
    """What the host reads of every engine's settings, whatever else stands there."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    timeout: Seconds | None = Field(default=None, description="Seconds that one call of the engine may take; null: 300, 30 for a tool.")


class Config(Section):
    """The whole configuration, every default filled in."""

    context: ContextSection = ContextSection()
    model: ModelSection = ModelSection()
    auxiliary: AuxiliarySection = AuxiliarySection()
    compression: CompressionSection = CompressionSection()
    agent: AgentSection = AgentSection()
    gateway: GatewaySection = GatewaySection()
    prompt_caching: CachingSection = CachingSection()
    engines: dict[str, dict[str, Any]] = Field(
        default={}, description="Settings of single engines, by the engine's name; `timeout` (seconds of one call) works for all of them."
    )
    plugins: PluginsSection = PluginsSection()
    store: StoreSection = StoreSection()
    recall: RecallSection = RecallSection()
    security: SecuritySection = SecuritySection()
