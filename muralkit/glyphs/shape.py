"""The one shaper (P2): text and a face chain in, glyphs, advances and runs out.

Layout measures with it and the rasterizer paints with it. Plain text has no kerning
and no ligatures: a glyph a character, so that an identifier looks the same everywhere.
What needs it is shaped by HarfBuzz, piece by piece.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import add
from typing import NamedTuple

from muralkit.errors import FontError
from muralkit.glyphs import pieces, scripts
from muralkit.glyphs.chain import Chain, Setting
from muralkit.glyphs.faces import Face, FaceSet
from muralkit.glyphs.pieces import Piece
from muralkit.model import Ink, Run


def advance(face: Face, character: str, size: float, tracking: float) -> float:
    """Pixels from one glyph's origin to the next: hmtx advance, and tracking."""
    return face.advance(ord(character)) * size + tracking


def part_hyphens(steps: list[float], text: str, gap: float) -> list[float]:
    """The steps of a text, with `gap` pixels between any two hyphens."""
    for index in range(len(text) - 1):
        if text[index] == text[index + 1] == "-":
            steps[index] += gap
    return steps


def add_up(steps: Iterable[float]) -> float:
    """A sum from left to right: the built-in one compensates from Python 3.12 on, and
    so rounds otherwise than in 3.11.
    """
    return reduce(add, steps, 0.0)


class Word(NamedTuple):
    """A measured unit of pieces.py, with what that says of it.

    `width` in pixels; `ascent` and `descent` those of its tallest face.
    """

    pieces: tuple[Piece, ...]
    width: float
    ascent: float
    descent: float
    glued: bool = False
    space: int = 0
    base: int | None = None


WIDEST_ESCAPE = "[U+10FFFF]"


class _Advances(dict[str, float]):
    """Pixel advances by character, filled on first use. KeyError: no glyph."""

    def __init__(self, shaper: Shaper) -> None:
        super().__init__()
        self.shaper = shaper

    def __missing__(self, character: str) -> float:
        setting = self.shaper.chain[character]
        step = advance(setting.face, character, setting.size, self.shaper.tracking)
        if self.shaper.snap:
            step = float(math.ceil(step - 1e-6))
        self[character] = step
        return step


