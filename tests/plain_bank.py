"""A catalog filled from plain markdown: one passage a block, claims where a test states them. For recall's tests only."""

from __future__ import annotations

import asyncio
import re
from datetime import datetime
from pathlib import Path

from smb.model.evidence import DocumentVersion, Passage, Span
from smb.model.identity import document_id, object_id, sha256_hex
from smb.model.revision import DOCUMENT, Revision, RevisionKind, Statement, Transaction, new_revision
from smb.model.validity import ALWAYS, UTC, TimeError, parse_interval
from smb.recall.pipeline import RecallRequest, recall
from smb.stores.catalog import Catalog
from smb.stores.catalog_apply import apply
from smb.stores.catalog_reader import CatalogReader

TURN = re.compile(r"\s*(?:- )?\*\*([^*:]+):\*\*|\s*\[[\d: -]+\] ([A-Z]\w+):")


def passages_of(data: bytes) -> tuple[str, dict[str, str], tuple[Passage, ...]]:
    """(title, properties, passages): a heading, a list item, a run of other lines between blank lines each is one."""
    found: list[Passage] = []
    properties: dict[str, str] = {}
    headings: list[str] = []
    at, block, fence = 0, [], False  # block: (start, end, line number, text)
    lines = data.splitlines(keepends=True)

    def flush() -> None:
        if block:
            text = block[0][3]
            turn = TURN.match(text)
            kind = (
                "turn" if turn else "item" if re.match(r"\s*[-*] ", text) else "code" if text.startswith("```") else "paragraph"
            )
            found.append(
                Passage(
                    kind,
                    block[0][0],
                    block[-1][1],
                    block[0][2],
                    block[-1][2],
                    tuple(headings),
                    (turn[1] or turn[2]) if turn else "",
                )
            )
            block.clear()

    front = bool(lines) and lines[0].strip() == b"---"
    for n, raw in enumerate(lines, 1):
        text = raw.decode("utf-8", "replace").rstrip("\r\n")
        start, end = at, at + len(raw.rstrip(b"\r\n"))
        at += len(raw)
        if front:
            key, _, value = text.partition(":")
            if n > 1:
                properties[key.strip()] = value.strip()
            front = not (n > 1 and text.strip() == "---")
            continue
        if text.startswith("```"):
            fence = not fence
        if not fence and text.startswith("#"):
            flush()
            level = len(text) - len(text.lstrip("#"))
            del headings[level - 1 :]
            headings.append(text.lstrip("# "))
            found.append(Passage("heading", start, end, n, n, tuple(headings[:-1])))
        elif not text.strip() and not fence:
            flush()
        else:
            if not fence and re.match(r"\s*[-*] |\[[\d: -]+\] \w+:", text):
                flush()
            block.append((start, end, n, text))
    flush()
    title = properties.get("title") or next(
        (data[p.byte_start : p.byte_end].decode().lstrip("# ") for p in found if p.kind == "heading"), ""
    )
    return title, properties, tuple(found)


