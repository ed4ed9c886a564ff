"""Whether a sentence a model wrote is borne out by the objects it cites.

Owns the gates beyond the citation lock: the sentence is plain text; what it speaks of, and not only most of it, is in what it cites;
it neither denies nor affirms, neither orders nor supposes what is not denied, affirmed, ordered or supposed there; a figure stays with
the thing it belongs to; whoever is said to have said it is named. Never repairs a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.opposing.opposition import Analysed, analyse, oppose
from smb.evolve.said import Said
from smb.evolve.language.stems import stem
from smb.evolve.language.terms import terms_of, words_of
from smb.model.citation_lock import SPOKEN, Cited, Dropped, denies, held_to, sentences_of
from smb.model.english import NEGATIONS, STOP_WORDS
from smb.model.identity import fold

SHORTEST, LONGEST = 12, 420  # characters of a sentence
_MARKS = re.compile(r"[<>`|\\{}\[\]*~\x00-\x1f\u2028\u2029\u202a-\u202e\u2066-\u2069]|(?<!\w)[_#]|_(?!\w)")
_CLAUSE = re.compile(r"[;()–—]|[,:](?!\d)|\b(?:and|but|while|whereas|or|then|against|from|to)\b|[、，；]", re.IGNORECASE)
_LEADING = re.compile(r"\A(?:\s*(?:from now on|please|always|never|now|then|just|first|next|also|do not|don't|and|so)\b,?\s*)+", re.IGNORECASE)
_FREE = SPOKEN | frozenset("another other others whether clear".split())  # words that tell how things are told, not what
_EXACT = frozenset(  # small words that make another statement of a sentence
    "day night morning noon midday evening afternoon midnight dawn dusk week weekend month quarter year spring summer autumn winter daily weekly monthly yearly hourly "
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december "
    "always usually often sometimes rarely seldom all every everyone everything most many several few only least exactly must may might can could should would "
    "more less fewer better worse before after until since because therefore".split())
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_UNIT = re.compile(r"(\d+(?:[.,:/-]\d+)*)\s?([°%‰€$£¥µ][\w/]*|[A-Za-z]{1,3}(?:[²³]|/\w+)?)(?!\w)")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Source:
    """An object that may be cited: `text` is all a sentence citing it may rest on, `sentences` those it states, `speaker` who is said to
    have said it, `around` what it is called and where it stands."""

    text: str
    sentences: tuple[str, ...]
    speaker: str = ""
    around: tuple[str, ...] = ()


def borne_out(sentence: str, sources: Mapping[int, Source]) -> Cited | Dropped:
    """`sentence` with its citations, as numbers of `sources`, where it is borne out by what it cites."""
    judged = held_to(sentence, {n: source.text for n, source in sources.items()})
    if isinstance(judged, Dropped):
        return judged
    cited = [sources[n] for n in judged.cites]
    why = _form(judged.text) or _against(judged.text, cited) or _bare(judged.text, cited) or _misplaced(judged.text, cited)
    return Dropped(judged.text, why) if why else judged


def _form(text: str) -> str:
    if _MARKS.search(text):
        return "it holds marks"
    if not SHORTEST <= len(text) <= LONGEST:
        return "it is too short or too long"
    return "" if any(c.isalpha() for c in text) else "it says nothing"


def _against(text: str, cited: Sequence[Source]) -> str:
    """Why what it says is not what its sources say: contradicted, denied where they affirm, told as a fact where they suppose."""
    told = [_analysed(s) for source in cited for s in source.sentences]
    around = [line for source in cited for line in source.around]
    for part in _parts(text, len(cited)):
        here = _analysed(part)
        opposed = [there for there in told if oppose(here, there) is not None]
        if opposed and not any(oppose(one, other) is not None for one in opposed for other in told):  # two sides of a disagreement may both be told
            return "it contradicts what it cites"
        near = max(told, key=lambda there: _shared(part, there.said.text), default=None)
        if near is None or not (most := _shared(part, near.said.text)):
            return "nothing it cites says it"
        beside = "\n".join([*(there.said.text for there in told if 2 * _shared(part, there.said.text) >= most), *around]).casefold()
        if name := next((t.form for t in here.tokens if (t.weight == 2.0 or t.name) and not t.form[0].isdigit() and t.form not in beside), ""):
            return f"its source does not say it of {name}"
        if not _in_order(part, near.said.text):
            return "its figures change places"
        if any(_orders(one) for one in (part, _LEADING.sub("", part))):
            return "it gives an order"
        if denies(part) != denies(near.said.text) or _denials(part) > _denials(near.said.text):
            return "it denies or affirms what its source does not"
        if here.stance.firm and not near.stance.firm:
            return "it tells as a fact what its source does not assert"
    for source in cited:
        if source.speaker and fold(source.speaker) not in fold(text):
            return f"it leaves out who said it, {source.speaker}"
    return ""


def _denials(text: str) -> int:
    return sum(w in NEGATIONS or w.endswith(("n't", "n’t")) for w in words_of(text))


def _orders(text: str) -> bool:
    first = next(iter(words_of(text)), "")
    return not first.endswith(("ed", "ing")) and _analysed(text).order


def _parts(text: str, cited: int) -> list[str]:
    """What a sentence that rests on several objects says, part by part."""
    if cited < 2:
        return [text]
    return [part for part in re.split(r"[;,]\s+(?:and|but|while|whereas)\b|;|\bbut\b|\bwhile\b|\bwhereas\b", text) if len(terms_of(part)) > 1] or [text]


def _bare(text: str, cited: Sequence[Source]) -> str:
    """A word of weight that none of its sources has."""
    if _CJK.search(text):
        held = "".join(source.text for source in cited)
        strange = [t for t in terms_of(text) if len(t) == 2 and _CJK.search(t) and t not in held]
        return "most of what it says is in none of its sources" if len(strange) > len(terms_of(text)) / 3 else ""
    have = {w for source in cited for w in words_of(source.text)}
    if small := next((w for w in words_of(text) if w in _EXACT and w not in have), ""):
        return f"{small} is in none of its sources"
    told = [_analysed(s) for source in cited for s in source.sentences]
    concepts = {t.concept for there in told for t in there.tokens}
    known = {stem(w) for w in have} | {t for source in cited for t in terms_of(source.text)}
    if not _analysed(text).tokens:
        strange = next((w for w in words_of(text) if w not in STOP_WORDS and stem(w) not in known and w not in _FREE), "")
        return f"{strange} is in none of its sources" if strange else ""
    for token in _analysed(text).tokens:
        if token.weight >= 0.5 and not token.main and token.concept not in concepts and token.form not in _FREE and stem(token.form) not in known:
            return f"{token.form} is in none of its sources"
    return ""


def _misplaced(text: str, cited: Sequence[Source]) -> str:
    """A figure that its source gives of another thing, or in another unit, than the sentence does."""
    measured = {pair for source in cited for s in (*source.sentences, source.text) for pair in _measured(s)}
    if wrong := next((pair for pair in _measured(text) if pair not in measured), None):
        return f"{wrong[0]} {wrong[1]} is in none of its sources"
    for clause in _CLAUSE.split(text):
        for number in _NUMBER.findall(clause):
            places = [s for source in cited for s in (*source.sentences, source.text) if number in _NUMBER.findall(s)]
            alone = [s for s in places if len(_NUMBER.findall(s)) == 1]
            speaks = _things(text)
            if not any(speaks & _things(s) for s in alone) and not any(
                    _near(clause, part) for s in places for part in _CLAUSE.split(s) if number in _NUMBER.findall(part)):
                return f"{number} belongs to something else in its source"
    return ""


def _measured(text: str) -> list[tuple[str, str]]:
    """Figures with the sign or the short unit behind them."""
    return [(n, unit) for n, unit in _UNIT.findall(text) if unit.lower() not in STOP_WORDS]


def _figures(text: str) -> list[str]:
    """Its figures in order; dates and years, which may be told first or last, aside."""
    return [n for n in _NUMBER.findall(text) if not re.fullmatch(r"(?:1[5-9]|20)\d\d(?:-\d\d){0,2}|\d{1,2}:\d\d", n)]


def _in_order(part: str, source: str) -> bool:
    """Whether the figures the two share stand in one order."""
    theirs, at = _figures(source), 0
    for number in _figures(part):
        if number in theirs:
            if number not in theirs[at:]:
                return False
            at = theirs.index(number, at)
    return True


def _near(clause: str, part: str) -> bool:
    mine, theirs = _things(clause), _things(part)
    return bool(mine & theirs) or not theirs or not mine


def _things(text: str) -> set[str]:
    """What a piece of a sentence names, its verb and what is counted aside."""
    verbs = {t.concept for t in _analysed(text).tokens if t.main or t.counted}
    return {t.concept for t in _analysed(text).tokens if t.weight >= 0.5} - verbs


def _shared(one: str, other: str) -> int:
    return len(set(terms_of(one)) & set(terms_of(other)))


def _analysed(text: str) -> Analysed:
    return analyse(Said("", text))


def source_of(title: str, texts: Sequence[str], around: Sequence[str] = (), speaker: str = "") -> Source:
    """`texts` are what it states, verbatim; `around` what else may be said of it: dates, the title of its note."""
    sentences = [s for text in texts for s in sentences_of(text)]
    whole = "\n".join(dict.fromkeys((title, *texts, *around)))
    return Source(whole, tuple(dict.fromkeys((*sentences, title))), speaker, (*around, *((title,) if len(words_of(title)) <= 6 else ())))
