"""A Claude Code memory folder in, Drafts out.

MEMORY.md links to one file a memory; its front matter has name, description and
type. The description and the body are the memory, the type leads to its category
as a heading would: "feedback" is what the user corrected, so a rule.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from muralkit.importing import Found, Problem
from muralkit.importing.headings import category
from muralkit.importing.markdown import split_front_matter
from muralkit.store import Draft

INDEX = "MEMORY.md"
TYPES = {
    "feedback": "PROJECT_RULES",
    "user": "USER",
    "project": "PROJECT",
    "reference": "REFERENCE",
}

_LINK = re.compile(r"\]\(<?([^)#>]+\.md)>?(?:#[^)]*)?\)", re.IGNORECASE)


def read(folder: Path) -> Found:
    """The memories of a folder: the linked files in their order, then its others."""
    index = folder / INDEX
    linked: list[Path] = []
    problems: list[Problem] = []
    if index.is_file():
        for name in _LINK.findall(index.read_text("utf-8", "replace")):
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
    drafts: list[Draft] = []
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
    import yaml

    try:
        matter, body = split_front_matter(path.read_text("utf-8").replace("\r\n", "\n"))
        about: Any = yaml.safe_load(matter) or {}
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        return " ".join(f"it can't be read: {error}".split())
    if not isinstance(about, dict):
        return "its front matter is not a list of keys and values"
    described = str(about.get("description") or "").strip()
    content = "\n".join(part for part in (described, body.strip()) if part)
    if not content.replace("\0", "").strip():
        return "it has neither a description nor a body"
    kind = str(about.get("type") or "").strip()
    name = TYPES.get(kind.casefold()) or category([kind] if kind else [])
    return Draft(name, content.replace("\0", "").encode("utf-8", "replace").decode())
