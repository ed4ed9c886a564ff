"""Which claim takes the place of which.

Owns the rule (DESIGN.md, section 6). A claim supersedes another of the same key and another value where it corrects it in
so many words, or where the key is single-valued and it is dated later. Two values of a single-valued key that nothing
orders contest each other. "No longer" ends the claim it denies, word for word.

Pure and order-free: it looks at all claims of a key that count, whenever they came, and says what links they should
have; links that are missing or have lost their reason come out as revisions. Never compares claims of different subjects.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from smb.ingest.change import denied, old_values
from smb.model.measure import Value, value_of
from smb.ingest.signals import struck
from smb.model.currentness import stated
from smb.model.disagreement import ended_by
from smb.model.identity import fold_proposition, object_id
from smb.model.objects import MemoryType
from smb.model.revision import Revision, RevisionKind, Statement, new_revision

ACTOR = "keys"
CORRECTED = "corrected"
LATER = "later value of a single-valued key"
RULES = frozenset((CORRECTED, LATER))
UNNAMED = frozenset(("value", "値"))  # attributes that say nothing of what is measured
MOST_CONTESTED = 32  # claims of one key; more of them say that the key is not single-valued after all
CLAIM = MemoryType.CLAIM.value
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Observation:
    """One claim of a key as one document states it. `corrects` says that its words speak of a change, `olds` from what."""

    revision: Revision
    said: Statement
    value: Value
    corrects: bool
    olds: frozenset[Value]

    @property
    def key(self) -> Key:
        return self.said.subject, self.said.attribute

    @property
    def start(self) -> datetime | None:
        return self.said.valid.start

    def later_than(self, other: Observation) -> bool:
        """Whether its time begins when the other's has begun, or is over: known only from dates."""
        if self.start is None:
            return False
        began = other.start if other.start is not None else other.said.valid.end
        return began is not None and (began < self.start or other.start is None and began == self.start)


def observed(revision: Revision) -> Observation | None:
    """What a revision observes; None unless it states a claim that can supersede or be superseded."""
    said = revision.statement
    if revision.object_type != CLAIM or not isinstance(said, Statement):
        return None
    corrects = "correction" in said.tags
    olds = frozenset(value_of(old) for text in _spoken(revision, said) for old in text) if corrects else frozenset()
    return Observation(revision, said, value_of(said.value), corrects, olds)


def _spoken(revision: Revision, said: Statement) -> Iterable[Iterable[str]]:
    yield old_values(said.title)
    for span in revision.evidence:
        yield struck(span.quote)


def related_subjects(subject: str) -> tuple[str, ...]:
    """The folded subjects a correction may mean by `subject` or be meant by: itself, its plural, its daemon."""
    forms = {subject, f"{subject}s", f"{subject}d"}
    if len(subject) > 3 and subject[-1] in "sd":
        forms.add(subject[:-1])
    return tuple(sorted(forms))


def denied_object(title: str) -> str:
    """The id of the claim that a "no longer" sentence ends; "" for any other sentence."""
    ended = denied(title)
    return object_id(CLAIM, fold_proposition(ended)) if ended else ""


def settle(history: Iterable[Revision], planned: Sequence[Revision], single_valued: Collection[str]) -> list[Revision]:
    """`planned` with the links its claims should have, and what else makes the links of all of `history` right.

    `history` holds every revision of the claims that share a key (or a related one) with what is planned, and of those
    that supersede them. `single_valued` are folded attributes.
    """
    known = {r.id: r for r in history}
    fresh = {r.id: r for r in planned if r.object_type == CLAIM}
    world = {**known, **fresh}
    counting = stated(world.values())
    live = {r.id: r for r in counting}
    held = _held(live)
    seen = [o for r in counting if r.id not in held and (o := observed(r)) is not None]
    seen = _adopted(seen)
    links = _upheld(world, counting) | _links(seen, single_valued)
    adopted = {o.revision.id: o.said for o in seen if o.said is not o.revision.statement}
    changed = _relinked(live, known, fresh, links, adopted)
    after = [changed.get(r.id, r) for r in planned]
    after += [r for i, r in changed.items() if i not in fresh]
    return after + _contests(world, counting, seen, links, single_valued)


def _held(live: Mapping[str, Revision]) -> set[str]:
    """What a claim of the same document has superseded and still does: no observation of its own any more."""
    return {t for r in live.values() for t in r.replaces if t in live and live[t].object_id != r.object_id and live[t].document == r.document and r.document}


