"""What every projection promises: applying twice changes nothing, order doesn't matter, incremental equals rebuilt."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smb.stores.catalog import Catalog
from smb.stores.catalog_apply import apply
from smb.stores.evidence_store import EvidenceStore
from smb.stores.graph_file import GraphFile
from smb.stores.ledger import Ledger
from smb.stores.projection import Projection
from smb.stores.vector_mirror import VectorMirror
from smb.stores.vectors import VectorStore
from smb.stores.views import MarkdownStore
from worlds import WORKSHOP, ask, catalog, ingest, truth, write


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bank with a past: edits, a move, a removal and a merge, each its own transaction."""
    place = tmp_path_factory.mktemp("lived-in")
    kb = write(place / "notes", WORKSHOP)
    bank = place / "bank"
    ingest(bank, kb)
    write(kb, {"Loom.md": str(WORKSHOP["Loom.md"]).replace("120 cm", "150 cm"), "a.md": "# Repair\n\n[[D. Wenn]] oiled the loom on 2031-04-02.\n"})
    ingest(bank, kb)
    (kb / "Dye log.md").rename(kb / "Dyes.md")
    ingest(bank, kb)
    write(kb, {"people/Dara Wenn.md": "---\ntags: [person]\naliases: [D. Wenn]\n---\n# Dara Wenn\n\nDara Wenn lives in Harrow.\n"})
    (kb / "empty.md").unlink()
    ingest(bank, kb)
    ingest(bank, kb, sync=True)
    return bank


@pytest.fixture
def bank(lived_in: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(lived_in, tmp_path / "bank"))


def mirrored(bank: Path) -> dict[str, Any]:
    with VectorStore(bank / "index" / "vectors", 256) as store:
        ids = [p.stem.rpartition("-")[2] for p in bank.glob("layer-1/*/*.md")]
        return store.get(ids) | {"count": store.count()}


def state(name: str, bank: Path) -> object:
    match name:
        case "views":
            return {path: data for path, data in truth(bank).items() if path.startswith("layer-") and not path.startswith("layer-0")}
        case "graph":
            return (bank / "graph.json").read_bytes()
        case _:
            return mirrored(bank)


def projection(name: str, bank: Path) -> Projection:
    from smb.inference.static_embedder import StaticEmbedder
    from smb.stores.embedding_matrix import EmbeddingMatrix

    embedder = StaticEmbedder()
    match name:
        case "views":
            return MarkdownStore(bank)
        case "graph":
            return GraphFile(bank)
        case _:
            return VectorMirror(bank / "index" / "vectors", lambda: EmbeddingMatrix(bank / "index" / "embeddings", embedder.fingerprint, embedder.dimension))


def on_catalog(bank: Path, act: Callable[[Catalog], Any]) -> Any:
    async def main() -> Any:
        async with await Catalog.open(bank / "index" / "metadata.db") as opened:
            return await act(opened)

    return asyncio.run(main())


@pytest.mark.parametrize("name", ["views", "graph", "vectors"])
def test_catching_up_twice_changes_nothing(name: str, bank: Path) -> None:
    before = state(name, bank)
    assert on_catalog(bank, projection(name, bank).catch_up) == 0
    assert state(name, bank) == before


@pytest.mark.parametrize("name", ["views", "graph", "vectors"])
def test_rebuilt_equals_incremental(name: str, bank: Path) -> None:
    before = state(name, bank)
    on_catalog(bank, projection(name, bank).rebuild)
    assert state(name, bank) == before


@pytest.mark.parametrize("name", ["views", "graph", "vectors"])
def test_a_lost_stamp_costs_a_full_pass_and_nothing_else(name: str, bank: Path) -> None:
    before = state(name, bank)

    async def forget_and_follow(opened: Catalog) -> None:
        await opened.set_meta(f"{name}.stamp", "999:not-a-generation")
        await opened.commit()
        await projection(name, bank).catch_up(opened)

    on_catalog(bank, forget_and_follow)
    assert state(name, bank) == before


@pytest.mark.parametrize("seed", range(6))
def test_the_catalog_does_not_care_in_what_order_it_learns(seed: int, bank: Path, tmp_path: Path) -> None:
    ledger, evidence = Ledger(bank), EvidenceStore(bank)
    transactions = ledger.missing(())
    assert len(transactions) >= 4
    before = catalog(bank)
    random.Random(seed).shuffle(transactions)

    async def relearn() -> None:
        async with await Catalog.open(tmp_path / "again" / "index" / "metadata.db") as opened:
            for transaction in transactions:
                await apply(opened, [transaction], evidence.read)
                assert (await apply(opened, [transaction], evidence.read)).transactions == 0

    asyncio.run(relearn())
    after = catalog(tmp_path / "again")
    for table in before:
        assert after[table] == before[table], table


def test_rebuild_of_everything_gives_the_same_bank(bank: Path) -> None:
    before = truth(bank), catalog(bank), mirrored(bank)
    shutil.rmtree(bank / "index")
    (bank / "graph.json").unlink()
    report = ask(bank, "rebuild")
    assert report["files_written"] == 0
    assert (truth(bank), catalog(bank), mirrored(bank)) == before


def test_losing_every_object_file_loses_nothing(bank: Path) -> None:
    before = truth(bank)
    for layer in range(1, 7):
        shutil.rmtree(bank / f"layer-{layer}")
    ask(bank, "rebuild")
    assert truth(bank) == before
