"""An MCP client's view, by the official SDK's own client and a real process."""

from __future__ import annotations

import asyncio
import base64
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import BlobResourceContents, ImageContent, Implementation, TextContent

from muralkit.store import Draft
from muralkit.store.sqlite import SqliteStore
from tests.conftest import ROOT, switch_on

Talk = Callable[[Client], Awaitable[None]]
Converse = Callable[..., None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    from muralkit import project

    made = tmp_path / "project"
    switch_on(made)
    (tmp_path / "home").mkdir()
    with SqliteStore(tmp_path / "home/muralkit.db", project.identity(made)) as store:
        store.add(
            Draft("A", f"memory number {n} " * 3, 90 - n % 40, cue=f"cue of {n}") for n in range(60)
        )
    return made


@pytest.fixture
def converse(folder: Path, tmp_path: Path) -> Converse:
    """Start `muralkit mcp` with these arguments, and talk to it."""

    def go(talk: Talk, *arguments: str, client: str = "tester") -> None:
        async def main() -> None:
            server = StdioServerParameters(
                command=sys.executable,
                args=["-m", "muralkit", "mcp", *arguments],
                cwd=str(folder),
                env=environment(tmp_path),
            )
            about = Implementation(name=client, version="1")
            async with Client(server, client_info=about, read_timeout_seconds=60) as connected:
                await talk(connected)

        asyncio.run(main())

    return go


def environment(tmp_path: Path) -> dict[str, str]:
    return {
        "MURALKIT_HOME": str(tmp_path / "home"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
    }


def drawn(folder: Path, tmp_path: Path) -> bytes:
    """What `muralkit render` makes of the project."""
    png = tmp_path / "drawn.png"
    command = [sys.executable, "-m", "muralkit", "render", "-o", str(png)]
    subprocess.run(command, check=True, cwd=folder, env=environment(tmp_path), capture_output=True)
    return png.read_bytes()


def test_the_tools_and_resources_say_what_they_are(converse: Converse) -> None:
    async def talk(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"mural", "recall", "remember"}
        assert all(tool.description and "\n" not in tool.description for tool in tools.values())
        reads = tools["recall"].annotations
        assert reads is not None and reads.read_only_hint
        resources = {str(item.uri): item for item in (await client.list_resources()).resources}
        assert set(resources) == {"muralkit://mural.png", "muralkit://memories.txt"}

    converse(talk)


def test_a_client_that_takes_images_gets_text_and_picture(
    converse: Converse, folder: Path, tmp_path: Path
) -> None:
    async def talk(client: Client) -> None:
        first = await client.call_tool("mural", {})
        text, image = first.content
        assert isinstance(text, TextContent) and isinstance(image, ImageContent)
        assert text.text.startswith("<project-memory>") and "<memory-mural>" in text.text
        assert image.mime_type == "image/png"
        assert base64.b64decode(image.data) == drawn(folder, tmp_path)
        await client.call_tool("remember", {"content": "Something new.", "importance": 100})
        assert (await client.call_tool("mural", {})).content == first.content
        [blob] = (await client.read_resource("muralkit://mural.png")).contents
        assert isinstance(blob, BlobResourceContents) and blob.blob == image.data
        [listed] = (await client.read_resource("muralkit://memories.txt")).contents
        assert "<memory-mural>" not in str(listed) and "memory number" in str(listed)

    converse(talk, "--inputs", "text,image")


@pytest.mark.parametrize("arguments", [(), ("--inputs", "text"), ("--model", "a/b")])
def test_any_other_client_gets_text_alone(converse: Converse, arguments: tuple[str, ...]) -> None:
    async def talk(client: Client) -> None:
        [text] = (await client.call_tool("mural", {})).content
        assert isinstance(text, TextContent) and "memory-mural" not in text.text
        with pytest.raises(MCPError, match=r"There is no picture: .*not known to accept images"):
            await client.read_resource("muralkit://mural.png")

    converse(talk, *arguments)


def test_the_user_may_say_that_a_client_takes_images(converse: Converse, folder: Path) -> None:
    (folder / ".muralkit/muralkit.json").write_text(
        '{"mural": {"enabled": true, "vision": {"mcp/seer*": true}},'
        ' "memory": {"injection_budget_tokens": 500}}'
    )

    async def sees(client: Client) -> None:
        assert len((await client.call_tool("mural", {})).content) == 2

    async def reads(client: Client) -> None:
        assert len((await client.call_tool("mural", {})).content) == 1

    converse(sees, client="seer-code")
    converse(reads, client="other")


def test_recall_and_remember(converse: Converse) -> None:
    async def talk(client: Client) -> None:
        fact = "The build id a3f8e5c is pinned in deploy/lock.toml."
        made = await client.call_tool("remember", {"content": fact, "category": "NAMING"})
        assert made.structured_content is not None and made.structured_content["new"]
        found = await client.call_tool("recall", {"query": "a8f8e5c"})
        assert found.structured_content is not None
        match = found.structured_content["matches"][0]
        assert match["memory"]["content"] == fact and match["certainty"] == "likely"

    converse(talk)


@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("recall", {"query": "x", "limit": 99}, "limit: It must be 50 or less"),
        ("recall", {}, "query"),
        ("remember", {"content": " "}, "must be a text that is not blank"),
        ("remember", {"content": "x", "importance": 0}, "importance: "),
        ("nothing", {}, "nothing"),
    ],
)
def test_a_bad_call_says_why_and_ends_nothing(
    converse: Converse, tool: str, arguments: dict[str, Any], says: str
) -> None:
    async def talk(client: Client) -> None:
        try:
            answer = await client.call_tool(tool, arguments)
        except MCPError as error:
            assert says in str(error)
        else:
            assert answer.is_error and says in str(answer.content)
        assert (await client.call_tool("recall", {"query": "memory"})).is_error is False

    converse(talk)


def test_without_the_sdk_the_command_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "mcp").mkdir()
    (tmp_path / "mcp/__init__.py").write_text("raise ModuleNotFoundError('No module', name='mcp')")
    done = subprocess.run(
        [sys.executable, "-m", "muralkit", "mcp"],
        capture_output=True,
        text=True,
        env={**environment(tmp_path), "PYTHONPATH": f"{tmp_path}:{ROOT}"},
        cwd=tmp_path,
    )
    assert done.returncode == 3
    assert "pip install 'muralkit[mcp]'" in done.stderr and "Traceback" not in done.stderr
