"""What stands inside a block: plain text, emphasised terms, code spans, links and tags.

Owns the reading of inline markdown. markdown-it decides what is a code span, a link or emphasis; `_read_simple` is a
shortcut for the forms that can be told apart without it, gives the same result (a test holds the two to that) and
hands everything else over. Never looks at block structure, never follows a link.
"""

from __future__ import annotations

import re
from collections.abc import MutableMapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from smb.ingest.html_text import is_element, tag_text
from smb.ingest.note import WebLink, WikiLink
from smb.ingest.wiki_link import WIKI_LINK, shown, wiki_link
from smb.stores.lexical import derived_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

PARSED_CHARACTERS = 4000
"""Longer pieces are unbreakable runs (text is split at white space before it gets here): taken as plain text."""


class Inline(NamedTuple):
    """`text` has white space collapsed; `terms` are emphasised, `code_terms` code spans, both as shown."""

    text: str
    terms: tuple[str, ...] = ()
    code_terms: tuple[str, ...] = ()
    links: tuple[WikiLink, ...] = ()
    web: tuple[WebLink, ...] = ()
    tags: tuple[str, ...] = ()
    block_id: str = ""


_SPECIAL = re.compile(r"[`*_\[<\\&#^]|~~|://")
_URL = re.compile(r"https?://[^\s<>\"'`{}|\\^\u3000-\u303f\uff00-\uffef]+", re.IGNORECASE)
_TAG = re.compile(r"(?<![^\s(\[,;、，（])#((?:[\w/-]|[^\x00-\x7f\s\u2000-\u206f\u3000-\u303f\uff00-\uff0f\uff1a-\uff20])+)")
_BLOCK_ID = re.compile(r"(?:^|(?<=\s))\^([A-Za-z0-9-]+)\s*$")
_DIRECTIVES = frozenset("include define ifdef ifndef endif elif undef pragma".split())


def read_inline(content: str, line: int, env: MutableMapping[str, Any]) -> Inline:
    """The inline content of a block whose first line is `line`; `env` is what block parsing learned (link definitions)."""
    if len(content) > 256:
        content = _without_payloads(content)
    if not _SPECIAL.search(content):
        return Inline(" ".join(content.split()))
    if len(content) > PARSED_CHARACTERS:
        return Inline(" ".join(content.split()))
    read = _read_simple(content, line, env) or read_fully(content, line, env)
    if not read.text and "~~" in content:
        return read_inline(content.replace("~~", ""), line, env)
    return read


def _without_payloads(content: str) -> str:
    """Encoded data and endless runs shortened; comments are left to the parser, which knows what is code."""
    if "<!--" not in content:
        return derived_text(content)
    return content if len(content) <= PARSED_CHARACTERS else derived_text(content)


