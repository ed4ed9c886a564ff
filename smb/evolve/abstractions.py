"""Phase `abstractions`: what several concepts have in common, as an object that contains them.

Community detection says which concepts belong together, a trait they share says what that is: a trait becomes an abstraction
where most of those who have it were found together, in groups that are mostly theirs. Abstractions that share a trait in turn
become a meta-concept. One that is held stays while three concepts have its trait; new ones are looked for among what is new.
Never makes one it can't name.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.grouping.group_page import cited_spans, links, places, sayings, shared_words, typical
from smb.evolve.grouping.hierarchy import kinds_of
from smb.evolve.grouping.partition import RENEW, Bond, Node, fresh_of, grouped, memberships, nodes_of
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Item, Snapshot, wikilink
from smb.evolve.language.terms import stem, words_of
from smb.evolve.grouping.traits import FOLDER, KIND, PLACED, TAG, WORDS, Traits, alike_by_name, surface_among
from smb.model.edges import EdgeType
from smb.model.identity import fold, object_id, slugify
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement

LEAST = 3  # concepts of an abstraction, abstractions of a meta-concept
TOGETHER = 0.5  # share of those with a trait that community detection must have found together
OWN = 0.34  # share of a group that must have the trait for the group to count as its
KIN = 0.28  # mean cosine of those with a trait from which on they belong together, found together or not: four times that of any two
SUBJECT = 0.2  # mean cosine of what a folder's notes are about from which on the folder is a subject, not a drawer for a form of note
WIDEST = 0.2  # share of all concepts beyond which a trait tells nothing
UPPER = 0.35  # and the share beyond which it is no meta-concept
MOSTLY = 0.8  # share of the members of an abstraction that must have a trait for it to be under that trait
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
    version = 2

    async def propose(self, snapshot: Snapshot) -> Proposals:
        held = {item.identity.removeprefix(f"{self.name}:"): item for item in snapshot.derived(self.name)}
        if held and snapshot.since and not snapshot.changed(MemoryType.CONCEPT, MemoryType.ENTITY, MemoryType.CLAIM) and not snapshot.gone():
            return Proposals(note="no concept changed")
        nodes, documents, kinds = await nodes_of(snapshot), await snapshot.documents(), await kinds_of(snapshot)
        fresh = await fresh_of(snapshot, self.name, nodes)
        if not held or len(fresh) > RENEW * len(nodes):
            traits = Traits(nodes, documents, kinds)
            kept = _distinct(traits, _together(snapshot, traits, await grouped(snapshot, Bond.BOTH), await grouped(snapshot, Bond.BOTH, 1)), [])
            upper = _found_upper(snapshot, traits, kept)
            touched, same = {a.trait for a in kept}, set[str]()
        else:
            traits, kept, touched = await self._carried_on(snapshot, nodes, kinds, held, fresh)
            upper = await self._kept_upper(snapshot, traits, kept, held)
            same = await self._as_before(snapshot, upper, touched, held)
        lower = [a for a in kept if a.trait not in upper]
        texts = await snapshot.bodies({i for a in lower if a.trait in touched for i in a.members})
        wanted = [await self._page(snapshot, traits, a, texts) for a in lower if a.trait in touched]
        wanted += [self._meta_page(snapshot, traits, trait, u) for trait, u in sorted(upper.items()) if trait not in same]
        unlooked = {f"{self.name}:{a.trait}" for a in lower if a.trait not in touched} | {f"{self.name}:{_META}{trait}" for trait in same}
        return Proposals(wanted, {item.id for item in held.values() if item.identity not in unlooked})

    async def _carried_on(self, snapshot: Snapshot, nodes: Mapping[str, Node], kinds: Mapping[str, Sequence[str]], held: Mapping[str, Item],
                          fresh: Sequence[str]) -> tuple[Traits, list[_Abstraction], set[str]]:
        """The abstractions held, with the members they have now, and those that fresh concepts make possible; and which of them
        are others than they were or have members that say something else."""
        documents = await snapshot.documents()
        before = await memberships(snapshot, self.name)
        changed = {i for i in nodes if snapshot.is_new(nodes[i].item)}
        traits = Traits(nodes, documents, kinds, alike_by_name(nodes, documents, {*changed, *fresh}, WIDEST) if snapshot.since else None)
        kind_of = {f"{KIND}:{kind}": set[str]() for of in kinds.values() for kind in of}
        for i, of in kinds.items():
            for kind in of:
                kind_of[f"{KIND}:{kind}"].add(i)
        kept: list[_Abstraction] = []
        touched: set[str] = set()
        for trait, item in held.items():
            if trait.startswith(_META):
                continue
            members = kind_of.get(trait, set()) if trait.startswith(KIND) else (before[item.id] & nodes.keys() - changed) | {i for i in changed if trait in traits.of(i)}
            if len(members) >= LEAST:
                kept.append(_Abstraction(trait, item.title, frozenset(members)))
                if not snapshot.since or members != before[item.id] or members & changed:
                    touched.add(trait)
        new = {t: kin for t in traits.among(fresh) if t not in held and _fits(traits, t) and _on_a_subject(snapshot, traits, t)
               and (kin := _likeness(snapshot, traits, t)) >= KIN}
        found = _distinct(traits, new, kept)
        return traits, [*kept, *found], touched | {a.trait for a in found}

    async def _kept_upper(self, snapshot: Snapshot, traits: Traits, kept: Sequence[_Abstraction], held: Mapping[str, Item]) -> dict[str, _Upper]:
        """The meta-concepts held, with the abstractions they had that are still there and the new ones that belong under them."""
        before = await memberships(snapshot, self.name)
        ids = {object_id(MemoryType.ABSTRACTION.value, f"{self.name}:{a.trait}"): a for a in kept}
        found: dict[str, _Upper] = {}
        placed = {id_ for trait, item in held.items() if trait.startswith(_META) for id_ in before[item.id]}
        loose = [a for id_, a in ids.items() if id_ not in placed and all(map(traits.is_read, a.members))]
        for meta in sorted((trait for trait in held if trait.startswith(_META)), key=lambda m: (len(before[held[m].id]), m)):
            trait = meta.removeprefix(_META)
            joining = [a for a in loose if a.trait != trait and _share(traits, a, trait) >= MOSTLY and f"{_META}{a.trait}" not in held]
            loose = [a for a in loose if a not in joining]
            lower = [*(ids[id_] for id_ in before[held[meta].id] if id_ in ids), *joining]
            if len(lower) >= LEAST:
                found[trait] = _Upper(held[meta].title, _by_size(lower))
        return found

    async def _as_before(self, snapshot: Snapshot, upper: Mapping[str, _Upper], touched: Collection[str], held: Mapping[str, Item]) -> set[str]:
        """The traits of the meta-concepts whose pages can only come out as they are."""
        before = await memberships(snapshot, self.name)
        ids = {trait: {object_id(MemoryType.ABSTRACTION.value, f"{self.name}:{a.trait}") for a in u.lower} for trait, u in upper.items()}
        return {trait for trait, u in upper.items() if snapshot.since and before[held[f"{_META}{trait}"].id] == ids[trait] and not any(a.trait in touched for a in u.lower)}

    async def _page(self, snapshot: Snapshot, traits: Traits, found: _Abstraction, texts: Mapping[str, str]) -> Wanted:
        nodes = traits.nodes
        order = typical(snapshot, nodes, found.members)
        resting, folder = places(nodes, traits.documents, order)
        known = {stem(word) for title in (found.title, found.trait, *(nodes[i].item.title for i in order)) for word in words_of(title)}
        spoken = shared_words({i: texts[i] for i in order}, order, known)
        told, tellers = sayings(nodes, texts, order)
        cited = list(dict.fromkeys([*order[:3], *(i for _, users in spoken for i in users[:2]), *tellers]))[:12]
        body = [f"{len(order)} concepts of {len(resting)} notes {_reason(found.trait, (nodes[i].item.title for i in order))}, such as {links(nodes, order, more=0)}."]
        if folder and not found.trait.startswith((FOLDER, PLACED)):
            body[0] += f" Most of their notes are kept in `{folder}`."
        if spoken:
            body.append(f"Words they share: {'; '.join(f'“{word}” ({links(nodes, users, 2)})' for word, users in spoken)}.")
        return Wanted(MemoryType.ABSTRACTION, Statement(
            found.title, f"{self.name}:{found.trait}", body="\n\n".join([*body, told]).strip(), mode=Mode.INFERRED, derived_from=tuple(cited),
            confidence=min(nodes[i].item.confidence for i in cited), links=tuple(Link(i, EdgeType.CONTAINS) for i in order)),
            await cited_spans(snapshot, cited))

    def _meta_page(self, snapshot: Snapshot, traits: Traits, trait: str, upper: _Upper) -> Wanted:
        parts = []
        for a in upper.lower:
            id_ = object_id(MemoryType.ABSTRACTION.value, f"{self.name}:{a.trait}")
            page = snapshot.items[id_].page if id_ in snapshot.items else f"{slugify(a.title)}-{id_}"
            parts.append((id_, wikilink(page, a.title), a))
        said = [f"- {link}: {len(a.members)} concepts" for _, link, a in parts[:12]]
        body = f"{len(parts)} groups of concepts {_reason(trait, (traits.nodes[i].item.title for a in upper.lower for i in sorted(a.members)))}.\n\n" + "\n".join(said)
        if len(parts) > 12:
            body += f"\n\nAnd {len(parts) - 12} more."
        return Wanted(MemoryType.META_CONCEPT, Statement(
            upper.title, f"{self.name}:{_META}{trait}", body=body, mode=Mode.INFERRED, derived_from=tuple(id_ for id_, _, _ in parts[:12]),
            confidence=min(traits.nodes[i].item.confidence for _, _, a in parts for i in a.members),
            links=tuple(Link(id_, EdgeType.CONTAINS) for id_, _, _ in parts)))


def _reason(trait: str, titles: Iterable[str]) -> str:
    """Why these belong together, as the end of a sentence."""
    kind, _, value = trait.partition(":")
    match kind:
        case "words":
            return f"have “{surface_among(titles, value)}” in their names"
        case "tag":
            return f"carry the tag #{value}"
        case "folder":
            return f"are what the notes in the folder `{value}` are about"
        case "kind":
            return f"are each called a {value}"
        case _:
            folder, _, key = value.partition("|")
            return f"have “{surface_among(titles, key)}” in their names and notes of their own in the folder `{folder}`"


# ---------------------------------------------------------------------- which traits


def _together(snapshot: Snapshot, traits: Traits, *levels: Sequence[frozenset[str]]) -> dict[str, float]:
    """Each trait whose holders belong together → how much: the share that was found together, or how alike they are."""
    found = {trait: _likeness(snapshot, traits, trait) for trait in traits.holders if _fits(traits, trait) and _on_a_subject(snapshot, traits, trait)}
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


def _on_a_subject(snapshot: Snapshot, traits: Traits, trait: str) -> bool:
    """Whether the folder of a trait, where it has one, is about something."""
    kind, _, value = trait.partition(":")
    folder = f"{FOLDER}:{value.partition('|')[0]}"
    return kind not in (FOLDER, PLACED) or folder not in traits.holders or _likeness(snapshot, traits, folder) >= SUBJECT


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


def _found_upper(snapshot: Snapshot, traits: Traits, kept: Sequence[_Abstraction]) -> dict[str, _Upper]:
    """Traits most members of at least three abstractions share, the narrowest first; each abstraction under one of them. One that
    is itself such a trait becomes the meta-concept."""
    under: dict[str, list[_Abstraction]] = defaultdict(list)
    for a in kept:
        for trait, n in Counter(t for i in a.members for t in traits.of(i) if t.startswith((FOLDER, TAG, WORDS))).items():
            if n >= MOSTLY * len(a.members) and trait != a.trait and len(traits.holders[trait]) <= UPPER * len(traits.nodes):
                under[trait].append(a)
    titles = {fold(a.title): a.trait for a in kept}
    found: dict[str, _Upper] = {}
    placed: set[str] = set()
    for trait in sorted(under, key=lambda t: (len(traits.holders[t]), t)):
        lower = [a for a in under[trait] if a.trait not in placed and a.trait not in found and _on_a_subject(snapshot, traits, trait)]
        title = next((a.title for a in kept if a.trait == trait), "") or traits.title_of(trait)
        if len(lower) >= LEAST and trait not in placed and title and titles.setdefault(fold(title), trait) == trait:
            placed |= {a.trait for a in lower}
            found[trait] = _Upper(title, _by_size(lower))
    return found


def _share(traits: Traits, a: _Abstraction, trait: str) -> float:
    return sum(trait in traits.of(i) for i in a.members) / len(a.members)


def _by_size(lower: Sequence[_Abstraction]) -> tuple[_Abstraction, ...]:
    return tuple(sorted(lower, key=lambda a: (-len(a.members), a.title)))
