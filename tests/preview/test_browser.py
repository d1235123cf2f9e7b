"""The page in headless Chromium, served by the command itself.

.ci/run installs Chromium and requires it; elsewhere these are skipped without it.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from muralkit import assets
from tests.conftest import DATA
from tests.preview.browser import Browser

TEMPLATE = (assets.folder("templates") / "mural.svg.j2").read_text("utf-8")
LIMIT = 1.0
"""Seconds from a save to the picture of it."""

TRIES = 5
"""Saves of which the fastest counts: what else the machine does is no fault of ours."""

SPOOF = '<img src=x onerror="document.title=1">'
CUES = [
    {"id": 1, "category": "NAMING", "importance": 90, "cue": f"{SPOOF} <b>bold</b>"},
    {
        "id": "é",
        "category": "NAMING",
        "importance": 80,
        "cue": "the second cue",
        "content": f"The second memory, in full. {SPOOF}",
    },
    {"id": 3, "category": "NAMING", "importance": 70, "cue": "⊘third (never)"},
    {"id": 4, "category": "ARCHITECTURE", "importance": 5, "cue": "\u200b"},
]


class Show:
    """A theme and cues, the command that previews them, and a browser that looks."""

    def __init__(self, folder: Path, browser: Browser, *arguments: str, panes: int = 1) -> None:
        self.folder, self.browser = folder, browser
        self.template = folder / "mine/mural.svg.j2"
        self.template.parent.mkdir(exist_ok=True)
        self.template.write_text(TEMPLATE)
        (folder / "mine/theme.toml").write_text('inherits = "dense"\n')
        (folder / "cues.json").write_text(json.dumps(CUES))
        command = [sys.executable, "-m", "muralkit", "preview", *arguments, "--no-open"]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        browser.events.clear()
        browser.resize(1600, 1000)
        browser.open(self.url)
        self.pictures(panes)

    def pictures(self, count: int) -> None:
        self.browser.wait(f"document.querySelectorAll('.sheet img').length === {count}")

    def shown(self, side: int = 0) -> str:
        """The name of the picture that is shown."""
        return str(self.browser.run(f"document.querySelectorAll('.sheet img')[{side}].src"))

    def problem(self) -> str:
        return self.browser.text(".pane .problem")

    def point(self, memory: int, side: int = 0) -> None:
        """The pointer over the middle of a memory's first line."""
        x, y = self.browser.run(
            f"""(() => {{
              const box = page.state.panes[{side}].picture.boxes.find((box) => box[4] === {memory});
              const sheet = document.querySelectorAll('.sheet')[{side}];
              sheet.parentElement.scrollLeft = (box[0] - 100) * scale();
              const edge = sheet.getBoundingClientRect();
              return [edge.left + (box[0] + box[2] / 2) * scale(),
                      edge.top + (box[1] + box[3] / 2) * scale()];
            }})()"""
        )
        self.browser.move(x, y)

    def end(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=30)
        return self.process.returncode, said


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    made = Show(tmp_path, browser, "cues.json", "--theme", "mine")
    yield made
    assert browser.said("Runtime.exceptionThrown") == []
    errors = [entry["entry"] for entry in browser.said("Log.entryAdded")]
    assert [entry for entry in errors if entry["source"] in ("security", "javascript")] == []
    made.end()


def test_a_saved_template_shows_within_a_second(show: Show) -> None:
    browser, took = show.browser, []
    for number in range(TRIES):
        before = show.shown()
        rect = f'<rect width="{9 + number}" height="9" fill="{{{{ inks.mark }}}}"/></svg>'
        started = time.monotonic()
        show.template.write_text(TEMPLATE.replace("</svg>", rect))
        browser.wait(f"document.querySelector('.sheet img').src !== {json.dumps(before)}")
        took.append(time.monotonic() - started)
    assert min(took) < LIMIT, took
    assert browser.run("document.querySelector('.sheet img').naturalWidth") == 1092


