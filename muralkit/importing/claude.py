"""A Claude Code memory folder in, Drafts out.

MEMORY.md links to one file a memory; its front matter has name, description and
type. The description and the body are the memory, the type leads to its category
as a heading would: "feedback" is what the user corrected, so a rule. Notes that
stand in MEMORY.md itself, without a link, are memories as in any Markdown.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from muralkit import files
from muralkit.errors import InputError
from muralkit.importing import Found, Problem, markdown
from muralkit.importing.headings import category
from muralkit.store import Draft, text_fault

INDEX = "MEMORY.md"
TYPES = {
    "feedback": "PROJECT_RULES",
    "user": "USER",
    "project": "PROJECT",
    "reference": "REFERENCE",
}

_FIELD = re.compile(r"\s*(description|type)\s*:\s*(.*?)\s*")
_LINK = re.compile(r"\]\(<?([^)#>]+\.md)>?(?:#[^)]*)?\)", re.IGNORECASE)


def read(folder: Path) -> Found:
    """The memories of a folder: the linked files in their order, then its others."""
    index = folder / INDEX
    linked: list[Path] = []
    problems: list[Problem] = []
    notes: list[Draft] = []
    if index.is_file():
        try:
            data = files.read(index)
        except OSError as error:
            data = b""
            problems.append(Problem(str(index), f"it can't be read: {error.strerror}"))
        found = markdown.read(data, str(index))
        problems += found.problems
        notes = [draft for draft in found.drafts if not _LINK.search(draft.content)]
        for name in _LINK.findall(data.decode("utf-8", "replace")):
            if "://" in name:
                continue  # a page elsewhere is no memory
            path = _resolved(folder / unquote(name))
            if not _is_file(path):
                problems.append(Problem(str(index), f"the link {name} leads to no file"))
            elif not path.is_relative_to(folder.resolve()):
                problems.append(Problem(str(index), f"the link {name} leads out of the folder"))
            else:
                linked.append(path)
    others = [_resolved(p) for p in sorted(folder.glob("*.md")) if p.name != INDEX]
    if not (index.is_file() or others):
        raise InputError(
            "There are no notes (*.md) in this folder.",
            where=str(folder),
            hint="Claude Code keeps them in ~/.claude/projects/<project>/memory.",
        )
    drafts: list[Draft] = notes
    for path in dict.fromkeys([*linked, *others]):
        draft = _memory(path)
        if isinstance(draft, Draft):
            drafts.append(draft)
        else:
            problems.append(Problem(str(path), draft))
    return Found(tuple(drafts), tuple(problems))


def _resolved(path: Path) -> Path:
    """Without links and dots; a path that has no end stays as it is."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a name that is too long
        return path


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, RuntimeError, ValueError):
        return False


def _memory(path: Path) -> Draft | str:
    """The memory of a file, or what is wrong with it."""
    try:
        text = files.read(path).decode("utf-8-sig").replace("\r\n", "\n").replace("\0", "")
    except OSError as error:
        return f"it can't be read: {error.strerror}"
    except UnicodeDecodeError as error:
        return f"not UTF-8 text (byte {error.start})"
    matter, body = markdown.split_front_matter(text)
    about = _about(matter)
    content = "\n".join(part for part in (about.get("description", ""), body.strip()) if part)
    if text_fault(content):
        return "it has neither a description nor a body"
    kind = about.get("type", "")
    name = TYPES.get(kind.casefold()) or category([kind] if kind else [])
    return Draft(name, content)


def _about(matter: str) -> dict[str, str]:
    """The front matter's description and type, wherever in it.

    It is YAML, or what people and models take for it: a description with a colon
    or a backtick is then the rest of its line.
    """
    import yaml

    try:
        data: Any = yaml.safe_load(matter)
    except (ValueError, RecursionError, yaml.YAMLError):
        data = None
    if not isinstance(data, dict):
        lines = (_FIELD.fullmatch(line) for line in matter.split("\n"))
        return {found[1]: found[2].strip("\"'") for found in lines if found}
    inner = data.get("metadata")
    whole = {**(inner if isinstance(inner, dict) else {}), **data}
    return {key: str(whole[key]).strip() for key in ("description", "type") if whole.get(key)}
