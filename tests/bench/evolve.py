"""How fast does a bank evolve? usage: python tests/bench/evolve.py [SHARED] [--objects 10000,100000] [--keep DIR]

With SHARED, the three real corpora of the project's measuring folder first; then made-up banks of about the given numbers of
objects. For each: a full cycle, a second one (which must commit nothing), a cycle after one changed document, a cycle with all
stamps lost (which must commit nothing), 3-hop graph queries, peak memory. Every cycle is a process of its own. CPU seconds (user +
system) and wall seconds; the growth exponent is that of the CPU seconds of the full cycle.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import random
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

from smb import Bank

CORPORA = ("docs-150", "docs-1500", "docs-9k")
OBJECTS_A_NOTE = 14  # of a made-up note, about
_THINGS = "kiln loom press lathe forge still vat oven mill pump drill saw crane boiler dryer mixer grinder furnace bench rack".split()
_PARTS = "lid door belt valve motor sensor frame shelf burner nozzle gauge filter hinge spring handle wheel tank pipe coil switch".split()
_KINDS = "east west north south upper lower inner outer first second third spare old new large small mobile fixed open closed".split()
_MAKERS = "Varn Holst Ilke Marr Quent Sorre Tavik Ulmen Wexley Yarrow Zorin Adair Bexon Corvin Dorne Elstow Farrow Garrick Hewitt Isola".split()
_VERBS = "drives feeds heats cools cleans holds moves guards lifts turns".split()
_NAMES = "Ana Ben Cleo Dov Eva Finn Gus Hana Ivo Jun Kai Lea Mio Nora Oli Pia Quin Rhea Sol Tova".split()


def note(n: int, rng: random.Random) -> str:
    """One made-up note: a thing with properties, a definition, links, a dated log, tasks, a decision now and then."""
    kind, thing, part = rng.choice(_KINDS), rng.choice(_THINGS), rng.choice(_PARTS)
    name = f"{kind.capitalize()} {thing} {n % 977}-{n // 977}"
    other, third = (f"{rng.choice(_KINDS).capitalize()} {rng.choice(_THINGS)} {m % 977}-{m // 977}" for m in (max(0, n - rng.randint(1, 40)), max(0, n - rng.randint(1, 400))))
    who, maker = f"{rng.choice(_NAMES)} {rng.choice(_MAKERS)}", rng.choice(_MAKERS)
    year, month, day = 2024 + n % 7, 1 + n % 12, 1 + n % 28
    lines = [
        "---", f"title: {name}", f"date: {year}-{month:02d}-{day:02d}", f"tags: [{thing}, {kind}]", "---", f"# {name}", "",
        f"A {name} is a {thing} made by {maker}. The {part} of the {name} {rng.choice(_VERBS)} the [[{other}]].", "",
        f"- **Top temperature:** {800 + rng.randint(0, 60) * 10} °C", f"- **Power:** {rng.randint(2, 40)} kW", f"- **Owner:** {who}", f"- **Room:** {rng.choice(_KINDS)} hall {rng.randint(1, 60)}", "",
        f"## {part.capitalize()}", "",
        f"The {part} weighs {rng.randint(2, 90)} kg and was replaced on {year}-{month:02d}-{day:02d}. {who} checked the {part} against the [[{third}]].",
        f"We decided to keep the {part} of the {name} {'closed' if n % 2 else 'open'} at night.", "",
        f"- [{'x' if n % 3 else ' '}] {who.split()[0]} orders a {rng.choice(_PARTS)} for the {name}", "",
    ]
    return "\n".join(lines)


def make(folder: Path, notes: int) -> Path:
    rng = random.Random(7)
    for n in range(notes):
        path = folder / f"{n % 50:02d}" / f"note {n}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(note(n, rng), "utf-8")
    return folder


def cycle(bank: Path) -> dict[str, Any]:
    """One `smb evolve` in a process of its own, with what it cost."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run([sys.executable, __file__, "--one", str(bank)], capture_output=True, text=True, check=True)
    wall = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {**json.loads(done.stdout), "wall": wall, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


async def one(bank: Path) -> None:
    async with Bank.open(bank) as opened:
        report = await opened.evolve()
    committed = sum(phase["committed"] for phase in report["phases"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"committed": committed, "peak": peak, "phases": {phase["name"]: phase["seconds"] for phase in report["phases"]}}))


