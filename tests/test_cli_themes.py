"""`muralkit theme new`, `check` and `list`, as processes."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import fields, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fontTools.ttLib import TTFont

from muralkit import assets, contrasts, scaffold, themefile
from muralkit import theme as themes
from muralkit.errors import OutputError, ThemeError
from muralkit.manifest import SECTIONS
from tests.test_cli import run


def test_a_new_theme_draws_what_it_inherits_until_it_says_something(tmp_path: Path) -> None:
    done = run("theme", "new", "mine", "--from", "dense", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"mine/theme.toml\n")
    assert b"muralkit preview --theme mine" in done.stderr
    assert themes.load(tmp_path / "mine").manifest == themes.load("dense").manifest
    assert run("theme", "check", "mine", cwd=tmp_path).returncode == 0


@pytest.mark.parametrize("base", themefile.names())
def test_every_key_is_there_with_the_value_in_force(tmp_path: Path, base: str) -> None:
    """Taking the # away from every setting changes nothing."""
    scaffold.create("mine", base, tmp_path, template=False)
    path = tmp_path / "mine/theme.toml"
    text = path.read_text("utf-8").partition("# A face of your own")[0]
    whole = re.sub(r"^# (?=\w+ = )", "", text, flags=re.MULTILINE)
    said = tomllib.loads(whole)
    assert {name: set(said[name]) for name in SECTIONS} == {
        name: {item.name for item in fields(kind)} for name, kind in SECTIONS.items()
    }
    path.write_text(whole, "utf-8")
    made, expected = themes.load(path.parent).manifest, themes.load(base).manifest
    assert replace(made, description="") == replace(expected, description="")


def test_a_copied_template_is_the_one_that_draws(tmp_path: Path) -> None:
    done = run("theme", "new", "mine", "--template", "-o", tmp_path / "a/b")
    folder = tmp_path / "a/b/mine"
    assert done.stdout.decode().split() == [
        str(folder / "theme.toml"),
        str(folder / "mine.svg.j2"),
    ]
    theme = themes.load(folder)
    assert theme.manifest.template == "mine.svg.j2"
    # Deleted, it is missed: one of the bundled one's name would give way to that.
    (folder / "mine.svg.j2").unlink()
    done = run("theme", "check", folder)
    assert done.returncode == 2 and b"There is no template 'mine.svg.j2'" in done.stderr


def test_what_is_to_be_typed_next_is_quoted(tmp_path: Path) -> None:
    done = run("theme", "new", "it's mine", cwd=tmp_path)
    assert b"""muralkit theme check 'it'"'"'s mine' """ in done.stderr
    assert run("theme", "check", "it's mine", cwd=tmp_path).returncode == 0
    run("theme", "new", "a b%c", "--template", cwd=tmp_path)
    assert run("theme", "check", "a b%c", cwd=tmp_path).returncode == 0


def test_a_theme_may_start_from_one_s_own(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('inherits = "dense"\n[inks]\ntext = "#222222"\n')
    done = run("theme", "new", "mine", "--from", "base.toml", "-o", "deep", cwd=tmp_path)
    assert done.returncode == 0
    assert 'inherits = "../../base.toml"' in (tmp_path / "deep/mine/theme.toml").read_text()
    assert themes.load(tmp_path / "deep/mine").manifest.inks.text == "#222222"


@pytest.mark.parametrize("there", ["file", "folder"])
def test_what_is_there_is_not_overwritten(tmp_path: Path, there: str) -> None:
    mine = tmp_path / "mine"
    mine.mkdir() if there == "folder" else mine.write_text("x")
    done = run("theme", "new", "mine", cwd=tmp_path)
    assert done.returncode == 4 and b"nothing was written" in done.stderr
    assert there == "file" or not list(mine.iterdir())


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", 'a"b', "dense", "auto", "a\nb", "-x"]
)
def test_a_name_that_will_not_do_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(ThemeError) as caught:
        scaffold.create(name, "dense", tmp_path, template=False)
    assert caught.value.hint and not list(tmp_path.iterdir())


def test_a_name_that_is_too_long_for_a_file_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        scaffold.create("x" * 250, "dense", tmp_path, template=True)
    assert not list(tmp_path.iterdir())


