"""Does recall hold up as a bank grows? usage: python tests/bench/scale.py SHARED [--small 1500] [--large 9k] [--questions 300]

Questions are headings and defined terms of the small corpus that stand once in the large one; the evidence is the lines of
the section or the defining line. The same questions go to a bank of the small and one of the large corpus, which holds the
small one and more. Prints Hit@1, Recall@10 (is evidence cited by one of the first ten items) and resident latency.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import statistics
import tarfile
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from smb import Bank

_HEADING = re.compile(r"^(#{1,4})\s+(.+?)\s*#*\s*$")
_DEFINED = re.compile(r"^\s*(?:[-*]\s+)?\*\*([^*`]{4,60})\*\*\s*(?::|–|-|is\b|are\b)\s*\S")
_FENCE = re.compile(r"^\s*(```|~~~)")


@dataclass(frozen=True, slots=True)
class Question:
    """`text` is asked; `first` to `last` (from 1, inclusive) of `path` is where the answer stands."""

    text: str
    path: str
    first: int
    last: int


def questions_of(path: str, text: str) -> list[Question]:
    """Headings with their sections and defined terms with their lines, front matter and code left out."""
    found: list[tuple[str, int, int]] = []
    lines = text.split("\n")
    fenced = bool(lines and lines[0] == "---")
    for number, line in enumerate(lines, 1):
        if _FENCE.match(line) or (line == "---" and number < 40 and fenced):
            fenced = not fenced if number > 1 else fenced
            continue
        if fenced:
            continue
        if heading := _HEADING.match(line):
            found.append((heading[2], number, len(lines)))
            for place in range(len(found) - 1):
                if found[place][2] == len(lines) and found[place][1] < number:
                    found[place] = (found[place][0], found[place][1], number - 1)
        elif defined := _DEFINED.match(line):
            found.append((defined[1], number, number))
    plain = [(re.sub(r"<[^>]*>|\[([^\]]*)\]\([^)]*\)|[`*_\[\]]", r"\1", name).strip(), a, b) for name, a, b in found]
    return [Question(name, path, a, b) for name, a, b in plain if 2 <= len(name.split()) <= 12 and b >= a]


def unpack(shared: Path, size: str, place: Path) -> Path:
    with tarfile.open(shared / "corpora" / f"docs-{size}.tar.gz") as archive:
        archive.extractall(place / size, filter="data")
    (only,) = (place / size).iterdir()
    return only


def chosen(small: Path, large: Path, count: int) -> list[Question]:
    seen: Counter[str] = Counter()
    for path in large.rglob("*.md"):
        seen.update(q.text.casefold() for q in questions_of("", path.read_text("utf-8", "replace")))
    every = [q for path in sorted(small.rglob("*.md")) for q in questions_of(path.relative_to(small).as_posix(), path.read_text("utf-8", "replace"))]
    alone = [q for q in every if seen[q.text.casefold()] == 1]
    return random.Random(11).sample(alone, min(count, len(alone)))


async def measure(corpus: Path, place: Path, questions: list[Question]) -> tuple[float, float, list[float]]:
    """Hit@1, Recall@10 and the latencies in milliseconds, from one open bank."""
    await Bank.init(place, git=False)
    first = ten = 0
    latencies: list[float] = []
    async with Bank.open(place) as bank:
        await bank.ingest([corpus], skip_embeddings=True)
        await bank.recall("warm up")
        for q in questions:
            start = time.perf_counter()
            packet = await bank.recall(q.text, n=10, budget=100_000)
            latencies.append(1000 * (time.perf_counter() - start))
            hits = [any(c["path"] == q.path and c["line_start"] <= q.last and c["line_end"] >= q.first for c in item["citations"]) for item in packet["items"][:10]]
            first += bool(hits and hits[0])
            ten += any(hits)
    return 100 * first / len(questions), 100 * ten / len(questions), latencies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=Path)
    parser.add_argument("--small", default="1500")
    parser.add_argument("--large", default="9k")
    parser.add_argument("--questions", type=int, default=300)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="smb-scale-") as held:
        place = Path(held)
        small, large = unpack(asked.shared, asked.small, place), unpack(asked.shared, asked.large, place)
        questions = chosen(small, large, asked.questions)
        for name, corpus in ((asked.small, small), (asked.large, large)):
            hit, recall, took = asyncio.run(measure(corpus, place / f"bank-{name}", questions))
            took.sort()
            print(f"| {name} | {len(questions)} questions | Hit@1 {hit:.1f} | Recall@10 {recall:.1f} | p50 {statistics.median(took):.0f} ms | p95 {took[int(len(took) * 0.95)]:.0f} ms |", flush=True)


if __name__ == "__main__":
    main()
