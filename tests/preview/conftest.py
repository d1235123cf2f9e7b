"""A browser that tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.preview.browser import PROGRAM, Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if PROGRAM is None:
        reason = "Chromium is not installed: apt-get install chromium"
        if os.environ.get("MURALKIT_REQUIRE_CHROMIUM"):
            pytest.fail(reason)
        pytest.skip(reason)
    made = Browser()
    yield made
    made.close()
