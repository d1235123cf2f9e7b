"""`muralkit memory`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from muralkit.cli.options import JSON, counted, emit, line, plain
from muralkit.cli.projects import PROJECT, STORE, with_place
from muralkit.errors import InputError
from muralkit.model import Memory, Status

if TYPE_CHECKING:
    from muralkit.importing import Found
    from muralkit.place import Place
    from muralkit.store import Draft, Kept

IMPORTANCE = click.IntRange(1, 100)
LONG = 500  # drafts; fewer need no progress bar
MOST = 2**28  # bytes of an import
SHOWN = 20  # problems of an import; a file of another kind has one a line


@click.group("memory")
def memory_group() -> None:
    """Keep a project's memories.

    \b
    Examples:
      muralkit memory import AGENTS.md --leave-out Commands
      muralkit memory list
    """


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
    from muralkit.importing import jsonl
    from muralkit.store import Draft

    status = Status.PERMANENT if permanent else Status.ACTIVE
    jsonl.check(category, content)
    [kept] = place.store.add([Draft(category, content, importance, status)])
    if as_json:
        emit(_report([kept]))
    elif kept.new:
        click.echo(f"Added memory {kept.memory_id}.")
    else:
        click.echo(f"That is memory {kept.memory_id} already.{_way_back(place, kept.memory_id)}")


def _way_back(place: Place, number: int) -> str:
    """What a person does about a memory that is not in the pool."""
    if any(memory.id == number for memory in place.store.memories()):
        return ""
    return f" It is archived or expired: `muralkit memory restore {number}` takes it back."


def _report(kept: Sequence[Kept], bad: int = 0) -> dict[str, Any]:
    """What an import or an addition came to, for machines."""
    return {
        "ids": [item.memory_id for item in kept if item.new],
        "known": sum(not item.new for item in kept),
        "cues": sum(item.cue for item in kept if not item.new),
        "bad": bad,
    }


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
        emit([as_dict(memory) for memory in found])
        return
    for memory in found:
        mark = {"permanent": "*", "archived": "-"}.get(memory.status.value, " ")
        text = plain(" ".join(memory.content.split()))
        short = text if len(text) <= 80 else text[:79] + "…"
        number = click.style(f"{memory.id:>5}", bold=True)
        click.echo(f"{number}{mark} {memory.weight:>3}  {line(memory.category):<14} {short}")
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
        emit({**as_dict(memory), "cue": about})
        return
    click.echo(f"{plain(memory.category)}, importance {memory.weight}, {memory.status.value}")
    click.echo(f"since {_day(memory.created_at)}, changed {_day(memory.updated_at)}")
    if memory.expires_at is not None:
        click.echo(f"expires {_day(memory.expires_at)}")
    click.echo(f"\n{plain(memory.content)}")
    if cue and cue.text:
        click.echo(f"\ncue{'' if current else ' (stale)'}: {plain(cue.text)}")


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
    from muralkit.importing import jsonl
    from muralkit.store import Changes

    before = _existing(place, number)
    if (content, category, importance, permanent) == (None,) * 4:
        content = click.edit(before.content)
        if content is None or content.strip() == before.content:
            click.echo("Nothing was changed.")
            return
        content = content.strip()
    jsonl.check(
        before.category if category is None else category,
        before.content if content is None else content,
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
    from muralkit.store import Changes

    found = [_existing(place, number) for number in numbers]
    for memory in found:
        place.store.edit(memory.id, Changes(status=Status.ARCHIVED))
    click.echo(f"Archived {counted(len(found))}.")


@memory_group.command("restore")
@click.argument("numbers", type=int, nargs=-1, required=True)
@with_place
def memory_restore(numbers: tuple[int, ...], place: Place) -> None:
    """Take archived and expired memories back into the pool, as what they were before.

    \b
    Example:
      muralkit memory restore 17
    """
    pool = {memory.id for memory in place.store.memories()}
    found = [_existing(place, number) for number in numbers]
    gone = [memory for memory in found if memory.id not in pool]
    for memory in gone:
        place.store.restore(memory.id)
    click.echo(f"Restored {counted(len(gone))}.")


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
    bad = len(found.problems)
    for problem in found.problems[:SHOWN]:
        click.echo(plain(f"{problem.where}: {problem.what}"), err=True)
    if bad > SHOWN:
        click.echo(f"... and {bad - SHOWN:,} more.", err=True)
    if bad and not skip_bad:
        raise InputError(
            f"{counted(bad, 'entry', 'entries')} can't be read; nothing was imported.",
            where=str(source),
            hint="Mend them, or import the rest with --skip-bad.",
        )
    kept = place.store.add(_progress(found.drafts, as_json), dry=dry_run)
    report = _report(kept, bad)
    new = [draft for draft, item in zip(found.drafts, kept, strict=True) if item.new]
    if as_json:
        if dry_run:
            drafts = [{"category": draft.category, "content": draft.content} for draft in new]
            report |= {"ids": [], "dry_run": True, "memories": drafts}
        emit(report)
        return
    if dry_run:
        for draft in new:
            label = click.style(plain(draft.category), bold=True)
            click.echo(f"{label}  {plain(draft.content)}")
    done = "Would add" if dry_run else "Added"
    cues = f"; {counted(report['cues'], 'cue', 'cues')} came for those" if report["cues"] else ""
    known = report["known"]
    were = "was" if known == 1 else "were"
    click.echo(f"{done} {counted(len(new))}; {known:,} {were} known{cues}.", err=dry_run)


@memory_group.command("export")
@click.option("-o", "--output", default="-", show_default=True, help="A file, or standard output.")
@click.option("--all/--pool", "everything", default=True, help="By default archived ones too.")
@click.option("--salvage", is_flag=True, help="Read a damaged store as far as it goes.")
@PROJECT
@STORE
def memory_export(
    output: str, everything: bool, salvage: bool, project: Path, store_path: Path | None
) -> None:
    """Write the project's memories as JSON Lines, which `memory import` reads back.

    \b
    Examples:
      muralkit memory export > memories.jsonl
      muralkit memory export --pool -o pool.jsonl
      muralkit memory export --salvage -o rescued.jsonl
    """
    from muralkit.importing import jsonl
    from muralkit.output import write, write_stdout
    from muralkit.place import open_place, rescued

    lost = 0
    if salvage:  # what is damaged may not even open
        memories, cues, lost = rescued(project, store_path)
    else:
        with open_place(project, store_path) as place:
            memories = place.store.memories(Status if everything else None)
            cues = place.store.cues()
    lines = jsonl.write(memories, cues)
    data = "".join(f"{line}\n" for line in lines).encode()
    write_stdout(data) if output == "-" else write(Path(output), data)
    if salvage:
        click.echo(
            f"Read {counted(len(memories))}; {counted(lost, 'stretch', 'stretches')} of the file "
            "can't be read.",
            err=True,
        )


def _existing(place: Place, number: int) -> Memory:
    found = place.store.memory(number) if abs(number) < 2**63 else None
    if found is None:
        raise InputError(
            f"There is no memory {number} in this project.",
            hint="`muralkit memory list --all` lists their numbers.",
        )
    return found


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
        with nullcontext(sys.stdin.buffer) if str(source) == "-" else source.open("rb") as stream:
            data = stream.read(MOST + 1)
    except OSError as error:
        raise InputError(f"It can't be read: {error.strerror}.", where=name) from error
    if len(data) > MOST:
        raise InputError(f"There are more than {MOST >> 20} MiB.", where=name)
    return markdown.read(data, name, leave_out) if kind == "markdown" else jsonl.read(data, name)


def _progress(drafts: Sequence[Draft], quiet: bool) -> Iterator[Draft]:
    if quiet or len(drafts) < LONG or not sys.stderr.isatty():
        yield from drafts
        return
    with click.progressbar(drafts, label="Importing", file=sys.stderr) as bar:
        yield from bar


def _day(seconds: int) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        return str(seconds)
