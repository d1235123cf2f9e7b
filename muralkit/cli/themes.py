"""`muralkit theme`."""

from __future__ import annotations

from dataclasses import asdict

import click

from muralkit.cli.options import JSON, emit


@click.group("theme")
def theme_group() -> None:
    """Work with themes.

    \b
    Example:
      muralkit theme list
    """


@theme_group.command("list")
@JSON
def theme_list(as_json: bool) -> None:
    """List the bundled themes.

    \b
    Examples:
      muralkit theme list
      muralkit theme list --json
    """
    from muralkit import theme as themes
    from muralkit import themefile

    found = [themes.load(name) for name in themefile.names()]
    if as_json:
        rows = [{"name": theme.name, **asdict(theme.manifest)} for theme in found]
        emit(rows)
        return
    width = max(len(theme.name) for theme in found)
    for theme in found:
        click.echo(
            f"{click.style(theme.name.ljust(width), bold=True)}  {theme.manifest.description}"
        )
