"""The command line: arguments in, printing out. What it does, other modules do.

Results go to standard output, talk to standard error. Exit codes: 0 done, 1 a
check failed, 2 wrong usage or bad input, 3 the system lacks something, 4 a file
can't be written, 130 interrupted.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muralkit import __version__
from muralkit.errors import EnvironmentProblem, MuralkitError, OutputError
from muralkit.model import Cue, Mural

if TYPE_CHECKING:
    from muralkit.cache import ReplayCache
    from muralkit.golden import Outcome

CHECK_FAILED, BAD_INPUT, LACKS, UNWRITABLE, INTERRUPTED = 1, 2, 3, 4, 130

THEME = click.option(
    "--theme",
    default="standard",
    show_default=True,
    metavar="NAME|FILE",
    help="A bundled theme, or the path of a manifest or its folder.",
    shell_complete=lambda _context, _parameter, start: _theme_names(start),
)
OUTPUT = click.option(
    "-o",
    "--output",
    default="mural.png",
    show_default=True,
    metavar="FILE",
    help="Where the PNG goes; - is standard output.",
)
NO_CACHE = click.option("--no-cache", is_flag=True, help="Draw anew, and keep nothing.")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON to standard output.")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Returns the exit code."""
    # pydantic asks every installed package for plug-ins: 20 ms, and none is ours.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        code = cli.main(
            args=None if arguments is None else list(arguments),
            prog_name="muralkit",
            standalone_mode=False,
            color=_colour(),
        )
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has gone, as in `muralkit theme list | head -1`.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except MuralkitError as error:
        _complain(error)
        if isinstance(error, EnvironmentProblem):
            return LACKS
        return UNWRITABLE if isinstance(error, OutputError) else BAD_INPUT
    return code if isinstance(code, int) else 0  # click hands on what Exit was raised with


def _colour() -> bool | None:
    """What click takes: never, or where it is a terminal. See https://no-color.org."""
    return False if os.environ.get("NO_COLOR") else None


def _complain(error: MuralkitError) -> None:
    place = f"{error.where}: " if error.where else ""
    label = click.style("Error: ", fg="red", bold=True)
    click.echo(label + place + error.what, err=True, color=_colour())
    if error.hint:
        click.echo(error.hint, err=True)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="muralkit")
def cli() -> None:
    """Draw a project's memories as one PNG that vision models read.

    \b
    Try it:
      muralkit demo
      muralkit render cues.jsonl -o mural.png
    """


@cli.command()
@click.argument("cues", type=click.Path(path_type=Path, allow_dash=True))
@OUTPUT
@THEME
@click.option("--svg", "svg_file", metavar="FILE", help="Write the SVG too; - is standard output.")
@NO_CACHE
@JSON
def render(
    cues: Path, output: str, theme: str, svg_file: str | None, no_cache: bool, as_json: bool
) -> None:
    """Draw the cues of a file as a PNG.

    CUES is a JSON array or JSON Lines of {id, category, importance, cue}; - reads
    standard input.

    \b
    Examples:
      muralkit render cues.json
      muralkit render cues.jsonl --theme dense -o out/mural.png
      muralkit render - --json --no-cache < cues.json
    """
    from muralkit import cuefile, pipeline
    from muralkit.output import write, write_stdout

    to_stdout = [name for name in (output, svg_file, "-" if as_json else None) if name == "-"]
    if len(to_stdout) > 1:
        raise click.UsageError("Only one of the PNG, the SVG and --json can go to standard output.")
    name = "standard input" if str(cues) == "-" else str(cues)
    entries = cuefile.read(_read(cues), name)
    if svg_file is not None:
        document = pipeline.render_svg(entries, theme).encode()
        write_stdout(document) if svg_file == "-" else write(Path(svg_file), document)
    mural = pipeline.render(entries, theme, cache=_cache(no_cache))
    write_stdout(mural.png) if output == "-" else write(Path(output), mural.png)
    if as_json:
        click.echo(json.dumps(_report(mural, output, theme)))
    else:
        _tell(mural, output)


@cli.command()
@OUTPUT
@THEME
@NO_CACHE
@JSON
def demo(output: str, theme: str, no_cache: bool, as_json: bool) -> None:
    """Draw the bundled memories of an invented project, and show what it saves.

    Needs no network and no model.

    \b
    Examples:
      muralkit demo
      muralkit demo --theme dense -o dense.png
    """
    from muralkit import assets, cuefile, pipeline, pricing
    from muralkit.output import write, write_stdout

    if output == "-" and as_json:
        raise click.UsageError("Only one of the PNG and --json can go to standard output.")
    path = assets.demo_file()
    data = path.read_bytes()
    cues = cuefile.read(data, str(path))
    mural = pipeline.render(cues, theme, cache=_cache(no_cache))
    write_stdout(mural.png) if output == "-" else write(Path(output), mural.png)
    memories = [json.loads(line) for line in data.decode().splitlines()]
    whole = [Cue(m["id"], m["category"], m["importance"], m["content"]) for m in memories]
    prices = {
        "picture": mural.tokens,
        "cues_as_text": pricing.text_tokens(pricing.as_text(cues)),
        "memories_as_text": pricing.text_tokens(pricing.as_text(whole)),
    }
    if as_json:
        report = _report(mural, output, theme) | {"price_in_tokens": prices}
        click.echo(json.dumps(report))
        return
    _tell(mural, output)
    click.echo(
        f"\nWhat the {len(cues)} memories cost an agent, in tokens (text is estimated):", err=True
    )
    for label, price in (
        ("this picture", prices["picture"]),
        ("the same cues as text", prices["cues_as_text"]),
        ("the memories in full", prices["memories_as_text"]),
    ):
        click.echo(f"  {label:<22}{price:>7,}", err=True)


