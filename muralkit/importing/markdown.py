"""Markdown notes in, Drafts out: what people keep in AGENTS.md, CLAUDE.md or MEMORY.md.

Each list item, nested ones included, and each paragraph under a heading becomes
a memory. An item that ends in a colon only introduces: its nested items carry
its text. A code block stays with the item or paragraph before it. A short line in
bold stands for a heading. Of HTML, the text is taken. What is nothing but links
within the page (a table of contents) or pictures (badges) is left out.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from muralkit.importing import Found, Problem
from muralkit.importing.headings import LONGEST, category
from muralkit.store import Draft

if TYPE_CHECKING:
    from markdown_it.tree import SyntaxTreeNode

# Two lines of dashes with keys between them; with other text they are two rules.
_FRONT_MATTER = re.compile(
    r"\A---[ \t]*\n((?:[ \t]*(?:\#.*)?\n)*[\w.-]+[ \t]*:(?:[ \t].*)?\n(?:.*\n)*?)?"
    r"---[ \t]*(?:\n|\Z)"
)
_NO_WORDS = re.compile(
    r"(?:\[!\[[^\]]*\]\([^)]*\)\](?:\([^)]*\)|\[[^\]]*\])|!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])"
    r"|\[[^\]]*\]\(#[^)]*\)|\[[ xX]\]|[\s,.;·|-])+"
)
_BOLD = re.compile(r"(?:\*\*([^*]+)\*\*|__([^_]+)__):?")
_SUMMARY = re.compile(r"<summary[^>]*>(.*?)</summary>", re.DOTALL | re.IGNORECASE)
_CLOSED = re.compile(r"</details>", re.IGNORECASE)
_ALERT = re.compile(r"^\[!(?:NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]\s*", re.IGNORECASE)
_NESTED = 200
"""How deep lists and quotes are read; by default the parser drops what is over 20."""
FENCE = "```"
LEVELS = 6
"""Of Markdown's headings."""

_TITLES = re.compile(r"(?:AGENTS|CLAUDE|MEMORY|README|GEMINI|COPILOT)(?:\.md)?", re.IGNORECASE)


def read(data: bytes, where: str, leave_out: Sequence[str] = ()) -> Found:
    """The memories of a Markdown text.

    What stands under a heading of `leave_out` (compared without case) is left out,
    with all its subheadings.
    """
    text, problems = _decoded(data, where)
    _, body = split_front_matter(text.replace("\r\n", "\n").replace("\0", ""))
    walker = _Walker({heading.casefold().strip() for heading in leave_out})
    walker.read(_tree(body))
    return Found(tuple(Draft(name, content) for name, content in walker.found), problems)


def _decoded(data: bytes, where: str) -> tuple[str, tuple[Problem, ...]]:
    """The text of a file in UTF-8, or, with its mark, in UTF-16."""
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if wide else "utf-8-sig"
    try:
        return data.decode(encoding), ()
    except UnicodeDecodeError as error:
        problem = Problem(where, f"not UTF-8 text (byte {error.start}): save it as UTF-8")
        return data.decode(encoding, "replace"), (problem,)


def split_front_matter(text: str) -> tuple[str, str]:
    """The YAML between two lines of dashes at the start of a text, and the rest."""
    found = _FRONT_MATTER.match(text)
    return (found[1] or "", text[found.end() :]) if found else ("", text)


def _tree(text: str) -> SyntaxTreeNode:
    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    parser = MarkdownIt("commonmark", {"maxNesting": _NESTED}).enable("table")
    return SyntaxTreeNode(parser.parse(text))


