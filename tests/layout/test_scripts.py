"""Scripts on the page: order, heights, sizes, what is escaped, and P2 held to the pixel."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muralkit import theme as themes
from muralkit import themefile
from muralkit.errors import FontError, ThemeError
from muralkit.glyphs import scripts
from muralkit.glyphs.faces import FaceSet
from muralkit.glyphs.shape import add_up, advance
from muralkit.layout import lay_out
from muralkit.model import Cue, Ink, Layout, Line, Role, Run
from muralkit.pipeline import render
from muralkit.theme import Theme
from tests.conftest import build_square_font, cue, cues_of

STANDARD = themes.load("standard")
TEN = "אחת שתיים שלוש ארבע חמש שש שבע שמונה תשע עשר"


def page(*cues: Cue, theme: Theme = STANDARD) -> Layout:
    return lay_out(cues, theme, theme.faces())


def lines(*cues: Cue, theme: Theme = STANDARD) -> list[Line]:
    placed = page(*cues, theme=theme).placed
    return [item.line for item in placed if item.line.role is Role.TEXT]


def seen(line: Line) -> str:
    """A line's texts from left to right, marks left out, those from right to left in <>."""
    ordered = sorted(line.runs, key=lambda run: run.x)
    texts = [f"<{run.text}>" if run.rtl else run.text for run in ordered if run.ink != Ink.MARK]
    return " ".join(text.strip() for text in texts if text.strip())


def test_a_line_of_hebrew_reads_from_right_to_left() -> None:
    [line] = lines(cue(1, "הרץ make lint:q7f ואז בדוק"))
    assert seen(line) == "<בדוק> <ואז> make lint:q7f <הרץ>"
    bullet = line.runs[0]
    assert (bullet.text, bullet.x, bullet.ink) == ("▪", 0, Ink.MARK)  # it stays at the left


def test_hebrew_within_latin_is_turned_in_its_place() -> None:
    [line] = lines(cue(1, "the queue של הבנק holds 12"))
    assert seen(line) == "the queue <הבנק> <של> holds 12"


def test_numbers_and_brackets_within_arabic() -> None:
    [line] = lines(cue(1, "المهلة (١٢) من 30"))
    assert seen(line) == "30 <من> <)> ١٢ <(> <المهلة>"  # brackets mirrored by the font


def test_a_name_within_arabic_keeps_its_order() -> None:
    [line] = lines(cue(1, "أُصدر 1.2.3-rc.4 في 2026-11-30 مع --no-x"))
    assert seen(line) == "--no-x <مع> 2026-11-30 <في> 1.2.3-rc.4 <أُصدر>"


def test_an_arrow_points_where_reading_goes() -> None:
    [line] = lines(cue(1, "תור ← מנוע"), cue(2, "npm → مخزن → x"))
    assert seen(line) == "<מנוע> <→> <תור> npm → <مخزن> → x"
    [line] = lines(cue(1, "مخزن → x → خادم"))
    assert seen(line) == "<خادم> <←> x <←> <مخزن>"


def test_each_line_is_ordered_after_it_was_wrapped(tmp_path: Path) -> None:
    theme = variant(tmp_path, "[canvas]\nwidth = 140\ncolumns = 1\n")
    made = lines(cue(1, TEN), theme=theme)
    assert len(made) > 1
    words = [seen(line).replace("<", "").replace(">", "").split()[::-1] for line in made]
    assert " ".join(itertools.chain(*words)) == TEN


def test_cues_side_by_side_keep_their_own_direction() -> None:
    [line] = lines(cue(1, "שלום עולם"), cue(2, "plain"), cue(3, "אבג"))
    assert seen(line) == "<עולם> <שלום> plain <אבג>"


def test_a_break_mark_stands_where_the_line_is_left(tmp_path: Path) -> None:
    theme = variant(tmp_path, "[canvas]\nwidth = 140\ncolumns = 1\n")
    first, *_ = lines(cue(1, "ב" * 60), theme=theme)
    left = min(first.runs[1:], key=lambda run: run.x)
    assert (left.text, left.ink) == ("↵", Ink.MARK)
    assert sum(run.text.count("ב") for line in lines(cue(1, "ב" * 60), theme=theme)
               for run in line.runs) == 60  # fmt: skip


