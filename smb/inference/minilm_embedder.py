"""The embedder `minilm`: all-MiniLM-L6-v2 as ONNX, the file Chroma publishes, run here.

Owns reading the two files `smb models pull minilm` left in a folder of this machine, and how a text longer than the model
takes becomes one vector: the mean of its parts'. Never opens a connection and never fetches anything.

Source of the model: sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), 384 numbers, trained on up to 256 tokens; a
text's vector is the mean of its tokens' vectors.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smb.inference.embedder import EmbedderUnavailable
from smb.inference.split_text import parts_of

if TYPE_CHECKING:
    import numpy as np

NAME = "minilm"
FINGERPRINT = "minilm-l6-v2-onnx/384/1"
DIMENSION = 384
FILES = ("model.onnx", "tokenizer.json")
_TOKENS = 254  # 256 less the marks at both ends
_WIDTHS = (16, 32, 64, 128, 256)  # what texts are padded to: few shapes, and a text's own never depends on its neighbours'
_TEXTS_AT_ONCE = 16
_REMEDY = "Fetch it once with `smb models pull minilm`."
_LONG_WORD = re.compile(r"(\S{64})(?=\S)")  # words of over 100 characters are one unknown token to this vocabulary


class MinilmEmbedder:
    """`folder` holds `FILES`. They are opened at the first `embed`; safe to call from several threads."""

    dimension = DIMENSION

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._model: Any = None
        self._tokenizer: Any = None

    @property
    def fingerprint(self) -> str:
        """Raises EmbedderUnavailable where the files are not there."""
        if missing := [name for name in FILES if not (self._folder / name).is_file()]:
            raise EmbedderUnavailable(NAME, f"{self._folder} has no {' and no '.join(missing)}", _REMEDY)
        return FINGERPRINT

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """float32 (len(texts), 384), rows of length 1; zero for white space. Raises EmbedderUnavailable."""
        import numpy as np

        with self._lock:
            if self._model is None:
                self._load()
            parts: list[list[int]] = []
            owners: list[int] = []
            for number, text in enumerate(texts):
                for part in parts_of(_LONG_WORD.sub(r"\1 ", text.encode("utf-8", "replace").decode()), _TOKENS, self._count):
                    ids = self._tokenizer.encode(part).ids[: _TOKENS + 2]
                    if len(ids) > 2:
                        parts.append(ids)
                        owners.append(number)
            sums = np.zeros((len(texts), DIMENSION), np.float32)
            vectors = self._vectors(parts)
            for owner, vector in zip(owners, vectors):
                sums[owner] += vector
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return sums / np.where(lengths > 0, lengths, 1)

    def _count(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _vectors(self, parts: Sequence[Sequence[int]]) -> np.ndarray:
        """float32 (len(parts), 384), rows of length 1, in the order of `parts`."""
        import numpy as np

        made = np.zeros((len(parts), DIMENSION), np.float32)
        for width, places in _by_width(parts).items():
            for start in range(0, len(places), _TEXTS_AT_ONCE):
                some = places[start : start + _TEXTS_AT_ONCE]
                ids, mask = np.zeros((len(some), width), np.int64), np.zeros((len(some), width), np.int64)
                for row, place in enumerate(some):
                    ids[row, : len(parts[place])] = parts[place]
                    mask[row, : len(parts[place])] = 1
                (hidden, *_) = self._model.run(None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})
                means = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
                made[some] = means / np.linalg.norm(means, axis=1, keepdims=True)
        return made

    def _load(self) -> None:
        assert self.fingerprint  # or the files are missing
        import onnxruntime
        from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidProtobuf
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        try:
            self._tokenizer = Tokenizer.from_str((self._folder / "tokenizer.json").read_text("utf-8"))
            self._tokenizer.no_truncation()
            self._tokenizer.no_padding()
            self._model = onnxruntime.InferenceSession(str(self._folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        except (OSError, ValueError, Fail, InvalidProtobuf) as error:
            raise EmbedderUnavailable(NAME, f"the files in {self._folder} are damaged ({type(error).__name__})", _REMEDY) from error


def _by_width(parts: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """Places of `parts` by the width they are padded to."""
    found: dict[int, list[int]] = {}
    for place, ids in enumerate(parts):
        found.setdefault(next(width for width in _WIDTHS if len(ids) <= width), []).append(place)
    return found
