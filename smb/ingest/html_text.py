"""Text out of HTML that stands in markdown.

Owns which tags are HTML elements and what is left of a block when they go. Never renders, never runs anything.
"""

from __future__ import annotations

import html
import re

_ELEMENTS = frozenset(
    "a abbr acronym address area article aside audio b base bdi bdo big blockquote body br button canvas caption center cite code "
    "col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame "
    "frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark marquee "
    "menu meta meter nav nobr noframes noscript object ol optgroup option output p param path picture pre progress q rp rt ruby s "
    "samp script search section select slot small source span strike strong style sub summary sup svg g table tbody td template "
    "textarea tfoot th thead time title tr track tt u ul var video wbr".split()
)
_BREAKING = frozenset(
    "address article aside blockquote br caption center dd details div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header "
    "hr li main nav ol option p pre section summary table tbody td tfoot th thead tr ul".split()
)
_NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SILENT = re.compile(r"<(script|style)\b[^>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\"[^\"]*\"|'[^']*'|[^<>\"'])*>|<[!?][^>]*>")
_ALT = re.compile(r"\b(?:alt|title)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE)
_HREF = re.compile(r"<a\b[^<>]*?\bhref\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')", re.IGNORECASE)


def is_element(tag: str) -> bool:
    """Whether `<name …>` is a tag of HTML; `<int>` and `<T>` are not."""
    found = _NAME.match(tag)
    return found is not None and (found[1].lower() in _ELEMENTS or "-" in found[1])


def tag_text(tag: str) -> str:
    """What a tag leaves in the text: a space where it breaks the line, the alternative text of an image, else nothing."""
    found = _NAME.match(tag)
    name = found[1].lower() if found else ""
    if name == "img":
        alt = _ALT.search(tag)
        return html.unescape(alt[1] or alt[2] or "") if alt else ""
    return " " if name in _BREAKING else ""


def block_text(block: str) -> str:
    """The text of an HTML block: tags, comments, scripts and styles gone, character references resolved, one line."""
    if "<!--" in block:
        block = _COMMENT.sub(" ", block)
    block = _SILENT.sub(" ", block)
    return " ".join(html.unescape(_TAG.sub(_replace, block)).split())


def _replace(found: re.Match[str]) -> str:
    tag = found[0]
    if tag.startswith(("<!", "<?")):
        return ""
    return tag_text(tag) if is_element(tag) else tag.replace("<", "&lt;")


def hrefs(block: str) -> list[tuple[str, int]]:
    """(URL, line from 0) of each `<a href>`."""
    return [(html.unescape(f[1] or f[2] or ""), block.count("\n", 0, f.start())) for f in _HREF.finditer(block)]
