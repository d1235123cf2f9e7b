"""An SVG document's elements in; a Fault out where they can't be drawn the same everywhere."""

from __future__ import annotations

import re
from difflib import get_close_matches
from xml.etree.ElementTree import Element
from xml.parsers import expat

# What loads or runs, or what CairoSVG would draw past us, with system fonts or in
# colours that are no plates: patterns and masks have a stock surface of their own.
_UNDRAWN = frozenset(
    (
        "a",
        "feImage",
        "foreignObject",
        "image",
        "mask",
        "pattern",
        "script",
        "textPath",
        "tref",
    )
)
# What CairoSVG draws or reads of SVG 1.1; anything else it passes over without a word.
_ELEMENTS = frozenset(
    (
        "circle",
        "clipPath",
        "defs",
        "desc",
        "ellipse",
        "feBlend",
        "feFlood",
        "feOffset",
        "filter",
        "g",
        "line",
        "linearGradient",
        "marker",
        "metadata",
        "path",
        "polygon",
        "polyline",
        "radialGradient",
        "rect",
        "stop",
        "style",
        "svg",
        "switch",
        "symbol",
        "text",
        "title",
        "tspan",
        "use",
    )
)
_LENGTH_ATTRIBUTES = frozenset(
    (
        "cx",
        "cy",
        "height",
        "r",
        "rx",
        "ry",
        "stroke-width",
        "width",
        "x",
        "x1",
        "x2",
        "y",
        "y1",
        "y2",
    )
)
_LENGTH = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?:px|pt|pc|mm|cm|in|em|ex|%)?")
_NOT_NEGATIVE = frozenset(("height", "r", "rx", "ry", "stroke-width", "width"))
_OUTSIDE = re.compile(r"url\(\s*[\"']?\s*(?!#)([^)]*)|(@import[^;]*)", re.IGNORECASE)


class Fault(Exception):
    """What is wrong with an element."""

    def __init__(self, what: str, element: Element | None) -> None:
        super().__init__(what)
        self.what, self.element = what, element


def check(root: Element) -> None:
    """Raises Fault for what reaches outside the document or isn't drawn the same everywhere."""
    for element in root.iter():
        name = _local(element)
        if name in _UNDRAWN:
            raise Fault(f"<{name}> can't be drawn the same everywhere", element)
        if name not in _ELEMENTS and isinstance(element.tag, str):
            near = get_close_matches(name, _ELEMENTS, n=1)
            advice = f": did you mean <{near[0]}>?" if near else " that can be drawn"
            raise Fault(f"<{name}> is no element of SVG{advice}", element)
        styles = [element.text or ""] if name == "style" else []
        for key, value in element.attrib.items():
            if key.rpartition("}")[2] in ("href", "src") and not value.strip().startswith("#"):
                raise Fault(f"it loads {value!r} from outside", element)
            if key in _LENGTH_ATTRIBUTES:
                if not _LENGTH.fullmatch(value.strip()):
                    raise Fault(f"{key}={value!r} is no length", element)
                if key in _NOT_NEGATIVE and value.strip().startswith("-"):
                    raise Fault(f"{key}={value!r} must not be negative", element)
            if key == "systemLanguage":
                raise Fault("systemLanguage is not drawn the same everywhere", element)
            if key == "style" or "(" in value or "@" in value:
                styles.append(value)
        for style in styles:
            if "\\" in style:
                raise Fault("an escape in a style can hide what it loads", element)
            found = _OUTSIDE.search(style)
            if found:
                raise Fault(f"it loads {(found[1] or found[2]).strip()!r} from outside", element)


def _local(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def offset(svg: str, root: Element, element: Element | None) -> int | None:
    """Where an element starts in the document: elements come in the parser's order."""
    order = next((i for i, other in enumerate(root.iter()) if other is element), None)
    if order is None:
        return None
    starts: list[int] = []
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda *_: starts.append(parser.CurrentByteIndex)
    data = svg.encode("utf-8")
    parser.Parse(data, True)
    return len(data[: starts[order]].decode("utf-8")) if order < len(starts) else None
