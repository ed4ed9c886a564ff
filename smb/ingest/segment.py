"""A body of markdown as blocks with exact places.

Owns the walk over markdown-it's block tokens: what is a heading, an item, a row, a quote, and which lines it covers.
Inline content is left to `inline`, long blocks to `passages`, transcripts to `chat`. Never alters the text.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from smb.ingest.source_text import SourceText

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_CALLOUT = re.compile(r"\[!([A-Za-z][\w-]*)(?:\|[^\]\n]*)?\][+-]?[ \t]*")
_TASK = re.compile(r"\[([ xX/>-])\](?:[ \t]+|$)")
_UNDERLINE = re.compile(r"[-=][ \t]*$", re.MULTILINE)
_MATH_OPEN = re.compile(r"^[ \t>]*\$\$", re.MULTILINE)
_ANCHOR = re.compile(r"\s*\{#[\w:.-]+\}\s*$")
_MANY_LINES = re.compile(r"\r\n?")
_MARKERS = re.compile(r"[ \t]*(?:(?:>|(?:[*+-]|\d{1,9}[.)])(?=\s|\Z))[ \t]*)++")
_TITLE_LENGTH = 160
_DEEPEST = 100
_RESTARTS = 20
"""Times a body is taken up again below something nested too deep; bounds the work on a file made of such things."""


@dataclass(slots=True)
class Piece:
    """A block before its inline content is read. Lines are [first, last), from 0; `start`, `end` are characters of the
    source; `content` is what markdown-it hands on (container markup gone) or, for code, the code; `inner` is a heading in a
    list or a quote, which heads nothing."""

    kind: str
    content: str
    first: int
    last: int
    start: int
    end: int
    headings: tuple[int, ...] = ()
    level: int = 0
    cells: tuple[str, ...] | None = None
    header: tuple[str, ...] = ()
    task: str = ""
    callout: str = ""
    quoted: bool = False
    speaker: str = ""
    language: str = ""
    inner: bool = False


def walk(source: SourceText, body: int) -> tuple[list[Piece], MutableMapping[str, Any]]:
    """The pieces of the lines from `body` (from 0) on, in order, and what inline parsing needs to know (link
    definitions). `Piece.headings` are places of heading pieces in the returned list."""
    if body >= len(source.starts):
        return [], {}
    env: dict[str, Any] = {}
    walker = _Walker(source)
    start: int | None = body
    for left in reversed(range(_RESTARTS)):
        start = walker.walk(_tokens(source, start, env), start, to_end=not left)
        if start is None:
            break
    return walker.pieces, env


def _tokens(source: SourceText, start: int, env: MutableMapping[str, Any]) -> list[Token]:
    """markdown-it's block tokens for the lines from `start` on."""
    text = source.text[source.starts[start] :]
    if "\r" in text:
        text = _MANY_LINES.sub("\n", text)
    parser = _parser(_absent_rules(text))
    tokens: list[Token] = []
    parser.block.parse(text, parser, env, tokens)
    return tokens


def _absent_rules(text: str) -> tuple[str, ...]:
    """Rules that cannot match since their markup does not occur; leaving them out saves a third of the parse."""
    absent = [rule for rule, mark in (
        ("table", "|"), ("blockquote", ">"), ("html_block", "<"), ("heading", "#"), ("reference", "]:"), ("footnote_def", "[^"),
    ) if mark not in text]
    if "```" not in text and "~~~" not in text:
        absent.append("fence")
    if not _UNDERLINE.search(text):
        absent.append("lheading")
    if "$$" not in text or not _MATH_OPEN.search(text):
        absent.append("math_block")
    return tuple(absent)


@lru_cache(maxsize=128)
def _parser(absent: tuple[str, ...]) -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST, "inline_definitions": True}).enable("table")
    parser.use(footnote_plugin, inline=False, move_to_end=False)
    parser.use(dollarmath_plugin)
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser.disable(list(absent))


