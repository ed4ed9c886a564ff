"""The Chroma mirror of the memory objects: id, embedding, text and metadata of each, cosine space.

Owns `index/vectors/` and the lock that makes one process its writer (`index/vectors.lock`): two Chroma writers lose
vectors silently, and a reader in another process sees stale data. Never computes an embedding (Chroma would download a
model), never sends telemetry, never prints. Recall does not depend on it: the matrix holds the same vectors.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smb.model.errors import SmbError
from smb.stores import atomic_file
from smb.stores.writer_lock import WriterLock

if TYPE_CHECKING:
    import numpy as np
    from chromadb import Collection
    from chromadb.api import ClientAPI

    Embeddings = np.ndarray | Sequence[Sequence[float]]

COLLECTION = "memory_objects"
_BATCH = 5_000  # Chroma refuses more than 5,461 at once

Metadata = Mapping[str, str | int | float | bool]


class VectorsNotOwned(SmbError):
    """A change to the mirror without owning it."""

    def __init__(self, directory: Path) -> None:
        super().__init__(f"{directory} may only be changed by the process that owns it; call try_own() first, and leave it to "
                         "the owner (`smb serve` or a running ingest) when that fails.")


class VectorsUnreadable(SmbError):
    """Chroma cannot open its files or refuses the request."""

    def __init__(self, directory: Path, detail: str) -> None:
        super().__init__(f"The Chroma mirror in {directory} cannot be used ({detail}). `smb rebuild` makes it again.")


class VectorStore:
    """The collection `memory_objects`. Opened at first use (importing Chroma takes 0.8 s); `release` closes it.

    Every id, embedding, document and metadata sequence is parallel. An embedding is float32 (dimension,); an all-zero one
    (a text without words) has cosine 0 with everything.
    """

    def __init__(self, directory: Path, dimension: int) -> None:
        self.directory, self.dimension = directory, dimension
        self._lock = WriterLock(directory.with_name(directory.name + ".lock"))
        self._client: ClientAPI | None = None
        self._opened: Collection | None = None

    def try_own(self) -> bool:
        """Becomes the one process that may change the mirror; False when another is."""
        return self._lock.held or self._lock.try_acquire()

    def release(self) -> None:
        """Gives ownership up and closes Chroma, so that what another process writes is seen when it is opened again."""
        self._close()
        self._lock.release()

    def __enter__(self) -> VectorStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def add(self, ids: Sequence[str], embeddings: Embeddings, documents: Sequence[str],
            metadatas: Sequence[Metadata]) -> None:
        """Adds objects; one already there is replaced. Raises VectorsNotOwned, VectorsUnreadable."""
        self.upsert(ids, embeddings, documents, metadatas)

    def update(self, ids: Sequence[str], embeddings: Embeddings | None = None, documents: Sequence[str] | None = None,
               metadatas: Sequence[Metadata] | None = None) -> None:
        """Changes what is given of objects that are there and ignores others. Raises VectorsNotOwned, VectorsUnreadable."""
        known = self.get(ids)
        places = [place for id_, place in _last_places(ids).items() if id_ in known]
        given: Sequence[Any] | None = None
        if embeddings is not None:
            given = self._checked(ids, embeddings)
        elif documents is not None:  # Chroma would embed a changed document itself; given the vector it has, it does not
            have = self._vectors([ids[place] for place in places])
            given = [have.get(id_) for id_ in ids]
        self._change("update", places, ids=ids, embeddings=given, documents=documents, metadatas=metadatas)

    def upsert(self, ids: Sequence[str], embeddings: Embeddings, documents: Sequence[str] | None = None,
               metadatas: Sequence[Metadata] | None = None) -> None:
        """Adds or replaces objects; of an id given twice the last counts. Raises VectorsNotOwned, VectorsUnreadable."""
        given = self._checked(ids, embeddings)
        places = list(_last_places(ids).values())
        self._change("upsert", places, ids=ids, embeddings=given, documents=documents, metadatas=metadatas)

    def delete(self, ids: Sequence[str]) -> None:
        """Removes objects; unknown ids are ignored. Raises VectorsNotOwned, VectorsUnreadable."""
        self._change("delete", range(len(ids)), ids=ids)

    def clear(self) -> None:
        """Removes everything, damaged or not. Raises VectorsNotOwned."""
        if not self._lock.held:
            raise VectorsNotOwned(self.directory)
        self._close()
        atomic_file.step("unlink", self.directory)
        shutil.rmtree(self.directory, ignore_errors=True)

    def query(self, question: np.ndarray | Sequence[float] | str, n: int = 10, where: Mapping[str, Any] | None = None, *,
              embed: Callable[[Sequence[str]], np.ndarray] | None = None) -> list[tuple[str, float, str, dict[str, Any]]]:
        """The `n` nearest objects as (id, cosine, document, metadata), best first, equal ones by id.

        `question` is an embedding, or text, which `embed` turns into one. `where` is Chroma's metadata filter
        (https://docs.trychroma.com/docs/querying-collections/metadata-filtering). Approximate: HNSW.
        Raises VectorsUnreadable, ValueError for text without `embed`.
        """
        import numpy as np

        if isinstance(question, str):
            if embed is None:
                raise ValueError("a question in words needs an embedder: pass embed=")
            question = embed([question])[0]
        vector = np.asarray(question, np.float32)
        if n <= 0 or not vector.any() or not self._exists():
            return []
        with self._refusals():
            found = self._collection().query(query_embeddings=[vector], n_results=n, where=dict(where) if where else None,
                                             include=["documents", "metadatas", "distances"])
        rows = zip(found["ids"][0], found["distances"][0], found["documents"][0], found["metadatas"][0])
        hits = [(id_, 1.0 - float(distance), document or "", dict(metadata or {})) for id_, distance, document, metadata in rows]
        return sorted(hits, key=lambda hit: (-hit[1], hit[0]))

    def get(self, ids: Sequence[str]) -> dict[str, tuple[str, dict[str, Any]]]:
        """Of those ids that are there: document and metadata. Raises VectorsUnreadable."""
        found: dict[str, tuple[str, dict[str, Any]]] = {}
        for part in self._batches(ids):
            with self._refusals():
                rows = self._collection().get(ids=part, include=["documents", "metadatas"])
            for id_, document, metadata in zip(rows["ids"], rows["documents"] or (), rows["metadatas"] or ()):
                found[id_] = (document or "", dict(metadata or {}))
        return found

    def count(self) -> int:
        """How many objects are mirrored. Raises VectorsUnreadable."""
        if not self._exists():
            return 0
        with self._refusals():
            return self._collection().count()

    def _close(self) -> None:
        client, self._client, self._opened = self._client, None, None
        if client is not None:
            client.close()

    def _checked(self, ids: Sequence[str], embeddings: Embeddings) -> np.ndarray:
        import numpy as np

        vectors = np.asarray(embeddings, np.float32)
        if vectors.shape != (len(ids), self.dimension) and len(ids):
            detail = f"vectors of shape {vectors.shape} for {len(ids)} objects of {self.dimension} numbers"
            raise VectorsUnreadable(self.directory, detail)
        return vectors

    def _vectors(self, ids: Sequence[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for part in self._batches(ids):
            with self._refusals():
                rows = self._collection().get(ids=part, include=["embeddings"])
            found.update(zip(rows["ids"], rows["embeddings"]))
        return found

    def _batches(self, ids: Sequence[str]) -> list[list[str]]:
        if not self._exists():
            return []
        distinct = list(dict.fromkeys(ids))
        return [distinct[start : start + _BATCH] for start in range(0, len(distinct), _BATCH)]

    def _change(self, verb: str, places: Sequence[int], **columns: Any) -> None:
        """One of Chroma's changing verbs over the given places of the parallel columns, in batches it accepts."""
        if not self._lock.held:
            raise VectorsNotOwned(self.directory)
        for start in range(0, len(places), _BATCH):
            part = places[start : start + _BATCH]
            given = {name: [column[place] for place in part] for name, column in columns.items() if column is not None}
            with self._refusals():
                getattr(self._collection(), verb)(**given)

    def _exists(self) -> bool:
        """Whether there is anything to read; a reader doesn't create it, and so doesn't import Chroma for nothing."""
        return self._opened is not None or (self.directory / "chroma.sqlite3").exists()

    def _collection(self) -> Collection:
        if self._opened is None:
            import chromadb
            from chromadb.config import Settings

            atomic_file.make_directory(self.directory)
            self._check_database()
            self._client = chromadb.PersistentClient(str(self.directory), settings=Settings(anonymized_telemetry=False))
            self._opened = self._client.get_or_create_collection(
                COLLECTION, embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
        return self._opened

    def _check_database(self) -> None:
        """Chroma 1.5 keeps a client whose files it could not open, and that path is unusable for the rest of the process."""
        file = self.directory / "chroma.sqlite3"
        if not file.exists():
            return
        database = sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)
        try:
            database.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.DatabaseError as error:
            raise VectorsUnreadable(self.directory, str(error)) from error
        finally:
            database.close()

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        """Chroma raises its own errors, and plain ones from its argument checks."""
        from chromadb.errors import ChromaError

        try:
            yield
        except (ChromaError, OSError, ValueError, TypeError) as error:
            raise VectorsUnreadable(self.directory, f"{type(error).__name__}: {error}") from error


def _last_places(ids: Sequence[str]) -> dict[str, int]:
    return {id_: place for place, id_ in enumerate(ids)}
