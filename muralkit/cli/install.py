"""`muralkit install` and `muralkit uninstall`."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muralkit.cli.options import plain

if TYPE_CHECKING:
    from muralkit.harness.install import Change, Scope

HARNESS = click.argument("harness", type=click.Choice(["opencode", "pi", "omp", "claude-code"]))
SCOPE = click.option(
    "--user/--project", "user", default=True, help="For all projects (the default), or this one."
)
DRY = click.option("--dry-run", is_flag=True, help="Only show what would be written.")
AGAIN = {
    "opencode": "opencode",
    "pi": "pi",
    "omp": "omp",
    "claude-code": "claude",
}


@click.command()
@HARNESS
@SCOPE
@DRY
@click.option(
    "--fetch/--no-fetch",
    default=True,
    help="OpenCode: fetch its plug-in package now, for else its next start waits for that.",
)
def install(harness: str, user: bool, dry_run: bool, fetch: bool) -> None:
    """Let a harness's agent see the mural: write its plug-in, or its entry.

    It can be run again at any time, and brings an older plug-in up to date.

    \b
    Examples:
      muralkit install opencode
      muralkit install pi --project
      muralkit install claude-code --dry-run
    """
    from muralkit.harness import install as installer

    change = installer.installing(harness, _scope(user), _root())
    _carry_out(change, dry_run, f"{harness} has it already")
    if harness == "opencode" and fetch and installer.needs_package(change):
        _fetch(change, dry_run)
    if dry_run:
        return
    if not _enabled():
        click.echo(
            "The mural is still switched off: `muralkit config set mural.enabled true` switches "
            "it on."
        )
    click.echo(f"Start {AGAIN[harness]} anew; `muralkit uninstall {harness}` takes it out.")


@click.command()
@HARNESS
@SCOPE
@DRY
def uninstall(harness: str, user: bool, dry_run: bool) -> None:
    """Take out of a harness what `muralkit install` wrote.

    \b
    Examples:
      muralkit uninstall opencode
      muralkit uninstall claude-code --project --dry-run
    """
    from muralkit.harness import install as installer

    change = installer.removing(harness, _scope(user), _root())
    missing = f"{harness} has nothing of muralkit there"
    if change.before is not None and change.theirs and not change.needed:
        missing = "what stands there is not muralkit's, and is left alone"
    _carry_out(change, dry_run, missing)


def _carry_out(change: Change, dry_run: bool, nothing: str) -> None:
    from muralkit.harness import install as installer

    place = plain(str(change.path))
    if not change.needed:
        click.echo(f"{place}: {nothing}.")
        return
    if dry_run:
        _show(change)
        return
    installer.apply(change)
    if change.backup is not None:
        click.echo(f"{plain(str(change.backup))}: a copy of what stood there.")
    verb = "removed" if change.after is None else "changed" if change.before else "written"
    click.echo(f"{place}: {verb}.")


def _show(change: Change) -> None:
    """The difference, as `diff -u` prints it."""

    def lines(data: bytes | None) -> list[str]:
        return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)

    def name(data: bytes | None) -> str:
        return "/dev/null" if data is None else str(change.path)

    old, new = change.before, change.after
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for line in difflib.unified_diff(lines(old), lines(new), name(old), name(new)):
        click.echo(click.style(plain(line.rstrip("\n")), fg=colours.get(line[0])))


def _fetch(change: Change, dry_run: bool) -> None:
    from muralkit.harness import install as installer

    folder = plain(str(change.path.parent.parent))
    if dry_run:
        click.echo(f"npm would install OpenCode's package @opencode-ai/plugin in {folder}.")
        return
    click.echo(f"Fetching OpenCode's package @opencode-ai/plugin into {folder} ...", err=True)
    problem = installer.fetch_package(change)
    if problem:
        click.echo(
            f"That failed ({plain(problem)}). OpenCode does it at its next start, which may then "
            "take up to two minutes.",
            err=True,
        )


def _enabled() -> bool:
    from muralkit import config
    from muralkit.errors import ConfigError

    try:
        return config.load(_root()).config.mural.enabled
    except ConfigError:
        return False


def _root() -> Path:
    from muralkit import project

    return project.root(Path())


def _scope(user: bool) -> Scope:
    return "user" if user else "project"
