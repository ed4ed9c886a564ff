"""The record of a cycle: a page of layer 5 that says what changed and names the transactions, so that it can be undone.

Owns how a record is written and read back. Never a phase: what it records is what the phases committed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import orjson

from smb.evolve.snapshot import Snapshot, wikilink
from smb.model.identity import object_id
from smb.model.objects import MemoryType, Mode
from smb.model.revision import Revision, RevisionKind, Statement, new_revision, revision_from_json
from smb.model.validity import to_iso
from smb.stores.catalog import Catalog

RECORD = "cycle"  # actor of the records
SHOWN = 12  # objects named for each phase
_WORDS = {
    RevisionKind.ASSERT: ("written", "written again"), RevisionKind.SUPERSEDE: ("superseded", "superseded"), RevisionKind.REVOKE: ("withdrawn", "withdrawn"),
    RevisionKind.MERGE: ("merged", "merged"), RevisionKind.SPLIT: ("split", "split"), RevisionKind.CONTEST: ("contested", "contested"),
    RevisionKind.VERIFY: ("verified", "verified"),
}


async def record_of(snapshot: Snapshot, transactions: Sequence[tuple[str, str]], generation: str, rules: str, now: datetime) -> Revision:
    """The assertion of a record: `transactions` are (id, phase) in order, `generation` the ledger's before the record, `rules`
    the phases that have looked at all of it ("" where the cycle was cut short)."""
    catalog = snapshot.catalog
    sections: list[str] = []
    for id_, phase in transactions:
        rows = await catalog.fetch(
            "SELECT r.kind, r.object_id, r.object_type, r.line, o.title, o.location FROM revisions r LEFT JOIN memory_objects o ON o.id = r.object_id "
            "WHERE r.tx = (SELECT seq FROM transactions WHERE id = ?) ORDER BY r.object_type, r.object_id, r.seq", (id_,))
        counts = Counter((row["object_type"], _WORDS[RevisionKind(row["kind"])][_replaces(row["line"])]) for row in rows)
        said = ", ".join(f"{n} {type_ if n == 1 else _plural(type_)} {what}" for (type_, what), n in sorted(counts.items()))
        pages = list(dict.fromkeys(
            wikilink(row["location"].rpartition("/")[2].removesuffix(".md"), row["title"]) for row in rows if row["location"]))
        more = f" and {len(pages) - SHOWN} more" if len(pages) > SHOWN else ""
        sections.append(f"## {phase.capitalize()}\n\n{said[:1].upper()}{said[1:]}.\n\n{', '.join(pages[:SHOWN])}{more}".rstrip())
    identity = f"{RECORD}:{generation}"
    at = to_iso(now) or ""
    statement = Statement(
        title=f"Evolution of {at[:16].replace('T', ' ')}", identity=identity, body="\n\n".join(sections), confidence=1.0, mode=Mode.INFERRED,
        extra=(("generation", f"generation: {json.dumps(generation)}"), ("rules", f"rules: {json.dumps(rules)}"),
               ("transactions", f"transactions: {json.dumps([i for i, _ in transactions])}")))
    return new_revision(RevisionKind.ASSERT, object_id(MemoryType.EVOLUTION.value, identity), MemoryType.EVOLUTION.value, statement=statement, actor=RECORD)


def transactions_of(record: Statement) -> list[str]:
    """Ids of the transactions a record names, in order."""
    return list(json.loads(dict(record.extra)["transactions"].partition(": ")[2]))


async def recorded_generation(catalog: Catalog, transaction: str) -> tuple[str, str]:
    """(generation before the record, rules that have looked at it) of the record committed by `transaction`."""
    rows = await catalog.fetch("SELECT line FROM revisions WHERE tx = (SELECT seq FROM transactions WHERE id = ?)", (transaction,))
    for row in rows:
        statement = revision_from_json(orjson.loads(row["line"])).statement
        if isinstance(statement, Statement):
            extra = {key: json.loads(text.partition(": ")[2]) for key, text in statement.extra}
            return extra.get("generation", ""), extra.get("rules", "")
    return "", ""


def _replaces(line: str) -> bool:
    return bool(orjson.loads(line).get("replaces"))


def _plural(type_: str) -> str:
    for ending, many in (("sis", "ses"), ("y", "ies")):
        if type_.endswith(ending):
            return type_.removesuffix(ending) + many
    return f"{type_}s"