def _upheld(world: Mapping[str, Revision], counting: Iterable[Revision]) -> dict[str, dict[str, str]]:
    """What was superseded on other grounds (a person's edit) and has been restated since: it stays superseded."""
    restated = {t: r.id for r in counting for t in r.replaces if t in world and world[t].object_id == r.object_id}
    links: dict[str, dict[str, str]] = {}
    for r in counting:
        for t in r.replaces:
            if t in restated and r.reason not in RULES and world[t].object_id != r.object_id and (not r.document or world[t].document != r.document):
                links.setdefault(r.id, {})[restated[t]] = r.reason
    return links


def _adopted(seen: list[Observation]) -> list[Observation]:
    """Corrections that name no attribute ("We moved sshd; it is 49222 now") take the key of the one claim they can mean: of
    a related subject, with a value of the same kind, not dated later."""
    keyed: dict[str, list[Observation]] = {}
    for o in seen:
        if o.said.attribute and o.said.attribute not in UNNAMED:
            keyed.setdefault(o.said.subject, []).append(o)
    return [_with_key(o, keyed) if o.corrects and o.said.attribute in UNNAMED else o for o in seen]


def _with_key(o: Observation, keyed: Mapping[str, list[Observation]]) -> Observation:
    meant = {
        other.key
        for subject in related_subjects(o.said.subject)
        for other in keyed.get(subject, ())
        if other.value.kind == o.value.kind != "text" and not other.later_than(o)
        and (not o.olds or other.value in o.olds)
    }
    if len(meant) != 1:
        return o
    ((subject, attribute),) = meant
    return replace(o, said=replace(o.said, subject=subject, attribute=attribute))


# ---------------------------------------------------------------- which links there should be

def _links(seen: Sequence[Observation], single_valued: Collection[str]) -> dict[str, dict[str, str]]:
    """Revision id → ids of the revisions it should supersede, each with the rule that says so."""
    links: dict[str, dict[str, str]] = {}
    keys: dict[Key, list[Observation]] = {}
    by_object: dict[str, list[Observation]] = {}
    for o in seen:
        by_object.setdefault(o.revision.object_id, []).append(o)
        if o.said.attribute:
            keys.setdefault(o.key, []).append(o)
    for (_, attribute), group in keys.items():
        if attribute in single_valued:
            _by_date(group, links)
        _by_correction(group, links, attribute in single_valued)
    for o in seen:
        for other in by_object.get(denied_object(o.said.title), ()) if o.corrects else ():
            if not other.later_than(o):
                links.setdefault(o.revision.id, {})[other.revision.id] = CORRECTED
    return links


def _by_date(group: Sequence[Observation], links: dict[str, dict[str, str]]) -> None:
    """Each claim is superseded by the next later one of another value (by all of that date that differ)."""
    dated = sorted((o for o in group if o.start is not None), key=lambda o: (o.start, o.revision.id))
    starts = [o.start for o in dated]
    for o in group:
        if o.start is not None:
            at = bisect_right(starts, o.start)  # type: ignore[type-var]
        elif o.said.valid.end is not None:
            at = bisect_left(starts, o.said.valid.end)  # type: ignore[type-var]
        else:
            continue
        first: datetime | None = None
        for other in dated[at:]:
            if first is not None and other.start != first:
                break
            if _differ(o, other):
                first = other.start
                links.setdefault(other.revision.id, {})[o.revision.id] = LATER


def _differ(one: Observation, other: Observation) -> bool:
    """Whether they are claims of two objects with two values."""
    return one.value != other.value and one.revision.object_id != other.revision.object_id


def _by_correction(group: Sequence[Observation], links: dict[str, dict[str, str]], single: bool) -> None:
    for o in group:
        if not o.corrects:
            continue
        others = [other for other in group if _differ(o, other) and not other.later_than(o) and (not single or not o.later_than(other))]
        named = [other for other in others if other.value in o.olds]
        for other in named or others:
            if _outspoken(o, other) and not _outspoken(other, o):
                links.setdefault(o.revision.id, {})[other.revision.id] = CORRECTED


def _outspoken(o: Observation, other: Observation) -> bool:
    """Whether `o` can be said to correct `other`: it does so in words, and by name where only the other is dated or both
    correct and no date tells which came first."""
    if not o.corrects:
        return False
    if o.later_than(other) or other.value in o.olds:
        return True
    return not other.corrects and not (o.start is None and other.start is not None)


# ---------------------------------------------------------------- what makes them so

