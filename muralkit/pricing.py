"""What a memory costs an agent: as text, and in a picture, by provider."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from muralkit.model import TILE, Cue

CHARACTERS_PER_TOKEN = 3.5
"""An estimate for English with identifiers; tokenizers of today's models give 3 to 4."""

Formula = Callable[[int, int], int]


def text_tokens(text: str) -> int:
    """Tokens of a text, estimated: its characters / 3.5, rounded up."""
    return math.ceil(len(text) / CHARACTERS_PER_TOKEN)


def as_text(cues: Iterable[Cue]) -> str:
    """The cues as an agent would get them in text: a heading a category, a line a cue."""
    bands: dict[str, list[str]] = {}
    for cue in cues:
        bands.setdefault(cue.category, []).append(f"- {cue.text}\n")
    return "".join(f"{category}\n{''.join(lines)}" for category, lines in bands.items())


@dataclass(frozen=True, slots=True)
class Family:
    """Models that count a picture alike; `tokens(width, height)` in pixels.

    The formulas are the providers' own where they publish one, as of 2026-11; the
    rest are measured. A picture within 1568 px and 1568 tiles is scaled by none of
    them but where the formula does it.
    """

    name: str
    tokens: Formula


def _patches(width: int, height: int, side: int) -> int:
    return math.ceil(width / side) * math.ceil(height / side)


def claude(width: int, height: int) -> int:
    """Tiles of 28 x 28 px, each side rounded up: the mural's own unit."""
    return _patches(width, height, TILE)


def _openai_patches(factor: float) -> Formula:
    """32-px patches times a factor, rounded up."""
    # In thousandths, or the product of a float may end just over a whole number.
    milli = round(factor * 1000)
    return lambda width, height: -(-milli * _patches(width, height, 32) // 1000)


def _openai_tiles(base: int, tile: int) -> Formula:
    """Fit in 2048 x 2048, then the short side in 768; 512-px tiles, and a base."""

    def tokens(width: int, height: int) -> int:
        scale = min(1.0, 2048 / max(width, height))
        scale = min(scale, 768 / min(width, height))
        wide, tall = round(width * scale), round(height * scale)
        return base + tile * _patches(wide, tall, 512)

    return tokens


def _gemini_2(width: int, height: int) -> int:
    """258 up to 384 px a side, else 258 a crop of floor(short side / 1.5)."""
    if max(width, height) <= 384:
        return 258
    unit = max(1, math.floor(min(width, height) / 1.5))
    return 258 * _patches(width, height, unit)


def _rounded(side: int) -> Formula:
    return lambda width, height: math.floor(width / side + 0.5) * math.floor(height / side + 0.5)


FAMILIES: tuple[Family, ...] = (
    Family("Claude", claude),
    Family("OpenAI GPT-5.4 to 6, 5-mini", _openai_patches(1.2)),
    Family("OpenAI gpt-5-nano", _openai_patches(1.5)),
    Family("OpenAI 4.1-mini", _openai_patches(1.62)),
    Family("OpenAI o4-mini", _openai_patches(1.72)),
    Family("OpenAI 4.1-nano", _openai_patches(2.46)),
    Family("OpenAI gpt-5", _openai_tiles(70, 140)),
    Family("OpenAI o1, o3", _openai_tiles(75, 150)),
    Family("OpenAI gpt-4o", _openai_tiles(85, 170)),
    Family("OpenAI gpt-4o-mini", _openai_tiles(2833, 5667)),
    Family("Gemini 3", lambda _width, _height: 1120),  # its default media resolution
    Family("Gemini 2.5", _gemini_2),
    Family("Grok", lambda width, height: math.ceil(width * height / 1000)),
    Family("Qwen2.5-VL", _rounded(28)),
    Family("Qwen3-VL", _rounded(32)),
    Family("Kimi K2.5, GLM-4.6V", claude),
)
