"""Sets single lines in a theme's faces: text in, measured words and finished lines out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from muralkit.errors import ThemeError
from muralkit.glyphs import bidi, scripts
from muralkit.glyphs.clean import clean, escape
from muralkit.glyphs.faces import FaceSet
from muralkit.glyphs.pieces import Piece
from muralkit.glyphs.shape import WIDEST_ESCAPE, Shaper, Word, add_up
from muralkit.layout.wrap import Atom, Measure, SetCue, wrap
from muralkit.model import PROHIBITION, Cue, Ink, Line, MemoryId, Role, Run
from muralkit.theme import Theme

BULLET_SPACE = 0.12  # em between a bullet and its cue: closer than any two words
BANNER_INSET = 4  # px from a bar's left edge to its text
_SPELLED_ESCAPE = re.compile(r"\[(?=U\+[0-9A-F]{4,6}\])")
LONGEST_NAME = 2000  # characters of a category that could be drawn on the widest canvas
ELLIPSIS = "…"


class Stretch(NamedTuple):
    """A piece of one ink at its x, not yet parted by face."""

    x: float
    piece: Piece
    ink: Ink


class Item(NamedTuple):
    """What a line is ordered of: a piece in its ink, or, without one, a space."""

    width: float
    level: int
    piece: Piece | None = None
    ink: Ink = Ink.TEXT


class Typesetter:
    """A theme's shapers and the widths that follow from them.

    Raises FontError for a face that can't be used.
    """

    def __init__(self, theme: Theme, faces: FaceSet) -> None:
        text, banner, repeat = theme.manifest.text, theme.manifest.banner, theme.manifest.repeat
        self._text, self._banner, self._repeat = text, banner, repeat
        self._where = str(theme.path)
        least = theme.manifest.scripts.least()

        def shaper(face: str, size: float, tracking: float) -> Shaper:
            return Shaper(faces, face, size, tracking, text.snap, least)

        self.shaper = shaper(text.face, text.size, text.tracking)
        self._banners = {
            Role.BANNER: shaper(banner.face, banner.size, banner.tracking),
            Role.REPEAT: shaper(banner.face, repeat.size, banner.tracking),
        }
        if text.snap:
            for one in (self.shaper, *self._banners.values()):
                _check_snap(one, self._where)
        self._heights = {Role.BANNER: banner.height, Role.REPEAT: repeat.height}
        self._bars: dict[tuple[str, Role], tuple[int, int]] = {}
        space = math.ceil if text.snap else float
        self._mark = self._sign(text.break_mark, "break_mark")
        self._bullet = self._sign(text.bullet, "bullet") + space(BULLET_SPACE * text.size)

        leading = text.pitch - self.shaper.ascent - self.shaper.descent
        self._pitch = text.pitch, round(self.shaper.ascent + leading / 2)
        self._sign_heights = self.shaper.extents(text.bullet + text.break_mark)
        self._height = self._grown(*self._sign_heights)

    def _sign(self, sign: str, key: str) -> float:
        if scripts.shaped(sign) or self.shaper.missing(sign) or clean(sign) != (sign, 0):
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
        width = _width(words, self.shaper)
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
        ascent, descent = self._sign_heights
        return self._grown(
            max(ascent, *(atom.word.ascent for atom in atoms)),
            max(descent, *(atom.word.descent for atom in atoms)),
        )

    def _grown(self, ascent: float, descent: float) -> tuple[int, int]:
        """Height and ascent of a line whose faces reach that high and low."""
        up, down = _ceil(ascent - self.shaper.ascent), _ceil(descent - self.shaper.descent)
        height, baseline = self._pitch
        return height + up + down, baseline + up

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
        bullet = Piece(self._text.bullet)
        for segment in _segments(atoms):
            first = segment[0]
            own = Ink.PROHIBITION if PROHIBITION in first.cue.text else Ink.TEXT
            if first.start:
                stretches.append(Stretch(first.x - self._bullet, bullet, Ink.MARK))
            if first.word.base is None:
                stretches += self._in_order(segment, own)
            else:
                stretches += _placed(first.x, self._items(segment, own, first.word.base))
        return stretches

    def _in_order(self, segment: Sequence[Atom], own: Ink) -> list[Stretch]:
        """A cue's part of a line, all of it from left to right."""
        stretches: list[Stretch] = []
        x = 0.0
        for atom in segment:
            x, last = atom.x, stretches[-1] if stretches else None
            for piece in atom.word.pieces:
                ink = Ink.MARK if piece.escaped else own
                if last and last.ink == ink and _one_run(last.piece, piece, atom.word.glued):
                    text = f"{last.piece.text}{'' if atom.word.glued else ' '}{piece.text}"
                    stretches[-1] = Stretch(last.x, Piece(text, "", *piece[2:]), ink)
                else:
                    stretches.append(Stretch(x, piece, ink))
                x += self.shaper.width(piece)
                last = None  # the pieces of a word are apart by what they are
            if atom.broken:
                stretches.append(Stretch(x, Piece(self._text.break_mark), Ink.MARK))
        return stretches

    def _items(self, segment: Sequence[Atom], own: Ink, base: int) -> Iterator[Item]:
        """A cue's part of a line, as it is read."""
        for index, atom in enumerate(segment):
            if index and not atom.word.glued:
                yield Item(self.shaper.space, atom.word.space)
            for piece in atom.word.pieces:
                ink = Ink.MARK if piece.escaped else own
                yield Item(self.shaper.width(piece), piece.level, piece, ink)
            if atom.broken:
                yield Item(self._mark, base, Piece(self._text.break_mark), Ink.MARK)

    def _runs(self, shaper: Shaper, stretches: Iterable[Stretch]) -> tuple[Run, ...]:
        return tuple(
            run
            for stretch in stretches
            for run in shaper.runs(stretch.piece, stretch.x, stretch.ink)
        )

    def banner(self, category: str, role: Role, width: int) -> Line:
        """A band's banner, or its slim repetition: a cue can't take its ink or its bar."""
        shaper = self._banners[role]
        height, ascent = self.banner_height(category, role)
        name, room = _bar_name(category, role), width - 2 * BANNER_INSET
        if scripts.involved(name):
            stretches = _placed(BANNER_INSET, _spread(fitted(name, shaper, room), shaper))
        else:
            text = elide(escaped(name, shaper), shaper, room)
            stretches = [Stretch(BANNER_INSET, Piece(text), Ink.BANNER)]
        return Line(role, self._runs(shaper, stretches), height, ascent)

    def banner_height(self, category: str, role: Role) -> tuple[int, int]:
        """Height and ascent of a banner in whole pixels: the theme's bar, and what the
        name's faces need beyond it.
        """
        if (category, role) not in self._bars:
            shaper, height = self._banners[role], self._heights[role]
            leading = height - shaper.ascent - shaper.descent
            words = shaper.words(_bar_name(category, role))
            up = _ceil(max(word.ascent for word in words) - shaper.ascent - leading / 2)
            down = _ceil(max(word.descent for word in words) - shaper.descent - leading / 2)
            if role is Role.BANNER:  # packing counts on the repeated one being the slim one
                up += max(0, self.banner_height(category, Role.REPEAT)[0] - height - up - down)
            ascent = round(shaper.ascent + leading / 2)
            self._bars[category, role] = height + up + down, ascent + up
        return self._bars[category, role]

    def missing_in_banner(self, category: str) -> list[str]:
        """The characters of a category that a banner escapes, each time that it does."""
        words = self._banners[Role.BANNER].words(category)
        return [piece.escaped for word in words for piece in word.pieces if piece.escaped]

    def note(self, text: str, width: int) -> Line:
        """The mural's own words, in the mark's ink."""
        height, ascent = self.height(())
        shown = elide(escaped(text, self.shaper), self.shaper, width)
        runs = self._runs(self.shaper, [Stretch(0.0, Piece(shown), Ink.MARK)])
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


