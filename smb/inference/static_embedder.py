"""The embedder that is always there: static word vectors from the `wordllama` wheel, read straight from its files.

Owns its own tokenising, which equals that of the packaged tokenizer (`tests/test_static_embedder.py` holds it to that)
at a sixth of the cost: the vocabulary has no token that spans letters and punctuation, or ends in a space, so a text
falls into pieces whose vectors can be kept. Never imports wordllama (slow, and configures logging), never opens a
connection, never writes a file.

Source of the model: https://github.com/dleemiller/WordLlama (MIT), `l2_supercat_256`: 32,000 Llama 2 tokens × 256,
float16; a text's vector is the mean of its tokens' vectors.
"""

from __future__ import annotations

import importlib.util
import re
import threading
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from smb.inference.embedder import EmbedderUnavailable

if TYPE_CHECKING:
    import numpy as np

FINGERPRINT = "wordllama-l2-supercat-256/1"
DIMENSION = 256
PIECE_LIMIT = 256  # pieces of a text that count; what a passage is about stands near its beginning
CHARACTER_LIMIT = 2048  # read of a text to find them
CACHED_PIECES = 1 << 16  # rows of float32 kept: 64 MiB once full, then begun anew
_BATCH = 1 << 11  # pieces looked up at once

_REMEDY = "Install it again with `pip install --force-reinstall wordllama`, or choose `ollama:<model>`."
_WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
_VOCABULARY = Path("tokenizers", "l2_supercat_tokenizer_config.json")

_LETTERS = "A-Za-zÀ-ÖØ-öø-ɏΑ-ωЀ-ӿء-ي"  # scripts with tokens of several letters
_MARKS = re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") + (
    "\u00a0¡£§«°²·»¿×\u2009\u200a\u200e–—‘’“”„†•…€№→−─│├═\ufffd"  # marks that occur in tokens of several marks
)
_PIECE = re.compile(
    f" ?+[{_LETTERS}]{{1,64}}+| ?+[{_MARKS}]{{1,64}}+| {{1,16}}(?= [{_LETTERS}{_MARKS}])| {{1,16}}+|[0-9]{{1,2}}+|.", re.DOTALL
)
_SPACE = "▁"  # how the vocabulary writes a space
_SPACES_LAST = 1 << 20  # runs of spaces merge after everything else
_UNMERGED = 1 << 30


class _PieceRows(dict[str, int]):
    """Piece → row; an unknown piece is given the next row and noted as pending."""

    def __init__(self) -> None:
        super().__init__()
        self.pending: list[str] = []

    def __missing__(self, piece: str) -> int:
        row = self[piece] = len(self)
        self.pending.append(piece)
        return row