def test_the_tooltip_names_the_right_memory(show: Show) -> None:
    """Three cues run on one line: each has its own part of it."""
    boxes = show.browser.run("page.state.panes[0].picture.boxes")
    assert len({box[1] for box in boxes if box[4] >= 0}) == 1
    for memory, cue in enumerate(CUES[:3]):
        show.point(memory)
        said = show.browser.text("#tooltip")
        assert f"Memory {cue['id']}, NAMING, importance {cue['importance']}" in said
        assert str(cue["cue"]) in said and "shown whole" in said
        assert ("The second memory, in full." in said) == (memory == 1)
    show.browser.move(5, 990)
    assert show.browser.run("document.querySelector('#tooltip').hidden")


def test_the_tooltip_is_right_when_the_picture_is_large(show: Show) -> None:
    for _ in range(3):
        show.browser.press("+")
    assert show.browser.text("#native") == "300%"
    width = show.browser.run("document.querySelector('.sheet img').getBoundingClientRect().width")
    assert width == 3 * 1092
    show.point(1)
    assert "Memory é, " in show.browser.text("#tooltip")
    marks = show.browser.run("document.querySelectorAll('.mark.under').length")
    assert marks == 1


def test_at_100_per_cent_a_pixel_is_one_of_the_screen_s(show: Show, tmp_path: Path) -> None:
    show.browser.resize(800, 500, ratio=2)
    width = show.browser.wait(
        "(w => w === 546 && w)(document.querySelector('.sheet img').getBoundingClientRect().width)"
    )
    assert width == 1092 / 2 and show.browser.text("#native") == "100%"
    show.browser.picture(tmp_path / "screen.png")
    with Image.open(tmp_path / "screen.png") as screen:
        x, y = show.browser.run(
            "(e => [e.left * 2, e.top * 2])"
            "(document.querySelector('.sheet img').getBoundingClientRect())"
        )
        plain = screen.convert("RGB")
        # on whole pixels of the screen; the pane's round corner is left out
        near = [(round(x) + right, round(y) + down) for right in (-1, 0, 1) for down in (-1, 0, 1)]
        seen = [plain.crop((left + 20, top, left + 300, top + 14)) for left, top in near]
    done = subprocess.run(
        [sys.executable, "-m", "muralkit", "render", "cues.json", "--theme", "mine", "-o", "m.png"],
        cwd=show.folder, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0
    with Image.open(show.folder / "m.png") as mural:
        expected = mural.convert("RGB").crop((20, 0, 300, 14)).tobytes()
        assert expected in [part.tobytes() for part in seen]
    show.point(1)
    assert "Memory é, " in show.browser.text("#tooltip")


def test_while_a_fault_is_shown_the_tooltip_tells_what_the_picture_shows(show: Show) -> None:
    show.template.write_text("{{ oops }}")
    show.browser.wait("!document.querySelector('.pane .problem').hidden")
    cues = [{**cue, "cue": f"now another {number}"} for number, cue in enumerate(CUES)]
    (show.folder / "cues.json").write_text(json.dumps(cues))
    show.browser.wait("document.querySelector('#list').textContent.includes('now another 1')")
    number = show.browser.run(
        "page.state.memories.findIndex((m) => m.old && m.cue === 'the second cue')"
    )
    show.point(number)
    assert "the second cue" in show.browser.text("#tooltip")
    assert "now another" not in show.browser.text("#tooltip")
    assert "the second cue" not in show.browser.text("#list")


def test_two_themes_of_one_name_are_told_apart(browser: Browser, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "mine").mkdir(parents=True)
        (tmp_path / name / "mine/theme.toml").write_text('inherits = "dense"\n')
    themes = ["--theme", "a/mine/theme.toml", "--theme", "b/mine/theme.toml"]
    made = Show(tmp_path, browser, "cues.json", *themes, panes=2)
    heads = "[...document.querySelectorAll('#prices thead th')].map((e) => e.textContent)"
    assert browser.run(heads) == ["", "a/mine/theme.toml", "b/mine/theme.toml"]
    made.end()


def test_the_keyboard_s_choice_is_in_sight_in_both_panes(browser: Browser, tmp_path: Path) -> None:
    made = Show(tmp_path, browser, "--demo", "--theme", "large", "--theme", "dense", panes=2)
    browser.run("document.querySelectorAll('#in').forEach((e) => { e.click(); e.click(); })")
    made.point(0)
    browser.run("document.querySelector('#list').focus()")
    for _ in range(30):
        browser.press("ArrowDown")
        browser.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)))")
        outside = browser.run(
            """[...document.querySelectorAll('.stage')].filter((stage) => {
              const edge = stage.getBoundingClientRect();
              const mark = stage.querySelector('.mark:not(.under)').getBoundingClientRect();
              return mark.right < edge.left || mark.left > edge.right
                || mark.bottom < edge.top || mark.top > edge.bottom;
            }).length"""
        )
        assert outside == 0
    active = "document.querySelector('#list').getAttribute('aria-activedescendant')"
    chosen = "document.querySelector('#list [aria-selected=true]').id"
    assert browser.run(active) == browser.run(chosen)
    made.end()


