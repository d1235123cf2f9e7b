"""Plates: every colour of a ramp is read back as the nearest level of its ink."""

from __future__ import annotations

from dataclasses import replace

import pytest

from muralkit import theme as themes
from muralkit import themefile
from muralkit.manifest import RasterSection
from muralkit.plates import Plates


def pixel(red: int, green: int, blue: int) -> bytes:
    return bytes((blue, green, red, 255))


@pytest.mark.parametrize("name", themefile.names())
@pytest.mark.parametrize("levels", [2, 3, 4, 5, 6])
def test_each_level_of_each_ink_is_in_the_palette(name: str, levels: int) -> None:
    manifest = replace(themes.load(name).manifest, raster=RasterSection(levels))
    plates = Plates(manifest)
    inks = manifest.inks
    for ground, ink in (
        (inks.page, inks.text),
        (inks.page, inks.prohibition),
        (inks.page, inks.mark),
        (inks.banner_ground, inks.banner),
    ):
        low, high = bytes.fromhex(ground[1:]), bytes.fromhex(ink[1:])
        for step in range(levels):
            part = step / (levels - 1)
            mixed = tuple(round(a + (b - a) * part) for a, b in zip(low, high, strict=True))
            assert mixed in plates.palette
    assert len(plates.palette) <= 4 * levels and plates.palette[0] == tuple(
        bytes.fromhex(inks.page[1:])
    )


def test_coverage_is_rounded_to_the_nearest_level() -> None:
    plates = Plates(themes.load("standard").manifest)  # levels 0, 85, 170, 255
    greys = [(255,) * 3, (170,) * 3, (85,) * 3, (0,) * 3]
    for coverage in range(256):
        [index] = plates.indices(pixel(coverage, 0, 0))
        assert plates.palette[index] == greys[round(coverage * 3 / 255)], coverage


def test_all_pixels_at_once_are_as_each_alone() -> None:
    plates = Plates(themes.load("dark").manifest)
    pixels = [
        pixel(r, g, b) for r in range(0, 256, 51) for g in (0, 130, 255) for b in (0, 99, 255)
    ]
    together = plates.indices(b"".join(pixels))
    assert list(together) == [plates.indices(one)[0] for one in pixels]


def test_a_colour_that_is_no_ink_has_no_plate() -> None:
    with pytest.raises(KeyError):
        Plates(themes.load("standard").manifest).plate(0.5, 0.5, 0.5)


def test_two_extra_colours_have_plates() -> None:
    standard = themes.load("standard").manifest
    inks = replace(standard.inks, extra=("#00aa00", "#eeeeee"))
    plates = Plates(replace(standard, inks=inks))
    for colour in ((0, 0xAA, 0), (0xEE, 0xEE, 0xEE)):
        red, green, blue = (round(255 * v) for v in plates.plate(*(v / 255 for v in colour)))
        assert plates.palette[plates.indices(pixel(red, green, blue))[0]] == colour


@pytest.mark.parametrize("name", themefile.names())
def test_a_banner_fades_from_its_own_ground(name: str) -> None:
    """White on a bar is another ink than a white page: no step of it is a text's or red's."""
    from io import BytesIO

    from PIL import Image

    from muralkit import render
    from tests.conftest import cue

    manifest = themes.load(name).manifest
    with Image.open(BytesIO(render([cue(1, "x")], name).png)) as image:
        bar = image.convert("RGB").crop((2, 2, 200, 2 + manifest.banner.height))
        found = {pixel for _, pixel in bar.getcolors(9999) or []}
    ground, ink = (
        bytes.fromhex(c[1:]) for c in (manifest.inks.banner_ground, manifest.inks.banner)
    )
    top = manifest.raster.levels - 1
    ramp = {
        tuple(round(a + (b - a) * step / top) for a, b in zip(ground, ink, strict=True))
        for step in range(top + 1)
    }
    assert found <= ramp and len(found) > 1


def test_inks_of_one_colour_are_kept_apart_by_a_shade() -> None:
    inks = themes.load("standard").manifest.inks
    assert (inks.page, inks.banner) == ("#ffffff", "#fffffe")
    dark = themes.load("dark").manifest.inks
    assert len({dark.page, dark.text, dark.mark, dark.prohibition, dark.banner}) == 5