class _Gathering:
    """What has been read so far of one block; both readers fill one and `finish` it."""

    __slots__ = ("code_terms", "content", "length", "line", "links", "opaque", "parts", "terms", "web")

    def __init__(self, content: str, line: int):
        self.content, self.line, self.length = content, line, 0
        self.parts: list[str] = []
        self.opaque: list[tuple[int, int]] = []
        self.terms: list[str] = []
        self.code_terms: list[str] = []
        self.links: list[WikiLink] = []
        self.web: list[WebLink] = []

    def add(self, text: str) -> None:
        self.parts.append(text)
        self.length += len(text)

    def add_opaque(self, text: str) -> None:
        """Text in which no tag, bare URL or block id is looked for."""
        self.opaque.append((self.length, self.length + len(text)))
        self.parts.append(text)
        self.length += len(text)

    def add_code(self, text: str) -> None:
        self.add_opaque(text)
        if text := " ".join(text.split()):
            self.code_terms.append(text)

    def add_wiki(self, link: WikiLink) -> None:
        self.links.append(link)
        self.add_opaque(shown(link))

    def since(self, mark: int) -> str:
        """The text gathered from part `mark` on, white space collapsed."""
        return " ".join("".join(self.parts[mark:]).split())

    def strike(self, mark: int, length: int) -> None:
        """Takes back the text since part `mark`: its author struck it through."""
        del self.parts[mark:]
        self.length = length
        self.opaque = [(a, b) for a, b in self.opaque if b <= length]

    def line_of(self, position: int) -> int:
        return self.line + self.content.count("\n", 0, position)

    def finish(self) -> Inline:
        text = "".join(self.parts)
        tags: tuple[str, ...] = ()
        block_id = ""
        if "#" in text:
            tags = tuple(dict.fromkeys(t for f in _TAG.finditer(text) if self._open(f) and (t := _tag(f[1]))))
        if "://" in text:
            for found in _URL.finditer(text):
                if self._open(found):
                    url = _trimmed_url(found[0])
                    self.web.append(WebLink(url, url, self.line_of(max(self.content.find(url), 0))))
        if "^" in text and (found := _BLOCK_ID.search(text)) and self._open(found):
            block_id, text = found[1], text[: found.start()]
        return Inline(
            " ".join(text.split()), tuple(dict.fromkeys(self.terms)), tuple(dict.fromkeys(self.code_terms)),
            tuple(self.links), tuple(self.web), tags, block_id,
        )

    def _open(self, found: re.Match[str]) -> bool:
        start, end = found.span()
        return not any(a < end and start < b for a, b in self.opaque)


def _tag(name: str) -> str:
    """A tag without its hash; "" for numbers (issue #12), C directives and empty names."""
    name = name.strip("/-")
    return "" if name.replace("/", "").isdigit() or name in _DIRECTIVES or not any(c.isalnum() for c in name) else name


def _trimmed_url(url: str) -> str:
    while url:
        if url[-1] in ".,;:!?*_~]":
            url = url[:-1]
        elif url[-1] == ")" and url.count(")") > url.count("("):
            url = url[:-1]
        else:
            break
    return url


# --- the shortcut -----------------------------------------------------------------------------------------------------

_CODE = r"(?<!`)`[^`]++`(?!`)"
_PLAIN = (  # text that no rule reacts to, escapes included
    r"[^`*_\[\]<\\&!~]++|(?<=[0-9A-Za-z])_(?=[0-9A-Za-z])|~(?!~)|&(?!\#?\w{1,32};)|!(?!\[)|<(?![A-Za-z/!?])"
    r"|\\[!-/:-@\[-_`{-~]|"
)
_DESTINATION = r"(?:[^\x00-\x20\x7f()<>\\`&]++|&(?!\#?\w+;)|\([^\x00-\x20\x7f()<>\\`&]*+\))++"
_LINK_TEXT = r"(?:" + _PLAIN + _CODE + r")++"
_LINK = r"\[" + _LINK_TEXT + r"\]\(" + _DESTINATION + r"\)"
_WIKI = WIKI_LINK.pattern.replace("(!?)", "!?").replace("(", "(?:")
_INNER = r"(?:" + _PLAIN + _CODE + "|" + _LINK + "|" + _WIKI + r")++"
_BEFORE = r"(?<![^ \n!-)+-/:-@\[\]^`{-~])"  # white space or punctuation, but no other delimiter and no backslash
_AFTER = r"(?![^ \n!-)+-/:-@\[-^`{-~])"


def _run(mark: str) -> str:
    """Emphasis whose two ends could be nothing else by the flanking rules of CommonMark 0.31, section 6.2."""
    opening = rf"(?:{_BEFORE}{mark}(?![\s*])|(?<![*\\]){mark}(?=[0-9A-Za-z]))"
    closing = rf"(?:(?<=[0-9A-Za-z]){mark}(?!\*)|(?<![\s*]){mark}{_AFTER})"
    return opening + _INNER + closing


