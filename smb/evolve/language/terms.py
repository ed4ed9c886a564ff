"""The words a text is about, as evolution compares and names things by them.

Owns how text becomes terms: stop words dropped, inflection folded by the Snowball stemmer, scripts without spaces as pairs
of characters. Holds no topic word.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from smb.model.english import IRREGULAR, STOP_WORDS

_LETTER = re.compile("[a-z]")  # what the stemmer looks at
_WORD = re.compile(r"[^\W_]+(?:['’.+#-]+[^\W_]+)*[+#]*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f]+")


def words_of(text: str) -> list[str]:
    """The words of `text` in order, folded, none dropped; a stretch of an unspaced script is one word."""
    return [m[0].lower() for m in _WORD.finditer(unicodedata.normalize("NFKC", text))]


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a folded word: "fired" and "firing" have one, "wrote" and "writes" have one."""
    if not _LETTER.search(word):
        return word
    word = word.removesuffix("'s").removesuffix("’s")
    return _stemmer()(IRREGULAR.get(word, word))


@lru_cache(maxsize=1)
def _stemmer():  # type: ignore[no-untyped-def]
    import snowballstemmer

    return snowballstemmer.stemmer("english").stemWord


def terms_of(text: str) -> list[str]:
    """The stems of the content words of `text`, in order, repeats kept; an unspaced stretch gives its pairs of characters."""
    found: list[str] = []
    for word in words_of(text):
        if _UNSPACED.fullmatch(word):
            found += [word[n : n + 2] for n in range(len(word) - 1)] or [word]
        elif word not in STOP_WORDS:
            found.append(stem(word))
    return found
