"""The forms of `[[wiki links]]`.

Owns their grammar, for running text and for front matter alike. Never resolves a target.
"""

from __future__ import annotations

import re

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from smb.ingest.note import Note, WikiLink

WIKI_LINK = re.compile(r"(!?)\[\[([^\[\]\n`]{1,500})\]\]")
_EMBED = re.compile(r"(!)\[\[([^\[\]\n`]{1,500})\]\]|\\.|(?<!`)(`+)(?!`).+?(?<!`)\3(?!`)", re.DOTALL)  # or what holds none: an escape, code
_LINE = re.compile(r"\r\n|\n|\r")
_IMAGE_SIZE = re.compile(r"\d+(?:x\d+)?")


def wiki_link(found: re.Match[str], line: int) -> WikiLink | None:
    """The link a match of `WIKI_LINK` stands for; None when nothing is named.

    The pipe before an alias may be escaped, as it must be in a table; `#^id` names a block, any other `#…` a heading.
    """
    place, _, alias = found[2].replace("\\|", "|").partition("|")
    target, _, part = place.partition("#")
    target, part, alias = target.strip(), part.strip(), alias.strip()
    if not target and not part:
        return None
    heading, block = ("", part[1:].strip()) if part.startswith("^") else (part, "")
    return WikiLink(target, heading, block, alias, bool(found[1]), line)


def shown(link: WikiLink) -> str:
    """What a reader sees of a link: its alias (unless that is an image size), else its target, else the part named."""
    if link.alias and not (link.embed and _IMAGE_SIZE.fullmatch(link.alias)):
        return link.alias
    return link.target or link.heading or link.block


def embeds_in(note: Note) -> Iterator[tuple[int, int, WikiLink]]:
    """Where the embeds of a note are written, in order: (start, end, link) in characters of its text."""
    starts = [0, *(m.end() for m in _LINE.finditer(note.text)), len(note.text)]
    done = 0
    for block in note.blocks:
        embeds = {replace(link, line=0) for link in block.links if link.embed}
        if not embeds or block.kind == "properties":
            continue
        for found in _EMBED.finditer(note.text, max(done, starts[block.line_start - 1]), starts[block.line_end]):
            if found[1] and (link := wiki_link(found, bisect_right(starts, found.start()))) and replace(link, line=0) in embeds:
                yield found.start(), found.end(), link
                done = found.end()