class _Walker:
    """Takes block tokens one by one and keeps what encloses the current one."""

    def __init__(self, source: SourceText):
        self.source = source
        self.pieces: list[Piece] = []
        self.headings: list[tuple[int, int]] = []  # (level, place in pieces)
        self.above: tuple[int, ...] = ()

    def walk(self, tokens: list[Token], body: int, *, to_end: bool) -> int | None:
        """Takes the tokens of the lines from `body` on. Where markdown-it gave up because of nesting, the line from which
        to go on; with `to_end` what is left goes into one piece instead."""
        self.body, self.to_end = body, to_end
        self.resume: int | None = None
        self.heading = 0  # level of the heading being read
        self.underlined = False
        self.depth = 0  # of lists
        self.items: list[int] = []  # for each open item its first line, -1 once its own text was read
        self.quotes: list[str | None] = []  # for each open quote its callout; "?" until its first text, None if it has none
        self.row: list[str] | None = None
        self.header: tuple[str, ...] = ()
        self.in_header = False
        self.row_line = 0
        self.deep: tuple[int, int, int] | None = None  # lines of the container at the limit of nesting, pieces before it
        for token in tokens:
            self._take(token)
            if self.resume is not None:
                break
        return self.resume

    def _take(self, token: Token) -> None:
        match token.type:
            case "inline":
                self._inline(token)
            case "paragraph_open" | "paragraph_close" | "th_open" | "th_close" | "td_open" | "td_close":
                pass
            case "list_item_open":
                self.items.append(token.map[0])
                self._open(token)
            case "list_item_close":
                self.items.pop()
                self._close(token)
            case "bullet_list_open" | "ordered_list_open":
                self.depth += 1
            case "bullet_list_close" | "ordered_list_close":
                self.depth -= 1
            case "heading_open":
                self.heading, self.underlined = int(token.tag[1]), token.markup in ("=", "-")
            case "heading_close":
                self.heading = 0
            case "fence" | "code_block" | "math_block" | "math_block_label" | "html_block":
                self._verbatim(token)
            case "blockquote_open":
                self.quotes.append("?")
                self._open(token)
            case "blockquote_close":
                self.quotes.pop()
                self._close(token)
            case "table_open":
                self.header = ()
            case "thead_open" | "thead_close":
                self.in_header = token.type == "thead_open"
            case "definition":
                self._definition(token)
            case "tr_open":
                self.row = []
            case "tr_close":
                self._row(token)
            case _:
                pass

    def _open(self, token: Token) -> None:
        if token.level >= _DEEPEST - 3:
            self.deep = (token.map[0], token.map[1], len(self.pieces))

    def _close(self, token: Token) -> None:
        """Below its deepest nesting markdown-it drops what it reads, in a list all that is left of the note; the lines up to
        the next blank one are kept as a paragraph, and reading goes on there."""
        if token.level < _DEEPEST - 3 or not self.deep or self.deep[2] != len(self.pieces):
            return
        first, end, _ = self.deep
        self.deep = None
        lines = [self.source.text[self.source.starts[n] : self.source.ends[n]] for n in range(first + self.body, end + self.body)]
        last = end if self.to_end else next((n for n, line in enumerate(lines, first) if n > first and not line.strip()), end)
        content = "\n".join(lines[: last - first]).strip()
        if found := _MARKERS.match(content):
            content = content[found.end() :]
        if content:
            self._add(Piece("paragraph", content, first, last, 0, 0, level=self.depth))
        if last < end:
            self.resume = last + self.body

    def _inline(self, token: Token) -> None:
        if self.row is not None:
            self.row.append(token.content)
            self.row_line = token.map[0]
            return
        first, last = token.map
        content = token.content
        if self.heading:
            self._heading(content, first, last)
            return
        kind, level, task = "paragraph", self.depth, ""
        if self.items and self.items[-1] >= 0:
            kind = "item"
            first, self.items[-1] = self.items[-1], -1
            if (found := _TASK.match(content)):
                task = "open" if found[1] in " />" else "done"
                content = content[found.end() :]
        if self.quotes:
            if self.quotes[-1] == "?" and (found := _CALLOUT.match(content)):
                self.quotes[-1] = found[1].lower()
                content = content[found.end() :]
                title, _, content = content.partition("\n")
                if title.strip():
                    self._add(Piece("paragraph", title.strip(), first, first + 1, 0, 0, level=level))
                    first += 1
                elif not content.strip():
                    return
                if not content.strip():
                    return
            elif self.quotes[-1] == "?":
                self.quotes[-1] = None
            if kind == "paragraph" and self._quoted():
                kind = "quote"
        self._add(Piece(kind, content, first, last, 0, 0, level=level, task=task))

    def _heading(self, content: str, first: int, last: int) -> None:
        level = self.heading
        if self.underlined and self._is_prose(content, first):
            self._add(Piece("paragraph", content, first, last, 0, 0))
            return
        content = _ANCHOR.sub("", content) if "{#" in content else content
        if self.depth or self.quotes:
            self._add(Piece("heading", content, first, last, 0, 0, level=level, inner=True))
            return
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        self.above = tuple(place for _, place in self.headings)
        self._add(Piece("heading", content, first, last, 0, 0, level=level))
        if content.strip():
            self.headings.append((level, len(self.pieces) - 1))
        self.above = tuple(place for _, place in self.headings)

    def _is_prose(self, content: str, first: int) -> bool:
        """Whether a paragraph above `---` is one to the person who drew that rule: of several lines, long, a sentence, or
        between two rules on top of the note."""
        return "\n" in content or len(content) > _TITLE_LENGTH or content.endswith((".", "。")) or (
            first + self.body == 1 and self.source.text.startswith("---"))

    def _definition(self, token: Token) -> None:
        """`[a]: url` is for links elsewhere in the note; `[Sam]: hello` only looks like it and is kept as text."""
        label, url, title = token.meta["label"], token.meta["url"], token.meta["title"]
        if not any(c in url for c in "/.#:@?=\\"):
            self._add(Piece("paragraph", f"{label}: {url} {title}".rstrip(), token.map[0], token.map[1], 0, 0, level=self.depth))

    def _verbatim(self, token: Token) -> None:
        kind = {"html_block": "html", "math_block": "math", "math_block_label": "math"}.get(token.type, "code")
        if self.items:
            self.items[-1] = -1
        if self.quotes and self.quotes[-1] == "?":
            self.quotes[-1] = None
        if not token.content.strip():
            return
        language = (token.info.split() or [""])[0].strip("{}") if token.type == "fence" else ""
        self._add(Piece(kind, token.content, token.map[0], token.map[1], 0, 0, level=self.depth, language=language))

    def _row(self, token: Token) -> None:
        cells, self.row = tuple(self.row or ()), None
        if self.in_header:
            self.header = cells
        if any(cells):
            first = self.row_line
            header = () if self.in_header else self.header
            self._add(Piece("row", "", first, first + 1, 0, 0, level=self.depth, cells=cells, header=header))

    def _quoted(self) -> bool:
        return any(q is None for q in self.quotes)

    def _add(self, piece: Piece) -> None:
        first = piece.first + self.body
        last = min(max(piece.last + self.body, first + 1), len(self.source.starts))
        while last > first + 1 and not self.source.text[self.source.starts[last - 1] : self.source.ends[last - 1]].strip():
            last -= 1
        piece.first, piece.last = first, last
        piece.start, piece.end = self.source.trimmed(first, last)
        piece.headings = self.above
        if self.quotes:
            piece.quoted = self._quoted()
            piece.callout = next((q for q in reversed(self.quotes) if q and q != "?"), "")
        self.pieces.append(piece)
