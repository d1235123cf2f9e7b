"""`muralkit golden`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muralkit.cli.options import JSON, emit

if TYPE_CHECKING:
    from muralkit.golden import Outcome

CHECK_FAILED = 1


@click.group("golden")
def golden_group() -> None:
    """Hold pictures against golden images.

    \b
    Examples:
      muralkit golden check
      muralkit golden update fit
    """


GOLDEN_FOLDER = click.option(
    "--dir",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("golden"),
    show_default=True,
    help="The folder of the cases.",
)


@golden_group.command("check")
@click.argument("names", metavar="[CASE]...", nargs=-1)
@GOLDEN_FOLDER
@click.option(
    "--failures",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("golden-failures"),
    show_default=True,
    help="Where pictures of what differs go.",
)
@JSON
def golden_check(names: tuple[str, ...], folder: Path, failures: Path, as_json: bool) -> None:
    """Draw each case and compare it with its golden image.

    A failure leaves a picture behind: expected, difference, actual.

    \b
    Examples:
      muralkit golden check
      muralkit golden check overflow --dir my-theme/golden
    """
    from muralkit import golden

    outcomes = _walk(
        golden.check(found := golden.cases(folder, names), failures), len(found), as_json
    )
    failed = [outcome for outcome in outcomes if outcome.problem]
    if as_json:
        emit([_outcome(outcome) for outcome in outcomes])
    else:
        for outcome in failed:
            click.echo(f"{click.style('failed', fg='red')}  {outcome.name}: {outcome.problem}")
            if outcome.picture:
                click.echo(f"        see {outcome.picture}")
        click.echo(f"{len(outcomes) - len(failed)} of {len(outcomes)} cases are as expected.")
    if failed:
        raise click.exceptions.Exit(CHECK_FAILED)


@golden_group.command("update")
@click.argument("names", metavar="[CASE]...", nargs=-1)
@GOLDEN_FOLDER
@JSON
def golden_update(names: tuple[str, ...], folder: Path, as_json: bool) -> None:
    """Make what is drawn now the golden images. Look at each before you commit it.

    \b
    Examples:
      muralkit golden update
      muralkit golden update overflow
    """
    from muralkit import golden

    outcomes = _walk(golden.update(found := golden.cases(folder, names)), len(found), as_json)
    if as_json:
        emit([_outcome(outcome) for outcome in outcomes])
    else:
        for outcome in outcomes:
            done = f"wrote {' and '.join(outcome.written)}" if outcome.written else "unchanged"
            failed = click.style("failed: ", fg="red") + outcome.problem
            click.echo(f"{outcome.name}: {failed if outcome.problem else done}")
    if any(outcome.problem for outcome in outcomes):
        raise click.exceptions.Exit(CHECK_FAILED)


def _walk(outcomes: Any, length: int, quiet: bool) -> list[Outcome]:
    """Run through the outcomes; a bar on a terminal says how far it is."""
    if quiet or not sys.stderr.isatty():
        return list(outcomes)
    with click.progressbar(outcomes, length=length, label="Drawing", file=sys.stderr) as bar:
        return list(bar)


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {**asdict(outcome), "picture": str(outcome.picture) if outcome.picture else None}
