"""Phase `abstractions`: what several concepts have in common, as an object that contains them.

Community detection says which concepts belong together, a trait they share says what that is: a trait becomes an abstraction
where most of those who have it were found together, in groups that are mostly theirs. Abstractions that share a trait in turn
become a meta-concept. One that is held stays while three concepts have its trait; new ones are looked for among what is new.
Never makes one it can't name.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from smb.evolve.group_page import cited_spans, links, places, sayings, shared_words, typical
from smb.evolve.hierarchy import kinds_of
from smb.evolve.partition import RENEW, Bond, Node, fresh_of, grouped, memberships, nodes_of
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Snapshot, wikilink
from smb.evolve.terms import stem, words_of
from smb.evolve.traits import FOLDER, KIND, PLACED, TAG, WORDS, Traits
from smb.model.edges import EdgeType
from smb.model.identity import fold, object_id, slugify
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement

LEAST = 3  # concepts of an abstraction, abstractions of a meta-concept
TOGETHER = 0.5  # share of those with a trait that community detection must have found together
OWN = 0.34  # share of a group that must have the trait for the group to count as its
KIN = 0.28  # mean cosine of those with a trait from which on they belong together, found together or not: four times that of any two
WIDEST = 0.2  # share of all concepts beyond which a trait tells nothing
UPPER = 0.35  # and the share beyond which it is no meta-concept
MOST = 200  # concepts an abstraction contains by an edge
_KINDS = {WORDS: 1.0, KIND: 1.1, TAG: 1.05, PLACED: 0.85, FOLDER: 0.9}  # how good a name each kind of trait makes
_META = "meta:"


@dataclass(frozen=True, slots=True)
class _Upper:
    title: str
    lower: tuple[_Abstraction, ...]


@dataclass(frozen=True, slots=True)
class _Abstraction:
    trait: str
    title: str
    members: frozenset[str]


class AbstractionPromoter:
    name = "abstractions"
    version = 1

    async def propose(self, snapshot: Snapshot) -> Proposals:
        held = {item.identity.removeprefix(f"{self.name}:"): item for item in snapshot.derived(self.name)}
        if held and snapshot.since and not snapshot.changed(MemoryType.CONCEPT, MemoryType.ENTITY) and not snapshot.gone():
            return Proposals(note="no concept changed")
        nodes = await nodes_of(snapshot)
        traits = Traits(nodes, await snapshot.documents(), await kinds_of(snapshot))
        bodies = await snapshot.bodies(nodes)
        fresh = await fresh_of(snapshot, self.name, nodes)
        if not held or len(fresh) > RENEW * len(nodes):
            found = _together(snapshot, traits, await grouped(snapshot, Bond.BOTH), await grouped(snapshot, Bond.BOTH, 1))
            kept = _distinct(traits, found, [])
        else:
            kept = [_Abstraction(trait, item.title, frozenset(traits.holders[trait])) for trait, item in held.items() if trait in traits.holders]
            new = {t: likeness for t in traits.among(fresh) if t not in held and _fits(traits, t) and (likeness := _likeness(snapshot, traits, t)) >= KIN}
            kept += _distinct(traits, new, kept)
        upper = _meta(traits, kept, {trait.removeprefix(_META): item.title for trait, item in held.items() if trait.startswith(_META)})
        lower = [a for a in kept if a.trait not in upper]
        touched = lower if not snapshot.since else await self._touched(snapshot, lower)
        texts = {i: bodies.get(i, "") for a in touched for i in a.members}
        pages = {a.trait: await self._page(snapshot, traits, a, texts) for a in touched}
        wanted = [*pages.values(), *(self._meta_page(snapshot, traits, *pair) for pair in sorted(upper.items()))]
        unlooked = {f"{self.name}:{a.trait}" for a in lower} - {w.statement.identity for w in wanted}
        return Proposals(wanted, {item.id for item in held.values() if item.identity not in unlooked})

    async def _touched(self, snapshot: Snapshot, lower: Sequence[_Abstraction]) -> list[_Abstraction]:
        """Those whose members are others than they were, or say something else."""
        members = await memberships(snapshot, self.name)
        return [a for a in lower if members.get(object_id(MemoryType.ABSTRACTION.value, f"{self.name}:{a.trait}")) != a.members
                or any(snapshot.is_new(snapshot.items[i]) for i in a.members)]

    # ------------------------------------------------------------ pages

    async def _page(self, snapshot: Snapshot, traits: Traits, found: _Abstraction, texts: Mapping[str, str]) -> Wanted:
        nodes = traits.nodes
        order = typical(snapshot, nodes, found.members)
        resting, folder = places(nodes, traits.documents, order)
        known = {stem(word) for word in words_of(f"{found.title} {found.trait}")}
        spoken = shared_words({i: f"{nodes[i].item.title} {texts[i]}" for i in order}, order, known)
        told, tellers = sayings(nodes, texts, order)
        cited = list(dict.fromkeys([*order[:3], *(i for _, users in spoken for i in users[:2]), *tellers]))[:12]
        body = [f"{len(order)} concepts of {len(resting)} notes {_reason(found.trait, traits)}, such as {links(nodes, order, more=0)}."]
        if folder and not found.trait.startswith((FOLDER, PLACED)):
            body[0] += f" Most of their notes are kept in `{folder}`."
        if spoken:
            body.append(f"Words they share: {'; '.join(f'“{word}” ({links(nodes, users, 2)})' for word, users in spoken)}.")
        return Wanted(MemoryType.ABSTRACTION, Statement(
            found.title, f"{self.name}:{found.trait}", body="\n\n".join([*body, told]).strip(), mode=Mode.INFERRED, derived_from=tuple(cited),
            confidence=min(nodes[i].item.confidence for i in cited), links=tuple(Link(i, EdgeType.CONTAINS) for i in order[:MOST])),
            await cited_spans(snapshot, cited))

    def _meta_page(self, snapshot: Snapshot, traits: Traits, trait: str, upper: _Upper) -> Wanted:
        parts = []
        for a in upper.lower:
            id_ = object_id(MemoryType.ABSTRACTION.value, f"{self.name}:{a.trait}")
            page = snapshot.items[id_].page if id_ in snapshot.items else f"{slugify(a.title)}-{id_}"
            parts.append((id_, wikilink(page, a.title), a))
        said = [f"- {link}: {len(a.members)} concepts" for _, link, a in parts[:12]]
        body = f"{len(parts)} groups of concepts {_reason(trait, traits)}.\n\n" + "\n".join(said)
        if len(parts) > 12:
            body += f"\n\nAnd {len(parts) - 12} more."
        return Wanted(MemoryType.META_CONCEPT, Statement(
            upper.title, f"{self.name}:{_META}{trait}", body=body, mode=Mode.INFERRED, derived_from=tuple(id_ for id_, _, _ in parts[:12]),
            confidence=min(traits.nodes[i].item.confidence for _, _, a in parts for i in a.members),
            links=tuple(Link(id_, EdgeType.CONTAINS) for id_, _, _ in parts)))


def _reason(trait: str, traits: Traits) -> str:
    """Why these belong together, as the end of a sentence."""
    kind, _, value = trait.partition(":")
    match kind:
        case "words":
            return f"have “{traits.surface(value)}” in their names"
        case "tag":
            return f"carry the tag #{value}"
        case "folder":
            return f"are what the notes in the folder `{value}` are about"
        case "kind":
            return f"are each called a {value}"
        case _:
            folder, _, key = value.partition("|")
            return f"have “{traits.surface(key)}” in their names and notes of their own in the folder `{folder}`"


# ---------------------------------------------------------------------- which traits


def _together(snapshot: Snapshot, traits: Traits, *levels: Sequence[frozenset[str]]) -> dict[str, float]:
    """Each trait whose holders belong together → how much: the share that was found together, or how alike they are."""
    found = {trait: _likeness(snapshot, traits, trait) for trait in traits.holders if _fits(traits, trait)}
    kept = {trait: likeness for trait, likeness in found.items() if likeness >= KIN}
    for groups in levels:
        group_of = {i: n for n, group in enumerate(groups) for i in group}
        for trait in found:
            there = Counter(group_of[i] for i in traits.holders[trait] if i in group_of)
            share = sum(n for group, n in there.items() if n >= max(2, OWN * len(groups[group]))) / len(traits.holders[trait])
            if share >= TOGETHER:
                kept[trait] = max(share, kept.get(trait, 0.0))
    return kept


def _fits(traits: Traits, trait: str) -> bool:
    holders = traits.holders[trait]
    return (LEAST <= len(holders) <= max(12, WIDEST * len(traits.nodes)) and sum(traits.nodes[i].item.type is MemoryType.CONCEPT for i in holders) >= LEAST
            and len({d for i in holders for d in traits.nodes[i].documents}) > 1)


def _likeness(snapshot: Snapshot, traits: Traits, trait: str) -> float:
    """The mean cosine of two of those with a trait."""
    n = len(traits.holders[trait])
    total = snapshot.vectors([traits.nodes[i].item for i in traits.holders[trait]]).sum(axis=0)
    return round((float(total @ total) - n) / (n * (n - 1)), 3)


def _distinct(traits: Traits, found: Mapping[str, float], beside: Sequence[_Abstraction]) -> list[_Abstraction]:
    """The best of the traits `found`, named, none of nearly the same members as another or as one of `beside`."""
    kept: list[_Abstraction] = []
    at: dict[str, list[_Abstraction]] = defaultdict(list)
    taken = {fold(a.title) for a in beside}
    for a in beside:
        for i in a.members:
            at[i].append(a)

    def worth(trait: str) -> tuple[float, str]:
        kind = trait.partition(":")[0]
        longer = 1 + 0.15 * trait.count(" ") if kind == WORDS else 1
        return -(_KINDS[kind] * longer * (0.5 + found[trait]) * math.log2(1 + len(traits.holders[trait]))), trait

    for trait in sorted(found, key=worth):
        members = frozenset(traits.holders[trait])
        near = Counter(a.trait for i in members for a in at[i])
        rivals = {a.trait: a for i in members for a in at[i]}
        if any(near[t] >= 0.7 * min(len(members), len(a.members)) and max(len(members), len(a.members)) <= 2.5 * min(len(members), len(a.members))
               for t, a in rivals.items()):
            continue
        title = traits.title_of(trait)
        if not title or fold(title) in taken:
            continue
        taken.add(fold(title))
        kept.append(_Abstraction(trait, title, members))
        for i in members:
            at[i].append(kept[-1])
        if len(kept) + len(beside) >= max(20, len(traits.nodes) // 25):
            break
    return kept


def _meta(traits: Traits, kept: Sequence[_Abstraction], titles: Mapping[str, str]) -> dict[str, _Upper]:
    """Traits most members of at least three abstractions share, the narrowest first; each abstraction under one of them."""
    under: dict[str, list[_Abstraction]] = defaultdict(list)
    for a in kept:
        shared = Counter(trait for i in a.members for trait in traits.of[i] if not trait.startswith((PLACED, KIND)))
        for trait, n in shared.items():
            if n >= 0.8 * len(a.members) and len(traits.holders[trait]) >= 1.5 * len(a.members) and (trait in titles or len(traits.holders[trait]) <= UPPER * len(traits.nodes)):
                under[trait].append(a)
    found: dict[str, _Upper] = {}
    placed: set[str] = set()
    for trait in sorted(under, key=lambda t: (t not in titles, len(traits.holders[t]), t)):
        lower = [a for a in under[trait] if a.trait not in placed and a.trait != trait]
        title = titles.get(trait) or next((a.title for a in kept if a.trait == trait), "") or traits.title_of(trait)
        if len(lower) >= LEAST and title and fold(title) not in {fold(u.title) for u in found.values()} | {fold(a.title) for a in kept if a.trait != trait}:
            placed |= {a.trait for a in lower}
            found[trait] = _Upper(title, tuple(sorted(lower, key=lambda a: (-len(a.members), a.title))))
    return {trait: replace(upper, lower=tuple(a for a in upper.lower if a.trait not in found)) for trait, upper in found.items()
            if sum(a.trait not in found for a in upper.lower) >= LEAST}
