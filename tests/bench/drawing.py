"""Rendering: what it costs in tokens, time and memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cairosvg

from muralkit import render, render_svg
from muralkit import theme as themes
from muralkit.cache import ReplayCache
from muralkit.layout import lay_out
from muralkit.model import Cue
from tests.bench.figures import Row, best
from tests.conftest import DATA, cues_of


def prices(folder: Path) -> list[Row]:
    rows = []
    dense, fitted, standard = themes.load("dense"), fit(folder), themes.load("standard")
    limits = {"50": (240, 200), "120": (510, 475), "300": (1092, 1092)}
    for name, (fixed, cheapest) in limits.items():
        for theme, limit, label in ((dense, fixed, "dense"), (fitted, cheapest, "dense, fit")):
            layout = lay_out(cues_of(name), theme, theme.faces())
            complete = not layout.dropped and not layout.escaped
            tokens = layout.canvas.tokens if complete else 99_999
            rows.append(Row(f"cues_{name} in {label}, nothing dropped", tokens, limit, "tokens"))
    for name, count in (("470", 400), ("1000", 310)):
        layout = lay_out(cues_of(name), dense, dense.faces())
        shown = len(layout.shown) if layout.canvas.tokens <= 1568 else 0
        rows.append(Row(f"cues_{name} in dense, within 1,568 tokens", shown, count, "cues", True))
    layout = lay_out(cues_of("300"), standard, standard.faces())
    tokens = 99_999 if layout.dropped else layout.canvas.tokens
    rows.append(Row("cues_300 in standard, nothing dropped", tokens, 1568, "tokens"))
    size = len(render(cues_of("300"), "dense").png) / 1000
    rows.append(Row("PNG of cues_300 in dense", size, 200, "kB"))
    return rows


def fit(folder: Path) -> themes.Theme:
    path = folder / "fit.toml"
    path.write_text('inherits = "dense"\n[canvas]\nwidth = "fit"\n')
    return themes.load(path)


def speed(folder: Path) -> list[Row]:
    cues = cues_of("300")
    document = render_svg(cues, "dense").encode()
    stock = best(lambda: cairosvg.svg2png(bytestring=document), 3)
    whole = best(lambda: render(cues, "dense"))
    cache = ReplayCache(folder / "cache")
    render(cues, "dense", cache=cache)
    hit = best(lambda: render(cues, "dense", cache=cache), 30)
    many = [
        Cue(number, f"C{number % 7}", number % 100 + 1, f"cue {number} → path/to_{number}.rs")
        for number in range(100_000)
    ]
    return [
        Row("render of cues_300, warm / stock CairoSVG on its SVG", whole / stock, 0.5, "x"),
        Row("  that render, warm", whole * 1000, 0, "ms"),
        Row("replay of cues_300, warm", hit * 1000, 5, "ms"),
        Row("render of 100,000 cues", best(lambda: render(many, "dense"), 2), 3, "s"),
    ]


def cold(folder: Path) -> list[Row]:
    """Processes from start to end, beside Python alone."""

    def run(*arguments: str) -> Callable[[], object]:
        return lambda: subprocess.run(
            [sys.executable, *arguments], check=True, capture_output=True, env=environment
        )

    environment = {"MURALKIT_HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"}
    render_it = ["-m", "muralkit", "render", str(DATA / "cues_300.json")]
    render_it += ["--theme", "dense", "-o", str(folder / "m.png")]
    bare = best(run("-c", "pass"))
    miss = best(run(*render_it, "--no-cache"))
    run(*render_it)()
    hit = best(run(*render_it))
    stock = best(run("-c", "import cairosvg"))
    return [
        Row("muralkit render, cold process, a replay", hit, 0.3, "s"),
        Row("muralkit render, cold process, a miss", miss, 0.8, "s"),
        Row("  Python alone", bare, 0, "s"),
        Row("  import cairosvg alone", stock, 0, "s"),
    ]


def memory() -> list[Row]:
    code = (
        "import json, resource, sys, muralkit\n"
        "muralkit.render(json.load(open(sys.argv[1])), 'dense')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    source = str(DATA / "cues_1000.json")
    done = subprocess.run(
        [sys.executable, "-c", code, source], check=True, capture_output=True, text=True
    )
    unit = 1 if sys.platform == "darwin" else 1024  # macOS counts bytes, Linux KiB
    return [Row("peak memory at 1,000 cues", int(done.stdout) * unit / 2**20, 120, "MiB")]
