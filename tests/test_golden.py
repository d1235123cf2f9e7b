"""Golden images: the repository's own, and how a difference is found and shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from muralkit import golden
from muralkit.errors import GoldenError
from tests.conftest import ROOT
from tests.test_cli import run

CASES = golden.cases(ROOT / "golden")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_golden_case(case: Path, tmp_path: Path) -> None:
    [outcome] = golden.check([case], tmp_path)
    assert not outcome.problem


def test_the_cases_cover_what_a_mural_can_be() -> None:
    names = {case.stem for case in CASES}
    assert names >= {
        "flow",
        "lines",
        "wrapping",
        "prohibitions",
        "overflow",
        "escapes",
        "empty",
        "fit",
    }
    assert {golden.read(case).theme.name for case in CASES} >= {
        "standard",
        "dense",
        "large",
        "pixel",
        "dark",
    }


def test_golden_files_are_small() -> None:
    for path in (ROOT / "golden").glob("*.png"):
        assert path.stat().st_size < 70_000, path.name


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "golden"
    path.mkdir()
    cues = [{"id": 1, "category": "NAMING", "importance": 50, "cue": "one cue"}]
    (path / "case.json").write_text(json.dumps({"theme": "dense", "cues": cues}))
    list(golden.update(golden.cases(path)))
    return path


def check(folder: Path) -> golden.Outcome:
    [outcome] = golden.check(golden.cases(folder), folder.parent / "failures")
    return outcome


def test_an_unchanged_case_passes_and_leaves_nothing(folder: Path) -> None:
    assert check(folder) == golden.Outcome("case")
    assert not (folder.parent / "failures").exists()


def test_another_size_is_reported_first(folder: Path) -> None:
    Image.new("RGB", (280, 28), "white").save(folder / "case.png")
    outcome = check(folder)
    assert outcome.problem == "the size is 1092 x 28 px, expected 280 x 28 px"
    assert outcome.picture is not None
    with Image.open(outcome.picture) as picture:
        assert picture.size == (3 * 1092 + 16, 28)


def test_differing_pixels_are_counted_and_shown_side_by_side(folder: Path) -> None:
    with Image.open(folder / "case.png") as image:
        changed = image.convert("RGB")
    changed.putpixel((500, 20), (1, 2, 3))
    changed.putpixel((501, 21), (1, 2, 3))
    changed.save(folder / "case.png")
    outcome = check(folder)
    assert (outcome.problem, outcome.pixels) == ("2 pixels differ", 2)
    assert outcome.picture == folder.parent / "failures" / "case.png"
    with Image.open(outcome.picture) as picture:
        page = 1092 + 8
        assert picture.getpixel((500, 20)) == (1, 2, 3)  # expected
        assert picture.getpixel((page + 500, 20)) == (255, 0, 0)  # the difference
        assert picture.getpixel((page + 499, 20)) != (255, 0, 0)
        assert picture.getpixel((2 * page + 500, 20)) == (255, 255, 255)  # actual


def test_another_svg_with_the_same_pixels_is_a_failure(folder: Path) -> None:
    svg = folder / "case.svg"
    svg.write_text(svg.read_text().replace("one cue", "one  cue"))
    outcome = check(folder)
    assert outcome.problem.startswith("the same pixels from another SVG; line ")
    assert (folder.parent / "failures" / "case.svg").is_file()


def test_another_encoding_of_the_same_pixels_is_a_failure(folder: Path) -> None:
    with Image.open(folder / "case.png") as image:
        image.convert("RGB").save(folder / "case.png")
    assert check(folder).problem == "the same pixels in another file: the encoder changed"


def huge() -> bytes:
    """The head of a PNG of 60,000 x 60,000 pixels."""
    import struct
    import zlib

    body = b"IHDR" + struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body))


@pytest.mark.parametrize(
    "content", [b"", b"no picture", b"\x89PNG\r\n\x1a\n cut", huge(), b"%!PS-Adobe-3.0 EPSF-3.0\n"]
)
def test_an_unreadable_golden_is_a_failure(folder: Path, content: bytes) -> None:
    (folder / "case.png").write_bytes(content)
    assert check(folder).problem.startswith("case.png can't be read")


def test_a_case_without_its_files_is_a_failure(folder: Path) -> None:
    (folder / "case.png").unlink()
    assert check(folder).problem.startswith("case.png is not there; look at the picture")
    (folder / "case.svg").unlink()
    assert "no expected files yet" in check(folder).problem


def test_a_case_that_does_not_render_is_a_failure(folder: Path) -> None:
    case = json.loads((folder / "case.json").read_text())
    (folder / "wide.toml").write_text("[text]\nsize = 190.0\npitch = 190\n")
    (folder / "case.json").write_text(json.dumps({**case, "theme": "wide.toml"}))
    assert "too narrow" in check(folder).problem


def test_only_update_overwrites(folder: Path) -> None:
    (folder / "case.png").write_bytes(b"old")
    check(folder)
    assert (folder / "case.png").read_bytes() == b"old"
    [outcome] = golden.update(golden.cases(folder))
    assert (outcome.problem, outcome.written) == ("", ("case.png",))
    assert check(folder).problem == ""
    [outcome] = golden.update(golden.cases(folder))
    assert (outcome.problem, outcome.written) == ("", ())


@pytest.mark.parametrize(
    "content",
    [
        "",
        "3",
        '{"theme": "dense", "cues": {}}',
        "{}",
        '{"theme": "dense"}',
        '{"theme": "dense", "cues": 3}',
        "\xff",
        '{"theme": "dense", "cues": "none.json"}',
    ],
)
def test_a_malformed_case_is_an_error(folder: Path, content: str) -> None:
    (folder / "bad.json").write_text(content, "latin-1")
    outcomes = golden.check(golden.cases(folder), folder.parent / "failures")
    assert ["can't be read" in outcome.problem for outcome in outcomes] == [True, False]
    with pytest.raises(GoldenError, match="can't be read"):
        golden.read(folder / "bad.json")


def test_cues_may_lie_in_a_file_beside_the_case(folder: Path) -> None:
    case = json.loads((folder / "case.json").read_text())
    (folder / "cues.json").write_text(json.dumps(case["cues"]))
    (folder / "case.json").write_text(json.dumps({**case, "cues": "cues.json"}))
    assert check(folder).problem == ""


def test_an_unknown_case_has_a_nearest_one(folder: Path) -> None:
    with pytest.raises(GoldenError, match="no case 'cas'") as caught:
        golden.cases(folder, ["cas"])
    assert "Did you mean 'case'?" in caught.value.hint


def test_a_folder_without_cases_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(GoldenError, match="no golden cases here"):
        golden.cases(tmp_path)


def test_a_palette_that_changed_is_told_from_an_encoder(tmp_path: Path) -> None:
    case = {
        "theme": "theme.toml",
        "cues": [{"id": 1, "category": "NAMING", "importance": 50, "cue": "no prohibition"}],
    }
    (tmp_path / "case.json").write_text(json.dumps(case))
    (tmp_path / "theme.toml").write_text('inherits = "dense"\n')
    list(golden.update(golden.cases(tmp_path)))
    (tmp_path / "theme.toml").write_text('inherits = "dense"\n[inks]\nprohibition = "#7a1fa2"\n')
    assert check(tmp_path).problem == (
        "the same pixels, but the palette changed, by an ink that is not in this picture"
    )


def test_an_update_goes_on_after_a_case_that_cannot_be_drawn(tmp_path: Path) -> None:
    for name, theme in (("a", "dense"), ("b", "nope"), ("c", "dense")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"theme": theme, "cues": []}))
    done = run("golden", "update", "--dir", tmp_path)
    assert done.returncode == 1
    assert done.stdout.decode().splitlines()[:2] == [
        "a: wrote a.svg and a.png",
        "b: failed: it can't be rendered: There is no theme 'nope'.",
    ]
    assert (tmp_path / "c.png").exists() and not (tmp_path / "b.png").exists()
