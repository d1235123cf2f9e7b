"""Themes in, one HTML page with small pictures of them out; it loads nothing."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import escape

from muralkit import pipeline
from muralkit.errors import MuralkitError
from muralkit.manifest import CanvasSection
from muralkit.model import CATEGORIES, Cue, Mural
from muralkit.proof import demo_cues
from muralkit.theme import Theme

WIDTH = 392
"""Pixels of a small picture: 14 tiles, a column of it at native size."""

CUES = 4
"""Of each category; the most important ones."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A theme with its small picture, and what the whole demo costs in it."""

    theme: Theme
    picture: Mural
    tokens: int


def sample(theme: Theme) -> Sample:
    """A theme's small picture: a column of the demo.

    Raises MuralkitError where the theme can't be drawn.
    """
    cues = demo_cues()
    whole = pipeline.render(cues, theme)
    canvas = CanvasSection(width=WIDTH, columns=1)
    small = replace(theme, manifest=replace(theme.manifest, canvas=canvas))
    try:
        picture = pipeline.render(_few(cues), small)
    except MuralkitError:  # too large for a column of that width
        picture = pipeline.render(_few(cues), theme)
    return Sample(theme, picture, whole.tokens)


def _few(cues: Sequence[Cue]) -> list[Cue]:
    """The most important cues of each category."""
    ranked = sorted(cues, key=lambda cue: -cue.importance)
    return [
        cue
        for category in CATEGORIES
        for cue in [cue for cue in ranked if cue.category == category][:CUES]
    ]


def page(samples: Sequence[Sample]) -> str:
    """The page, as HTML."""
    figures = "\n".join(line for item in samples for line in _figure(item))
    return _PAGE.format(style=_STYLE, figures=figures)


def _figure(item: Sample) -> Iterator[str]:
    theme, picture = item.theme, item.picture
    name, said = escape(theme.name), escape(theme.manifest.description)
    text = theme.manifest.text
    data = base64.b64encode(picture.png).decode()
    yield f'<figure id="{name}">'
    yield (
        f'<img src="data:image/png;base64,{data}" width="{picture.width}" '
        f'height="{picture.height}" alt="The most important cues of the demo in {name}">'
    )
    yield f"<figcaption><h2>{name}</h2><p>{said}</p>"
    yield f"<p>{escape(text.face)}, {text.size:g} px on {text.pitch}.</p>"
    yield f"<p>The 120 memories of the demo take {item.tokens:,} tokens.</p></figcaption>"
    yield "</figure>"


_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif;
  --ink: #1b1f24; --ground: #f4f5f7; --soft: #5a6472; --card: #fff; --line: #d8dce2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --ground: #15181c; --soft: #a3adba; --card: #1f2429; --line: #363d46; }
}
body { margin: 0 auto; padding: 1.5rem; max-width: 1320px; color: var(--ink);
  background: var(--ground); }
h1 { font-size: 1.5rem; margin: 0; }
header p, figcaption p { color: var(--soft); margin: 0.25rem 0 0; }
main { display: grid; gap: 1.5rem; margin-top: 1.5rem; align-items: start;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); }
figure { margin: 0; padding: 0.75rem; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; }
img { display: block; max-width: 100%; height: auto; border: 1px solid var(--line); }
figcaption { margin-top: 0.75rem; font-size: 0.9rem; }
h2 { font-size: 1.05rem; margin: 0; }
"""

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; \
style-src 'unsafe-inline'">
<title>muralkit: themes</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>Themes</h1>
<p>Each shows the most important memories of the demo, at native size.</p>
</header>
<main>
{figures}
</main>
</body>
</html>
"""
