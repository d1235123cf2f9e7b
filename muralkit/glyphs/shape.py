"""The one shaper (P2): text and a face chain in, glyphs, advances and runs out.

Layout measures with it and the rasterizer paints with it. Plain text has no kerning
and no ligatures: a glyph a character, so that an identifier looks the same everywhere.
What scripts.py calls involved is cut into pieces of one face, script and direction,
and what needs it is shaped by HarfBuzz.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import groupby
from operator import add
from typing import NamedTuple

from muralkit.errors import FontError
from muralkit.glyphs import bidi, scripts
from muralkit.glyphs.clean import escape
from muralkit.glyphs.faces import Face, FaceFile, FaceSet
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

    `escaped` is the character that `text` stands for, or empty. `setting` is its one
    face; None: each character is set in the first face that has it. `level` is that of
    the bidi algorithm, odd from right to left. `script` is None where a glyph a
    character will do, else what it is shaped as.
    """

    text: str
    escaped: str = ""
    setting: Setting | None = None
    level: int = 0
    script: str | None = None

    @property
    def rtl(self) -> bool:
        """Whether it runs from right to left."""
        return self.level % 2 == 1

    def joins(self, other: Piece) -> bool:
        """Whether it and the next one are one piece."""
        return not (self.escaped or other.escaped) and self[2:] == other[2:]


class Word(NamedTuple):
    """What is never parted from itself while it fits a line.

    `width` in pixels; `ascent` and `descent` those of its tallest face. `glued`: no
    space stands before it. `space` is the bidi level of that space, `base` that of
    its paragraph; None: there is nothing from right to left.
    """

    pieces: tuple[Piece, ...]
    width: float
    ascent: float
    descent: float
    glued: bool = False
    space: int = 0
    base: int | None = None


