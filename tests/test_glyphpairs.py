"""How unlike glyphs are, as they are drawn."""

from __future__ import annotations

import pytest

from muralkit import theme as themes
from muralkit.glyphpairs import HEXADECIMAL, PAIRS, distances
from tests.conftest import SquareTheme


def of(theme: str) -> dict[str, float]:
    return {item.pair: item.pixels for item in distances(themes.load(theme))}


def test_glyphs_that_are_drawn_alike_have_no_distance(squares: SquareTheme) -> None:
    assert {item.pixels for item in distances(squares())} == {0.0}


def test_a_pair_that_no_face_has_is_left_out() -> None:
    assert distances(themes.load("dense"), ["𓀀𓀁", "0O"])[0].pair == "0O"
    assert len(distances(themes.load("dense"), ["𓀀𓀁", "0O"])) == 1


def test_a_pixel_face_is_measured_in_whole_pixels() -> None:
    """The same numbers as were counted on Spleen's own bitmaps."""
    found = of("pixel")
    assert {pair for pair, pixels in found.items() if pixels == 1} == {"HK", ",;", ".:"}
    assert {"0O", "38", "5S", "68", "OQ", "hn"} <= {p for p, pixels in found.items() if pixels == 2}


def test_the_distance_of_digits_orders_the_themes_as_their_readers_did() -> None:
    least = [
        min(pixels for pair, pixels in of(name).items() if HEXADECIMAL.issuperset(pair))
        for name in ("pixel", "dense", "standard", "large")
    ]
    assert least == sorted(least) and least[0] < 2.5 <= least[1] < 4 <= least[2] < 6 <= least[3]


def test_the_smallest_comes_first_and_shares_are_shares() -> None:
    found = distances(themes.load("standard"))
    assert [item.pixels for item in found] == sorted(item.pixels for item in found)
    assert all(0 <= item.share <= 1 for item in found)
    assert {item.pair for item in found} == set(PAIRS)


@pytest.mark.parametrize("levels", [2, 6])
def test_the_levels_of_the_theme_are_what_is_compared(levels: int) -> None:
    from dataclasses import replace

    theme = themes.load("dense")
    raster = replace(theme.manifest.raster, levels=levels)
    found = distances(replace(theme, manifest=replace(theme.manifest, raster=raster)), ["0O"])
    assert round(found[0].pixels * (levels - 1), 1) % 1 in (0.0, 0.1, 0.9)
