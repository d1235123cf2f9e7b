"""`muralkit serve`."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import click

from muralkit.cli.options import emit
from muralkit.cli.projects import PROJECT, STORE


@click.command()
@click.option("--schema", is_flag=True, help="Print every request and answer, and end.")
@PROJECT
@STORE
def serve(schema: bool, project: Path, store_path: Path | None) -> None:
    """Answer the plug-ins of harnesses: JSON-RPC 2.0, a message a line, until the input ends.

    \b
    Examples:
      echo '{"jsonrpc": "2.0", "id": 1, "method": "status"}' | muralkit serve
      muralkit serve --schema
    """
    from muralkit.server import rpc
    from muralkit.server.methods import Methods

    if schema:
        emit(rpc.schema(), indent=2)
        return
    sink = sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever a library prints is no answer
    with closing(Methods(project.absolute(), store_path)) as methods:
        rpc.serve(methods, sys.stdin.buffer, sink)