def _bar_name(category: str, role: Role) -> str:
    name = category[:LONGEST_NAME]
    name = f"{name} {ELLIPSIS}" if role is Role.REPEAT else name
    # Escapes have no ink of their own here, so a name must not be able to spell one.
    return _SPELLED_ESCAPE.sub(escape("["), name)


def _segments(atoms: Sequence[Atom]) -> Iterator[list[Atom]]:
    """A line's atoms, cue by cue."""
    segment: list[Atom] = []
    for atom in atoms:
        if atom.start and segment:
            yield segment
            segment = []
        segment.append(atom)
    if segment:
        yield segment


def _one_run(last: Piece, piece: Piece, glued: bool) -> bool:
    """Whether the pieces of two words in a row are drawn as one.

    The space between them is in the theme's own face.
    """
    if glued:
        return last.script is None and last.joins(piece)
    return last.setting is None and piece.setting is None and last.level == piece.level


def _spread(words: Sequence[Word], shaper: Shaper) -> Iterator[Item]:
    """A banner's words, as they are read."""
    for index, word in enumerate(words):
        if index and not word.glued:
            yield Item(shaper.space, word.space)
        for piece in word.pieces:
            yield Item(shaper.width(piece), piece.level, piece, Ink.BANNER)


def _placed(x: float, items: Iterable[Item]) -> list[Stretch]:
    """Items from left to right by their bidi levels (UAX 9, L2), in the order of reading."""
    ordered = list(items)
    places = [0.0] * len(ordered)
    for index in bidi.visual([item.level for item in ordered]):
        places[index] = x
        x += ordered[index].width
    return [
        Stretch(place, item.piece, item.ink)
        for place, item in zip(places, ordered, strict=True)
        if item.piece is not None
    ]


def fitted(text: str, shaper: Shaper, width: float) -> list[Word]:
    """The words of a text, or of as many of its graphemes as fit the width with an ellipsis."""

    def attempt(count: int) -> list[Word]:
        return shaper.words("".join(graphemes[:count]).rstrip(" ") + ELLIPSIS)

    words = shaper.words(text)
    if _width(words, shaper) <= width:
        return words
    graphemes = scripts.graphemes(text)
    low, high = 0, len(graphemes) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if _width(attempt(middle), shaper) <= width:
            low = middle
        else:
            high = middle - 1
    return attempt(low)


def _width(words: Sequence[Word], shaper: Shaper) -> float:
    spaces = sum(not word.glued for word in words) - 1
    return add_up(word.width for word in words) + shaper.space * spaces


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
