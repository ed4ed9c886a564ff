"""The embedding matrix: one row for every distinct text ever embedded, so it is the cache as well.

Owns `index/embeddings/`: `vectors.i8` (rows of int8), `scales.f32` (one a row), `hashes.bin` (16 bytes a row, of sha256
over fingerprint and text), `model` (the fingerprint and the dimension). Rows are only ever appended, hashes last, so a
row counts once its hash is there and a torn tail is cut off by the next writer. Never computes an embedding itself and
takes no lock: whoever calls `rows_for`, `known_rows` or `clear` holds the writer lock. A projection: losing it costs embedding again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from smb.model.errors import SmbError
from smb.stores import atomic_file

if TYPE_CHECKING:
    import numpy as np

HASH_BYTES = 16
_EMBED_AT_ONCE = 4096  # texts handed to the embedder together
_BLOCK = 1024  # rows widened to float32 at once when scoring: 1 MiB at 256 dimensions
_RECENT_LIMIT = 1 << 16  # rows kept in the unsorted part of the index
SCORE_DIGITS = 6  # finer differences come from the order of additions, not from the texts


class MatrixMismatch(SmbError):
    """The rows on disk were made by another embedder, or the embedder gives vectors of another width."""

    def __init__(self, has: str, asked: str) -> None:
        self.has, self.asked = has, asked
        super().__init__(
            f"The embedding matrix holds {has}, but {asked} was asked for. `smb rebuild --vectors` embeds everything again."
        )


class MatrixDamaged(SmbError):
    """The catalog names a row the matrix does not have."""

    def __init__(self, directory: Path, row: int, rows: int) -> None:
        self.row, self.rows = row, rows
        super().__init__(
            f"{directory} has {rows} rows, but row {row} is needed. `smb rebuild --vectors` embeds everything again."
        )


class EmbeddingMatrix:
    """The matrix in `directory` for one embedder. Nothing is opened until it is needed; readers see rows as they come."""

    def __init__(self, directory: Path, fingerprint: str, dimension: int) -> None:
        self.directory = directory
        self._asked = (fingerprint, dimension)
        self._model: tuple[str, int] | None = None  # as read from disk
        self._mapped: tuple[np.ndarray, np.ndarray] | None = None
        self._index: _HashIndex | None = None
        self._vectors, self._scales, self._hashes = directory / "vectors.i8", directory / "scales.f32", directory / "hashes.bin"

    @property
    def fingerprint(self) -> str:
        """Of the embedder that made the rows; the configured one where there are none yet."""
        return (self._read_model() or self._asked)[0]

    @property
    def dimension(self) -> int:
        return (self._read_model() or self._asked)[1]

    def __len__(self) -> int:
        """How many whole rows there are now, on disk."""
        return min(_size(self._hashes) // HASH_BYTES, _size(self._scales) // 4, _size(self._vectors) // self.dimension)

    def rows_for(self, texts: Sequence[str], embed: Callable[[Sequence[str]], np.ndarray]) -> list[int]:
        """The row of each text; those not there yet are embedded and appended.

        `embed` gives float32 (n, dimension), rows of length 1 or zero, and is called only with distinct unknown texts.
        Raises MatrixMismatch, and what `embed` raises; rows appended before that stay.
        """
        self._check_model()
        if not texts:
            return []
        index = self._index_for_writing()
        keys = self._keys(texts)
        rows = index.find(keys)
        unknown: dict[bytes, str] = {}
        for key, row, text in zip(keys, rows, texts):
            if row < 0:
                unknown.setdefault(key, text)
        if unknown:
            new_keys, new_texts = list(unknown), list(unknown.values())
            for start in range(0, len(new_keys), _EMBED_AT_ONCE):
                part = new_keys[start : start + _EMBED_AT_ONCE]
                self._append(part, embed(new_texts[start : start + _EMBED_AT_ONCE]))
                index.add(part)
            recent = index.recent
            rows = [recent[key] if row < 0 else row for key, row in zip(keys, rows)]
            if len(recent) > _RECENT_LIMIT:
                self._index = None  # sorted anew at the next call
        return rows

    def known_rows(self, texts: Sequence[str]) -> list[int | None]:
        """The row of each text, None where it is not embedded yet. Raises MatrixMismatch."""
        self._check_model()
        if not texts or not len(self):
            return [None] * len(texts)
        return [None if row < 0 else row for row in self._index_for_writing().find(self._keys(texts))]

    def vectors(self, rows: Sequence[int]) -> np.ndarray:
        """float32 (len(rows), dimension). Raises MatrixDamaged for a row that is not there, MatrixMismatch."""
        import numpy as np

        self._check_model()
        wanted = np.asarray(rows, np.intp)
        if not len(wanted):
            return np.zeros((0, self.dimension), np.float32)
        vectors, scales = self._map()
        if wanted.max() >= len(scales) or wanted.min() < 0:
            outside = wanted[(wanted >= len(scales)) | (wanted < 0)]
            raise MatrixDamaged(self.directory, int(outside[0]), len(scales))
        return vectors[wanted].astype(np.float32) * scales[wanted, None]

    def scores(self, query: np.ndarray) -> np.ndarray:
        """float32 (rows,): the cosine of every row with `query` (float32, of length 1), rounded to `SCORE_DIGITS`.

        Not by BLAS: OpenBLAS shares this out among threads, which costs ten times the time where cores are few, and adds
        in an order that depends on the row's place. Raises MatrixMismatch.
        """
        import numpy as np

        self._check_model()
        if query.shape != (self.dimension,):
            raise MatrixMismatch(f"rows of {self.dimension} numbers", f"a query of shape {query.shape}")
        vectors, scales = self._map()
        query = np.ascontiguousarray(query, np.float32)
        scores = np.empty(len(scales), np.float32)
        block = np.empty((min(_BLOCK, len(scales)), self.dimension), np.float32)
        for start in range(0, len(scales), _BLOCK):
            part = vectors[start : start + _BLOCK]
            widened = block[: len(part)]
            np.copyto(widened, part)
            np.einsum("ij,j->i", widened, query, out=scores[start : start + len(part)])
        scores *= scales
        return np.round(scores, SCORE_DIGITS, out=scores)

    def top(self, query: np.ndarray, k: int) -> list[tuple[int, float]]:
        """The `k` rows nearest to `query` with their cosines, best first, equal ones by row."""
        import numpy as np

        scores = self.scores(query)
        k = min(k, len(scores))
        if k <= 0:
            return []
        floor = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= floor)  # ascending rows, so a stable sort leaves equal ones by row
        best = candidates[np.argsort(-scores[candidates], kind="stable")[:k]]
        return [(int(row), float(scores[row])) for row in best]

    def sync(self) -> None:
        """Make every row so far survive a power cut: before whoever names them does."""
        for path in (self._vectors, self._scales, self._hashes):
            if not path.exists():
                continue
            atomic_file.step("fsync", path)
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def clear(self) -> None:
        """Remove every row, of whatever embedder; the matrix is then for the configured one."""
        self._mapped = self._index = self._model = None
        for path in (self._hashes, self._scales, self._vectors, self.directory / "model"):
            atomic_file.remove(path)

    def _keys(self, texts: Sequence[str]) -> list[bytes]:
        salt = f"{self.fingerprint}\x1f".encode()
        return [hashlib.sha256(salt + text.encode("utf-8", "surrogatepass")).digest()[:HASH_BYTES] for text in texts]

    def _read_model(self) -> tuple[str, int] | None:
        if self._model is None:
            self._model = held_by(self.directory)
        return self._model

    def _check_model(self) -> None:
        held = self._read_model()
        if held is not None and held != self._asked:
            raise MatrixMismatch(f"rows of {held[0]} ({held[1]} numbers)", f"{self._asked[0]} ({self._asked[1]} numbers)")

    def _map(self) -> tuple[np.ndarray, np.ndarray]:
        """int8 (rows, dimension) and float32 (rows,), as many as there are now."""
        import numpy as np

        rows = len(self)
        if self._mapped is None or len(self._mapped[1]) != rows:
            if rows:
                vectors = np.asarray(np.memmap(self._vectors, np.int8, "r", shape=(rows, self.dimension)))
                scales = np.asarray(np.memmap(self._scales, np.float32, "r", shape=(rows,)))
            else:
                vectors, scales = np.zeros((0, self.dimension), np.int8), np.zeros(0, np.float32)
            self._mapped = (vectors, scales)
        return self._mapped

    def _index_for_writing(self) -> _HashIndex:
        """The index of every whole row, with torn tails cut off; read again where another process has written."""
        rows = len(self)
        if self._read_model() is None:
            if rows:  # rows nobody can say the model of
                self.clear()
                rows = 0
            atomic_file.make_directory(self.directory)
            atomic_file.write_atomic(self.directory / "model", f"{self._asked[0]}\n{self._asked[1]}\n".encode(), durable=False)
        for path, width in ((self._hashes, HASH_BYTES), (self._scales, 4), (self._vectors, self.dimension)):
            if _size(path) > rows * width:
                self._mapped = None
                atomic_file.step("write", path)
                os.truncate(path, rows * width)
        if self._index is None or len(self._index) != rows:
            self._index = _HashIndex(self._hashes, rows)
        return self._index

    def _append(self, keys: Sequence[bytes], vectors: np.ndarray) -> None:
        import numpy as np

        if vectors.shape != (len(keys), self.dimension):
            raise MatrixMismatch(f"rows of {self.dimension} numbers", f"room for vectors of shape {vectors.shape}")
        vectors = np.nan_to_num(vectors.astype(np.float32, copy=False))
        scales = np.abs(vectors).max(axis=1, initial=0.0) / np.float32(127)
        divisors = np.where(scales > 0, scales, np.float32(1))
        quantised = np.rint(vectors / divisors[:, None]).astype(np.int8)
        for path, data in (
            (self._vectors, quantised.tobytes()),
            (self._scales, scales.astype(np.float32).tobytes()),
            (self._hashes, b"".join(keys)),
        ):
            atomic_file.step("write", path)
            with path.open("ab", buffering=0) as file:
                written = file.write(data)
                while written < len(data):
                    written += file.write(data[written:])


class _HashIndex:
    """Hash → row: those on disk as sorted arrays (24 bytes a row), those added since in a dict."""

    def __init__(self, path: Path, rows: int) -> None:
        import numpy as np

        halves = np.fromfile(path, "<u8", count=2 * rows).reshape(-1, 2) if rows else np.zeros((0, 2), "<u8")
        self._order = np.argsort(halves[:, 0], kind="stable")
        self._first, self._second = halves[self._order, 0], halves[self._order, 1]
        self._rows = rows
        self.recent: dict[bytes, int] = {}

    def __len__(self) -> int:
        return self._rows

    def find(self, keys: Sequence[bytes]) -> list[int]:
        """The row of each key, -1 where there is none."""
        import numpy as np

        if not len(self._first):
            return [self.recent.get(key, -1) for key in keys]
        halves = np.frombuffer(b"".join(keys), "<u8").reshape(-1, 2)
        at = np.minimum(np.searchsorted(self._first, halves[:, 0]), len(self._first) - 1)
        found = (self._first[at] == halves[:, 0]) & (self._second[at] == halves[:, 1])
        rows: list[int] = np.where(found, self._order[at], -1).tolist()
        return [self.recent.get(key, -1) if row < 0 else row for key, row in zip(keys, rows)] if self.recent else rows

    def add(self, keys: Sequence[bytes]) -> None:
        """Keys just appended to the file, in order."""
        self.recent.update(zip(keys, range(self._rows, self._rows + len(keys))))
        self._rows += len(keys)


def held_by(directory: Path) -> tuple[str, int] | None:
    """The fingerprint and the dimension of the rows in `directory`; None where there are none."""
    try:
        fingerprint, _, dimension = (directory / "model").read_text("utf-8").rstrip("\n").rpartition("\n")
    except FileNotFoundError:
        return None
    return (fingerprint, int(dimension)) if fingerprint and dimension.isdecimal() and int(dimension) else None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
