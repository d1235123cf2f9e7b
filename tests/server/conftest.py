"""A project with memories, and a server for it in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from muralkit.server import rpc
from muralkit.server.methods import Methods
from muralkit.store import Draft
from tests.conftest import switch_on

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the mural switched on and a small text budget."""
    monkeypatch.setenv("MURALKIT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "project"
    switch_on(folder)
    return folder


@pytest.fixture
def methods(project: Path) -> Iterator[Methods]:
    with closing(Methods(project)) as made:
        yield made


@pytest.fixture
def ask(methods: Methods) -> Ask:
    """Ask for a method; the answer's result, or its error."""

    def asked(method: str, **params: Any) -> dict[str, Any]:
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        answer = rpc.reply(methods, json.dumps(message).encode())
        assert answer["jsonrpc"] == "2.0" and answer["id"] == 7
        found: dict[str, Any] = answer["result"] if "result" in answer else answer["error"]
        return found

    return asked


@pytest.fixture
def filled(methods: Methods, project: Path) -> Methods:
    """The same with 60 memories that have cues; most are beyond the budget."""
    store = methods.places.at(project).store
    store.add(
        [Draft("A", f"memory number {n} " * 3, 90 - n % 40, cue=f"cue of {n}") for n in range(60)]
    )
    return methods
