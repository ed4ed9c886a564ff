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
    CONNECTIVES,
    DETERMINERS,
    FUNCTION_WORDS,
    GENERIC_HEADINGS,
    GENERIC_STEMS,
    LABELS,
    NOTE_KIND_TAGS,
    PREPOSITIONS,
    PRONOUNS,
    QUESTION_WORDS,
    TERM_HEADERS,
    WORKFLOW_TAGS,
)
from smb.ingest.note import Block
from smb.ingest.pointing import leans, navigates
from smb.ingest.speech_act import CJK, SpeechAct, is_finite, words_of
from smb.ingest.survey import READ_AGAIN, Prose, Survey
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
_IDENTIFIER = re.compile(r"-?[a-z_][a-z0-9_]*(?:::\w+)*(?:\(.*\))?\Z|.*[=\"$]")
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
    """The sentence of the early blocks that best says what the title is: a definition of it, else what stands right under
    the title as one ("A loom worked by pedals.", "Returns the width."), else an assertion, else the first prose."""
    best: tuple[int, str, Block] | None = None
    for prose in seen.prose[:READ_AGAIN]:
        block = prose.block
        if block.quoted or block.callout or block.speaker or prose.term or block.kind == "item" and best:
            continue
        for at, sentence in enumerate(prose.sentences[: 2 if prose.place else 3]):
            if not 12 <= len(sentence) <= BODY or sentence.endswith((":", "：")):
                continue
            rank = _as_body(seen, sentence, prose, at)
            if block.kind == "item":
                rank = min(rank, 1)
            if rank and (best is None or rank > best[0]):
                best = (rank, sentence, block)
        if best and (best[0] >= 4 or best[0] == 3 and prose.place):
            break
    return (best[1], (seen.span(best[2], best[1]),)) if best else ("", ())


def _as_body(seen: Survey, sentence: str, prose: Prose, at: int) -> int:
    """How well a sentence says what the title is, 5 for a definition; 0: not at all."""
    words, act = seen.act(sentence)
    if not words or navigates(sentence, words, prose.block) or _FOOTNOTE.match(sentence):
        return 0
    opens = not prose.place and not at
    if not sentence.isascii() and CJK.search(sentence):
        return 1 if _CJK_ASIDE.match(sentence) or act is SpeechAct.QUESTION else 4 if opens or act is SpeechAct.ASSERTION else 3
    first = words[0].partition("'")[0]
    if act is SpeechAct.ASSERTION and first not in _NOT_OF_IT and not leans(sentence, words) and "you" not in words:
        lower = _ARTICLE.sub("", sentence.lower())
        if any(lower.startswith(n) for n in seen.names):
            return 5
        if opens and (_opens_with_its_verb(words) or first in _ARTICLES and seen.title.lower() in lower):
            return 4
        return 3
    if opens and act is SpeechAct.FRAGMENT and (first in _ARTICLES or _opens_with_its_verb(words)):
        return 4
    return 1


_ARTICLES = frozenset(("a", "an", "the"))
_FOOTNOTE = re.compile(r"\d+ [A-Z]")
_CJK_ASIDE = re.compile(r"^(?:我们|我|你|这|那|该|此|注意|提示|请|例如|示例)")


def _opens_with_its_verb(words: list[str]) -> bool:
    """Whether the subject, the title, is left out: "Returns the width of …", "Is used only with …"."""
    if len(words) < 3 or words[0] in ("this", "its"):
        return False
    if words[0] in ("is", "are", "has", "can"):
        return True
    return words[0].endswith("s") and is_finite(words[0], "it") and words[1] not in AUXILIARIES


_NOT_OF_IT = PRONOUNS | CONNECTIVES | frozenset(
    "my our your his her their its here there when if while because since although what".split()
)


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
    linked = Counter(link.target for block in seen.note.blocks for link in block.links)
    code = any(block.kind == "code" for block in seen.note.blocks)
    for block in seen.note.blocks:
        for link in block.links:
            name = link.target.rpartition("/")[2].removesuffix(".md").strip()
            if linked[link.target] == 1 and (block.quoted or code and len(linked) == 1) and _IDENTIFIER.match(name):
                continue  # an attribute of C++, a test of a shell
            if name and "." not in name[-5:]:
                drafts.append(_concept(name, seen.quoter.link(block, link), 0.3))
    for prop in seen.note.properties:
        for item in prop.items:
            if item.strip(" \"'").startswith("[["):
                name = item.strip(" \"'").strip("[]").partition("|")[0].partition("#")[0].rpartition("/")[2].strip()
                if name:
                    drafts.append(_concept(name, seen.quoter.block(prop), 0.3))
    return drafts


def _tags(seen: Survey) -> list[Draft]:
    """Tags that name a subject rather than the kind or state of the note. One written mid-sentence must be met again."""
    drafts = []
    prop = next((p for p in seen.note.properties if p.key.lower() in ("tags", "tag", "keywords")), None)
    for tag in seen.note.tags:
        leaf = tag.rpartition("/")[2]
        if not any(c.isalpha() for c in tag) or len(tag) > 40 or _is_housekeeping(leaf.lower()):
            continue
        if prop and any(fold(tag) == fold(item.lstrip("#")) for item in prop.items):
            drafts.append(_concept(tag, seen.quoter.block(prop), 0.4))
        elif leaf.lower() not in BASE_VERBS:
            places = [b for b in seen.note.blocks if tag in b.tags and b.kind != "heading"]
            if len(places) > 1 or places and _is_tag_line(places[0]):
                drafts.append(_concept(tag, seen.quoter.block(places[0]), 0.4))
    return drafts[:MOST_TAGS]


def _is_housekeeping(tag: str) -> bool:
    return tag in FUNCTION_WORDS or tag in WORKFLOW_TAGS or tag in NOTE_KIND_TAGS or tag.removesuffix("s") in NOTE_KIND_TAGS


def _is_tag_line(block: Block) -> bool:
    """Whether a block begins or ends with its tags, as writers of tags do."""
    words = block.text.split()
    return bool(words) and (words[0][0] == "#" or words[-1][:1] == "#")


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
            if term[:1].islower() and term not in seen.code and not _is_of_code(seen, term):
                places[term] += 1
                first.setdefault(term, prose.block)
    good = [t for t, n in places.most_common(8) if n >= 2 and " " in t and is_thing(t)]
    return [_concept(t, seen.quoter.sentence(first[t], t), 0.35) for t in good[:MOST_EMPHASISED]]


def _is_of_code(seen: Survey, term: str) -> bool:
    """Whether every word of the term stands in the note's code: a parameter, not a term of the subject."""
    return bool(seen.code) and all(any(word in code for code in seen.code) for word in term.split())


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
