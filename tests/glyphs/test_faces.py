"""Faces are pinned files; a wrong one is an error that says so."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tomllib
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from fontTools.ttLib import TTFont

from muralkit.errors import FontError
from muralkit.glyphs.faces import FaceFile, FaceSet, bundled, load
from muralkit.glyphs.shape import Shaper
from tests.conftest import ROOT

GRAMMAR = "→←⊘∵≺≻∅∀≤≥×÷≠•"
COMMON = "↔⇒⇐⇔↑↓∃∈∉∑∏√∞≈≡±∧∨¬∩∪⊂⊆∂∇∫…“”‘’–—·✓✗↵▪■▸◆⚠°µ§¶€£¥′″─│┌┐└┘├┤┬┴┼═║█▓▒░ℝℕℤ"


def face_file(path: Path, **changes: object) -> FaceFile:
    plain = FaceFile("Mine", "Mine", 400, path, "", 1.0, fallback=True)
    return replace(plain, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("file", bundled(), ids=lambda file: file.name)
def test_every_bundled_face_is_the_pinned_one(file: FaceFile) -> None:
    assert hashlib.sha256(file.path.read_bytes()).hexdigest() == file.sha256
    assert load(file).ascent > 0


def test_every_font_file_is_listed_with_a_free_licence_and_an_origin() -> None:
    entries = tomllib.loads((ROOT / "fonts/fonts.toml").read_text())["face"]
    assert {entry["file"] for entry in entries} == {p.name for p in (ROOT / "fonts").glob("*.?tf")}
    for entry in entries:
        assert entry["licence"] in ("OFL-1.1", "Apache-2.0", "BSD-2-Clause")
        assert (ROOT / "fonts" / entry["licence_file"]).is_file()
        assert entry["version"] and entry["covers"]
        assert re.match("https://github.com/|Debian package|ours", entry["origin"])
        if entry["fallback"] and entry["name"] != "Roboto Condensed":
            assert entry["ranges"]


def test_a_face_is_asked_for_all_that_it_is_there_for() -> None:
    for file in bundled():
        if file.ranges:
            rest = {chr(code) for code in load(file).codepoints if not file.may_have(chr(code))}
            assert rest <= set("\u0020\u200c\u200d\u25cc#*0123456789"), file.name


SETS = {"gb2312": 7445, "big5": 13706, "euc_jp": 6879, "euc_kr": 8225}


@pytest.mark.parametrize("codec", SETS)
def test_the_chain_has_the_character_sets_of_east_asia(codec: str) -> None:
    """GB 2312, Big5, JIS X 0208 and KS X 1001."""
    faces = FaceSet(bundled())
    covered = frozenset[int]().union(
        *(faces.face(file.name).codepoints for file in faces.chain("Roboto Condensed", "ja"))
    )
    listed = set()
    for lead in range(0xA1, 0xFF):
        for trail in (*range(0x40, 0x7F), *range(0xA1, 0xFF)):
            with suppress(ValueError):
                listed |= set(bytes((lead, trail)).decode(codec))
    assert len(listed) == SETS[codec]
    assert [char for char in sorted(listed) if ord(char) not in covered] == []


def test_every_modern_hangul_syllable_has_a_glyph() -> None:
    assert set(range(0xAC00, 0xD7A4)) <= FaceSet(bundled()).face("Noto Sans KR").codepoints


SCRIPTS = {
    "Hebrew": (0x5D0, 0x5EA), "Arabic": (0x620, 0x64A), "Devanagari": (0x904, 0x939),
    "Bengali": (0x995, 0x9A8), "Tamil": (0xB85, 0xB8A), "Thai": (0xE01, 0xE3A),
    "Lao": (0xEAD, 0xEB0), "Khmer": (0x1780, 0x17A2), "Myanmar": (0x1000, 0x1021),
    "Georgian": (0x10D0, 0x10F0), "Armenian": (0x531, 0x556), "Ethiopic": (0x1200, 0x1207),
    "hiragana": (0x3041, 0x3096), "katakana": (0x30A1, 0x30FA), "full width": (0xFF01, 0xFF5E),
    "box drawing": (0x2500, 0x259F), "operators": (0x2200, 0x22FF), "arrows": (0x2190, 0x21FF),
    "Braille": (0x2800, 0x28FF), "bopomofo": (0x3105, 0x312F), "faces": (0x1F600, 0x1F64F),
}  # fmt: skip


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_chain_has_every_letter_of_a_script(script: str) -> None:
    shaper = Shaper(FaceSet(bundled()), "Roboto Condensed", 10.0)
    low, high = SCRIPTS[script]
    assert [
        hex(c) for c in range(low, high + 1) if shaper.chain.cluster(chr(c), "ja") is None
    ] == []


@pytest.mark.parametrize("theme_face", ["Roboto Condensed", "Spleen 5x8"])
def test_the_chain_has_every_sign_of_the_grammar_and_common_mathematics(theme_face: str) -> None:
    faces = FaceSet(bundled())
    covered = frozenset[int]().union(
        *(faces.face(file.name).codepoints for file in faces.chain(theme_face))
    )
    assert not [char for char in GRAMMAR + COMMON if ord(char) not in covered]


@pytest.mark.parametrize("script", [(0x21, 0x7F), (0xA1, 0x180), (0x391, 0x3CA), (0x400, 0x460)])
def test_text_faces_have_latin_greek_and_cyrillic(script: tuple[int, int]) -> None:
    covered = FaceSet(bundled()).face("Roboto Condensed").codepoints
    unassigned = {0x3A2, 0xAD}  # an empty place in Greek; the soft hyphen
    assert set(range(*script)) - unassigned <= covered


def test_advances_and_ascents_are_the_files_own() -> None:
    file = FaceSet(bundled()).file("Roboto Condensed")
    font = TTFont(file.path)
    face = load(file)
    assert face.ascent == font["hhea"].ascent / 2048 == 1900 / 2048
    assert face.descent == 500 / 2048
    for char in "aW0→":
        if ord(char) in font.getBestCmap():
            units = font["hmtx"][font.getBestCmap()[ord(char)]][0]
            assert face.advance(ord(char)) == units / 2048


def test_signs_make_no_line_of_the_text_face_taller() -> None:
    faces = FaceSet(bundled())
    text = faces.face("Roboto Condensed")
    names = {"Muralkit Signs", "Noto Sans Math", "Noto Sans Symbols2", "Noto Sans Mono"}
    for file in map(faces.file, names):
        face = faces.face(file.name)
        assert face.ascent * file.scale <= text.ascent + 1e-9, file.name
        assert face.descent * file.scale <= text.descent + 1e-9, file.name


def test_a_missing_character_has_no_advance() -> None:
    with pytest.raises(KeyError):
        FaceSet(bundled()).face("Roboto Condensed").advance(0x13000)


def test_an_unknown_face_names_the_known_ones() -> None:
    with pytest.raises(FontError, match="No face is called 'Comic'") as caught:
        FaceSet(bundled()).face("Comic")
    assert "Roboto Condensed" in caught.value.hint


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    file = bundled()[0]
    copy = tmp_path / "font.ttf"
    copy.write_bytes(file.path.read_bytes() + b"\0")
    with pytest.raises(FontError, match="not the one that") as caught:
        load(replace(file, path=copy))
    assert caught.value.where == str(copy)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FontError, match="can't be read: No such file"):
        load(face_file(tmp_path / "gone.ttf"))


@pytest.mark.parametrize("data", [b"", b"no font", b"\0\1\0\0" * 40, b"OTTO" + b"\xff" * 200])
def test_what_is_not_a_font_is_an_error(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "bad.ttf"
    path.write_bytes(data)
    with pytest.raises(FontError, match="is not a font that can be used"):
        load(face_file(path))


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9, 0.99])
def test_a_truncated_font_is_an_error_at_the_latest_when_it_draws(
    tmp_path: Path, square_font: Path, keep: float
) -> None:
    data = square_font.read_bytes()
    path = tmp_path / "cut.ttf"
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(FontError):
        face = load(face_file(path))
        for codepoint in face.codepoints:
            face.outline(codepoint)
            face.advance(codepoint)
        raise FontError("the cut was in no table that is used")


def test_a_replaced_file_is_read_anew(tmp_path: Path, square_font: Path) -> None:
    path = tmp_path / "font.ttf"
    shutil.copy(square_font, path)
    assert load(face_file(path)).advance(ord("a")) == 0.5
    from tests.conftest import build_square_font

    build_square_font(path, "ab", advance=700)
    assert load(face_file(path)).advance(ord("a")) == 0.7


def test_outlines_are_in_em_and_upright(tmp_path: Path, square_font: Path) -> None:
    outline = load(face_file(square_font)).outline(ord("a"))
    assert outline == (
        ("M", (0.0, 0.0)),
        ("L", (0.0, 0.4)),
        ("L", (0.4, 0.4)),
        ("L", (0.4, 0.0)),
        ("Z", ()),
    )


def test_a_broken_list_of_faces_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "fonts.toml"
    path.write_text('[[face]]\nname = "x"\n')
    with pytest.raises(FontError, match="list of faces can't be read"):
        bundled(path)


def test_fuzzed_fonts_are_used_or_refused(tmp_path: Path) -> None:
    """Bytes of a real font changed at random: glyphs, or an error of ours, and nothing else."""
    import random

    rng = random.Random(5)
    data = bundled()[0].path.read_bytes()
    outcomes = set()
    for number in range(150):
        damaged = bytearray(data)
        for _ in range(rng.choice([1, 3, 30, 300])):
            at = rng.choice([rng.randrange(400), rng.randrange(len(data))])
            damaged[at] = rng.randrange(256)
        path = tmp_path / f"{number}.ttf"
        path.write_bytes(damaged)
        try:
            face = load(face_file(path))
            for codepoint in rng.sample(sorted(face.codepoints), min(40, len(face.codepoints))):
                face.advance(codepoint)
                face.outline(codepoint)
            outcomes.add("used")
        except FontError:
            outcomes.add("refused")
    assert outcomes == {"used", "refused"}


def build_bomb(path: Path, depth: int, inner: bool) -> None:
    """A font whose "a" is made of two glyphs, each made of two, and so on."""
    from unittest.mock import patch

    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen
    from fontTools.ttLib.tables._g_l_y_f import Glyph
    from fontTools.ttLib.tables._m_a_x_p import table__m_a_x_p

    names = [".notdef", *(f"b{level}" for level in range(depth)), "a"]
    leaf = TTGlyphPen(None)
    if inner:
        leaf.moveTo((0, 0))
        leaf.lineTo((0, 9))
        leaf.lineTo((9, 9))
        leaf.closePath()
    glyphs: dict[str, Glyph] = {".notdef": TTGlyphPen(None).glyph(), "b0": leaf.glyph()}
    for before, name in pairwise(names[1:]):
        pen = TTGlyphPen(glyphs)
        pen.addComponent(before, (1, 0, 0, 1, 0, 0))
        pen.addComponent(before, (1, 0, 0, 1, 5, 0))
        glyphs[name] = pen.glyph()
    for glyph in glyphs.values():
        glyph.xMin = glyph.yMin = glyph.xMax = glyph.yMax = 0
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(names)
    builder.setupCharacterMap({ord("a"): "a"})
    with patch.object(Glyph, "recalcBounds"), patch.object(table__m_a_x_p, "recalc"):
        builder.setupGlyf(glyphs, calcGlyphBounds=False)
        builder.setupHorizontalMetrics(dict.fromkeys(names, (500, 0)))
        builder.setupHorizontalHeader(ascent=800, descent=-200)
        builder.setupNameTable({"familyName": "B", "styleName": "R"})
        builder.setupOS2()
        builder.setupPost()
        for key in (
            "maxZones", "maxTwilightPoints", "maxStorage", "maxFunctionDefs", "maxPoints",
            "maxInstructionDefs", "maxStackElements", "maxSizeOfInstructions", "maxContours",
            "maxComponentElements", "maxComponentDepth", "maxCompositePoints",
            "maxCompositeContours",
        ):  # fmt: skip
            setattr(builder.font["maxp"], key, 1)
        builder.font.recalcBBoxes = False
        builder.save(path)


@pytest.mark.parametrize("inner", [True, False])
def test_a_glyph_made_of_billions_of_glyphs_is_refused(tmp_path: Path, inner: bool) -> None:
    build_bomb(tmp_path / "bomb.ttf", 40, inner)
    with pytest.raises(FontError, match="more than 200 components"):
        load(face_file(tmp_path / "bomb.ttf")).outline(ord("a"))
    build_bomb(tmp_path / "fine.ttf", 5, inner)
    steps = load(face_file(tmp_path / "fine.ttf")).outline(ord("a"))
    assert len(steps) == (32 * 4 if inner else 0)  # M L L Z, doubled five times


@pytest.mark.parametrize("kind", ["pipe", "device", "folder"])
def test_what_is_no_file_is_an_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.ttf"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(FontError, match="can't be read: it is"):
        load(face_file(path))


def test_a_face_that_reaches_far_is_refused(tmp_path: Path) -> None:
    from fontTools.ttLib import TTFont

    from tests.conftest import build_square_font

    path = tmp_path / "x.ttf"
    for ascent, descent in ((4100, 200), (800, 4100)):
        build_square_font(path, "a", ascent=ascent, descent=descent)
        with pytest.raises(FontError, match="ascent or descent is over 4 em"):
            load(face_file(path))
    build_square_font(path, "a")
    font = TTFont(path)
    font["head"].unitsPerEm = 90  # the square of 400 units is now 4.4 em wide
    font["hhea"].ascent, font["hhea"].descent = 80, -20
    font.save(path)
    with pytest.raises(FontError, match="a glyph reaches over 4 em"):
        load(face_file(path)).outline(ord("a"))


@pytest.mark.parametrize("flavor", [b"wOFF", b"wOF2", b"ttcf", b"%!PS"])
def test_compressed_fonts_are_refused(tmp_path: Path, flavor: bytes) -> None:
    path = tmp_path / "x.ttf"
    path.write_bytes(flavor + bytes(99))
    with pytest.raises(FontError, match="neither TrueType nor OpenType"):
        load(face_file(path))