async def three_hops(bank: Path) -> tuple[float, float]:
    """(median, 95th percentile) in milliseconds of 200 three-hop queries of one open bank."""
    async with Bank.open(bank) as opened:
        ids = [row["id"] for row in await opened.catalog.fetch("SELECT id FROM memory_objects WHERE standing = 'current' AND type IN ('concept', 'entity') ORDER BY id")]
        times = []
        for start in random.Random(3).sample(ids, min(200, len(ids))):
            began = time.process_time()
            await opened.graph_neighbors(start, hops=3)
            times.append((time.process_time() - began) * 1000)
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


async def lose_stamps(bank: Path) -> None:
    async with Bank.open(bank) as opened:
        await opened.catalog.run("UPDATE meta SET value = '0:' WHERE key LIKE 'evolved.%'")


async def prepare(bank: Path, notes: Path) -> int:
    if not (bank / "bank.toml").exists():
        await Bank.init(bank, git=False)
    async with Bank.open(bank) as opened:
        await opened.ingest([notes], sync=True)
        (objects,) = (await opened.catalog.fetch("SELECT count(*) FROM memory_objects"))[0]
    return objects


def measure(name: str, notes: Path, bank: Path) -> tuple[int, float]:
    objects = asyncio.run(prepare(bank, notes))
    full, again = cycle(bank), cycle(bank)
    changed = next(iter(sorted(notes.rglob("*.md"))))
    changed.write_text(changed.read_text("utf-8", "replace") + "\nThe spare valve of the yard pump was checked on 2031-05-04.\n", "utf-8")
    asyncio.run(prepare(bank, notes))
    after = cycle(bank)
    asyncio.run(lose_stamps(bank))
    lost = cycle(bank)
    median, p95 = asyncio.run(three_hops(bank))
    print(f"| {name} | {objects:,} | {full['wall']:.1f} / {full['cpu']:.1f} | {full['committed']:,} | {again['wall']:.2f} / {again['committed']} | "
          f"{after['wall']:.2f} / {after['cpu']:.2f} | {lost['wall']:.1f} / {lost['committed']} | {median:.0f} / {p95:.0f} | {max(full['peak'], after['peak']):.0f} |", flush=True)
    slow = sorted(full["phases"].items(), key=lambda pair: -pair[1])[:6]
    print("    full: " + ", ".join(f"{phase} {seconds:.1f}" for phase, seconds in slow), file=sys.stderr)
    print("    one changed: " + ", ".join(f"{phase} {seconds:.2f}" for phase, seconds in sorted(after["phases"].items(), key=lambda pair: -pair[1])[:6]), file=sys.stderr)
    return objects, full["cpu"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", nargs="?", type=Path)
    parser.add_argument("--objects", default="10000,100000")
    parser.add_argument("--sets", default=",".join(CORPORA))
    parser.add_argument("--keep", type=Path, help="work here and keep it")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        asyncio.run(one(chosen.one))
        return
    work = chosen.keep or Path(tempfile.mkdtemp(prefix="smb-evolve-"))
    print("| bank | objects | full, s wall / CPU | committed | second: s / committed | one changed, s wall / CPU | stamps lost: s / committed | 3 hops, ms p50 / p95 | peak MB |")
    print("|" + "---|" * 9)
    for name in chosen.sets.split(",") if chosen.shared else ():
        for archive in sorted((chosen.shared / "corpora").glob(f"*{name.removeprefix('docs-')}*.tar.gz"))[:1]:
            with tarfile.open(archive) as packed:
                packed.extractall(work / name / "notes", filter="data")
            measure(name, work / name / "notes", work / name / "bank")
    grown = []
    for wanted in map(int, filter(None, chosen.objects.split(","))):
        place = work / f"made-{wanted}"
        grown.append(measure(f"made up, {wanted:,}", make(place / "notes", wanted // OBJECTS_A_NOTE), place / "bank"))
    for (small, before), (large, after) in zip(grown, grown[1:], strict=False):
        print(f"growth exponent from {small:,} to {large:,} objects: {math.log(after / before) / math.log(large / small):.2f}")


if __name__ == "__main__":
    main()
