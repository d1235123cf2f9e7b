"""Options that several commands share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from muralkit.cache import ReplayCache
    from muralkit.sections import Config
    from muralkit.themefile import ThemeFile


def emit(value: Any, indent: int | None = None) -> None:
    """Print JSON to standard output. Raises OutputError where that is closed or full."""
    from muralkit.output import write_stdout

    write_stdout(json.dumps(value, indent=indent).encode() + b"\n")


def plain(text: str) -> str:
    """Text from outside for a terminal: what could move its cursor, or can't be seen, is
    spelled out.
    """
    return _CONTROL.sub(lambda match: ascii(match[0])[1:-1], text)


def line(text: str) -> str:
    """The same, on one line."""
    return plain(" ".join(text.split()))


_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)


def counted(number: int, one: str = "memory", more: str = "memories") -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else more}"


def theme_names(start: str) -> list[Any]:
    """Completions of a theme: the bundled names, else the files of the shell."""
    from click.shell_completion import CompletionItem

    from muralkit import themefile

    names = [name for name in themefile.names() if name.startswith(start)]
    return [CompletionItem(name) for name in names] or [CompletionItem(start, type="file")]


THEME = click.option(
    "--theme",
    metavar="NAME|FILE",
    help="A bundled theme, or the path of a manifest or its folder; else the configured one.",
    shell_complete=lambda _context, _parameter, start: theme_names(start),
)
OUTPUT = click.option(
    "-o",
    "--output",
    default="mural.png",
    show_default=True,
    metavar="FILE",
    help="Where the PNG goes; - is standard output.",
)
NO_CACHE = click.option("--no-cache", is_flag=True, help="Draw anew, and keep nothing.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON to standard output.")


@contextmanager
def open_cache(off: bool, project: Path = Path()) -> Iterator[ReplayCache | None]:
    """The user's replay cache; None where it is off, or there is no home for it."""
    from muralkit.paths import cache_folder

    enabled, size = (False, 0) if off else _cache_settings(project)
    folder = cache_folder() if enabled else None
    if folder is None:
        yield None
        return
    from muralkit.cache import ReplayCache

    with ReplayCache(folder, size) as cache:
        yield cache


def configured_theme(project: Path = Path()) -> str:
    """The theme that the configuration names, for no model in particular. Raises ConfigError."""
    from muralkit.themefile import DEFAULT

    found = _configured(project)
    if found is None:
        return DEFAULT
    from muralkit.vision import theme_for

    return theme_for("", {}, found.mural.theme)


def extra_faces(project: Path = Path()) -> tuple[str, ...]:
    """The font files that the user's configuration adds. Raises ConfigError."""
    found = _configured(project)
    return found.fonts.extra if found else ()


def found_theme(name: str, project: Path = Path()) -> ThemeFile:
    """A theme with these faces. Raises ThemeError."""
    from muralkit import themefile

    return themefile.find(name, extra_faces(project))


def _cache_settings(project: Path) -> tuple[bool, int]:
    """Whether to keep pictures, and how many bytes of them."""
    from muralkit.cache import SIZE_LIMIT

    found = _configured(project)
    return (found.cache.enabled, found.cache.size_mib * 2**20) if found else (True, SIZE_LIMIT)


@lru_cache(maxsize=1)
def _configured(project: Path) -> Config | None:
    """The configuration; None where there is no file, and so no need of pydantic."""
    from muralkit.configfile import layers

    if not any(layer.path.exists() for layer in layers(project)):
        return None
    from muralkit import config

    return config.load(project).config
