"""The whole walk: the same cues and theme give the same bytes, everywhere (P1)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import muralkit
from muralkit import theme as themes
from muralkit.pipeline import render
from tests.conftest import DATA, ROOT, cue, cues_of

HOSTILE_FONTCONFIG = """<?xml version="1.0"?>
<fontconfig>
<match target="pattern"><edit name="family" mode="assign" binding="strong">
<string>DejaVu Serif</string></edit></match>
<match target="font">
<edit name="embolden" mode="assign"><bool>true</bool></edit>
<edit name="hinting" mode="assign"><bool>true</bool></edit>
<edit name="hintstyle" mode="assign"><const>hintfull</const></edit>
<edit name="antialias" mode="assign"><bool>false</bool></edit>
<edit name="matrix" mode="assign"><times><name>matrix</name>
<matrix><double>2</double><double>0.5</double><double>0</double><double>1</double></matrix></times></edit>
</match>
<dir>/usr/share/fonts</dir>
</fontconfig>
"""

CHILD = """
import hashlib, json, locale, sys
locale.setlocale(locale.LC_ALL, "")
import muralkit
sizes = []
for theme in ("dense", "dark", "pixel"):
    cues = json.load(open(sys.argv[1], encoding="utf-8"))
    png = muralkit.render(cues, theme).png
    sizes.append(hashlib.sha256(png).hexdigest())
print(locale.setlocale(locale.LC_ALL), *sizes)
"""


def child(cwd: Path, **env: str) -> list[str]:
    clean = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "PYTHONUTF8": "0"}
    given = {name: value for name, value in {**clean, **env}.items() if value != "absent"}
    source = str(DATA / "cues_i18n.json")
    done = subprocess.run(
        [sys.executable, "-c", CHILD, source], cwd=cwd, env=given, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def expected() -> list[str]:
    cues = cues_of("i18n")
    names = ("dense", "dark", "pixel")
    return [hashlib.sha256(render(cues, name).png).hexdigest() for name in names]


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4294967295"},
        {"TZ": "Pacific/Kiritimati"},
        {"LC_ALL": "C"},
        {"HOME": "absent"},
        {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"},
        {"MALLOC_PERTURB_": "85"},
        {"PYTHONOPTIMIZE": "2"},
    ],
    ids=str,
)
def test_the_bytes_do_not_depend_on_the_environment(
    environment: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    assert child(tmp_path, **environment)[-3:] == expected


def test_the_bytes_do_not_depend_on_the_locale(expected: list[str], tmp_path: Path) -> None:
    """Turkish has another small i, and a comma in its numbers."""
    made = child(tmp_path, LC_ALL="tr_TR.UTF-8", LANG="tr_TR.UTF-8")
    assert "tr_TR" in made[0], "the locale tr_TR.UTF-8 is not installed; .ci/run makes it"
    assert made[-3:] == expected


@pytest.mark.parametrize("kind", ["hostile", "no fonts"])
def test_the_bytes_do_not_depend_on_fontconfig(
    kind: str, expected: list[str], tmp_path: Path
) -> None:
    config = tmp_path / "fonts.conf"
    empty = '<?xml version="1.0"?><fontconfig></fontconfig>'
    config.write_text(HOSTILE_FONTCONFIG if kind == "hostile" else empty)
    environment = {"FONTCONFIG_FILE": str(config), "FONTCONFIG_PATH": str(tmp_path)}
    assert child(tmp_path, **environment)[-3:] == expected


def test_the_bytes_do_not_depend_on_the_folder(expected: list[str]) -> None:
    assert child(Path("/"))[-3:] == child(ROOT / "tests")[-3:] == expected


def test_the_bytes_are_those_that_were_published() -> None:
    """Change these only with RENDERER in key.py, and look at the goldens."""
    png = render(cues_of("120"), "standard").png
    assert hashlib.sha256(png).hexdigest() == PUBLISHED


PUBLISHED = "7f91f83afd3ebd71c12026bcddb643707b749af58beb88733a971df84503b87d"


def test_the_order_of_the_cues_does_not_matter() -> None:
    cues = cues_of("50")
    assert render(cues).png == render(list(reversed(cues))).png
    assert render(cues).key == render(list(reversed(cues))).key


def test_mappings_and_cues_are_the_same() -> None:
    entry = {"id": 1, "category": "NAMING", "importance": 60, "cue": "a → b"}
    assert render([entry]) == render([cue(1, "a → b", importance=60)])


def test_what_a_mural_says_of_itself() -> None:
    mural = muralkit.render(cues_of("300"), "dense")
    assert (mural.width, mural.height, mural.tokens) == (1092, 784, 39 * 28)
    assert (len(mural.shown), len(mural.dropped), len(mural.escaped)) == (300, 0, 0)
    assert len(mural.png) < 200_000
    assert not mural.cached


def test_each_input_of_the_picture_changes_the_key(tmp_path: Path) -> None:
    base = [cue(1, "a"), cue(2, "b")]
    keys = {
        render(base).key,
        render(base, "dense").key,
        render(base[:1]).key,
        render([cue(1, "a"), cue(2, "c")]).key,
        render([cue(1, "a"), cue(3, "b")]).key,
        render([cue(1, "a"), cue(2, "b", importance=51)]).key,
        render([cue(1, "a"), cue(2, "b", "OTHER")]).key,
    }
    assert len(keys) == 7


def test_the_version_of_a_library_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    from muralkit import key

    before = render([]).key
    versions = key._versions()
    assert all(versions), "a library's version was not found"
    for index in range(len(versions)):
        other = [*versions]
        other[index] += ".1"
        monkeypatch.setattr(key, "_versions", lambda other=other: other)
        assert render([]).key != before
    monkeypatch.setattr(key, "_versions", lambda: versions)
    monkeypatch.setattr(key, "RENDERER", -1)
    assert render([]).key != before


def test_the_versions_are_those_that_are_installed() -> None:
    from importlib.metadata import version

    from muralkit import key

    assert key._versions() == [muralkit.__version__, *map(version, key._ENGINES)]


def test_a_loaded_theme_is_as_good_as_its_name() -> None:
    assert render([cue(1, "x")], themes.load("dense")) == render([cue(1, "x")], "dense")


def test_halves_of_a_character_are_not_the_character() -> None:
    """As JSON they would be written alike, and one would replay the other's picture."""
    pair, whole = [cue(1, "a\ud80c\udc00")], [cue(1, "a\U00013000")]
    assert render(pair).key != render(whole).key
    assert [item.codepoint for item in render(pair).escaped] == [0xD80C, 0xDC00]
    assert [item.codepoint for item in render(whole).escaped] == [0x13000]
