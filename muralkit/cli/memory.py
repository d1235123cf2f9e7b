"""`muralkit memory`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muralkit.cli.options import JSON
from muralkit.cli.projects import Place, with_place
from muralkit.errors import InputError
from muralkit.model import Memory, Status

if TYPE_CHECKING:
    from muralkit.importing import Found
    from muralkit.store import Draft

IMPORTANCE = click.IntRange(1, 100)
LONG = 500  # drafts; fewer need no progress bar


@click.group("memory")
def memory_group() -> None:
    """Keep a project's memories."""


@memory_group.command("add")
@click.argument("content")
@click.option("--category", default="PROJECT_RULES", show_default=True, help="Any text.")
@click.option("--importance", type=IMPORTANCE, help="1 to 100; left out, it counts as 50.")
@click.option("--permanent", is_flag=True, help="First in the text budget, whatever it costs.")
@JSON
@with_place
def memory_add(
    content: str,
    category: str,
    importance: int | None,
    permanent: bool,
    as_json: bool,
    place: Place,
) -> None:
    """Remember something of this project.

    \b
    Examples:
      muralkit memory add "Release notes come from docs/changes/*.md." --importance 70
      echo "$NOTE" | xargs -0 muralkit memory add --category NAMING
    """
    from muralkit.store import Draft

    status = Status.PERMANENT if permanent else Status.ACTIVE
    added = place.store.add([_checked(Draft(category, content, importance, status))])
    if as_json:
        click.echo(json.dumps({"ids": list(added.ids), "known": added.known}))
    elif added.ids:
        click.echo(f"Added memory {added.ids[0]}.")
    else:
        click.echo("That is a memory of this project already.")


def _checked(draft: Draft) -> Draft:
    """Held against the rules of an import, so that every way in is the same."""
    from muralkit.importing import jsonl

    line = json.dumps({"category": draft.category, "content": draft.content})
    found = jsonl.read(line.encode(), "the memory")
    if found.problems:
        raise InputError(f"{found.problems[0].what}.".capitalize())
    return draft


@memory_group.command("list")
@click.option("--all", "everything", is_flag=True, help="Archived and expired ones too.")
@click.option("--category", help="Only those of this category.")
@JSON
@with_place
def memory_list(everything: bool, category: str | None, as_json: bool, place: Place) -> None:
    """List the project's memories.

    \b
    Examples:
      muralkit memory list
      muralkit memory list --category NAMING --json
    """
    from muralkit.importing.jsonl import as_dict

    found = [
        memory
        for memory in place.store.memories(Status if everything else None)
        if category in (None, memory.category)
    ]
    if as_json:
        click.echo(json.dumps([as_dict(memory) for memory in found]))
        return
    for memory in found:
        mark = {"permanent": "*", "archived": "-"}.get(memory.status.value, " ")
        text = " ".join(memory.content.split())
        short = text if len(text) <= 80 else text[:79] + "…"
        number = click.style(f"{memory.id:>5}", bold=True)
        click.echo(f"{number}{mark} {memory.weight:>3}  {memory.category:<14} {short}")
    if not found and sys.stdout.isatty():
        click.echo("No memories yet. `muralkit memory import AGENTS.md` reads notes.", err=True)


@memory_group.command("show")
@click.argument("number", type=int)
@JSON
@with_place
def memory_show(number: int, as_json: bool, place: Place) -> None:
    """Show one memory whole, with its cue.

    \b
    Example:
      muralkit memory show 17
    """
    from muralkit.importing.jsonl import as_dict
    from muralkit.selection import is_current

    memory = _existing(place, number)
    cue = place.store.cues().get(number)
    current = cue is not None and is_current(memory, cue)
    if as_json:
        about = {"text": cue.text, "current": current, "model": cue.model} if cue else None
        click.echo(json.dumps({**as_dict(memory), "cue": about}))
        return
    click.echo(f"{memory.category}, importance {memory.weight}, {memory.status.value}")
    click.echo(f"since {_day(memory.created_at)}, changed {_day(memory.updated_at)}")
    if memory.expires_at is not None:
        click.echo(f"expires {_day(memory.expires_at)}")
    click.echo(f"\n{memory.content}")
    if cue and cue.text:
        click.echo(f"\ncue{'' if current else ' (stale)'}: {cue.text}")


