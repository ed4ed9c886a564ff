"""Which claim takes the place of which, as laws over histories without a bank."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smb.ingest.change import old_values, pointed_back
from smb.model.measure import value_of, with_unit, without_unit
from smb.ingest.supersede import related_subjects, settle
from smb.model.currentness import Standing, judge
from smb.model.evidence import Span
from smb.model.identity import object_id, sha256_hex
from smb.model.revision import Revision, RevisionKind, Statement, new_revision
from smb.model.validity import ALWAYS, Interval

K = RevisionKind
DAY = datetime(2031, 1, 1, tzinfo=timezone.utc)
CLAIM = "claim"


@dataclass(frozen=True)
class Note:
    """One document that states one value of the tank's level."""

    name: str
    value: str
    day: int | None
    corrects: bool = False

    def revision(self, version: int = 0, replaces: tuple[str, ...] = ()) -> Revision:
        title = f"Tank level is now {self.value}." if self.corrects else f"Tank – Level: {self.value}"
        said = Statement(title, title.lower(), subject="tank", attribute="level", value=self.value, tags=("correction",) * self.corrects,
                         valid=ALWAYS if self.day is None else Interval(DAY + timedelta(days=self.day)))
        span = Span(sha256_hex(f"{self.name}{version}".encode()), 0, len(title), 1, 1, title)
        return new_revision(K.ASSERT, object_id(CLAIM, title), CLAIM, document=self.name, statement=said, evidence=(span,), replaces=replaces)


class World:
    """A ledger of claims that is settled with every batch."""

    def __init__(self, *single: str):
        self.said: dict[str, Revision] = {}
        self.now, self.single = DAY, frozenset(single)

    def take(self, *planned: Revision) -> int:
        """Settles and records; returns how many revisions came of it."""
        self.now += timedelta(hours=1)
        found = settle(self.said.values(), planned, self.single)
        for r in found:
            assert r.id not in self.said
            self.said[r.id] = Revision(**{f: getattr(r, f) for f in Revision.__slots__} | {"recorded_at": self.now})
        return len(found)

    def heads(self, name: str) -> list[Revision]:
        closed = {t for r in self.said.values() for t in r.replaces if r.kind is K.REVOKE or t in self.said and self.said[t].object_id == r.object_id}
        return [r for r in self.said.values() if r.document == name and r.id not in closed and r.kind in (K.ASSERT, K.SUPERSEDE)]

    def remove(self, name: str) -> None:
        self.take(*(new_revision(K.REVOKE, r.object_id, CLAIM, document=name, replaces=(r.id,)) for r in self.heads(name)))

    def edit(self, note: Note, version: int) -> None:
        self.take(note.revision(version, tuple(r.id for r in self.heads(note.name))))

    def standing(self) -> dict[str, Standing]:
        objects = {r.object_id: r.statement.title for r in self.said.values() if isinstance(r.statement, Statement)}
        return {title: judge(self.said.values(), about=i).standing for i, title in sorted(objects.items())}


def notes(most: int = 6) -> st.SearchStrategy[list[Note]]:
    one = st.tuples(st.sampled_from(("3 m", "4 m", "5 m", "300 cm")), st.none() | st.integers(0, 3), st.booleans())
    return st.lists(one, min_size=1, max_size=most).map(lambda told: [Note(f"n{n}", *t) for n, t in enumerate(told)])


