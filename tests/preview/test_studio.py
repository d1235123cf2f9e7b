"""What is looked at is drawn, and drawn again when a file of it changes."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from muralkit import assets, themefile
from muralkit.preview.sources import CueFile, Given, Project, Source, demo
from muralkit.preview.studio import Studio
from muralkit.preview.views import MOST_LISTED
from tests.conftest import DATA, build_square_font, switch_on
from tests.test_cli import run
from tests.test_cli_memory import memory

TEMPLATE = (assets.folder("templates") / "mural.svg.j2").read_text("utf-8")
CUE = {"id": 1, "category": "NAMING", "importance": 60, "cue": "one cue"}
SOON = 20.0  # seconds: a busy machine is no failure; the browser's tests have the real limit


class Desk:
    """A theme and cues that are edited, and the studio that shows them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest, self.template = folder / "theme.toml", folder / "mural.svg.j2"
        self.cues = folder / "cues.json"
        self.manifest.write_text('inherits = "dense"\n')
        self.template.write_text(TEMPLATE)
        self.cues.write_text(json.dumps([CUE]))
        self.studio = Studio(CueFile(self.cues), [str(folder)])

    def state(self, chosen: tuple[int, ...] = (0,), after: int = 0) -> dict[str, Any]:
        return self.studio.state(chosen, after, SOON)

    def until(self, wanted: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
        """The first state that is as it is wanted."""
        state = self.state()
        end = time.monotonic() + SOON
        while not wanted(state):
            assert time.monotonic() < end, state
            state = self.state(after=state["version"])
        return state


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    made.studio.start()
    yield made
    made.studio.close()


def problem(state: dict[str, Any]) -> Any:
    return state["panes"][0]["problem"]


def name(state: dict[str, Any]) -> Any:
    return state["panes"][0]["picture"]["name"]


def test_a_saved_template_manifest_and_cues_make_another_picture(desk: Desk) -> None:
    seen = {name(desk.state())}

    def another() -> None:
        state = desk.until(lambda state: name(state) not in seen)
        seen.add(name(state))
        assert problem(state) is None and state["problem"] is None

    rect = '<rect x="0" y="0" width="9" height="9" fill="{{ inks.mark }}"/></svg>'
    desk.template.write_text(TEMPLATE.replace("</svg>", rect))
    another()
    desk.manifest.write_text('inherits = "dense"\n[inks]\ntext = "#202020"\n')
    another()
    desk.cues.write_text(json.dumps([{**CUE, "cue": "another cue"}]))
    another()
    _beside(desk.cues, [{**CUE, "cue": "a third cue"}]).replace(desk.cues)  # as editors do
    another()
    assert len(seen) == 5


def _beside(path: Path, cues: object) -> Path:
    new = path.with_suffix(".new")
    new.write_text(json.dumps(cues))
    return new


def test_a_template_that_raises_has_its_line_and_the_last_good_picture(desk: Desk) -> None:
    good = name(desk.state())
    desk.template.write_text(TEMPLATE.replace("in styles", "in stiles"))
    state = desk.until(problem)
    found = problem(state)
    assert "'stiles' is undefined" in found["what"]
    assert found["where"] == f"{desk.template}:7"
    assert [line[0] for line in found["excerpt"] if line[2]] == [7]
    assert "in stiles" in found["excerpt"][2][1]
    assert name(state) == good and desk.studio.picture(good.removesuffix(".png"))
    desk.template.write_text(TEMPLATE)
    assert name(desk.until(lambda state: not problem(state))) == good


def test_a_manifest_that_is_wrong_has_its_line(desk: Desk) -> None:
    desk.state()
    desk.manifest.write_text('inherits = "dense"\n[text\n')
    found = problem(desk.until(problem))
    assert "not valid TOML" in found["what"] and found["where"] == str(desk.manifest)
    assert [line[1] for line in found["excerpt"] if line[2]] == ["[text"]
    desk.manifest.unlink()
    assert "no theme.toml" in problem(desk.until(lambda s: "no theme" in str(problem(s))))["what"]
    desk.manifest.write_text('inherits = "large"\n')
    state = desk.until(lambda state: not problem(state))
    assert state["panes"][0]["picture"]["counts"] == [1, 0]


def test_cues_that_are_wrong_leave_the_last_good_ones(desk: Desk) -> None:
    good = name(desk.state())
    for text in ("[", '[{"id": 1}]', "\0"):
        desk.cues.write_text(text)
        state = desk.until(lambda state: state["problem"])
        assert name(state) == good and state["problem"]["what"]
    desk.cues.unlink()
    desk.until(lambda state: "can't be read" in str(state["problem"]))
    desk.cues.write_text(json.dumps([CUE]))
    assert name(desk.until(lambda state: state["problem"] is None)) == good


def test_a_template_that_is_new_beside_the_manifest_is_seen(desk: Desk) -> None:
    desk.template.unlink()
    first = name(desk.state())
    odd = '<rect width="9" height="9" fill="#123456"/></svg>'
    desk.template.write_text(TEMPLATE.replace("</svg>", odd))
    # That is no ink of the theme: an error, so the new file was read.
    assert name(desk.until(problem)) == first


def tells(line: str, state: dict[str, Any]) -> bool:
    """Whether the theme's problem shows that line."""
    return line in str(problem(state))


def test_a_key_that_is_wrong_has_its_line(desk: Desk) -> None:
    desk.state()
    for text, number in (
        ('inherits = "dense"\n[text]\nsize = 10.0\n\n[inks]\npage = "#ffffff"\ntext = "blue"\n', 7),
        ('inherits = "dense"\n[text]\nsise = 10.0\n', 3),
        ('inherits = "dense"\ntemplate = 5\n', 2),
    ):
        desk.manifest.write_text(text)
        wrong = text.split("\n")[number - 1]
        found = problem(desk.until(partial(tells, wrong)))
        assert [line[:2] for line in found["excerpt"] if line[2]] == [[number, wrong]]


def test_while_a_fault_is_shown_the_old_picture_tells_its_own_cues(desk: Desk) -> None:
    desk.state()
    desk.template.write_text("{{ oops }}")
    desk.until(problem)
    desk.cues.write_text(
        json.dumps([{**CUE, "cue": "it says another thing"}, {**CUE, "id": 2, "cue": "new"}])
    )
    state = desk.until(lambda state: state["cues"] == 2)
    [number] = {box[4] for box in state["panes"][0]["picture"]["boxes"] if box[4] >= 0}
    told = state["memories"][number]
    assert (told["id"], told["cue"], told["old"]) == (1, "one cue", True)
    assert [memory["cue"] for memory in state["memories"] if not memory["old"]] == [
        "it says another thing", "new",
    ]  # fmt: skip
    assert state["listed"] == 2
    desk.template.write_text(TEMPLATE)
    state = desk.until(lambda state: not problem(state))
    assert not any(memory["old"] for memory in state["memories"])


def test_a_page_is_laid_out_once_for_all_its_templates(desk: Desk) -> None:
    seen, pane = {name(desk.state())}, desk.studio.panes[0]
    first = pane.layout
    rect = '<rect x="0" y="0" width="9" height="9" fill="{{ inks.mark }}"/></svg>'
    desk.template.write_text(TEMPLATE.replace("</svg>", rect))
    desk.until(lambda state: name(state) not in seen)
    assert pane.layout is first
    desk.manifest.write_text('inherits = "dense"\n[text]\nindent = 8\n')
    desk.until(lambda _: pane.layout is not first)


def test_a_change_that_leaves_size_and_time_of_a_file_is_seen(desk: Desk) -> None:
    """So is a file that may be read again: both have a later time of change."""
    first = name(desk.state())
    before = desk.cues.stat()
    desk.cues.write_text(json.dumps([{**CUE, "cue": "two cue"}]))
    os.utime(desk.cues, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = desk.cues.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    desk.until(lambda state: name(state) != first)


def test_files_that_never_come_to_rest_are_drawn_all_the_same(desk: Desk) -> None:
    first = name(desk.state())
    done = threading.Event()

    def write() -> None:
        while not done.wait(0.005):
            (desk.folder / "other.j2").write_text(str(time.monotonic()))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        desk.cues.write_text(json.dumps([{**CUE, "cue": "another cue"}]))
        desk.until(lambda state: name(state) != first)
    finally:
        done.set()
        writer.join()


def test_nothing_is_drawn_twice_and_nothing_that_nobody_looks_at(desk: Desk) -> None:
    version = desk.state()["version"]
    os.utime(desk.template)
    desk.cues.write_text(json.dumps([CUE]))
    assert desk.studio.state((0,), version, 0.6)["version"] == version
    assert [pane.drawn for pane in desk.studio.panes].count(True) == 1


def test_a_second_theme_is_drawn_when_it_is_asked_for(desk: Desk) -> None:
    names = desk.state()["themes"]
    assert names == [str(desk.folder), *themefile.names()]
    state = desk.state((0, names.index("large")))
    assert [pane["theme"] for pane in state["panes"]] == [str(desk.folder), "large"]
    assert state["panes"][1]["picture"]["prices"]["Claude"] == 78


def test_a_box_is_where_its_cue_is_drawn(desk: Desk) -> None:
    cues = [{**CUE, "id": n, "cue": f"cue number {n}"} for n in (1, "1", 2)]
    desk.cues.write_text(json.dumps(cues))
    state = desk.until(lambda state: state["cues"] == 3)
    boxes = state["panes"][0]["picture"]["boxes"]
    assert [box[4:] for box in boxes] == [[-1, "NAMING"], [0], [1], [2]]
    assert [memory["id"] for memory in state["memories"]] == [1, 2, "1"]
    assert len({box[1] for box in boxes[1:]}) == 1  # all on one line
    assert [box[0] + box[2] for box in boxes[1:3]] == [box[0] for box in boxes[2:4]]


def test_dropped_cues_come_with_their_reason() -> None:
    studio = Studio(CueFile(DATA / "cues_1000.json"), ["large"])
    studio.start()
    try:
        state = studio.state((0,), 0, SOON)
        picture = state["panes"][0]["picture"]
        shown, dropped = picture["counts"]
        assert shown + dropped == 1000 and len(picture["dropped"]) == dropped > 0
        assert picture["dropped"][0][1] == "the canvas is full"
        numbers = [*picture["shown"], *(number for number, _ in picture["dropped"])]
        assert sorted(numbers) == list(range(1000))
    finally:
        studio.close()


def test_a_hundred_thousand_cues_are_not_all_told(tmp_path: Path) -> None:
    cues = [{**CUE, "id": n, "importance": 1 + n % 100} for n in range(20_000)]
    studio = Studio(Given(json.dumps(cues).encode(), "many"), ["dense"])
    studio.start()
    try:
        state = studio.state((0,), 0, SOON)
        assert state["cues"] == 20_000 and len(state["memories"]) == MOST_LISTED
        assert len(json.dumps(state)) < 2_000_000
    finally:
        studio.close()


def test_the_users_own_faces_draw_here_too(tmp_path: Path) -> None:
    build_square_font(tmp_path / "mine.ttf", "𓀀")
    source = Given(json.dumps([{**CUE, "cue": "𓀀"}]).encode(), "x")
    for extra, escaped in (((), 1), ((str(tmp_path / "mine.ttf"),), 0)):
        studio = Studio(source, ["dense"], extra)
        studio.start()
        try:
            studio.state((0,), 0, SOON)
            mural = studio.panes[0].mural
            assert mural is not None and len(mural.escaped) == escaped
        finally:
            studio.close()


def test_the_memories_in_full_come_along_where_they_are_known() -> None:
    material = demo().load()
    assert material.contents[39].startswith("Every Redis consumer must be idempotent")
    assert material.name == "the bundled demo"
    assert Given(json.dumps([CUE]).encode(), "x").load().contents == {}
    lines = "\n".join(json.dumps({**CUE, "id": n, "content": f"c{n}"}) for n in (1, 2))
    assert Given(lines.encode(), "x").load().contents == {1: "c1", 2: "c2"}


def test_a_project_s_overflow_and_what_is_remembered_meanwhile(tmp_path: Path) -> None:
    switch_on(tmp_path)
    source: Source = Project(tmp_path, None, everything=False)
    assert "nothing to draw" in source.load().name
    studio = Studio(source, ["dense"])
    studio.start()
    try:
        version = studio.state((0,), 0, SOON)["version"]
        assert studio.state((0,), version, 0.6)["version"] == version  # reading is no change
        memory("import", assets.demo_file(), "--project", tmp_path)
        end = time.monotonic() + SOON
        state = studio.state((0,), version, SOON)
        while "overflow" not in state["source"]:
            assert time.monotonic() < end
            state = studio.state((0,), state["version"], SOON)
        assert 0 < state["cues"] < 120 and all(item["content"] for item in state["memories"])
    finally:
        studio.close()


def test_closing_lets_everybody_go(desk: Desk) -> None:
    version = desk.state()["version"]
    import threading

    threading.Timer(0.2, desk.studio.close).start()
    started = time.monotonic()
    desk.studio.state((0,), version, 60)
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--theme", "dens", "--demo"), b"Did you mean 'dense'?"),
        (("none.json",), b"No such file"),
        (("--port", "99999"), b"99999"),
        (("--demo", "x.json"), b"leave --demo"),
    ],
)
def test_bad_input_ends_before_there_is_a_page(
    arguments: tuple[str, ...], expected: bytes, tmp_path: Path
) -> None:
    done = run("preview", "--no-open", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and expected in done.stderr and done.stdout == b""


def test_cues_from_standard_input_that_are_wrong(tmp_path: Path) -> None:
    done = run("preview", "-", "--no-open", stdin=b"[", cwd=tmp_path)
    assert done.returncode == 2 and b"standard input" in done.stderr
