"""The key of a picture: a hash over every one of its inputs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
from functools import lru_cache
from pathlib import Path

from muralkit import __version__
from muralkit.model import Cue

RENDERER = 4
"""Goes up with every change of ours that changes a picture."""

_ENGINES = (
    "cairosvg",
    "fonttools",
    "jinja2",
    "deflate",
    "uharfbuzz",
    "python_bidi",
    "unicode_segmentation_rs",
)


def key(cues: list[Cue], fingerprint: str) -> str:
    """The hash over every input of the picture: cues, a theme's fingerprint, versions."""
    picture = [
        RENDERER,
        _versions(),
        fingerprint,
        [(cue.memory_id, cue.category, cue.importance, cue.text) for cue in cues],
    ]
    # As they are: escaped, two halves of a surrogate pair would be the character itself.
    text = json.dumps(picture, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def renderer() -> str:
    """The renderer's version: ours, and those of the libraries that have a hand in a picture."""
    return "/".join([str(RENDERER), *_versions()])


@lru_cache(maxsize=1)
def _versions() -> list[str]:
    """Our version, and those of the libraries that have a hand in the picture.

    Read off the names of the .dist-info folders: importlib.metadata costs a
    replay 40 ms, ten times what the replay itself takes.
    """
    found: dict[str, str] = {}
    for folder in sys.path:
        with contextlib.suppress(OSError):
            for path in Path(folder).glob("*.dist-info"):
                package, _, number = path.stem.partition("-")
                found.setdefault(package.lower(), number)
    return [__version__, *(found.get(name, "") for name in _ENGINES)]
