"""One shaper: words, widths and runs add up to the same advances."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muralkit.glyphs.clean import clean
from muralkit.glyphs.faces import FaceSet, bundled
from muralkit.glyphs.pieces import Piece
from muralkit.glyphs.scripts import JOINERS
from muralkit.glyphs.shape import Shaper
from muralkit.model import Ink

FACES = FaceSet(bundled())


def shaper(face: str = "Roboto Condensed", size: float = 10.0, snap: bool = False) -> Shaper:
    return Shaper(FACES, face, size, 0.0 if snap else 0.3, snap)


def test_a_word_is_the_sum_of_its_advances_and_tracking() -> None:
    # Roboto Condensed: a = 981, b = 1031, units of 2048 (hmtx, read with another tool: ttx)
    from fontTools.ttLib import TTFont

    font = TTFont(FACES.file("Roboto Condensed").path)
    cmap, hmtx = font.getBestCmap(), font["hmtx"]
    units = sum(hmtx[cmap[ord(char)]][0] for char in "ab/c_9")
    [word] = shaper().words("ab/c_9")
    assert word.width == pytest.approx(units * 10 / 2048 + 6 * 0.3, abs=1e-9)


def test_a_character_without_a_glyph_becomes_its_escape() -> None:
    [word] = shaper().words("a𓀀b")
    assert [(piece.text, piece.escaped) for piece in word.pieces] == [
        ("a", ""),
        ("[U+13000]", "𓀀"),
        ("b", ""),
    ]
    assert word.width == pytest.approx(shaper().measure("a[U+13000]b"))


def test_a_change_of_face_parts_runs_at_its_x() -> None:
    made = shaper()
    runs = list(made.runs(Piece("go → on"), 5.0, Ink.TEXT))
    assert [(run.text, run.family) for run in runs] == [
        ("go ", "Roboto Condensed"),
        ("→", "Noto Sans Math"),
        (" on", "Roboto Condensed"),
    ]
    assert runs[0].x == 5.0
    for left, right in pairwise(runs):
        assert right.x == pytest.approx(left.x + left.width)


def test_a_scaled_face_is_drawn_at_its_scale() -> None:
    [run] = shaper().runs(Piece("⚠"), 0.0, Ink.TEXT)
    assert (run.family, run.size) == ("Noto Sans Symbols2", 8.5)


def test_snapped_advances_are_whole_pixels_and_odd_glyphs_stand_alone() -> None:
    made = shaper("Spleen 5x8", 8.0, snap=True)
    runs = list(made.runs(Piece("ab жz c"), 0.0, Ink.TEXT))
    assert [run.text for run in runs] == ["ab ", "ж", "z c"]
    assert all(run.x == int(run.x) for run in runs)
    runs = list(made.runs(Piece("жзи"), 0.0, Ink.TEXT))
    assert [run.text for run in runs] == ["ж", "з", "и"]


@given(st.text(max_size=40), st.booleans())
def test_runs_cover_any_text_without_a_gap(text: str, snap: bool) -> None:
    made = shaper("Spleen 5x8", 8.0, True) if snap else shaper()
    cleaned, _ = clean(text)
    for word in made.words(cleaned):
        shown = "".join(piece.text for piece in word.pieces)
        runs = [run for piece in word.pieces for run in made.runs(piece, 0.0, Ink.TEXT)]
        assert "".join(run.text for run in runs) == shown
        assert sum(run.width for run in runs) == pytest.approx(word.width)
        for run in runs:
            face = FACES.by_family(run.family, run.weight)
            codes = {ord(char) for char in run.text if char not in JOINERS}
            assert face is not None and codes <= face.codepoints


def test_widths_are_added_from_left_to_right() -> None:
    """Python 3.12 made sum() compensate; a picture must not depend on that."""
    from muralkit.glyphs.shape import add_up

    steps = [0.1] * 10
    assert add_up(steps) == 0.9999999999999999  # what plain IEEE additions give


def test_two_hyphens_are_parted_wherever_they_meet() -> None:
    made = shaper()
    one, gap = made.measure("-"), made.hyphen_gap
    assert gap == pytest.approx(0.8)  # 0.08 em at 10 px
    plain = [made.measure(char) for char in "a--b"]
    assert made.steps("a--b") == [plain[0], plain[1] + gap, plain[2], plain[3]]
    assert made.measure("---") == pytest.approx(3 * one + 2 * gap)
    assert made.measure("- -") == pytest.approx(2 * one + made.space)
    assert made.words("--x")[0].width == made.measure("--x")
    [run] = made.runs(Piece("--x"), 0.0, Ink.TEXT)
    assert run.width == made.measure("--x")
    # In the pixel face they are apart by themselves, and no advance is a fraction.
    assert shaper("Spleen 5x8", 8.0, snap=True).hyphen_gap == 0
