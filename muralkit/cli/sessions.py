"""`muralkit baseline`, `muralkit fold` and `muralkit sessions`."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muralkit.cli.options import JSON, counted, emit, line
from muralkit.cli.projects import PROJECT, STORE, with_place

if TYPE_CHECKING:
    from muralkit.place import Place

HARNESS = click.Choice(["opencode", "pi", "omp", "mcp", "anthropic", "openai"])


@click.command()
@click.option("--harness", type=HARNESS, required=True, help="Who asks; also the envelope.")
@click.option("--session", required=True, metavar="ID", help="The harness's session.")
@click.option("--model", required=True, metavar="NAME", help="PROVIDER/MODEL of this turn.")
@click.option("--system", default="", metavar="HASH", help="A hash of the system prompt.")
@click.option("--inputs", metavar="LIST", help="What the model takes, such as text,image.")
@click.option("--fold", is_flag=True, help="Fold, whatever has changed.")
@PROJECT
@STORE
def baseline(
    harness: str,
    session: str,
    model: str,
    system: str,
    inputs: str | None,
    fold: bool,
    project: Path,
    store_path: Path | None,
) -> None:
    """Print a session's context baseline as JSON: folded anew, or replayed byte for byte.

    It never fails an agent: where nothing can be read, it is empty, and says why.

    \b
    Examples:
      muralkit baseline --harness pi --session 1 --model openai/gpt-5 --inputs text,image
      muralkit baseline --harness anthropic --session s --model anthropic/claude-opus-4-8
    """
    from muralkit.server.methods import Methods
    from muralkit.server.protocol import BaselineRequest, checked

    declared = None if inputs is None else [part.strip() for part in inputs.split(",")]
    about = {"harness": harness, "session": session, "model": model, "system": system}
    asked = checked(BaselineRequest, {**about, "inputs": declared, "fold": fold})
    with closing(Methods(project, store_path)) as methods:
        emit(methods.baseline(asked).model_dump())


@click.command()
@click.option("--harness", type=HARNESS, help="Only sessions of this one.")
@click.option("--session", metavar="ID", help="Only this one.")
@with_place
def fold(harness: str | None, session: str | None, place: Place) -> None:
    """Let sessions fold at their next turn, so that new memories and cues come in.

    \b
    Examples:
      muralkit fold
      muralkit fold --harness opencode --session ses_123
    """
    number = place.own.ask_fold(harness, session)
    click.echo(f"{counted(number, 'session', 'sessions')} will fold at the next turn.")


@click.command()
@JSON
@with_place
def sessions(as_json: bool, place: Place) -> None:
    """List the sessions, the one used last first: when they folded, and why.

    \b
    Examples:
      muralkit sessions
      muralkit sessions --json
    """
    found = place.own.baselines()
    if as_json:
        emit(
            [
                {
                    "harness": item.harness,
                    "session": item.session,
                    "project": item.project,
                    "model": item.facts.get("model"),
                    "folded_at": item.folded_at,
                    "used_at": item.used_at,
                    "folds": item.folds,
                    "reason": item.reason,
                    "picture": None if item.png is None else len(item.png),
                    "damaged": item.damaged,
                }
                for item in found
            ]
        )
        return
    for item in found:
        when = datetime.fromtimestamp(item.used_at).astimezone()
        picture = "damaged" if item.damaged else "picture" if item.png else "text"
        name = click.style(line(f"{item.harness} {item.session}"), bold=True)
        about = line(f"{item.facts.get('model', '')} in {item.project}")
        folds = counted(item.folds, "fold", "folds")
        click.echo(f"{name}  {when:%Y-%m-%d %H:%M}  {folds}, {picture}: {line(item.reason)}")
        click.echo(f"  {about}")
