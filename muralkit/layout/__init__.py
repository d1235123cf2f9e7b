"""Cues and a theme in, a Layout with every line at a fixed position out.

rank     the most important first, ready to be measured
frame    the canvas: the theme's, or the cheapest that drops nothing
wrap     each band's cues into lines
pack     the lines into balanced columns
place    every line at its x and y
"""

from __future__ import annotations

from collections.abc import Sequence

from muralkit.glyphs.faces import FaceSet
from muralkit.layout.canvas import choose
from muralkit.layout.place import place
from muralkit.layout.rank import Ranking
from muralkit.layout.typeset import Typesetter
from muralkit.model import Cue, Layout
from muralkit.theme import Theme


def lay_out(cues: Sequence[Cue], theme: Theme, faces: FaceSet) -> Layout:
    """The finished page.

    Each cue is in `shown` or in `dropped`. Raises ThemeError where the theme's
    columns are too narrow for its size, FontError for a face that can't be used.
    """
    typesetter = Typesetter(theme, faces)
    ranking = Ranking(cues, typesetter)
    page = choose(ranking, typesetter, theme)
    return place(page, ranking, typesetter, theme)
