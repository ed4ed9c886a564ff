"""Speed and memory against the floor, in one run. usage: python tests/bench/speed.py SHARED [--sets 150,1500,9k] [--rounds 3]

SHARED holds `corpora/docs-*.tar.gz` and `eval/ingest/floor.py`; nothing of it is copied into the project. Every figure is
the median of the rounds, in CPU seconds (user + system) unless it says wall; compare ratios, not seconds: machines differ.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SMB = [sys.executable, "-m", "smb"]
QUESTION = "how do I create a virtual table"


@dataclass(frozen=True, slots=True)
class Cost:
    """One process: CPU seconds, wall seconds, peak resident megabytes."""

    cpu: float
    wall: float
    memory: float


def run(*command: object, env: dict[str, str] | None = None) -> Cost:
    """Runs a command to its end. Raises CalledProcessError unless it ends with 0 or 7 (some files skipped)."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=os.environ | (env or {}))
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 7):
        raise subprocess.CalledProcessError(process.returncode, process.args)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024)


def median(costs: Sequence[Cost]) -> Cost:
    return Cost(*(statistics.median(getattr(c, name) for c in costs) for name in ("cpu", "wall", "memory")))


def measure(shared: Path, size: str, rounds: int, place: Path) -> list[tuple[str, str]]:
    """Rows (what, figure) for one corpus."""
    corpus = place / f"docs-{size}"
    with tarfile.open(shared / "corpora" / f"docs-{size}.tar.gz") as archive:
        archive.extractall(corpus, filter="data")
    documents = sorted(corpus.rglob("*.md"))
    n = len(documents)
    floor_script = shared / "eval" / "ingest" / "floor.py"
    floor, plain, full = [], [], []
    for turn in range(rounds):  # nothing is deleted in between: ext4 is slow at creating files just after that
        floor.append(run(sys.executable, floor_script, "ingest", place / f"floor-{turn}" / "db", corpus, "static"))
        for costs, options in ((full, ["--sync"]), (plain, ["--skip-embeddings"])):
            bank = place / f"bank-{size}-{turn}-{options[0].strip('-')}"
            run(*SMB, "init", bank, "--no-git")
            costs.append(run(*SMB, "ingest", corpus, "--bank", bank, *options))
    base, without, with_mirror = median(floor), median(plain), median(full)
    rows = [
        ("documents", f"{n:,}"),
        ("floor", f"{n / base.cpu:.0f} documents a CPU-second"),
        ("first ingest, Chroma apart", f"{n / without.cpu:.0f} documents a CPU-second, {n / without.cpu / (n / base.cpu):.2f} of the floor; {without.wall:.1f} s wall, {without.memory:.0f} MB"),
        ("first ingest with Chroma", f"{n / with_mirror.cpu:.0f} documents a CPU-second; {with_mirror.memory:.0f} MB"),
    ]
    run(*SMB, "ingest", corpus, "--bank", bank, "--sync")
    again = median([run(*SMB, "ingest", corpus, "--bank", bank) for _ in range(rounds + 2)])
    rows.append(("nothing changed", f"{again.wall:.2f} s wall, {again.cpu:.2f} s CPU"))
    changed = []
    for turn in range(rounds + 2):
        document = documents[n // 2]
        document.write_text(document.read_text("utf-8") + f"\nThe value measured in round {turn} is {turn + 7} mm.\n", "utf-8")
        changed.append(run(*SMB, "ingest", corpus, "--bank", bank))
    rows.append(("one file changed", f"{median(changed).wall:.2f} s wall, {median(changed).cpu:.2f} s CPU"))
    for name, options in (("recall --lexical, one-shot", ["--lexical"]), ("recall, one-shot", [])):
        cost = median([run(*SMB, "recall", QUESTION, "--bank", bank, "--json", *options) for _ in range(rounds + 4)])
        rows.append((name, f"{cost.wall:.2f} s wall, {cost.cpu:.2f} s CPU, {cost.memory:.0f} MB"))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--sets", default="150,1500")
    parser.add_argument("--rounds", type=int, default=3)
    asked = parser.parse_args()
    for words in (["--help"], ["--version"]):
        print(f"| smb {words[0]} | {median([run(*SMB, *words) for _ in range(7)]).wall:.3f} s wall |")
    for size in asked.sets.split(","):
        with tempfile.TemporaryDirectory(prefix="smb-speed-") as place:
            for what, figure in measure(asked.shared, size, asked.rounds, Path(place)):
                print(f"| {size} | {what} | {figure} |", flush=True)


if __name__ == "__main__":
    main()
