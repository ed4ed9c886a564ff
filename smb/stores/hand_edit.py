"""What it means when an object file is not as smb last wrote it.

Owns the distinction between a person's edit and a rendering of an earlier or other state (a pull, a crash, a file out
of an old commit). Never writes; when in doubt it says edit, so nothing a person wrote is rendered over unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smb.model.currentness import AsOf, as_object
from smb.model.objects import EVIDENCE_SHOWN, RELATED, MemoryObject, MemoryType, link_text
from smb.model.revision import Revision, Statement
from smb.model.validity import from_iso
from smb.stores.union_merge import GENERATED_ENDS, GENERATED_LINK, is_known_line_by_line, is_union

if TYPE_CHECKING:
    from smb.stores.catalog import Catalog


_TOTAL = re.compile(r"^evidence_total: \d+\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class HandEdit:
    """A person's change to an object file, not yet in the ledger.

    `path` is relative to the bank: where the text is, or was. `text` is None when the file was deleted; bytes that
    are no UTF-8 are in it as lone surrogates (`surrogateescape`). `moved` says that the file was renamed or moved.
    """

    object_id: str
    path: str
    text: str | None
    moved: bool = False

    @property
    def data(self) -> bytes | None:
        return None if self.text is None else self.text.encode("utf-8", "surrogateescape")


async def is_rendering(catalog: Catalog, text: str, current: MemoryObject, rendered_here_until: int | None) -> bool:
    """Whether `text`, found where `current` belongs, is smb's own work and can be rendered over without loss.

    It has to be written as smb writes. Then it is a rendering if only generated lines differ from `current`, or if it is
    exactly the object as of the time it names, or if every word of it is in the ledger and it comes from another state:
    of a revision this clone never rendered here (its transaction came after `rendered_here_until`) or, where nothing was
    ever rendered here (None), of an older revision than the current one.
    """
    from smb.stores.object_file import MalformedObjectFile, deserialize_memory  # imports yaml

    text = text.replace("\r\n", "\n")
    if is_union(text) and is_known_line_by_line(text, current, (await catalog.histories([current.id]))[current.id]):
        return True
    try:
        found = deserialize_memory(text)
    except MalformedObjectFile:
        return False
    if found.id != current.id or found.type is not current.type or _written(text) != _written(found.to_markdown()) or await joins_else(catalog, found, current):
        return False
    if _said(found, own_words(found)) == _said(current, own_words(current)):
        return True
    try:
        known_at = from_iso(found.modified or None)
    except ValueError:
        return False
    history = (await catalog.histories([current.id]))[current.id]
    then = as_object(history, AsOf(known_at=known_at), current.id)
    if then is None:
        return False
    if _said(found, own_words(found)) == _said(then, then.body.rstrip() if then.type is MemoryType.RELATIONSHIP else own_words(then)):
        return True
    if rendered_here_until is None:
        elsewhere = found.revision != current.revision and found.modified < current.modified
    else:
        elsewhere = found.revision not in await _recorded_until(catalog, history, rendered_here_until)
    return elsewhere and _is_explained(found, then, history)


def own_words(shown: MemoryObject) -> str:
    """What the body of a file says itself: of a relationship what stands below the line with its ends."""
    body = (shown.body or shown.title).rstrip()
    if shown.type is not MemoryType.RELATIONSHIP:
        return body
    ends = GENERATED_ENDS.match(body)
    return body[ends.end() :].strip() if ends else "" if body == shown.title.rstrip() else body


async def joins_else(catalog: Catalog, found: MemoryObject, current: MemoryObject) -> bool:
    """Whether the line of a relationship's file with its ends, which is made from the objects it joins, is another than smb ever wrote."""
    there, here = (GENERATED_ENDS.match(o.body) if o.type is MemoryType.RELATIONSHIP else None for o in (found, current))
    if there is None or here is None or there[0] == here[0]:
        return False
    pages, ids = zip(*((at[1], at[4]) for at in (there, here)), strict=True), [here[n].rpartition("-")[2] for n in (1, 4)]
    if there[3] != here[3] or any(one.rpartition("-")[2] != other.rpartition("-")[2] for one, other in pages):
        return True
    histories = await catalog.histories(ids)
    return any(label not in {link_text(r.statement.title) for r in histories[i] if isinstance(r.statement, Statement)}
               for label, i in ((there[2], ids[0]), (there[5], ids[1])))


def _said(o: MemoryObject, words: str) -> tuple[object, ...]:
    """What an object file says, without what is generated from the graph; spans as far as the file carries them."""
    return (
        o.title, words, o.aliases, o.tags, f"{o.confidence:.2f}", o.status, o.created, o.modified, o.revision, o.verification,
        o.mode, o.valid_from, o.valid_to, o.key, o.value, o.attributed_to, o.derived_from,
        [raw.rstrip("\n") for _, raw in o.extra],
        [(s.source[:12], s.lines, s.quote) for s in o.evidence[:EVIDENCE_SHOWN]],
    )


def _is_explained(found: MemoryObject, then: MemoryObject, history: Iterable[Revision]) -> bool:
    """Whether the ledger holds everything a person could have written into the file."""
    told = [r.statement for r in history if isinstance(r.statement, Statement)]
    return (
        found.title in {s.title for s in told}
        and own_words(found) in {"", *(t.rstrip() for s in told for t in (s.body, s.title))}
        and set(found.aliases) <= {a for s in told for a in s.aliases}
        and set(found.tags) <= {t for s in told for t in s.tags}
        and f"{found.confidence:.2f}" in {f"{s.confidence:.2f}" for s in told}
        and found.value in {"", *(s.value for s in told)}
        and {raw.rstrip("\n") for _, raw in found.extra} <= {raw.rstrip("\n") for s in told for _, raw in s.extra}
        and {s.quote for s in found.evidence} <= {span.quote for r in history for span in r.evidence}
        and (found.status, found.valid_from, found.valid_to, found.key, found.attributed_to, found.verification)
        == (then.status, then.valid_from, then.valid_to, then.key, then.attributed_to, then.verification)
    )


def _written(text: str) -> str:
    """An object file without the lines that are generated and never read back."""
    before, heading, after = text.rpartition(f"\n{RELATED}\n")
    if heading and all(GENERATED_LINK.fullmatch(line) for line in after.split("\n") if line):
        text = before
    return _TOTAL.sub("", text).rstrip("\n")


async def _recorded_until(catalog: Catalog, history: Iterable[Revision], seq: int) -> set[str]:
    rows = await catalog.fetch_in("SELECT id, tx FROM revisions WHERE id IN ({marks})", {r.id for r in history})
    return {row["id"] for row in rows if row["tx"] <= seq}
