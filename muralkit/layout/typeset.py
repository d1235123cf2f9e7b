"""Sets single lines in a theme's faces: text in, measured words and finished lines out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from muralkit.errors import ThemeError
from muralkit.glyphs.clean import clean, escape
from muralkit.glyphs.faces import FaceSet
from muralkit.glyphs.shape import Shaper, add_up
from muralkit.layout.wrap import Atom, Measure, SetCue, wrap
from muralkit.model import PROHIBITION, Cue, Ink, Line, MemoryId, Role, Run
from muralkit.theme import Theme

BULLET_SPACE = 0.12  # em between a bullet and its cue: closer than any two words
BANNER_INSET = 4  # px from a bar's left edge to its text
_SPELLED_ESCAPE = re.compile(r"\[(?=U\+[0-9A-F]{4,6}\])")
LONGEST_NAME = 2000  # characters of a category that could be drawn on the widest canvas
WIDEST_ESCAPE = "[U+10FFFF]"
ELLIPSIS = "…"


class Stretch(NamedTuple):
    """Text of one ink at its x, not yet parted by face."""

    x: float
    text: str
    ink: Ink


class Typesetter:
    """A theme's shapers and the widths that follow from them.

    Raises FontError for a face that can't be used.
    """

    def __init__(self, theme: Theme, faces: FaceSet) -> None:
        text, banner, repeat = theme.manifest.text, theme.manifest.banner, theme.manifest.repeat
        self._text, self._banner, self._repeat = text, banner, repeat
        self._where = str(theme.path)
        self.shaper = Shaper(faces, text.face, text.size, text.tracking, text.snap)
        self._banners = {
            Role.BANNER: Shaper(faces, banner.face, banner.size, banner.tracking, text.snap),
            Role.REPEAT: Shaper(faces, banner.face, repeat.size, banner.tracking, text.snap),
        }
        if text.snap:
            for shaper in (self.shaper, *self._banners.values()):
                _check_snap(shaper, self._where)
        self._heights = {Role.BANNER: banner.height, Role.REPEAT: repeat.height}
        space = math.ceil if text.snap else float
        self._mark = self._sign(text.break_mark, "break_mark")
        self._bullet = self._sign(text.bullet, "bullet") + space(BULLET_SPACE * text.size)

        leading = text.pitch - self.shaper.ascent - self.shaper.descent
        self._height = text.pitch, round(self.shaper.ascent + leading / 2)

    def _sign(self, sign: str, key: str) -> float:
        if self.shaper.missing(sign) or clean(sign) != (sign, 0):
            raise ThemeError(
                f"text.{key}: no face can draw the sign {sign!r}.",
                where=self._where,
                hint="Take another sign, or add a face that has it with [[face]].",
            )
        return self.shaper.measure(sign)

    @property
    def least_width(self) -> int:
        """The narrowest column, in pixels, in which any text can be wrapped."""
        widest = self.shaper.measure(WIDEST_ESCAPE)
        text = max(self._bullet, self._text.indent) + widest + self._mark
        banner = max(shaper.measure(ELLIPSIS) for shaper in self._banners.values())
        return math.ceil(max(text, banner + 2 * BANNER_INSET))

    def measure(self, width: int) -> Measure:
        """What a line of a column of that width can hold."""
        text = self._text
        return Measure(
            width=width,
            indent=text.indent,
            gap=text.gap,
            bullet=self._bullet,
            space=self.shaper.space,
            mark=self._mark,
            flow=text.arrangement == "flow",
        )

    def set_cue(self, cue: Cue, text: str, stripped: int) -> SetCue:
        """A cue's cleaned text as measured words."""
        words = self.shaper.words(text)
        width = add_up(word.width for word in words) + self.shaper.space * (len(words) - 1)
        return SetCue(cue, clean(cue.category)[0], words, self._bullet + width, stripped)

    def wrap(self, cues: Sequence[SetCue], width: int) -> list[list[Atom]]:
        """The lines of a band in a column of that width."""
        return wrap(cues, self.measure(width), self.shaper)

    def height(self, atoms: Sequence[Atom]) -> tuple[int, int]:
        """Height and ascent of a line in whole pixels.

        The theme's pitch, and what the tallest face needs above and below the
        theme's own one: every baseline falls on the pixel grid.
        """
        shaper = self.shaper
        if all(
            atom.word.ascent == shaper.ascent and atom.word.descent == shaper.descent
            for atom in atoms
        ):
            return self._height
        up = max(atom.word.ascent for atom in atoms) - shaper.ascent
        down = max(atom.word.descent for atom in atoms) - shaper.descent
        height, ascent = self._height
        return height + _ceil(up) + _ceil(down), ascent + _ceil(up)

    def line(self, atoms: Sequence[Atom]) -> Line:
        """A wrapped line as runs."""
        height, ascent = self.height(atoms)
        starts: dict[MemoryId, float] = {}
        for atom in atoms:
            starts.setdefault(atom.cue.memory_id, atom.x - self._bullet * atom.start)
        runs = self._runs(self.shaper, self._stretches(atoms))
        return Line(Role.TEXT, runs, height, ascent, tuple(starts), tuple(starts.values()))

    def _stretches(self, atoms: Sequence[Atom]) -> list[Stretch]:
        stretches: list[Stretch] = []
        bullet, mark = self._text.bullet, self._text.break_mark
        for index, atom in enumerate(atoms):
            own = Ink.PROHIBITION if PROHIBITION in atom.cue.text else Ink.TEXT
            if atom.start:
                stretches.append(Stretch(atom.x - self._bullet, bullet, Ink.MARK))
            x, spaced = atom.x, index > 0 and not atom.start
            for text, escaped in atom.word.pieces:
                ink = Ink.MARK if escaped else own
                last = stretches[-1] if stretches else None
                if spaced and last is not None and last.ink == ink:
                    stretches[-1] = Stretch(last.x, f"{last.text} {text}", ink)
                else:
                    stretches.append(Stretch(x, text, ink))
                x += self.shaper.measure(text)
                spaced = False
            if atom.broken:
                stretches.append(Stretch(x, mark, Ink.MARK))
        return stretches

    def _runs(self, shaper: Shaper, stretches: Iterable[Stretch]) -> tuple[Run, ...]:
        return tuple(
            run
            for stretch in stretches
            for run in shaper.runs(stretch.text, stretch.x, stretch.ink)
        )

    def banner(self, category: str, role: Role, width: int) -> Line:
        """A band's banner, or its slim repetition: a cue can't take its ink or its bar."""
        shaper, height = self._banners[role], self._heights[role]
        name = category[:LONGEST_NAME]
        name = f"{name} {ELLIPSIS}" if role is Role.REPEAT else name
        # Escapes have no ink of their own here, so a name must not be able to spell one.
        name = _SPELLED_ESCAPE.sub(escape("["), name)
        text = elide(escaped(name, shaper), shaper, width - 2 * BANNER_INSET)
        leading = height - shaper.ascent - shaper.descent
        runs = self._runs(shaper, [Stretch(BANNER_INSET, text, Ink.BANNER)])
        return Line(role, runs, height, round(shaper.ascent + leading / 2))

    def missing_in_banner(self, category: str) -> set[str]:
        """The characters of a category that a banner escapes."""
        return self._banners[Role.BANNER].missing(category)

    def note(self, text: str, width: int) -> Line:
        """The mural's own words, in the mark's ink."""
        height, ascent = self.height(())
        shown = elide(escaped(text, self.shaper), self.shaper, width)
        runs = self._runs(self.shaper, [Stretch(0.0, shown, Ink.MARK)])
        return Line(Role.NOTE, runs, height, ascent)


