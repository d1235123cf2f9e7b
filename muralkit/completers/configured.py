"""The completer that the configuration, or a person, names."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence

from muralkit.completers import Completer, Ladder
from muralkit.completers.command import HARNESSES, CommandCompleter, Model
from muralkit.completers.http import HttpCompleter
from muralkit.cues.rules import RULES
from muralkit.errors import ConfigError
from muralkit.sections import Config, Dreamer, HarnessDreamer, ModelEntry, Task

NAMES = tuple(HARNESSES)


def models(dreamer: HarnessDreamer) -> list[Model]:
    """The models of compress-cues in a harness, in the order that they are tried.

    The task's own model and fallbacks come first, else the harness's; the effort
    (variant or thinking level) is the entry's own, else the one beside the model.
    """
    task = dreamer.tasks.compress_cues
    source: Task | HarnessDreamer = task if task.model is not None else dreamer
    if source.model is None:
        return []
    fallbacks = task.fallback_models
    if fallbacks is None:
        fallbacks = dreamer.fallback_models
    effort = task.variant or task.thinking_level or dreamer.variant or dreamer.thinking_level
    return [_model(entry, effort or "") for entry in (source.model, *(fallbacks or ()))]


def _model(entry: ModelEntry, effort: str) -> Model:
    if isinstance(entry, str):
        return Model(entry, effort)
    return Model(entry.model, entry.variant or entry.thinking_level or effort)


def seconds(dreamer: Dreamer, harness: str | None) -> float:
    """How long a run may take: the task's timeout_minutes, 20 by default."""
    chosen = getattr(dreamer, harness).tasks.compress_cues.timeout_minutes if harness else None
    if chosen is None:
        chosen = dreamer.tasks.compress_cues.timeout_minutes
    return 60 * (20.0 if chosen is None else float(chosen))


def harness_of(config: Config, harness: str | None) -> str | None:
    """The harness that is named, else the first that has a model and is installed."""
    if harness is not None:
        return harness
    for name in NAMES:
        if models(getattr(config.dreamer, name)) and shutil.which(HARNESSES[name].program):
            return name
    return None


def completer(
    config: Config,
    harness: str | None,
    model: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Completer | None:
    """What makes the cues: a harness's models, the endpoint, or None for the rules.

    Raises ConfigError where what is named has no model.
    """
    if model == RULES:
        return None
    dreamer = config.dreamer
    chosen = harness_of(config, harness)
    if chosen is not None:
        ladder = models(getattr(dreamer, chosen))
        if model:  # as hard as the configured one thinks
            ladder = [Model(model, ladder[0].effort if ladder else "")]
        if not ladder:
            raise ConfigError(
                f"No model is configured for {chosen}.",
                where=f"dreamer.{chosen}.model",
                hint=f"Set it, or give --model PROVIDER/MODEL, or --model {RULES} for none.",
            )
        rungs: Sequence[Completer] = [
            CommandCompleter(HARNESSES[chosen], rung, seconds=dreamer.reply_seconds)
            for rung in ladder
        ]
        return Ladder(list(rungs))
    endpoint = dreamer.endpoint
    if endpoint is not None:
        key = environment.get(endpoint.key_variable, "") if endpoint.key_variable else ""
        return HttpCompleter(
            endpoint.base_url, model or endpoint.model, key=key, seconds=dreamer.reply_seconds
        )
    waiting = [name for name in NAMES if models(getattr(dreamer, name))]
    if waiting and model is None:
        raise ConfigError(
            f"A model is configured for {waiting[0]}, but {HARNESSES[waiting[0]].program} is not "
            "on the PATH.",
            where=f"dreamer.{waiting[0]}.model",
            hint=f"Install it, or mend the PATH (cron has a short one), or give --model {RULES}.",
        )
    if model is not None:
        raise ConfigError(
            f"There is nothing to ask {model!r} of.",
            where="--model",
            hint="Name a harness with --harness, or set dreamer.endpoint.",
        )
    return None
