"""Concepts: what a note is about, what it links to, its tags, the terms it defines, the things its sections are named for.

Owns what makes a term a concept worth keeping. Never turns a sentence, an instruction or a code signature into one.
"""

from __future__ import annotations

import re
from collections import Counter

from smb.ingest.extract import Draft, DraftLink
from smb.ingest.extract_keyed import is_definition
from smb.ingest.lexicon import (
    AUXILIARIES,
    BASE_VERBS,
    DETERMINERS,
    FUNCTION_WORDS,
    GENERIC_HEADINGS,
    GENERIC_STEMS,
    LABELS,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    TERM_HEADERS,
    WORKFLOW_TAGS,
)
from smb.ingest.note import Block
from smb.ingest.speech_act import SpeechAct, speech_act, words_of
from smb.ingest.survey import Survey
from smb.model.evidence import Span
from smb.model.identity import fold
from smb.model.objects import MemoryType

MOST_TERMS = 12
MOST_TAGS = 5
MOST_HEADINGS = 2
MOST_EMPHASISED = 2
BODY = 300
_ARTICLE = re.compile(r"^(?:an?|the)\s", re.I)
_DEFINED = re.compile(
    r"^(?:an?\s|the\s)?(?P<t>.{2,40}?)\s(?:is|are|means|refers to|stands for|denotes)\s(?:an?|the|any|when|one|all)"
    r"\s(?P<d>.{8,})",
    re.I,
)
_DEFINED_CJK = re.compile(r"^(?P<t>[^、,，。は是]{2,20})(?:とは|は|是(?:指|一种|一種|一个|一個)?)")
_CODE = re.compile(r"[(){}<>=\[\]:;$\\/|&*#@]|\.\w|_|--|\d\.\d")
_STEP = re.compile(r"^\s*(?:step|part|chapter|lesson|day|week|phase|no)\b|^[\d.]+\s", re.I)


def primary(seen: Survey, links: tuple[DraftLink, ...]) -> Draft:
    """The draft of what the note is about: its title, other names, and the first sentence that says what it is."""
    aliases = list(seen.note.aliases)
    if seen.headings and seen.headings[0].level == 1 and 1 < len(seen.headings[0].text) <= 80:
        aliases.append(seen.headings[0].text)
    stem = seen.note.path.rpartition("/")[2].rpartition(".")[0]
    if fold(stem) not in GENERIC_STEMS and len(stem) <= 100:
        aliases.append(stem)
    taken = {fold(seen.title)}
    other = tuple(a for a in (" ".join(a.split()) for a in aliases) if a and not (fold(a) in taken or taken.add(fold(a))))
    body, spans = _first_sentence(seen)
    title_span = _title_span(seen)
    spans = tuple(dict.fromkeys((*((title_span,) if title_span else ()), *spans)))
    if not spans and seen.note.blocks:
        spans = (seen.quoter.block(seen.note.blocks[0]),)
    type_ = MemoryType.ENTITY if seen.kind else MemoryType.CONCEPT
    tags = tuple(dict.fromkeys((*((seen.kind,) if seen.kind else ()), *seen.note.tags[:20])))
    return Draft(type_, seen.title, spans, body=body, aliases=other, tags=tags, confidence=0.8, links=links)


def _title_span(seen: Survey) -> Span | None:
    if seen.note.title_from == "property":
        prop = next((p for p in seen.note.properties if p.key.lower() == "title"), None)
        if prop:
            return seen.quoter.block(prop)
    heading = next((h for h in seen.headings), None)
    if heading and seen.note.title_from == "heading":
        return seen.quoter.block(heading)
    block = next((b for b in seen.note.blocks if b.kind == "title"), None)
    return seen.quoter.block(block) if block else None


def _first_sentence(seen: Survey) -> tuple[str, tuple[Span, ...]]:
    """The first sentence that defines the title, else the first assertion, else the first prose, of the early blocks."""
    best: tuple[int, str, Block] | None = None
    for prose in seen.prose[:4]:
        if prose.block.quoted or prose.block.callout or prose.block.speaker or prose.block.kind == "item" and best:
            continue
        for sentence in prose.sentences[:2]:
            if not 12 <= len(sentence) <= BODY or sentence.endswith((":", "：")):
                continue
            act = speech_act(sentence)
            lower = _ARTICLE.sub("", sentence.lower())
            rank = (
                3
                if act is SpeechAct.ASSERTION and any(lower.startswith(n) for n in seen.names)
                else 2
                if act is SpeechAct.ASSERTION
                else 1
            )
            if best is None or rank > best[0]:
                best = (rank, sentence, prose.block)
        if best and (best[0] == 3 or best[0] == 2 and prose.place):
            break
    return (best[1], (seen.span(best[2], best[1]),)) if best else ("", ())


def concepts(seen: Survey) -> list[Draft]:
    """Every concept besides the primary, surest first, each name once."""
    drafts: dict[str, Draft] = {fold(seen.title): None}  # type: ignore[dict-item]
    for draft in (*_glossary_rows(seen), *_terms(seen), *_linked(seen), *_tags(seen), *_headings(seen), *_emphasised(seen)):
        key = fold(draft.title)
        if key and key not in seen.names:
            drafts.setdefault(key, draft)
    return [d for d in drafts.values() if d is not None]


def _concept(title: str, span: Span, confidence: float, body: str = "") -> Draft:
    return Draft(MemoryType.CONCEPT, title, (span,), body=body[:BODY], confidence=confidence)


