"""A baseline in, the JSON that a harness or a provider takes out; the PNG is the same in all.

Each has the text block first, and, where there is a picture, the marker at its end and
the picture behind it.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from muralkit.session import Baseline

Part = dict[str, Any]
NAME = "memory-mural.png"


def parts(harness: str, baseline: Baseline) -> list[Part]:
    """The envelope of a harness by its name; empty where there is nothing to show."""
    return ENVELOPES[harness](baseline) if baseline.text or baseline.png is not None else []


def text(baseline: Baseline) -> str:
    """The text of a baseline, with its marker."""
    return "\n".join(part for part in (baseline.text, baseline.marker) if part)


def opencode(baseline: Baseline) -> list[Part]:
    """Parts of an OpenCode message: a text part, and a file part with a data URL."""
    made: list[Part] = [{"type": "text", "text": text(baseline), "synthetic": True}]
    if baseline.png is not None:
        picture = {"type": "file", "mime": "image/png", "filename": NAME, "synthetic": True}
        made.append({**picture, "url": _url(baseline.png)})
    return made


def native(baseline: Baseline) -> list[Part]:
    """Content of a message of Pi and OMP, and of MCP: text, and an image in base64."""
    made: list[Part] = [{"type": "text", "text": text(baseline)}]
    if baseline.png is not None:
        made.append({"type": "image", "data": _base64(baseline.png), "mimeType": "image/png"})
    return made


def anthropic(baseline: Baseline) -> list[Part]:
    """Content blocks of Anthropic's Messages API."""
    made: list[Part] = [{"type": "text", "text": text(baseline)}]
    if baseline.png is not None:
        source = {"type": "base64", "media_type": "image/png", "data": _base64(baseline.png)}
        made.append({"type": "image", "source": source})
    return made


def openai(baseline: Baseline) -> list[Part]:
    """Content parts of OpenAI-compatible chat completions."""
    made: list[Part] = [{"type": "text", "text": text(baseline)}]
    if baseline.png is not None:
        made.append({"type": "image_url", "image_url": {"url": _url(baseline.png)}})
    return made


ENVELOPES: Mapping[str, Callable[[Baseline], list[Part]]] = {
    "opencode": opencode,
    "pi": native,
    "omp": native,
    "mcp": native,
    "anthropic": anthropic,
    "openai": openai,
}


def png(parts: list[Part]) -> bytes | None:
    """The picture of a native envelope; None where it has none."""
    found = (part["data"] for part in parts if part["type"] == "image")
    return next((base64.b64decode(data) for data in found), None)


def _base64(png: bytes) -> str:
    return base64.b64encode(png).decode()


def _url(png: bytes) -> str:
    return f"data:image/png;base64,{_base64(png)}"
