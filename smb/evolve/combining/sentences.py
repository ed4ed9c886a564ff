"""The first sentences of a document, where they stand.

Owns which stretches of prose are sentences that say something, and their exact places. Never reads a source: the catalog holds the
text of each passage, and one that is not byte for byte what the source has is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from smb.evolve.snapshot import Snapshot
from smb.model.evidence import Span

_PASSAGES, _SENTENCES = 8, 12  # of a document that are looked at
_SHORTEST, _LONGEST = 25, 280  # characters
_SENTENCE = re.compile(r"[^\s.!?。！？](?:[^.!?。！？\n]|\n(?!\s*\n)|[.!?](?=[^\s\"”’)\]*_]))*[.。](?=[\s\"”’)\]*_]|\Z)")
_BROKEN = re.compile(r"[`|<>{}=\[\]]|\w+://|^\W")


async def sentences_of(snapshot: Snapshot, documents: Collection[str]) -> dict[str, list[tuple[Span, int | None]]]:
    """The first statements of each document in order, each with the row of its passage's embedding."""
    rows = await snapshot.catalog.fetch_in(
        "SELECT p.document_id, p.source, p.byte_start, p.byte_end, p.line_start, p.text, p.vector_row FROM documents d CROSS JOIN passages p ON p.document_id = d.id "
        f"AND p.source = d.source WHERE p.ordinal < {_PASSAGES} AND p.kind IN ('paragraph', 'item') AND +p.live = 1 AND d.encoding = 'utf-8' AND d.shape != 'chat' "
        "AND d.id IN ({marks}) ORDER BY p.document_id, p.ordinal", documents)
    found: dict[str, list[tuple[Span, int | None]]] = {}
    for row in rows:
        text, held = row["text"], found.setdefault(row["document_id"], [])
        if len(text.encode("utf-8", "surrogatepass")) == row["byte_end"] - row["byte_start"]:
            held += [(_span(row["source"], row["byte_start"], row["line_start"], text, m), row["vector_row"]) for m in _SENTENCE.finditer(text)
                     if _SHORTEST <= len(m[0]) <= _LONGEST and not _BROKEN.search(m[0])][: _SENTENCES - len(held)]
    return found


def _span(source: str, byte_start: int, line_start: int, text: str, m: re.Match[str]) -> Span:
    start = byte_start + len(text[: m.start()].encode())
    line = line_start + text.count("\n", 0, m.start())
    return Span(source, start, start + len(m[0].encode()), line, line + m[0].count("\n"), m[0])
