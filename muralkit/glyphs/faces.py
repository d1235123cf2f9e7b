"""The faces: pinned font files in, ascents, advances and outlines out.

fontTools reads a file once; nothing here asks the system for a font.
"""

from __future__ import annotations

import hashlib
import logging
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muralkit import assets, files
from muralkit.errors import FontError

if TYPE_CHECKING:
    from fontTools.ttLib import TTFont

    from muralkit.glyphs.harfbuzz import Shaped
    from muralkit.glyphs.outline import Segment


MOST_EM = 4
"""How far a glyph, an ascent or a descent may reach; the longest dash takes 3."""

MOST_SHAPED = 20_000
"""Texts whose glyphs a face remembers."""

# Compressed fonts (WOFF) can be a thousand times larger than their file.
_SFNT = (b"\0\1\0\0", b"true", b"OTTO")


@dataclass(frozen=True, slots=True)
class FaceFile:
    """An entry of fonts.toml, or a theme's own face.

    `name` is what themes say; `family` and `weight` are what the SVG says.
    `scale` sizes the face beside the text size. An empty `sha256` is not pinned.
    `hyphen_gap` (em) parts two hyphens that else would be one dash, as in --force.
    `ranges` are the code points that the face is asked for at all, so that it is opened
    by no other text; none: all. `script` is what a theme's [scripts] calls what the face
    is for, `language` the one in whose text it comes before the other fallback faces.
    """

    name: str
    family: str
    weight: int
    path: Path
    sha256: str
    scale: float
    fallback: bool
    hyphen_gap: float = 0.0
    ranges: tuple[tuple[int, int], ...] = ()
    script: str = ""
    language: str = ""

    def may_have(self, text: str) -> bool:
        """Whether one of the characters is among those that the face is asked for."""
        if not self.ranges:
            return True
        return any(low <= ord(char) <= high for char in text for low, high in self.ranges)


_NO_XML = frozenset((0xFFFE, 0xFFFF))


class Face:
    """A loaded face. Lengths are in em: multiply by the size."""

    def __init__(self, file: FaceFile, data: bytes) -> None:
        from io import BytesIO

        from fontTools.ttLib import TTFont

        if not data.startswith(_SFNT):
            raise _bad_font(file, "it is neither TrueType nor OpenType")
        logging.getLogger("fontTools").addHandler(logging.NullHandler())  # errors are ours to tell
        self.file = file
        self._data = data
        self._outlines: dict[str, tuple[Segment, ...]] = {}
        self._shaped: dict[tuple[str, bool], Shaped] = {}
        try:
            self._font: TTFont = TTFont(BytesIO(data), lazy=True)
            if "glyf" in self._font:
                # Names nobody sees: making up real ones from the cmap costs 15 ms a face.
                count = self._font["maxp"].numGlyphs
                self._font.setGlyphOrder([f"g{index}" for index in range(count)])
            self._em = int(self._font["head"].unitsPerEm)
            self._cmap: dict[int, str] = self._font.getBestCmap() or {}
            self._advances: dict[str, tuple[int, int]] = self._font["hmtx"].metrics
            # A damaged font maps characters to glyphs that it doesn't have; some map what
            # can't stand in an SVG.
            self._cmap = {
                code: name
                for code, name in self._cmap.items()
                if name in self._advances and not (0xD800 <= code < 0xE000 or code in _NO_XML)
            }
            self.ascent = self._font["hhea"].ascent / self._em
            self.descent = -self._font["hhea"].descent / self._em
        except Exception as error:  # a damaged font can raise anything in fontTools
            raise _bad_font(file, error) from error
        if not self._em or self.ascent + self.descent <= 0:
            raise _bad_font(file, "it has no height")
        if max(abs(self.ascent), abs(self.descent)) > MOST_EM:
            raise _bad_font(file, f"its ascent or descent is over {MOST_EM} em")

    @cached_property
    def codepoints(self) -> frozenset[int]:
        """The characters that the face has a glyph for."""
        return frozenset(self._cmap)

    def advance(self, codepoint: int) -> float:
        """The horizontal advance of a character's glyph, from the hmtx table.

        Raises KeyError where the face has no glyph for it.
        """
        return self._advances[self._cmap[codepoint]][0] / self._em

    def outline(self, codepoint: int) -> tuple[Segment, ...]:
        """The outline of a character's glyph with the origin on the baseline, unhinted.

        Raises FontError where the file's outline can't be read.
        """
        return self._outline(self._cmap[codepoint])

    def glyph_outline(self, index: int) -> tuple[Segment, ...]:
        """The same of a glyph by its number, as shaping names it."""
        return self._outline(self._order[index])

    def shape(self, text: str, rtl: bool) -> Shaped:
        """The placed glyphs of a text of one script and direction that the face covers.

        Raises FontError where the file's tables can't be used.
        """
        if (text, rtl) not in self._shaped:
            if len(self._shaped) >= MOST_SHAPED:
                self._shaped.clear()
            self._shaped[text, rtl] = self._shape(text, rtl)
        return self._shaped[text, rtl]

    def _shape(self, text: str, rtl: bool) -> Shaped:
        from muralkit.glyphs import harfbuzz

        try:
            return harfbuzz.shape(self._harfbuzz, self._em, text, rtl, self.file.hyphen_gap)
        except Exception as error:  # whatever a damaged font leads to
            raise _bad_font(self.file, error) from error

    @cached_property
    def _harfbuzz(self) -> Any:
        from muralkit.glyphs import harfbuzz

        return harfbuzz.opened(self._data)

    @cached_property
    def _order(self) -> list[str]:
        order: list[str] = self._font.getGlyphOrder()
        return order

    def _outline(self, name: str) -> tuple[Segment, ...]:
        if name not in self._outlines:
            self._outlines[name] = self._read_outline(name)
        return self._outlines[name]

    def _read_outline(self, name: str) -> tuple[Segment, ...]:
        from muralkit.glyphs.outline import segments

        try:
            found = segments(self._glyphs, name, self._em)
            if any(abs(value) > MOST_EM for _, values in found for value in values):
                raise ValueError(f"a glyph reaches over {MOST_EM} em")
            return found
        except Exception as error:  # a damaged font can raise anything in fontTools
            raise _bad_font(self.file, error) from error

    @cached_property
    def _glyphs(self) -> Any:
        return self._font.getGlyphSet()


