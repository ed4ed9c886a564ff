"""A hundred concepts in ten planted groups, and cycles of chosen phases over a real bank."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from smb import Bank
from smb.evolve.cycle import CycleReport, EvolutionEngine
from smb.evolve.phase import Phase
from smb.evolve.snapshot import Snapshot
from tests.worlds import MOMENT, ingest, write

GROUPS = {
    "bread": ("Rye Barley Corn Walnut Olive Garlic Banana Spelt Potato Raisin", "is baked from dough in the oven of the bakery until the crust is brown"),
    "knot": ("Reef Anchor Prusik Fisherman Overhand Stopper Butterfly Granny Packer Surgeon", "is tied in a rope by sailors and climbers and holds under load"),
    "violin": ("Baroque Student Electric Concert Travel Folk Carbon Painted Silent Antique", "is played with a bow, its strings are tuned in fifths by the orchestra"),
    "tent": ("Dome Tunnel Ridge Pyramid Family Alpine Beach Festival Canvas Roof", "shelters campers from rain; its poles and pegs are packed in a bag"),
    "comet": ("Periodic Sungrazing Great Lost Interstellar Dark Split Faint Early Twin", "orbits the sun and shows a tail of dust to the telescope of an astronomer"),
    "cheese": ("Goat Sheep Smoked Blue Cream Mountain Washed Farmhouse Monastery Winter", "ripens in the cellar of the dairy; its milk is curdled with rennet"),
    "lathe": ("Wood Metal Bench Turret Vertical Watchmaker Pole Copying Speed Engine", "turns a workpiece against a chisel in the machine shop at a set speed"),
    "orchid": ("Lady Bee Vanilla Moth Ghost Spider Slipper Marsh Lizard Monkey", "flowers in the greenhouse; its roots want moss, shade and moist air"),
    "ferry": ("Night Cable River Car Harbour Island Passenger Chain Rail Summer", "carries passengers and cars from pier to pier by the timetable of the port"),
    "tax": ("Income Land Sales Salt Window Carbon Wealth Estate Payroll Sugar", "is paid to the revenue office; the rate is set in the budget by parliament"),
}
HOURS = iter(range(1, 10_000))


def hundred() -> dict[str, str]:
    """A note for each of a hundred concepts: path → text."""
    return {f"notes/{first.lower()} {noun}.md": f"---\ntags: [{noun}]\n---\n# {first} {noun}\n\n{'An' if first[0] in 'AEIO' else 'A'} {first.lower()} {noun} {what}.\n"
            for noun, (firsts, what) in GROUPS.items() for first in firsts.split()}


def bank_of(root: Path, notes: Mapping[str, str | bytes], name: str = "bank") -> Path:
    ingest(root / name, write(root / "kb", notes))
    return root / name


def add(bank: Path, kb: Path, notes: Mapping[str, str | bytes]) -> None:
    """More notes, an hour and more after whatever was said before."""
    ingest(bank, write(kb, notes), moment=later())


def later() -> datetime:
    return MOMENT + timedelta(hours=next(HOURS))


def evolve(bank: Path, *phases: Phase, forgetful: bool = False) -> CycleReport:
    """One cycle of `phases`; a `forgetful` one looks at everything again, as a clone does whose record does not tell."""

    async def main() -> CycleReport:
        moment = later()
        async with Bank.open(bank, clock=lambda: moment) as opened:
            if forgetful:
                await opened.catalog.run("DELETE FROM meta WHERE key LIKE 'evolved.%'")
                await opened.catalog.run("INSERT INTO meta (key, value) VALUES ('evolved.none', '0:0')")
            engine = EvolutionEngine(Snapshot(opened.catalog, opened.embedding.matrix), phases, opened.writer.writing, opened.writer.commit, opened.clock)
            return await engine.run()

    return asyncio.run(main())


def held(bank: Path, *types: str) -> dict[str, dict[str, Any]]:
    """Title → id, identity, body, confidence, titles of what it contains, titles of what it was derived from; of what holds."""

    async def main() -> dict[str, dict[str, Any]]:
        async with Bank.open(bank) as opened:
            marks = ", ".join("?" * len(types))
            rows = await opened.catalog.fetch(f"SELECT id, title, identity, body, confidence FROM memory_objects WHERE type IN ({marks}) AND standing = 'current' AND mode = 'inferred' ORDER BY id", types)
            found = {row["title"]: {**dict(row), "contains": set(), "cited": set()} for row in rows}
            for row in await opened.catalog.fetch("SELECT h.title AS holder, t.title, e.type FROM edges e JOIN memory_objects h ON h.id = e.held_by JOIN memory_objects t ON t.id = e.target"):
                if row["holder"] in found and row["type"] == "contains":
                    found[row["holder"]]["contains"].add(row["title"])
            return found

    return asyncio.run(main())