def _check_snap(shaper: Shaper, where: str) -> None:
    """Snapped advances are the layout's; the glyphs of a run go by the font's own."""
    steps = [shaper.tracking, *map(shaper.font_advance, shaper.primary.codepoints)]
    if any(abs(step - round(step)) > 1e-6 for step in steps):
        raise ThemeError(
            f"text.snap needs whole pixels, but the advances of {shaper.primary.file.name} at "
            f"{shaper.size:g} px, or the tracking, are none.",
            where=where,
            hint="Leave snap out, or take a pixel face at its own size, such as Spleen 5x8 at 8.",
        )


def escaped(text: str, shaper: Shaper) -> str:
    """Cleaned text with an escape for each character that no face has."""
    return " ".join("".join(piece.text for piece in word.pieces) for word in shaper.words(text))


def elide(text: str, shaper: Shaper, width: float) -> str:
    """The text, or as much of its start as fits the width with an ellipsis."""
    if shaper.measure(text) <= width:
        return text
    room = width - shaper.measure(ELLIPSIS)
    end = 0
    for step in shaper.steps(text):
        room -= step
        if room < 0:
            break
        end += 1
    return text[:end].rstrip(" ") + ELLIPSIS


def _ceil(excess: float) -> int:
    """Whole pixels for an excess; sums of advances are not exact to the last bit."""
    return max(0, math.ceil(excess - 1e-6))
