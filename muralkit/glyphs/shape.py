"""The one shaper (P2): text and a face chain in, glyphs, advances and runs out.

Layout measures with it and the rasterizer paints with it. No kerning and no
ligatures: a glyph a character, so that an identifier looks the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import groupby
from operator import add
from typing import NamedTuple

from muralkit.errors import FontError
from muralkit.glyphs.clean import escape
from muralkit.glyphs.faces import Face, FaceSet
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


class Setting(NamedTuple):
    """How a character is set: its face, and the em in pixels."""

    face: Face
    size: float


class Piece(NamedTuple):
    """A stretch of a word: text as it is, or the escape of one character.

    `escaped` is the character that `text` stands for, or empty.
    """

    text: str
    escaped: str


class Word(NamedTuple):
    """What is never parted from itself while it fits a line.

    `width` in pixels; `ascent` and `descent` those of its tallest face.
    """

    pieces: tuple[Piece, ...]
    width: float
    ascent: float
    descent: float


class _Advances(dict[str, float]):
    """Pixel advances by character, filled on first use. KeyError: no glyph."""

    def __init__(self, shaper: Shaper) -> None:
        super().__init__()
        self.shaper = shaper

    def __missing__(self, character: str) -> float:
        setting = self.shaper.setting(character)
        if setting is None:
            raise KeyError(character)
        step = advance(setting.face, character, setting.size, self.shaper.tracking)
        if self.shaper.snap:
            step = float(math.ceil(step - 1e-6))
        self[character] = step
        return step


class Shaper:
    """A chain of faces at one text size.

    `snap` rounds every advance up to whole pixels, for faces of square pixels.
    """

    def __init__(
        self, faces: FaceSet, face: str, size: float, tracking: float = 0.0, snap: bool = False
    ) -> None:
        self.size, self.tracking, self.snap = size, tracking, snap
        self._faces = faces
        self._chain = faces.chain(face)
        self.primary = faces.face(face)
        self._primary_size = size * self.primary.file.scale
        self.ascent = self.primary.ascent * self._primary_size
        self.descent = self.primary.descent * self._primary_size
        self._settings: dict[str, Setting] = {}
        self._missing: set[str] = set()
        self._plain: set[str] = set()
        """Characters that the chain's first face has."""
        self.advances = _Advances(self)
        if self.setting(" ") is None:
            raise FontError(
                f"The face {face!r} has no space.",
                where=str(self.primary.file.path),
                hint="Take a face with a glyph for U+0020.",
            )
        self.space = self.advances[" "]
        hyphen = self.setting("-")
        self.hyphen_gap = hyphen.face.file.hyphen_gap * hyphen.size if hyphen else 0.0

    def font_advance(self, codepoint: int) -> float:
        """The advance of a glyph of the chain's first face, unsnapped, in pixels."""
        return self.primary.advance(codepoint) * self._primary_size

    def setting(self, character: str) -> Setting | None:
        """The first face of the chain that has the character; None: no face has."""
        if character not in self._settings and character not in self._missing:
            found = self._find(ord(character))
            if found is None:
                self._missing.add(character)
            else:
                self._settings[character] = found
                if found.face is self.primary:
                    self._plain.add(character)
        return self._settings.get(character)

    def _find(self, codepoint: int) -> Setting | None:
        for file in self._chain:
            face = self._faces.face(file.name)
            if codepoint in face.codepoints:
                return Setting(face, self.size * file.scale)
        return None

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
        if self._plain.issuperset(text):
            return set()
        return {char for char in set(text) - self._plain if self.setting(char) is None}

    def words(self, text: str) -> list[Word]:
        """Cleaned text parted at its spaces, each word measured."""
        missing = self.missing(text)
        return [
            self.word(tuple(_pieces(word, missing)) if missing else (Piece(word, ""),))
            for word in text.split(" ")
        ]

    def word(self, pieces: tuple[Piece, ...]) -> Word:
        """A word of measured pieces."""
        text = pieces[0].text if len(pieces) == 1 else "".join(piece.text for piece in pieces)
        if self._plain.issuperset(text):
            return Word(pieces, self.measure(text), self.ascent, self.descent)
        return Word(pieces, self.measure(text), *self.extents(text))

    def extents(self, text: str) -> tuple[float, float]:
        """Ascent and descent in pixels of the tallest faces of a text."""
        ascent, descent = self.ascent, self.descent
        for char in set(text) - self._plain:
            setting = self.setting(char)
            if setting is not None:
                ascent = max(ascent, setting.face.ascent * setting.size)
                descent = max(descent, setting.face.descent * setting.size)
        return ascent, descent

    def runs(self, text: str, x: float, ink: Ink) -> Iterator[Run]:
        """The runs of a text that starts at x; a new run at each change of face.

        Every character must have a glyph: escape the others before.
        """
        plain = self._plain
        for char in set(text) - plain:
            self.setting(char)
        odd = [index for index, char in enumerate(text) if char not in plain]
        start = 0
        for end in self._cuts(text, odd):
            part = text[start:end]
            setting = self._settings[part[0]]
            width, file = self.measure(part), setting.face.file
            yield Run(part, x, width, file.family, file.weight, setting.size, self.tracking, ink)
            x, start = x + width, end

    def _cuts(self, text: str, odd: Sequence[int]) -> Iterator[int]:
        """Where runs end. Snapped advances differ from the font's: there each odd
        glyph has a run, and so an x, of its own.
        """
        settings = self._settings
        for index in odd:
            if index and (self.snap or settings[text[index - 1]] != settings[text[index]]):
                yield index
            after = index + 1
            if after < len(text) and text[after] in self._plain:
                yield after
        if text:
            yield len(text)


def _pieces(word: str, missing: set[str]) -> Iterator[Piece]:
    """A word's covered stretches as they are, its other characters escaped."""
    for uncovered, group in groupby(word, key=missing.__contains__):
        part = "".join(group)
        if uncovered:
            yield from (Piece(escape(char), char) for char in part)
        else:
            yield Piece(part, "")
