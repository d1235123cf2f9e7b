"""Make the derived font files of this folder from their sources.

    python fonts/build.py spleen             # spleen/ -> Spleen5x8.ttf
    python fonts/build.py signs              # the outlines below -> MuralkitSigns.ttf
    python fonts/build.py noto FOLDER        # FOLDER/Noto*.ttf -> subsets
    python fonts/build.py pin                # print file, sha256 of every face

The Roboto Condensed files are their origin's, byte for byte, and need no step.
Run `pin` after a build and copy the sums to fonts.toml, which is checked
whenever a face is loaded.
"""

from __future__ import annotations

import hashlib
import struct
import sys
from pathlib import Path

from fontTools import subset
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.boundsPen import BoundsPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

HERE = Path(__file__).parent
PIXEL = 128  # font units a pixel of the bitmap; 8 pixels an em
EPOCH = 3_600_000_000  # head.created/modified: fixed, so that a build repeats

SUBSETS = {
    # Arrows, mathematical operators, a few technical signs: what cues relate with.
    "NotoSansMath-Regular.ttf": [
        (0x2102, 0x2109), (0x210B, 0x2112), (0x2115, 0x2134), (0x2190, 0x22FF),
        (0x2308, 0x230B), (0x27C0, 0x27FF), (0x2900, 0x297F),
    ],
    "NotoSansSymbols2-Regular.ttf": [(0x23CE, 0x23CF), (0x25A0, 0x27BF), (0x2B12, 0x2B59)],
    "NotoSansMono-Regular.ttf": [(0x2500, 0x259F)],
}  # fmt: skip


def read_psf2(data: bytes) -> dict[str, list[str]]:
    """Glyph bitmaps of a PSF2 console font, as rows of '#' and '.'.

    Its Unicode table maps look-alikes to one glyph (the stroked circle to the
    slash, say). Only the first character of each entry is the glyph's own, so
    the others are left out, and so are glyphs that are blank or repeat another's
    bitmap: two characters never share a picture.
    """
    magic, _version, header, _flags, count, size, height, width = struct.unpack("<8I", data[:32])
    if magic != 0x864AB572:
        raise SystemExit("not a PSF2 font")
    entries = data[header + count * size :].split(b"\xff")
    glyphs: dict[str, list[str]] = {}
    for index in range(count):
        name = entries[index].decode("utf-8")[:1]
        if name and name not in glyphs:
            start = header + index * size
            rows = data[start : start + height]
            bits = [format(row, "08b")[:width] for row in rows]
            glyphs[name] = [row.replace("0", ".").replace("1", "#") for row in bits]
    return _distinct(glyphs)


def _distinct(glyphs: dict[str, list[str]]) -> dict[str, list[str]]:
    kept: dict[str, list[str]] = {}
    for name in sorted(glyphs):  # the lowest code point keeps a bitmap that repeats
        blank = not any("#" in row for row in glyphs[name])
        if name == " " or not (blank or glyphs[name] in kept.values()):
            kept[name] = glyphs[name]
    return kept


def read_signs(text: str) -> dict[str, list[str]]:
    """The hand-drawn glyphs of signs.txt, as rows of '#' and '.'."""
    lines = [line for line in text.splitlines() if line and not line.startswith("# ")]
    glyphs = {}
    for start in range(0, len(lines), 9):
        code, sign, advance = lines[start].split()
        rows = lines[start + 1 : start + 9]
        if int(code[2:], 16) != ord(sign) or {len(row) for row in rows} != {int(advance)}:
            raise SystemExit(f"signs.txt: {lines[start]!r} does not match its rows")
        glyphs[sign] = rows
    return glyphs


def outline(rows: list[str], ascent: int) -> TTGlyphPen:
    """One rectangle a horizontal run of set pixels, clockwise."""
    pen = TTGlyphPen(None)
    for number, row in enumerate(rows):
        top, bottom = (ascent - number) * PIXEL, (ascent - number - 1) * PIXEL
        column = 0
        while (left := row.find("#", column)) >= 0:
            column = (row + ".").find(".", left)
            x0, x1 = left * PIXEL, column * PIXEL
            for step, point in enumerate(((x0, bottom), (x0, top), (x1, top), (x1, bottom))):
                (pen.lineTo if step else pen.moveTo)(point)
            pen.closePath()
    return pen


def build_spleen() -> None:
    """Spleen 5x8 as outlines of square pixels: ascent 7 px, descent 1 px."""
    source = HERE / "spleen"
    bitmaps = read_psf2((source / "spleen-5x8.psfu").read_bytes())
    bitmaps |= read_signs((source / "signs.txt").read_text(encoding="utf-8"))
    names = {".notdef": ["####."] * 8, **{f"u{ord(sign):04X}": bitmaps[sign] for sign in bitmaps}}
    builder = FontBuilder(8 * PIXEL, isTTF=True)
    builder.setupGlyphOrder(list(names))
    builder.setupCharacterMap({ord(sign): f"u{ord(sign):04X}" for sign in bitmaps})
    glyphs = {name: outline(rows, 7).glyph() for name, rows in names.items()}
    builder.setupGlyf(glyphs)
    builder.setupHorizontalMetrics(
        {name: (len(rows[0]) * PIXEL, glyphs[name].xMin if glyphs[name].numberOfContours else 0)
         for name, rows in names.items()}
    )  # fmt: skip
    builder.setupHorizontalHeader(ascent=7 * PIXEL, descent=-PIXEL)
    builder.setupNameTable(
        {
            "familyName": "Spleen 5x8",
            "styleName": "Regular",
            "version": "Version 1.9.1",
            "copyright": "Copyright (c) 2018-2020, Frederic Cambus",
        }
    )
    builder.setupOS2(
        sTypoAscender=7 * PIXEL, sTypoDescender=-PIXEL, usWinAscent=7 * PIXEL, usWinDescent=PIXEL
    )
    builder.setupPost()
    builder.font["head"].created = builder.font["head"].modified = EPOCH
    builder.font.recalcTimestamp = False
    builder.save(HERE / "Spleen5x8.ttf")


