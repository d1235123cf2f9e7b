"""Where lines go on the page, what is left out, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from muralkit import theme as themes
from muralkit.errors import ThemeError
from muralkit.layout import lay_out
from muralkit.model import Cue, Ink, Layout, Placed, Reason, Role
from muralkit.theme import Theme
from tests.conftest import SquareTheme, build_square_font, cue, cues_of


def page(theme: Theme, *cues: Cue) -> Layout:
    return lay_out(cues, theme, theme.faces())


def text_of(item: Placed) -> str:
    return "".join(run.text for run in item.line.runs)


def variant(tmp_path: Path, manifest: str) -> Theme:
    path = tmp_path / "variant.toml"
    path.write_text(manifest, encoding="utf-8")
    return themes.load(path)


def test_the_page_in_numbers(squares: SquareTheme) -> None:
    layout = page(squares(), cue(1, "abc"), cue(2, "de", "ARCHITECTURE"))
    assert [(text_of(i), i.x, i.y, i.line.height, i.baseline) for i in layout.placed] == [
        ("ARCHITECTURE", 0, 0, 14, 10),  # leading 4: ascent 8 + 2
        ("*de", 0, 14, 10, 22),
        ("NAMING", 0, 26, 14, 36),  # 2 px above
        ("*abc", 0, 40, 10, 48),
    ]
    assert (layout.canvas.width, layout.canvas.height, layout.canvas.tokens) == (280, 56, 20)
    assert layout.shown == (2, 1)


def test_bands_come_in_the_order_of_the_categories_then_by_name(squares: SquareTheme) -> None:
    names = [
        "zebra", "NAMING", "CONFIG_VALUES", "ALPHA", "CONSTRAINTS", "ARCHITECTURE", "PROJECT_RULES",
    ]  # fmt: skip
    layout = page(squares(), *(cue(n, "x", name) for n, name in enumerate(names)))
    banners = [text_of(item) for item in layout.placed if item.line.role is Role.BANNER]
    assert banners == [
        "PROJECT_RULES", "ARCHITECTURE", "CONSTRAINTS", "CONFIG_VALUES", "NAMING", "ALPHA", "zebra",
    ]  # fmt: skip


def test_in_a_band_the_important_come_first_then_the_older(squares: SquareTheme) -> None:
    cues = [cue(9, "x"), cue(10, "x"), cue(2, "x", importance=40), cue(7, "x", importance=90)]
    assert page(squares(), *cues).shown == (7, 9, 10, 2)
    mixed = [Cue("b", "NAMING", 50, "x"), Cue(3, "NAMING", 50, "x"), Cue("a", "NAMING", 50, "x")]
    assert page(squares(), *mixed).shown == (3, "a", "b")


def test_the_order_of_the_input_does_not_matter(squares: SquareTheme) -> None:
    cues = cues_of("50")
    assert page(squares(3), *cues) == page(squares(3), *reversed(cues))


def test_columns_repeat_a_slim_banner(squares: SquareTheme) -> None:
    cues = [cue(n, "x" * 20) for n in range(6)]  # columns of 140 px: one cue a line
    layout = page(squares(columns=2), *cues)
    assert [(i.line.role.value, i.x, i.y, i.line.height, i.width) for i in layout.placed] == [
        ("banner", 0, 0, 14, 140),
        ("text", 0, 14, 10, 140),
        ("text", 0, 24, 10, 140),
        ("text", 0, 34, 10, 140),
        ("repeat", 140, 0, 7, 140),
        ("text", 140, 7, 10, 140),
        ("text", 140, 17, 10, 140),
        ("text", 140, 27, 10, 140),
    ]
    assert text_of(layout.placed[4]) == "NAMING …"


def test_a_taller_fallback_face_makes_its_line_taller(tmp_path: Path, squares: SquareTheme) -> None:
    folder = squares().path.parent
    build_square_font(folder / "tall.ttf", "é☃", ascent=1250, descent=330)
    manifest = (folder / "theme.toml").read_text(
        "utf-8"
    ) + '[[face]]\nname="Tall"\nfile="tall.ttf"\n'
    (folder / "theme.toml").write_text(manifest, "utf-8")
    layout = page(themes.load(folder), cue(1, "a☃"), cue(2, "b" * 50))
    tall, plain = layout.placed[1], layout.placed[2]
    # at 10 px: ascent 12.5 over 8, descent 3.3 over 2: 4.5 and 1.3, each up to whole pixels
    assert (tall.line.height, tall.line.ascent) == (10 + 5 + 2, 8 + 5)
    assert (plain.y, plain.line.height) == (14 + 17, 10)


def test_when_the_canvas_is_full_the_least_important_go_first(squares: SquareTheme) -> None:
    # three rows of tiles: 84 px for two banners of 14 and lines of 10
    cues = [
        cue(1, "x" * 40, "NAMING", 90),
        cue(2, "x" * 40, "PROJECT_RULES", 10),
        cue(3, "x" * 40, "NAMING", 80),
        cue(4, "x" * 40, "PROJECT_RULES", 70),
        cue(5, "x" * 40, "NAMING", 60),
        cue(6, "x" * 40, "NAMING", 5),
    ]
    layout = page(squares(canvas="max_tiles = 30"), *cues)
    assert layout.canvas.height == 84
    assert layout.shown == (4, 1, 3, 5)  # 14 + 10 + 2 + 14 + 3 * 10, and the note's 10
    assert [(d.memory_id, d.importance, d.reason) for d in layout.dropped] == [
        (2, 10, Reason.FULL),
        (6, 5, Reason.FULL),
    ]
    last = layout.placed[-1]
    assert (last.line.role, text_of(last)) == (Role.NOTE, "+2 more, of importance 10 and less")
    assert {run.ink for run in last.line.runs} == {Ink.MARK}


def test_a_cue_that_no_canvas_holds_is_named_and_the_others_are_drawn(squares: SquareTheme) -> None:
    theme = squares(canvas="max_tiles = 30")
    layout = page(theme, cue(1, "y" * 2000, importance=99), cue(2, "x", importance=1))
    assert layout.shown == (2,)
    assert [(d.memory_id, d.reason) for d in layout.dropped] == [(1, Reason.TOO_LARGE)]
    assert text_of(layout.placed[-1]) == "+1 more, of importance 99 and less"


def test_an_empty_cue_is_dropped_with_its_reason(squares: SquareTheme) -> None:
    layout = page(squares(), cue(1, " \u200b\n"), cue(2, "x"))
    assert layout.shown == (2,)
    assert [(d.memory_id, d.reason) for d in layout.dropped] == [(1, Reason.EMPTY)]


def test_nothing_to_draw_is_one_row_of_tiles(squares: SquareTheme) -> None:
    layout = page(squares())
    assert (layout.canvas.height, layout.placed, layout.shown, layout.dropped) == (28, (), (), ())


def test_escapes_and_stripped_characters_are_counted(squares: SquareTheme) -> None:
    layout = page(squares(), cue(1, "a𓀀b𓀀\u202ec"), cue(2, "\U00013100"))
    assert [(e.codepoint, e.count) for e in layout.escaped] == [(0x13000, 2), (0x13100, 1)]
    assert layout.stripped == 1


@pytest.mark.parametrize("name", ["a\nb", "a\u202eb", "<NAMING> & co", "é" * 200, "𓀀", "\u200b"])
def test_any_category_is_one_banner_within_its_column(squares: SquareTheme, name: str) -> None:
    layout = page(squares(2), cue(1, "x", name))
    [banner] = [item for item in layout.placed if item.line.role is Role.BANNER]
    assert sum(run.width for run in banner.line.runs) <= banner.width - 8
    assert "\n" not in text_of(banner) and "\u202e" not in text_of(banner)


def test_a_long_category_ends_in_an_ellipsis(squares: SquareTheme) -> None:
    layout = page(squares(2), cue(1, "x", "c" * 200))
    # 140 px less 2 x 4 px: 26 glyphs of 5 px, the last an ellipsis
    assert text_of(layout.placed[0]) == "c" * 25 + "…"


def test_text_that_looks_like_a_banner_is_text(squares: SquareTheme) -> None:
    layout = page(squares(), cue(1, "<NAMING> spoof"), cue(2, "Map<K,V>"))
    assert [item.line.role for item in layout.placed] == [Role.BANNER, Role.TEXT]


def test_too_narrow_columns_are_an_error_that_says_how_narrow(squares: SquareTheme) -> None:
    with pytest.raises(ThemeError, match=r"6 columns of 46 px are too narrow .* needs \d+ px"):
        page(squares(columns=6), cue(1, "x"))


FIT = '[canvas]\nwidth = "fit"\n'


@pytest.mark.parametrize("size", ["7", "50", "120", "300"])
def test_fit_is_the_cheapest_of_every_frame(tmp_path: Path, size: str) -> None:
    """Held against each width and column count as a fixed canvas."""
    cues = cues_of(size)
    fit = page(variant(tmp_path, f'inherits = "dense"\n{FIT}'), *cues)
    assert not fit.dropped
    step = 1 if size in ("7", "50") else 5
    for tiles in range(6, 57, step):
        for columns in (1, 2, 3, 4, 5, 6):
            width = (tiles * 28 - 4 - (columns - 1) * 10) // columns
            if not 160 <= width <= 400:
                continue
            fixed = f'inherits = "dense"\n[canvas]\nwidth = {tiles * 28}\ncolumns = {columns}\n'
            other = page(variant(tmp_path, fixed), *cues)
            assert other.dropped or other.canvas.tokens >= fit.canvas.tokens, (tiles, columns)


def test_fit_drops_the_least_important_where_no_canvas_is_large_enough(tmp_path: Path) -> None:
    fit = page(variant(tmp_path, f'inherits = "dense"\n{FIT}'), *cues_of("1000"))
    fixed = page(themes.load("dense"), *cues_of("1000"))
    assert fit.canvas.tokens <= 1568
    assert len(fit.shown) >= len(fixed.shown)
    check_least_important(fit, cues_of("1000"))


def check_least_important(layout: Layout, cues: list[Cue]) -> None:
    ranked = sorted(cues, key=lambda c: (-c.importance, c.memory_id))
    assert set(layout.shown) == {c.memory_id for c in ranked[: len(layout.shown)]}
    assert len(layout.shown) + len(layout.dropped) == len(cues)


@pytest.mark.parametrize(
    ("theme", "size", "tokens", "shown"),
    [
        ("dense", "50", 240, 50),
        ("dense", "120", 510, 120),
        ("dense", "300", 1092, 300),
        ("dense", "470", 1568, 400),
        ("dense", "1000", 1568, 310),
        ("standard", "300", 1568, 300),
    ],
)
def test_the_price_of_the_measured_sets(theme: str, size: str, tokens: int, shown: int) -> None:
    cues = cues_of(size)
    layout = page(themes.load(theme), *cues)
    assert layout.canvas.tokens <= tokens
    assert len(layout.shown) >= shown
    assert not layout.escaped
    check_least_important(layout, cues)


@pytest.mark.parametrize(("size", "tokens"), [("50", 200), ("120", 475), ("300", 1092)])
def test_the_price_of_the_measured_sets_with_fit(tmp_path: Path, size: str, tokens: int) -> None:
    layout = page(variant(tmp_path, f'inherits = "dense"\n{FIT}'), *cues_of(size))
    assert layout.canvas.tokens <= tokens
    assert not layout.dropped and not layout.escaped


def test_categories_count_what_they_lose(squares: SquareTheme) -> None:
    layout = page(squares(), cue(1, "x", "A\u200b𓀀"), cue(2, "y", "A\u200b𓀀"))
    assert [(e.codepoint, e.count) for e in layout.escaped] == [(0x13000, 1)]
    assert layout.stripped == 1


def test_one_line_takes_one_row_of_tiles(squares: SquareTheme) -> None:
    layout = page(themes.load("standard"), cue(1, "x"))
    assert (layout.canvas.height, layout.canvas.tokens) == (28, 39)


def test_large_cues_that_fit_nowhere_do_not_keep_the_small_ones_out() -> None:
    """Their words fit a line so badly that they are taller than their width tells."""
    theme = themes.load("standard")
    large = [cue(n, ("ℂ" + "x" * 32 + "i ") * 278, importance=100) for n in (0, 1)]
    small = [cue(n, f"a small cue {n}") for n in range(2, 302)]
    layout = page(theme, *large, *small)
    assert len(layout.shown) >= 300
    assert {item.reason for item in layout.dropped} <= {Reason.TOO_LARGE}


def test_cues_are_measured_on_where_large_ones_are_given_up(squares: SquareTheme) -> None:
    """A canvas of 6 rows: each large cue fills it, so all but what fits beside none go."""
    theme = squares(canvas="max_tiles = 20")  # 280 x 56 px: a banner, four lines
    large = [cue(n, "word " * 70, importance=90) for n in range(30)]
    layout = page(theme, *large, cue(99, "small", importance=1))
    assert layout.shown == (99,)
    assert {item.reason for item in layout.dropped} == {Reason.TOO_LARGE}


def test_a_category_cannot_spell_an_escape(squares: SquareTheme) -> None:
    spelled = page(squares(), cue(1, "x", "[U+13000]"))
    assert text_of(spelled.placed[0]) == "[U+005B]U+13000]"
    assert not spelled.escaped
    real = page(squares(), cue(1, "x", "\U00013000"))
    assert text_of(real.placed[0]) == "[U+13000]"
    assert text_of(page(squares(), cue(1, "x", "A[U+1]")).placed[0]) == "A[U+1]"


def test_categories_that_are_one_when_cleaned_count_what_each_loses(squares: SquareTheme) -> None:
    layout = page(squares(), cue(1, "x", "A\u200b"), cue(2, "x", "\u200b\u200bA"), cue(3, "x", "A"))
    assert layout.stripped == 3


def test_a_token_of_a_cue_s_whole_length_takes_no_longer_to_set(tmp_path: Path) -> None:
    """It was clustered anew for each of its lines and each canvas: 40 s."""
    theme = variant(tmp_path, 'inherits = "dense"\n[canvas]\nwidth = "fit"\n')
    calls = 0
    from muralkit.glyphs.pieces import Piece
    from muralkit.glyphs.shape import Shaper, Word
    from muralkit.layout import wrap

    with pytest.MonkeyPatch.context() as patch:
        real = wrap._clusters

        def counted(word: Word, shaper: Shaper) -> list[Piece]:
            nonlocal calls
            calls += 1
            return real(word, shaper)

        patch.setattr(wrap, "_clusters", counted)
        layout = page(theme, cue(1, "x" * 9_000))
    assert layout.shown == (1,)
    assert calls < 200  # one for each frame that was tried


def test_a_cue_of_megabytes_is_too_large_and_costs_nothing() -> None:
    from muralkit.glyphs.shape import Shaper

    theme = themes.load("dense")
    measured = 0
    with pytest.MonkeyPatch.context() as patch:
        real = Shaper.words

        def counted(self: Shaper, text: str) -> object:
            nonlocal measured
            measured += len(text)
            return real(self, text)

        patch.setattr(Shaper, "words", counted)
        layout = page(theme, cue(1, "ab " * 400_000), cue(2, "fine"))
    assert layout.shown == (2,) and layout.dropped[0].reason is Reason.TOO_LARGE
    assert measured < 100


def test_a_category_of_megabytes_is_one_banner() -> None:
    theme = themes.load("dense")
    layout = page(theme, *(cue(n, "x", f"{n}" + "𓀀" * 100_000) for n in range(3)))
    assert len(layout.shown) == 3 and layout.escaped[0].count == 300_000


def test_a_line_says_where_each_cue_on_it_stands(squares: SquareTheme) -> None:
    layout = page(squares(), cue(1, "abc"), cue(2, "de fg"), cue(3, " ".join(["hijk"] * 12)))
    first, second = [item.line for item in layout.placed if item.line.role is Role.TEXT]
    # A bullet takes 6.2 px, a glyph and a space 5, the gap 10.
    assert [(name, round(left, 1), round(right, 1)) for name, left, right in first.spans()] == [
        (1, 0.0, 31.2),
        (2, 31.2, 72.4),
        (3, 72.4, 273.6),
    ]
    assert [(name, left) for name, left, _ in second.spans()] == [(3, 10.0)]
    assert second.width == second.runs[-1].x + second.runs[-1].width
    assert not list(layout.placed[0].line.spans())  # a banner is no cue's
