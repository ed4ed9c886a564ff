"""The lexical side of search: what text is indexed, the n-grams of unspaced scripts, and safe FTS5 MATCH expressions.

Owns these three pure functions and the rules both index and query must share. Never opens a database and never ranks:
FTS5 does (`smb.stores.catalog_schema` holds the tables, tokenised by `porter unicode61 remove_diacritics 2`).

unicode61 takes a whole unspaced sentence for one token, so `温度` would never be found inside `窯の温度は九百度`. The column
`ngrams` therefore holds overlapping bigrams of every such run, and a query run becomes a phrase of the same bigrams.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

RUN_LIMIT = 256  # a longer unbroken run of encoded or repeated characters is data, not words
RUN_KEPT = 16  # characters of such a run that stay, so that its beginning can still be searched
TERM_LIMIT = 96  # terms of one MATCH expression; a pasted page is cut here
PHRASE_LIMIT = 24  # words of one quoted phrase
SHORT_RUN = 4  # an unspaced query run up to this long is one phrase; a longer one is a sentence, its bigrams are ORed

_ENCODED = r"A-Za-z0-9+/=_%\-"
_LONG_RUN = re.compile(rf"(?<![{_ENCODED}])([{_ENCODED}]{{{RUN_KEPT}}})[{_ENCODED}]{{{RUN_LIMIT + 1 - RUN_KEPT},}}")
_LONG_REPEAT = re.compile(rf"(.)(?<!\1\1)\1{{{RUN_LIMIT},}}", re.DOTALL)  # look-behind: start only at a run's first char
_DATA_URI = re.compile(
    r"data:([\w.+-]{1,64}/[\w.+-]{1,64})?((?:;[\w.=+-]{1,64}){0,8}),[^\s\"'()<>\[\]`]*", re.ASCII | re.IGNORECASE
)
_LONG_BLANK = " " * (RUN_LIMIT + 1)

# Scripts written without spaces between words (Hangul has spaces, but its particles are glued to the word).
_HIRAGANA = "\u3041-\u309f"
_UNSPACED = (
    "\u3005-\u3007" + _HIRAGANA + "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"  # Han, kana, bopomofo
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u0e01-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
)
_MARKS = (  # vowel signs and tones: unicode61 takes them for separators, so they are left out of bigrams
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece"
    "\u102b-\u103e\u1056-\u1059\u105e-\u1060\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u17b4-\u17d3"
)
_HAS_UNSPACED = re.compile(f"[{_UNSPACED}]")
_MARK = re.compile(f"[{_MARKS}]+")
_PIECE = re.compile(f"[{_UNSPACED}]++|[^\\W_{_UNSPACED}]++")
_ALL_HIRAGANA = re.compile(f"[{_HIRAGANA}ー]+")
_HIRAGANA_CHARACTER = re.compile(f"[{_HIRAGANA}]")
_HANGUL = re.compile("[\u1100-\u11ff\uac00-\ud7ff]")
_WORD = re.compile(r"[^\W_]+")
_UNQUOTABLE = re.compile('["\x00\ud800-\udfff]+')  # SQLite ends at NUL and cannot encode lone surrogates


def derived_text(raw: str) -> str:
    """`raw` as indexed and embedded; the same string where nothing in it is data. Linear in `len(raw)`.

    HTML comments go, a data URI becomes `[data:image/png]`, and a run longer than `RUN_LIMIT` characters of encoded
    data or of one repeated character keeps its first `RUN_KEPT` and an ellipsis.
    """
    text = raw
    if "<!--" in text:
        text = _without_comments(text)
    if "data:" in text or "DATA:" in text:
        text = _DATA_URI.sub(_data_uri_label, text)
    if len(text) > RUN_LIMIT and _may_hold_a_long_run(text):
        text = _LONG_RUN.sub(r"\1…", text)
        text = _LONG_REPEAT.sub(lambda m: m[1] * RUN_KEPT + "…", text)
    return text


def ngrams(text: str) -> str:
    """The `ngrams` column for `text`: '' where no unspaced script occurs.

    Space-joined, in text order: the overlapping bigrams of each unspaced run with the run's last character alone, and
    the Latin or digit words that no white space parts from a run, since unicode61 may have glued them to it.

    >>> ngrams("重跑gen-itgc後")
    '重跑 跑 gen itgc 後'
    """
    if text.isascii() or not _HAS_UNSPACED.search(text):
        return ""
    grams: list[str] = []
    for part in _compared(text).split():
        if _HAS_UNSPACED.search(part):
            grams += _grams(_PIECE.findall(part))
    return " ".join(grams)


def match_query(words: Sequence[str], *, prefix_last: bool = False) -> str:
    """An FTS5 MATCH expression that finds any of `words`; '' where nothing in them can be searched. Never raises.

    A word is a phrase: `pre-fire` finds "pre-fire" and "pre fire". An unspaced run is a phrase of bigrams in the column
    `ngrams`, a lone character a prefix; a run that is longer than `SHORT_RUN` or carries endings and particles
    (`温度は`, `한국어를`) is any of its bigrams. With `prefix_last` the last word also matches longer words. At most
    `TERM_LIMIT` terms, the first ones.
    """
    terms: dict[str, None] = {}
    last = len(words) - 1
    for position, word in enumerate(words):
        if len(terms) >= TERM_LIMIT:
            break
        clean = derived_text(_UNQUOTABLE.sub(" ", word))
        if _HAS_UNSPACED.search(clean):
            terms.update(dict.fromkeys(_unspaced_terms(clean)))
        elif phrase := _phrase(clean):
            terms[f"{phrase} *" if prefix_last and position == last else phrase] = None
    return " OR ".join(list(terms)[:TERM_LIMIT])


def _without_comments(text: str) -> str:
    kept: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        kept.append(text[position:start])
        position = end + 3
    kept.append(text[position:])
    return "".join(kept)


def _data_uri_label(match: re.Match[str]) -> str:
    media, parameters = match[1], match[2]
    if not media and not parameters:  # "data:,x" is likelier prose
        return match[0]
    return f"[data:{(media or '').lower()}]"


def _may_hold_a_long_run(text: str) -> bool:
    """False only where every stretch without a space is short; hops from space to space, so most text costs nothing."""
    if _LONG_BLANK in text:
        return True
    window = RUN_LIMIT + 1
    position, end = 0, len(text)
    while position + window <= end:
        space = text.rfind(" ", position, position + window)
        if space < 0:
            return True
        position = space + 1
    return False


def _compared(text: str) -> str:
    """Compatibility forms as one (half-width kana, full-width Latin) and no vowel signs."""
    return _MARK.sub("", unicodedata.normalize("NFKC", text))


def _grams(pieces: list[str]) -> list[str]:
    grams: list[str] = []
    for piece in pieces:
        if _HAS_UNSPACED.match(piece):
            grams += [piece[i : i + 2] for i in range(len(piece))]
        else:
            grams.append(piece)
    return grams


def _phrase(text: str) -> str:
    words = _WORD.findall(text)
    if not words:
        return ""
    return f'"{" ".join(words[:PHRASE_LIMIT])}"' if len(words) > PHRASE_LIMIT else f'"{text.strip()}"'


def _unspaced_terms(word: str) -> list[str]:
    """The terms of a word that holds an unspaced run."""
    pieces = _PIECE.findall(_compared(word))
    runs = [piece for piece in pieces if _HAS_UNSPACED.match(piece)]
    if len(pieces) > 1 and sum(map(len, runs)) <= SHORT_RUN and len(pieces) <= PHRASE_LIMIT:
        terms = [_in_order(pieces)]
    else:
        terms = [term for run in runs if len(run) > 1 or len(pieces) == 1 for term in _run_terms(run)]
    return terms + [f'"{piece}"' for piece in pieces if not _HAS_UNSPACED.match(piece)]


def _in_order(pieces: list[str]) -> str:
    """One phrase in the column `ngrams`, the tokens as `ngrams` would have written them around these pieces."""
    grams = _grams(pieces)
    if not _HAS_UNSPACED.match(pieces[-1]):
        return f'ngrams : "{" ".join(grams)}"'
    if len(pieces[-1]) > 1:
        return f'ngrams : "{" ".join(grams[:-1])}"'  # in the text the run may go on
    return f'ngrams : "{" ".join(grams)}" *'


def _carries_endings(run: str) -> bool:
    """Hangul, or kana beside another script: what follows the stem may differ in the text."""
    return bool(_HANGUL.search(run) or (_HIRAGANA_CHARACTER.search(run) and not _ALL_HIRAGANA.fullmatch(run)))


def _run_terms(run: str) -> list[str]:
    if len(run) <= 2 or (len(run) <= SHORT_RUN and not _carries_endings(run)):
        return [_in_order([run])]
    bigrams = [run[i : i + 2] for i in range(len(run) - 1)]
    telling = [bigram for bigram in bigrams if not _ALL_HIRAGANA.fullmatch(bigram)]  # particles and endings say little
    return [f'ngrams : "{bigram}"' for bigram in telling or bigrams]
