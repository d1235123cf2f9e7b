"""`muralkit preview`."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muralkit.cli.cues import read_cues
from muralkit.cli.options import configured_theme, extra_faces, plain, theme_names
from muralkit.cli.projects import PROJECT, STORE

if TYPE_CHECKING:
    from muralkit.preview.sources import Source


@click.command()
@click.argument("cues", type=click.Path(path_type=Path, allow_dash=True), required=False)
@click.option(
    "--theme",
    "themes",
    multiple=True,
    metavar="NAME|FILE",
    help="The theme, else the configured one; a second one stands beside it, and more can be "
    "chosen in the page, as the bundled ones can.",
    shell_complete=lambda _context, _parameter, start: theme_names(start),
)
@click.option("--demo", is_flag=True, help="Without CUES: the bundled memories.")
@click.option("--all", "everything", is_flag=True, help="Without CUES: ignore the text budget.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="NUMBER",
    help="The port on 127.0.0.1; by default a free one.",
)
@click.option("--no-open", is_flag=True, help="Print the address, and open no browser.")
@PROJECT
@STORE
def preview(
    cues: Path | None,
    themes: tuple[str, ...],
    demo: bool,
    everything: bool,
    port: int,
    no_open: bool,
    project: Path,
    store_path: Path | None,
) -> None:
    """Show the mural in a local web page that follows what you edit.

    The page is drawn again when the template, the manifest or the cues change. Pointing
    at a line shows its memory; a second theme can stand beside the first. Only this
    machine can reach the page, and only with the address that is printed. Ctrl-C ends it.

    CUES as for `muralkit render`; without it, what the project would draw.

    \b
    Examples:
      muralkit preview --demo --theme mine
      muralkit preview cues.jsonl --theme mine --theme standard
      muralkit preview --no-open --port 8000
    """
    from muralkit.preview.server import PreviewServer
    from muralkit.preview.studio import Studio

    if cues is not None and (demo or everything):
        raise click.UsageError("CUES says what is shown: leave --demo and --all out.")
    chosen = list(dict.fromkeys(themes)) or [configured_theme(project)]
    for theme in chosen:
        _check_there(theme)
    source = _source(cues, demo, everything, project, store_path)
    studio = Studio(source, chosen, extra_faces(project))
    with PreviewServer(studio, port) as server:
        studio.start()
        click.echo(server.url)
        sys.stdout.flush()
        click.echo("The mural is at this address until Ctrl-C.", err=True)
        if not no_open and _has_screen():
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(server.ticket(),), daemon=True).start()
        try:
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:  # that is how it ends
            pass
        finally:
            studio.close()


def _check_there(theme: str) -> None:
    """A theme that is not there is an error now; one with a fault is shown with it."""
    from muralkit import themefile
    from muralkit.errors import ThemeError

    try:
        themefile.find(theme)
    except ThemeError:
        if not Path(theme).exists():
            raise


def _source(
    cues: Path | None, demo: bool, everything: bool, project: Path, store_path: Path | None
) -> Source:
    from muralkit import cuefile
    from muralkit.preview import sources

    if demo:
        return sources.demo()
    if cues is None:
        found = sources.Project(project, store_path, everything)
        found.load()  # what can't be opened is an error now
        return found
    if cues.is_file():
        source = sources.CueFile(cues.absolute())
        cuefile.read(read_cues(cues), str(cues))
        return source
    name = "standard input" if str(cues) == "-" else plain(str(cues))
    data = read_cues(cues)
    cuefile.read(data, name)
    return sources.Given(data, name)


def _has_screen() -> bool:
    """Whether a browser would have a window: those in a terminal would take it over."""
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