def test_a_base_that_cannot_be_used_is_an_error_and_makes_nothing(tmp_path: Path) -> None:
    done = run("theme", "new", "mine", "--from", "dens", cwd=tmp_path)
    assert done.returncode == 2 and b"Did you mean 'dense'?" in done.stderr
    (tmp_path / "bad.toml").write_text('template = "none.svg.j2"\n')
    done = run("theme", "new", "mine", "--from", "bad.toml", "--template", cwd=tmp_path)
    assert done.returncode == 2 and b"can't be copied" in done.stderr
    assert not (tmp_path / "mine").exists()


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert run("theme", "new", "mine", "-o", tmp_path / "file" / "themes").returncode == 4


def check(*arguments: object) -> tuple[int, dict[str, Any]]:
    done = run("theme", "check", "--json", *arguments)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize("name", ["standard", "dark", "dense", "large"])
def test_a_bundled_theme_is_fit_for_its_readers(name: str) -> None:
    code, found = check(name)
    assert (code, found["warnings"]) == (0, [])
    assert found["reader"] == ("standard" if name == "dark" else name)


def test_a_check_in_numbers() -> None:
    code, found = check("standard")
    assert (code, found["usable"], found["theme"]) == (0, True, "standard")
    assert {item["ink"]: item["ratio"] for item in found["contrast"]} == {
        "text": 21.0, "prohibition": 7.88, "mark": 6.09, "banner": 12.57,
    }  # fmt: skip
    assert found["distances"][0] == {"pair": "lI", "pixels": 0.33, "share": 0.04}
    demo = found["demo"]
    assert (demo["tokens"], demo["shown"], demo["dropped"]) == (663, 120, 0)
    assert demo["characters_per_token"] == 10.48
    assert found["readers"]["dense"] == [] and len(found["readers"]["large"]) == 2


def test_a_floor_that_is_missed_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'inherits = "dense"\n[text]\nsize = 9.0\npitch = 9\n[inks]\ntext = "#888888"\n'
        'banner_ground = "#d0d0d0"\n'
    )
    code, found = check(path)
    assert (code, found["reader"]) == (1, "dense")
    assert [warning.partition(" ")[2][:12] for warning in found["warnings"]] == [
        "text is 9 px", "pitch is 9 p", "contrast of ", "contrast of ", "and I are dr",
        "and 8 differ",
    ]  # fmt: skip
    done = run("theme", "check", path)
    assert done.returncode == 1 and done.stdout.count(b"warning") == 6
    assert b"\x1b" not in done.stdout


def test_the_profile_that_is_asked_for_counts() -> None:
    assert check("dense", "--reader", "large")[0] == 1
    assert check("large", "--reader", "dense")[0] == 0
    done = run("theme", "check", "dense", "--reader", "tiny")
    assert done.returncode == 2 and b"dense, standard, large" in done.stderr


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"theme.toml": "[text]\nsise = 3\n"}, "theme.toml"),
        ({"theme.toml": "", "mural.svg.j2": "<svg>\n{{ nothing }}\n</svg>"}, "mural.svg.j2:2"),
        ({"theme.toml": "", "mural.svg.j2": "{% for %}"}, "mural.svg.j2:1"),
        ({"theme.toml": "", "mural.svg.j2": "\n<svg></svg>"}, "mural.svg.j2:2"),
        ({"theme.toml": "", "mural.svg.j2": "{% include 'x.j2' %}"}, "mural.svg.j2:1"),
    ],
)
def test_a_theme_that_cannot_be_used(tmp_path: Path, files: dict[str, str], place: str) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    code, found = check(tmp_path)
    assert (code, found["usable"]) == (2, False)
    assert found["error"]["where"].endswith(place) and found["error"]["what"]
    done = run("theme", "check", tmp_path)
    assert done.returncode == 2 and place.encode() in done.stderr


def test_contrast_is_as_wcag_has_it() -> None:
    black, white, grey = (0, 0, 0), (255, 255, 255), (0x77, 0x77, 0x77)
    assert contrasts.contrast(black, white) == contrasts.contrast(white, black) == 21
    assert round(contrasts.contrast(grey, white), 2) == 4.48
    assert contrasts.contrast(grey, grey) == 1


