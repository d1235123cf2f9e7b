"""`muralkit recall`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from muralkit.cli.options import JSON, emit, plain
from muralkit.cli.projects import with_place

if TYPE_CHECKING:
    from muralkit.place import Place

COLOURS = {"exact": "green", "likely": "yellow", "possible": None}


@click.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 50), default=5, show_default=True)
@JSON
@with_place
def recall(query: str, limit: int, as_json: bool, place: Place) -> None:
    """Find the memory behind what was read: a name, a number, or a few words.

    A name may have been misread: glyphs that look alike (0 O 8, 1 l I, 5 S 6) cost
    little. Only what stands in a memory to the letter is called exact. The exit code
    is 1 where nothing is found.

    \b
    Examples:
      muralkit recall a8f8e5
      muralkit recall "ledger port" --json
    """
    from muralkit import recall as recalls
    from muralkit.importing.jsonl import as_dict

    matches = recalls.find(place.store, query, limit, recalls.confusable(place.loaded.config.mural))
    if as_json:
        emit(
            [
                {
                    "certainty": match.certainty.value,
                    "likeness": match.likeness,
                    "found": match.found,
                    "memory": as_dict(match.memory),
                }
                for match in matches
            ]
        )
    else:
        for match in matches:
            word = click.style(f"{match.certainty.value:<8}", fg=COLOURS[match.certainty.value])
            memory = match.memory
            about = plain(
                f"{memory.id:>5}  {memory.category:<14} {' '.join(memory.content.split())}"
            )
            click.echo(f"{word}  {about}")
        if not matches:
            click.echo(
                "Nothing is like it. A misread name is found by three characters or more.", err=True
            )
    if not matches:
        raise click.exceptions.Exit(1)
