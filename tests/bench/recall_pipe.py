"""Answers questions on standard input from one open bank, for the evidence benchmark.

usage: retrieval_bench.py DATA 'pipe:python tests/bench/recall_pipe.py {kb}'

Ingests the folder KB into a bank of its own, then reads {"query": …, "k": …} a line and prints {"items": […]} a line, as
`smb recall -n K --budget 100000` would. With --evolve the bank runs a whole cycle of evolution first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from pathlib import Path

from smb import Bank


async def answer(kb: Path, options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="smb-recall-") as place:
        bank = Path(place) / "bank"
        await Bank.init(bank, git=False)
        async with Bank.open(bank) as opened:
            await opened.ingest([kb], skip_embeddings=True)
            if options.evolve:
                await opened.evolve()
            for line in sys.stdin:
                asked = json.loads(line)
                packet = await opened.recall(asked["query"], n=asked["k"], budget=options.budget, lexical=options.lexical)
                items = [{"score": item["score"], "citations": item["citations"]} for item in packet["items"]]
                print(json.dumps({"items": items}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("--budget", type=int, default=100_000)
    parser.add_argument("--lexical", action="store_true")
    parser.add_argument("--evolve", action="store_true")
    options = parser.parse_args()
    asyncio.run(answer(options.kb, options))


if __name__ == "__main__":
    main()
