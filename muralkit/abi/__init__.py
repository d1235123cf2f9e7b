"""cairocffi's C declarations, parsed ahead of time.

At each import cairocffi parses the C headers of cairo, which takes as long as drawing
a mural. cffi can write what its parser finds as a Python module (its "out-of-line ABI
mode"): cairo.py and pixbuf.py are that. They take part only where the installed
cairocffi is, byte for byte, the one that they were made from; with any other one,
everything works as without them, a sixth of a second later.

`python -m muralkit.abi` makes them anew from the installed cairocffi.
"""

from __future__ import annotations

import hashlib
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

MADE_FROM = "c59390c04b9389197bd31c89f8f32a766e6165f07bfc70ade93fbd5e60679831"
"""The sum over the two files of cairocffi 1.7.1 that hold its declarations."""


def provide() -> bool:
    """Let the first import of cairocffi find its declarations parsed.

    Returns whether it will: not where it is imported already, or is another one, or
    xcffib adds to it.
    """
    if "cairocffi" in sys.modules or find_spec("xcffib") or sources() != MADE_FROM:
        return False
    from muralkit.abi.cairo import ffi
    from muralkit.abi.pixbuf import ffi as ffi_pixbuf

    module = ModuleType("cairocffi.ffi")
    vars(module).update(ffi=ffi, ffi_pixbuf=ffi_pixbuf)
    sys.modules[module.__name__] = module
    return True


def sources() -> str:
    """The sha256 over the installed cairocffi's declarations; empty without one."""
    spec = find_spec("cairocffi")
    if spec is None or spec.origin is None:
        return ""
    folder = Path(spec.origin).parent
    try:
        data = b"".join((folder / name).read_bytes() for name in ("constants.py", "ffi.py"))
    except OSError:
        return ""
    return hashlib.sha256(data).hexdigest()