class PlainBank:
    """Documents and claims said to a catalog; `sources` is its layer 0."""

    def __init__(self, catalog: Catalog, vector_rows=None):
        self.catalog, self.vector_rows = catalog, vector_rows
        self.sources: dict[str, bytes] = {}
        self.heads: dict[str, Revision] = {}
        self.pending: list[Revision] = []

    def read_source(self, source: str) -> bytes:
        return self.sources[source]

    def note(self, path: str, text: str | bytes, **more: object) -> str:
        """Says a document version; returns the document id."""
        data = text.encode() if isinstance(text, str) else text
        source = sha256_hex(data)
        self.sources[source] = data
        title, properties, passages = passages_of(data)
        turns = sum(p.kind == "turn" for p in passages)
        try:
            valid = parse_interval(properties.get("date", ""))
        except TimeError:
            valid = ALWAYS
        version = DocumentVersion(
            "kb",
            path,
            source,
            title or Path(path).stem,
            shape="chat" if turns >= 4 else "note",
            date=properties.get("date", ""),
            valid=valid,
            passages=passages,
            **more,
        )
        document = document_id("kb", path)
        old = self.heads.get(document)
        revision = new_revision(
            RevisionKind.ASSERT, document, DOCUMENT, document=document, statement=version, replaces=(old.id,) if old else ()
        )
        self.heads[document] = revision
        self.pending.append(revision)
        return document

    def gone(self, document: str) -> None:
        self.pending.append(
            new_revision(RevisionKind.REVOKE, document, DOCUMENT, document=document, replaces=(self.heads[document].id,))
        )

    def say(
        self,
        document: str,
        type_: str,
        title: str,
        quote: str,
        kind: RevisionKind = RevisionKind.ASSERT,
        replaces: tuple[Revision, ...] = (),
        into: tuple[str, ...] = (),
        **says: object,
    ) -> Revision:
        """An object whose evidence is `quote` in the document's present version."""
        data = self.sources[self.heads[document].statement.source]
        start = data.index(quote.encode())
        end = start + len(quote.encode())
        span = Span(sha256_hex(data), start, end, data[:start].count(b"\n") + 1, data[:end].count(b"\n") + 1, quote)
        revision = new_revision(
            kind,
            object_id(type_, title),
            type_,
            document=document,
            statement=Statement(title, title, **says),
            evidence=(span,),
            replaces=tuple(r.id for r in replaces),
            into=into,
        )
        self.pending.append(revision)
        return revision

    async def commit(self, at: str) -> None:
        when = datetime.fromisoformat(at).replace(tzinfo=UTC)
        revisions, self.pending = tuple(self.pending), []
        await apply(
            self.catalog,
            [Transaction("ingest", "test", when, revisions, id=sha256_hex(repr((at, [r.id for r in revisions])).encode())[:32])],
            self.read_source,
            self.vector_rows,
        )


LOOM = """# Big Loom

- **Width:** 210 cm
- **Weaver:** Odile

The Big Loom came from Lyon and stands in the barn.

## Repairs

Odile replaced the breast beam in the spring.
"""
DYES = "# Dyes\n\nMadder gives red after a pre-mordant bath.\n\n染料の濃度は三割である。\n"
TALK = """---
title: Odile and Bram
date: 2031-04-02
---

- **Odile:** Did you ever fix that pedal? <!-- 1 -->
- **Bram:** Yes, with a bicycle chain last week. <!-- 2 -->
- **Odile:** Clever! I would never have thought of that.
- **Bram:** The pedal creaks now, but it holds.
- **Odile:** I am off to the market, see you.
"""


def run_recall(tmp_path, scenario, vector_rows=None):
    """Runs `scenario(bank, ask)` over a new bank; `ask(question, **options)` gives a packet."""

    async def whole():
        bank = PlainBank(await Catalog.open(tmp_path / "c.db"), vector_rows)
        reader = CatalogReader(bank.catalog)

        async def ask(question, *, given=None, **options):
            return await recall(reader, RecallRequest.of(question, **options), read_source=bank.read_source, **(given or {}))

        try:
            return await scenario(bank, ask)
        finally:
            await bank.catalog.close()

    return asyncio.run(whole())


async def workshop(bank):
    bank.note("rooms/loom.md", LOOM)
    bank.note("dyes.md", DYES)
    bank.note("talk.md", TALK)
    await bank.commit("2031-05-01T00:00:00")


async def bank_of(folder: Path, database: Path, vector_rows=None) -> PlainBank:
    """A new catalog at `database` that holds every markdown file below `folder`."""
    bank = PlainBank(await Catalog.open(database), vector_rows)
    for path in sorted(folder.rglob("*.md")):
        bank.note(path.relative_to(folder).as_posix(), path.read_bytes())
    await bank.commit("2031-01-01T00:00:00")
    return bank