def test_chinese_breaks_anywhere_but_before_a_full_stop(tmp_path: Path) -> None:
    # 13 px a character, +0.3; a column of 136 px holds ten, behind the bullet nine
    theme = variant(tmp_path, "[canvas]\nwidth = 140\ncolumns = 1\n")
    made = lines(cue(1, "提交前运行通过后，推送代码。"), theme=theme)
    texts = [line.runs[-1].text for line in made]
    assert "".join(texts) == "提交前运行通过后，推送代码。"
    assert all(text[0] not in "，。" for text in texts)
    assert not any(run.text == "↵" for line in made for run in line.runs)


def test_a_script_is_drawn_at_its_least_size_and_its_line_grows() -> None:
    plain, arabic, han = lines(cue(1, "x", "A"), cue(2, "ب", "B"), cue(3, "提", "C"))
    assert (plain.height, plain.ascent) == (12, 10)
    assert [run.size for run in (arabic.runs[1], han.runs[1])] == [14.0, 13.0]
    # Han: 0.88 and 0.12 of 13 px, against 0.9277 and 0.2441 of 11 px
    assert (han.height, han.ascent) == (12 + 2, 10 + 2)
    faces = STANDARD.faces()
    face = faces.face("Noto Sans Arabic")
    up = face.ascent * 14 - 1900 / 2048 * 11
    down = max(face.descent, -face.shape("ب", True).bottom) * 14 - 500 / 2048 * 11
    assert arabic.height == 12 + ceil(up) + ceil(down)


