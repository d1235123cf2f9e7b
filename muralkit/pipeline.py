"""The walk, one call a line: cues in, a Mural out.

cuefile ─► themefile ─► key ─► cache ─► theme ─► layout ─► svg ─► raster ─► png
Cues       fingerprint  hash   a hit    Theme    Layout    str    indices   bytes
                               ends it
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from muralkit import cuefile, themefile
from muralkit.errors import TemplateError, ThemeError
from muralkit.key import key
from muralkit.model import Cue, Layout, Mural

if TYPE_CHECKING:
    from muralkit.cache import ReplayCache
    from muralkit.theme import Theme

Cues = Iterable[Cue | Mapping[str, Any]]
Palette: TypeAlias = tuple[tuple[int, int, int], ...]
AnyTheme: TypeAlias = "str | Path | themefile.ThemeFile | Theme"


def render(
    cues: Cues, theme: AnyTheme = themefile.DEFAULT, *, cache: ReplayCache | None = None
) -> Mural:
    """The mural of the cues: the same cues and theme give the same bytes everywhere.

    `cues` are Cues or mappings with id, category, importance and cue, in any
    order. `theme` is a bundled theme's name, a path, or one that was found or loaded. With a
    cache, a picture that was drawn before is replayed before any layout.

    Raises InputError, ThemeError, FontError, or EnvironmentProblem without libcairo.
    """
    ordered = _ordered(cues)
    file = _found(theme)
    name = key(ordered, file.fingerprint)
    found = cache.get(name) if cache else None
    if found is not None:
        return found
    checked = _checked(file)
    mural = _drawn(_layout(ordered, checked), checked, name)
    if cache:
        cache.put(mural)
    return mural


def page(cues: Cues, theme: AnyTheme) -> Layout:
    """The page of the cues: what a mural is a picture of."""
    return _layout(_ordered(cues), _checked(_found(theme)))


def draw(cues: Cues, layout: Layout, theme: Theme) -> Mural:
    """The mural of the cues whose page that is."""
    return _drawn(layout, theme, key(_ordered(cues), theme.fingerprint))


def _drawn(layout: Layout, theme: Theme, name: str) -> Mural:
    document = _draw(layout, theme)
    return _mural(_paint(document, layout, theme), layout, name)


def render_svg(cues: Cues, theme: AnyTheme = themefile.DEFAULT) -> str:
    """The SVG document that the mural of the cues is rasterized from."""
    ordered = _ordered(cues)
    chosen = _checked(_found(theme))
    return _draw(_layout(ordered, chosen), chosen)


def _found(theme: AnyTheme) -> themefile.ThemeFile | Theme:
    if isinstance(theme, str | Path):
        return themefile.find(theme)
    if not hasattr(theme, "fingerprint"):
        kind = type(theme).__name__
        raise ThemeError(f"A theme is a name, a path or a loaded Theme, not {kind}.")
    return theme


def _ordered(cues: Cues) -> list[Cue]:
    """Checked, and in an order that doesn't depend on how they came."""
    return sorted(cuefile.checked(cues), key=lambda cue: (str(type(cue.memory_id)), cue.memory_id))


# Each stage is imported where it runs: a replay needs none of them.


def _checked(file: themefile.ThemeFile | Theme) -> Theme:
    from muralkit import theme

    return theme.check(file) if isinstance(file, themefile.ThemeFile) else file


def _layout(cues: list[Cue], theme: Theme) -> Layout:
    from muralkit.layout import lay_out

    return lay_out(cues, theme, theme.faces())


def _draw(layout: Layout, theme: Theme) -> str:
    from muralkit import svg

    return svg.draw(layout, theme)


def _paint(document: str, layout: Layout, theme: Theme) -> bytes:
    from muralkit import png

    indices, palette = _rasterized(document, layout, theme)
    return png.encode(indices, layout.canvas.width, palette)


def pixels(layout: Layout, theme: Theme) -> tuple[bytes, Palette]:
    """A page as the theme draws it: a palette index for each pixel, row by row, and the
    palette. Raises TemplateError, or EnvironmentProblem without libcairo.
    """
    return _rasterized(_draw(layout, theme), layout, theme)


def _rasterized(document: str, layout: Layout, theme: Theme) -> tuple[bytes, Palette]:
    from muralkit.native import require_cairo

    require_cairo()
    from muralkit import raster, svg
    from muralkit.plates import Plates

    plates = Plates(theme.manifest)
    try:
        indices = raster.rasterize(document, layout.canvas, plates, theme.faces())
    except raster.DrawingError as error:
        where = svg.source_line(layout, theme, error.offset)
        raise TemplateError(
            f"The SVG can't be drawn: {error}.",
            where=where,
            hint="`muralkit render --svg FILE` writes the document that the template made.",
        ) from error
    svg.check_whole(document, layout, theme)
    return indices, plates.palette


def _mural(png: bytes, layout: Layout, name: str) -> Mural:
    return Mural(
        png=png,
        width=layout.canvas.width,
        height=layout.canvas.height,
        tokens=layout.canvas.tokens,
        key=name,
        shown=layout.shown,
        dropped=layout.dropped,
        escaped=layout.escaped,
        stripped=layout.stripped,
    )
