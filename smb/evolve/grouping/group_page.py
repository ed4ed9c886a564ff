"""The words of a page about a group of concepts: who is most typical, what words they share, what some of them say.

Owns the sentences that abstractions, clusters and communities have in common; each sentence links to what it rests on. Never
decides who belongs to a group.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence

from smb.evolve.grouping.partition import Node
from smb.evolve.language.rarity import rarity
from smb.evolve.snapshot import Doc, Snapshot
from smb.evolve.language.telling import tells
from smb.evolve.language.terms import stem, words_of
from smb.evolve.language.word_forms import is_word
from smb.model.english import STOP_WORDS
from smb.model.evidence import Span

SHOWN = 5  # members whose own words a page quotes
_QUOTE = 180  # characters of what a member says
_TELLING = 3.0  # rarity from which on a word that several share is worth telling
_SHORT = 25  # and the fewest that say something
_NOT_SAID = re.compile(  # a callout, a line of properties ("Status: in progress"), an instruction to the reader
    r"\[!|(?!\w+s? (?:is|are|was|were)\b)[^\W\d_][\w /()-]{1,28}: |(?:read|see|check|note|use|do|don't|please|look|remember|make sure|never|always|open|click|go to|ask) ", re.IGNORECASE)


def shared_words(texts: Mapping[str, str], ids: Sequence[str], known: Collection[str], limit: int = 3) -> list[tuple[str, list[str]]]:
    """The rarest words of English that several of these texts use, as most write them, each with its users in the order of
    `ids`; without the stems `known`; none where it is one common word of two of them. Rests on these texts alone: another note elsewhere changes nothing."""
    users: dict[str, list[str]] = defaultdict(list)
    written: dict[str, Counter[str]] = defaultdict(Counter)
    for id_ in ids:
        words: dict[str, str] = {}
        for word in words_of(texts[id_]):
            if len(word) > 2 and word.isalpha() and word not in STOP_WORDS:
                words.setdefault(stem(word), word)
        for term, word in words.items():
            users[term].append(id_)
            written[term][word] += 1
    least = max(2, math.ceil(len(ids) / 5))
    scores = {term: len(who) * rare for term, who in users.items()
              if len(who) >= least and term not in known and tells(term_word(written[term])) and (rare := rarity(term_word(written[term]))) >= _TELLING}
    best: list[str] = []
    for term in sorted(scores, key=lambda term: (-scores[term], term)):
        if len(best) < limit and not any(term.startswith(other) or other.startswith(term) for other in best):
            best.append(term)
    found = [(_cased(term_word(written[term]), [texts[i] for i in users[term]]), users[term]) for term in best]
    return found if len(found) > 1 or any(len(who) > 2 or word != word.lower() for word, who in found) else []


def _cased(word: str, texts: Sequence[str]) -> str:
    """A folded word in the letter case most of these texts use; an English word in lower case, unless they mostly write it as a name."""
    cases = Counter(m[0] for text in texts for m in re.finditer(rf"\b{re.escape(word)}\b", text, re.IGNORECASE))
    if is_word(word) and (2 * cases[word] >= cases.total() or not any(_within(case, text) for case in cases for text in texts)):
        return word
    return min(cases, key=lambda case: (-cases[case], case), default=word)


def _within(word: str, text: str) -> bool:
    """Whether a capitalised word stands inside a sentence, after a word that is not capitalised or a comma."""
    return bool(re.search(rf"(?:\b[a-z]+ |, ){re.escape(word)}\b", text))


def term_word(written: Mapping[str, int]) -> str:
    return min(written, key=lambda word: (-written[word], word))


def typical(snapshot: Snapshot, nodes: Mapping[str, Node], ids: Collection[str]) -> list[str]:
    """`ids` from the most typical member on: nearest to the middle of the group, then named by most documents."""
    import numpy as np

    members = sorted(ids)
    vectors = snapshot.vectors([nodes[i].item for i in members]).astype(np.float64)
    near = np.rint(vectors @ vectors.mean(axis=0) * 100)
    return [members[n] for n in sorted(range(len(members)), key=lambda n: (-near[n], -len(nodes[members[n]].documents), nodes[members[n]].item.title, members[n]))]


def links(nodes: Mapping[str, Node], ids: Sequence[str], limit: int = 3, more: int | None = None) -> str:
    """"[[a]], [[b]] and 4 more"; `more` is how many there are beyond `ids` where that is not simply the rest of them."""
    shown = [nodes[i].item.link for i in ids[:limit]]
    left = len(ids) - len(shown) if more is None else more
    if left:
        return f"{', '.join(shown)} and {left} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def sayings(nodes: Mapping[str, Node], texts: Mapping[str, str], ids: Sequence[str], limit: int = SHOWN) -> tuple[str, list[str]]:
    """What the first of `ids` that say something of their own say, a list item each; and which these are."""
    says = {id_: " ".join(texts.get(id_, "").split()) for id_ in ids}
    times = Counter(says.values())
    found: dict[str, str] = {}
    for id_ in ids:
        said = says[id_]
        if len(said) >= _SHORT and times[said] == 1 and said != nodes[id_].item.title and not said.endswith(":") and not _NOT_SAID.match(said):
            found[id_] = f"- {nodes[id_].item.link}: {clipped(said)}"
        if len(found) == limit:
            break
    return "\n".join(found.values()), list(found)


async def cited_spans(snapshot: Snapshot, cited: Sequence[str]) -> tuple[Span, ...]:
    """The first quote under each of `cited`, at most twelve."""
    spans = await snapshot.evidence(cited)
    return tuple(dict.fromkeys(span for i in cited for span in spans.get(i, ())[:1]))[:12]


def clipped(text: str) -> str:
    if len(text) <= _QUOTE:
        return text
    return text[:_QUOTE].rsplit(" ", 1)[0].rstrip(",;:") + " …"


def places(nodes: Mapping[str, Node], documents: Mapping[str, Doc], ids: Collection[str]) -> tuple[set[str], str]:
    """The documents these rest on, and the folder that holds most of their own ("" where none holds half)."""
    resting = {d for i in ids for d in (nodes[i].documents or ())} & documents.keys()
    folders = Counter(documents[nodes[i].home].path.rpartition("/")[0] for i in ids if nodes[i].home)
    best = min(folders, key=lambda f: (-folders[f], f), default="")
    return resting, best if best and folders[best] * 2 > len(ids) else ""

