"""The memories for any MCP client: the mural and its text, recall, and remember.

The same answers as `muralkit serve` gives, by the official SDK. A client does not say
which model will read: who starts the server may, or `mural.vision` by the client's name.
"""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.types import ImageContent, TextContent, ToolAnnotations

from muralkit import __version__, envelope
from muralkit.errors import MuralkitError
from muralkit.server import protocol as p
from muralkit.server.methods import Methods

ABOUT = (
    "Durable notes of this project, kept across sessions. Call mural at the start of a task; "
    "recall before you use a name, number or path that you read in its picture; remember for "
    "what the next session should know."
)
MURAL = (
    "The project's memories: the most important as text, and, where the model takes pictures, a "
    "picture of more of them, with the key to its signs."
)
RECALL = (
    "Find the memory behind what was read: a name, a number, or a few words. A name may have been "
    "misread in the picture; only what stands in a memory to the letter is exact."
)
REMEMBER = (
    "Keep a durable fact of this project for later sessions. One fact, with its names, paths and "
    "reason in full. The usual categories are PROJECT_RULES, ARCHITECTURE, CONSTRAINTS, "
    "CONFIG_VALUES and NAMING; importance is 1 to 100."
)
PICTURE = "muralkit://mural.png"
TEXT = "muralkit://memories.txt"


def build(methods: Methods, model: str | None, inputs: list[str] | None) -> MCPServer:
    """The server; `model` and `inputs` as a harness would say them of its turn."""
    client = "unknown"

    async def note(ctx: ServerRequestContext[Any], call_next: CallNext) -> HandlerResult:
        """Keep the name that the client has given itself; it need not."""
        nonlocal client
        params = ctx.session.client_params
        if params is not None and params.client_info.name:
            client = params.client_info.name
        return await call_next(ctx)

    server = MCPServer(
        "muralkit",
        instructions=ABOUT,
        version=__version__,
        log_level="ERROR",
        middleware=[note],
    )
    session = str(uuid.uuid4())
    reads = ToolAnnotations(read_only_hint=True, open_world_hint=False)

    def baseline() -> p.BaselineAnswer:
        reader = model or f"mcp/{client}"
        asked = {"harness": "mcp", "session": session, "model": reader, "inputs": inputs}
        return methods.baseline(p.checked(p.BaselineRequest, asked))

    # `async`, so that all run in the one thread that has opened the store.

    @server.tool(description=MURAL, annotations=reads, structured_output=False)
    async def mural() -> list[TextContent | ImageContent]:
        answer = baseline()
        parts: list[TextContent | ImageContent] = []
        for part in answer.parts:
            kind = ImageContent if part["type"] == "image" else TextContent
            parts.append(kind.model_validate(part))
        nothing = f"There are no memories to show: {answer.reason}."
        return parts or [TextContent(type="text", text=nothing)]

    @server.tool(description=RECALL, annotations=reads)
    async def recall(query: str, limit: int = 5) -> p.RecallAnswer:
        try:
            return methods.recall(p.checked(p.RecallRequest, {"query": query, "limit": limit}))
        except MuralkitError as error:
            raise ToolError(str(error)) from error

    @server.tool(
        description=REMEMBER,
        annotations=ToolAnnotations(destructive_hint=False, open_world_hint=False),
    )
    async def remember(
        content: str, category: str = "PROJECT_RULES", importance: int | None = None
    ) -> p.AddAnswer:
        asked = {"content": content, "category": category, "importance": importance}
        try:
            return methods.add(p.checked(p.AddRequest, asked))
        except MuralkitError as error:
            raise ToolError(str(error)) from error

    @server.resource(PICTURE, name="mural", mime_type="image/png")
    async def picture() -> bytes:
        """The picture of the memories beyond the text budget."""
        answer = baseline()
        png = envelope.png(answer.parts)
        if png is None:
            raise ResourceError(f"There is no picture: {answer.reason}.")
        return png

    @server.resource(TEXT, name="memories", mime_type="text/plain")
    async def memories() -> str:
        """The memories that the text budget takes."""
        return baseline().text

    return server


def run(folder: Path, store_path: Path | None, model: str | None, inputs: list[str] | None) -> None:
    """Serve over standard input and output until the input ends."""
    methods = Methods(folder, store_path)
    try:
        build(methods, model, inputs).run("stdio")
    finally:
        methods.close()
