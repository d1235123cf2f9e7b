"""The derived font files come from their sources by the script in the repository."""

from __future__ import annotations

import importlib.util
import zlib
from pathlib import Path
from types import ModuleType

import pytest
from fontTools.pens.areaPen import AreaPen
from fontTools.ttLib import TTFont

from tests.conftest import ROOT

FONTS = ROOT / "fonts"


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fonts_build", FONTS / "build.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bitmaps(build: ModuleType) -> dict[str, list[str]]:
    found: dict[str, list[str]] = build.read_psf2((FONTS / "spleen/spleen-5x8.psfu").read_bytes())
    found.update(build.read_signs((FONTS / "spleen/signs.txt").read_text("utf-8")))
    return found


def test_spleen_is_rebuilt_with_the_same_outlines(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spleen").symlink_to(FONTS / "spleen")
    monkeypatch.setattr(build, "HERE", tmp_path)
    build.build_spleen()
    made, kept = TTFont(tmp_path / "Spleen5x8.ttf"), TTFont(FONTS / "Spleen5x8.ttf")
    assert made["glyf"].compile(made) == kept["glyf"].compile(kept)
    assert made.getBestCmap() == kept.getBestCmap()
    assert made["hmtx"].metrics == kept["hmtx"].metrics


def test_each_glyph_has_as_many_square_pixels_as_its_bitmap(build: ModuleType) -> None:
    font = TTFont(FONTS / "Spleen5x8.ttf")
    glyphs, cmap = font.getGlyphSet(), font.getBestCmap()
    sources = bitmaps(build)
    assert {chr(code) for code in cmap} == set(sources)
    for sign, rows in sources.items():
        pen = AreaPen(glyphs)
        glyphs[cmap[ord(sign)]].draw(pen)
        assert abs(pen.value) == sum(row.count("#") for row in rows) * build.PIXEL**2, sign


def test_the_bitmap_of_a_known_letter() -> None:
    """Spleen's A, as its author draws it: five columns, eight rows."""
    build = importlib.util.spec_from_file_location("b", FONTS / "build.py")
    assert build and build.loader
    module = importlib.util.module_from_spec(build)
    build.loader.exec_module(module)
    letter = module.read_psf2((FONTS / "spleen/spleen-5x8.psfu").read_bytes())["A"]
    assert letter == [".....", ".##..", "#..#.", "#..#.", "####.", "#..#.", "#..#.", "....."]


def test_no_two_characters_share_a_picture(build: ModuleType) -> None:
    seen: dict[tuple[str, ...], str] = {}
    for sign, rows in bitmaps(build).items():
        picture = tuple(row.rstrip(".") for row in rows)
        assert picture not in seen, (sign, seen.get(picture))
        seen[picture] = sign


def test_the_subsets_are_cut_from_their_source_as_listed(build: ModuleType) -> None:
    for name, ranges in build.SUBSETS.items():
        font = TTFont(FONTS / name.replace("-Regular", "-subset"))
        allowed = {code for low, high in ranges for code in range(low, high + 1)}
        assert set(font.getBestCmap()) <= allowed and len(font.getBestCmap()) > 100
        assert "GSUB" not in font and "MATH" not in font


def test_the_fonts_leave_room_in_a_wheel_of_15_mib() -> None:
    packed = sum(
        len(zlib.compress(path.read_bytes(), 6)) for path in FONTS.rglob("*") if path.is_file()
    )
    assert packed < 13 * 2**20


def test_the_scripts_keep_their_tables_and_no_other_letters(build: ModuleType) -> None:
    for name, ranges in build.SCRIPTS.items():
        font = TTFont(FONTS / name.replace("-Regular", "-subset"))
        allowed = {code for low, high in ranges for code in range(low, high + 1)}
        assert set(font.getBestCmap()) <= allowed | set(build.JOINERS)
        assert "fpgm" not in font and "prep" not in font  # no hinting
    for name in ("Arabic", "Devanagari", "Thai", "Hebrew"):
        assert {"GSUB", "GPOS", "GDEF"} <= set(TTFont(FONTS / f"NotoSans{name}-subset.ttf").keys())


def test_our_own_signs_are_rebuilt_byte_for_byte(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "HERE", tmp_path)
    build.build_signs()
    made, kept = TTFont(tmp_path / "MuralkitSigns.ttf"), TTFont(FONTS / "MuralkitSigns.ttf")
    assert made["glyf"].compile(made) == kept["glyf"].compile(kept)
    assert {chr(code) for code in kept.getBestCmap()} == {"≺", "≻", "∵"}
