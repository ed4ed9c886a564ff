"""`smb.inference.static_embedder`: the same vectors as the packaged tokenizer and plain averaging give."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smb.inference import static_embedder
from smb.inference.embedder import EmbedderMismatch, EmbedderUnavailable
from smb.inference.static_embedder import PIECE_LIMIT, StaticEmbedder, Tokens

PACKAGE = Path(importlib.util.find_spec("wordllama").submodule_search_locations[0])

TEXTS = [
    "The glaze cools slowly; below 600 °C you may open the damper (never earlier).",
    "窯の温度は九百度である。重跑gen-itgc後",
    "def open_damper(self, *, by: float) -> None:\n    if self.temperature > 600:\n\traise TooHot(f\"{self.temperature}\")\n",
    "  leading,   wide\tgaps\u00a0here\u2003and\n\n\nthere  ",
    "| cone | °C |\n|------|----|\n| 06   | 999 |\n| 6    | 1222 |",
    "Übergröße façade naïve — “quoted” … ‘single’ ½ × ² 12.345,67 €",
    "Глина сохнет медленно. الطين يجف ببطء. Ο πηλός στεγνώνει. 가마의 온도. เตาเผา",
    "https://example.org/a/b?c=d&e=f#g [[Kiln log|the log]] #pottery/kiln @mara 🔥🏺",
    "snake_case camelCase SCREAMING_CASE x1y2z3 0xDEADBEEF 2031-02-03T04:05:06Z",
    "<div class=\"x\">&nbsp;</div> $e^{i\\pi}+1=0$ \\frac{a}{b} {{template}} ~~~ --- *** ___",
    "a\u0301 combining, zero\u200bwidth, \ufeffbom, \u2028line, \x00nul",
]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.fixture(scope="module")
def plain():
    """The packaged tokenizer and an average, without any of our shortcuts."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(PACKAGE / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    weights = load_file(PACKAGE / "weights" / "l2_supercat_256.safetensors")["embedding.weight"].astype(np.float32)

    def embed(text: str) -> np.ndarray:
        vector = weights[tokenizer.encode(text, add_special_tokens=False).ids].mean(axis=0)
        return vector / np.linalg.norm(vector)

    return embed


@pytest.mark.parametrize("text", TEXTS)
def test_equals_the_packaged_tokenizer(embedder: StaticEmbedder, plain, text: str) -> None:
    assert embedder.embed([text])[0] @ plain(text) > 0.9999


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(codec="utf-8", exclude_characters="\r<▁") | st.sampled_from(" e.t(_-0é窯\n"), min_size=1))
def test_equals_the_packaged_tokenizer_on_any_text(embedder: StaticEmbedder, plain, text: str) -> None:
    """Without `\\r` (kept apart from the mark before it, so that line ends don't matter), `<` (of `<s>`, taken literally),
    `▁`, and runs of spaces (before a mark that no token joins with a space they may be cut elsewhere)."""
    if not text.isspace() and not any(run in text for run in ("  ", " \n")):
        assert embedder.embed([text])[0] @ plain(text) > 0.9999


def test_no_token_spans_two_pieces() -> None:
    """What the shortcut rests on: every token but the byte, special and `\\r` ones is one piece, and merging reaches it."""
    tokens = Tokens.load()
    checked = 0
    for token, id_ in tokens._ids.items():
        if "\r" in token or (token.startswith("<") and token.endswith(">") and len(token) > 2):
            continue
        assert static_embedder._PIECE.fullmatch(token.replace("▁", " ")), token
        checked += 1
        assert tokens.merged(token.replace(" ", "▁")) == [token]
    assert checked > 31_000


def test_a_row_depends_on_its_text_only(embedder: StaticEmbedder) -> None:
    """Bit for bit: whatever else is embedded with it, in whatever order, before or after the cache was begun anew."""
    alone = np.vstack([StaticEmbedder().embed([text]) for text in TEXTS])
    small = StaticEmbedder(cached_pieces=1)
    for texts in (TEXTS, TEXTS[::-1], TEXTS * 40, [f"{n} filler words {n * 7919:x}" for n in range(6000)] + TEXTS):
        rows = {text: row for text, row in zip(texts, small.embed(texts))}
        assert all(np.array_equal(rows[text], row) for text, row in zip(TEXTS, alone))
    assert len(small._rows) <= small._capacity
    assert np.array_equal(embedder.embed(TEXTS), alone)


def test_shape_length_and_blank_texts(embedder: StaticEmbedder) -> None:
    vectors = embedder.embed(["", "kiln", " \n\t ", "窯"])
    assert vectors.dtype == np.float32 and vectors.shape == (4, embedder.dimension) == (4, 256)
    assert not vectors[0].any() and not vectors[2].any()
    assert np.allclose(np.linalg.norm(vectors[[1, 3]], axis=1), 1, atol=1e-5)
    assert embedder.embed([]).shape == (0, 256)


def test_the_beginning_of_a_long_text_counts(embedder: StaticEmbedder) -> None:
    start = "kiln " * PIECE_LIMIT
    first, longer, other = embedder.embed([start, start + "entirely different matter " * 500, "entirely different matter"])
    assert np.array_equal(first, longer)
    assert first @ other < 0.5


def test_meaning(embedder: StaticEmbedder) -> None:
    near, far = "The oven reaches a temperature of 900 degrees", "We signed the rental contract in March"
    question, near, far = embedder.embed(["how hot is the kiln", near, far])
    assert question @ near > question @ far + 0.1


def test_lone_surrogates_do_not_raise(embedder: StaticEmbedder) -> None:
    assert embedder.embed(["kiln \ud800 log"])[0].any()


def test_threads_share_one_embedder(embedder: StaticEmbedder) -> None:
    fresh = StaticEmbedder()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda shift: fresh.embed(TEXTS[shift:] + TEXTS[:shift]), range(len(TEXTS))))
    expected = embedder.embed(TEXTS)
    for shift, rows in enumerate(results):
        assert np.array_equal(rows, np.roll(expected, -shift, axis=0))


def test_a_query_loads_neither_wordllama_nor_the_tokenizer() -> None:
    code = ("import sys; from smb.inference.static_embedder import StaticEmbedder as E; E().embed(['kiln']); "
            "print([m for m in ('wordllama', 'tokenizers', 'safetensors', 'requests') if m in sys.modules])")
    root = Path(__file__).parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "[]\n" and done.stderr == ""


@pytest.mark.parametrize(("damage", "said"), [
    ("missing", "cannot be read"), ("vocabulary", "damaged"), ("weights", "damaged"), ("absent", "not installed"),
])
def test_missing_or_damaged_files_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str, said: str) -> None:
    fake = tmp_path / "wordllama"
    if damage != "absent":
        (fake / "weights").mkdir(parents=True)
        (fake / "tokenizers").mkdir()
        (fake / "__init__.py").touch()
        (fake / "weights" / "l2_supercat_256.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0{\"other\": {}}    ")
        text = '{"model": {"vocab": {"a": 1}, "merges": []}}' if damage == "weights" else '{"model": 5}'
        if damage != "missing":
            (fake / "tokenizers" / "l2_supercat_tokenizer_config.json").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    importlib.invalidate_caches()
    with pytest.raises(EmbedderUnavailable, match=said) as caught:
        Tokens.load()
    assert "pip install" in str(caught.value) and caught.value.exit_code == 1


def test_a_mismatch_says_both_and_the_way_out() -> None:
    said = str(EmbedderMismatch("a/1", "b/2"))
    assert "a/1" in said and "b/2" in said and "smb rebuild" in said
