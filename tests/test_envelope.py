"""One baseline in every harness's own JSON; the PNG is the same in all."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

import pytest

from muralkit.envelope import ENVELOPES
from muralkit.session import Baseline

PNG = bytes(range(256))
WHOLE = Baseline("<project-memory/>", "<memory-mural/>", PNG, True, "")
ALONE = Baseline("<project-memory/>", "", None, True, "")


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("name", ENVELOPES)
def test_text_first_then_the_very_png(name: str) -> None:
    text, picture = ENVELOPES[name](WHOLE)
    assert text["type"] == "text" and text["text"] == "<project-memory/>\n<memory-mural/>"
    data = max(strings(picture), key=len).removeprefix("data:image/png;base64,")
    assert base64.b64decode(data) == PNG
    assert json.loads(json.dumps(picture)) == picture


@pytest.mark.parametrize("name", ENVELOPES)
def test_without_a_picture_there_is_the_text_alone(name: str) -> None:
    [text] = ENVELOPES[name](ALONE)
    assert text["text"] == "<project-memory/>"


def test_the_shapes() -> None:
    shapes = {name: make(WHOLE)[1] for name, make in ENVELOPES.items()}
    data = base64.b64encode(PNG).decode()
    assert shapes["opencode"] == {
        "type": "file", "mime": "image/png", "filename": "memory-mural.png", "synthetic": True,
        "url": f"data:image/png;base64,{data}",
    }  # fmt: skip
    native = {"type": "image", "data": data, "mimeType": "image/png"}
    assert shapes["pi"] == shapes["omp"] == shapes["mcp"] == native
    source = {"type": "base64", "media_type": "image/png", "data": data}
    assert shapes["anthropic"] == {"type": "image", "source": source}
    url = {"url": f"data:image/png;base64,{data}"}
    assert shapes["openai"] == {"type": "image_url", "image_url": url}