def test_an_error_in_the_template_shows_its_line_and_the_last_good_picture(show: Show) -> None:
    good = show.shown()
    show.template.write_text(TEMPLATE.replace("in styles", "in stiles"))
    show.browser.wait("!document.querySelector('.pane .problem').hidden")
    assert "'stiles' is undefined" in show.problem() and "mural.svg.j2:7" in show.problem()
    assert "in stiles" in show.browser.text(".pane .problem .fault")
    assert show.shown() == good and "the last good picture" in show.browser.text(".facts")
    assert show.browser.run("document.querySelector('.sheet img').naturalWidth") == 1092
    show.template.write_text(TEMPLATE)
    show.browser.wait("document.querySelector('.pane .problem').hidden")
    assert show.shown() == good


def test_what_a_cue_says_is_never_markup(show: Show) -> None:
    show.point(0)
    assert SPOOF in show.browser.text("#tooltip") and SPOOF in show.browser.text("#list")
    images = (
        "[...document.querySelectorAll('#tooltip img, #list img, #details img, aside b')].length"
    )
    assert show.browser.run(images) == 0
    assert show.browser.run("document.title") == "muralkit preview"


def test_the_list_has_dropped_memories_and_is_used_by_keys(show: Show) -> None:
    browser = show.browser
    browser.run("document.querySelector('#list').focus()")
    for _ in range(2):
        browser.press("ArrowDown")
    assert "Memory é, " in browser.text("#details")
    assert browser.run("document.querySelectorAll('.mark').length") == 1
    browser.press("End")
    assert "Memory 4, ARCHITECTURE, importance 5" in browser.text("#details")
    assert "dropped: nothing to draw" in browser.text("#details")
    active = browser.run("document.querySelector('#list').getAttribute('aria-activedescendant')")
    assert active == "memory-3"
    browser.press("Escape")
    assert "Point at a line" in browser.text("#details")
    browser.press("/")
    browser.type("second")
    assert browser.run("document.querySelectorAll('#list li').length") == 1
    browser.press("+")  # typed, no zoom
    assert browser.text("#native") == "100%"


def test_everything_can_be_reached_with_the_tab_key(show: Show) -> None:
    names = []
    for _ in range(14):
        show.browser.press("Tab")
        names.append(
            show.browser.run(
                "((e) => e.getAttribute('aria-label') || e.labels?.[0]?.textContent.trim() || "
                "e.textContent.trim() || e.id)(document.activeElement)"
            )
        )
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        if names[-1] and show.browser.run("document.activeElement !== document.body"):
            assert show.browser.run(outline) != "none", names
    text = " | ".join(map(str, names))
    for wanted in ("Beside it", "Zoom out", "Zoom in", "Copy PNG", "Save", "The mural in mine"):
        assert wanted in text, text


