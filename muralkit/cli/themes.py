"""`muralkit theme`."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muralkit.cli.options import JSON, emit, extra_faces, plain, theme_names

if TYPE_CHECKING:
    from muralkit.errors import MuralkitError
    from muralkit.proof import Proof
    from muralkit.theme import Theme

WARNED, UNUSABLE = 1, 2
SMALLEST = 8  # distances that are printed
CLASSIC = ("0O", "1l", "1I", "lI", "38", "5S", "8B", "HK", ".,", "-_")  # and these in any case


def _complete(_context: click.Context, _parameter: click.Parameter, start: str) -> list[Any]:
    return theme_names(start)


@click.group("theme")
def theme_group() -> None:
    """Start, check and list themes.

    \b
    Examples:
      muralkit theme new mine --from dense
      muralkit theme check mine
      muralkit theme list --page themes.html
    """


@theme_group.command("new")
@click.argument("name")
@click.option(
    "--from",
    "base",
    default="standard",
    show_default=True,
    metavar="NAME|FILE",
    help="The theme to start from.",
    shell_complete=_complete,
)
@click.option(
    "-o",
    "--output",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    metavar="FOLDER",
    help="Where the folder NAME is made; by default here.",
)
@click.option("--template", is_flag=True, help="Copy the template too, to change how it draws.")
def theme_new(name: str, base: str, folder: Path, template: bool) -> None:
    """Start a theme: a folder NAME with a theme.toml that has every key in a comment.

    \b
    Examples:
      muralkit theme new mine
      muralkit theme new mine --from dense --template -o themes
    """
    from muralkit import scaffold

    written = scaffold.create(name, base, folder, template)
    for path in written:
        click.echo(plain(str(path)))
    made = plain(shlex.quote(str(written[0].parent)))
    click.echo(f"\nNext, edit {plain(str(written[0]))}, and\n", err=True)
    click.echo(f"  muralkit preview --theme {made}     shows it while you edit", err=True)
    click.echo(f"  muralkit theme check {made}         says how well it can be read", err=True)
    click.echo("\nThe README (A theme author's guide) has worked examples.", err=True)


@theme_group.command("check")
@click.argument("theme", metavar="NAME|FILE", shell_complete=_complete)
@click.option(
    "--reader",
    metavar="PROFILE",
    help="For these readers: dense, standard or large; by default those of the theme that it "
    "inherits from.",
)
@JSON
def theme_check(theme: str, reader: str | None, as_json: bool) -> None:
    """Check a theme: does it draw, how well can it be read, and what does it cost?

    Draws the bundled demo, measures the contrast of each ink on its ground, and how
    unlike look-alikes such as 0 and O are as they are drawn, and holds that against the
    floors of the reader profiles. The exit code is 0 where all is fine, 1 with a
    warning, 2 where the theme can't be used.

    \b
    Examples:
      muralkit theme check dense
      muralkit theme check mine --reader large
      muralkit theme check mine/theme.toml --json
    """
    from muralkit import proof, readers
    from muralkit.errors import EnvironmentProblem, MuralkitError

    known = readers.profiles()
    if reader is not None and reader not in known:
        raise click.UsageError(f"There is no profile {reader!r}: take {', '.join(known)}.")
    try:
        found = proof.prove(theme, reader, extra_faces())
    except EnvironmentProblem:
        raise  # no fault of the theme
    except MuralkitError as error:
        if not as_json:
            raise
        emit({"theme": theme, "usable": False, "error": _fault(error)})
        raise click.exceptions.Exit(UNUSABLE) from error
    if as_json:
        emit(_report(found))
    else:
        _tell(found)
    if found.warnings:
        raise click.exceptions.Exit(WARNED)


def _fault(error: MuralkitError) -> dict[str, str]:
    return {"what": error.what, "where": error.where, "hint": error.hint}


def _report(found: Proof) -> dict[str, Any]:
    from muralkit import proof

    nearest = proof.digits(found.distances)
    return {
        "theme": found.theme.name,
        "path": str(found.theme.path),
        "usable": True,
        "reader": found.reader,
        "contrast": [asdict(item) for item in found.contrasts],
        "distances": [asdict(item) for item in found.distances],
        "digits": asdict(nearest) if nearest else None,
        "demo": asdict(found.demo),
        "readers": {name: list(missed) for name, missed in found.missed.items()},
        "warnings": list(found.warnings),
    }


def _tell(found: Proof) -> None:
    from muralkit import proof

    theme, demo = found.theme, found.demo
    text = theme.manifest.text

    def row(label: str, what: str) -> None:
        click.echo(f"{label:<10}{what}")

    row("theme", f"{click.style(plain(theme.name), bold=True)}, for {found.reader} readers")
    row("manifest", f"{plain(str(theme.path))} is valid")
    drawn = f"{demo.shown} of {demo.shown + demo.dropped} cues of the demo"
    row("template", f"{theme.manifest.template} draws {drawn}")
    tracking = f", tracked by {text.tracking:g}" if text.tracking else ""
    row("text", f"{text.face}, {proof.text_size(theme):g} px on {text.pitch}{tracking}")
    row("contrast", "  ".join(f"{item.ink} {item.ratio:g}" for item in found.contrasts))
    pairs = "  ".join(f"{item.pair} {item.pixels:g}" for item in found.distances[:SMALLEST])
    row("alike", f"{pairs}  (pixels of ink that differ)")
    known = {item.pair: item for item in found.distances}
    row("pairs", "  ".join(f"{pair} {known[pair].pixels:g}" for pair in CLASSIC if pair in known))
    nearest = proof.digits(found.distances)
    if nearest:
        row("digits", f"{nearest.pair} {nearest.pixels:g}, the most alike")
    row(
        "demo",
        f"{demo.tokens:,} tokens, {demo.characters_per_token:g} characters a token, "
        f"{demo.width} x {demo.height} px",
    )
    for name, missed in found.missed.items():
        word = (
            click.style("short of", fg="yellow") if missed else click.style("fit for", fg="green")
        )
        row("readers" if name == next(iter(found.missed)) else "", f"{word} {name}")
    for warning in found.warnings:
        click.echo(f"{click.style('warning', fg='yellow')}   {warning}")


@theme_group.command("list")
@click.argument("more", metavar="[NAME|FILE]...", nargs=-1, shell_complete=_complete)
@click.option("--page", metavar="FILE", help="Write a web page with small pictures of them.")
@JSON
def theme_list(more: tuple[str, ...], page: str | None, as_json: bool) -> None:
    """List the bundled themes, and your own where you name them.

    \b
    Examples:
      muralkit theme list
      muralkit theme list --json
      muralkit theme list mine --page themes.html
    """
    from muralkit import theme as themes
    from muralkit import themefile

    found = [themes.load(name) for name in dict.fromkeys([*themefile.names(), *more])]
    if page is not None:
        _write_page(page, found)
    if as_json:
        rows = [{"name": theme.name, **asdict(theme.manifest)} for theme in found]
        emit(rows)
        return
    if page is not None:
        click.echo(f"{plain(page)}: {len(found)} themes", err=True)
        return
    width = max(len(theme.name) for theme in found)
    for theme in found:
        click.echo(
            f"{click.style(plain(theme.name).ljust(width), bold=True)}  "
            f"{plain(theme.manifest.description)}"
        )


def _write_page(target: str, found: list[Theme]) -> None:
    from muralkit import gallery, output

    made = gallery.page([gallery.sample(theme) for theme in found]).encode()
    if target == "-":
        output.write_stdout(made)
    else:
        output.write(Path(target), made, 0o644)