@memory_group.command("edit")
@click.argument("number", type=int)
@click.option("--content", help="The new text; left out with the rest, your editor opens.")
@click.option("--category")
@click.option("--importance", type=IMPORTANCE)
@click.option("--permanent/--active", default=None, help="Change what becomes of it.")
@with_place
def memory_edit(
    number: int,
    content: str | None,
    category: str | None,
    importance: int | None,
    permanent: bool | None,
    place: Place,
) -> None:
    """Change a memory. Another text makes its cue stale.

    \b
    Examples:
      muralkit memory edit 17 --importance 80
      muralkit memory edit 17
    """
    from muralkit.store import Changes, Draft

    before = _existing(place, number)
    if (content, category, importance, permanent) == (None,) * 4:
        content = click.edit(before.content)
        if content is None or content.strip() == before.content:
            click.echo("Nothing was changed.")
            return
        content = content.strip()
    _checked(
        Draft(
            before.category if category is None else category,
            before.content if content is None else content,
        )
    )
    status = {None: None, True: Status.PERMANENT, False: Status.ACTIVE}[permanent]
    place.store.edit(number, Changes(category, content, importance, status))
    click.echo(f"Changed memory {number}.")


@memory_group.command("archive")
@click.argument("numbers", type=int, nargs=-1, required=True)
@with_place
def memory_archive(numbers: tuple[int, ...], place: Place) -> None:
    """Take memories out of the pool, and keep them.

    \b
    Example:
      muralkit memory archive 17 18
    """
    _set_status(place, numbers, Status.ARCHIVED, "Archived")


@memory_group.command("restore")
@click.argument("numbers", type=int, nargs=-1, required=True)
@with_place
def memory_restore(numbers: tuple[int, ...], place: Place) -> None:
    """Take archived memories back into the pool, as active ones.

    \b
    Example:
      muralkit memory restore 17
    """
    _set_status(place, numbers, Status.ACTIVE, "Restored")


@memory_group.command("import")
@click.argument("source", type=click.Path(path_type=Path, exists=True, allow_dash=True))
@click.option(
    "--format",
    "kind",
    type=click.Choice(["auto", "jsonl", "markdown", "claude", "magic-context"]),
    default="auto",
    show_default=True,
    help="By default a folder is claude, *.md markdown, *.db magic-context, the rest jsonl.",
)
@click.option(
    "--leave-out", multiple=True, metavar="HEADING", help="A Markdown heading to skip; repeatable."
)
@click.option("--skip-bad", is_flag=True, help="Import the rest where some of it is bad.")
@click.option("--dry-run", is_flag=True, help="Only show what would be added.")
@JSON
@with_place
def memory_import(
    source: Path,
    kind: str,
    leave_out: tuple[str, ...],
    skip_bad: bool,
    dry_run: bool,
    as_json: bool,
    place: Place,
) -> None:
    """Take memories from a file or folder; those that are known are not added twice.

    JSON Lines as `memory export` writes them; Markdown notes (AGENTS.md, CLAUDE.md);
    a Claude Code memory folder; this project's part of a magic-context database, with
    its current cues. All of it is added, or nothing.

    \b
    Examples:
      muralkit memory import AGENTS.md --leave-out Commands
      muralkit memory import memories.jsonl --dry-run
      muralkit memory import ~/.claude/projects/my-project/memory
      muralkit memory import ~/.local/share/cortexkit/magic-context/context.db
    """
    found = _found(source, kind, leave_out, place)
    for problem in found.problems:
        click.echo(f"{problem.where}: {problem.what}", err=True)
    if found.problems and not skip_bad:
        raise InputError(
            f"{len(found.problems)} entries can't be read; nothing was imported.",
            where=str(source),
            hint="Mend them, or import the rest with --skip-bad.",
        )
    if dry_run:
        _show_drafts(found.drafts, as_json)
        return
    added = place.store.add(_progress(found.drafts, as_json))
    if as_json:
        report = {"ids": list(added.ids), "known": added.known, "bad": len(found.problems)}
        click.echo(json.dumps(report))
        return
    click.echo(f"Added {len(added.ids):,} memories; {added.known:,} were known.")