_MARK = re.compile(r"[`*_\[\]<\\&~!]")
_SIMPLE = re.compile(
    rf"""
    (?P<code>{_CODE})
  | (?P<word>(?<=[0-9A-Za-z])_+(?=[0-9A-Za-z]))
  | (?P<image>!\[(?P<alt>(?:[^\[\]`*_<>\\&!~]++|(?<=[0-9A-Za-z])_(?=[0-9A-Za-z]))*+)\]\({_DESTINATION}\))
  | (?P<wiki>{_WIKI})
  | (?P<link>\[(?P<label>{_LINK_TEXT})\]\((?P<url>{_DESTINATION})\))
  | (?P<strong>{_run(r"[*][*]")})
  | (?P<em>{_run("[*]")})
  | (?P<under>{_BEFORE}_(?=[0-9A-Za-z])[^`*_\[\]<\\&!~]++(?<=[0-9A-Za-z])_{_AFTER})
  | (?P<star>(?<![^ \n])\*+(?=[ ]))
  | (?P<comment><!--[^<>`-]*-->)
  | (?P<html><[A-Za-z][A-Za-z0-9]*(?:[ ][A-Za-z-]+="[^"<>`]*")*[ ]?/?>|</[A-Za-z][A-Za-z0-9]*>)
  | (?P<auto><https?://[^\x00-\x20<>`]+>)
  | (?P<escape>\\[!-/:-@\[-_`{{-~\n])
  | (?P<bad>[`*_\\]|\][(\[]|<(?=[A-Za-z/!?])|&\#?\w{{1,32}};|~~|!\[|\[[\^\[])
    """,
    re.VERBOSE,
)


def _read_simple(content: str, line: int, env: MutableMapping[str, Any]) -> Inline | None:
    """What `read_fully` would return, or None where that takes a parser to know."""
    if "[" in content and "references" in env:
        return None
    gathering = _Gathering(content, line)
    return gathering.finish() if _gather_simple(gathering, content, 0) else None


def _gather_simple(into: _Gathering, text: str, offset: int) -> bool:
    """Adds `text`, which begins at `offset` of the block; False when something in it isn't simple."""
    position = 0
    mark = _MARK.search(text)
    while mark:
        start = mark.start()
        found = _SIMPLE.match(text, start)
        if not found:
            mark = _MARK.search(text, start + 1)
            continue
        if start > position:
            into.add(text[position:start])
        position = found.end()
        if not _add_simple(into, found, offset + start):
            return False
        mark = _MARK.search(text, position)
    if position < len(text):
        into.add(text[position:])
    return True


def _add_simple(into: _Gathering, found: re.Match[str], at: int) -> bool:
    written = found[0]
    match found.lastgroup:
        case "code":
            into.add_code(_code_text(written[1:-1]))
        case "word" | "star":
            into.add(written)
        case "image":
            into.add_opaque(found["alt"])
        case "wiki":
            link = wiki_link(_wiki_match(written), into.line_of(at))
            if link is None:
                return False
            into.add_wiki(link)
        case "link":
            start, place = into.length, len(into.parts)
            if not _gather_simple(into, found["label"], at + 1):
                return False
            into.opaque.append((start, into.length))
            into.web.append(WebLink(into.since(place), found["url"], into.line_of(at)))
        case "strong" | "em" | "under":
            width = 2 if found.lastgroup == "strong" else 1
            place = len(into.parts)
            if not _gather_simple(into, written[width:-width], at + width):
                return False
            if term := into.since(place):
                into.terms.append(term)
        case "comment":
            pass
        case "html":
            _add_html(into, written)
        case "auto":
            into.add_opaque(written[1:-1])
            into.web.append(WebLink(written[1:-1], written[1:-1], into.line_of(at)))
        case "escape":
            (into.add if written[1] == "\n" else into.add_opaque)(written[1])
        case _:
            return False
    return True


def _wiki_match(written: str) -> re.Match[str]:
    found = WIKI_LINK.fullmatch(written)
    assert found is not None
    return found


def _code_text(inner: str) -> str:
    inner = inner.replace("\n", " ")
    return inner[1:-1] if inner.startswith(" ") and inner.endswith(" ") and inner.strip(" ") else inner


