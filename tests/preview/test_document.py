"""The SVG in a real browser, with the pinned faces: what is there is where it was measured."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from muralkit import golden, pipeline
from muralkit.layout import lay_out
from tests.conftest import ROOT
from tests.preview.browser import Browser

READ = """[...document.querySelectorAll("text")].map((text) => {
  const count = text.getNumberOfChars();
  const at = [text.x.baseVal[0].value, text.y.baseVal[0].value];
  const start = count ? text.getStartPositionOfChar(0).x : NaN;
  return [at, text.textContent, count, start, text.getComputedTextLength()];
})"""
SLACK = 0.1  # px


@pytest.mark.parametrize(
    "name", ["arabic", "hebrew", "mixed", "devanagari", "thai", "emoji", "chinese"]
)
def test_a_browser_sets_each_run_where_it_was_measured(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    case = golden.read(ROOT / f"golden/script-{name}.json")
    layout = lay_out(list(case.cues), case.theme, case.theme.faces())
    runs = {
        (round(item.x + run.x, 2), item.baseline, run.text): run
        for item in layout.placed
        for run in item.line.runs
    }
    used = {(run.family, run.weight) for run in runs.values()}
    rules = "".join(
        f"@font-face {{ font-family: {json.dumps(face.family)}; font-weight: {face.weight};"
        f" src: url(data:;base64,{base64.b64encode(face.path.read_bytes()).decode()}) }}\n"
        for face in case.theme.face_files
        if (face.family, face.weight) in used
    )
    page = tmp_path / "page.html"
    rules += "text { text-rendering: geometricPrecision }"
    rules += "[font-family^=Roboto] text { font-kerning: none }"  # as we set plain text
    svg = pipeline.render_svg(case.cues, case.theme)
    page.write_text(f"<!doctype html><meta charset=utf-8><style>{rules}</style>{svg}")
    browser.open(page.as_uri())
    browser.wait(f"document.querySelectorAll('text').length === {len(runs)}")
    browser.run("document.fonts.ready.then(() => 0)")
    texts: list[list[Any]] = browser.run(READ)
    for (x, y), text, count, start, width in texts:
        run = runs[round(x, 2), round(y), text]
        assert count == len(text.encode("utf-16-le")) // 2  # no space is lost
        width += 0.08 * run.size * text.count("--")  # only ours parts two hyphens
        assert width == pytest.approx(run.width, abs=SLACK), text
        assert start == pytest.approx(x + run.width if run.rtl else x, abs=SLACK), text
