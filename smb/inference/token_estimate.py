"""How many tokens a text takes, guessed so as not to fall short, and how many it takes at the very least.

Owns the two bounds a prompt is held to: the upper one before it is sent (no model's tokenizer is at hand), the lower one
after, to notice that a server read less than it was sent. Never calls a model.
"""

from __future__ import annotations

import re

_LETTERS = re.compile("[A-Za-z]+")
_GAP = re.compile(r"\s{2,}")
_MARKS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f!-/:-@\[-`{-~]+")
_BEYOND = re.compile(r"[^\W\d_A-Za-z]+|[^\x00-\x7f]")
_DENSE = re.compile(r"[A-Za-z0-9+/=_-]{16,}")  # keys, hashes and addresses: no vocabulary has pieces for them
_PLAIN = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def at_most(text: str) -> int:
    """Tokens of `text`, on the long side for byte-pair vocabularies of 32,000 tokens and more.

    English takes about one token to four letters. Digits may each be one, and characters outside Latin one to three
    (bytes, where the vocabulary lacks them), so these count in full.
    """
    total = 0
    start = 0
    for dense in _DENSE.finditer(text):
        if _PLAIN.fullmatch(dense[0]) and len(dense[0]) < 40:
            continue
        total += _plain(text[start : dense.start()]) + len(dense[0])
        start = dense.end()
    return total + _plain(text[start:])


def at_least(text: str) -> int:
    """A number of tokens no tokenizer goes below for `text`: none joins words that stand apart."""
    return len(text.split())


def _plain(text: str) -> int:
    words = _LETTERS.findall(text)
    total = len(words) + sum(len(word) >> 2 for word in words)
    total += sum(map(text.count, "0123456789\n")) + len(_GAP.findall(text))
    total += sum(len(marks) if len(set(marks)) > 1 else 1 + len(marks) // 4 for marks in _MARKS.findall(text))
    if not text.isascii():
        total += sum(_letters(piece) if piece.isalpha() else len(piece.encode("utf-8", "surrogatepass")) for piece in _BEYOND.findall(text))
    return total


def _letters(word: str) -> int:
    """Letters beyond ASCII: those of widespread alphabets one token each, ideographs and their like two, the rest their bytes."""
    total = 0
    for letter in word:
        total += 1 if letter < "\u0590" else 2 if letter < "\u10a0" or letter >= "\u2e80" else 3
    return total