SPOILT = {
    "white on white": ('fill="{{ style.colour }}"', 'fill="{{ inks.page }}"'),
    "faint": ("<g font-family", '<g opacity="0.15" font-family'),
    "hidden": ("<g font-family", '<g display="none" font-family'),
    "covered": ("</svg>", '<rect width="2000" height="2000" fill="{{ inks.extra[0] }}"/></svg>'),
    "half covered": ("</svg>", '<rect width="60" height="2000" fill="{{ inks.extra[0] }}"/></svg>'),
    "on dark": ('height }}" fill="{{ inks.page }}"', 'height }}" fill="{{ inks.extra[1] }}"'),
    "in grey": ('fill="{{ style.colour }}"', 'fill="{{ inks.extra[0] }}"'),
    "small": ('font-size="{{ style.size | px }}"', 'font-size="3"'),
    "struck through": (
        "</svg>",
        '{% for item in placed %}<rect x="{{ item.x }}" y="{{ item.baseline - 4 }}" height="3"'
        ' width="{{ item.width }}" fill="{{ inks.text }}"/>{% endfor %}</svg>',
    ),
    "shrunk": ("<g font-family", '<g transform="scale(0.5)" font-family'),
}


@pytest.mark.parametrize("spoilt", SPOILT)
def test_a_template_that_draws_text_unreadably_is_a_warning(tmp_path: Path, spoilt: str) -> None:
    bundled = (assets.folder("templates") / "mural.svg.j2").read_text("utf-8")
    old, new = SPOILT[spoilt]
    assert old in bundled
    (tmp_path / "a.svg.j2").write_text(bundled.replace(old, new))
    (tmp_path / "theme.toml").write_text(
        'template = "a.svg.j2"\n[inks]\nextra = ["#c8c8c8", "#222222"]\n'
    )
    code, found = check(tmp_path)
    ratios = {item["ink"]: item["ratio"] for item in found["contrast"]}
    assert code == 1 and ratios["text"] < 2
    assert any("contrast of text on page, as it is drawn" in line for line in found["warnings"])


def test_a_template_that_adds_a_shape_beside_the_text_is_none(tmp_path: Path) -> None:
    bundled = (assets.folder("templates") / "mural.svg.j2").read_text("utf-8")
    rule = '<rect width="1" height="2000" fill="{{ inks.mark }}"/></svg>'
    (tmp_path / "mural.svg.j2").write_text(bundled.replace("</svg>", rule))
    (tmp_path / "theme.toml").write_text("")
    code, found = check(tmp_path)
    assert (code, found["contrast"]) == (0, check("standard")[1]["contrast"])


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("<g font-family", '<g transform="translate(0,-1)" font-family', 21.0),
        ("<g font-family", '<g transform="translate(1,0)" font-family', 21.0),
        ('height }}" fill="{{ inks.page }}"', 'height }}" fill="{{ inks.extra[0] }}"', 15.42),
    ],
    ids=["up", "to the right", "on a panel"],
)
def test_the_contrast_is_that_of_the_picture(
    tmp_path: Path, old: str, new: str, text: float
) -> None:
    bundled = (assets.folder("templates") / "mural.svg.j2").read_text("utf-8")
    assert old in bundled
    (tmp_path / "mural.svg.j2").write_text(bundled.replace(old, new))
    panel = '[inks]\nextra = ["#101820"]\ntext = "#eeeeee"\n' if "extra" in new else ""
    (tmp_path / "theme.toml").write_text(panel)
    ratios = {item["ink"]: item["ratio"] for item in check(tmp_path)[1]["contrast"]}
    assert ratios["text"] == text


@pytest.mark.parametrize("pair", ["12", "69", "ab", "0O", "5S"])
def test_letters_and_digits_that_are_drawn_the_same_are_a_warning(
    tmp_path: Path, pair: str
) -> None:
    font = TTFont(assets.folder("fonts") / "RobotoCondensed-Bold.ttf")
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap[ord(pair[0])] = table.cmap[ord(pair[1])]
    font.save(tmp_path / "own.ttf")
    (tmp_path / "theme.toml").write_text(
        '[[face]]\nname = "Own"\nfile = "own.ttf"\n[text]\nface = "Own"\n'
    )
    code, found = check(tmp_path)
    assert code == 1 and f"{pair[0]} and {pair[1]} are drawn the same." in found["warnings"]