@memory_group.command("export")
@click.option("-o", "--output", default="-", show_default=True, help="A file, or standard output.")
@click.option("--all/--pool", "everything", default=True, help="By default archived ones too.")
@with_place
def memory_export(output: str, everything: bool, place: Place) -> None:
    """Write the project's memories as JSON Lines, which `memory import` reads back.

    \b
    Examples:
      muralkit memory export > memories.jsonl
      muralkit memory export --pool -o pool.jsonl
    """
    from muralkit.importing import jsonl
    from muralkit.output import write, write_stdout

    lines = jsonl.write(place.store.memories(Status if everything else None), place.store.cues())
    data = "".join(f"{line}\n" for line in lines).encode()
    write_stdout(data) if output == "-" else write(Path(output), data)


def _existing(place: Place, number: int) -> Memory:
    found = place.store.memory(number) if abs(number) < 2**63 else None
    if found is None:
        raise InputError(
            f"There is no memory {number} in this project.",
            hint="`muralkit memory list --all` lists their numbers.",
        )
    return found


def _set_status(place: Place, numbers: Sequence[int], status: Status, done: str) -> None:
    from muralkit.store import Changes

    found = [_existing(place, number) for number in numbers]
    if status is Status.ACTIVE:  # a permanent memory that was never archived stays permanent
        found = [memory for memory in found if memory.status is Status.ARCHIVED]
    for memory in found:
        place.store.edit(memory.id, Changes(status=status))
    click.echo(f"{done} {len(found)} {'memory' if len(found) == 1 else 'memories'}.")


KINDS = {".md": "markdown", ".markdown": "markdown", ".mdc": "markdown", ".db": "magic-context"}


def _found(source: Path, kind: str, leave_out: Sequence[str], place: Place) -> Found:
    from muralkit.importing import claude, jsonl, magic, markdown

    if kind == "auto":
        kind = "claude" if source.is_dir() else KINDS.get(source.suffix.lower(), "jsonl")
    if kind == "magic-context":
        return magic.read(source, place.own)
    if kind == "claude":
        if not source.is_dir():
            raise InputError("A Claude Code memory is a folder.", where=str(source))
        return claude.read(source)
    name = "standard input" if str(source) == "-" else str(source)
    try:
        data = sys.stdin.buffer.read() if str(source) == "-" else source.read_bytes()
    except OSError as error:
        raise InputError(f"It can't be read: {error.strerror}.", where=name) from error
    return markdown.read(data, name, leave_out) if kind == "markdown" else jsonl.read(data, name)


def _progress(drafts: Sequence[Draft], quiet: bool) -> Iterator[Draft]:
    if quiet or len(drafts) < LONG or not sys.stderr.isatty():
        yield from drafts
        return
    with click.progressbar(drafts, label="Importing", file=sys.stderr) as bar:
        yield from bar


def _show_drafts(drafts: Sequence[Draft], as_json: bool) -> None:
    if as_json:
        rows = [{"category": draft.category, "content": draft.content} for draft in drafts]
        click.echo(json.dumps(rows))
        return
    for draft in drafts:
        click.echo(f"{click.style(draft.category, bold=True)}  {draft.content}")
    click.echo(f"{len(drafts):,} memories were found; none was added.", err=True)


def _day(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        return str(seconds)
