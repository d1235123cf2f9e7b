"""What holds for every page, whatever the cues and the theme's geometry."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muralkit import theme as themes
from muralkit.errors import ThemeError
from muralkit.glyphs.clean import clean
from muralkit.glyphs.shape import Shaper
from muralkit.layout import lay_out
from muralkit.layout.rank import rank
from muralkit.model import CATEGORIES, Cue, Ink, Layout, Placed, Role, category_order
from muralkit.theme import Theme
from tests.conftest import SQUARES, build_square_font

words = st.text(st.sampled_from("abcXYZ019/._-:()=⊘→∵é日𓀀\u202e\u0301"), min_size=1, max_size=70)
texts = st.lists(words, max_size=12).map(" ".join)
cue_lists = st.lists(
    st.builds(
        Cue,
        st.integers(0, 10_000),
        st.sampled_from([*CATEGORIES[:3], "other", "x" * 60]),
        st.integers(1, 100),
        texts,
    ),
    max_size=40,
    unique_by=lambda cue: cue.memory_id,
)
geometries = st.tuples(
    st.sampled_from([1, 2, 3]),  # columns
    st.sampled_from([336, 560]),  # max_side
    st.sampled_from(["flow", "lines"]),
    st.sampled_from([30, 400]),  # max_tiles
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("squares")
    build_square_font(path / "squares.ttf", "".join(map(chr, range(33, 127))) + "⊘→∵é")
    return path


def make(folder: Path, geometry: tuple[int, int, str, int]) -> Theme:
    columns, max_side, arrangement, max_tiles = geometry
    path = folder / f"{columns}-{max_side}-{arrangement}-{max_tiles}.toml"
    if not path.exists():
        path.write_text(
            SQUARES.format(
                columns=columns,
                max_side=max_side,
                canvas=f"max_tiles = {max_tiles}",
                text=f'arrangement = "{arrangement}"',
            ),
            "utf-8",
        )
    return themes.load(path)


def columns_of(layout: Layout) -> list[list[Placed]]:
    found: dict[int, list[Placed]] = defaultdict(list)
    for item in layout.placed:
        found[item.x].append(item)
    return [found[x] for x in sorted(found)]


def drawn_text(layout: Layout) -> str:
    """All cue text of the page in drawing order, without the marks around it."""
    return "".join(
        run.text
        for item in layout.placed
        if item.line.role is Role.TEXT
        for run in item.line.runs
        if run.ink is not Ink.MARK or run.text.startswith("[")
    )


@given(cue_lists, geometries)
@settings(max_examples=150)
def test_every_page(folder: Path, cues: list[Cue], geometry: tuple[int, int, str, int]) -> None:
    theme = make(folder, geometry)
    layout = lay_out(cues, theme, theme.faces())
    shown_or_dropped(cues, layout)
    inside_the_canvas(layout)
    nothing_overlaps(layout)
    banners_have_lines(layout)
    balanced(layout, theme)
    order_kept(cues, layout)
    whole(cues, layout, theme)


def shown_or_dropped(cues: list[Cue], layout: Layout) -> None:
    dropped = [item.memory_id for item in layout.dropped]
    assert sorted([*layout.shown, *dropped], key=str) == sorted(
        (cue.memory_id for cue in cues), key=str
    )


def inside_the_canvas(layout: Layout) -> None:
    assert layout.canvas.width % 28 == layout.canvas.height % 28 == 0
    for item in layout.placed:
        assert item.x >= 0 and item.x + item.width <= layout.canvas.width
        assert item.y >= 0 and item.y + item.line.height <= layout.canvas.height
        for run in item.line.runs:
            assert run.x >= -1e-6 and run.x + run.width <= item.width + 1e-6


def nothing_overlaps(layout: Layout) -> None:
    for column in columns_of(layout):
        for above, below in itertools.pairwise(column):
            assert above.y + above.line.height <= below.y
    for item in layout.placed:
        runs = item.line.runs
        for left, right in itertools.pairwise(runs):
            assert left.x + left.width <= right.x + 1e-6


def banners_have_lines(layout: Layout) -> None:
    for column in columns_of(layout):
        assert column[-1].line.role in (Role.TEXT, Role.NOTE)
        assert column[0].line.role is not Role.TEXT
        for above, below in itertools.pairwise(column):
            if above.line.role in (Role.BANNER, Role.REPEAT):
                assert below.line.role is Role.TEXT


def balanced(layout: Layout, theme: Theme) -> None:
    """Within a line, and the banner that can't be parted from it."""
    columns = columns_of(layout)
    if len(columns) < theme.manifest.canvas.columns:
        return  # too few lines to go round
    heights = [column[-1].y + column[-1].line.height for column in columns]
    line = max(item.line.height for item in layout.placed)
    banner = theme.manifest.banner.height + theme.manifest.banner.above
    assert max(heights) - min(heights) <= line + banner + theme.manifest.repeat.height


