"""From pairs that are the same to merges.

Owns which objects form a group, which of a group stands for the others, and the revisions that say so. Never decides what is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from smb.evolve.phase import again
from smb.evolve.sameness.same_name import Sameness
from smb.model.currentness import judge, stated
from smb.model.objects import Mode
from smb.model.restatement import said_of
from smb.model.revision import Revision, RevisionKind, Statement, new_revision

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Member:
    """An object that may be merged, and what makes it stand for others. `fixed` where it may not be merged into another: a person wrote or
    signed it, or it is a side of a contradiction; `stands` whether others were merged into it before; `odd` whether its name is misspelt;
    `born` when it was first recorded; `form` 0 for a name in its plain form, more for an acronym or a plural."""

    id: str
    fixed: bool = False
    stands: bool = False
    odd: bool = False
    supports: int = 0
    born: str = ""
    form: int = 0

    @property
    def rank(self) -> tuple[object, ...]:
        return (not self.stands, not self.fixed, self.odd, -self.supports, self.born, self.form, self.id)


def completed(found: dict[Pair, Sameness], judge_pair: Callable[[str, str], Sameness | None]) -> dict[Pair, Sameness]:
    """`found`, with the pairs that are each the same as a third judged too."""
    near: dict[str, set[str]] = {}
    for a, b in found:
        near.setdefault(a, set()).add(b)
        near.setdefault(b, set()).add(a)
    for others in near.values():
        for a, b in combinations(sorted(others), 2):
            if b not in near[a] and (why := judge_pair(a, b)) is not None:
                found[(a, b)] = why
    return found


def groups_of(same: Mapping[Pair, Sameness], barred: Collection[frozenset[str]] = ()) -> list[list[str]]:
    """Groups of ids (sorted, by their first) in which every two are the same. Whatever is the same as two that are not is in none: there is
    no telling which of them it is. `barred` pairs are not the same, whatever `same` says."""
    near: dict[str, set[str]] = {}
    for a, b in same:
        if frozenset((a, b)) not in barred:
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
    torn = {i for i, others in near.items() if any(b not in near[a] for a in others for b in others if a != b)}
    groups: list[list[str]] = []
    seen = set(torn)
    for start in sorted(near):
        if start not in seen:
            group = sorted({start, *(near[start] - torn)})
            seen.update(group)
            if len(group) > 1:
                groups.append(group)
    return groups


def merges(groups: Iterable[Sequence[str]], same: Mapping[Pair, Sameness], members: Mapping[str, Member]) -> list[tuple[str, str, str]]:
    """(original, what stands for it, reason) of every merge the groups come to, in order."""
    found: list[tuple[str, str, str]] = []
    for group in groups:
        first, *others = sorted((members[i] for i in group), key=lambda m: m.rank)
        for other in others:
            why = same.get((min(first.id, other.id), max(first.id, other.id)))
            if why is not None and why.sure and not other.fixed:
                found.append((other.id, first.id, why.reason))
    return found


def merge_revisions(original: str, into: str, reason: str, histories: Mapping[str, Sequence[Revision]], actor: str) -> list[Revision]:
    """The merge of one object and what was said of it said of the other, a statement for each document, so that one that goes takes its
    own share along. Empty where the original is not wholly current: superseded words must not come back under another name."""
    verdict = judge(histories[original], about=original)
    live = [r for r in stated(histories[original]) if r.object_id == original and isinstance(r.statement, Statement)]
    target = next((r for r in judge(histories[into], about=into).supports if isinstance(r.statement, Statement)), None)
    authored = any(r.statement.mode is Mode.AUTHORED for r in live if isinstance(r.statement, Statement))
    if not live or target is None or authored or {r.id for r in live} != {r.id for r in verdict.supports}:
        return []
    lead = lead_of(histories[into], into)
    merged = new_revision(RevisionKind.MERGE, original, live[0].object_type, replaces=tuple(sorted(r.id for r in live)), into=(into,), reason=reason, actor=actor)
    known = {h.id: h for i in (original, into) for h in histories[i]}
    said = [
        new_revision(RevisionKind.ASSERT, into, target.object_type, document=r.document, evidence=r.evidence, actor=actor,
                     statement=said_of(r.statement, lead.title, lead.identity))  # type: ignore[arg-type]
        for r in sorted(live, key=lambda r: (r.document, r.id))]
    return [again(merged, known), *(again(r, known) for r in {r.id: r for r in said}.values())]


def lead_of(history: Sequence[Revision], id_: str) -> Statement:
    """The statement that gives an object its title."""
    told = [r.statement for r in judge(history, about=id_).supports if isinstance(r.statement, Statement)]
    authored = [s for s in told if s.mode is Mode.AUTHORED]
    return authored[-1] if authored else max(told, key=lambda s: s.confidence)
