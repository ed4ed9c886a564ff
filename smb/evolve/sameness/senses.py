"""Whether the notes that speak of one name speak of two things.

Owns the decision: notes that define the name as different kinds of thing, and that nothing else holds together. A broad thing that many notes
see from many sides is one thing. Pure: what is known of each note comes in.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smb.evolve.sameness.name_parts import parts_of
from smb.evolve.language.terms import stem
from smb.evolve.language.word_forms import is_plural
from smb.model.english import IRREGULAR

if TYPE_CHECKING:
    import numpy as np

LEAST_NOTES = 2  # of a sense …
LEAST_CLAIMS = 3  # … or this many claims
MARGIN = 0.04  # by which a note is nearer to its own sense than to any other
APART = 0.05  # by which notes of one sense are nearer to each other than to those of another
FAR = 0.55  # cosine between two notes that are each alone with their sense
_KIND_END = frozenset(
    "of in inside outside behind across against around along among toward towards that which who whose used with for made on and or to from by at as "
    "where when known found called within between near under over per via based "
    "is are was were has have can may it its but so because also about".split())
_NO_KIND = frozenset(
    "thing things way ways kind kinds type types part parts form forms term name word words concept idea process method technique system tool tools example "
    "set group collection place problem approach matter case one lot piece sort bottleneck priority issue task question topic subject area field step stage "
    "result reason cause goal aim choice option feature change good bad new first last best worst most more success failure mess mystery favorite favourite "
    "note notes project note log list page file folder point side variant version number amount level member".split())
_DETERMINED = re.compile(r"^(?:(?:a|an|the|any|one of the|some|another)\s+)(?P<rest>[^.;:()]+)", re.I)
_LEAD = re.compile(r"^(?:In|Within) [^,.]{2,40}, ")
_BARE = re.compile(r"(?:a|an)\s(?!.{0,60}?\b(?:is|are|was|were|has|have|can|may|must|will|should|needs?)\b)", re.I)  # "A loom worked by pedals."
_ADJECTIVE = re.compile(
    r"-|(?:al|ic|ive|ous|ful|less|ible|able|ary|ish|ed|ing|y|an|ern)\Z|^(?:small|large|big|heavy|light|soft|hard|hot|cold|thin|thick|dark|old|new|long|short|"
    r"fast|slow|deep|wide|flat|red|blue|green|black|white|grey|gray|young|free|open|dense|rare|common|sweet|sour|dry|wet|round|sharp)\Z")
_PARTICIPLE = re.compile(r"[a-z]{3,}(?<!e)ed\Z")
_SAYS = re.compile(r"\s+(?:is|are|was|were|refers to|means|denotes)\s+", re.I)


@dataclass(frozen=True, slots=True)
class Mention:
    """What one note says of the name: the kinds it is defined as, how many claims are about it, other names there that few notes bear, the
    notes it links with, the rare words around it."""

    document: str
    kinds: frozenset[str] = frozenset()
    claims: int = 0
    names: frozenset[str] = frozenset()
    linked: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Sense:
    """One of several things of a name: the kind it is, and the notes that speak of it, sorted."""

    kind: str
    documents: tuple[str, ...]


def kind_said(name: str, sentence: str) -> str:
    """The kind of thing a sentence defines `name` as, one lower-case word; "" where it defines nothing. "The kiln is a bottleneck" does not:
    it speaks of one kiln.

    >>> kind_said("Mercury", "Mercury is the smallest planet of the solar system.")
    'planet'
    """
    sentence = _LEAD.sub("", sentence.strip().lstrip("*_#> "))
    if _BARE.match(sentence):
        return _head(sentence)
    parts = _SAYS.split(sentence, maxsplit=1)
    if len(parts) != 2:
        return ""
    subject = re.sub(r"^(?:an?)\s+", "", parts[0].strip(" *_\"'“”"), flags=re.I)
    mine, theirs = parts_of(subject), parts_of(name)
    many = len(mine.words) == len(theirs.words) > 0 and mine.words[:-1] == theirs.words[:-1] and is_plural(mine.words[-1], theirs.words[-1])
    if mine.words != theirs.words and not many or mine.article:
        return ""
    return _head(parts[1], many)


def _head(phrase: str, many: bool = False) -> str:
    """The noun a phrase like "a small, heavy stamp used on wax" is built on; "" where it begins like none."""
    found = _DETERMINED.match(phrase)
    if not found and not many:
        return ""
    words: list[str] = []
    for word in re.findall(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*|,", found["rest"] if found else re.split(r"[.;:()]", phrase, maxsplit=1)[0]):
        word = word.lower()
        if word in _KIND_END or words and _PARTICIPLE.match(word) or words and word in IRREGULAR or word == "," and not (words and _ADJECTIVE.search(words[-1])):
            break
        words += [] if word == "," else [word]
    return "" if not words or words[-1] in _NO_KIND or len(words) > 8 else words[-1]


def senses_of(mentions: Sequence[Mention], vectors: np.ndarray) -> list[Sense]:
    """The senses of a name, by their kind; empty where it has one. `vectors` are float32 (n, d), of what the notes say, of length 1 or zero."""
    seeds = _seeds(mentions)
    if len(seeds) < 2:
        return []
    alike = vectors @ vectors.T
    near = _nearness(mentions, _without_the_shared(vectors) if len(mentions) > 3 else alike)
    groups = [list(seed) for seed in seeds]
    for n in range(len(mentions)):
        if any(n in seed for seed in seeds):
            continue
        means = sorted(((sum(near[n][m] for m in seed) / len(seed), -g) for g, seed in enumerate(seeds)), reverse=True)
        if means[0][0] < means[1][0] + MARGIN:
            return []
        groups[-means[0][1]].append(n)
    if not all(len(g) >= LEAST_NOTES or sum(mentions[n].claims for n in g) >= LEAST_CLAIMS for g in groups) or not _apart(mentions, groups, near, alike):
        return []
    found = [Sense(_kind(mentions, group), tuple(sorted(mentions[n].document for n in group))) for group in groups]
    return sorted(found, key=lambda s: (s.kind, s.documents))


def _seeds(mentions: Sequence[Mention]) -> list[list[int]]:
    """The notes that define the name, those with a kind in common together."""
    seeds: list[tuple[set[str], list[int]]] = []
    for n, mention in enumerate(mentions):
        kinds = {stem(kind) for kind in mention.kinds}
        if not kinds:
            continue
        held = [s for s in seeds if s[0] & kinds]
        seeds = [s for s in seeds if not s[0] & kinds]
        seeds.append((kinds.union(*(s[0] for s in held)), sorted([n, *(m for s in held for m in s[1])])))
    return sorted(members for _, members in seeds)


def _without_the_shared(vectors: np.ndarray) -> np.ndarray:
    """Cosines of the vectors once what all have in common, the name above all, is taken off: float32 (n, n)."""
    import numpy as np

    rest = vectors - vectors.mean(axis=0)
    lengths = np.linalg.norm(rest, axis=1, keepdims=True)
    rest = rest / np.where(lengths == 0, 1, lengths)
    return rest @ rest.T


def _nearness(mentions: Sequence[Mention], alike: np.ndarray) -> list[list[float]]:
    def nearness(a: Mention, b: Mention) -> float:
        return 0.1 * min(3, len(a.words & b.words)) + 0.2 * min(2, len(a.names & b.names)) + 0.3 * (b.document in a.linked or a.document in b.linked)

    return [[float(alike[i, j]) + nearness(a, b) for j, b in enumerate(mentions)] for i, a in enumerate(mentions)]


def _apart(mentions: Sequence[Mention], groups: Sequence[Sequence[int]], near: Sequence[Sequence[float]], alike: np.ndarray) -> bool:
    """Whether nothing but the name holds notes of different groups together, and those of one are nearer to each other."""
    within = [near[a][b] for group in groups for a in group for b in group if a < b]
    across = [(a, b) for g, group in enumerate(groups) for other in groups[g + 1:] for a in group for b in other]
    for a, b in across:
        one, other = mentions[a], mentions[b]
        if one.names & other.names or one.document in other.linked or other.document in one.linked or len(one.words & other.words) > 2:
            return False
    mean = sum(near[a][b] for a, b in across) / len(across)
    if within and sum(within) / len(within) < mean + APART:
        return False
    alone = [group[0] for group in groups if len(group) == 1]
    if any(float(alike[a, b]) > FAR for a, b in across if a in alone or b in alone):
        return False
    return True


def _kind(mentions: Sequence[Mention], group: Sequence[int]) -> str:
    """The kind most notes of a group give; of equals the one of the first note."""
    said = [kind for n in group for kind in sorted(mentions[n].kinds)]
    return max(said, key=lambda kind: (sum(stem(kind) == stem(other) for other in said), -said.index(kind)))
