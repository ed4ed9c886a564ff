"""What a sentence leans on outside itself: the page it stands on, the sentence before it, the note it belongs to.

Owns which sentences only send a reader elsewhere, which can't be understood alone, and which mean another thing in another
note and so need its title. Never scores a sentence.
"""

from __future__ import annotations

import re

from smb.ingest.lexicon import AUXILIARIES, PAST_VERBS
from smb.ingest.note import Block
from smb.ingest.speech_act import WORD, finite_at, is_finite

NAMED = re.compile(r"[a-z,;] [A-ZÀ-Þ][\w’'-]*[a-z]")
_SENDS = re.compile(
    r"(?:see|for (?:more|details|further|additional|an? )|refer to|click here|back to|go to|read more|learn more|note:|"
    r"source:)\b",
    re.I,
)
_SENDING = frozenset("see for refer click back go read learn note source".split())
_AROUND = re.compile(
    r"\b(?:see also|see the|see below|below|above|as follows|the following|following (?:code|example|table|sections?)|"
    r"here's|here is|here are|more information|"
    r"(?:is|are|was|were) (?:\w+ly )?(?:explained|described|covered|discussed|documented|detailed|listed|shown|given) "
    r"(?:here|there|in (?:the|this|that|my|our|its|their|more|detail|section|chapter|part|full)))\b",
    re.I,
)
_AROUND_WORDS = frozenset(
    "see below above follows following here here's information explained described covered discussed documented detailed listed "
    "shown given".split()
)
_THIS_PAGE = re.compile(
    r"\b(?:(?:in )?this (?:article|topic|section|page|example|sample|code|chapter|guide|post|tutorial|note|document|manual|"
    r"walkthrough|documentation|"
    r"(?:technical|tech) note)|these examples?)\b|^the (?:\w+ )?(?:example|sample|snippet|listing|screenshot|illustration)s? \w|"
    r"^(?:an|one|another) example\b",
    re.I,
)
_PAGES = frozenset(
    "article section topic post guide chapter page example sample code tutorial examples note document manual walkthrough "
    "documentation samples snippet listing screenshot illustration".split()
)
_EXPLAINED_IN = re.compile(r"\b(?:explained|described|covered|discussed|documented|detailed) (?:in|at|by|on|under) ", re.I)
_PRONOUN_OF = (
    r"(?:none|one|both|neither|either|some|many|most|each|all|any|several|few|two|three|four|much|part|half)"
    r" of (?:these|those|them|this|that|it|which|us|the (?:above|others?|latter|former))"
)
_LEANS = re.compile(
    rf"(?:{_PRONOUN_OF}|on (?:one|the|some) others?|(?:the|an?)\s?(?:former|latter|others?|above|same)"
    r"|(?:in|with|on|from|for|to|by|of|at|after|before|since) (?:it|them|that|this|which)"
    r"|stated another|stated differently|put (?:another|differently)|in other words|that way|as such|doing (?:it|so|this|that)"
    r"|another (?:one|way|is))\b",
    re.I,
)
_LEANING = frozenset(
    "none one both neither either some many most each all any several few two three four much part half on the a an in with from "
    "for to by of at after before since stated put that as doing another".split()
)
_THIS_CASE = re.compile(
    r"\b(?:in|for|with|by) (?:this|that|these|those|such an?|such) "
    r"(?:cases?|examples?|ways?|scenarios?|situations?|instances?|reasons?|means)\b"
    r"|^[^,.;]{0,48} in question\b|\b(?:do|does|did|done|doing) (?:that|this|so|the (?:trick|job|work)|all (?:of )?the work)\b",
    re.I,
)
_CASES = frozenset(
    "case cases example examples way ways scenario scenarios situation situations instance instances reason reasons means "
    "question do does did done doing".split()
)
_LAST_POINTS = frozenset("this that these those here none one ones them so too both others another".split())
_EXPLETIVE = re.compile(
    r"^It(?:['’]s| is| was| isn't| has been| would be| seems| appears| looks| turns| turned| takes| took| helps| makes| pays)? "
    r"(?:(?:\w+ly|not|also|very|too|so|more|much|often) )?"
    r"(?:\w+ )?(?:out|up to|to|that|if|for|when|whether|like|worth|sense|time)\b"
)
_ABOUT_IT = re.compile(r"\b(?:it|them)\b")
_ARTICLES = frozenset("the no all both each every any another its".split())
_SUBSTANCE = re.compile(r"\d|[A-Z][\w’'-]*[a-z]|[A-Z]{2}|\w_\w|\w\.\w|\w\(\)")


def navigates(sentence: str, words: list[str], block: Block) -> bool:
    """Whether the sentence only sends its reader to another place, or is nothing but links' texts."""
    if words[0] in _SENDING and _SENDS.match(sentence):
        return True
    if not _PAGES.isdisjoint(words) and _THIS_PAGE.search(sentence):
        return True
    if not _AROUND_WORDS.isdisjoint(words):
        if _AROUND.search(sentence):
            return True
        if (m := _EXPLAINED_IN.search(sentence)) and (block.web or block.links):
            rest = sentence[m.end() :].rstrip(" .")
            return any(rest.endswith(text) for text in _link_texts(block))
    if not (block.web or block.links) or len(words) > _LONGEST_LINK:
        return False
    rest = sentence
    for text in sorted(_link_texts(block), key=len, reverse=True):
        rest = rest.replace(text.rstrip(" .!"), "")
    return not any(c.isalnum() for c in rest)


