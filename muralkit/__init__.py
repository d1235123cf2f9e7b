"""muralkit draws a project's memories as one deterministic PNG for vision models.

import muralkit
mural = muralkit.render([{"id": 1, "category": "NAMING", "importance": 60, "cue": "..."}])
open("mural.png", "wb").write(mural.png)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from muralkit.cache import ReplayCache
    from muralkit.errors import (
        EnvironmentProblem,
        FontError,
        GoldenError,
        InputError,
        MuralkitError,
        OutputError,
        TemplateError,
        ThemeError,
    )
    from muralkit.model import Cue, Dropped, Escaped, Mural, Reason
    from muralkit.pipeline import render, render_svg
    from muralkit.theme import Theme

__version__ = "0.1.0"

__all__ = [
    "Cue",
    "Dropped",
    "EnvironmentProblem",
    "Escaped",
    "FontError",
    "GoldenError",
    "InputError",
    "Mural",
    "MuralkitError",
    "OutputError",
    "Reason",
    "ReplayCache",
    "TemplateError",
    "Theme",
    "ThemeError",
    "__version__",
    "render",
    "render_svg",
]

_LAZY = {
    "errors": (
        "EnvironmentProblem",
        "FontError",
        "GoldenError",
        "InputError",
        "MuralkitError",
        "OutputError",
        "TemplateError",
        "ThemeError",
    ),
    "model": ("Cue", "Dropped", "Escaped", "Mural", "Reason"),
    "cache": ("ReplayCache",),
    "theme": ("Theme",),
    "pipeline": ("render", "render_svg"),
}
_MODULE = {name: f"muralkit.{module}" for module, names in _LAZY.items() for name in names}


def __getattr__(name: str) -> Any:
    """A name is imported when it is first asked for."""
    if name not in _MODULE:
        raise AttributeError(f"module 'muralkit' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_MODULE[name]), name)
