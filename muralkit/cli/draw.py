"""`muralkit render` and `muralkit demo`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muralkit.cli.cues import overflow, read_cues
from muralkit.cli.options import (
    JSON,
    NO_CACHE,
    OUTPUT,
    THEME,
    configured_theme,
    counted,
    emit,
    found_theme,
    open_cache,
    plain,
)
from muralkit.cli.projects import PROJECT, STORE
from muralkit.model import Cue, Mural, Reason

if TYPE_CHECKING:
    from muralkit.themefile import ThemeFile


@click.command()
@click.argument("cues", type=click.Path(path_type=Path, allow_dash=True), required=False)
@OUTPUT
@THEME
@click.option("--svg", "svg_file", metavar="FILE", help="Write the SVG too; - is standard output.")
@click.option("--all", "everything", is_flag=True, help="Without CUES: ignore the text budget.")
@PROJECT
@STORE
@NO_CACHE
@JSON
def render(
    cues: Path | None,
    output: str,
    theme: str | None,
    svg_file: str | None,
    everything: bool,
    project: Path,
    store_path: Path | None,
    no_cache: bool,
    as_json: bool,
) -> None:
    """Draw the project's overflow, or the cues of a file, as a PNG.

    CUES is a JSON array or JSON Lines of {id, category, importance, cue}; - reads
    standard input. Without it, the memories of the project that the text budget
    leaves out are drawn, as far as they have a current cue.

    \b
    Examples:
      muralkit render
      muralkit render --all --theme dense
      muralkit render cues.json
      muralkit render cues.jsonl --theme dense -o out/mural.png
      muralkit render - --json --no-cache < cues.json
    """
    from muralkit import cuefile, pipeline
    from muralkit.errors import TemplateError

    output, svg_file = _target(output), svg_file and _target(svg_file)
    theme = configured_theme(project) if theme is None else theme
    chosen = found_theme(theme, project)
    inputs = [] if cues is None or str(cues) == "-" else [cues]
    _check_targets([output, svg_file or "", "-" if as_json else ""], inputs, chosen)
    if cues is None:
        entries = overflow(project, store_path, everything)
    else:
        name = "standard input" if str(cues) == "-" else str(cues)
        entries = cuefile.read(read_cues(cues), name)
    document = b"" if svg_file is None else pipeline.render_svg(entries, chosen).encode()
    try:
        with open_cache(no_cache, project) as cache:
            mural = pipeline.render(entries, chosen, cache=cache)
    except TemplateError:  # the document is what the error is about
        if svg_file is not None:
            _write([(svg_file, document)])
        raise
    _write([(output, mural.png), *([(svg_file, document)] if svg_file is not None else [])])
    if as_json:
        emit(_report(mural, output, theme))
    else:
        _tell(mural, output)


@click.command()
@OUTPUT
@THEME
@NO_CACHE
@JSON
def demo(output: str, theme: str | None, no_cache: bool, as_json: bool) -> None:
    """Draw the bundled memories of an invented project, and show what it saves.

    Needs no network and no model.

    \b
    Examples:
      muralkit demo
      muralkit demo --theme dense -o dense.png
    """
    from muralkit import assets, cuefile, pipeline, pricing

    output = _target(output)
    theme = configured_theme() if theme is None else theme
    chosen = found_theme(theme)
    _check_targets([output, "-" if as_json else ""], [], chosen)
    path = assets.demo_file()
    data = path.read_bytes()
    cues = cuefile.read(data, str(path))
    with open_cache(no_cache) as cache:
        mural = pipeline.render(cues, chosen, cache=cache)
    _write([(output, mural.png)])
    memories = [json.loads(line) for line in data.decode().splitlines()]
    whole = [Cue(m["id"], m["category"], m["importance"], m["content"]) for m in memories]
    prices = {
        "picture": mural.tokens,
        "cues_as_text": pricing.text_tokens(pricing.as_text(cues)),
        "memories_as_text": pricing.text_tokens(pricing.as_text(whole)),
    }
    if as_json:
        report = _report(mural, output, theme) | {"price_in_tokens": prices}
        emit(report)
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


def _write(results: list[tuple[str, bytes]]) -> None:
    """Files first, all or none; then what goes to standard output."""
    from muralkit.output import write_all, write_stdout

    write_all([(Path(target), data) for target, data in results if target != "-"])
    for target, data in results:
        if target == "-":
            write_stdout(data)


def _target(name: str) -> str:
    """An output as it is named; standard output by any of its names is "-"."""
    return "-" if name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1") else name


def _check_targets(outputs: list[str], inputs: list[Path], theme: ThemeFile) -> None:
    """No two results in one place, and none where an input is read from."""
    targets = [target for target in outputs if target]
    if targets.count("-") > 1:
        raise click.UsageError("Only one of the PNG, the SVG and --json can go to standard output.")
    taken = {os.path.realpath(path) for path in (*inputs, *theme.sources())}
    files = [os.path.realpath(target) for target in targets if target != "-"]
    for number, file in enumerate(files):
        if file in taken or file in files[:number]:
            what = "an input" if file in taken else "another output"
            raise click.UsageError(f"{file} is {what}: give another path.")


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
    name = "standard output" if output == "-" else plain(output)
    size = f"{mural.width} x {mural.height} px, {mural.tokens:,} image tokens"
    click.echo(
        f"{click.style(name, bold=True)}: {size}, {-(-len(mural.png) // 1024)} KiB", err=True
    )
    click.echo(
        f"  shown    {len(mural.shown):,} of {len(mural.shown) + len(mural.dropped):,} cues",
        err=True,
    )
    if not mural.shown and not mural.dropped:
        click.echo("  There are no cues: the picture is empty.", err=True)
    reasons: dict[str, list[int]] = {}
    for item in mural.dropped:
        reasons.setdefault(item.reason.value, []).append(item.importance)
    for reason, ranks in reasons.items():
        note = f" (importance {max(ranks)} and less)" if reason == Reason.FULL else ""
        click.echo(f"  dropped  {len(ranks):,}: {reason}{note}", err=True)
    if mural.escaped:
        found = [f"U+{item.codepoint:04X} ({item.count})" for item in mural.escaped[:8]]
        more = ", ..." if len(mural.escaped) > 8 else ""
        total = sum(item.count for item in mural.escaped)
        number = counted(total, "character", "characters")
        click.echo(f"  escaped  {number} that no face has: {', '.join(found)}{more}", err=True)
    if mural.stripped:
        number = counted(mural.stripped, "invisible character", "invisible characters")
        click.echo(f"  stripped {number}", err=True)
