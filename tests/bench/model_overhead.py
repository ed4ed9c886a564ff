"""What does smb cost beside the model? usage: python tests/bench/model_overhead.py [--notes 500] [--latency 0.05]

Made-up notes are ingested, then read with a stub of a model that answers each call after `latency` seconds, in a process of its
own. Prints wall seconds of the ingest, of the reading and of as many calls by the bare official client, and the overhead: what the
reading took beyond the bare calls, as a share of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from smb import Bank
from smb.config import Settings

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]
from evolve import make  # noqa: E402
from ollama_server import OllamaServer, Say  # noqa: E402


def answer(body: dict[str, Any]) -> Say:
    text = body["messages"][-1]["content"]
    claims = [
        {"passage": int(n), "quote": quote, "subject": quote.split()[1], "attribute": "", "value": "", "polarity": "affirmed", "since": "", "until": "", "attributed_to": ""}
        for n, quote in re.findall(r"^\[(\d+)\] .*?((?:The|A) \w[^.]*\.)", text, re.M)]
    return Say(json.dumps({"claims": claims, "concepts": [], "entities": [], "relationships": []}))


def serve(latency: float, told: Any) -> None:
    with OllamaServer() as server:
        server.latency, server.brain = latency, answer
        told.put(server.host)
        time.sleep(3600)


async def bare(host: str, count: int, parallel: int) -> float:
    """Seconds the official client alone takes for as many calls, so many at once: the stub's own time and the wire's."""
    from ollama import AsyncClient

    client, slots = AsyncClient(host), asyncio.Semaphore(parallel)
    passages = "\n\n".join(f"[{n}] The kiln of the yard {n} weighs {n} kg and stands in the hall." for n in range(1, 9))

    async def call() -> None:
        async with slots:
            await client.chat("qwen3:8b", [{"role": "user", "content": passages}], format="json", think=False)

    started = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(count)))
    return time.perf_counter() - started


async def run(notes: Path, bank: Path, host: str) -> tuple[float, float, dict[str, Any]]:
    await Bank.init(bank, git=False)
    async with Bank.open(bank, settings=Settings.resolve(bank_dir=bank, environ={"SMB_OLLAMA_HOST": host})) as opened:
        started = time.perf_counter()
        await opened.ingest([notes], skip_embeddings=True)
        ingested, worked = time.perf_counter(), time.process_time()
        report = await opened.read_with_model()
        return ingested - started, time.perf_counter() - ingested, report | {"cpu": time.process_time() - worked}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notes", type=int, default=500)
    parser.add_argument("--latency", type=float, default=0.05)
    chosen = parser.parse_args()
    told: Any = multiprocessing.Queue()
    server = multiprocessing.Process(target=serve, args=(chosen.latency, told), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as folder:
        notes = make(Path(folder) / "notes", chosen.notes)
        host, parallel = told.get(), Settings().model_parallel
        alone = asyncio.run(bare(host, chosen.notes, parallel))
        plain, reading, report = asyncio.run(run(notes, Path(folder) / "bank", host))
    server.terminate()
    print(f"ingest {plain:.2f} s; reading {report['read']} notes {reading:.2f} s; the same number of calls by the bare client {alone:.2f} s ({parallel} at once)")
    print(f"smb worked {report['cpu']:.2f} CPU seconds meanwhile; overhead {100 * (reading - alone) / alone:.1f} % of the bare calls' time; refused {report['refused']}")


if __name__ == "__main__":
    main()
