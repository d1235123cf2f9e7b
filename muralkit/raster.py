"""SVG in, pixels out: the only importer of cairosvg.

CairoSVG draws the document; only how `<text>` becomes a path is ours. Glyphs
come from the bundled faces' outlines, by the advances that layout measured
with: no system font, fontconfig or FreeType has a say (P1, P2).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn
from xml.etree.ElementTree import Element, ParseError

import cairocffi
from cairosvg import surface as stock
from cairosvg.helpers import size as length
from cairosvg.parser import Node, Tree
from defusedxml.common import DefusedXmlException

from muralkit import document
from muralkit.document import Fault
from muralkit.errors import MuralkitError
from muralkit.glyphs.bidi import starts_rtl
from muralkit.glyphs.faces import Face, FaceSet
from muralkit.glyphs.scripts import JOINERS, shaped
from muralkit.glyphs.shape import add_up, advance, part_hyphens
from muralkit.model import Canvas
from muralkit.plates import Plates

if TYPE_CHECKING:
    from muralkit.glyphs.harfbuzz import Glyph
    from muralkit.glyphs.outline import Segment

_TEXT_TAGS = frozenset(("text", "tspan"))
# What a text element can't have, itself or by inheritance.
_NOT_ON_TEXT = frozenset(
    (
        "clip",
        "clip-path",
        "display",
        "dx",
        "dy",
        "filter",
        "font",
        "mask",
        "opacity",
        "rotate",
        "stroke",
        "textLength",
        "transform",
        "visibility",
    )
)
_ON_A_GROUP = frozenset(("clip", "clip-path", "display", "filter", "opacity", "transform"))


class DrawingError(Exception):
    """The document can't be drawn. `offset` is the fault's place in it, if known."""

    def __init__(self, what: str, offset: int | None = None) -> None:
        super().__init__(what)
        self.offset = offset


def rasterize(svg: str, canvas: Canvas, plates: Plates, faces: FaceSet) -> bytes:
    """A palette index for each pixel, one pixel a user unit, row by row.

    Raises DrawingError where the document is no SVG, is not of the canvas's size,
    reaches outside, has a colour that is no ink of the theme, or has text that
    the bundled faces can't draw.
    """
    tree = _parsed(svg)
    try:
        document.check(tree.xml_tree)
        surface = _Surface(tree, canvas, plates, faces)
    except Fault as fault:
        raise DrawingError(
            fault.what, document.offset(svg, tree.xml_tree, fault.element)
        ) from fault
    surface.cairo.flush()
    pixels = bytes(surface.cairo.get_data())
    if sys.byteorder == "big":  # ARGB32 is a native integer
        pixels = b"".join(pixels[start : start + 4][::-1] for start in range(0, len(pixels), 4))
    return plates.indices(pixels)


def _parsed(svg: str) -> Tree:
    if not svg.strip():
        raise DrawingError("the document is empty", 0)  # CairoSVG would look for a file
    try:
        tree = Tree(bytestring=svg.encode("utf-8"), url_fetcher=_refuse)
    except ParseError as error:
        line, column = error.position
        start = sum(len(text) + 1 for text in svg.split("\n")[: line - 1])
        raise DrawingError(f"not well-formed XML: {error}", start + column) from error
    except DefusedXmlException as error:
        raise DrawingError("an SVG must not declare entities", svg.find("<!")) from error
    except Fault as fault:
        raise DrawingError(fault.what, svg.find("@import")) from fault
    except Exception as error:
        raise DrawingError(f"CairoSVG can't read it: {type(error).__name__}: {error}") from error
    if tree.tag != "svg":
        raise DrawingError(f"the outermost element is <{tree.tag}>, not <svg>", 0)
    return tree


def _refuse(url: str, _kind: str) -> NoReturn:
    raise Fault(f"it loads {url!r} from outside", None)


class _Surface(stock.PNGSurface):  # type: ignore[misc]  # cairosvg has no types
    """CairoSVG's surface with our text and plates for colours; kept in memory."""

    def __init__(self, tree: Tree, canvas: Canvas, plates: Plates, faces: FaceSet) -> None:
        self._canvas, self._plates, self._faces = canvas, plates, faces
        self._glyphs: dict[tuple[Face, str | int, float], Any] = {}
        self._advances: dict[tuple[Face, float, float], dict[str, float]] = {}
        self._found: dict[tuple[str, str], Face] = {}
        self._pen = (0.0, 0.0)
        self._sources: dict[tuple[str, float], tuple[float, ...]] = {}
        self._bench = cairocffi.Context(cairocffi.ImageSurface(cairocffi.FORMAT_A8, 1, 1))
        self.font_size: float
        self._root = tree.xml_tree
        black = "#000000"  # the page's plate
        super().__init__(tree, None, dpi=96, background_color=black, map_rgba=self._plate)

    def _create_surface(self, width: float, height: float) -> tuple[Any, int, int]:
        if (width, height) != (self._canvas.width, self._canvas.height):
            raise Fault(
                f"the document is {width:g} x {height:g} px, but the layout is "
                f"{self._canvas.width} x {self._canvas.height} px",
                self._root,
            )
        surface, wide, tall = super()._create_surface(width, height)
        return surface, wide, tall

    def _plate(self, rgba: tuple[float, ...]) -> tuple[float, ...]:
        red, green, blue, alpha = rgba
        if alpha == 0:
            return 0, 0, 0, 0
        try:
            return *self._plates.plate(red, green, blue), alpha
        except KeyError:
            name = "#" + "".join(f"{round(value * 255):02x}" for value in (red, green, blue))
            raise Fault(
                f"the colour {name} is no ink of the theme (inks.extra takes two more)", None
            ) from None

    def draw(self, node: Node) -> None:
        """Draw a node and what it contains."""
        try:
            if node.tag in _TEXT_TAGS:
                self._draw_text(node)
                return
            if node.tag in ("svg", "use") and "fill" not in node:
                node["fill"] = "none"  # CairoSVG would look up black for their empty path
            super().draw(node)
        except Fault as fault:
            fault.element = _element(node) if fault.element is None else fault.element
            raise
        except MuralkitError:
            raise
        except Exception as error:
            what = f"CairoSVG can't draw it: {type(error).__name__}: {error}"
            raise Fault(what, _element(node)) from error

    def _draw_text(self, node: Node) -> None:
        """A text element's glyphs as one path, filled; then its tspans."""
        odd = _NOT_ON_TEXT & node.keys()
        if odd:
            advice = ", but on a <g> around it" if min(odd) in _ON_A_GROUP else ""
            raise Fault(f"{min(odd)} can't stand on text{advice}", None)
        if node.tag == "text":
            self._pen = (0.0, 0.0)
        outer, self.font_size = self.font_size, length(self, node.get("font-size", "12pt"))
        if node.text:
            self._append_glyphs(node, node.text)
            opacity = float(node.get("fill-opacity", 1))
            source = node.get("fill", "black"), opacity
            if source not in self._sources:
                self._sources[source] = self.map_color(*source)
            self.context.set_source_rgba(*self._sources[source])
            self.context.fill()
        for child in node.children:
            self.draw(child)
        self.font_size = outer

    def _append_glyphs(self, node: Node, text: str) -> None:
        """The glyphs from the node's x and y, or where the pen stands; the pen moves on."""
        face, size = self._face(node), self.font_size
        involved, direction = shaped(text), node.get("direction", "")
        rtl = direction == "rtl" or (involved and not direction and starts_rtl(text))
        involved = involved or rtl
        try:
            steps = (
                [glyph.advance * size for glyph in self._shape(face, text, rtl)]
                if involved
                else self._steps(face, text, length(self, node.get("letter-spacing", 0)))
            )
        except KeyError:
            bare = next(char for char in text if not face.codepoints.issuperset(_codes(char)))
            raise Fault(f"{face.file.name} has no glyph for {bare!r}", None) from None
        x, y = self._pen
        x = length(self, node["x"], "x") if "x" in node else x
        y = length(self, node["y"], "y") if "y" in node else y
        whole = add_up(steps)
        x -= _ANCHORS[direction == "rtl"].get(node.get("text-anchor", "start"), 0.0) * whole
        self._check_inside(text, ((x, y), (x + whole, y)))
        context = self.context._pointer
        _LIB.cairo_save(context)
        _LIB.cairo_translate(context, x, y)
        if involved:
            self._append_shaped(face, text, rtl)
        else:
            self._append_plain(face, text, steps)
        _LIB.cairo_restore(context)
        self._pen = (x + whole, y)

    def _steps(self, face: Face, text: str, tracking: float) -> list[float]:
        """Pixels from each character's glyph to the next. KeyError: the face has none."""
        size = self.font_size
        advances = self._advances.setdefault((face, size, tracking), {})
        for char in text:
            if char not in advances:
                advances[char] = advance(face, char, size, tracking)
        return part_hyphens([advances[char] for char in text], text, face.file.hyphen_gap * size)

    def _append_plain(self, face: Face, text: str, steps: Sequence[float]) -> None:
        context, size, paths = self.context._pointer, self.font_size, self._glyphs
        skip = 0.0  # since the last translation: spaces have no path
        for char, step in zip(text, steps, strict=True):
            if char != " ":
                key = face, char, size
                path = paths.get(key)
                if path is None:
                    outline = face.outline(ord(char))
                    path = paths[key] = _glyph_path(self._bench._pointer, outline, size)
                _LIB.cairo_translate(context, skip, 0.0)
                _LIB.cairo_append_path(context, path)
                skip = 0.0
            skip += step

    def _shape(self, face: Face, text: str, rtl: bool) -> Sequence[Glyph]:
        """The glyphs of a text that is shaped. KeyError: the face lacks a character."""
        if not face.codepoints.issuperset(_codes(text)):
            raise KeyError(text)
        return face.shape(text, rtl).glyphs

    def _append_shaped(self, face: Face, text: str, rtl: bool) -> None:
        context, size, paths = self.context._pointer, self.font_size, self._glyphs
        pen = x = y = 0.0
        for glyph in self._shape(face, text, rtl):
            key = face, glyph.number, size
            path = paths.get(key)
            if path is None:
                outline = face.glyph_outline(glyph.number)
                path = paths[key] = _glyph_path(self._bench._pointer, outline, size)
            right, down = pen + glyph.x * size, -glyph.y * size
            _LIB.cairo_translate(context, right - x, down - y)
            _LIB.cairo_append_path(context, path)
            pen, x, y = pen + glyph.advance * size, right, down

    def _check_inside(self, text: str, ends: Sequence[tuple[float, float]]) -> None:
        """Both ends of a text's baseline are on the canvas, or a reader would miss some."""
        for end in ends:
            x, y = self.context.user_to_device(*end)
            if not (0 <= x <= self._canvas.width + 0.5 and 0 <= y <= self._canvas.height):
                raise Fault(f"the text {text[:40]!r} reaches out of the canvas", None)

    def _face(self, node: Node) -> Face:
        key = node.get("font-family", ""), node.get("font-weight", "400")
        if key not in self._found:
            weight = {"normal": "400", "bold": "700"}.get(key[1], key[1])
            families = [name.strip(" \"'") for name in key[0].split(",")]
            faces = (
                self._faces.by_family(name, int(weight)) for name in families if weight.isdigit()
            )
            face = next((face for face in faces if face is not None), None)
            if face is None:
                raise Fault(f"no face is called {key[0]!r} with weight {key[1]}", None)
            self._found[key] = face
        return self._found[key]


