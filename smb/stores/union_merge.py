"""Object files that git merged by union (`.gitattributes` of a bank: `merge=union`).

Owns the recognition of such a file: two renderings of one object, line by line in one another. It can be rendered over,
because every line of it is in the ledger. Never takes a person's edit for one: nobody writes a second `revision:`, and what they
write is in no ledger yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from smb.model.objects import RELATED, MemoryObject, quoted
from smb.model.revision import Revision, Statement

GENERATED_LINK = re.compile(r"- [a-z_]+: \[\[[^\n]*\]\]")
GENERATED_ENDS = re.compile(r"\[\[([^\[\]|\n]*)\|([^\[\]\n]*)\]\] ([a-z ]+) \[\[([^\[\]|\n]*)\|([^\[\]\n]*)\]\]\.")
_COMPUTED = frozenset("id type confidence status created modified embedding_id graph_node_id verification mode valid_from valid_to "
                      "recorded_at evidence_total source lines".split())
_KEY = re.compile(r"^[a-z_]+: ", re.MULTILINE)
_FRONT_LINE = re.compile(r"^(?:modified: \"[^\"\n]*\"|embedding_id: emb-[0-9a-f]{12}|revision: \"?[0-9a-f]{16}\"?)$", re.MULTILINE)
_ITEM = re.compile(r'"(?:[^"\\]|\\.)*"|[^\[\],]+')


def is_union(text: str) -> bool:
    """Whether the front matter says a key twice, or some of a second one got below it."""
    front, _, below = text.removeprefix("---\n").partition("\n---\n")
    keys = [key[0] for key in _KEY.finditer(front)]
    return len(keys) > len(set(keys)) or _FRONT_LINE.search(below) is not None


def is_known_line_by_line(text: str, current: MemoryObject, history: Iterable[Revision]) -> bool:
    """Whether every line of a union of renderings is computed, or says something the object's history holds."""
    held = list(history)
    told = [r.statement for r in held if isinstance(r.statement, Statement)]
    spans = [span for r in held for span in r.evidence]
    values = {"title": {s.title for s in told}, "revision": {r.id for r in held}, "value": {s.value for s in told},
              "attributed_to": {s.attributed_to for s in told}, "quote": {span.quote for span in spans}}
    lists = {"aliases": {a for s in told for a in s.aliases}, "tags": {t for s in told for t in s.tags},
             "source_ids": {span.source[:12] for span in spans}, "derived_from": {d for s in told for d in s.derived_from}}
    shown = {name: {quoted(v) for v in said} for name, said in (values | lists).items()}
    written = {line for s in told for text_ in (s.body, s.title, *(raw for _, raw in s.extra)) for line in text_.split("\n")}
    written |= set(current.to_markdown().split("\n")) | {"", "---", "evidence:", RELATED}

    def known(line: str) -> bool:
        if line in written or GENERATED_LINK.fullmatch(line) or GENERATED_ENDS.fullmatch(line):
            return True
        name, colon, said = line.strip().removeprefix("- ").partition(": ")
        if not colon:
            return not line.strip()
        if name in lists:
            return {item.strip() for item in _ITEM.findall(said.strip()[1:-1]) if item.strip()} <= shown[name]
        return name in _COMPUTED or (name in values and said in shown[name])

    return all(known(line) for line in text.split("\n"))