@cli.group("theme")
def theme_group() -> None:
    """Work with themes."""


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
        rows = [{"name": theme.name, **theme.manifest.model_dump(mode="json")} for theme in found]
        click.echo(json.dumps(rows))
        return
    width = max(len(theme.name) for theme in found)
    for theme in found:
        click.echo(
            f"{click.style(theme.name.ljust(width), bold=True)}  {theme.manifest.description}"
        )


@cli.group("golden")
def golden_group() -> None:
    """Hold pictures against golden images."""


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
        click.echo(json.dumps([_outcome(outcome) for outcome in outcomes]))
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
        click.echo(json.dumps([_outcome(outcome) for outcome in outcomes]))
        return
    for outcome in outcomes:
        click.echo(f"{outcome.name}: {outcome.problem or 'unchanged'}")


@cli.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Examples:
      muralkit completion bash >> ~/.bashrc
      muralkit completion fish > ~/.config/fish/completions/muralkit.fish
    """
    from click.shell_completion import BashComplete, FishComplete, ZshComplete

    made = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}[shell]
    click.echo(made(cli, {}, "muralkit", "_MURALKIT_COMPLETE").source())


def _read(path: Path) -> bytes:
    if str(path) == "-":
        if sys.stdin.isatty():
            click.echo("Reading cues from the terminal; end with Ctrl-D.", err=True)
        return sys.stdin.buffer.read()
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        from muralkit.errors import InputError

        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(
            f"The file can't be read: {reason}.",
            where=str(path),
            hint="Give the path of a JSON file of cues, or - for standard input.",
        ) from error


def _cache(off: bool) -> ReplayCache | None:
    from muralkit.paths import cache_folder

    folder = None if off else cache_folder()
    if folder is None:
        return None
    from muralkit.cache import ReplayCache

    return ReplayCache(folder)


def _report(mural: Mural, output: str, theme: str) -> dict[str, Any]:
    return {
        "output": output,
        "theme": theme,
        "width": mural.width,
        "height": mural.height,
        "tokens": mural.tokens,
        "bytes": len(mural.png),
        "key": mural.key,
        "cached": mural.cached,
        "shown": list(mural.shown),
        "dropped": [
            {"id": item.memory_id, "importance": item.importance, "reason": item.reason.value}
            for item in mural.dropped
        ],
        "escaped": [
            {"character": f"U+{item.codepoint:04X}", "count": item.count} for item in mural.escaped
        ],
        "stripped": mural.stripped,
    }


def _tell(mural: Mural, output: str) -> None:
    """What a person wants to know of a picture, on standard error."""
    name = "standard output" if output == "-" else output
    size = f"{mural.width} x {mural.height} px, {mural.tokens:,} image tokens"
    click.echo(f"{click.style(name, bold=True)}: {size}, {len(mural.png) / 1024:.0f} KiB", err=True)
    click.echo(
        f"  shown    {len(mural.shown):,} of {len(mural.shown) + len(mural.dropped):,} cues",
        err=True,
    )
    reasons: dict[str, list[int]] = {}
    for item in mural.dropped:
        reasons.setdefault(item.reason.value, []).append(item.importance)
    for reason, ranks in reasons.items():
        note = f"{reason} (importance {max(ranks)} and less)"
        click.echo(f"  dropped  {len(ranks):,}: {note}", err=True)
    if mural.escaped:
        found = [f"U+{item.codepoint:04X} ({item.count})" for item in mural.escaped[:8]]
        more = ", ..." if len(mural.escaped) > 8 else ""
        total = sum(item.count for item in mural.escaped)
        click.echo(
            f"  escaped  {total:,} characters that no face has: {', '.join(found)}{more}", err=True
        )
    if mural.stripped:
        click.echo(f"  stripped {mural.stripped:,} invisible characters", err=True)


def _walk(outcomes: Any, length: int, quiet: bool) -> list[Outcome]:
    """Run through the outcomes; a bar on a terminal says how far it is."""
    if quiet or not sys.stderr.isatty():
        return list(outcomes)
    with click.progressbar(outcomes, length=length, label="Drawing", file=sys.stderr) as bar:
        return list(bar)


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {**asdict(outcome), "picture": str(outcome.picture) if outcome.picture else None}


def _theme_names(start: str) -> list[Any]:
    from click.shell_completion import CompletionItem

    from muralkit import themefile

    names = [name for name in themefile.names() if name.startswith(start)]
    return [CompletionItem(name) for name in names] or [CompletionItem(start, type="file")]


if __name__ == "__main__":
    sys.exit(main())
