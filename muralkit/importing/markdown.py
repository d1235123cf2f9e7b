"""Markdown notes in, Drafts out: what people keep in AGENTS.md, CLAUDE.md or MEMORY.md.

Each list item, nested ones included, and each paragraph under a heading becomes
a memory. An item that ends in a colon only introduces: its nested items carry
its text. A code block stays with the item or paragraph before it. Items that are
nothing but links within the page (a table of contents) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from muralkit.importing import Found
from muralkit.importing.headings import category
from muralkit.store import Draft

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_ONLY_ANCHORS = re.compile(r"(?:\[[^\]]*\]\(#[^)]*\)[\s,.;·|-]*)+")
_TITLES = re.compile(r"(?:AGENTS|CLAUDE|MEMORY|README|GEMINI|COPILOT)(?:\.md)?", re.IGNORECASE)


def read(data: bytes, where: str, leave_out: Sequence[str] = ()) -> Found:
    """The memories of a Markdown text.

    What stands under a heading of `leave_out` (compared without case) is left out,
    with all its subheadings.
    """
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\0", "")
    _, body = split_front_matter(text)
    walker = _Walker({heading.casefold().strip() for heading in leave_out})
    walker.walk(_tree(body))
    return Found(tuple(Draft(name, content) for name, content in walker.found))


def split_front_matter(text: str) -> tuple[str, str]:
    """The YAML between two lines of dashes at the start of a text, and the rest."""
    found = _FRONT_MATTER.match(text)
    return (found[1] or "", text[found.end() :]) if found else ("", text)


def _tree(text: str) -> SyntaxTreeNode:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    return SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(text))


class _Walker:
    """Collects (category, content) on a walk through the blocks of a document."""

    def __init__(self, leave_out: set[str]) -> None:
        self.found: list[tuple[str, str]] = []
        self._leave_out = leave_out
        self._headings: list[tuple[int, str]] = []
        self._follows = False
        """Whether a memory stands under the last heading already."""

    def walk(self, root: SyntaxTreeNode) -> None:
        for node in root.children:
            self._block(node)

    def _block(self, node: SyntaxTreeNode) -> None:
        if node.type == "heading":
            self._heading(int(node.tag[1:]), _inline(node))
        elif self._left_out():
            return
        elif node.type == "paragraph":
            self._add(_inline(node))
        elif node.type in ("bullet_list", "ordered_list"):
            for item in node.children:
                self._item(item, "")
        elif node.type in ("fence", "code_block"):
            self._code(node)
        elif node.type == "table":
            self._table(node)
        elif node.type == "blockquote":
            self.walk(node)

    def _heading(self, level: int, text: str) -> None:
        self._follows = False
        self._headings = [(n, name) for n, name in self._headings if n < level]
        if not (level == 1 and _TITLES.fullmatch(text)):
            self._headings.append((level, text))

    def _left_out(self) -> bool:
        return any(name.casefold() in self._leave_out for _, name in self._headings)

    def _item(self, item: SyntaxTreeNode, introduction: str) -> None:
        """A list item's own text, then what is nested in it."""
        texts = [_inline(child) for child in item.children if child.type == "paragraph"]
        own = " ".join(text for text in texts if text)
        nested = any(child.type.endswith("_list") for child in item.children)
        whole = f"{introduction} {own}".strip()
        introduces = nested and own.endswith((":", "："))
        if own and not introduces:
            self._add(whole)
        for child in item.children:
            if child.type in ("bullet_list", "ordered_list"):
                for below in child.children:
                    self._item(below, whole if introduces else introduction)
            elif child.type in ("fence", "code_block"):
                self._code(child, whole if introduces else "")
            elif child.type == "table":
                self._table(child)
            elif child.type == "blockquote":
                self.walk(child)

    def _code(self, node: SyntaxTreeNode, introduction: str = "") -> None:
        """A code block goes to the memory before it; right under a heading, or behind
        an introduction, it is a memory of its own.
        """
        if not node.content.strip():
            return
        code = f"```{node.info.strip()}\n{node.content.rstrip()}\n```"
        if introduction or not self._follows:
            heading = self._headings[-1][1] if self._headings else ""
            self._add(f"{introduction or heading}\n{code}".strip())
            return
        name, content = self.found[-1]
        self.found[-1] = name, f"{content}\n{code}"

    def _table(self, node: SyntaxTreeNode) -> None:
        """A memory a row: its cells, each behind its column's heading."""
        rows = [
            [_inline(cell) for cell in row.children]
            for part in node.children
            for row in part.children
        ]
        for row in rows[1:]:
            cells = [f"{head}: {cell}" for head, cell in zip(rows[0], row, strict=False) if cell]
            self._add("; ".join(cells))

    def _add(self, content: str) -> None:
        if content and not _ONLY_ANCHORS.fullmatch(content):
            self.found.append((category([name for _, name in self._headings]), content))
            self._follows = True


def _inline(node: SyntaxTreeNode) -> str:
    """A block's text as it is written, on one line."""
    parts = [child.content for child in node.children if child.type == "inline"]
    return " ".join(" ".join(parts).split())
