"""Make the derived font files of this folder from their sources.

    python fonts/build.py spleen             # spleen/ -> Spleen5x8.ttf
    python fonts/build.py signs              # the outlines below -> MuralkitSigns.ttf
    python fonts/build.py noto FOLDER        # FOLDER/Noto*.ttf -> subsets
    python fonts/build.py cjk FILE           # NotoSansCJK-Regular.ttc -> subsets
    python fonts/build.py emoji FILE         # NotoEmoji-Regular.ttf -> subset
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


# One file a script, with the tables that shape it: its blocks, and the signs that only
# it has. Latin letters, digits and punctuation are the text face's.
SCRIPTS = {
    "NotoSans-Regular.ttf": [
        (0x41, 0x5A), (0x61, 0x7A), (0xC0, 0x24F), (0x250, 0x36F), (0x370, 0x3FF), (0x400, 0x52F),
        (0x1AB0, 0x1AFF), (0x1C80, 0x1C8F), (0x1D00, 0x1EFF), (0x2070, 0x209F), (0x20A0, 0x20CF),
        (0x2100, 0x218F), (0x2C60, 0x2C7F), (0x2DE0, 0x2DFF), (0x2E00, 0x2E5D), (0xA640, 0xA69F),
        (0xA700, 0xA7FF), (0xAB30, 0xAB6F), (0xFB00, 0xFB06), (0xFE20, 0xFE2F),
    ],
    "NotoSansHebrew-Regular.ttf": [(0x590, 0x5FF), (0xFB1D, 0xFB4F)],
    "NotoSansArabic-Regular.ttf": [
        (0x600, 0x6FF), (0x750, 0x77F), (0x8A0, 0x8FF), (0x2E41, 0x2E41), (0xFB50, 0xFDFF),
        (0xFE70, 0xFEFE),
    ],
    "NotoSansSyriac-Regular.ttf": [(0x700, 0x74F)],
    "NotoSansThaana-Regular.ttf": [(0x780, 0x7BF)],
    "NotoSansNKo-Regular.ttf": [(0x7C0, 0x7FF)],
    "NotoSansDevanagari-Regular.ttf": [(0x900, 0x97F), (0x1CD0, 0x1CFF), (0xA830, 0xA839),
                                       (0xA8E0, 0xA8FF)],
    "NotoSansBengali-Regular.ttf": [(0x980, 0x9FF)],
    "NotoSansGurmukhi-Regular.ttf": [(0xA00, 0xA7F)],
    "NotoSansGujarati-Regular.ttf": [(0xA80, 0xAFF)],
    "NotoSansOriya-Regular.ttf": [(0xB00, 0xB7F)],
    "NotoSansTamil-Regular.ttf": [(0xB80, 0xBFF)],
    "NotoSansTelugu-Regular.ttf": [(0xC00, 0xC7F)],
    "NotoSansKannada-Regular.ttf": [(0xC80, 0xCFF)],
    "NotoSansMalayalam-Regular.ttf": [(0xD00, 0xD7F)],
    "NotoSansSinhala-Regular.ttf": [(0xD80, 0xDFF)],
    "NotoSansThai-Regular.ttf": [(0xE00, 0xE7F)],
    "NotoSansLao-Regular.ttf": [(0xE80, 0xEFF)],
    "NotoSerifTibetan-Regular.ttf": [(0xF00, 0xFFF)],
    "NotoSansMyanmar-Regular.ttf": [(0x1000, 0x109F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F)],
    "NotoSansKhmer-Regular.ttf": [(0x1780, 0x17FF), (0x19E0, 0x19FF)],
    "NotoSansGeorgian-Regular.ttf": [(0x10A0, 0x10FF), (0x1C90, 0x1CBF), (0x2D00, 0x2D2F)],
    "NotoSansArmenian-Regular.ttf": [(0x530, 0x58F), (0xFB13, 0xFB17)],
    "NotoSansEthiopic-Regular.ttf": [(0x1200, 0x139F), (0x2D80, 0x2DDF), (0xAB00, 0xAB2F)],
    "NotoSansCherokee-Regular.ttf": [(0x13A0, 0x13FF), (0xAB70, 0xABBF)],
    "NotoSansCanadianAboriginal-Regular.ttf": [(0x1400, 0x167F), (0x18B0, 0x18FF)],
    "NotoSansTifinagh-Regular.ttf": [(0x2D30, 0x2D7F)],
}  # fmt: skip

# What SUBSETS leaves of the same sources, and more signs: asked last.
MORE = {
    "NotoSansMath-Regular.ttf": [
        (0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A), (0x20D0, 0x20FF), (0x2100, 0x214F),
        (0x2190, 0x21FF), (0x2300, 0x23FF), (0x2980, 0x2AFF), (0x2B00, 0x2BFF), (0x1D400, 0x1D7FF),
        (0x1EE00, 0x1EEFF),
    ],
    "NotoSansMono-Regular.ttf": [(0x2320, 0x2321), (0x239B, 0x23BD), (0x1F67C, 0x1F67F)],
    "NotoSansSymbols-Regular.ttf": [
        (0x20A0, 0x214F), (0x2300, 0x23FF), (0x2400, 0x24FF), (0x2600, 0x27BF), (0x1F100, 0x1F1E5),
        (0x1F700, 0x1F77F),
    ],
    "NotoSansSymbols2-Regular.ttf": [
        (0x2190, 0x21FF), (0x2300, 0x23FF), (0x2400, 0x245F), (0x2800, 0x28FF), (0x2B00, 0x2BFF),
        (0x1F000, 0x1F0FF), (0x1F300, 0x1F6FF), (0x1F780, 0x1F8FF), (0x1FA00, 0x1FA6F),
        (0x1FB00, 0x1FBFF),
    ],
}  # fmt: skip

# What draws nothing by itself, but decides how what stands beside it is joined, and
# the circle that a vowel sign without a letter is set on.
JOINERS = (0x20, 0x200C, 0x200D, 0x25CC)

VARIANTS = set(range(0xFE00, 0xFE10))  # stripped from every text
WIDEST = 2.5  # em: a word in one glyph, such as U+FDFD, would be wider than narrow columns

TALLEST, DEEPEST = 1.1, 0.4  # em that a sign may reach over and under the baseline

# The lines that Han of one face go by: its square, and what a few strokes reach over it.
HAN_ASCENT, HAN_DESCENT = 0.88, 0.12


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


def build_script(path: Path, ranges: list[tuple[int, int]]) -> None:
    """Keep a script with the tables that shape it; drop hinting.

    Its ascent and descent become those of most of its letters. What reaches further,
    a stack of marks, say, makes its line taller by what layout measures.
    """
    font = _with_layout(path, ranges)
    classes = font["GDEF"].table.GlyphClassDef if "GDEF" in font else None
    marks = {name for name, kind in classes.classDefs.items() if kind == 3} if classes else set()
    letters = {name for code, name in font.getBestCmap().items() if code not in JOINERS} - marks
    tops, bottoms = zip(*_bounds(font, letters), strict=True)
    _set_heights(font, sorted(tops)[len(tops) * 19 // 20], sorted(bottoms)[len(bottoms) // 20])
    font.save(HERE / path.name.replace("-Regular", "-subset"))


def build_more(path: Path, ranges: list[tuple[int, int]]) -> None:
    """Further signs of a source that has a subset already, under a family of their own.

    The few that are much taller than a line, parts of large brackets, are left out; the
    ascent and descent are those of most of the others.
    """
    font = TTFont(path, recalcTimestamp=False)
    em, cmap = font["head"].unitsPerEm, font.getBestCmap()
    heights = {code: _bounds(font, {cmap[code]}) for code in _codes(ranges) & cmap.keys()}
    low = {
        code
        for code, bounds in heights.items()
        if all(top <= TALLEST * em and bottom >= -DEEPEST * em for top, bottom in bounds)
    }
    font = _subset(font, low, [])
    tops, bottoms = zip(*(heights[code][0] for code in low if heights[code]), strict=True)
    _set_heights(font, sorted(tops)[len(tops) * 19 // 20], sorted(bottoms)[len(bottoms) // 20])
    font.save(HERE / path.name.replace("-Regular", "-more"))


def build_emoji(path: Path) -> None:
    """All of it: the sequences of people, flags and keycaps are ligatures."""
    font = _with_layout(path, [(0x20, 0x1FAFF), (0xE0061, 0xE007F)])
    glyph = font.getBestCmap()[0x1F600]
    [(top, bottom)] = _bounds(font, {glyph})
    _set_heights(font, top, bottom)
    font.save(HERE / "NotoEmoji-subset.ttf")


def build_cjk(path: Path) -> None:
    """Han, kana and Hangul, each in the forms of where they are written.

    The Chinese face has all that GB 2312, Big5, JIS X 0208 and KS X 1001 list, and the
    whole first block of Han in a second file, which is seldom opened.
    """
    listed = {name: _listed(name) for name in ("gb2312", "big5", "euc_jp", "euc_kr")}
    hangul = set(range(0xAC00, 0xD7A4))
    signs = _codes([(0x2E80, 0x303F), (0x3040, 0x33FF), (0xFE10, 0xFE1F), (0xFE30, 0xFE6F),
                    (0xFF00, 0xFFEF)])  # fmt: skip
    chinese = set().union(*listed.values()) - hangul | signs
    for name, number, codes in (
        ("NotoSansJP", 0, listed["euc_jp"] | signs),
        ("NotoSansKR", 1, hangul | _codes([(0x3130, 0x318F), (0x3200, 0x321E), (0x3260, 0x327F),
                                           (0xFFA0, 0xFFDC)])),
        ("NotoSansSC", 2, chinese),
        ("NotoSansSCRare", 2, _codes([(0x3400, 0x9FFF), (0xF900, 0xFAFF)]) - chinese),
    ):  # fmt: skip
        font = TTFont(path, fontNumber=number, recalcTimestamp=False)
        codes = {code for code in codes if code >= 0x2E80}
        em, cmap = font["head"].unitsPerEm, font.getBestCmap()
        top, bottom = (HAN_ASCENT + 0.12) * em, -(HAN_DESCENT + 0.12) * em
        flat = {
            code
            for code in codes & cmap.keys()
            if code >= 0xFF00
            or 0x3300 <= code < 0x3400  # full width; units in a square
            or all(high <= top and low >= bottom for high, low in _bounds(font, {cmap[code]}))
        }
        font = _subset(font, flat, [])
        _set_heights(font, HAN_ASCENT * em, -HAN_DESCENT * em)
        font.save(HERE / f"{name}-subset.otf")


def _listed(codec: str) -> set[int]:
    """The characters of a double-byte character set."""
    found = set()
    for lead in range(0xA1, 0xFF):
        for trail in (*range(0x40, 0x7F), *range(0xA1, 0xFF)):
            try:
                found |= set(map(ord, bytes((lead, trail)).decode(codec)))
            except ValueError:
                continue
    return {code for code in found if code >= 0x2E80}


def _codes(ranges: list[tuple[int, int]]) -> set[int]:
    return {code for low, high in ranges for code in range(low, high + 1)}


def _with_layout(path: Path, ranges: list[tuple[int, int]]) -> TTFont:
    font = TTFont(path, recalcTimestamp=False)
    em, advances = font["head"].unitsPerEm, font["hmtx"].metrics
    narrow = {code for code, name in font.getBestCmap().items() if advances[name][0] <= WIDEST * em}
    codes = (_codes(ranges) & narrow - VARIANTS) | set(JOINERS)
    return _subset(font, codes, subset.Options().layout_features)


def _subset(font: TTFont, codes: set[int], features: list[str]) -> TTFont:
    options = subset.Options(layout_features=features, hinting=False, notdef_outline=True)
    options.name_IDs = [0, 1, 2, 5, 13, 14]
    options.drop_tables += ["MATH", "DSIG", "BASE", "VORG", "vhea", "vmtx", "STAT", "VDMX"]
    if not features:
        options.drop_tables += ["GSUB", "GPOS", "GDEF"]
    options.bidi_closure = False  # else the mirror image of each sign is kept too
    options.glyph_names = False
    options.recalc_timestamp = False
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    return font


def _bounds(font: TTFont, names: set[str]) -> list[tuple[float, float]]:
    """Top and bottom of each glyph that has an outline."""
    glyphs, found = font.getGlyphSet(), []
    for name in sorted(names):
        pen = BoundsPen(glyphs)
        glyphs[name].draw(pen)
        if pen.bounds:
            found.append((pen.bounds[3], pen.bounds[1]))
    return found


def _set_heights(font: TTFont, top: float, bottom: float) -> None:
    hhea, os2 = font["hhea"], font["OS/2"]
    hhea.ascent = os2.sTypoAscender = os2.usWinAscent = round(top)
    hhea.descent = os2.sTypoDescender = round(bottom)
    os2.usWinDescent = max(0, -round(bottom))


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
            for name, ranges in SCRIPTS.items():
                build_script(Path(folder) / name, ranges)
            for name, ranges in MORE.items():
                build_more(Path(folder) / name, ranges)
        case ["cjk", file]:
            build_cjk(Path(file))
        case ["emoji", file]:
            build_emoji(Path(file))
        case ["pin"]:
            for path in sorted((*HERE.glob("*.ttf"), *HERE.glob("*.otf"))):
                print(path.name, hashlib.sha256(path.read_bytes()).hexdigest())
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