_LIB, _FFI = cairocffi.cairo, cairocffi.ffi


_ANCHORS = (
    {"middle": 0.5, "end": 1.0},
    {"start": 1.0, "middle": 0.5},  # from right to left a text starts at its right edge
)


def _codes(text: str) -> list[int]:
    """The characters that a face must have a glyph for."""
    return [ord(char) for char in text if char not in JOINERS]


def _glyph_path(context: Any, outline: Sequence[Segment], size: float) -> Any:
    """A glyph's outline at a size as a cairo path, its origin at (0, 0).

    `context` is a bare cairo_t to build it in.
    """
    _LIB.cairo_new_path(context)
    for step, points in outline:
        scaled = [value * size for value in points]
        scaled[1::2] = [-value for value in scaled[1::2]]  # y grows downwards here
        if step == "M":
            _LIB.cairo_move_to(context, *scaled)
        elif step == "L":
            _LIB.cairo_line_to(context, *scaled)
        elif step == "C":
            _LIB.cairo_curve_to(context, *scaled)
        else:
            _LIB.cairo_close_path(context)
    return _FFI.gc(_LIB.cairo_copy_path(context), _LIB.cairo_path_destroy)


def _element(node: Node) -> Element | None:
    element = getattr(node, "element", None)
    return getattr(element, "etree_element", None)
