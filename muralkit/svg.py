"""A Layout and a Theme in, an SVG document out, through the theme's Jinja template.

The template runs in Jinja's sandbox with autoescape and StrictUndefined, and
may include only templates that lie beside it or are bundled.
"""

from __future__ import annotations

import gc
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import reduce
from operator import add
from types import GeneratorType
from typing import Any, TypedDict

from jinja2 import (
    BaseLoader,
    BytecodeCache,
    Environment,
    StrictUndefined,
    Template,
    TemplateNotFound,
    TemplateSyntaxError,
    nodes,
)
from jinja2 import (
    TemplateError as JinjaError,
)
from jinja2.bccache import Bucket
from jinja2.compiler import CodeGenerator, Frame
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import escape

from muralkit.errors import TemplateError
from muralkit.model import Canvas, Ink, Layout, Placed
from muralkit.theme import Theme


def draw(layout: Layout, theme: Theme) -> str:
    """The SVG document of a layout.

    Raises TemplateError with the template's file and line where it raises.
    """
    template = _template(theme)
    try:
        document = template.render(**_data(layout, theme))
    except Exception as error:
        raise _located(error, theme) from error
    try:
        document.encode("utf-8")
    except UnicodeEncodeError as error:
        raise TemplateError(
            "The template wrote a lone surrogate, which is no character.",
            where=source_line(layout, theme, error.start),
            hint="Write the character itself, or leave it out.",
        ) from error
    address = _address(document, layout)
    if address is not None:
        raise TemplateError(
            "The template wrote where an object lies in memory, which is elsewhere each time.",
            where=source_line(layout, theme, address),
            hint="Call the function, with brackets, or write one of its values.",
        )
    return document


def check_whole(document: str, layout: Layout, theme: Theme) -> None:
    """Raises TemplateError where a document lacks text of a cue: it would not be shown,
    though the mural says so.
    """
    left_out = _left_out(document, layout)
    if left_out:
        raise TemplateError(
            f"The template does not draw the text {left_out[:40]!r} of the layout.",
            where=str(_template(theme).filename),
            hint="It draws every run of a cue, whole and as it is; see `styles` in the README.",
        )


def _left_out(document: str, layout: Layout) -> str:
    """A run of a cue that the document does not have; empty where it has all of them."""
    runs = [
        run.text
        for item in layout.placed
        for run in item.line.runs
        if run.ink in (Ink.TEXT, Ink.PROHIBITION)
    ]
    wanted = Counter(str(escape("".join(runs))))
    if wanted <= Counter("".join(_BETWEEN_TAGS.findall(document))):
        return ""
    return next((text for text in runs if str(escape(text)) not in document), runs[0])


_BETWEEN_TAGS = re.compile(">([^<]+)<")


def _address(document: str, layout: Layout) -> int | None:
    """Where the document has the address of an object that no cue has, or None."""
    found = [(match.start(), match[1]) for match in _ADDRESS.finditer(document)]
    if not found:
        return None
    texts = "\n".join(run.text for item in layout.placed for run in item.line.runs)
    return next((start for start, number in found if number not in texts), None)


_ADDRESS = re.compile(r" at (0x[0-9a-f]+)(?:>|&gt;)", re.IGNORECASE)


def source_line(layout: Layout, theme: Theme, offset: int | None) -> str:
    """`file:line` of the template that wrote the SVG's character at `offset`.

    Without an offset, the template's file. Runs the template once more and watches
    which line each piece comes from, so it is for error messages only.
    """
    template = _template(theme)
    where, written = f"{template.filename}", 0
    if offset is None:
        return where
    generator = template.root_render_func(template.new_context({**_data(layout, theme)}))
    with suppress(Exception):  # it may raise where it did not the first time
        for piece in generator:
            text = str(piece)
            if written + len(text) > offset:
                before = text[: offset - written].count("\n")
                where = _yielding(generator, template) or where
                name, _, line = where.rpartition(":")
                return f"{name}:{int(line) + before}" if name and line.isdigit() else where
            written += len(text)
    return where


def _yielding(generator: Iterator[str], template: Template) -> str | None:
    """Where the innermost template of a paused generator stands.

    An include is a generator in the including one's frame; only the garbage
    collector can name it.
    """
    held: list[Any] = [generator]
    frame = None
    while generators := [item for item in held if _is_template(item)]:
        frame = generators[0].gi_frame
        held = gc.get_referents(generators[0])
    if frame is None:
        return None
    info = frame.f_globals.get("debug_info", "")
    name = frame.f_globals.get("__file__") or frame.f_code.co_filename
    line = 1
    for pair in info.split("&"):
        source, _, compiled = pair.partition("=")
        if compiled.isdigit() and int(compiled) <= frame.f_lineno:
            line = int(source)
    return f"{template.filename if name == '<template>' else name}:{line}"


@dataclass(frozen=True, slots=True)
class Text:
    """A run at its place on the canvas: x of its left edge, y of its baseline."""

    x: float
    y: int
    text: str


@dataclass(frozen=True, slots=True)
class Style:
    """All runs of one face, size, tracking, ink and direction, in the order of the page."""

    family: str
    weight: int
    size: float
    tracking: float
    colour: str
    texts: tuple[Text, ...]
    rtl: bool = False


def _is_template(item: object) -> bool:
    """Whether it is the generator of a template that has not come to its end."""
    return (
        isinstance(item, GeneratorType)
        and item.gi_frame is not None
        and "debug_info" in item.gi_frame.f_globals
    )