def _terms(seen: Survey) -> list[Draft]:
    """`**Term**: definition`, and sentences that begin with an emphasised term and define it."""
    drafts = []
    for line in seen.keyed:
        if is_definition(line.value) and is_thing(line.key):
            drafts.append(_concept(line.key, seen.quoter.block(line.block), 0.6, line.value))
    for prose in seen.prose:
        if prose.block.terms and prose.sentences and not prose.block.quoted:
            term = prose.block.terms[0].strip(" :")
            first = prose.sentences[0]
            if term in first[: len(term) + 4] and is_thing(term) and term not in seen.code:
                m = _DEFINED.match(first) or (_DEFINED_CJK.match(first) if not first.isascii() else None)
                if m and fold(m["t"]) == fold(term):
                    drafts.append(_concept(term, seen.span(prose.block, first), 0.6, first))
    return drafts[:MOST_TERMS]


def _glossary_rows(seen: Survey) -> list[Draft]:
    drafts = []
    for rows in seen.rows:
        if rows and rows[0].cells and len(rows) <= 40 and rows[0].cells[0][0].strip().lower() in TERM_HEADERS:
            for row in rows[:MOST_TERMS]:
                cells = [c.strip() for _, c in row.cells]
                if len(cells) > 1 and is_thing(cells[0]) and cells[1]:
                    drafts.append(_concept(cells[0], seen.quoter.block(row), 0.6, cells[1]))
    return drafts


def _linked(seen: Survey) -> list[Draft]:
    """Targets of wiki links; the resolver finds the note or the object that bears the name."""
    drafts = []
    for block in seen.note.blocks:
        for link in block.links:
            name = link.target.rpartition("/")[2].removesuffix(".md").strip()
            if name and "." not in name[-5:]:
                drafts.append(_concept(name, seen.quoter.block(block), 0.3))
    for prop in seen.note.properties:
        for item in prop.items:
            if item.strip(" \"'").startswith("[["):
                name = item.strip(" \"'").strip("[]").partition("|")[0].partition("#")[0].rpartition("/")[2].strip()
                if name:
                    drafts.append(_concept(name, seen.quoter.block(prop), 0.3))
    return drafts


def _tags(seen: Survey) -> list[Draft]:
    drafts = []
    prop = next((p for p in seen.note.properties if p.key.lower() in ("tags", "tag", "keywords")), None)
    for tag in seen.note.tags:
        leaf = tag.rpartition("/")[2]
        if leaf.lower() in FUNCTION_WORDS or leaf.lower() in WORKFLOW_TAGS or not any(c.isalpha() for c in tag) or len(tag) > 40:
            continue
        if prop and any(fold(tag) == fold(item.lstrip("#")) for item in prop.items):
            drafts.append(_concept(tag, seen.quoter.block(prop), 0.4))
        elif leaf.lower() not in BASE_VERBS and (block := next((b for b in seen.note.blocks if tag in b.tags), None)):
            drafts.append(_concept(tag, seen.quoter.block(block), 0.4))
    return drafts[:MOST_TAGS]


def _headings(seen: Survey) -> list[Draft]:
    """Headings that name a thing the text under them speaks of."""
    drafts = []
    lower = seen.text.lower() if len(seen.headings) > 1 else ""
    for heading in seen.headings:
        if (
            2 <= heading.level <= 3
            and heading.text not in seen.code
            and is_thing(heading.text)
            and _names_something(heading.text)
        ):
            if lower.count(heading.text.lower()) >= 3:
                drafts.append(_concept(heading.text, seen.quoter.block(heading), 0.35))
    return drafts[:MOST_HEADINGS]


def _emphasised(seen: Survey) -> list[Draft]:
    """Terms emphasised in more than one block, written as words rather than as labels of an interface."""
    places: Counter[str] = Counter()
    first: dict[str, Block] = {}
    for prose in seen.prose:
        for term in dict.fromkeys(prose.block.terms):
            if term[:1].islower() and term not in seen.code:
                places[term] += 1
                first.setdefault(term, prose.block)
    good = [t for t, n in places.most_common(8) if n >= 2 and " " in t and is_thing(t)]
    return [_concept(t, seen.quoter.sentence(first[t], t), 0.35) for t in good[:MOST_EMPHASISED]]


def is_thing(text: str) -> bool:
    """Whether `text` reads as the name of a thing: one to five words, no sentence, no instruction, no code."""
    text = text.strip()
    if not 2 <= len(text) <= 48 or _CODE.search(text) or _STEP.match(text) or text[-1] in ".?!,:;…":
        return False
    if not text.isascii() and any("\u3040" <= c <= "\u9fff" for c in text):
        return len(text) <= 16 and fold(text) not in GENERIC_HEADINGS and not _CJK_CLAUSE.search(text)
    words = words_of(text)
    if not words or len(words) > 5 or fold(text) in GENERIC_HEADINGS | LABELS or not any(c.isalpha() for c in text):
        return False
    first = words[0]
    if (
        first in PRONOUNS
        or first in QUESTION_WORDS
        or first in AUXILIARIES
        or first in PREPOSITIONS
        or first in ("and", "or", "but", "more", "other", "no", "not")
    ):
        return False
    if words[-1] in FUNCTION_WORDS or any(w in AUXILIARIES or w in PRONOUNS for w in words[1:]):
        return False
    if first.endswith("ing") and len(words) > 1 or first in BASE_VERBS and len(words) > 2:
        return False
    return any(len(w) > 2 and w not in FUNCTION_WORDS for w in words)


_CJK_CLAUSE = re.compile(r"[、,，。！？]|方法|步骤|如何|怎么|です|ます|する$|した$|[的了]$")


def _names_something(text: str) -> bool:
    words = words_of(text)
    return (
        len(words) >= 2
        and words[0] not in DETERMINERS
        and words[0] not in GENERIC_HEADINGS
        and not all(w in GENERIC_HEADINGS or w in FUNCTION_WORDS for w in words)
    )
