"""Text and a chain of faces in, the pieces of its words out: nothing is measured yet.

A piece is of one face, script and direction, so that HarfBuzz can shape it whole. In
plain text it is a whole word: there each character is set in the first face that has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import groupby
from typing import NamedTuple

from muralkit.glyphs import bidi, scripts
from muralkit.glyphs.chain import Chain, Setting
from muralkit.glyphs.clean import escape


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


class Unit(NamedTuple):
    """What is never parted from itself while it fits a line.

    `glued`: no space stands before it. `space` is the bidi level of that space, `base`
    that of its paragraph; None: there is nothing from right to left.
    """

    pieces: tuple[Piece, ...]
    glued: bool = False
    space: int = 0
    base: int | None = None


def plain(word: str, missing: Set[str]) -> tuple[Piece, ...]:
    """A plain word: its covered stretches as they are, the characters in `missing` escaped."""
    if missing.isdisjoint(word):
        return (Piece(word),)
    made: list[Piece] = []
    for uncovered, group in groupby(word, key=missing.__contains__):
        part = "".join(group)
        made += [Piece(escape(char), char) for char in part] if uncovered else [Piece(part)]
    return tuple(made)


def units(text: str, chain: Chain) -> Iterator[Unit]:
    """The units of a text that is more than a glyph a character (scripts.involved)."""
    found, language = bidi.levels(text), scripts.language(text)
    base, levels = found if found else (None, [0] * len(text))
    at = 0
    for token in text.split(" "):
        space = levels[at - 1] if at else 0
        for number, unit in enumerate(scripts.units(token)):
            pieces = tuple(_cut(unit.rstrip(scripts.WORD_BREAK), levels, at, language, chain))
            yield Unit(pieces, number > 0, space, base)
            at += len(unit)
        at += 1


def _cut(unit: str, levels: Sequence[int], at: int, language: str, chain: Chain) -> Iterator[Piece]:
    """A unit's longest pieces; `at` is where it stands in its paragraph."""
    turned = any(levels[at : at + len(unit)])
    if not (turned or language or scripts.shaped(unit) or chain.missing(unit)):
        yield Piece(unit)
        return
    last: Piece | None = None
    parts: list[str] = []
    for grapheme in scripts.graphemes(unit):
        shown = bidi.turned(grapheme) if levels[at] % 2 else grapheme
        for piece in _grapheme(shown, levels[at], language, chain):
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


def _grapheme(text: str, level: int, language: str, chain: Chain) -> Iterator[Piece]:
    """A grapheme in the first face that has all of it, else in the first that has its
    letter, which is followed by escapes for what that face lacks.
    """
    setting, missing = chain.cluster(text, language), ""
    if setting is None:
        setting = chain.cluster(text[0], language)
        codes = setting.face.codepoints if setting else frozenset[int]()
        missing = "".join(
            char for char in text if ord(char) not in codes and char not in scripts.JOINERS
        )
    kept = "".join(char for char in text if char not in missing)
    if setting is not None:
        yield _piece(kept, setting, level, chain)
    for char in missing:
        yield Piece(escape(char), char, level=level + level % 2)


def _piece(text: str, setting: Setting, level: int, chain: Chain) -> Piece:
    if level % 2 or scripts.shaped(text):
        from muralkit.glyphs import harfbuzz

        return Piece(text, "", setting, level, harfbuzz.script(text))
    if all(chain.setting(char) == setting for char in text):
        return Piece(text, level=level)
    return Piece(text, "", setting, level)