class StaticEmbedder:
    """Word vectors, summed and normalised. Files are opened at the first `embed`; safe to call from several threads."""

    fingerprint = FINGERPRINT
    dimension = DIMENSION

    def __init__(self, *, cached_pieces: int = CACHED_PIECES) -> None:
        self._capacity = max(cached_pieces, 2 * (_BATCH + PIECE_LIMIT))
        self._rows = _PieceRows()
        self._tokens: Tokens | None = None
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (len(texts), 256), rows of length 1; zero for white space. Raises EmbedderUnavailable.

        Of a text the first `PIECE_LIMIT` pieces (about as many tokens) count.
        """
        import numpy as np

        with self._lock:
            if self._tokens is None:
                self._tokens = Tokens.load()
                self._vectors = np.empty((self._capacity, DIMENSION), np.float32)
                self._gathered = np.empty((PIECE_LIMIT, DIMENSION), np.float32)
            vectors = np.zeros((len(texts), DIMENSION), np.float32)
            batch: list[list[str]] = []
            numbers: list[int] = []
            size = 0
            for number, text in enumerate(texts):
                if not text or text.isspace():
                    continue
                pieces = _PIECE.findall(" " + text[:CHARACTER_LIMIT])
                if len(pieces) > PIECE_LIMIT:
                    del pieces[PIECE_LIMIT:]
                batch.append(pieces)
                numbers.append(number)
                size += len(pieces)
                if size >= _BATCH:
                    self._sum(batch, size, vectors, numbers)
                    batch, numbers, size = [], [], 0
            if batch:
                self._sum(batch, size, vectors, numbers)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
        lengths[lengths == 0] = 1
        vectors /= lengths[:, None]
        return vectors

    def _sum(self, batch: list[list[str]], size: int, vectors: np.ndarray, numbers: list[int]) -> None:
        """Write the sum of each text's piece vectors, added in text order so that it never varies, to its numbered row.

        One small gather and one reduction a text: it stays in the nearest cache, where `np.add.reduceat` over the
        whole batch walks down columns and takes three times as long.
        """
        import numpy as np

        if len(self._rows) + size > self._capacity:
            self._rows = _PieceRows()
        rows = np.fromiter(map(self._rows.__getitem__, chain.from_iterable(batch)), np.intp, size)
        if self._rows.pending:
            self._learn(self._rows.pending)
            self._rows.pending = []
        take, add, gathered = self._vectors.take, np.add.reduce, self._gathered
        start = 0
        for number, pieces in zip(numbers, batch):
            end = start + len(pieces)
            here = gathered[: end - start]
            take(rows[start:end], 0, here, "clip")
            add(here, 0, None, vectors[number])
            start = end

    def _learn(self, pieces: list[str]) -> None:
        """Fill the rows of new pieces, the last ones given out."""
        import numpy as np

        assert self._tokens is not None
        ids = [self._tokens.ids_of(piece) for piece in pieces]
        starts = np.zeros(len(ids), np.intp)
        np.cumsum([len(each) for each in ids[:-1]], out=starts[1:])
        flat = np.fromiter(chain.from_iterable(ids), np.intp)
        end = len(self._rows)
        self._vectors[end - len(pieces) : end] = np.add.reduceat(self._tokens.weights[flat].astype(np.float32), starts, axis=0)


class Tokens:
    """The vocabulary, its byte-pair merges, and the tokens' vectors (float16, memory-mapped, rows by token id)."""

    def __init__(self, vocabulary: dict[str, int], weights: np.ndarray) -> None:
        self.weights = weights
        self._ids = vocabulary
        # The packaged merges are ordered by the id of what they make, those of runs of spaces last.
        self._ranks = {token: id_ for token, id_ in vocabulary.items() if len(token) > 1}
        for width in range(2, 17):
            run = _SPACE * width
            if run in self._ranks:
                self._ranks[run] += _SPACES_LAST
        self._bytes = [vocabulary[f"<0x{byte:02X}>"] for byte in range(256)]

    @classmethod
    def load(cls) -> Tokens:
        """Raises EmbedderUnavailable where the wheel or its files are missing or are not what they were."""
        spec = importlib.util.find_spec("wordllama")
        if spec is None or not spec.submodule_search_locations:
            raise EmbedderUnavailable(FINGERPRINT, "the package wordllama is not installed", _REMEDY)
        folder = Path(spec.submodule_search_locations[0])
        try:
            vocabulary = _vocabulary((folder / _VOCABULARY).read_bytes())
            weights = _mapped(folder / _WEIGHTS)
        except OSError as error:
            raise EmbedderUnavailable(FINGERPRINT, f"{error.filename} cannot be read", _REMEDY) from error
        except (ValueError, KeyError, TypeError) as error:
            raise EmbedderUnavailable(FINGERPRINT, f"the files in {folder} are damaged ({error})", _REMEDY) from error
        return cls(vocabulary, weights)

    def ids_of(self, piece: str) -> list[int]:
        """The token ids of one piece; of a character that is no token, those of its UTF-8 bytes."""
        piece = piece.replace(" ", _SPACE)
        known = self._ids.get(piece)
        if known is not None:  # merging makes every token of this vocabulary out of its own letters
            return [known]
        ids: list[int] = []
        for part in self.merged(piece):
            known = self._ids.get(part)
            if known is not None:
                ids.append(known)
            else:
                ids += [self._bytes[byte] for byte in part.encode("utf-8", "replace")]
        return ids

    def merged(self, piece: str) -> list[str]:
        """Byte-pair merging of a piece with `▁` for space: the lowest-ranked pair first, of equal ones the leftmost."""
        parts = list(piece)
        rank = self._ranks.get
        ranks = [rank(left + right, _UNMERGED) for left, right in zip(parts, parts[1:])]
        while ranks:
            best = min(ranks)
            if best == _UNMERGED:
                break
            at = ranks.index(best)
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
            del ranks[at]
            if at:
                ranks[at - 1] = rank(parts[at - 1] + parts[at], _UNMERGED)
            if at < len(ranks):
                ranks[at] = rank(parts[at] + parts[at + 1], _UNMERGED)
        return parts


def _vocabulary(tokenizer: bytes) -> dict[str, int]:
    """Token → id. Cut out of the tokenizer's JSON where it stands before the merges: parsing those too takes 20 ms more."""
    import orjson

    start, end = tokenizer.find(b'"vocab":'), tokenizer.rfind(b'"merges":')
    if 0 <= start < end:
        return orjson.loads(tokenizer[start + len(b'"vocab":') : tokenizer.rindex(b",", start, end)])
    return orjson.loads(tokenizer)["model"]["vocab"]


def _mapped(path: Path) -> np.ndarray:
    """The one tensor of a safetensors file, float16 (32000, 256), memory-mapped.

    Format: 8 bytes of header length, a JSON header, the data (https://github.com/huggingface/safetensors#format).
    """
    import numpy as np
    import orjson

    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = orjson.loads(file.read(length)) if length < 1 << 20 else {}
    tensor = header["embedding.weight"]
    if tensor["dtype"] != "F16" or tensor["shape"][1] != DIMENSION:
        raise ValueError(f"unexpected {tensor['dtype']} tensor of shape {tensor['shape']}")
    offset = 8 + length + tensor["data_offsets"][0]
    mapped = np.memmap(path, np.float16, "r", offset, tuple(tensor["shape"]))
    return np.asarray(mapped)