def test_a_face_that_is_drawn_larger_needs_its_room(tmp_path: Path) -> None:
    own = tmp_path / "own.ttf"
    own.write_bytes((assets.folder("fonts") / "RobotoCondensed-Bold.ttf").read_bytes())
    path = tmp_path / "mine.toml"
    path.write_text(
        'inherits = "large"\n[[face]]\nname = "Own"\nfile = "own.ttf"\nscale = 2.0\n'
        '[text]\nface = "Own"\n'
    )
    assert "The pitch is 17 px; at 30 px lines need 31." in check(path)[1]["warnings"]
    assert b"Own, 30 px on 17" in run("theme", "check", path).stdout


def test_a_template_that_fails_on_a_full_page_cannot_be_used(tmp_path: Path) -> None:
    bundled = (assets.folder("templates") / "mural.svg.j2").read_text("utf-8")
    (tmp_path / "mural.svg.j2").write_text(
        bundled.replace("</svg>", "{% if layout.dropped %}{{ oops }}{% endif %}</svg>")
    )
    (tmp_path / "theme.toml").write_text("")
    code, found = check(tmp_path)
    assert code == 2 and "oops" in found["error"]["what"]


class Page(HTMLParser):
    """What a page loads, and its figures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.figures: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.loads += [values[key] or "" for key in ("src", "href", "data") if key in values]
        if tag == "figure":
            self.figures.append(values["id"] or "")
        assert tag not in ("script", "iframe", "object")


def test_the_page_of_themes_has_a_picture_of_each_and_loads_nothing(tmp_path: Path) -> None:
    mine = tmp_path / "<b>"
    mine.mkdir()
    (mine / "theme.toml").write_text(
        'inherits = "dense"\ndescription = "<script>alert(1)</script>"\n'
    )
    done = run("theme", "list", mine, "--page", tmp_path / "themes.html")
    assert (done.returncode, done.stdout) == (0, b"")
    page = Page((tmp_path / "themes.html").read_text())
    assert page.figures == [*themefile.names(), "<b>"]
    assert len(page.loads) == 6
    assert all(source.startswith("data:image/png;base64,iVBOR") for source in page.loads)
    assert (tmp_path / "themes.html").stat().st_size < 300_000


def test_a_theme_too_large_for_a_small_picture_has_its_own(tmp_path: Path) -> None:
    (tmp_path / "huge.toml").write_text("[text]\nsize = 80.0\npitch = 90\n[canvas]\ncolumns = 1\n")
    done = run("theme", "list", tmp_path / "huge.toml", "--page", "-")
    assert done.returncode == 0 and b'id="huge"' in done.stdout


def test_one_s_own_themes_are_listed_where_they_are_named(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('description = "Ours."\n')
    done = run("theme", "list", tmp_path / "mine.toml")
    assert done.stdout.decode().splitlines()[-1] == "mine      Ours."
    assert run("theme", "list", tmp_path / "none").returncode == 2


@pytest.mark.parametrize("face", ["Noto Sans", "Noto Sans Thai", "Noto Sans SC", "Noto Emoji"])
def test_a_face_without_a_space_takes_it_from_the_chain(tmp_path: Path, face: str) -> None:
    for section in ("text", "banner"):
        path = tmp_path / f"{section}.toml"
        path.write_text(f'inherits = "standard"\n[{section}]\nface = "{face}"\n')
        done = run("theme", "check", path)
        assert done.returncode in (0, 1), done.stderr
        assert b"Traceback" not in done.stderr


def test_a_prohibition_that_looks_like_text_is_a_warning(tmp_path: Path) -> None:
    path = tmp_path / "same.toml"
    path.write_text('inherits = "standard"\n[inks]\nprohibition = "#000000"\n')
    code, found = check(path)
    assert code == 1 and "The prohibition ink can hardly be told from text" in found["warnings"][0]