def test_a_second_theme_beside_the_first(show: Show) -> None:
    browser = show.browser
    browser.run(
        "(() => { const s = document.querySelector('#beside'); s.value = [...s.options]"
        ".find((o) => o.textContent === 'large').value; s.dispatchEvent(new Event('change')); })()"
    )
    show.pictures(2)
    heads = browser.run(
        "[...document.querySelectorAll('#prices thead th')].map((e) => e.textContent)"
    )
    assert heads == ["", "mine", "large"]
    prices = browser.text("#prices")
    for family in ("Claude", "Gemini 3", "Grok"):
        assert family in prices
    show.point(1, side=1)
    assert "mine: shown whole" in browser.text("#tooltip")
    assert "large: shown whole" in browser.text("#tooltip")
    tops = browser.run(
        "[...document.querySelectorAll('.pane')].map((e) => e.getBoundingClientRect().top)"
    )
    assert tops[0] == tops[1]  # side by side
    browser.resize(420, 900)
    wide = browser.run("document.documentElement.scrollWidth")
    assert wide <= 420


def test_the_png_is_copied(show: Show) -> None:
    browser = show.browser
    origin = show.url.split("/", 3)
    browser.call(
        "Browser.grantPermissions",
        origin="/".join(origin[:3]),
        permissions=["clipboardReadWrite", "clipboardSanitizedWrite"],
    )
    browser.call("Page.bringToFront")
    browser.run("document.querySelector('.copy').click()")
    browser.wait("document.querySelector('#status').textContent.includes('clipboard')")
    size = browser.run(
        """(async () => {
          const [item] = await navigator.clipboard.read();
          const image = await createImageBitmap(await item.getType("image/png"));
          return [image.width, image.height];
        })()"""
    )
    assert size == [1092, 28]
    link = browser.run("document.querySelector('.save').href")
    saved = browser.run(f"fetch({json.dumps(link)}).then((a) => a.headers.get('content-type'))")
    assert saved == "image/png"


def test_ctrl_c_ends_it_quietly_and_the_page_says_so(browser: Browser, tmp_path: Path) -> None:
    made = Show(tmp_path, browser, "cues.json", "--theme", "mine")
    code, said = made.end()
    assert code == 0 and "Traceback" not in said and "Interrupted" not in said
    browser.wait("!document.querySelector('#lost').hidden")
    assert "has ended" in browser.text("#lost")


def test_another_site_s_page_learns_nothing(show: Show, tmp_path: Path) -> None:
    """A page of another origin tries every way to read or show what is served."""
    import threading
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("<!doctype html><title>evil</title>")
    handler = lambda *args: Quiet(*args, directory=str(site))  # noqa: E731
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        picture = show.shown()
        show.browser.open(f"http://127.0.0.1:{other.server_port}/index.html")
        show.browser.wait("document.title === 'evil'")
        url = json.dumps(show.url)
        tried = show.browser.run(
            f"""(async () => {{
              const found = [];
              for (const mode of ["cors", "no-cors"]) {{
                const asked = fetch({url} + "state", {{ mode }});
                found.push(await asked.then((answer) => answer.text(), () => ""));
              }}
              found.push(await new Promise((done) => {{
                const image = new Image();
                image.onload = () => done("shown");
                image.onerror = () => done("");
                image.src = {json.dumps(picture)};
              }}));
              found.push(await new Promise((done) => {{
                const script = document.createElement("script");
                script.onload = () => done("run");
                script.onerror = () => done("");
                script.src = {url} + "page.js";
                document.head.append(script);
              }}));
              return found;
            }})()"""
        )
        assert tried == ["", "", "", ""]
        other.shutdown()
    show.browser.open("about:blank")
    show.browser.run("0")
    show.browser.events.clear()  # what the other page was refused


@pytest.mark.parametrize("cues", ["cues_1000.json", "cues_i18n.json"])
def test_large_and_foreign_sets_are_shown(browser: Browser, tmp_path: Path, cues: str) -> None:
    made = Show(tmp_path, browser, str(DATA / cues), "--theme", "mine")
    if cues == "cues_1000.json":
        assert "dropped" in browser.text(".facts")
        browser.run("document.querySelector('#only-dropped').click()")
        dropped = browser.run("page.state.panes[0].picture.counts[1]")
        assert browser.run("document.querySelectorAll('#list li').length") == dropped > 0
    assert browser.said("Runtime.exceptionThrown") == []
    made.end()
