"""Writes cairo.py and pixbuf.py from the installed cairocffi, and its sum."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import cairocffi  # noqa: F401  # the package's name for the module below is taken by the FFI
from cffi import FFI, recompiler

from muralkit import abi


def build(folder: Path) -> None:
    """Write both modules to the folder."""
    installed = sys.modules["cairocffi.ffi"]
    cairo = _own(installed.ffi._cdefsources)
    cairo.set_source("muralkit.abi.cairo", None)
    recompiler.make_py_source(cairo, "muralkit.abi.cairo", str(folder / "cairo.py"))
    pixbuf = _own(installed.ffi_pixbuf._cdefsources, cairo)
    pixbuf.set_source("muralkit.abi.pixbuf", None)
    recompiler.make_py_source(pixbuf, "muralkit.abi.pixbuf", str(folder / "pixbuf.py"))


def _own(sources: list[str], included: Any = None) -> Any:
    """An FFI of the declarations that are not those of an included one, in brackets."""
    ffi = FFI()
    if included is not None:
        ffi.include(included)
        sources = sources[sources.index("]") + 1 :]
    for source in sources:
        ffi.cdef(source)
    return ffi


if __name__ == "__main__":
    here = Path(__file__).parent
    build(here)
    code = here / "__init__.py"
    text = re.sub(
        r'MADE_FROM = ".*"', f'MADE_FROM = "{abi.sources()}"', code.read_text(encoding="utf-8")
    )
    code.write_text(text, encoding="utf-8")