WIDEST_ESCAPE = "[U+10FFFF]"
MOST_TIMES = 2
"""How many times the text's size a script may be drawn at: columns are made for that."""


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
        self._least = least or {}
        self._faces = faces
        self._chain = faces.chain(face)
        self._chains = {"": self._chain}
        self._clusters: dict[tuple[str, str], Setting | None] = {}
        self.primary = faces.face(face)
        self._primary_size = size * self.primary.file.scale
        self.ascent = self.primary.ascent * self._primary_size
        self.descent = self.primary.descent * self._primary_size
        self._settings: dict[str, Setting] = {}
        self._missing: set[str] = set()
        self._plain: set[str] = set()
        """Characters that the chain's first face has."""
        self.advances = _Advances(self)
        self._widest = math.inf  # until the widest escape is measured
        if self.setting(" ") is None:
            raise FontError(
                f"The face {face!r} has no space.",
                where=str(self.primary.file.path),
                hint="Take a face with a glyph for U+0020.",
            )
        self.space = self.advances[" "]
        hyphen = self.setting("-")
        self.hyphen_gap = hyphen.face.file.hyphen_gap * hyphen.size if hyphen else 0.0
        if not self.missing(WIDEST_ESCAPE):
            self._widest = self.measure(WIDEST_ESCAPE)

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
            found = self._in(file, chr(codepoint))
            if found is not None:
                return found
        return None

    def _in(self, file: FaceFile, cluster: str) -> Setting | None:
        """The characters in one face; None where it lacks one, or draws it too wide."""
        if not file.may_have(cluster):
            return None
        face = self._faces.face(file.name)
        codes = [ord(char) for char in cluster if char not in scripts.JOINERS]
        if not codes or not face.codepoints.issuperset(codes):
            return None
        size = self.size * file.scale
        size = max(size, min(self._least.get(file.script, 0.0), MOST_TIMES * self.size))
        if file is not self._chain[0] and face.advance(codes[0]) * size > self._widest:
            return None
        return Setting(face, size)

    def cluster(self, text: str, language: str = "") -> Setting | None:
        """The first face that has all of a grapheme; None: no face has."""
        if (text, language) not in self._clusters:
            if language not in self._chains:
                self._chains[language] = self._faces.chain(self.primary.file.name, language)
            found = (self._in(file, text) for file in self._chains[language])
            self._clusters[text, language] = next((s for s in found if s is not None), None)
        return self._clusters[text, language]

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
        """Cleaned text parted where a line may end, each word measured."""
        if scripts.involved(text):
            return list(self._involved(text))
        missing = self.missing(text)
        return [
            self._plain_word(tuple(_pieces(word, missing)) if missing else (Piece(word),))
            for word in text.split(" ")
        ]

    def _involved(self, text: str) -> Iterator[Word]:
        """The words of a text that is more than a glyph a character."""
        found, language = bidi.levels(text), scripts.language(text)
        base, levels = found if found else (None, [0] * len(text))
        at = 0
        for token in text.split(" "):
            space = levels[at - 1] if at else 0
            for number, unit in enumerate(scripts.units(token)):
                pieces = tuple(self._cut(unit, levels, at, language))
                yield self.word(pieces)._replace(glued=number > 0, space=space, base=base)
                at += len(unit)
            at += 1

    def _cut(self, unit: str, levels: Sequence[int], at: int, language: str) -> Iterator[Piece]:
        """A unit's longest pieces; `at` is where it stands in its paragraph."""
        turned = any(levels[at : at + len(unit)])
        if not (turned or language or scripts.shaped(unit) or self.missing(unit)):
            yield Piece(unit)
            return
        last: Piece | None = None
        parts: list[str] = []
        for grapheme in scripts.graphemes(unit):
            shown = bidi.turned(grapheme) if levels[at] % 2 else grapheme
            for piece in self._grapheme(shown, levels[at], language):
                if last and piece.script == "" and last.script:
                    piece = piece._replace(script=last.script)
                elif last and last.script == "" and piece.script:
                    last = last._replace(script=piece.script)
                if last and last.joins(piece):
                    parts.append(piece.text)
                    continue
                if last:
                    yield last._replace(text="".join(parts))
                last, parts = piece, [piece.text]
            at += len(grapheme)
        if last:
            yield last._replace(text="".join(parts))

    def _grapheme(self, text: str, level: int, language: str) -> Iterator[Piece]:
        """A grapheme in the first face that has all of it, else in the first that has its
        letter, which is followed by escapes for what that face lacks.
        """
        setting, missing = self.cluster(text, language), ""
        if setting is None:
            setting = self.cluster(text[0], language)
            codes = setting.face.codepoints if setting else frozenset[int]()
            missing = "".join(
                char for char in text if ord(char) not in codes and char not in scripts.JOINERS
            )
        kept = "".join(char for char in text if char not in missing)
        if setting is not None:
            yield self._piece(kept, setting, level)
        for char in missing:
            yield Piece(escape(char), char, level=level + level % 2)

    def _piece(self, text: str, setting: Setting, level: int) -> Piece:
        if level % 2 or scripts.shaped(text):
            from muralkit.glyphs import harfbuzz

            return Piece(text, "", setting, level, harfbuzz.script(text))
        if all(self.setting(char) == setting for char in text):
            return Piece(text, level=level)
        return Piece(text, "", setting, level)

    def word(self, pieces: tuple[Piece, ...]) -> Word:
        """A word of measured pieces."""
        if any(piece.setting for piece in pieces):
            width = add_up(map(self.width, pieces))
            heights = [self._heights(piece) for piece in pieces]
            return Word(pieces, width, *(max(height) for height in zip(*heights, strict=True)))
        return self._plain_word(pieces)

    def _plain_word(self, pieces: tuple[Piece, ...]) -> Word:
        text = pieces[0].text if len(pieces) == 1 else "".join(piece.text for piece in pieces)
        if self._plain.issuperset(text):
            return Word(pieces, self.measure(text), self.ascent, self.descent)
        return Word(pieces, self.measure(text), *self.extents(text))

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
            if len(text) > 1 and self.width(part) > self._widest:
                parts += [part._replace(text=char) for char in text]
            else:
                parts.append(part)
        return parts

    def extents(self, text: str) -> tuple[float, float]:
        """Ascent and descent in pixels of the tallest faces of a text."""
        ascent, descent = self.ascent, self.descent
        for char in set(text) - self._plain:
            setting = self.setting(char)
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
            self.setting(char)
        odd = [index for index, char in enumerate(text) if char not in plain]
        start = 0
        for end in self._cuts(text, odd):
            part = text[start:end]
            setting = self._settings[part[0]]
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