# Signs whose usual shapes are misread at 11 px. Blind readers took every curved
# "precedes" for a less-than; a Y on its side they can't. Units of 1,000 an em.
STEM = 42  # half a stroke
PRECEDES = ((60, 355), (340, 355), (620, 620), (620, 90))  # tip, fork, upper end, lower end


# The usual "because" is three pale dots at 11 px: here they are squares.
DOT = 130
BECAUSE = ((60, 440), (370, 440), (215, 90))  # lower left corners


def build_signs() -> None:
    """Our own signs: precedes and succeeds as strokes of one thickness, because as squares."""
    advance = 680
    mirrored = [(advance - x, y) for x, y in PRECEDES]
    shapes = {"≺": PRECEDES, "≻": tuple(mirrored)}
    signs = [*shapes, "∵"]
    glyphs = {".notdef": TTGlyphPen(None).glyph()}
    for sign, (tip, fork, upper, lower) in shapes.items():
        pen = TTGlyphPen(None)
        for start, end in ((tip, fork), (fork, upper), (fork, lower)):
            stroke(pen, start, end)
        glyphs[f"u{ord(sign):04X}"] = pen.glyph()
    pen = TTGlyphPen(None)
    for x, y in BECAUSE:
        middle = x + DOT // 2
        stroke(pen, (middle, y + STEM), (middle, y + DOT - STEM), DOT // 2)
    glyphs["u2235"] = pen.glyph()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(list(glyphs))
    builder.setupCharacterMap({ord(sign): f"u{ord(sign):04X}" for sign in signs})
    builder.setupGlyf(glyphs)
    advances = dict.fromkeys(glyphs, advance) | {"u2235": 560}
    builder.setupHorizontalMetrics(
        {name: (advances[name], getattr(glyph, "xMin", 0)) for name, glyph in glyphs.items()}
    )
    builder.setupHorizontalHeader(ascent=750, descent=-200)
    builder.setupNameTable(
        {"familyName": "Muralkit Signs", "styleName": "Regular", "version": "Version 1.0"}
    )
    builder.setupOS2(sTypoAscender=750, sTypoDescender=-200, usWinAscent=750, usWinDescent=200)
    builder.setupPost()
    builder.font["head"].created = builder.font["head"].modified = EPOCH
    builder.font.recalcTimestamp = False
    builder.save(HERE / "MuralkitSigns.ttf")


def stroke(pen: TTGlyphPen, start: tuple[int, int], end: tuple[int, int], half: int = STEM) -> None:
    """A straight stroke with square ends as a rectangle, clockwise; `half` its thickness."""
    (x0, y0), (x1, y1) = start, end
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    along = ((x1 - x0) * STEM / length, (y1 - y0) * STEM / length)
    x0, y0, x1, y1 = x0 - along[0], y0 - along[1], x1 + along[0], y1 + along[1]
    across = (-along[1] * half / STEM, along[0] * half / STEM)
    corners = [
        (x0 - across[0], y0 - across[1]),
        (x0 + across[0], y0 + across[1]),
        (x1 + across[0], y1 + across[1]),
        (x1 - across[0], y1 - across[1]),
    ]
    pen.moveTo((round(corners[0][0]), round(corners[0][1])))
    for x, y in corners[1:]:
        pen.lineTo((round(x), round(y)))
    pen.closePath()


def build_subset(path: Path, ranges: list[tuple[int, int]]) -> None:
    """Keep the ranges; drop hinting and layout tables; fit the vertical metrics.

    Noto's ascent and descent make room for stacked marks and tall delimiters.
    The subset has none, so they shrink to the extents of the glyphs that stay:
    a sign must not make its line taller than the letters around it.
    """
    options = subset.Options(layout_features=[], hinting=False, notdef_outline=True)
    options.drop_tables += ["MATH", "GSUB", "GPOS", "GDEF", "DSIG"]
    options.bidi_closure = False  # else the mirror image of each sign is kept too
    options.recalc_timestamp = False
    font = TTFont(path, recalcTimestamp=False)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for low, high in ranges for code in range(low, high + 1)])
    subsetter.subset(font)
    glyphs = font.getGlyphSet()
    bounds = []
    for name in font.getBestCmap().values():
        pen = BoundsPen(glyphs)
        glyphs[name].draw(pen)
        if pen.bounds:
            bounds.append(pen.bounds)
    top, bottom = round(max(b[3] for b in bounds)), round(min(b[1] for b in bounds))
    hhea, os2 = font["hhea"], font["OS/2"]
    hhea.ascent = os2.sTypoAscender = os2.usWinAscent = top
    hhea.descent = os2.sTypoDescender = bottom
    os2.usWinDescent = -bottom
    font.save(HERE / path.name.replace("-Regular", "-subset"))


def main(arguments: list[str]) -> int:
    """Run one step; returns the exit code."""
    match arguments:
        case ["spleen"]:
            build_spleen()
        case ["signs"]:
            build_signs()
        case ["noto", folder]:
            for name, ranges in SUBSETS.items():
                build_subset(Path(folder) / name, ranges)
        case ["pin"]:
            for path in sorted(HERE.glob("*.ttf")):
                print(path.name, hashlib.sha256(path.read_bytes()).hexdigest())
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
