"""The walk stays visible: imports point one way, and names are pinned."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import muralkit
from tests.conftest import ROOT

PACKAGE = ROOT / "muralkit"

# From the edge inwards. A module may import from its own row and from rows below it.
ROWS = [
    {"__main__"},
    {"cli"},
    {"doctor", "mcp"},
    {"harness"},
    {"server"},
    {"testing"},
    {"preview", "gallery"},
    {"contrasts", "envelope", "golden", "guide", "proof", "scaffold"},
    {"session"},
    {"pipeline"},
    {"place"},
    {"completers", "dreamer", "importing", "recall", "survey"},
    {"cues", "gate", "glyphpairs"},
    {"project", "selection", "store"},
    {"layout", "svg", "raster", "document", "png", "cache", "cuefile"},
    {"key", "output", "paths", "pricing", "vision"},
    {"modelsdev"},
    {"likeness", "plates"},
    {"config", "theme"},
    {"sections", "checking", "configfile", "themefile"},
    {"manifest", "jsonc", "readers", "wording"},
    {"glyphs", "native"},
    {"abi", "assets", "files"},
    {"model", "errors"},
]


def part(path: Path) -> str:
    """The module, or the package of a stage, that a file belongs to."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """The parts of muralkit that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = node.module.split(".")
            if names[0] == "muralkit":
                found |= {names[1]} if len(names) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("muralkit.")}
    return found - {"__version__"}


def files() -> list[Path]:
    return [
        path
        for path in PACKAGE.rglob("*.py")
        if path.name != "__init__.py" or path.parent != PACKAGE
    ]


def test_every_module_has_a_row() -> None:
    assert {part(path) for path in files()} == set().union(*ROWS)


def test_imports_point_one_way() -> None:
    row_of = {name: number for number, row in enumerate(ROWS) for name in row}
    wrong = [
        f"{part(path)} imports {name}"
        for path in files()
        for name in imports(path)
        if row_of[name] < row_of[part(path)]
    ]
    assert not wrong


def test_stages_do_not_import_one_another() -> None:
    stages = {"layout", "svg", "raster", "png", "cache"}
    wrong = [
        f"{part(path)} imports {name}"
        for path in files()
        if part(path) in stages
        for name in imports(path) & stages - {part(path)}
    ]
    assert not wrong


def test_only_the_rasterizer_imports_cairosvg() -> None:
    found = {
        path.name
        for path in files()
        if "import cairosvg" in path.read_text("utf-8")
        or "from cairosvg" in path.read_text("utf-8")
    }
    assert found == {"raster.py"}


def test_each_library_of_unicode_has_one_importer() -> None:
    found = {
        (path.name, library)
        for path in files()
        for library in ("uharfbuzz", "unicode_segmentation_rs", "bidi")
        if re.search(rf"^\s*(import|from) {library}\b", path.read_text("utf-8"), re.MULTILINE)
    }
    assert found == {
        ("harfbuzz.py", "uharfbuzz"),
        ("scripts.py", "unicode_segmentation_rs"),
        ("bidi.py", "bidi"),
    }


def test_plain_text_is_drawn_without_the_libraries_of_unicode() -> None:
    import subprocess
    import sys

    code = (
        "import json, sys, muralkit\n"
        "for name in ('300', '1000'):\n"
        "    muralkit.render(json.load(open(f'{sys.argv[1]}/cues_{name}.json')), 'dense')\n"
        "print([m for m in sys.modules if m.partition('.')[0] in %r])"
    )
    heavy = ("uharfbuzz", "bidi", "unicode_segmentation_rs", "pydantic")
    command = [sys.executable, "-c", code % (heavy,), str(ROOT / "tests/data")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_plain_text_opens_no_fallback_face_that_it_has_no_use_for() -> None:
    from muralkit import theme as themes
    from muralkit.layout import lay_out
    from tests.conftest import cues_of

    theme = themes.load("dense")
    faces = theme.faces()
    lay_out(cues_of("1000"), theme, faces)
    assert set(faces._loaded) <= {
        "Roboto Condensed", "Roboto Condensed Bold", "Muralkit Signs", "Noto Sans Math",
        "Noto Sans Symbols2",
    }  # fmt: skip


def test_no_sql_stands_outside_the_store() -> None:
    words = re.compile(r"\b(SELECT .* FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|PRAGMA)\b")
    found = {part(path) for path in files() if words.search(path.read_text("utf-8"))}
    assert found == {"store"}


def test_the_public_names_are_pinned() -> None:
    assert muralkit.__all__ == sorted(muralkit.__all__)
    assert set(muralkit.__all__) == {
        "Cue", "Dropped", "EnvironmentProblem", "Escaped", "FontError", "GoldenError", "InputError",
        "Mural", "MuralkitError", "OutputError", "Reason", "ReplayCache", "TemplateError", "Theme",
        "ThemeError", "__version__", "render", "render_svg",
    }  # fmt: skip
    for name in muralkit.__all__:
        assert getattr(muralkit, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(muralkit, "draw_a_picture")


def test_importing_muralkit_is_light() -> None:
    import subprocess
    import sys

    code = "import sys, muralkit; print([m for m in sys.modules if m in %r])"
    heavy = ("cairosvg", "jinja2", "pydantic", "fontTools", "diskcache", "PIL")
    done = subprocess.run([sys.executable, "-c", code % (heavy,)], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