def _relinked(live: Mapping[str, Revision], known: Collection[str], fresh: Mapping[str, Revision], links: Mapping[str, Mapping[str, str]],
              adopted: Mapping[str, Statement]) -> dict[str, Revision]:
    """Id of a live revision → what takes its place: itself with other links where it is only planned, else a restatement.

    A link names a revision, so whatever is replaced is done before what should supersede it.
    """
    changed: dict[str, Revision] = {}
    begun: set[str] = set()
    done: set[str] = set()
    waiting = sorted(live, key=lambda i: (live[i].object_id, live[i].document, i), reverse=True)
    while waiting:
        id_ = waiting[-1]
        wanted = links.get(id_, {})
        if id_ not in begun:
            begun.add(id_)
            if first := [t for t in wanted if t not in begun]:
                waiting += first
                continue
        waiting.pop()
        if id_ not in done:
            done.add(id_)
            if (new := _with_links(live, id_, {t: rule for t, rule in wanted.items() if t in done}, changed, fresh, adopted)) is not None:
                while new.id in known:  # said once before and closed since
                    new = new_revision(new.kind, new.object_id, new.object_type, **_fields(new) | {"replaces": (*new.replaces, new.id)})
                changed[id_] = new
    return changed


def _fields(r: Revision) -> dict[str, Any]:
    return {"document": r.document, "statement": r.statement, "evidence": r.evidence, "replaces": r.replaces, "reason": r.reason, "actor": r.actor}


def _with_links(live: Mapping[str, Revision], id_: str, wanted: Mapping[str, str], changed: Mapping[str, Revision], fresh: Mapping[str, Revision],
                adopted: Mapping[str, Statement]) -> Revision | None:
    """The revision that gives `live[id_]` the links it should have; None where it has them."""
    revision = live[id_]
    others = [t for t in revision.replaces if t in live and live[t].object_id != revision.object_id]
    kept = [t for t in others if live[t].document == revision.document or revision.reason not in RULES]
    want = list(dict.fromkeys((*kept, *wanted)))
    now = [changed[t].id if t in changed else t for t in want]
    if set(now) == set(others) and id_ not in adopted:
        return None
    own = [t for t in revision.replaces if t not in live] if id_ in fresh else [id_]
    return new_revision(
        RevisionKind.SUPERSEDE if now else RevisionKind.ASSERT, revision.object_id, revision.object_type, document=revision.document,
        statement=adopted.get(id_, revision.statement), evidence=revision.evidence, replaces=tuple(dict.fromkeys((*own, *now))),
        reason=next(iter(wanted.values()), revision.reason if kept else ""), actor=revision.actor if id_ in fresh else ACTOR)


def _contests(world: Mapping[str, Revision], counting: Iterable[Revision], seen: Sequence[Observation], links: Mapping[str, Mapping[str, str]],
              single_valued: Collection[str]) -> list[Revision]:
    """One contest for each claim that another stands against, and the end of those that have lost their reason."""
    closed = {t for targets in links.values() for t in targets} | {t for r in counting if r.reason not in RULES for t in r.replaces}
    keys: dict[Key, list[Observation]] = {}
    for o in seen:
        if o.said.attribute in single_valued and o.revision.id not in closed:
            keys.setdefault(o.key, []).append(o)
    against: dict[str, set[str]] = {}
    for group in keys.values():
        if len({o.revision.object_id for o in group}) > MOST_CONTESTED:
            continue
        for o in group:
            against.setdefault(o.revision.object_id, set()).update(
                other.revision.object_id for other in group if _differ(o, other) and _overlap(o, other))
    ended = ended_by(world.values())
    planned: list[Revision] = []
    contested: dict[str, list[Revision]] = {}
    decided: dict[str, set[str]] = {}
    for r in world.values():
        if r.kind is RevisionKind.CONTEST and r.actor == ACTOR:
            contested.setdefault(r.object_id, []).append(r)
            if (by := ended.get(r.id)) is not None and by.actor != ACTOR:
                decided.setdefault(r.object_id, set()).update(by.into)  # a person has said of these that both may hold
    for id_ in sorted({o.revision.object_id for o in seen} | contested.keys()):
        wanted = tuple(sorted(against.get(id_, set()) - decided.get(id_, set())))
        standing = [r for r in contested.get(id_, ()) if r.id not in ended]
        if over := [r for r in standing if r.into != wanted]:
            planned.append(new_revision(RevisionKind.REVOKE, id_, CLAIM, replaces=tuple(r.id for r in over), reason="settled", actor=ACTOR))
        if wanted and len(over) == len(standing):
            values = " or ".join(sorted({o.said.value for o in seen if o.revision.object_id in (id_, *wanted)}))
            again = tuple(sorted(r.id for r in contested.get(id_, ())))
            planned.append(new_revision(RevisionKind.CONTEST, id_, CLAIM, into=wanted, replaces=again, reason=values, actor=ACTOR))
    return planned


def _overlap(one: Observation, other: Observation) -> bool:
    return one.said.valid.overlaps(other.said.valid) or not one.said.valid.known or not other.said.valid.known
