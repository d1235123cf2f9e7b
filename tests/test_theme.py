"""Themes are checked before anything is drawn, and say what is wrong with them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from muralkit import checking, manifest, render_svg, themefile
from muralkit import theme as themes
from muralkit.errors import TemplateError, ThemeError
from muralkit.model import Ink
from tests.conftest import SquareTheme, build_square_font, cues_of


def write(tmp_path: Path, manifest: str, name: str = "mine.toml") -> Path:
    path = tmp_path / name
    path.write_text(manifest, encoding="utf-8")
    return path


def fault(path: Path) -> ThemeError:
    with pytest.raises(ThemeError) as caught:
        themes.load(path)
    return caught.value


def test_the_bundled_themes() -> None:
    assert themefile.names() == ("standard", "dark", "dense", "large", "pixel")
    for name in themefile.names():
        theme = themes.load(name)
        assert theme.manifest.description.endswith(".")


@pytest.mark.parametrize("name", themefile.names())
def test_a_bundled_theme_is_right(name: str) -> None:
    """They are drawn without the checks, which cost an import of pydantic."""
    file = themefile.find(name)
    assert file.bundled and not file.faces
    assert checking.manifest(file.data, str(file.path)) == manifest.build(file.data)


def test_a_bundled_theme_that_was_spoiled_is_an_error() -> None:
    for data in ({"text": {"sise": 3}}, {"text": {"size": "x"}}, {"canvas": {"width": 3}}):
        file = replace(themefile.find("standard"), data=data)
        with pytest.raises(ThemeError):
            themes.check(file)


@pytest.mark.parametrize(
    ("name", "size", "pitch", "tracking"),
    [("dense", 10.0, 11, 0.0), ("standard", 11.0, 12, 0.3), ("large", 15.0, 17, 0.3)],
)
def test_the_reader_profiles(name: str, size: float, pitch: int, tracking: float) -> None:
    """The starting points that were measured with blind readers."""
    text = themes.load(name).manifest.text
    assert (text.size, text.pitch, text.tracking) == (size, pitch, tracking)


def test_a_theme_is_found_by_name_file_and_folder(tmp_path: Path) -> None:
    folder = tmp_path / "ours"
    folder.mkdir()
    path = write(folder, 'inherits = "dense"\n', "theme.toml")
    assert themes.load("dense").name == "dense"
    assert (
        themes.load(path).name
        == themes.load(folder).name
        == themes.load(str(folder)).name
        == "ours"
    )
    assert themes.load(write(tmp_path, "")).name == "mine"


def test_an_unknown_name_has_a_nearest_one() -> None:
    with pytest.raises(ThemeError, match="There is no theme 'dens'") as caught:
        themes.load("dens")
    assert "Did you mean 'dense'?" in caught.value.hint


def test_what_a_manifest_says_wins_over_what_it_inherits(tmp_path: Path) -> None:
    write(tmp_path, 'inherits = "dense"\n[inks]\ntext = "#111111"\nmark = "#00ff00"\n', "base.toml")
    theme = themes.load(write(tmp_path, 'inherits = "base.toml"\n[inks]\nmark = "#0000FF"\n'))
    assert theme.manifest.text.size == 10.0
    assert (theme.colour(Ink.TEXT), theme.colour(Ink.MARK)) == ("#111111", "#0000ff")


def test_inheritance_in_a_circle_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, 'inherits = "b.toml"\n', "a.toml")
    path = write(tmp_path, 'inherits = "a.toml"\n', "b.toml")
    assert "leads back to b.toml" in fault(path).what


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        ("[text]\nsize = 0.0\n", "text.size: must be 3 or more"),
        ("[text]\nsize = -3\n", "text.size: must be 3 or more"),
        ("[text]\npitch = 5\n", "text.pitch must be at least its size"),
        ("[banner]\nsize = 20.0\n", "banner.height must be at least its size"),
        ("[banner]\nheight = 60\n", "banner.height must be at most 4 times its size"),
        ("[text]\npitch = 99\n", "text.pitch must be at most 4 times its size"),
        ("[banner]\nsize = 90.0\n", "banner.size must be at most 4 times text.size"),
        ("[text]\nsize = nan\n", "text.size"),
        ("[text]\nsize = inf\n", "text.size"),
        ('[text]\nsize = "ten"\n', "text.size: must be a number"),
        ("[text]\npitch = 0\n", "text.pitch: must be 1 or more"),
        ("[text]\nsise = 10\n", "Unknown key 'text.sise'; did you mean 'size'?"),
        ("[texts]\nsize = 10\n", "Unknown key 'texts'; did you mean 'text'?"),
        ("[canvas]\nzzz = 1\n", "Unknown key 'canvas.zzz'; known: columns, gutter"),
        ("inherit = 'dense'\n", "Unknown key 'inherit'; did you mean 'inherits'?"),
        ("[canvas]\nwidth = 1000\n", "must be whole tiles of 28 px, such as 1008"),
        ("[canvas]\nwidth = 0\n", "canvas.width must be whole tiles of 28 px, such as 28"),
        ("[canvas]\nwidth = 28000\n", "canvas.width must be at most 4480 px"),
        (f"[canvas]\nwidth = 1{'0' * 400}\n", "canvas.width must be at most 4480 px"),
        ("[canvas]\nwidth = -28\n", "canvas.width must be whole tiles of 28 px, such as 28"),
        ('template = "x.svg"\n', "template: must be NAME.j2, beside the manifest"),
        ('[inks]\nextra = ["#111111", "#222222", "#333333"]\n', "inks.extra takes at most 2"),
        ('[text]\nface = "Roboto Condensd"\n', "text.face: no face is called 'Roboto Condensd'"),
        ('[banner]\nface = "x"\n', "banner.face: no face is called 'x'"),
        ('inherits = "dens"\n', "inherits: There is no theme 'dens'"),
        ('[canvas]\nwidth = "auto"\n', "whole number or 'fit'"),
        ("[canvas]\nwidth = 2016\n", "width must be within max_side and max_tiles"),
        ("[canvas]\ncolumns = 0\n", "canvas.columns"),
        ('[inks]\ntext = "red"\n', "inks.text: a colour is written #rrggbb"),
        ('[inks]\ntext = "#ffffff"\n', "text must differ from page"),
        ('[inks]\nmark = "#000000"\n', "mark must differ from text and prohibition"),
        ("[raster]\nlevels = 1\n", "raster.levels"),
        ("[raster]\nlevels = 7\n", "raster.levels"),
        ("[repeat]\nheight = 40\n", "repeat.height must not be over banner.height"),
        ("[[face]]\nname = 'x'\n", "[[face]] file: must be given"),
        ("[[face]]\nname = 'x'\nfiel = 'x.ttf'\n", "[[face]]"),
        ("face = 3\n", "A face is written [[face]]"),
        ("inherits = 3\n", "inherits must be the name or path"),
        ("text = 3\n", "text: "),
        ("[text\n", "not valid TOML"),
    ],
)
def test_a_wrong_manifest_is_an_error_with_its_file_and_key(
    tmp_path: Path, manifest: str, expected: str
) -> None:
    path = write(tmp_path, manifest)
    error = fault(path)
    assert expected in error.what
    assert error.where == str(path)


def test_a_manifest_that_is_no_text_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xff\xfe\x00")
    assert "not valid TOML" in fault(path).what


def test_a_face_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    error = fault(write(tmp_path, '[[face]]\nname = "x"\nfile = "x.ttf"\n'))
    assert error.where == str(tmp_path / "x.ttf")
    assert "can't be read: No such file" in error.what


def test_everything_that_changes_the_picture_changes_the_fingerprint(
    tmp_path: Path, squares: SquareTheme
) -> None:
    folder = squares().path.parent
    seen = {squares().fingerprint}

    def changed() -> bool:
        known = len(seen)
        seen.add(themes.load(folder).fingerprint)
        return len(seen) > known

    assert not changed()
    manifest = folder / "theme.toml"
    manifest.write_text(manifest.read_text() + "\n# a comment\n")
    assert not changed()
    manifest.write_text(manifest.read_text().replace("indent = 10", "indent = 11"))
    assert changed()
    (folder / "extra.svg.j2").write_text("an include")
    assert changed()
    build_square_font(folder / "squares.ttf", "abc")
    assert changed()


def test_a_description_does_not_change_the_fingerprint(tmp_path: Path) -> None:
    first = themes.load(write(tmp_path, 'description = "one"\n')).fingerprint
    assert themes.load(write(tmp_path, 'description = "two"\n')).fingerprint == first


def test_what_is_confusable_is_no_part_of_the_picture(tmp_path: Path) -> None:
    """Not of its key, and not of what a template gets to draw."""
    cues = cues_of("7")
    first = themes.load(write(tmp_path, ""))
    theme = themes.load(write(tmp_path, '[recall]\nconfusable = ["HK", "rn=m"]\n'))
    assert theme.manifest.recall.confusable == ("HK", "rn=m")
    assert theme.fingerprint == first.fingerprint
    assert render_svg(cues, theme) == render_svg(cues, first)
    (tmp_path / "t.svg.j2").write_text("{{ theme.recall.confusable|length }}")
    with pytest.raises(TemplateError, match="confusable"):
        render_svg(cues, write(tmp_path, 'template = "t.svg.j2"\n' + "[recall]\n"))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('["H"]', "two or more glyphs"),
        ('["rn=rn"]', "a run is read as a shorter one"),
        ('["123456789012345678901"]', "too long"),
        ("[1]", "confusable"),
        ('"HK"', "confusable"),
    ],
)
def test_what_is_confusable_is_checked(tmp_path: Path, value: str, message: str) -> None:
    error = fault(write(tmp_path, f"[recall]\nconfusable = {value}\n"))
    assert error.what.startswith("recall.confusable") and message in error.what


@pytest.mark.parametrize("template", ["mine.svg", "sub/mine.svg.j2", "../mine.svg.j2", "/x.j2"])
def test_a_template_is_a_j2_file_beside_the_manifest(tmp_path: Path, template: str) -> None:
    """Others would not be in the fingerprint, and a changed one would replay an old picture."""
    assert "template" in fault(write(tmp_path, f'template = "{template}"\n')).what


def test_a_wrong_theme_is_an_error_though_a_right_one_was_cached(tmp_path: Path) -> None:
    from muralkit import ReplayCache, render

    with ReplayCache(tmp_path / "cache") as cache:
        render([], write(tmp_path, "", "right.toml"), cache=cache)
        for number, wrong in enumerate(("description = 3\n", "[[face]]\nname = 'x'\n")):
            with pytest.raises(ThemeError):
                render([], write(tmp_path, wrong, f"wrong{number}.toml"), cache=cache)


def test_a_huge_number_is_an_error(tmp_path: Path) -> None:
    assert "not valid TOML" in fault(write(tmp_path, f"[text]\nsize = {'9' * 5000}\n")).what


def test_errors_say_what_is_near_and_where(tmp_path: Path) -> None:
    from muralkit import render

    assert "Did you mean 'dense'?" in fault(write(tmp_path, 'inherits = "dens"\n')).hint
    face = fault(write(tmp_path, '[text]\nface = "Roboto Condensd"\n'))
    assert "Did you mean 'Roboto Condensed'?" in face.hint
    (tmp_path / "empty").mkdir()
    folder = fault(tmp_path / "empty")
    assert (folder.what, folder.where) == ("The folder has no theme.toml.", str(tmp_path / "empty"))
    for settings in (
        '[text]\nbullet = "\U00013000"\n',
        '[text]\nbullet = "ب"\n',
        "[text]\nsnap = true\n",
        "[canvas]\ncolumns = 24\n",
        "[canvas]\nmargin = 500\nmax_tiles = 39\n",
        '[canvas]\nwidth = "fit"\nmax_side = 28\n',
    ):
        path = write(tmp_path, settings)
        with pytest.raises(ThemeError) as caught:
            render([], path)
        assert caught.value.where == str(path) and caught.value.hint


def test_a_path_that_holds_no_manifest_is_told_what_it_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "gone").symlink_to("nothing")
    (tmp_path / "folder/theme.toml").mkdir(parents=True)
    for name, reason in {
        "pipe": "it is not a regular file",
        "/dev/null": "it is not a regular file",
        "loop": "it is a link to itself",
        "gone": "No such file or directory",
        "folder": "it is a folder",
    }.items():
        assert fault(tmp_path / name).what == f"The manifest can't be read: {reason}."
    for name in ("", "a" * 5000, "a\0b", str(tmp_path / "pipe/x")):
        with pytest.raises(ThemeError, match="There is no theme "):
            themes.load(name)


def test_snap_needs_a_face_of_whole_pixels(tmp_path: Path) -> None:
    from muralkit import render

    path = write(tmp_path, 'inherits = "standard"\n[text]\nsnap = true\n')
    with pytest.raises(ThemeError, match="snap needs whole pixels"):
        render([], path)


@pytest.mark.parametrize(
    "canvas",
    [
        "width = 1400\ncolumns = 1\nmax_side = 1400\nmargin = 500",
        "width = 1092\nmax_tiles = 39\nmargin = 20",
        'width = "fit"\nmargin = 500\nmax_side = 560',
    ],
)
def test_a_canvas_without_room_is_an_error(tmp_path: Path, canvas: str) -> None:
    from muralkit import render
    from tests.conftest import cue

    path = write(tmp_path, f"[canvas]\n{canvas}\n")
    try:
        mural = render([cue(1, "x")], path)
    except ThemeError as error:
        assert "room" in error.what or "wide enough" in error.what
    else:
        assert mural.tokens <= themes.load(path).manifest.canvas.max_tiles
        assert mural.shown == (1,)


def test_a_manifest_without_permission_is_not_called_missing(tmp_path: Path) -> None:
    path = write(tmp_path, "")

    def denied(*_: object) -> bytes:
        raise PermissionError(13, "Permission denied")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("muralkit.files.read", denied)
        assert "can't be read: Permission denied" in fault(path).what


FACE = '[[face]]\nname = "{name}"\nfile = "squares.ttf"\n'


@pytest.mark.parametrize(
    ("faces", "expected"),
    [
        (FACE.format(name="A") * 2, "Two faces are called 'A'"),
        (
            FACE.format(name="A") + FACE.format(name="B") + 'family = "A"\n',
            "The faces 'A' and 'B' are both of the family 'A' with the weight 400",
        ),
        (
            FACE.format(name="A") + 'family = "Roboto Condensed"\n',
            "The faces 'A' and 'Roboto Condensed' are both of the family",
        ),
        (FACE.format(name="A, B"), "[[face]] name: "),
        (FACE.format(name=" A"), "[[face]] name: "),
        (FACE.format(name="A") + "family = 'a \"b\"'\n", "[[face]] family: "),
        (FACE.format(name="A") + "scale = 1e-300\n", "[[face]] scale: "),
        (FACE.format(name="A") + "scale = nan\n", "[[face]] scale: "),
    ],
)
def test_faces_are_told_apart_and_seen(
    tmp_path: Path, square_font: Path, faces: str, expected: str
) -> None:
    (tmp_path / "squares.ttf").write_bytes(square_font.read_bytes())
    assert expected in fault(write(tmp_path, faces)).what


def test_a_face_in_the_place_of_a_bundled_one_is_used(tmp_path: Path, square_font: Path) -> None:
    (tmp_path / "squares.ttf").write_bytes(square_font.read_bytes())
    theme = themes.load(write(tmp_path, FACE.format(name="Roboto Condensed")))
    assert theme.faces().face("Roboto Condensed").advance(ord("W")) == 0.5


def test_a_face_without_a_space_is_an_error(tmp_path: Path, square_font: Path) -> None:
    from fontTools.ttLib import TTFont

    from muralkit import render
    from muralkit.errors import FontError

    font = TTFont(square_font)
    for table in font["cmap"].tables:
        table.cmap.pop(ord(" "), None)
    font.save(tmp_path / "squares.ttf")
    path = write(tmp_path, FACE.format(name="Roboto Condensed"))
    with pytest.raises(FontError, match="The face 'Roboto Condensed' has no space"):
        render([], path)


@pytest.mark.parametrize("kind", ["pipe", "device"])
@pytest.mark.parametrize("name", ["squares.ttf", "mural.svg.j2", "mine.toml"])
def test_what_is_no_file_is_an_error(tmp_path: Path, kind: str, name: str) -> None:
    from muralkit import render
    from muralkit.errors import MuralkitError

    path = write(tmp_path, FACE.format(name="A"))
    odd = tmp_path / name
    odd.unlink(missing_ok=True)
    os.mkfifo(odd) if kind == "pipe" else odd.symlink_to("/dev/zero")
    with pytest.raises(MuralkitError):
        render([], path)


@pytest.mark.parametrize("theme", [None, 3, [], b"dense"])
def test_what_is_no_theme_is_an_error(theme: object) -> None:
    from muralkit import render

    with pytest.raises(ThemeError, match="A theme is a name, a path or a loaded Theme"):
        render([], theme)  # type: ignore[arg-type]


def test_a_manifest_in_letters_that_are_none_is_an_error(tmp_path: Path) -> None:
    error = fault(write(tmp_path, 'description = "\\u0000"\n[text]\nface = "\\uD7FF"\nx = 1\n'))
    assert "Unknown key 'text.x'" in error.what


@pytest.mark.parametrize("included", [False, True])
def test_a_template_in_another_encoding_is_named_with_its_line(
    tmp_path: Path, included: bool
) -> None:
    from muralkit import render

    (tmp_path / "theme.toml").write_text('template = "a.j2"\n')
    (tmp_path / "a.j2").write_text('<svg>{% include "b.j2" %}</svg>')
    bad = tmp_path / ("b.j2" if included else "a.j2")
    bad.write_bytes(b"<svg>\n\n\xff</svg>")
    with pytest.raises(TemplateError, match="not UTF-8 text") as caught:
        render([], tmp_path)
    assert caught.value.where == f"{bad}:3"
