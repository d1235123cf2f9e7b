"""A chain of faces at one text size: a character or a grapheme in, its face and em out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from muralkit.glyphs import scripts
from muralkit.glyphs.faces import Face, FaceFile, FaceSet

MOST_TIMES = 2
"""How many times the text's size a script may be drawn at: columns are made for that."""


class Setting(NamedTuple):
    """How a character is set: its face, and the em in pixels."""

    face: Face
    size: float


class Chain:
    """The faces that a text is set in: the theme's first, then the fallback in order.

    `least` has the size, in pixels, that a script is drawn at where the text is smaller.
    `plain` has the characters that are known to be the first face's; `widest` is how wide,
    in pixels, a glyph of any other face may be.
    """

    def __init__(
        self, faces: FaceSet, face: str, size: float, least: Mapping[str, float] | None = None
    ) -> None:
        self.size = size
        self.primary = faces.face(face)
        self.primary_size = size * self.primary.file.scale
        self.plain: set[str] = set()
        self.widest = math.inf
        self._least = least or {}
        self._faces = faces
        self._chains = {"": faces.chain(face)}
        self._settings: dict[str, Setting] = {}
        self._missing: set[str] = set()
        self._clusters: dict[tuple[str, str], Setting | None] = {}

    def setting(self, character: str) -> Setting | None:
        """The first face of the chain that has the character; None: no face has."""
        if character not in self._settings and character not in self._missing:
            found = self._first(character, "")
            if found is None:
                self._missing.add(character)
            else:
                self._settings[character] = found
                if found.face is self.primary:
                    self.plain.add(character)
        return self._settings.get(character)

    def __getitem__(self, character: str) -> Setting:
        """The same of a character that a face has. Raises KeyError."""
        setting = self.setting(character)
        if setting is None:
            raise KeyError(character)
        return setting

    def cluster(self, text: str, language: str = "") -> Setting | None:
        """The first face that has all of a grapheme; None: no face has."""
        if (text, language) not in self._clusters:
            self._clusters[text, language] = self._first(text, language)
        return self._clusters[text, language]

    def missing(self, text: str) -> set[str]:
        """The characters of a text that no face has."""
        if self.plain.issuperset(text):
            return set()
        return {char for char in set(text) - self.plain if self.setting(char) is None}

    def _first(self, cluster: str, language: str) -> Setting | None:
        if language not in self._chains:
            self._chains[language] = self._faces.chain(self.primary.file.name, language)
        found = (self._in(file, cluster) for file in self._chains[language])
        return next((setting for setting in found if setting is not None), None)

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
        if face is not self.primary and face.advance(codes[0]) * size > self.widest:
            return None
        return Setting(face, size)
