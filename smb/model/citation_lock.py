"""What of a model's text may be passed on: sentences that cite what was opened, and say nothing hard that it does not say.

Owns the test of one sentence against the items it cites (REQUIREMENTS.md, section 4, items 4 and 11): every citation exists,
every number, date, version, address and name stands in the cited items, what it is about is theirs, and it denies nothing they
state. Pure. Never repairs a sentence: one that fails is dropped with its reason.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from smb.model.english import NEGATIONS, STOP_WORDS
from smb.model.identity import fold

SHARED_WORDS = 0.5  # share of a sentence's content words that the cited items must hold
_CITES = re.compile(r"\s*\[\s*(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\s*\]")
_END = re.compile(r"(?:[.!?…]+[\"'”’)\]]*(?=\s|\Z|\[)|[。！？]+[」』）]*)(?:\s*\[\s*\d{1,4}(?:\s*[,;]\s*\d{1,4})*\s*\])*|\n+")
_SHORTENED = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|approx|ca|no|nr|dr|mr|mrs|ms|prof|st|fig|sec|cf|al|\w)\.\Z", re.I)
_PLACE = re.compile(r"\A\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)\s*")
_PARTS = re.compile(r"[;:]\s+|,\s+(?!\d)|\s+(?:and|but|while|whereas|though|although)\s+|[、；]")
_FROM_TO = re.compile(r"\bfrom\b([^.;]*?)\bto\b([^;]*)", re.I)
_LEANING = frozenset("it its he his she her hers they their theirs this that these those i my we our you your".split())
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_GROUPED = re.compile(r"(?<=\d),(?=\d{3}(?:\D|\Z))")
_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s<>\"'()\[\]]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_DENIES = NEGATIONS | {"n't", "unlike"}
_NUMBER_WORDS = frozenset(
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty "
    "seventy eighty ninety hundred thousand million billion dozen half twice double triple".split())
SPOKEN = frozenset(  # words an answer is made of rather than about
    "according also although answer answers asked available based both bank cited cites claim claims confirm confirmed contradict contradicts currently describe "
    "described describes despite different disagree disagrees earlier either evidence following former formerly give given gives hence however i including instead "
    "it item items known later latter meanwhile mention mentioned mentions moreover nevertheless newer newest note notes now older one only originally previously "
    "question record recorded records report reported reports respectively said say says similarly since so source sources state stated states still thus together "
    "today unclear unknown value values whereas while yes yet".split())


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence that holds, without its marks, and the numbers of the items it cites, as they stand in it."""

    text: str
    cites: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A sentence that may not be passed on, and why."""

    text: str
    reason: str


def sentence_ends(text: str) -> list[int]:
    """Where the sentences of `text` end, their citations with them; a trailing piece without an end is not among them."""
    ends: list[int] = []
    for m in _END.finditer(text):
        start = ends[-1] if ends else 0
        if text[m.start()] == "." and _SHORTENED.search(text[start : m.start() + 1]):
            continue
        ends.append(m.end())
    return ends


def sentences_of(text: str) -> list[str]:
    """The sentences of `text`, blank ones dropped, list marks and headings taken off."""
    ends = sentence_ends(text)
    pieces = [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [clean for piece in pieces if (clean := re.sub(r"\A\s*(?:[-*•>]\s+|#+\s+|\d{1,2}[.)]\s+)?", "", piece).strip())]


def held_to(sentence: str, items: Mapping[int, str], question: str = "") -> Cited | Dropped:
    """`sentence` with its citations if every one is of `items` (number → its whole text, with title and date) and what it says
    hard stands in what it cites. `question` may be repeated, but gives no value."""
    cites = tuple(dict.fromkeys(int(n) for m in _CITES.finditer(sentence) for n in re.split(r"\s*[,;]\s*", m[1])))
    plain = " ".join(_CITES.sub("", sentence).split())
    if not cites:
        return Dropped(plain, "it cites nothing")
    if missing := [n for n in cites if n not in items]:
        return Dropped(plain, f"it cites [{missing[0]}], which was not opened")
    if plain.rstrip("\"'”’").endswith(("?", "？")):
        return Dropped(plain, "it asks")
    said = " \n ".join(items[n] for n in cites)
    return _unsupported(plain, said, question) or Cited(plain, cites)


def answers(sentence: str, items: Mapping[int, str], question: str = "") -> Cited | Dropped:
    """As `held_to`, of a sentence in a model's own words: and no part of it joins what no one sentence of the items says together."""
    held = held_to(sentence, items, question)
    return held if isinstance(held, Dropped) else _stitched(held.text, [items[n] for n in held.cites], question) or held


def _unsupported(plain: str, said: str, question: str) -> Dropped | None:
    for address in _ADDRESS.findall(plain):
        if address.rstrip(".,;:!?") not in said:
            return Dropped(plain, f"{address} is not in what it cites")
    have = _numbers(said)
    for number in sorted(_numbers(plain)):
        if number not in have:
            return Dropped(plain, f"{number} is not in what it cites")
    held, asked = _folded(said), _folded(question)
    for word in _WORD.findall(plain):
        if (low := _compared(word)) in _NUMBER_WORDS and low not in held:
            return Dropped(plain, f"{word} is not in what it cites")
    if name := _foreign_name(plain, held, asked):
        return Dropped(plain, f"{name} is not in what it cites")
    words = [low for word in _WORD.findall(plain) if (low := _compared(word)) not in STOP_WORDS and low not in SPOKEN and not low[0].isdigit()]
    shared = sum(_meets(word, held) for word in words)
    if words and shared < SHARED_WORDS * len(words):
        return Dropped(plain, "most of its words are not in what it cites")
    if denies(plain) and not denies(said) and not denies(question):
        return Dropped(plain, "it denies what what it cites does not deny")
    return None


