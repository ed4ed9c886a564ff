"""Claims that are sentences: which ones a note asserts, what each is about, and the best of them.

Owns the choice, by a stated score:

    +3 says that something changed   +2 records a decision   +2 a date   +2 an amount   +1.5 a version   +1 a URL
    +1 another number   +1 denies something   +2 defines the note's subject   +1 begins with it   +1.5 has a key
    +0.5 names something (a capitalised name or code)   +0.5 at its beginning   +0.75 stands in the first paragraph
    +0.5 reported speech   -1 to -3.5 points by a bare "this" or "that file", or only says that something is nice
    -2 leans on the sentence before   -0.5 longer than 200 characters   -0.5 quoted   -1.25 speaks to the reader
    first person, by its subject alone: -3 what "I" did   -1.5 what "we" did   -1 what holds of them   -0.75 "I" in an aside
    (a memo or what its author signs: -2, -0.5, -0.25, -0.25)   -1 "here", -3 where that may be a link

A sentence needs `THRESHOLD`, in a note of few sentences less, and the best `MOST` stay, in their order.
A title is the sentence, with an opening pronoun replaced by the name it stands for, and with the note's subject before
it where it would mean another thing in another note ("The default is 5.", "This rule was added in 2022.").
What stands under a heading "Decision" is one. A note of an occasion (a day, a meeting) is nobody's subject.
Never keeps a question, an instruction, a hypothesis or a fragment.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from smb.ingest.antecedent import Around, standing_alone
from smb.ingest.extract import Draft
from smb.ingest.extract_keyed import plain_name
from smb.ingest.extract_turns import WEIGHT, left_out_i, turn_claim
from smb.ingest.first_person import Telling, changes_course, cost, telling, tried_only
from smb.ingest.keyed_sentence import key_of
from smb.ingest.lexicon import FIRST_PERSON, FUNCTION_WORDS, SPEECH
from smb.ingest.pointing import NAMED, is_local, leans, navigates, opens_with_a_name, points
from smb.ingest.signals import SignalKind, correction, decision, negated, valid_in
from smb.ingest.speech_act import POSED_CJK, SpeechAct, reported, speech_act, words_of
from smb.ingest.survey import READ_AGAIN, NameStarts, Prose, Survey
from smb.model.objects import MemoryType

MOST = 6
MOST_SAID = 12  # of a chat; or half as many as it has turns
FILL = 3  # a note with fewer claims takes its next best that score at least MEMO_THRESHOLD
THRESHOLD = 1.5
MEMO_THRESHOLD = 0.75
TINY = 4  # sentences: every assertion counts
FEW = 8  # sentences: a note with no more is a memo, every assertion of it counts
CLOSELY = 16  # sentences; further down only those with a figure or a word of change or decision are looked at
SHORTEST, LONGEST = 25, 300
_CJK = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
_STANDS_OUT = re.compile(r"\d|longer|moved|decided|agreed|instead|changed|replaced|switched|must|never|[。]")

_DEFINES = re.compile(
    r"^(?:The |An? |This )?(.{2,60}?)\s"
    r"(?:is|are|was|were|means|refers to|represents|specifies|describes|provides|defines)\s(?:an?|the|one|used)?\s?",
    re.I,
)
_CJK_STEP = re.compile(
    r"^(?:首先|然后|接着|最后|因此|所以|但是|而且|于是|那么|接下来|此时|这时|例如|比如|"
    r"まず|次に|そして|しかし|ただし|また)|我们|你|因为|这[是样里种]|本题|(?:示例|输入|输出|解释|说明)\s?\d*\s?[:：]|\$"
)
_MESSY = re.compile(r"[{}<>|\\·](?<!->)|[\[](?=\d*\])")
_NUMBERED = re.compile(r"\d+ [A-Z]|\W*\Z")
_YEAR = re.compile(r"\d{4}")
_LONG_WORD = re.compile(r"[\w.:%]{46}")
_ATTRIBUTION = re.compile(r"\s*[—–-]{1,2}\s*([A-ZÀ-Þ][\w’'.-]*(?:\s[\w’'.-]+){0,3})(?:,[^—]*)?$")
_ADDRESS = re.compile(r"[A-Z]\w{2,20}: ")
_POLICY = frozenset("enable disable allow forbid require never always avoid don't keep deny do".split())


@dataclass(slots=True)
class _Found:
    score: float
    prose: Prose
    sentence: str
    draft: Draft
    sure: bool = True


def sentence_claims(seen: Survey, names: NameStarts) -> list[Draft]:
    """The note's sentence claims in document order. `names` are the other names the note knows."""
    own = NameStarts({n: seen.title for n in seen.names})
    total = seen.sentence_count
    memo = total <= FEW
    tiny = total <= TINY and not seen.code and all(b.kind != "code" for b in seen.note.blocks)
    turns = 0
    clip = 2 * sum(p.block.quoted for p in seen.prose) >= len(seen.prose)
    found: list[_Found] = []
    said: set[tuple[str, ...]] = set()
    read = 0
    for prose in seen.prose:
        quoted_by = _quoted_by(seen, prose, clip) if prose.block.quoted else ""
        if prose.block.quoted and not quoted_by:
            continue
        turns += bool(prose.block.speaker)
        if read > CLOSELY and not turns and not _STANDS_OUT.search(prose.block.text):
            read += len(prose.sentences)
            continue
        around = Around(prose.block.speaker, quoted_by, memo, tiny, prose)
        for at, sentence in enumerate(prose.sentences):
            read += 1
            if read > CLOSELY and not turns and len(prose.sentences) > 1 and not _STANDS_OUT.search(sentence):
                continue
            around.at = at
            result = _claim(seen, prose, sentence, own, names, around)
            if result and (once := (result.draft.title.lower(), *filter(_YEAR.search, prose.block.headings))) not in said:
                said.add(once)  # under two dated headings it is said of two times
                result.sentence = sentence  # as it is written, with the colon that leads on
                found.append(result)
    cap = max(MOST_SAID, turns // 2) if turns else FEW if memo else MOST
    best = sorted(range(len(found)), key=lambda i: (-found[i].score, i))[:cap]
    best = [i for n, i in enumerate(best) if found[i].sure or n < FILL]
    return [replace(f.draft, spans=(seen.span(f.prose.block, f.sentence),)) for f in (found[i] for i in sorted(best))]


def _claim(seen: Survey, prose: Prose, sentence: str, own: NameStarts, names: NameStarts, around: Around) -> _Found | None:
    length = len(sentence)
    cjk = not sentence.isascii() and bool(_CJK.search(sentence))
    if length > LONGEST or length < (8 if cjk else 14 if around.memo or around.speaker else SHORTEST):
        return None
    begin, end = sentence[0], sentence[-1]
    if begin in _NO_BEGINNING or "? " in sentence or begin == "." and not sentence[1:2].isupper():
        return None
    if end == ":" and _leads_in_a_figure(seen, prose, sentence):
        sentence = f"{sentence[:-1]}."
    elif end not in _STOPS and not around.speaker and not _unpunctuated(prose, sentence):
        return None
    words = words_of(sentence)
    if not words:
        return None
    if cjk:
        if _CJK_STEP.search(sentence):
            return None
    elif words[0] in _NEVER_FIRST or begin.islower() and not around.speaker and not names.title(sentence.lower()):
        return None
    if navigates(sentence, words, prose.block) or _messy(sentence) or sentence.count("(") != sentence.count(")"):
        return None
    act = speech_act(sentence, words)
    if prose.place < READ_AGAIN:
        seen.acts[sentence] = words, act
    if act is SpeechAct.FRAGMENT and around.quoted_by and (m := _ADDRESS.match(sentence)):  # "Assistant: from now on …"
        act = speech_act(sentence[m.end() :])
    tags: tuple[str, ...] = ()
    if act is SpeechAct.FRAGMENT and around.speaker and left_out_i(words):
        act = SpeechAct.ASSERTION
    if act is SpeechAct.FRAGMENT and around.tiny and not cjk and prose.block.kind == "paragraph" and end in ".!" and _many_do(words):
        act = SpeechAct.ASSERTION
    if act is SpeechAct.INSTRUCTION and (around.quoted_by or around.tiny and words[0] in _POLICY):
        tags = ("instruction",)
    elif act is not SpeechAct.ASSERTION:
        return None
    if around.speaker:
        said = turn_claim(seen, sentence, words, own, around.speaker)
        return _Found(said[0], prose, sentence, said[1]) if said else None
    return _note_claim(seen, prose, sentence, words, own, names, around, tags)


def _many_do(words: list[str]) -> bool:
    """Whether many do something, by a verb no list knows: "Tomatoes tolerate frost"."""
    return len(words) > 2 and words[0].endswith("s") and not words[0].endswith(("ss", "us", "is")) and len(words[1]) > 3 and not words[1].endswith(
        ("s", "ed", "ing", "ly")) and words[1] not in FUNCTION_WORDS and words[2] not in FUNCTION_WORDS - {"a", "an", "the", "no", "their", "its"}


def _messy(sentence: str) -> bool:
    """Whether it is code, a caption or a list of marks rather than prose."""
    if "; or " in sentence or "; otherwise" in sentence:  # "the item; or 0 if there is none"
        return True
    return bool(_MESSY.search(sentence) or "::" in sentence or "TODO" in sentence or _NUMBERED.match(sentence))


def _note_claim(
    seen: Survey,
    prose: Prose,
    sentence: str,
    words: list[str],
    own: NameStarts,
    names: NameStarts,
    around: Around,
    tags: tuple[str, ...],
) -> _Found | None:
    if leans(sentence, words):
        return None
    bare = sentence.strip('"“”')
    if bare.count('"') % 2:
        if not around.quoted_by:
            return None
        bare = sentence
    first = words[0].partition("'")[0]
    stands = standing_alone(seen, bare, words, first, around, own)
    if stands is None:
        return None
    title, score = stands
    attributed = around.quoted_by
    if around.quoted_by:
        tags, score = (*tags, "quoted"), score - 0.5
    elif (not SPEECH.isdisjoint(words) or first == "according") and (said := reported(sentence)):
        who = said[0]
        attributed = (
            (around.person or seen.title if seen.kind == "person" else around.person)
            if who.lower() in ("he", "she", "they")
            else who
        )
        if attributed:
            tags, score = (*tags, "reported"), score + 0.5
    me = ""
    tells, teller = telling(sentence, words)
    if first in FIRST_PERSON:
        me = _author(seen)
        attributed = attributed or me
    story = tells is Telling.STORY and not around.tiny
    own_record = seen.is_personal or around.memo and tells is not Telling.ASIDE
    score -= 0.5 if around.tiny and teller else cost(tells, teller, own_record)
    score -= points(sentence, words)
    if "here" in words:
        score -= 3.0 if prose.block.web or prose.block.links else 1.0
    if "you" in words or "your" in words or "let's" in words:
        score -= 1.25
    changed = correction(sentence, words)
    denied = negated(sentence, words)
    found = seen.values(sentence)
    kinds: set[str] = set()
    for value in found:
        if value.kind not in kinds and (not story or value.kind in _TELLING_VALUES):
            kinds.add(value.kind)
            score += WEIGHT[value.kind]
    if changed and changed[0].lower() == "instead of":  # as often a comparison as a change
        changed, score = None, score + 1.0
    if changed and story and changed[0].lower().startswith(("moved", "switched", "changed")) and not changes_course(sentence):
        changed = None
    score += 3.0 if changed else 1.0 if denied and not (story or tells is Telling.ASIDE) else 0.0
    decided = bool(decision(sentence, words)) if not denied else False
    if decided and teller == "i" and not around.tiny and tried_only(sentence):
        decided = False
    if decided:
        score += 2.0
    if prose.label in ("decided", "decision") or _section(prose) in _DECISION_HEADINGS:
        score += 3.0
        decided = True
    lower = sentence.lower()
    subject = own.subject(lower)
    if subject:
        score += 1.0
        if _DEFINES.match(sentence):
            score += 2.0
    else:
        subject = names.subject(lower) or ("" if seen.is_occasion else seen.title)
    if prose.place < 2:
        score += 0.75
    if prose.block.code_terms or NAMED.search(sentence):
        score += 0.5
        if tells is Telling.NOT and opens_with_a_name(sentence, prose.block):
            score += 0.5
    if len(sentence) > 200:
        score -= 0.5
    key = None
    if (score + 1.5 >= MEMO_THRESHOLD or around.tiny) and (not tags or tags == ("reported",) and not attributed):
        holder = me or (around.named(names) if seen.is_occasion else seen.title)
        key = key_of(title if first in ("he", "she", "it") else sentence, holder, own)
    if key and key[0]:
        score += 1.5
    if score < (-0.5 if around.tiny or "instruction" in tags or around.quoted_by else MEMO_THRESHOLD):
        return None
    if _LONG_WORD.search(sentence):
        return None
    if prose.term:
        title = f"{seen.title}, {prose.term}: {title}"
    elif title == bare and seen.title.lower() not in lower and (
        is_local(first, words, sentence, prose.block) or not sentence.isascii() and POSED_CJK.match(sentence)
    ):
        title = f"{seen.title}: {title}"
    sure = around.memo or score >= THRESHOLD
    if changed:
        tags = (*tags, "correction")
    if decided:
        tags = (*tags, "decision")
    valid, valid_text = valid_in(sentence)
    confidence = 0.35 if attributed and attributed != me else min(0.7, 0.45 + score / 25)
    return _Found(
        score,
        prose,
        sentence,
        Draft(
            MemoryType.CLAIM,
            title,
            (),
            tags=tags,
            subject=key[0] if key and key[0] else me or subject,
            attribute=key[1] if key and key[0] else "",
            value=key[2] if key and key[0] else "",
            attributed_to=attributed,
            negated=denied,
            confidence=round(confidence, 2),
            valid=valid,
            valid_text=valid_text,
        ),
        sure,
    )


def _leads_in_a_figure(seen: Survey, prose: Prose, sentence: str) -> bool:
    """Whether a sentence that leads in code or a picture says something by itself: it holds a figure."""
    return prose.block.byte_start in seen.leads and sentence == prose.sentences[-1] and bool(seen.values(sentence))


def _section(prose: Prose) -> str:
    return prose.block.headings[-1].strip(" :.").lower() if prose.block.headings else ""


_DECISION_HEADINGS = frozenset("decision decided resolution decisions resolutions resolved".split())
_TELLING_VALUES = (SignalKind.DATE, SignalKind.AMOUNT)  # what makes a story one worth keeping
_NO_BEGINNING = frozenset("([-–—·|=+*/,;:%#")
_STOPS = frozenset(".!\"'”’)。！」）")
_NEVER_FIRST = frozenset(
    "you your you're you'll you've here here's not otherwise what how why which who when where let's let thanks note if".split()
) - {"when"}


def _unpunctuated(prose: Prose, sentence: str) -> bool:
    """A list item without its full stop still asserts; a cut-off line of a paragraph doesn't."""
    if prose.block.kind != "item" or len(prose.sentences) != 1 or sentence.endswith((":", ",")):
        return False
    return not any(2 * len(w.text) > len(sentence) for w in prose.block.web)


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
