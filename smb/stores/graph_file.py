"""`graph.json`: the whole graph as node-link JSON, the form networkx and d3 read.

Owns that file and its stamp. Never holds more of the graph in memory than the file's bytes and one page of rows, and
never rewrites a file whose bytes are already right. Nodes and links are sorted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from smb.model.identity import graph_node_id
from smb.model.objects import NODE_TYPE
from smb.stores.atomic_file import write_atomic
from smb.stores.graph import VISIBLE
from smb.stores.projection import Stamp, read_stamp, write_stamp

if TYPE_CHECKING:
    from smb.stores.catalog import Catalog

SCHEMA_VERSION = 1
_PAGE = 20_000
_SHOWN_AS = {str(type_): str(shown_as) for type_, shown_as in NODE_TYPE.items() if shown_as is not None}


class GraphFile:
    """The projection behind `<bank>/graph.json`."""

    name = "graph"

    def __init__(self, bank: Path):
        self.path = bank / "graph.json"

    async def stamp(self, catalog: Catalog) -> Stamp | None:
        """How far the file has come; None when it is missing, whatever the stamp says."""
        return await read_stamp(catalog, self.name) if self.path.exists() else None

    async def catch_up(self, catalog: Catalog) -> int:
        """Writes the file if the catalog has moved on since; returns 1 if its bytes changed, else 0."""
        return 0 if await self.stamp(catalog) == await catalog.latest() else await self.rebuild(catalog)

    async def rebuild(self, catalog: Catalog) -> int:
        """Makes the file again; returns 1 if its bytes changed, else 0."""
        latest = await catalog.latest()
        data = await _render(catalog, latest[1])
        changed = await asyncio.to_thread(_replace, self.path, data)
        await write_stamp(catalog, self.name, latest)
        await catalog.commit()
        return int(changed)


async def node_link_data(catalog: Catalog) -> dict[str, Any]:
    """What the file says, as plain data: nodes have id, type (of six), kind (the memory type), title and standing;
    links have source, target, type and weight. A link several objects hold appears once, at its greatest weight."""
    head = _head((await catalog.latest())[1])
    shown: set[str] = set()
    nodes = [node async for page in _nodes(catalog, shown) for node in page]
    return {**head, "nodes": nodes, "links": [link async for page in _links(catalog, shown) for link in page]}


def _head(generation: str) -> dict[str, Any]:
    return {"schema_version": SCHEMA_VERSION, "directed": True, "multigraph": True, "graph": {"generation": generation}}


async def _render(catalog: Catalog, generation: str) -> bytes:
    shown: set[str] = set()
    # a page at a time: 400,000 results of orjson, each of which begins as 1 KB, would cost 3 s in fragmented memory
    nodes = [orjson.dumps(page)[1:-1] async for page in _nodes(catalog, shown) if page]
    links = [orjson.dumps(page)[1:-1] async for page in _links(catalog, shown) if page]
    head = orjson.dumps(_head(generation))[:-1]
    return b"".join((head, b',"nodes":[\n', b",\n".join(nodes), b'\n],"links":[\n', b",\n".join(links), b"\n]}\n"))


async def _nodes(catalog: Catalog, shown: set[str]) -> AsyncIterator[list[dict[str, Any]]]:
    """The visible nodes by id, in pages; adds their object ids to `shown`."""
    last = ""
    while rows := await catalog.fetch(
        f"SELECT id, type, title, standing FROM memory_objects WHERE id > ? AND {VISIBLE} ORDER BY id LIMIT {_PAGE}", (last,)
    ):
        last = rows[-1]["id"]
        shown.update(row["id"] for row in rows)
        yield [
            {"id": graph_node_id(id_), "type": _SHOWN_AS[type_], "kind": type_, "title": title, "standing": standing}
            for id_, type_, title, standing in rows
        ]


async def _links(catalog: Catalog, shown: set[str]) -> AsyncIterator[list[dict[str, Any]]]:
    """The links between nodes of `shown` by source, target and type, in pages."""
    last = ("", "", "", "")
    key: tuple[str, str, str] | None = None
    page: list[dict[str, Any]] = []
    while rows := await catalog.fetch(
        "SELECT source, target, type, held_by, weight FROM edges WHERE (source, target, type, held_by) > (?, ?, ?, ?) "
        f"ORDER BY source, target, type, held_by LIMIT {_PAGE}", last
    ):
        last = tuple(rows[-1])[:4]
        done, page = page[:-1], page[-1:]  # the last link of a page may have more holders on the next
        if done:
            yield done
        for source, target, type_, _, weight in rows:
            if source not in shown or target not in shown:
                continue
            if key == (source, target, type_):
                page[-1]["weight"] = max(page[-1]["weight"], round(weight, 4))
                continue
            key = (source, target, type_)
            ends = {"source": graph_node_id(source), "target": graph_node_id(target)}
            page.append({**ends, "type": type_, "weight": round(weight, 4)})
    yield page


def _replace(path: Path, data: bytes) -> bool:
    """Puts `data` at `path` unless it is there already; returns whether it wrote."""
    try:
        if path.stat().st_size == len(data) and path.read_bytes() == data:
            return False
    except FileNotFoundError:
        pass
    write_atomic(path, data, durable=False)
    return True
