"""What a memory costs an agent: as text, and in a picture."""

from __future__ import annotations

import math
from collections.abc import Iterable

from muralkit.model import Cue

CHARACTERS_PER_TOKEN = 3.5
"""An estimate for English with identifiers; tokenizers of today's models give 3 to 4."""


def text_tokens(text: str) -> int:
    """Tokens of a text, estimated: its characters / 3.5, rounded up."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def as_text(cues: Iterable[Cue]) -> str:
    """The cues as an agent would get them in text: a heading a category, a line a cue."""
    bands: dict[str, list[str]] = {}
    for cue in cues:
        bands.setdefault(cue.category, []).append(f"- {cue.text}\n")
    return "".join(f"{category}\n{''.join(lines)}" for category, lines in bands.items())