class Shaper:
    """A chain of faces at one text size.

    `snap` rounds every advance up to whole pixels, for faces of square pixels. `least`
    has the size, in pixels, that a script is drawn at where the text is smaller.
    """

    def __init__(
        self,
        faces: FaceSet,
        face: str,
        size: float,
        tracking: float = 0.0,
        snap: bool = False,
        least: Mapping[str, float] | None = None,
    ) -> None:
        self.size, self.tracking, self.snap = size, tracking, snap
        self.chain = Chain(faces, face, size, least)
        self.primary = self.chain.primary
        self.ascent = self.primary.ascent * self.chain.primary_size
        self.descent = self.primary.descent * self.chain.primary_size
        self._plain = self.chain.plain
        self.advances = _Advances(self)
        if self.chain.setting(" ") is None:
            raise FontError(
                f"The face {face!r} has no space.",
                where=str(self.primary.file.path),
                hint="Take a face with a glyph for U+0020.",
            )
        self.space = self.advances[" "]
        hyphen = self.chain.setting("-")
        self.hyphen_gap = hyphen.face.file.hyphen_gap * hyphen.size if hyphen else 0.0
        if not self.missing(WIDEST_ESCAPE):
            self.chain.widest = self.measure(WIDEST_ESCAPE)

    def font_advance(self, codepoint: int) -> float:
        """The advance of a glyph of the chain's first face, unsnapped, in pixels."""
        return self.primary.advance(codepoint) * self.chain.primary_size

    def measure(self, text: str) -> float:
        """The sum of advances in pixels. Every character must have a glyph."""
        if "--" in text:
            return add_up(self.steps(text))
        return add_up(map(self.advances.__getitem__, text))

    def steps(self, text: str) -> list[float]:
        """Pixels from each glyph's origin to the next. Every character must have a glyph."""
        return part_hyphens([self.advances[char] for char in text], text, self.hyphen_gap)

    def missing(self, text: str) -> set[str]:
        """The characters of a text that no face has."""
        return self.chain.missing(text)

    def words(self, text: str) -> list[Word]:
        """Cleaned text parted where a line may end, each word measured."""
        if scripts.involved(text):
            return [
                self.word(made)._replace(glued=glued, space=space, base=base)
                for made, glued, space, base in pieces.units(text, self.chain)
            ]
        missing = self.chain.missing(text)
        return [self._plain_word(pieces.plain(word, missing)) for word in text.split(" ")]

    def word(self, made: tuple[Piece, ...]) -> Word:
        """A word of these pieces, measured."""
        if any(piece.setting for piece in made):
            width = add_up(map(self.width, made))
            heights = [self._heights(piece) for piece in made]
            return Word(made, width, *(max(height) for height in zip(*heights, strict=True)))
        return self._plain_word(made)

    def _plain_word(self, made: tuple[Piece, ...]) -> Word:
        text = made[0].text if len(made) == 1 else "".join(piece.text for piece in made)
        if self._plain.issuperset(text):
            return Word(made, self.measure(text), self.ascent, self.descent)
        return Word(made, self.measure(text), *self.extents(text))

    def width(self, piece: Piece) -> float:
        """The sum of a piece's advances in pixels."""
        if piece.setting is None:
            return self.measure(piece.text)
        steps = self._steps(piece, piece.setting)
        if not self.snap:
            return add_up(steps)
        if piece.script is not None:
            return float(math.ceil(add_up(steps) - 1e-6))
        return add_up(math.ceil(step - 1e-6) for step in steps)

    def _steps(self, piece: Piece, setting: Setting) -> list[float]:
        face, size = setting
        if piece.script is not None:  # tracking would tear the letters apart
            return [glyph.advance * size for glyph in face.shape(piece.text, piece.rtl).glyphs]
        plain = [advance(face, char, size, self.tracking) for char in piece.text]
        return part_hyphens(plain, piece.text, face.file.hyphen_gap * size)

    def _heights(self, piece: Piece) -> tuple[float, float]:
        """Ascent and descent in pixels: the face's, or what the glyphs reach beyond them."""
        if piece.setting is None:
            return self.extents(piece.text)
        face, size = piece.setting
        ascent = max(self.ascent, face.ascent * size)
        descent = max(self.descent, face.descent * size)
        if piece.script is None:
            return ascent, descent
        found = face.shape(piece.text, piece.rtl)
        return max(ascent, found.top * size), max(descent, -found.bottom * size)

    def split(self, piece: Piece) -> list[Piece]:
        """A piece's smallest parts: its graphemes, or the characters of one that is wider
        than any escape.
        """
        if piece.escaped:
            return [piece]
        parts = []
        for text in scripts.graphemes(piece.text):
            part = piece._replace(text=text)
            if len(text) > 1 and self.width(part) > self.chain.widest:
                parts += [part._replace(text=char) for char in text]
            else:
                parts.append(part)
        return parts

    def extents(self, text: str) -> tuple[float, float]:
        """Ascent and descent in pixels of the tallest faces of a text."""
        ascent, descent = self.ascent, self.descent
        for char in set(text) - self._plain:
            setting = self.chain.setting(char)
            if setting is not None:
                ascent = max(ascent, setting.face.ascent * setting.size)
                descent = max(descent, setting.face.descent * setting.size)
        return ascent, descent

    def runs(self, piece: Piece, x: float, ink: Ink) -> Iterator[Run]:
        """The runs of a piece that starts at x; a new run at each change of face.

        Every character must have a glyph: escape the others before.
        """
        if piece.setting is not None:
            yield from self._runs_in(piece, piece.setting, x, ink)
            return
        text, plain = piece.text, self._plain
        for char in set(text) - plain:
            self.chain.setting(char)  # which tells what is plain
        odd = [index for index, char in enumerate(text) if char not in plain]
        start = 0
        for end in self._cuts(text, odd):
            part = text[start:end]
            setting = self.chain[part[0]]
            width, file = self.measure(part), setting.face.file
            yield Run(part, x, width, file.family, file.weight, setting.size, self.tracking, ink)
            x, start = x + width, end

    def _runs_in(self, piece: Piece, setting: Setting, x: float, ink: Ink) -> Iterator[Run]:
        """A piece of one face: a run, or, where advances are snapped, one a character."""
        file, size, script = setting.face.file, setting.size, piece.script
        tracking = self.tracking if script is None else 0.0
        parts = [piece]
        if self.snap and script is None:
            parts = [piece._replace(text=char) for char in piece.text]
        for part in parts:
            width = self.width(part)
            yield Run(part.text, x, width, file.family, file.weight, size, tracking, ink, piece.rtl)
            x += width

    def _cuts(self, text: str, odd: Sequence[int]) -> Iterator[int]:
        """Where runs end. Snapped advances differ from the font's: there each odd
        glyph has a run, and so an x, of its own.
        """
        chain = self.chain
        for index in odd:
            if index and (self.snap or chain[text[index - 1]] != chain[text[index]]):
                yield index
            after = index + 1
            if after < len(text) and text[after] in self._plain:
                yield after
        if text:
            yield len(text)
