"""What a configuration may say, as frozen models: every key with its type and meaning."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

DURATION = re.compile(r"([0-9]{1,9})\s*(s|m|h|d)")
ADDRESS = r"^https?://[^\s/]+"
LONGEST = 365 * 86400
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def _duration(value: str) -> str:
    if not DURATION.fullmatch(value.strip()):
        raise ValueError('a duration is a number and s, m, h or d, such as "5m"')
    if not 0 < seconds(value) <= LONGEST:
        raise ValueError("a duration is at least 1s and at most 365d")
    return value


def _address(value: str) -> str:
    if not re.match(ADDRESS, value):
        raise ValueError("must begin with http:// or https:// and a host")
    return value


def _cron(value: str) -> str:
    from cronsim import CronSim, CronSimError

    try:
        CronSim(value, datetime(2000, 1, 1, tzinfo=UTC))
    except CronSimError as error:
        raise ValueError(
            f'a schedule is minute, hour, day, month and weekday, such as "0 4 * * *": {error}'
        ) from error
    return value


Cron = Annotated[str, AfterValidator(_cron)]
Name = Annotated[str, Field(min_length=1, max_length=4096)]
Duration = Annotated[str, AfterValidator(_duration)]
Level = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]


class _Section(BaseModel):
    """Unknown keys are dropped here, and reported by `unknown_keys`."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class ModelChoice(_Section):
    """A model with its variant (OpenCode) or thinking level (Pi, OMP)."""

    model: str
    variant: str | None = None
    thinking_level: Level | None = None


ModelEntry = str | ModelChoice


class Task(_Section):
    """How one harness runs compress-cues; what is left out falls to the harness's own."""

    model: ModelEntry | None = Field(None, description="The model of this task.")
    fallback_models: tuple[ModelEntry, ...] | None = Field(
        None, description="Tried in order where the model fails."
    )
    variant: str | None = None
    thinking_level: Level | None = None
    timeout_minutes: Annotated[float, Field(gt=0, le=1440)] | None = Field(
        None, description="How long one run may take; 20 by default."
    )


class HarnessTasks(_Section):
    """The tasks of a harness by name."""

    compress_cues: Task = Field(Task(), alias="compress-cues")


class HarnessDreamer(_Section):
    """The models that a harness dreams with."""

    model: ModelEntry | None = Field(None, description="The model of every task.")
    fallback_models: tuple[ModelEntry, ...] | None = None
    variant: str | None = None
    thinking_level: Level | None = None
    tasks: HarnessTasks = HarnessTasks()


class Schedule(_Section):
    """When compress-cues runs, in every harness."""

    timeout_minutes: Annotated[float, Field(gt=0, le=1440)] | None = Field(
        None, description="How long a run may take where the harness does not say; 20 by default."
    )
    schedule: Cron = Field("0 4 * * *", description="Cron: minute, hour, day, month, weekday.")


class SharedTasks(_Section):
    """The tasks of all harnesses by name."""

    compress_cues: Schedule = Field(Schedule(), alias="compress-cues")


class Endpoint(_Section):
    """An OpenAI-compatible endpoint, such as a local Ollama. Only the user's files may say."""

    base_url: Annotated[
        str, AfterValidator(_address), Field(json_schema_extra={"pattern": ADDRESS})
    ]
    model: Name
    key_variable: Name | None = Field(
        None, description="The environment variable that holds the key, if one is needed."
    )


class Dreamer(_Section):
    """The dreamer, which makes cues."""

    batch_size: Annotated[int, Field(ge=1, le=50)] = Field(
        1, description="Memories in one prompt: more for a command line that is slow to start."
    )
    concurrency: Annotated[int, Field(ge=1, le=64)] = Field(
        4, description="Prompts that are answered at once."
    )
    reply_seconds: Annotated[float, Field(gt=0, le=3600)] = Field(
        120.0, description="How long one reply may take."
    )
    in_session: bool = Field(
        False, description="Let a harness's plug-in make cues with its host's model, after a turn."
    )
    endpoint: Endpoint | None = Field(
        None, description="Used where no harness is named and none has a model."
    )
    opencode: HarnessDreamer = HarnessDreamer()
    pi: HarnessDreamer = HarnessDreamer()
    omp: HarnessDreamer = HarnessDreamer()
    tasks: SharedTasks = SharedTasks()


class MuralSection(_Section):
    """The mural itself."""

    enabled: bool = Field(False, description="Master switch of the mural and of compress-cues.")
    theme: Name = Field(
        "standard",
        description='A bundled theme, or a path beside this file; "auto" goes by the model.',
    )
    readers: dict[str, Name] = Field(
        {}, description="Themes by patterns of model ids, such as anthropic/claude-fable-*."
    )
    vision: dict[str, bool] = Field(
        {}, description="Whether models accept images, by patterns of ids that no list knows."
    )
    model: Any = Field(None, description="Deprecated and ignored.", deprecated=True)


class MemorySection(_Section):
    """What an agent gets as text."""

    injection_budget_tokens: Annotated[int, Field(ge=500, le=20_000)] = Field(
        4000, description="Tokens that the text block may take."
    )


class StoreSection(_Section):
    """Where memories are kept. Only the user's files may say."""

    source: Literal["own", "magic-context"] = Field(
        "own", description="Whose memories: our store's, or a magic-context database's, read live."
    )
    path: Name | None = Field(
        None, description="The SQLite file, beside this file; by default in the data folder."
    )
    magic_context: Name | None = Field(
        None, description="The other database; by default where its program keeps it."
    )


class FontsSection(_Section):
    """Faces beside the bundled ones. Only the user's files may say."""

    extra: tuple[Name, ...] = Field(
        (),
        max_length=100,
        description="Font files (.ttf, .otf), beside this file, for characters that no other "
        "face has.",
    )


class CacheSection(_Section):
    """The replay cache."""

    enabled: bool = Field(True, description="Keep pictures that were drawn.")
    size_mib: Annotated[int, Field(ge=1, le=100_000)] = Field(
        256, description="How much it may hold."
    )


class Config(_Section):
    """Everything that concerns muralkit."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, title="muralkit configuration"
    )

    mural: MuralSection = MuralSection()
    memory: MemorySection = MemorySection()
    dreamer: Dreamer = Dreamer()
    cache_ttl: Duration | dict[str, Duration] = Field(
        "5m", description="How long a provider keeps a prompt cache, or that by model."
    )
    store: StoreSection = StoreSection()
    cache: CacheSection = CacheSection()
    fonts: FontsSection = FontsSection()


def seconds(duration: str) -> int:
    """A duration such as "5m" in seconds."""
    found = DURATION.fullmatch(duration.strip())
    if not found:
        raise ValueError(f"{duration!r} is no duration")
    return int(found[1]) * SECONDS[found[2]]
