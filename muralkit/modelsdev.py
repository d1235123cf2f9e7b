"""OpenCode's own list of models (models.dev), where it lies on this machine.

Whatever is missing or malformed in it is unknown, never an error.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from muralkit import files
from muralkit.errors import MuralkitError


def path(environment: Mapping[str, str] = os.environ) -> Path:
    """Where OpenCode keeps the list."""
    given = environment.get("OPENCODE_MODELS_PATH")
    if given:
        return Path(given)
    cache = environment.get("XDG_CACHE_HOME") or str(files.home(environment) / ".cache")
    return Path(cache) / "opencode" / "models.json"


def entry(model: str, environment: Mapping[str, str] = os.environ) -> Mapping[str, Any]:
    """What the list says of `provider/model`; empty where it says nothing."""
    provider, _, name = model.partition("/")
    try:
        found: Any = json.loads(files.read(path(environment)))[provider]["models"][name]
    except (OSError, ValueError, KeyError, TypeError, RecursionError, MuralkitError):
        return {}
    return found if isinstance(found, dict) else {}


def price(model: str, environment: Mapping[str, str] = os.environ) -> tuple[float, float] | None:
    """Dollars a million tokens, in and out; None where it is not known."""
    cost = entry(model, environment).get("cost")
    if not isinstance(cost, dict):
        return None
    into, out = cost.get("input"), cost.get("output")
    if not (isinstance(into, int | float) and isinstance(out, int | float)):
        return None
    return float(into), float(out)
