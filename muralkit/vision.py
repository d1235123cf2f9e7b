"""Does a model accept images, and in which theme? What is declared in, the answers out.

Asked in order: what the harness says of the model, the harness's own list of models,
and the user's table. Only a declared image input is a yes; whatever is unknown,
missing or malformed is a no, and never an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from muralkit import files, modelsdev
from muralkit.readers import AUTO, known, table
from muralkit.themefile import DEFAULT

PROVIDERS = {"openai-codex": "openai", "google-antigravity": "google"}
"""Harnesses' own names of providers, and what the lists of models call them."""


@dataclass(frozen=True, slots=True)
class Sight:
    """Whether a model accepts images, and who says so; nobody where it is unknown."""

    images: bool
    source: str


def look(
    model: str,
    *,
    harness: str = "",
    declared: object = None,
    table: Mapping[str, bool] | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Sight:
    """Whether `provider/model` accepts images.

    `declared` is what the harness says in its request: a list of inputs, such as
    ["text", "image"] (Pi, OMP), or a mapping of them to true (OpenCode). `table` is
    the user's, from patterns of model ids to true or false; the longest that fits
    counts.
    """
    answers = [
        ("the harness", accepts(declared)),
        (f"{harness}'s list of models", _listed(model, harness, environment)),
        ("mural.vision", _configured(model, table or {})),
    ]
    for source, images in answers:
        if images is not None:
            return Sight(images, source)
    return Sight(False, "")


def accepts(value: object) -> bool | None:
    """Whether declared inputs have images: only a plain yes is one. None: it says nothing."""
    if isinstance(value, list | tuple):
        return "image" in value
    if isinstance(value, Mapping) and "image" in value:
        return value["image"] is True
    return None


def _listed(model: str, harness: str, environment: Mapping[str, str]) -> bool | None:
    """What the harness's own list says; None where it has no word of the model."""
    names = list(_names(model))
    if harness == "opencode":
        found = (modelsdev.entry(name, environment).get("modalities") for name in names)
        inputs = (entry.get("input") for entry in found if isinstance(entry, Mapping))
    elif harness in ("pi", "omp"):
        providers = _providers(harness, environment)
        inputs = (_own_inputs(providers, name) for name in names)
    else:
        return None
    return next((images for value in inputs if (images := accepts(value)) is not None), None)


def _names(model: str) -> Iterator[str]:
    """The model's name, and the same under the provider's usual one."""
    yield model
    provider, slash, name = model.partition("/")
    if slash and provider in PROVIDERS:
        yield f"{PROVIDERS[provider]}/{name}"


def _providers(harness: str, environment: Mapping[str, str]) -> Any:
    """The providers of Pi's models.json or OMP's models.yml."""
    try:
        chosen = environment.get("PI_CODING_AGENT_DIR")  # OMP obeys it too
        own = files.home(environment) / f".{harness}/agent" if not chosen else None
        folder = own or files.expanded(chosen or "")
        if harness == "pi":
            data: Any = json.loads(files.read(folder / "models.json"))
        else:
            import yaml

            data = yaml.safe_load(files.read(folder / "models.yml"))
        return data["providers"]
    except Exception:  # a list that can't be read says nothing, whatever is wrong with it
        return {}


def _own_inputs(providers: Any, model: str) -> object:
    provider, _, name = model.partition("/")
    try:
        entries = providers[provider]["models"]
        return next((entry.get("input") for entry in entries if entry.get("id") == name), None)
    except (KeyError, TypeError, AttributeError):
        return None


def _configured(model: str, table: Mapping[str, bool]) -> bool | None:
    fitting = [pattern for pattern in table if _fits(model, pattern)]
    return table[max(fitting, key=len)] if fitting else None


def _fits(model: str, pattern: str) -> bool:
    """Whether a user's pattern is for a model; capitals don't count, as in readers.toml."""
    return fnmatchcase(model.lower(), pattern.lower())


def themes_for(readers: Mapping[str, str], default: str) -> tuple[str, ...]:
    """Every theme that `theme_for` can come to, whatever the model."""
    chosen = dict.fromkeys([default, *readers.values()])
    if AUTO in chosen:
        del chosen[AUTO]
        chosen |= dict.fromkeys([DEFAULT, *(reader.theme for reader in table())])
    return tuple(chosen)


def theme_for(model: str, readers: Mapping[str, str], default: str) -> str:
    """The theme for a reader: that of the longest of the user's patterns that fits, else
    the default. Where either is "auto", readers.toml says it; a model that it does not
    know, or none, gets the standard theme.
    """
    fitting = [pattern for pattern in readers if _fits(model, pattern)]
    chosen = readers[max(fitting, key=len)] if fitting else default
    if chosen != AUTO:
        return chosen
    reader = known(model)
    return reader.theme if reader else DEFAULT
