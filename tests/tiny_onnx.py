"""A model of the shape of MiniLM, small enough for a test: a token's vector is its row of a table, whatever stands around it.

Written as ONNX's own protobuf by hand (https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3): one Gather.
"""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "loom", "is", "wide", "red", "blue", *(f"##{c}" for c in "abcdefghij"), *"abcdefghij"]
FLOAT, INT64 = 1, 7


def _varint(number: int) -> bytes:
    made = b""
    while number > 127:
        made += bytes([number & 127 | 128])
        number >>= 7
    return made + bytes([number])


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _value(name: str, kind: int, *dimensions: str | int) -> bytes:
    shape = b"".join(_field(1, _field(1, d) if isinstance(d, int) else _field(2, d)) for d in dimensions)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


def model(dimension: int = 384) -> bytes:
    """The bytes of a model.onnx."""
    table = np.random.default_rng(7).standard_normal((len(VOCABULARY), dimension)).astype(np.float32)
    node = _field(1, "table") + _field(1, "input_ids") + _field(2, "last_hidden_state") + _field(4, "Gather")
    held = _field(1, len(VOCABULARY)) + _field(1, dimension) + _field(2, FLOAT) + _field(8, "table") + _field(9, table.tobytes())
    inputs = b"".join(_field(11, _value(name, INT64, "batch", "width")) for name in ("input_ids", "attention_mask", "token_type_ids"))
    graph = _field(1, node) + _field(2, "tiny") + _field(5, held) + inputs + _field(12, _value("last_hidden_state", FLOAT, "batch", "width", dimension))
    return _field(1, 8) + _field(7, graph) + _field(8, _field(2, 13))


def tokenizer() -> str:
    """The text of a tokenizer.json."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    made = Tokenizer(models.WordPiece({word: n for n, word in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    made.enable_truncation(256)  # as the published file has it: what is longer would be cut in silence
    return made.to_str()


def write(folder: Path) -> Path:
    """The two files of the embedder in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model())
    (folder / "tokenizer.json").write_text(tokenizer())
    return folder


def archive(*, without: str = "", also: str = "../../escaped.txt") -> bytes:
    """The bytes of an onnx.tar.gz laid out as the published one, and a member that would leave its folder."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, data in (("onnx/model.onnx", model()), ("onnx/tokenizer.json", tokenizer().encode()), ("onnx/vocab.txt", b"x"), (also, b"out")):
            if not without or not name.endswith(without):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
    return made.getvalue()