def _stitched(plain: str, items: Sequence[str], question: str) -> Dropped | None:
    """Whether a part of the sentence joins what no one sentence of the items says together: its subject, its names and its figures."""
    said = [source for item in items for source in _sources(item)]
    asked = _folded(question)
    subject: list[str] = []
    for part in _PARTS.split(plain):
        words = [m[0] for m in _WORD.finditer(part)]
        telling = [low for word in words if (low := _compared(word)) not in STOP_WORDS and low not in SPOKEN and low not in _NUMBER_WORDS and not low[0].isdigit()]
        if not telling and not _numbers(part):
            continue
        begins = [low for word in words[:1] if (low := _compared(word))]
        goes_on = bool(begins) and bool(subject) and begins[0] not in STOP_WORDS and not words[0][0].isupper() and not words[0][0].isdigit() and begins[0] not in _NUMBER_WORDS
        first = subject if goes_on else telling[:1]
        subject = first or subject
        names = {_compared(w) for w in words[1:] if w[0].isupper() or any(c.isupper() for c in w[1:])} - asked - STOP_WORDS
        needed = [*first, *sorted(names)]
        if not any(_in_order(part, figures) and all(_meets(word, held) for word in needed if word not in SPOKEN) and
                   sum(_meets(word, held) for word in telling) >= SHARED_WORDS * len(telling) for held, figures in said):
            return Dropped(plain, "it joins what no sentence of what it cites says together")
    return None


def _in_order(part: str, figures: Sequence[str]) -> bool:
    """Whether the figures of a part stand among `figures`, and one it goes from before the one it goes to: "from 8443 to 8090" is not
    "from 8090 to 8443"."""
    if not _numbers(part) <= set(figures):
        return False
    for m in _FROM_TO.finditer(part):
        left, right = _figures(m[1]), _figures(m[2])
        if left and right and figures.index(left[-1]) > figures.index(right[0]):
            return False
    return True


def _sources(item: str) -> list[tuple[frozenset[str], list[str]]]:
    """(words, figures in order) of each sentence of an item. A sentence that leans on a title has the title's words too; the place and times
    in brackets before it lend their figures to all."""
    place = _PLACE.match(item)
    head = place[0] if place else ""
    lines = [line for line in item[len(head) :].split("\n") if line.strip()]
    title = lines[0] if lines else ""
    found = []
    for line in lines:
        for sentence in sentences_of(line):
            leans = sentence == title or _compared((_WORD.findall(sentence) or [""])[0]) in _LEANING or ":" in sentence[:60]
            words = _folded(f"{title} {sentence}" if leans else sentence)
            found.append((words, [*_figures(sentence), *_figures(head)]))
    return found


def _numbers(text: str) -> set[str]:
    return set(_figures(text))


def _figures(text: str) -> list[str]:
    return [m.rstrip(".,:/-") for m in _NUMBER.findall(_GROUPED.sub("", unicodedata.normalize("NFKC", text)))]


def _compared(word: str) -> str:
    return fold(word).removesuffix("'s").removesuffix("’s")


def _folded(text: str) -> frozenset[str]:
    words = {_compared(word) for word in _WORD.findall(text)}
    return frozenset(words | {part for word in words for part in re.split(r"['’.-]", word) if part})


def _meets(word: str, held: frozenset[str]) -> bool:
    """Whether the items hold the word, or one that begins alike for all but an ending."""
    if word in held:
        return True
    if not word.isascii():
        return any(word in other or other in word for other in held if not other.isascii())
    least = max(4, len(word) - 3)
    return len(word) > 3 and any(other.startswith(word[:least]) and len(other) <= len(word) + 4 for other in held)


def _foreign_name(plain: str, held: frozenset[str], asked: frozenset[str]) -> str:
    """A name of the sentence that the cited items don't hold; "" where there is none. The first word is one only where it is
    no word an answer begins with."""
    for n, m in enumerate(_WORD.finditer(plain)):
        word, low = m[0], _compared(m[0])
        named = any(c.isupper() for c in word[1:]) or (word[0].isupper() and (n > 0 or low not in STOP_WORDS | SPOKEN | _NUMBER_WORDS))
        if not named or low in held or (n == 0 and not any(c.isupper() for c in word[1:]) and (_meets(low, held) or low in asked)):
            continue
        if n > 0 and low in STOP_WORDS and word != "May":
            continue
        return word
    return ""


def denies(text: str) -> bool:
    """Whether a sentence denies something."""
    words = [w.replace("’", "'") for w in re.findall(r"[^\W_]+(?:['’][^\W_]+)?", text.lower())]
    return any(w in _DENIES or w.endswith("n't") for w in words) or bool(re.search(r"[不没無未勿]|ない(?:。|$|で|と|が)|ません", text))
