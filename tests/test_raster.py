"""Pixels come from the bundled outlines alone, where layout put them."""

from __future__ import annotations

from io import BytesIO

import pytest
from PIL import Image, ImageDraw, ImageFont

from muralkit import render
from muralkit import theme as themes
from muralkit.glyphs.faces import FaceSet, bundled
from muralkit.model import Canvas, Ink
from muralkit.plates import Plates
from muralkit.raster import DrawingError, rasterize
from muralkit.theme import Theme
from tests.conftest import SquareTheme, cue, cues_of


def open_png(data: bytes) -> Image.Image:
    with Image.open(BytesIO(data)) as image:
        return image.convert("RGB")


def colours(png: bytes) -> set[tuple[int, ...]]:
    raw = open_png(png).tobytes()
    return {tuple(raw[at : at + 3]) for at in range(0, len(raw), 3)}


def draw(body: str, theme: Theme, width: int = 56, height: int = 28) -> list[list[int]]:
    """Rows of palette indices of a small document."""
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{body}</svg>'
    canvas = Canvas(width, height, 1, width)
    indices = rasterize(svg, canvas, Plates(theme.manifest), theme.faces())
    return [list(indices[start : start + width]) for start in range(0, len(indices), width)]


def test_a_square_glyph_is_a_square_of_pixels(squares: SquareTheme) -> None:
    # 0.4 em of 10 px: four pixels a side on the baseline, every 5 px
    rows = draw('<text x="3" y="20" font-family="Squares" font-size="10">ab c</text>', squares())
    ink = Plates(squares().manifest).palette.index((0, 0, 0))
    on = {(x, y) for y, row in enumerate(rows) for x, index in enumerate(row) if index == ink}
    assert on == {(x + dx, y) for x in (3, 8, 18) for dx in range(4) for y in range(16, 20)}
    assert {index for row in rows for index in row} == {0, ink}


def test_letter_spacing_is_added_to_every_advance(squares: SquareTheme) -> None:
    body = '<text x="0" y="9" font-family="Squares" font-size="10" letter-spacing="3">aaa</text>'
    row = draw(body, squares())[8]
    assert [x for x, index in enumerate(row) if index] == [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19]


@pytest.mark.parametrize(("anchor", "left"), [("start", 20), ("middle", 15), ("end", 10)])
def test_text_anchor(squares: SquareTheme, anchor: str, left: int) -> None:
    body = (
        f'<text x="20" y="9" text-anchor="{anchor}" font-family="Squares" font-size="10">aa</text>'
    )
    row = draw(body, squares())[8]
    assert next(x for x, index in enumerate(row) if index) == left


def test_tspans_go_on_where_the_pen_stands(squares: SquareTheme) -> None:
    body = (
        '<text x="0" y="9" font-family="Squares" font-size="10">a'
        '<tspan fill="#a80000">b</tspan>c<tspan x="40">d</tspan></text>'
    )
    row = draw(body, squares())[8]
    text, red = (Plates(squares().manifest).palette.index(c) for c in ((0, 0, 0), (0xA8, 0, 0)))
    colours = dict.fromkeys((0, 1, 2, 3, 10, 11, 12, 13, 40, 41, 42, 43), text)
    colours |= dict.fromkeys((5, 6, 7, 8), red)
    assert {x: index for x, index in enumerate(row) if index} == colours


def test_groups_move_and_fade_text(squares: SquareTheme) -> None:
    text = '<text y="9" font-family="Squares" font-size="10">a</text>'
    rows = draw(f'<g transform="translate(10 5)">{text}</g>', squares())
    assert [x for x, index in enumerate(rows[13]) if index] == [10, 11, 12, 13]
    body = f'<g opacity="0.34">{text}</g>'
    palette = Plates(squares().manifest).palette
    assert palette[draw(body, squares())[8][0]] == (170, 170, 170)  # one level of three


@pytest.mark.parametrize("char", "Rg8@ж→⊘∀")
def test_outlines_agree_with_freetype(char: str) -> None:
    """At 100 px our filled path and FreeType's bitmap of the same file differ at edges only."""
    faces = FaceSet(bundled())
    file = next(
        f for f in faces.chain("Roboto Condensed") if ord(char) in faces.face(f.name).codepoints
    )
    theme = themes.load("standard")
    weight, size = file.weight, 140
    body = (
        f'<text x="20" y="130" font-family="{file.family}" font-weight="{weight}" '
        f'font-size="100" fill="#000000">{char}</text>'
    )
    rows = draw(body, theme, size + 28, size + 28)
    ours = [index in (2, 3) for row in rows for index in row]  # the two darker levels of text
    font = ImageFont.truetype(str(file.path), 100, layout_engine=ImageFont.Layout.BASIC)
    image = Image.new("L", (size + 28, size + 28), 0)
    ImageDraw.Draw(image).text((20, 130), char, fill=255, font=font, anchor="ls")
    theirs = [value >= 128 for value in image.tobytes()]
    both = sum(a and b for a, b in zip(ours, theirs, strict=True))
    either = sum(a or b for a, b in zip(ours, theirs, strict=True))
    assert both / either > 0.9  # FreeType hints; we don't