def _add_html(into: _Gathering, tag: str) -> None:
    """An element's tag vanishes (a line break becomes a space); `<int>` in prose is no element and stays."""
    if is_element(tag):
        into.add(tag_text(tag))
    else:
        into.add_opaque(tag)


# --- the parser -------------------------------------------------------------------------------------------------------


def read_fully(content: str, line: int, env: MutableMapping[str, Any]) -> Inline:
    """The same through markdown-it."""
    parser = inline_parser()
    tokens: list[Token] = []
    parser.inline.parse(content, parser, env, tokens)
    gathering = _Gathering(content, line)
    opened: list[tuple[int, int, int]] = []
    for token in tokens:
        match token.type:
            case "text":
                gathering.add(token.content)
            case "softbreak" | "hardbreak":
                gathering.add("\n")
            case "code_inline":
                gathering.add_code(token.content)
            case "wiki_link":
                gathering.add_wiki(_placed(gathering, token))
            case "text_special":
                gathering.add_opaque(token.content)
            case "strong_open" | "em_open" | "s_open":
                opened.append((len(gathering.parts), gathering.length, 0))
            case "s_close":
                gathering.strike(*opened.pop()[:2])
            case "strong_close" | "em_close":
                if term := gathering.since(opened.pop()[0]):
                    gathering.terms.append(term)
            case "link_open":
                opened.append((len(gathering.parts), gathering.length, len(gathering.web)))
                gathering.web.append(WebLink("", str(token.attrs["href"]), gathering.line_of(token.meta["at"])))
            case "link_close":
                mark, start, place = opened.pop()
                gathering.opaque.append((start, gathering.length))
                gathering.web[place] = WebLink(gathering.since(mark), gathering.web[place].url, gathering.web[place].line)
            case "image":
                gathering.add_opaque(_alt_text(token))
            case "html_inline":
                if not token.content.startswith(("<!", "<?")):
                    _add_html(gathering, token.content)
            case _:
                pass
    return gathering.finish()


def _alt_text(image: Token) -> str:
    return "".join(
        "\n" if t.type in ("softbreak", "hardbreak") else _alt_text(t) if t.type == "image" else t.content
        for t in image.children or () if t.type != "html_inline"
    )


def _placed(gathering: _Gathering, token: Token) -> WikiLink:
    link = wiki_link(_wiki_match(token.content), gathering.line_of(token.meta["at"]))
    assert link is not None
    return link


@cache
def inline_parser() -> MarkdownIt:
    """markdown-it's inline rules with wiki links, footnote references and strike-through; URLs stay as written."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import autolink, link
    from mdit_py_plugins.footnote import footnote_plugin

    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable("strikethrough")
    parser.use(footnote_plugin, inline=False, move_to_end=False)
    parser.normalizeLink = parser.normalizeLinkText = lambda url: url  # type: ignore[method-assign]
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    parser.inline.ruler.at("link", _noting_place(link))
    parser.inline.ruler.at("autolink", _noting_place(autolink))
    parser.inline.ruler.before("link", "wiki_link", _wiki_rule)
    return parser


def _noting_place(rule: Any) -> Any:
    """`rule` with the place of what it matched in the token it opened."""

    def noting(state: StateInline, silent: bool) -> bool:
        at, first = state.pos, len(state.tokens)
        matched: bool = rule(state, silent)
        if matched and not silent:
            token = state.tokens[first] if state.tokens[first].type == "link_open" else state.tokens[first + 1]
            token.meta["at"] = at
        return matched

    return noting


def _wiki_rule(state: StateInline, silent: bool) -> bool:
    at = state.pos
    if state.src[at] not in "![":
        return False
    found = WIKI_LINK.match(state.src, at, state.posMax)
    if not found or wiki_link(found, 0) is None:
        return False
    if not silent:
        token = state.push("wiki_link", "", 0)
        token.content = found[0]
        token.meta["at"] = at
    state.pos = found.end()
    return True