def _styles(layout: Layout, theme: Theme) -> tuple[Style, ...]:
    texts: dict[tuple[str, int, float, float, Ink, bool], list[Text]] = {}
    for item in layout.placed:
        for run in item.line.runs:
            key = run.family, run.weight, run.size, run.tracking, run.ink, run.rtl
            texts.setdefault(key, []).append(Text(item.x + run.x, item.baseline, run.text))
    return tuple(
        Style(family, weight, size, tracking, theme.colour(ink), tuple(found), rtl)
        for (family, weight, size, tracking, ink, rtl), found in texts.items()
    )


class TemplateData(TypedDict):
    """What a template gets, by name; guide.py makes the README's tables of it.

    `inks` and `theme` are the manifest's settings as mappings: a template may write both
    `inks.page` and `inks["page"]`.
    """

    canvas: Canvas
    placed: tuple[Placed, ...]
    styles: tuple[Style, ...]
    inks: dict[str, Any]
    layout: Layout
    theme: dict[str, Any]


def _data(layout: Layout, theme: Theme) -> TemplateData:
    return {
        "canvas": layout.canvas,
        "placed": layout.placed,
        "styles": _styles(layout, theme),
        "inks": asdict(theme.manifest.inks),
        "layout": layout,
        "theme": {**asdict(theme.manifest), "description": "", "recall": {}},  # not drawn
    }


def _template(theme: Theme) -> Template:
    environment = _environment(theme)
    try:
        return environment.get_template(theme.manifest.template)
    except TemplateNotFound as error:
        raise TemplateError(
            f"There is no template {theme.manifest.template!r}.",
            where=str(theme.path),
            hint="It is looked for beside the theme's manifest, then among the bundled ones.",
        ) from error
    except Exception as error:  # what Jinja makes of a template, Python may not compile
        raise _located(error, theme) from error


class _Loader(BaseLoader):
    """A theme's own templates, as they were read with it: those that its fingerprint is of."""

    def __init__(self, theme: Theme) -> None:
        self._templates = theme.templates

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str, Callable[[], bool]]:
        file = self._templates.get(template)
        if file is None:
            raise TemplateNotFound(template)
        if file.problem:
            raise TemplateError(
                f"The template can't be used: {file.problem}.", where=str(file.path)
            )
        try:
            return file.data.decode(), str(file.path), lambda: True
        except UnicodeDecodeError as error:
            line = file.data.count(b"\n", 0, error.start) + 1
            raise TemplateError(
                "The template is not UTF-8 text.",
                where=f"{file.path}:{line}",
                hint="Save it in that encoding.",
            ) from error


class _LineByLine(CodeGenerator):
    """Notes the line of plain text too: Jinja itself only those of expressions and tags."""

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:
        for part in node.nodes:
            self.newline(part)
            super().visit_Output(nodes.Output([part], lineno=part.lineno), frame)


class _Compiled(BytecodeCache):
    """Compiled templates, in memory, by name and content."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._known.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if len(self._known) >= 100:
            self._known.clear()
        self._known[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


def _environment(theme: Theme) -> ImmutableSandboxedEnvironment:
    """A new one for each picture: what an imported template keeps must not outlive it."""
    environment = ImmutableSandboxedEnvironment(
        loader=_Loader(theme),
        undefined=StrictUndefined,
        autoescape=True,
        auto_reload=False,
        bytecode_cache=_COMPILED,
    )
    environment.code_generator_class = _LineByLine
    environment.filters["px"] = px
    environment.filters["sum"] = _sum
    # What draws another picture each time: chance, addresses, state between renders.
    del environment.filters["random"]
    for name in ("cycler", "joiner", "lipsum", "namespace"):
        del environment.globals[name]
    return environment


def _sum(values: Iterable[Any], start: Any = 0) -> Any:
    """From left to right: the built-in sum of floats is another one from Python 3.12 on."""
    return reduce(add, values, start)


def px(value: float) -> str:
    """A length with at most two decimals: exact enough, and short."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is no length")
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _located(error: Exception, theme: Theme) -> TemplateError:
    """The error with the innermost template line that it passed through."""
    if isinstance(error, TemplateError):  # of a file that can't be used at all
        return error
    if isinstance(error, TemplateSyntaxError):
        where = f"{error.filename or theme.manifest.template}:{error.lineno}"
    else:
        where = str(theme.manifest.template)
        trace = error.__traceback__
        while trace is not None:
            filename = trace.tb_frame.f_code.co_filename
            if filename.endswith(".j2") or "__jinja_template__" in trace.tb_frame.f_globals:
                where = f"{filename}:{trace.tb_lineno}"
            trace = trace.tb_next
    if isinstance(error, TemplateNotFound):
        return TemplateError(
            f"There is no template {error.name!r}.",
            where=where,
            hint="A template includes only files NAME.j2 beside it, or bundled ones.",
        )
    what = str(error) if isinstance(error, JinjaError) else f"{type(error).__name__}: {error}"
    hint = _HINTS.get(type(error).__name__, "")
    return TemplateError(
        f"The template raised: {what or type(error).__name__}", where=where, hint=hint
    )


_HINTS: Mapping[str, str] = {
    "UndefinedError": "The README (A theme author's guide) lists what a template gets.",
    "SecurityError": "Templates run in a sandbox: they only read the data that they get.",
}