class FaceSet:
    """Faces by name, loaded when they are first asked for."""

    def __init__(self, files: Sequence[FaceFile]) -> None:
        self._files = {file.name: file for file in files}
        self._loaded: dict[str, Face] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names that a theme may use."""
        return tuple(self._files)

    def face(self, name: str) -> Face:
        """The face of that name. Raises FontError for an unknown or damaged one."""
        if name not in self._loaded:
            self._loaded[name] = load(self.file(name))
        return self._loaded[name]

    def file(self, name: str) -> FaceFile:
        """The entry of that name. Raises FontError for an unknown one."""
        if name not in self._files:
            raise FontError(
                f"No face is called {name!r}.",
                hint="Known faces: "
                + ", ".join(self._files)
                + ". A theme adds its own with [[face]].",
            )
        return self._files[name]

    def by_family(self, family: str, weight: int) -> Face | None:
        """The face that an SVG names, or None."""
        for file in self._files.values():
            if (file.family, file.weight) == (family, weight):
                return self.face(file.name)
        return None

    def chain(self, name: str, language: str = "") -> tuple[FaceFile, ...]:
        """The face of that name, then the fallback faces in their order.

        A face for one language is asked in its text alone.
        """
        first = self.file(name)
        rest = [file for file in self._files.values() if file.fallback and file is not first]
        if not language:
            return (first, *(file for file in rest if not file.language))
        return (first, *rest)


def load(file: FaceFile) -> Face:
    """Read, check and open a face.

    Raises FontError where the file is missing, is not the pinned one, or is no font.
    """
    return _load(file, _stamp(file.path))


@lru_cache(maxsize=64)
def _load(file: FaceFile, _stamp: tuple[int, int]) -> Face:
    try:
        data = files.read(file.path)
    except OSError as error:
        raise _missing(file, error) from error
    if file.sha256 and hashlib.sha256(data).hexdigest() != file.sha256:
        raise FontError(
            f"The file of the face {file.name!r} is not the one that fonts.toml pins (sha256).",
            where=str(file.path),
            hint="Reinstall muralkit. If you changed it: `python fonts/build.py pin` has the sum.",
        )
    return Face(file, data)


def _stamp(path: Path) -> tuple[int, int]:
    """Size and time of a file: a replaced font is loaded anew in a long-lived process."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=8)
def bundled(manifest: Path | None = None) -> tuple[FaceFile, ...]:
    """The entries of fonts.toml in their order (by default the bundled one).

    Raises FontError where the manifest can't be read.
    """
    path = manifest or assets.folder("fonts") / "fonts.toml"
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["face"]
        return tuple(
            FaceFile(
                name=entry["name"],
                family=entry["family"],
                weight=int(entry["weight"]),
                path=path.parent / entry["file"],
                sha256=entry["sha256"],
                scale=float(entry["scale"]),
                fallback=bool(entry["fallback"]),
                hyphen_gap=float(entry.get("hyphen_gap", 0)),
                ranges=_ranges(entry.get("ranges", "")),
                script=entry.get("script", ""),
                language=entry.get("language", ""),
            )
            for entry in entries
        )
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise FontError(
            f"The list of faces can't be read: {error!r}",
            where=str(path),
            hint="Reinstall muralkit.",
        ) from error


def _ranges(text: str) -> tuple[tuple[int, int], ...]:
    """Such as "2235 227A-227B" as pairs of numbers."""
    parts = (part.partition("-") for part in text.split())
    return tuple((int(low, 16), int(high or low, 16)) for low, _, high in parts)


def _missing(file: FaceFile, error: OSError) -> FontError:
    return FontError(
        f"The file of the face {file.name!r} can't be read: {error.strerror}.",
        where=str(file.path),
        hint="Check the path; a theme's faces are looked for beside its manifest.",
    )


def _bad_font(file: FaceFile, error: object) -> FontError:
    return FontError(
        f"The file of the face {file.name!r} is not a font that can be used: {error}.",
        where=str(file.path),
        hint="A TrueType or OpenType file (.ttf, .otf) with outlines is needed.",
    )
