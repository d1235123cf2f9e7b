"""`muralkit render` and `muralkit demo`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from muralkit.cli.options import JSON, NO_CACHE, OUTPUT, THEME, open_cache
from muralkit.model import Cue, Mural


@click.command()
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
    with open_cache(no_cache) as cache:
        mural = pipeline.render(entries, theme, cache=cache)
    write_stdout(mural.png) if output == "-" else write(Path(output), mural.png)
    if as_json:
        click.echo(json.dumps(_report(mural, output, theme)))
    else:
        _tell(mural, output)


@click.command()
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
    with open_cache(no_cache) as cache:
        mural = pipeline.render(cues, theme, cache=cache)
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