def order_kept(cues: list[Cue], layout: Layout) -> None:
    by_id = {cue.memory_id: cue for cue in cues}
    shown = [by_id[memory_id] for memory_id in layout.shown]
    assert shown == sorted(shown, key=lambda cue: (category_order(cue.category), rank(cue)))


def whole(cues: list[Cue], layout: Layout, theme: Theme) -> None:
    """The page spells each shown cue to its last character, and nothing else."""
    by_id = {cue.memory_id: cue for cue in cues}
    shaper = Shaper(theme.faces(), "Squares", 10.0)
    expected = "".join(
        piece.text
        for memory_id in layout.shown
        for word in shaper.words(clean(by_id[memory_id].text)[0])
        for piece in word.pieces
    )
    assert drawn_text(layout).replace(" ", "") == expected.replace(" ", "")


manifests = st.fixed_dictionaries(
    {
        "width": st.sampled_from(["fit", 56, 112, 280, 560, 1092]),
        "columns": st.integers(1, 6),
        "margin": st.sampled_from([0, 2, 30, 120]),
        "gutter": st.sampled_from([0, 10, 60]),
        "max_side": st.sampled_from([280, 1092, 1568]),
        "max_tiles": st.sampled_from([4, 50, 1568]),
        "size": st.sampled_from([3.0, 7.3, 10.0, 25.0, 120.0]),
        "spare": st.sampled_from([1.0, 1.25, 2.0]),
        "tracking": st.sampled_from([0.0, 0.3, 20.0]),
        "indent": st.sampled_from([0, 5, 90]),
        "arrangement": st.sampled_from(["flow", "lines"]),
        "banner": st.sampled_from([4.0, 10.0, 40.0]),
    }
)

MANIFEST = """
[canvas]
width = {width!r}
columns = {columns}
margin = {margin}
gutter = {gutter}
max_side = {max_side}
max_tiles = {max_tiles}
[text]
face = "Squares"
size = {size}
pitch = {pitch}
tracking = {tracking}
indent = {indent}
arrangement = {arrangement!r}
bullet = "*"
break_mark = "~"
[banner]
face = "Squares"
size = {banner}
height = {height}
[repeat]
size = {banner}
height = {height}
[[face]]
name = "Squares"
file = "squares.ttf"
"""


@given(manifests, cue_lists)
@settings(max_examples=150)
def test_every_page_of_every_theme(
    folder: Path, values: dict[str, object], cues: list[Cue]
) -> None:
    """Any manifest that is accepted draws within its canvas, or says why it can't."""
    pitch = math.ceil(float(str(values["size"])) * float(str(values["spare"])))
    height = math.ceil(float(str(values["banner"])) * 1.2)
    path = folder / "any.toml"
    path.write_text(MANIFEST.format(pitch=pitch, height=height, **values), "utf-8")
    try:
        theme = themes.load(path)
        layout = lay_out(cues, theme, theme.faces())
    except ThemeError as error:
        assert error.what
        return
    canvas = theme.manifest.canvas
    assert max(layout.canvas.width, layout.canvas.height) <= canvas.max_side
    assert layout.canvas.tokens <= canvas.max_tiles
    shown_or_dropped(cues, layout)
    inside_the_canvas(layout)
    nothing_overlaps(layout)
    banners_have_lines(layout)
    order_kept(cues, layout)
    assert all(important_first(cues, layout))
    if layout.dropped and not layout.shown:
        assert {item.reason.name for item in layout.dropped} <= {"EMPTY", "TOO_LARGE"}


def important_first(cues: list[Cue], layout: Layout) -> Iterator[bool]:
    by_id = {cue.memory_id: cue for cue in cues}
    least = max((rank(by_id[memory_id]) for memory_id in layout.shown), default=(-101, False, 0))
    for item in layout.dropped:
        if item.reason.name == "FULL":
            yield rank(by_id[item.memory_id]) > least


@given(cue_lists)
@settings(max_examples=100)
def test_what_is_dropped_is_less_important_than_all_that_is_shown(
    folder: Path, cues: list[Cue]
) -> None:
    theme = make(folder, (2, 560, "flow", 30))
    layout = lay_out(cues, theme, theme.faces())
    assert all(important_first(cues, layout))
    if any(important_first(cues, layout)):
        assert layout.placed[-1].line.role is Role.NOTE
