"""The forms of `[[wiki links]]`.

Owns their grammar, for running text and for front matter alike. Never resolves a target.
"""

from __future__ import annotations

import re

from smb.ingest.note import WikiLink

WIKI_LINK = re.compile(r"(!?)\[\[([^\[\]\n`]{1,500})\]\]")
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
