"""What models said of sources, so that none is asked twice: one small file an answer under `index/model/`.

Owns the files `index/model/<fingerprint>/<sha256>.json` (of other tasks one folder deeper), the note of which fingerprint was
asked for last, the list of sources a model failed on, and what waits. Never judges an answer. A projection of sorts: losing it costs model time and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import Any

import orjson

from smb.stores.atomic_file import make_directory, remove, write_atomic


class ModelMemo:
    """The memo of the bank at `bank`: of what models read, or of another `task`, whose questions stand where sources do."""

    def __init__(self, bank: Path, task: str = ""):
        self._root = bank / "index" / "model" / task

    @property
    def fingerprint(self) -> str:
        """Of the extractor asked for last; "" where no model was ever asked."""
        try:
            return (self._root / "current").read_text("utf-8").strip()
        except FileNotFoundError:
            return ""

    def begin(self, fingerprint: str) -> None:
        """Notes that sources are read with this extractor from now on; failures of another are forgotten."""
        if fingerprint != self.fingerprint:
            make_directory(self._root / fingerprint)
            remove(self._root / "failed.json")
            write_atomic(self._root / "current", f"{fingerprint}\n".encode(), durable=False)

    def get(self, source: str) -> dict[str, Any] | None:
        """{"actor", "answers"} of a source; None where the current extractor has not read it, or the file can't be read."""
        if not (fingerprint := self.fingerprint):
            return None
        try:
            held = orjson.loads((self._root / fingerprint / f"{source}.json").read_bytes())
        except (FileNotFoundError, orjson.JSONDecodeError):
            return None
        return held if isinstance(held, dict) and {"actor", "answers"} <= held.keys() else None

    def put(self, source: str, actor: str, answers: list[dict[str, Any]]) -> None:
        """Keeps what a model said; it is no longer among the failed."""
        write_atomic(self._root / self.fingerprint / f"{source}.json", orjson.dumps({"actor": actor, "answers": answers}), durable=False)
        if source in (failed := self.failed()):
            del failed[source]
            self._write_failed(failed)

    def fail(self, source: str, reason: str) -> None:
        """Notes why a model could not read a source; it stays pending."""
        failed = self.failed()
        times = failed.get(source, {}).get("times", 0) + 1
        self._write_failed(failed | {source: {"reason": reason, "times": times}})

    def failed(self) -> dict[str, dict[str, Any]]:
        """Source → {"reason", "times"} of those the current extractor has failed on so far."""
        try:
            held = orjson.loads((self._root / "failed.json").read_bytes())
        except (FileNotFoundError, orjson.JSONDecodeError):
            return {}
        return held if isinstance(held, dict) else {}

    def waiting(self) -> list[list[str]] | None:
        """The questions that wait, as they were left; None where nothing was ever left."""
        try:
            held = orjson.loads((self._root / "waiting.json").read_bytes())
        except (FileNotFoundError, orjson.JSONDecodeError):
            return None
        return held if isinstance(held, list) else None

    def leave(self, questions: list[list[str]]) -> None:
        """Notes which questions wait for the next time."""
        if questions != self.waiting():
            make_directory(self._root)
            write_atomic(self._root / "waiting.json", orjson.dumps(questions), durable=False)

    def lacking(self, sources: Collection[str]) -> set[str]:
        """Those of `sources` the current extractor has not read."""
        try:
            read = {name.removesuffix(".json") for name in os.listdir(self._root / self.fingerprint)}
        except (FileNotFoundError, NotADirectoryError):
            read = set()
        return set(sources) - read

    def _write_failed(self, failed: dict[str, dict[str, Any]]) -> None:
        write_atomic(self._root / "failed.json", orjson.dumps(failed, option=orjson.OPT_SORT_KEYS), durable=False)