@given(notes(), st.randoms(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_order_of_arrival_is_nothing(told: list[Note], shuffler: random.Random, listed: bool) -> None:
    """One at a time in any order, or all at once: the same standing, and nothing left to settle."""
    at_once, one_by_one = World(*["level"] * listed), World(*["level"] * listed)
    at_once.take(*(n.revision() for n in told))
    for n in shuffler.sample(told, len(told)):
        one_by_one.take(n.revision())
    assert at_once.standing() == one_by_one.standing()
    assert at_once.take() == one_by_one.take() == 0


@given(notes(5), st.data())
@settings(max_examples=150, deadline=None)
def test_what_is_left_after_edits_and_removals_stands_as_if_nothing_else_had_been(told: list[Note], data: st.DataObject) -> None:
    """Undoing: a removed claim leaves no trace in the standing of the others, an edited one only its new place."""
    world, kept = World("level"), {n.name: n for n in told}
    world.take(*(n.revision() for n in told))
    for version in range(1, data.draw(st.integers(1, 4)) + 1):
        if not kept:
            break
        name = data.draw(st.sampled_from(sorted(kept)))
        if data.draw(st.booleans()):
            world.remove(name)
            del kept[name]
        else:
            kept[name] = Note(name, kept[name].value, data.draw(st.none() | st.integers(0, 3)), kept[name].corrects)
            world.edit(kept[name], version)
    fresh = World("level")
    fresh.take(*(n.revision(99) for n in kept.values()))
    alive = fresh.standing()
    assert {t: s for t, s in world.standing().items() if t in alive} == alive
    assert {s for t, s in world.standing().items() if t not in alive} <= {Standing.REVOKED}


@given(notes())
@settings(max_examples=100, deadline=None)
def test_a_single_valued_key_never_has_two_uncontested_values(told: list[Note]) -> None:
    """And something always holds: superseding never leaves a key empty."""
    world = World("level")
    world.take(*(n.revision() for n in told))
    standing = world.standing()
    values = {Note("", n.value, n.day, n.corrects).revision().statement.title: value_of(n.value) for n in told}  # type: ignore[union-attr]
    assert any(s in (Standing.CURRENT, Standing.CONTESTED) for s in standing.values())
    assert len({values[t] for t, s in standing.items() if s is Standing.CURRENT}) <= 1


@given(notes())
@settings(max_examples=60, deadline=None)
def test_without_a_correction_an_unlisted_key_keeps_every_value(told: list[Note]) -> None:
    world = World()
    world.take(*(Note(n.name, n.value, n.day).revision() for n in told))
    assert set(world.standing().values()) == {Standing.CURRENT}


def test_listing_a_key_later_gives_what_listing_it_first_would_have_and_taking_it_off_undoes_that() -> None:
    told = [Note("a", "3 m", 0), Note("b", "4 m", 2), Note("c", "5 m", None)]
    first, later = World("level"), World()
    for world in (first, later):
        world.take(*(n.revision() for n in told))
    before = later.standing()
    later.single = frozenset(("level",))
    later.take()
    assert later.standing() == first.standing() != before
    later.single = frozenset()
    later.take()
    assert later.standing() == before


def test_many_dated_values_of_one_key_settle_without_trouble() -> None:
    world = World("level")
    world.take(*(Note(f"n{n}", f"{n} m", n).revision() for n in range(300)))
    standing = list(world.standing().values())
    assert standing.count(Standing.CURRENT) == 1 and standing.count(Standing.SUPERSEDED) == 299
    assert max(len(r.replaces) for r in world.said.values()) == 1


def changed(name: str, old: str, new: str) -> Revision:
    title = f"The level of Tank was {old}, now it is {new}."
    said = Statement(title, title.lower(), subject="tank", attribute="level", value=new, tags=("correction",))
    return new_revision(K.ASSERT, object_id(CLAIM, title), CLAIM, document=name, statement=said, evidence=(Span("a" * 64, 0, 9, 1, 1, title),))


def test_two_undated_corrections_of_each_other_settle_nothing() -> None:
    unlisted, listed = World(), World("level")
    for world in (unlisted, listed):
        world.take(changed("a", "3 m", "4 m"), changed("b", "4 m", "3 m"))
    assert set(unlisted.standing().values()) == {Standing.CURRENT} and set(listed.standing().values()) == {Standing.CONTESTED}


def test_corrections_in_a_circle_leave_something_standing_and_come_to_rest() -> None:
    world = World()
    world.take(changed("a", "3 m", "4 m"), changed("b", "4 m", "5 m"), changed("c", "5 m", "3 m"))
    assert Standing.CURRENT in world.standing().values()
    assert world.take() == 0


@pytest.mark.parametrize(
    ("one", "other"),
    [("1,280 °C", "1280°C"), ("18 kW, three-phase", "18000 W"), ("14 days", "2 weeks"), ("8443", "port 8443"), ("€0.92/kg, delivered", "0.92 €/kg"),
     ("900度", "900 ℃"), ("Type S", "type S"), ("1.09 m", "109 cm")],
)
def test_two_writings_of_a_value_are_equal(one: str, other: str) -> None:
    assert value_of(one) == value_of(other)


@pytest.mark.parametrize(("one", "other"), [("12", "12 %"), ("12 kg", "12 m"), ("10.20.0.5", "10.20.0.6"), ("v4.2", "4.2"), ("€5", "$5"), ("1.280 °C", "1280 °C")])
def test_different_values_differ(one: str, other: str) -> None:
    assert value_of(one) != value_of(other)


@given(st.text(max_size=30))
def test_every_text_has_a_value(text: str) -> None:
    assert value_of(text) == value_of(text)
    attribute, unit = without_unit(text)
    assert attribute or not unit
    assert with_unit("7", unit)


def test_related_subjects_are_a_closed_and_small_family() -> None:
    """Whoever is related to a subject has it among its own."""
    for subject in ("ssh", "sshd", "backup", "backups", "glass"):
        assert all(subject in related_subjects(other) for other in related_subjects(subject) if len(other) > 3)
    assert "kiln south" not in related_subjects("kiln north")


def test_old_values_are_those_a_sentence_says_are_over() -> None:
    assert old_values("The fee was €40, now it is €45.") == ("€40",)
    assert old_values("The rota moved from Monday to Tuesday.") == ("Monday",)
    assert old_values("It is 1000 °C now, not 980 °C.") == ("980 °C",)
    assert old_values("The lamp is green.") == ()
    assert pointed_back("We moved the depot; it is in Harrow now") == "depot is in Harrow now"
    assert pointed_back("We like the depot; it is in Harrow now") == ""