_LONGEST_LINK = 24  # words of links' texts that are all of a sentence


def _link_texts(block: Block) -> list[str]:
    return [w.text for w in block.web if w.text] + [link.alias or link.target for link in block.links]


def leans(sentence: str, words: list[str]) -> bool:
    """Whether it can't be understood without the sentence before it, and naming the note would not help."""
    if words[-1] in _LAST_POINTS:
        return True
    if words[0] in _LEANING and _LEANS.match(sentence):
        return True
    return not _CASES.isdisjoint(words) and bool(_THIS_CASE.search(sentence))


def points(sentence: str, words: list[str]) -> float:
    """How much a sentence leans on others by a bare "this" inside it ("confirmed that this worked") or by "that file"; and how
    little is left where all it says is that something is nice. 0.0 for one that stands alone."""
    cost = 0.0
    if "this" in words[1:] or "that" in words[1:]:
        for word, after in zip(words[1:], words[2:]):
            if word == "this" and (after == "all" or is_finite(after, "it")):
                cost = max(cost, 1.5)
    if ("that" in words or "those" in words) and _THAT_THING.search(sentence):
        cost = max(cost, 1.0)
    if not _NICE.isdisjoint(words) and _OPINION.search(sentence):
        cost += 2.0
    return cost + 1.5 if words[0] in ("the", "my", "one") and _HARDEST.match(sentence) else cost


_THAT_THING = re.compile(
    r"\b(?:in|of|on|with|for|from|to|at|by) (?:that|those) (?!is\b|are\b|the\b|a\b|it\b|who\b|which\b)[a-z`]\w+"
)
_NICE = frozenset(
    "interesting useful good great nice cool clever helpful neat fun amazing awesome handy tricky fine important powerful "
    "elegant impressive excellent perfect hard easy difficult tedious frustrating annoying weird surprising beautiful".split()
)
_OPINION = re.compile(
    r"\b(?:is|are|was|were|be|looks?|seems?)"
    r"(?: (?:really|very|pretty|quite|so|also|a bit|particularly|super|definitely|incredibly|just))* "
    rf"(?:{'|'.join(sorted(_NICE))})\b[^,;]{{0,24}}[.!]?$"
)
_HARDEST = re.compile(
    r"^(?:The|My|One of the) (?:\w+est|(?:most|least|only) \w+|best|worst) (?:part|thing|bit|challenge|problem|trick)s? "
)


def expletive(sentence: str) -> bool:
    """Whether its "It" stands for nothing: "It is possible to …", "It turns out that …"."""
    return bool(_EXPLETIVE.match(sentence))


_AFTER_OPENING = re.compile(
    r"((?:Since|In|On|From|By|After|Before|Until|At|During|For|With|As|Today|Now|Then|Later|Currently|Recently)"
    r"(?: [\w’'-]+){0,6},? )"
    r"(he|she|it|they)\b"
)


def late_pronoun(sentence: str) -> tuple[int, int]:
    """Where the pronoun stands that follows an opening phrase as the subject ("Since 2032 he works two days"); (0, 0) where
    there is none."""
    m = _AFTER_OPENING.match(sentence)
    return m.span(2) if m and not (m[1].count(" ") == 1 and m[1][-2] != "," and m[1].split()[0] in _SUBORDINATING) else (0, 0)


_SUBORDINATING = frozenset("Since After Before Until As For".split())


def is_local(first: str, words: list[str], sentence: str, block: Block) -> bool:
    """Whether the sentence means another thing in another note: it points ("this rule"), opens with a thing that many notes
    could have ("The program assumes …"), tells an event of something unnamed, or is about nothing but "it"."""
    if first in ("this", "these", "there"):
        return True
    at = finite_at(words)
    opening = _words_before(sentence, at) if at else sentence
    if _SUBSTANCE.search(opening, 2) or any(code in opening for code in block.code_terms):
        return False
    if first in _ARTICLES:
        return True
    if at == 1 and not first.endswith("s"):  # "Ana sold …": a name, or a stuff that is the same everywhere
        return False
    verb = words[at] if at else ""
    if verb in PAST_VERBS or verb.endswith("ed") or verb in _PAST_AUXILIARIES:
        return not sentence[:1].isupper() or first in _INDEFINITE or not _SUBSTANCE.search(sentence, 2)
    return bool(_ABOUT_IT.search(sentence)) and not _SUBSTANCE.search(sentence, 2)


def opens_with_a_name(sentence: str, block: Block) -> bool:
    """Whether a name or a piece of code stands in the first words, so that the sentence is about that."""
    return bool(_SUBSTANCE.search(sentence, 2, _OPENING)) or any(0 <= sentence.find(c, 0, _OPENING) for c in block.code_terms)


_OPENING = 36
_PAST_AUXILIARIES = frozenset("was were had did wasn't weren't hadn't didn't".split()) & AUXILIARIES
_INDEFINITE = frozenset("a an more some many most two three several one no other".split())


def _words_before(sentence: str, at: int) -> str:
    """The sentence up to its word number `at`."""
    for n, m in enumerate(WORD.finditer(sentence)):
        if n == at:
            return sentence[: m.start()]
    return sentence
