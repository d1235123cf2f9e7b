"""Shaping: the glyphs that HarfBuzz's own command line finds in the same files (hb-shape 6.0)."""

from __future__ import annotations

from pathlib import Path

import pytest

from muralkit.errors import FontError
from muralkit.glyphs.faces import FaceFile, FaceSet, bundled, load
from muralkit.glyphs.harfbuzz import Glyph

FACES = FaceSet(bundled())


def shaped(face: str, text: str, rtl: bool = False) -> list[tuple[int, int, int, int, int]]:
    """Number, cluster, x and y offset and advance of each glyph, in font units."""
    found = FACES.face(face)
    em = found._em
    return [
        (g.number, g.cluster, round(g.x * em), round(g.y * em), round(g.advance * em))
        for g in found.shape(text, rtl).glyphs
    ]


@pytest.mark.parametrize(
    ("face", "text", "rtl", "expected"),
    [
        ("Noto Sans Arabic", "لا", True, [(654, 0, 0, 0, 582)]),  # the ligature lam-alef
        ("Noto Sans Arabic", "بب", True, [(91, 1, 0, 0, 1093), (92, 0, 0, 0, 269)]),
        ("Noto Sans Arabic", "بِ", True, [(566, 0, 344, -211, 0), (90, 0, 0, 0, 993)]),
        ("Noto Sans Devanagari", "क्षि", False, [(607, 0, 0, 0, 259), (176, 0, 0, 0, 712)]),
        (
            "Noto Sans Hebrew",
            "שָׁ",
            True,
            [(74, 0, 227, 0, 0), (94, 0, 539, 0, 0), (90, 0, 0, 0, 730)],
        ),
        (
            "Noto Sans Thai",
            "น้ำ",
            False,
            [(64, 0, 0, 0, 613), (52, 0, 0, 0, 0), (43, 0, -29, 0, 0), (79, 0, 0, 0, 406)],
        ),
        ("Noto Emoji", "👩‍💻", False, [(1450, 0, 0, 0, 2600)]),
        ("Noto Emoji", "🇹🇷", False, [(1834, 0, 0, 0, 2600)]),
        (
            "Noto Emoji",
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
            False,
            [(1672, 0, 0, 0, 2600)],
        ),
        ("Roboto Condensed", "fi", False, [(75, 0, 0, 0, 648), (78, 1, 0, 0, 470)]),
    ],
    ids=[
        "lam-alef",
        "joined",
        "vowel",
        "conjunct",
        "points",
        "tone",
        "sequence",
        "flag",
        "region",
        "apart",
    ],
)
def test_the_glyphs_of_each_script(
    face: str, text: str, rtl: bool, expected: list[tuple[int, int, int, int, int]]
) -> None:
    assert shaped(face, text, rtl) == expected


def test_brackets_are_mirrored_from_right_to_left() -> None:
    """UAX 9, L4: the opening bracket is drawn as the closing one."""
    [opening], [mirrored] = shaped("Roboto Condensed", "("), shaped("Roboto Condensed", "(", True)
    [closing] = shaped("Roboto Condensed", ")")
    assert opening[0] != closing[0] == mirrored[0]


def test_two_hyphens_are_parted_from_right_to_left_too() -> None:
    one = shaped("Roboto Condensed", "-", True)[0][4]
    gap = round(0.08 * 2048)
    assert [glyph[4] for glyph in shaped("Roboto Condensed", "--", True)] == [one + gap, one]


def test_a_mark_by_itself_takes_room_to_the_right_of_what_stands_before() -> None:
    found = FACES.face("Noto Sans").shape("\u0301", False)
    assert sum(glyph.advance for glyph in found.glyphs) > 0.1
    assert all(glyph.x > 0 for glyph in found.glyphs)


def test_a_stack_of_marks_is_as_high_as_it_is_drawn() -> None:
    face = FACES.face("Noto Sans")
    one, three = face.shape("x\u0302", False), face.shape("x\u0302\u0302\u0302", False)
    assert face.shape("x", False).top < one.top < three.top


def test_shaping_does_not_depend_on_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    import locale

    before = shaped("Noto Sans", "fi\u0301")
    old = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, "tr_TR.UTF-8")
        FACES.face("Noto Sans")._shaped.clear()
        assert shaped("Noto Sans", "fi\u0301") == before
    finally:
        locale.setlocale(locale.LC_ALL, old)


def test_every_shaped_script_stays_near_its_line() -> None:
    """No glyph of ours is so wide or so tall that a column or a line could not hold it."""
    for file in bundled():
        face = load(file)
        for name, (advance, _) in face._advances.items():
            assert advance <= 3.1 * face._em, (file.name, name)


@pytest.mark.parametrize("keep", [0.05, 0.3, 0.6, 0.95])
def test_a_truncated_font_is_an_error_or_shapes(tmp_path: Path, keep: float) -> None:
    data = FACES.file("Noto Sans Arabic").path.read_bytes()
    path = tmp_path / "cut.ttf"
    path.write_bytes(data[: int(len(data) * keep)])
    try:
        face = load(FaceFile("Cut", "Cut", 400, path, "", 1.0, fallback=True))
        for glyph in face.shape("قبل الدفع", True).glyphs:
            face.glyph_outline(glyph.number)
    except FontError as error:
        assert error.where == str(path)


def test_fuzzed_tables_are_used_or_refused(tmp_path: Path) -> None:
    """Bytes of the shaping tables changed at random: glyphs or an error of ours."""
    import random

    from fontTools.ttLib import TTFont

    source = FACES.file("Noto Sans Devanagari").path
    data, rng = source.read_bytes(), random.Random(7)
    tables = TTFont(source).reader.tables
    for number in range(60):
        damaged = bytearray(data)
        table = tables[rng.choice(["GSUB", "GPOS", "GDEF", "hmtx", "glyf", "cmap"])]
        for _ in range(rng.choice([1, 5, 50])):
            damaged[table.offset + rng.randrange(table.length)] = rng.randrange(256)
        path = tmp_path / f"{number}.ttf"
        path.write_bytes(damaged)
        try:
            face = load(FaceFile("F", "F", 400, path, "", 1.0, fallback=True))
            for glyph in face.shape("क्षत्रिय", False).glyphs:
                face.glyph_outline(glyph.number)
        except FontError as error:
            assert error.where == str(path)


def test_a_glyph_names_the_first_of_its_characters() -> None:
    glyphs = FACES.face("Noto Sans Arabic").shape("لاب", True).glyphs
    assert [glyph.cluster for glyph in glyphs] == [2, 0]
    assert isinstance(glyphs[0], Glyph)
