"""What two sentences have in common, in words a reader would use.

Owns how shared stems become phrases as written: the longest run of words both sentences have, then single words by rarity.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from smb.evolve.combining.doc_terms import DocTerms
from smb.evolve.language.telling import tells
from smb.evolve.language.terms import STOP_WORDS, stem

MOST = 3  # phrases named
LONGEST = 8  # words of a phrase
_WORD = re.compile(r"[^\W_]+(?:['’.+#_-]+[^\W_]+)*[+#]*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")


@dataclass(frozen=True, slots=True)
class _Word:
    stem: str
    start: int
    end: int
    stop: bool


def shared_phrases(said: DocTerms, left: str, right: str, core: Collection[str]) -> list[str]:
    """At most `MOST` things both sentences name, as `left` writes them: the longest common runs first, then the rarest words."""
    ours, theirs = _words(left), _words(right)
    singles = {term for term in core if " " not in term}
    chosen: list[str] = []
    covered: set[str] = set()
    runs = sorted(_runs(left, ours, theirs), key=lambda r: (-said.weigh(w.stem for w in r if w.stem in singles), r[0].start))
    for run in runs:
        stems = {w.stem for w in run if not w.stop}
        known = stems & singles
        if not known - covered or stems & covered or len(run) == 1 and (run[0].stem.isdigit() or said.weight(run[0].stem) < 0.5):
            continue
        if not tells(phrase := left[run[0].start:run[-1].end]):
            continue
        chosen.append(phrase)
        covered |= stems
        if len(chosen) == MOST:
            break
    chosen.sort(key=lambda phrase: " " not in phrase and phrase == phrase.lower())  # a name says more than a word
    return chosen or ([_unspaced(left, core)] if _unspaced(left, core) else [])


def _words(text: str) -> list[_Word]:
    return [_Word(stem(m[0].lower()), m.start(), m.end(), m[0].lower() in STOP_WORDS) for m in _WORD.finditer(text)]


def _runs(text: str, ours: Sequence[_Word], theirs: Sequence[_Word]) -> list[Sequence[_Word]]:
    """Longest runs of words, unbroken by punctuation, that both have in this order; with stop words only inside."""
    found: list[Sequence[_Word]] = []
    n = 0
    while n < len(ours):
        if ours[n].stop:
            n += 1
            continue
        best = 0
        for m in range(len(theirs)):
            k = 0
            while (k < LONGEST and n + k < len(ours) and m + k < len(theirs) and ours[n + k].stem == theirs[m + k].stem
                   and (not k or not text[ours[n + k - 1].end:ours[n + k].start].strip(" -"))):
                k += 1
            best = max(best, k)
        run = list(ours[n:n + best])
        while run and run[-1].stop:
            run.pop()
        if run:
            found.append(run)
        n += max(best, 1)
    return found


def _unspaced(text: str, core: Collection[str]) -> str:
    """The longest stretch of `text` made of shared pairs of characters, in a script without spaces."""
    best = current = ""
    for a, b in zip(text, text[1:]):
        if a + b in core and _UNSPACED.match(a):
            current = current + b if current else a + b
            best = max(best, current, key=len)
        else:
            current = ""
    return best
