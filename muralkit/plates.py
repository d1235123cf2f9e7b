"""Inks as printing plates: how few colours stay exact while cairo anti-aliases.

The rasterizer does not paint an ink's own colour but its plate: the page is
black, the text pure red, the prohibitions pure green, the marks pure blue, and
so on. So each channel of a pixel is the coverage of one plate, whatever colours
the theme has. Rounding each channel to the theme's few levels and looking the
triple up in a table of 216 entries or fewer gives the palette index.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from muralkit.manifest import Manifest, rgb
from muralkit.model import Ink

Colour = tuple[int, int, int]
Plate = tuple[int, int, int]

_PAGE: Plate = (0, 0, 0)
_INKS: dict[Ink, Plate] = {
    Ink.TEXT: (1, 0, 0),
    Ink.PROHIBITION: (0, 1, 0),
    Ink.MARK: (0, 0, 1),
    Ink.BANNER: (1, 1, 1),  # on its ground, one channel away
}
_BANNER_GROUND: Plate = (1, 1, 0)
# Three channels have eight corners: two are left for a theme's extra colours.
_EXTRA: tuple[Plate, ...] = ((1, 0, 1), (0, 1, 1))


class Plates:
    """A theme's inks, their plates, and the palette that they are read back to."""

    def __init__(self, manifest: Manifest) -> None:
        inks = manifest.inks
        self._levels = manifest.raster.levels
        self._corners: dict[Plate, Colour] = {
            _PAGE: rgb(inks.page),
            _BANNER_GROUND: rgb(inks.banner_ground),
            **{plate: rgb(getattr(inks, ink.value)) for ink, plate in _INKS.items()},
            **{plate: rgb(colour) for plate, colour in zip(_EXTRA, inks.extra, strict=False)},
        }
        self._plate_of: dict[Colour, Plate] = {}
        for plate, colour in self._corners.items():
            self._plate_of.setdefault(colour, plate)
        self.palette = self._palette(len(inks.extra))
        self._index = self._table()

    def plate(self, red: float, green: float, blue: float) -> Plate:
        """The plate of an ink's colour (channels 0 to 1). KeyError: no such ink."""
        return self._plate_of[round(red * 255), round(green * 255), round(blue * 255)]

    def indices(self, pixels: bytes) -> bytes:
        """A palette index for each pixel of cairo's ARGB32, little endian."""
        steps = self._levels
        total = 0
        for channel, weight in ((2, 1), (1, steps), (0, steps * steps)):
            level = bytes(round(value * (steps - 1) / 255) * weight for value in range(256))
            # The sums stay under 256, so adding whole planes as one integer never carries.
            total += int.from_bytes(pixels[channel::4].translate(level), "big")
        return total.to_bytes(len(pixels) // 4, "big").translate(self._index)

    def _palette(self, extra: int) -> tuple[Colour, ...]:
        """Each ground and the levels from it to each of its inks; the page first."""
        ramps = [(_PAGE, _INKS[ink]) for ink in (Ink.TEXT, Ink.PROHIBITION, Ink.MARK)]
        ramps.append((_BANNER_GROUND, _INKS[Ink.BANNER]))
        ramps += [(plate, plate) for plate in _EXTRA[:extra]]
        top = self._levels - 1
        colours = [
            self._mix(tuple(a + (b - a) * step / top for a, b in zip(low, high, strict=True)))
            for low, high in ramps
            for step in range(self._levels)
        ]
        return tuple(dict.fromkeys(colours))

    def _table(self) -> bytes:
        """The nearest palette entry for each triple of levels, red running fastest."""
        top = self._levels - 1
        cells = product(range(self._levels), repeat=3)
        mixed = [self._mix((red / top, green / top, blue / top)) for blue, green, red in cells]
        return bytes(map(self._nearest, mixed)).ljust(256, b"\0")

    def _mix(self, coverage: Sequence[float]) -> Colour:
        """Trilinear between the eight corners; a corner without a colour is the text's."""
        total = [0.0, 0.0, 0.0]
        for corner in product((0, 1), repeat=3):
            share = 1.0
            for bit, part in zip(corner, coverage, strict=True):
                share *= part if bit else 1 - part
            red, green, blue = corner
            colour = self._corners.get((red, green, blue), self._corners[_INKS[Ink.TEXT]])
            for channel in range(3):
                total[channel] += share * colour[channel]
        return round(total[0]), round(total[1]), round(total[2])

    def _nearest(self, colour: Colour) -> int:
        distances = [
            sum((a - b) ** 2 for a, b in zip(colour, entry, strict=True)) for entry in self.palette
        ]
        return distances.index(min(distances))
