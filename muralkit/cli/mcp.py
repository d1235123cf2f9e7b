"""`muralkit mcp`."""

from __future__ import annotations

from pathlib import Path

import click

from muralkit.cli.projects import PROJECT, STORE
from muralkit.errors import EnvironmentProblem


@click.command()
@click.option("--model", metavar="NAME", help="PROVIDER/MODEL that reads; else mcp/CLIENT.")
@click.option("--inputs", metavar="LIST", help="What the model takes, such as text,image.")
@PROJECT
@STORE
def mcp(model: str | None, inputs: str | None, project: Path, store_path: Path | None) -> None:
    """Serve an MCP client: the tools mural, recall and remember, and the mural as a resource.

    A client does not say which model reads. Give `--inputs text,image` where it accepts
    images, or name the client in mural.vision; else it gets text alone.

    \b
    Examples:
      claude mcp add muralkit -- muralkit mcp --inputs text,image
      muralkit mcp --model openai/gpt-5 --inputs text,image
    """
    try:
        from muralkit import mcp as server
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith("muralkit"):
            raise
        raise EnvironmentProblem(
            f"The MCP SDK is not installed: {error}.", hint="pip install 'muralkit[mcp]'"
        ) from error
    declared = None if inputs is None else [part.strip() for part in inputs.split(",")]
    server.run(project.absolute(), store_path, model, declared)