def ceil(value: float) -> int:
    return max(0, -int(-value // 1))


def test_large_text_is_larger_than_any_least_size() -> None:
    [line] = lines(cue(1, "提 ب x"), theme=themes.load("large"))
    assert {run.size for run in line.runs if run.text != "▪"} == {15.0}


def test_a_theme_may_say_how_large_a_script_is(tmp_path: Path) -> None:
    [line] = lines(cue(1, "提 ب"), theme=variant(tmp_path, "[scripts]\nhan = 18\narabic = 3.0\n"))
    assert sorted(run.size for run in line.runs[1:]) == [11.0, 18.0]
    with pytest.raises(ThemeError, match=r"Unknown key 'scripts\.hann'; did you mean 'han'"):
        variant(tmp_path, "[scripts]\nhann = 18.0\n")
    [line] = lines(cue(1, "提"), theme=variant(tmp_path, "[scripts]\nhan = 200.0\n"))
    assert line.runs[1].size == 22.0  # twice the text's size is the most


def test_a_stack_of_marks_makes_its_line_as_tall_as_it_is() -> None:
    heights = [lines(cue(1, "x" + "\u0302" * count))[0].height for count in (0, 2, 5, 8)]
    assert heights == [12, 12, 18, 24]  # two still fit


def test_a_banner_grows_with_its_name() -> None:
    layout = page(cue(1, "x", "NAMING"), cue(2, "x", "提交"), cue(3, "x", "اسم"))
    bars = {"".join(run.text for run in item.line.runs): item.line
            for item in layout.placed if item.line.role is Role.BANNER}  # fmt: skip
    assert bars["NAMING"].height == 13
    assert bars["提交"].height > 13 and bars["اسم"].height > 13
    for above, below in itertools.pairwise(layout.placed):
        assert above.x != below.x or above.y + above.line.height <= below.y


def test_a_long_name_from_right_to_left_ends_in_an_ellipsis_at_its_left() -> None:
    layout = page(cue(1, "x", "שם ארוך מאוד " * 20))
    [banner] = [item for item in layout.placed if item.line.role is Role.BANNER]
    runs = sorted(banner.line.runs, key=lambda run: run.x)
    assert runs[0].text == "…"
    assert runs[0].x == 4 and runs[-1].x + runs[-1].width <= banner.width - 4


def test_japanese_text_takes_japanese_forms() -> None:
    chinese, japanese = lines(cue(1, "骨角", "A"), cue(2, "骨の角", "B"))
    assert {run.family for run in chinese.runs[1:]} == {"Noto Sans SC"}
    assert {run.family for run in japanese.runs[1:]} == {"Noto Sans JP"}


def test_what_no_face_has_is_escaped_behind_its_letter() -> None:
    layout = page(cue(1, "a\U00011a34b 𓀀\u0302"))
    [line] = [item.line for item in layout.placed if item.line.role is Role.TEXT]
    assert [run.text for run in line.runs[1:]] == [
        "a", "[U+11A34]", "b", "[U+13000]", "[U+0302]",
    ]  # fmt: skip
    assert [(item.codepoint, item.count) for item in layout.escaped] == [
        (0x302, 1), (0x11A34, 1), (0x13000, 1),
    ]  # fmt: skip


def test_a_grapheme_is_not_parted(tmp_path: Path) -> None:
    theme = variant(tmp_path, "[canvas]\nwidth = 140\ncolumns = 1\n")
    text = "क्षि" * 40
    made = lines(cue(1, text), theme=theme)
    parts = [run.text for line in made for run in line.runs if run.ink is Ink.TEXT]
    assert "".join(parts) == text
    assert all(len(part) % 4 == 0 for part in parts)


def test_a_grapheme_without_an_end_is_parted_within_the_canvas() -> None:
    layout = page(cue(1, "क्" * 400), cue(2, "👩\u200d" * 200 + "👩"))
    inside(layout)
    assert layout.shown == (1, 2)


def test_the_pages_of_every_script_have_no_escapes() -> None:
    for name in ("standard", "dense", "large", "pixel", "dark"):
        layout = lay_out(cues_of("i18n"), themes.load(name), themes.load(name).faces())
        assert (layout.escaped, layout.dropped, len(layout.shown)) == ((), (), 60)


def inside(layout: Layout) -> None:
    for item in layout.placed:
        assert item.y + item.line.height <= layout.canvas.height
        for run in item.line.runs:
            assert run.x >= -1e-6 and run.x + run.width <= item.width + 1e-6


def measured(run: Run, faces: FaceSet) -> float:
    """A run's width as the rasterizer adds it up."""
    face = faces.by_family(run.family, run.weight)
    assert face is not None
    if run.rtl or scripts.shaped(run.text):
        assert run.tracking == 0
        glyphs = face.shape(run.text, run.rtl).glyphs
        assert all(glyph.number for glyph in glyphs), "a glyph is missing"
        return add_up(glyph.advance * run.size for glyph in glyphs)
    assert {ord(char) for char in run.text} <= face.codepoints
    gaps = run.text.count("--") and face.file.hyphen_gap * run.size
    steps = [advance(face, char, run.size, run.tracking) for char in run.text]
    hyphens = sum(a == b == "-" for a, b in itertools.pairwise(run.text))
    return add_up(steps) + hyphens * gaps


BLOCKS = [
    (0x20, 0x7E), (0x300, 0x36F), (0x590, 0x6FF), (0x700, 0x8FF), (0x900, 0xDFF), (0xE00, 0xFFF),
    (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x2000, 0x206F), (0x20D0, 0x20FF),
    (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xD800, 0xDFFF), (0xFB00, 0xFFFF),
    (0x1F000, 0x1FAFF), (0x1F1E6, 0x1F1FF), (0x1F3FB, 0x1F3FF), (0x10800, 0x10FFF),
    (0x200C, 0x200D), (0x20, 0x20), (0, 0x10FFFF),
]  # fmt: skip
anything = st.lists(
    st.sampled_from(BLOCKS).flatmap(
        lambda block: st.lists(st.integers(*block).map(chr), min_size=1, max_size=8).map("".join)
    ),
    max_size=10,
).map("".join)
pages = st.lists(
    st.builds(Cue, st.integers(0, 999), anything.map("C{}".format), st.integers(1, 100), anything),
    max_size=5,
    unique_by=lambda made: made.memory_id,
)


@given(pages, st.sampled_from(["standard", "dense", "pixel", "large"]))
@settings(max_examples=120)
def test_any_text_is_drawn_within_the_canvas(cues: list[Cue], name: str) -> None:
    theme = themes.load(name)
    faces = theme.faces()
    layout = lay_out(cues, theme, faces)
    inside(layout)
    snapped = 1.0 if theme.manifest.text.snap else 0.0
    for item in layout.placed:
        for run in item.line.runs:
            width = measured(run, faces)
            assert width - 1e-6 <= run.width <= width + snapped * len(run.text) + 1e-6
        if item.line.role is Role.TEXT:
            ordered = sorted(item.line.runs, key=lambda run: run.x)
            for left, right in itertools.pairwise(ordered):
                assert left.x + left.width <= right.x + 1e-6
    render(cues, theme)


def variant(tmp_path: Path, manifest: str) -> Theme:
    path = tmp_path / "variant.toml"
    path.write_text('inherits = "standard"\n' + manifest, encoding="utf-8")
    return themes.load(path)


def test_a_face_of_the_users_ends_the_chain(tmp_path: Path) -> None:
    path = tmp_path / "glyphs.ttf"
    build_square_font(path, "𓀀提")
    theme = themes.check(themefile.find("standard", [path]))
    [line] = lines(cue(1, "𓀀 提"), theme=theme)
    assert [(run.text, run.family) for run in line.runs[1:]] == [
        ("𓀀", "Extra 1"), ("提", "Noto Sans SC"),
    ]  # fmt: skip
    plain = themefile.find("standard")
    first = themefile.find("standard", [path]).fingerprint
    assert first != plain.fingerprint
    build_square_font(path, "𓀀")
    assert themefile.find("standard", [path]).fingerprint != first
    assert path in themefile.find("standard", [path]).sources()


def test_a_users_face_that_is_none_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ThemeError, match="can't be read: No such file") as caught:
        render([cue(1, "x")], themefile.find("standard", [tmp_path / "gone.ttf"]))
    assert "fonts.extra" in caught.value.hint
    (tmp_path / "bad.ttf").write_bytes(b"no font")
    broken = themefile.find("standard", [tmp_path / "bad.ttf"])
    assert render([cue(1, "x")], broken).shown == (1,)  # it is never asked
    with pytest.raises(FontError, match="'Extra 1' is not a font"):
        render([cue(1, "𓀀")], broken)


def test_a_face_of_one_s_own_for_what_is_no_character(tmp_path: Path) -> None:
    odd = "\ufffe\uffff\ud83d"
    build_square_font(tmp_path / "odd.ttf", odd + "\U00013000")
    file = themefile.find("standard", [str(tmp_path / "odd.ttf")])
    mural = render([cue(1, f"a{odd}\U00013000")], themes.check(file))
    assert {item.codepoint for item in mural.escaped} == {0xFFFE, 0xFFFF, 0xD83D}


def test_glyphs_for_private_use_take_the_room_that_they_need(tmp_path: Path) -> None:
    build_square_font(tmp_path / "tall.ttf", "\ue000", ascent=100, descent=10)  # it is 400 high
    build_square_font(tmp_path / "none.ttf", "\ue001", advance=0)
    file = themefile.find("large", [str(tmp_path / "tall.ttf"), str(tmp_path / "none.ttf")])
    theme = themes.check(file)
    one, two = lines(cue(1, "\ue000"), cue(2, "a\ue001b", "B"), theme=theme)
    assert one.ascent >= 0.4 * 15
    first, zero, last = two.runs[1:]
    assert zero.width >= 0.4 * 15 and last.x >= zero.x + zero.width
    assert first.x + first.width <= zero.x


@pytest.mark.parametrize(
    "mark", ["\u0e47", "\u0ecd", "\u08f0", "\u0657", "\u0f90", "\u0f79", "\u1dcf"]
)
@pytest.mark.parametrize("letter", ["ส", "ب", "ཀ", "a"])
def test_any_number_of_marks_is_drawn(letter: str, mark: str) -> None:
    mural = render([cue(1, letter + mark * 60), cue(2, "plain")])
    assert mural.shown == (1, 2) and mural.stripped >= 40