class _Walker:
    """Collects (category, content) on a walk through the blocks of a document."""

    def __init__(self, leave_out: set[str]) -> None:
        self.found: list[tuple[str, str]] = []
        self._leave_out = leave_out
        self._headings: list[tuple[int, str]] = []
        self._follows = False
        """Whether a memory stands under the last heading already."""
        self._titled = False
        """Whether the one heading of the first level is the page's title."""

    def read(self, root: SyntaxTreeNode) -> None:
        """Walk through a whole document."""
        tops = [node for node in root.children if node.type == "heading" and node.tag == "h1"]
        others = any(node.type == "heading" and node.tag != "h1" for node in root.children)
        self._titled = len(tops) == 1 and others
        self.walk(root)

    def walk(self, root: SyntaxTreeNode) -> None:
        for node in root.children:
            self._block(node)

    def _block(self, node: SyntaxTreeNode) -> None:
        if node.type == "heading":
            self._heading(int(node.tag[1:]), _inline(node))
        elif node.type == "paragraph":
            self._paragraph(_inline(node))
        elif node.type == "html_block":
            self._html(node.content)
        elif self._left_out():
            return
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
        if not (level == 1 and (self._titled or _TITLES.fullmatch(text))):
            self._headings.append((level, text))

    def _paragraph(self, text: str) -> None:
        bold = _BOLD.fullmatch(text)
        name = (bold[1] or bold[2]).strip().rstrip(":") if bold else ""
        if name and len(name) <= LONGEST and name[-1] not in ".!?。！？":
            self._heading(LEVELS + 1, name)
        elif not self._left_out():
            self._add(text)

    def _html(self, source: str) -> None:
        """The text of a block of HTML; a summary is the heading of its details."""
        if _CLOSED.search(source):
            self._headings = [item for item in self._headings if item[0] <= LEVELS]
        summary = _SUMMARY.search(source)
        if summary:
            self._heading(LEVELS + 1, _text_of_html(summary[1]))
            source = source.replace(summary[0], "")
        if not self._left_out():
            self._add(_text_of_html(source))

    def _left_out(self) -> bool:
        return any(name.casefold() in self._leave_out for _, name in self._headings)

    def _item(self, item: SyntaxTreeNode, introduction: str) -> None:
        """A list item's own text, then what is nested in it."""
        blocks = [text for child in item.children if (text := _block_text(child))]
        words = " ".join(text for text in blocks if not text.startswith(FENCE))
        nested = any(child.type.endswith("_list") for child in item.children)
        introduces = nested and words.endswith((":", "："))
        code = any(text.startswith(FENCE) for text in blocks)
        if blocks and (code or not introduces):
            self._add(f"{introduction} {_joined(blocks)}".strip())
        below = f"{introduction} {words}".strip() if introduces else introduction
        for child in item.children:
            if child.type in ("bullet_list", "ordered_list"):
                for inner in child.children:
                    self._item(inner, below)
            elif child.type == "table":
                self._table(child)
            elif child.type == "blockquote":
                self.walk(child)

    def _code(self, node: SyntaxTreeNode) -> None:
        """A code block goes to the memory before it; right under a heading, it is a
        memory of its own.
        """
        code = _fenced(node)
        if not code:
            return
        if not self._follows:
            heading = self._headings[-1][1] if self._headings else ""
            self._add(f"{heading}\n{code}".strip())
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
        if content and not _NO_WORDS.fullmatch(content):
            self.found.append((category([name for _, name in self._headings]), content))
            self._follows = True


def _block_text(node: SyntaxTreeNode) -> str:
    """What a block of an item says itself: a paragraph, HTML, or code in a fence."""
    if node.type == "paragraph":
        return _inline(node)
    if node.type == "html_block":
        return _text_of_html(node.content)
    return _fenced(node) if node.type in ("fence", "code_block") else ""


def _joined(blocks: Sequence[str]) -> str:
    """Paragraphs on one line, and code on lines of its own."""
    text = ""
    for block in blocks:
        code = block.startswith(FENCE) or text.endswith(FENCE)
        text += ("\n" if code else " ") * bool(text) + block
    return text


def _fenced(node: SyntaxTreeNode) -> str:
    code = node.content.rstrip()
    return f"{FENCE}{node.info.strip()}\n{code}\n{FENCE}" if code.strip() else ""


class _Html(HTMLParser):
    """Collects the text that a reader of the page would see."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style") and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def _text_of_html(source: str) -> str:
    parser = _Html()
    parser.feed(source)
    parser.close()
    return " ".join(" ".join(parser.parts).split())


def _inline(node: SyntaxTreeNode) -> str:
    """A block's text as it is written, on one line."""
    parts = [child.content for child in node.children if child.type == "inline"]
    return _ALERT.sub("", " ".join(" ".join(parts).split()))
