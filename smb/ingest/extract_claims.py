"""Claims that are sentences: which ones a note asserts, what each is about, and the best of them.

Owns the choice, by a stated score:

    +3 says that something changed   +2 records a decision   +2 a date   +2 an amount   +1.5 a version   +1 a URL
    +1 another number   +1 denies something   +2 defines the note's subject   +1 begins with it   +1.5 has a key
    +0.5 names something (a capitalised name or code)   +0.75 stands in the first paragraph   +0.5 reported speech
    -1.5 leans on the sentence before   -1.5 first person (-0.5 in a memo)   -0.5 longer than 200 characters
    -0.5 quoted   -1.25 speaks to the reader

A sentence needs `THRESHOLD`, in a note of few sentences less, and the best `MOST` stay, in their order.
Never keeps a question, an instruction, a hypothesis or a fragment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from smb.ingest.extract import Draft
from smb.ingest.keyed_sentence import key_of
from smb.ingest.lexicon import AUXILIARIES, CONNECTIVES, DANGLING, FUNCTION_WORDS, PAST_VERBS
from smb.ingest.signals import SignalKind, SpeechAct, correction, decision, negated, reported, is_finite, speech_act, valid_in, values, words_of
from smb.ingest.extract_keyed import plain_name
from smb.ingest.survey import Prose, Survey
from smb.model.objects import MemoryType

MOST = 5
THRESHOLD = 1.5
MEMO_THRESHOLD = 0.75
TINY = 4  # sentences: every assertion counts
FEW = 8  # sentences: a note with no more is a memo, every assertion of it counts
SHORTEST, LONGEST = 25, 300
_WEIGHT = {SignalKind.DATE: 2.0, SignalKind.AMOUNT: 2.0, SignalKind.VERSION: 1.5, SignalKind.URL: 1.0, SignalKind.EMAIL: 1.0, SignalKind.NUMBER: 1.0}
_CJK = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
_NAMED = re.compile(r"(?<=[a-z,;] )[A-ZÀ-Þ][\w’'-]*[a-z]")
_DEFINES = re.compile(r"^(?:The |An? |This )?(.{2,60}?)\s(?:is|are|was|were|means|refers to|represents|specifies|describes|provides|defines)\s(?:an?|the|one|used)?\s?", re.I)
_FIRST_PERSON = frozenset("i we i'm i've i'd i'll we're we've we'd we'll my our me us mine ours".split())
_NAVIGATION = re.compile(r"^(?:see|for (?:more|details|further|additional|an? )|refer to|click here|back to|go to|read more|learn more|note:|source:)\b|"
                         r"\b(?:see also|see the|see below|shown below|shown above|as follows|the following|following (?:code|example|table|sections?)|in this (?:article|section|topic|post|guide|chapter)|"
                         r"this (?:article|topic|section|page|example|sample|code|chapter|guide|post|tutorial)|these examples?|below|above|here's|here is|here are)\b", re.I)
_MESSY = re.compile(r"^\d+ [A-Z]|[{}<>|\\]|::|\[\d*\]|\bTODO\b|^\W*$|\(\)\s*$")
_ATTRIBUTION = re.compile(r"\s*[—–-]{1,2}\s*([A-ZÀ-Þ][\w’'.-]*(?:\s[\w’'.-]+){0,3})(?:,[^—]*)?$")
_POLICY = frozenset("enable disable allow forbid require never always avoid don't keep deny do".split())
_FILLER = frozenset("wow thanks thank hey hi hello yeah yes no ok okay sure cool great nice bye haha lol totally absolutely definitely awesome "
                    "congrats sounds glad same really oh aw aww welcome hope love that's thats woohoo yay sorry good".split())
_HE_SHE = frozenset(("he", "she"))


@dataclass(slots=True)
class _Found:
    score: float
    prose: Prose
    sentence: str
    draft: Draft


@dataclass(frozen=True, slots=True)
class _Around:
    """What a sentence is read against: who speaks, who is quoted, the person last named, whether one came before."""

    speaker: str = ""
    quoted_by: str = ""
    person: str = ""
    led_in: bool = False
    memo: bool = False
    tiny: bool = False
    elided: str = ""


def sentence_claims(seen: Survey, names: dict[str, str]) -> list[Draft]:
    """The note's sentence claims in document order. `names` maps lower-case known names to their titles."""
    total = seen.sentence_count
    memo, tiny = total <= FEW, total <= TINY and len(seen.note.blocks) <= TINY + 4
    turns = 0
    clip = 2 * sum(p.block.quoted for p in seen.prose) >= len(seen.prose)
    found: list[_Found] = []
    said: set[str] = set()
    for prose in seen.prose:
        quoted_by = _quoted_by(seen, prose, clip) if prose.block.quoted else ""
        if prose.block.quoted and not quoted_by:
            continue
        turns += bool(prose.block.speaker)
        person, led_in = "", False
        for sentence in prose.sentences:
            around = _Around(prose.block.speaker, quoted_by, person, led_in, memo, tiny)
            result = _claim(seen, prose, sentence, names, around)
            if result and result.draft.title.lower() not in said:
                said.add(result.draft.title.lower())
                found.append(result)
            if (m := _PERSON_SUBJECT.match(sentence)) and m[0].lower() not in FUNCTION_WORDS:
                person = m[0]
            led_in = led_in or _leads(sentence, seen)
    cap = max(MOST, turns // 2) if turns else FEW if memo else MOST
    best = sorted(range(len(found)), key=lambda i: (-found[i].score, i))[:cap]
    return [replace(f.draft, spans=(seen.span(f.prose.block, f.sentence),)) for f in (found[i] for i in sorted(best))]


def _claim(seen: Survey, prose: Prose, sentence: str, names: dict[str, str], around: _Around) -> _Found | None:
    length = len(sentence)
    cjk = not sentence.isascii() and bool(_CJK.search(sentence))
    if length > LONGEST or length < (8 if cjk else 14 if around.memo or around.speaker else SHORTEST):
        return None
    words = words_of(sentence)
    if not words:
        return None
    if not cjk:
        if words[0] in _NEVER_FIRST or (sentence[0].islower() and not around.speaker and words[0] not in names):
            return None
        if sentence[-1] not in ".!\"'”)" and not around.speaker and not _unpunctuated(prose, sentence):
            return None
    if _NAVIGATION.search(sentence) or _MESSY.search(sentence) or sentence.count("(") != sentence.count(")"):
        return None
    act = speech_act(sentence, words)
    tags: tuple[str, ...] = ()
    if act is SpeechAct.FRAGMENT and around.speaker and _elided(words):
        act = SpeechAct.ASSERTION
    if act is SpeechAct.INSTRUCTION and (around.quoted_by or around.tiny and words[0] in _POLICY):
        tags = ("instruction",)
    elif act is not SpeechAct.ASSERTION:
        return None
    return _chat_claim(sentence, prose, words, around) if around.speaker else _note_claim(seen, prose, sentence, words, names, around, tags)


def _note_claim(seen: Survey, prose: Prose, sentence: str, words: list[str], names: dict[str, str], around: _Around, tags: tuple[str, ...]) -> _Found | None:
    title, first = sentence.strip("\"“”"), words[0].partition("'")[0].partition("’")[0]
    score = 0.0
    if around.quoted_by and title.count('"') % 2:
        title = sentence
    if first in _HE_SHE:
        who = around.person or (seen.title if seen.kind == "person" else "")
        if not who:
            return None
        title, score = _resolved(sentence, who), -0.25
    elif first in _IT:
        if not around.led_in and not _first_line(prose):
            return None
        title, score = _resolved(sentence, seen.title), -0.5
    elif first in DANGLING:
        if first not in ("this", "these") or len(words) < 2 or words[1] in FUNCTION_WORDS or words[1].endswith(("s", "ed")) and first == "this":
            return None
        score = -0.75
    elif first in CONNECTIVES or first in _FOR_INSTANCE:
        score = -1.5
    elif len(words) > 2 and first.endswith("s") and words[1] in _OBJECT_FIRST and is_finite(first, "it"):
        if prose.place > 2 or len(prose.block.headings) > 1:
            return None
        title = f"{seen.title} {sentence[0].lower()}{sentence[1:]}"  # "Returns the …": the note's subject does
    attributed = around.quoted_by
    if around.quoted_by:
        tags, score = (*tags, "quoted"), score - 0.5
    elif said := reported(sentence):
        who = said[0]
        attributed = (around.person or seen.title if seen.kind == "person" else around.person) if who.lower() in ("he", "she", "they") else who
        if attributed:
            tags, score = (*tags, "reported"), score + 0.5
    me = ""
    if first in _FIRST_PERSON or not _FIRST_PERSON.isdisjoint(words):
        score -= 0.5 if around.memo else 1.5
        if first in _FIRST_PERSON:
            me = _author(seen)
            attributed = attributed or me
    if "you" in words or "your" in words or "let's" in words:
        score -= 1.25
    changed = correction(sentence, words)
    denied = negated(sentence, words)
    found = values(sentence)
    kinds: set[str] = set()
    for value in found:
        if value.kind not in kinds:
            kinds.add(value.kind)
            score += _WEIGHT[value.kind]
    score += 3.0 * bool(changed) + denied
    decided = decision(sentence, words) if not denied else None
    if decided:
        score += 2.0
    if prose.label in ("decided", "decision"):
        score += 3.0
        decided = decided or re.match("", sentence)
    subject, begins = _subject(seen, sentence, names)
    if begins:
        score += 1.0
        if _DEFINES.match(sentence):
            score += 2.0
    if prose.place < 2:
        score += 0.75
    if prose.block.code_terms or _NAMED.search(sentence):
        score += 0.5
    if len(sentence) > 200:
        score -= 0.5
    key = key_of(title, me or seen.title) if not tags or tags == ("reported",) and not attributed else None
    if key:
        score += 1.5
    if score < (-0.5 if around.tiny or "instruction" in tags or around.quoted_by else MEMO_THRESHOLD if around.memo else THRESHOLD):
        return None
    if changed:
        tags = (*tags, "correction")
    if decided:
        tags = (*tags, "decision")
    valid, valid_text = valid_in(sentence)
    confidence = 0.35 if attributed and attributed != me else min(0.7, 0.45 + score / 25)
    return _Found(score, prose, sentence, Draft(
        MemoryType.CLAIM, title, (), tags=tags, subject=key[0] if key else me or subject, attribute=key[1] if key else "", value=key[2] if key else "",
        attributed_to=attributed, negated=denied, confidence=round(confidence, 2), valid=valid, valid_text=valid_text))


def _chat_claim(sentence: str, prose: Prose, words: list[str], around: _Around) -> _Found | None:
    first = words[0]
    mine = first in _FIRST_PERSON or _elided(words)
    if len(words) < 4 or first in _FILLER or first in DANGLING - {"his", "her", "their", "its"} and first not in ("he", "she"):
        return None
    content = sum(1 for w in words if w not in FUNCTION_WORDS and w not in _FILLER)
    if content < 2:
        return None
    score = min(content, 10) / 5 + (1.0 if mine else 0.5 if not _FIRST_PERSON.isdisjoint(words) else 0.0) + negated(sentence, words)
    score += 2.0 * bool(changed := correction(sentence, words)) + 2.0 * bool(decided := decision(sentence, words))
    score += sum({v.kind: _WEIGHT[v.kind] for v in values(sentence)}.values())
    score += 0.75 * bool(_NAMED.search(sentence)) - 1.0 * ("you" in words or "you're" in words or "your" in words)
    if score < 1.2:
        return None
    key = key_of(sentence, around.speaker)
    valid, valid_text = valid_in(sentence)
    tags = ("correction",) * bool(changed) + ("decision",) * bool(decided)
    return _Found(score, prose, sentence, Draft(
        MemoryType.CLAIM, f"{around.speaker}: {sentence}", (), tags=tags, subject=around.speaker if mine else key[0] if key else "",
        attribute=key[1] if key else "", value=key[2] if key else "", attributed_to=around.speaker, negated=negated(sentence, words),
        confidence=round(min(0.65, 0.4 + score / 25), 2), valid=valid, valid_text=valid_text))


_IT = frozenset(("it",))
_OBJECT_FIRST = frozenset("the a an this these all any each every one several many some whether that to if how its".split())
_FOR_INSTANCE = frozenset(("for",))
_NEVER_FIRST = frozenset("you your you're you'll you've here here's what how why which who when where let's let thanks note if".split()) - {"when"}
_PERSON_SUBJECT = re.compile(r"^[A-ZÀ-Þ][\w’'-]*[a-zà-ÿ](?:\s[A-ZÀ-Þ][\w’'-]+)*(?=\s[a-z])")
_BE_OR_HAVE = frozenset("is was are were has had can does did runs uses makes".split())


def _unpunctuated(prose: Prose, sentence: str) -> bool:
    """A list item without its full stop still asserts; a cut-off line of a paragraph doesn't."""
    if prose.block.kind != "item" or len(prose.sentences) != 1 or sentence.endswith((":", ",")):
        return False
    return not any(2 * len(w.text) > len(sentence) for w in prose.block.web)


def _elided(words: list[str]) -> bool:
    """Whether the "I" of spoken language is left out: "Lost my job", "Just got back", "Been busy"."""
    word = words[1] if words[0] in ("just", "also", "finally", "recently", "yesterday") and len(words) > 1 else words[0]
    return word in PAST_VERBS and word not in ("put", "set", "hit", "read", "cost", "cut", "let") or word == "been" or word.endswith("ed") and len(word) > 4 and word not in ("need", "speed")


def _resolved(sentence: str, who: str) -> str:
    """The sentence with its opening pronoun replaced by the name it stands for."""
    pronoun, rest = re.split(r"(?=[\s’'])", sentence, maxsplit=1)
    if rest[:2] in ("'s", "’s"):
        rest = " is" + rest[2:]
    return who + rest


def _first_line(prose: Prose) -> bool:
    return prose.place == 0 and len(prose.sentences) > 0


def _leads(sentence: str, seen: Survey) -> bool:
    """Whether the sentence is about the note's subject, so that "it" in the next one can stand for it."""
    return _starts_with(sentence.lower(), seen.names)


def _starts_with(lower: str, names: Iterable[str]) -> str:
    for opener in ("", "the ", "a ", "an ", "our "):
        if opener and not lower.startswith(opener):
            continue
        rest = lower[len(opener):]
        for name in names:
            if rest.startswith(name) and not rest[len(name) : len(name) + 1].isalnum():
                return name
    return ""


def _subject(seen: Survey, sentence: str, names: dict[str, str]) -> tuple[str, bool]:
    """The known name the sentence begins with, or the note's subject; and whether it begins with the latter."""
    lower = sentence.lower()
    if name := _starts_with(lower, seen.names):
        return seen.names[name], True
    if name := _starts_with(lower, names):
        return names[name], False
    return seen.title, False


def _author(seen: Survey) -> str:
    for prop in seen.note.properties:
        if prop.key.lower() in ("author", "authors") and len(prop.items) == 1:
            return plain_name(prop.items[0])
    return ""


_SOURCE_KEYS = ("source", "url", "link", "book_author", "from", "origin")


def _quoted_by(seen: Survey, prose: Prose, clip: bool) -> str:
    """Who or what page a block quote quotes: the name after its dash, else where the note says it comes from, else, in
    a note that is mostly quotes, the note itself; "" where nobody can be named."""
    if (m := _ATTRIBUTION.search(prose.block.text)) and m.start() > 10:
        return m[1]
    for key in _SOURCE_KEYS:
        for prop in seen.note.properties:
            if prop.key.lower() == key and prop.items:
                return plain_name(prop.items[0])
    return seen.title if clip and len(seen.prose) > 1 else ""
