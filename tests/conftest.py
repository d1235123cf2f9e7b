"""Shared by the tests: a font of squares, themes, cues, and a home of their own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from hypothesis import settings

from muralkit import theme as themes
from muralkit.model import Cue
from muralkit.theme import Theme

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).parent.parent


def switch_on(project: Path, on: bool = True, budget: int = 500) -> None:
    """Configure a project's mural."""
    (project / ".muralkit").mkdir(parents=True, exist_ok=True)
    settings_of = {"mural": {"enabled": on}, "memory": {"injection_budget_tokens": budget}}
    (project / ".muralkit/muralkit.json").write_text(json.dumps(settings_of))


settings.register_profile("muralkit", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("muralkit")


def build_square_font(
    path: Path, characters: str, advance: int = 500, ascent: int = 800, descent: int = 200
) -> None:
    """A font whose every glyph is a square from the baseline; 1,000 units an em.

    At 10 px each glyph advances `advance` / 100 px: every number is exact.
    """
    names = {".notdef": None, "space": " ", **{f"u{ord(c):04X}": c for c in characters}}
    square = TTGlyphPen(None)
    square.moveTo((0, 0))
    square.lineTo((0, 400))
    square.lineTo((400, 400))
    square.lineTo((400, 0))
    square.closePath()
    empty = TTGlyphPen(None).glyph()
    builder = FontBuilder(1000, isTTF=True)
    builder.setupGlyphOrder(list(names))
    builder.setupCharacterMap({ord(c): name for name, c in names.items() if c})
    glyph = square.glyph()
    builder.setupGlyf({name: empty if name in (".notdef", "space") else glyph for name in names})
    builder.setupHorizontalMetrics(dict.fromkeys(names, (advance, 0)))
    builder.setupHorizontalHeader(ascent=ascent, descent=-descent)
    builder.setupNameTable({"familyName": "Squares", "styleName": "Regular"})
    builder.setupOS2()
    builder.setupPost()
    builder.save(path)


ASCII = "".join(map(chr, range(33, 127)))

SQUARES = """
inherits = "standard"

[canvas]
width = 280
columns = {columns}
margin = 0
gutter = 0
max_side = {max_side}
{canvas}

[text]
face = "Squares"
size = 10.0
pitch = 10
tracking = 0.0
indent = 10
gap = 10
bullet = "*"
break_mark = "~"
{text}

[banner]
face = "Squares"
size = 10.0
height = 14
above = 2

[repeat]
size = 5.0
height = 7

[[face]]
name = "Squares"
file = "squares.ttf"
"""

SquareTheme = Callable[..., Theme]


@pytest.fixture(scope="session")
def square_font(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fonts") / "squares.ttf"
    build_square_font(path, ASCII + "⊘…▪é")
    return path


@pytest.fixture
def squares(tmp_path: Path, square_font: Path) -> SquareTheme:
    """Makes themes in which every glyph is 5 px wide and every line 10 px high.

    A bullet takes 5 px and the space behind it 1.2 (0.12 em).
    """

    def make(columns: int = 1, max_side: int = 560, canvas: str = "", text: str = "") -> Theme:
        folder = tmp_path / "squares"
        folder.mkdir(exist_ok=True)
        (folder / "squares.ttf").write_bytes(square_font.read_bytes())
        manifest = SQUARES.format(columns=columns, max_side=max_side, canvas=canvas, text=text)
        (folder / "theme.toml").write_text(manifest, encoding="utf-8")
        return themes.load(folder)

    return make


@pytest.fixture(autouse=True)
def _home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """No test reads or writes the user's own folders."""
    monkeypatch.setenv("MURALKIT_HOME", str(tmp_path_factory.mktemp("home")))
    yield


def cues_of(name: str) -> list[Cue]:
    """A cue set of tests/data."""
    entries: list[dict[str, Any]] = json.loads((DATA / f"cues_{name}.json").read_text("utf-8"))
    return [Cue(e["id"], e["category"], e["importance"], e["cue"]) for e in entries]


def cue(number: int, text: str, category: str = "NAMING", importance: int = 50) -> Cue:
    return Cue(number, category, importance, text)