def test_a_mural_has_only_its_themes_colours() -> None:
    for name in ("standard", "dark", "pixel"):
        theme = themes.load(name)
        found = colours(render(cues_of("50"), name).png)
        assert found <= set(Plates(theme.manifest).palette)
        assert {tuple(bytes.fromhex(theme.colour(ink)[1:])) for ink in Ink} <= found


def test_the_pixel_theme_is_all_whole_pixels() -> None:
    """Its own glyphs need no anti-aliasing: but for fallback signs, two colours a ground."""
    plain = [cue(1, "Hello_World/0189 (a.b) → ⊘ ∵ ≺ ≻ ∅ ∀ ≤ ≥ × ≠ • and more words " * 3)]
    found = colours(render(plain, "pixel").png)
    inks = themes.load("pixel").manifest.inks
    expected = {inks.page, inks.prohibition, inks.mark, inks.banner, inks.banner_ground}
    assert {f"#{r:02x}{g:02x}{b:02x}" for r, g, b in found} == expected


def test_different_signs_are_different_pictures() -> None:
    signs = "→←⊘∵≺≻∅∀≤≥×÷≠•<>=+-_.,:;|/\\▪↵…Αа"
    pictures = {render([cue(1, f"a{sign}b")], "pixel").png for sign in signs}
    assert len(pictures) == len(signs)


def test_two_hyphens_are_two_in_the_picture() -> None:
    """In the smallest print of ours the page is seen between them."""
    with Image.open(BytesIO(render([cue(1, "a--b")], "dense").png)) as image:
        row = [image.convert("L").getpixel((x, 19)) for x in range(40)]
    assert row[11:16] == [170, 170, 255, 170, 170]  # as looked at: dash, gap, dash


def test_text_from_right_to_left_is_drawn_where_it_was_measured() -> None:
    """The same bytes of ink at a left edge, an end and a middle."""
    theme = themes.load("standard")
    face = theme.faces().face("Noto Sans Hebrew")
    width = sum(glyph.advance for glyph in face.shape("אבג", True).glyphs) * 10
    style = 'font-family="Noto Sans Hebrew" font-size="10" direction="rtl" fill="#000000"'
    left, middle, right = (
        draw(f'<text x="{x}" y="20" {style} text-anchor="{anchor}">אבג</text>', theme)
        for anchor, x in (("end", 8), ("middle", 8 + width / 2), ("start", 8 + width))
    )
    assert left == middle == right
    inked = [x for row in left for x, index in enumerate(row) if index]
    assert min(inked) >= 8 and max(inked) < 8 + width
    turned = draw(f'<text x="8" y="20" {style} text-anchor="end">גבא</text>', theme)
    assert turned != left


def test_marks_stand_where_shaping_puts_them() -> None:
    """The vowel of ba is under its letter, not behind it."""
    theme = themes.load("standard")
    style = 'font-family="Noto Sans Arabic" font-size="20" direction="rtl" text-anchor="end"'
    bare, pointed = (
        draw(f'<text x="9" y="15" {style} fill="#000000">{text}</text>', theme)
        for text in ("ب", "بِ")
    )
    rows = [y for y, (a, b) in enumerate(zip(bare, pointed, strict=True)) if a != b]
    assert rows and min(rows) > 15  # below the baseline
    changed = [x for y in rows for x, (a, b) in enumerate(zip(bare[y], pointed[y], strict=True))
               if a != b]  # fmt: skip
    inked = [x for row in bare for x, index in enumerate(row) if index]
    assert min(inked) <= min(changed) and max(changed) <= max(inked)


def test_a_shaped_text_that_its_face_lacks_is_a_fault(squares: SquareTheme) -> None:
    with pytest.raises(DrawingError, match="Squares has no glyph for 'ב'"):
        draw('<text y="9" font-family="Squares" font-size="10">aב</text>', squares())


def test_joiners_need_no_glyph() -> None:
    theme = themes.load("standard")
    body = '<text y="20" font-family="Noto Emoji" font-size="10" fill="#000000">👩\u200d💻</text>'
    assert any(index for row in draw(body, theme) for index in row)


def test_a_template_that_says_no_direction_is_drawn_as_a_browser_would() -> None:
    theme = themes.load("standard")
    style = 'y="20" font-family="Noto Sans Hebrew" font-size="10" fill="#000000"'
    said = draw(f'<text x="8" {style} direction="rtl" text-anchor="end">אבג</text>', theme)
    assert draw(f'<text x="8" {style}>אבג</text>', theme) == said
