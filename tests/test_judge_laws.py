"""What `judge` says of a history, as laws."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import A, B, DAYS, day_intervals, sign_offs, told

from smb.model.currentness import AsOf, Standing, Verdict, as_object, judge, stated
from smb.model.evidence import Span
from smb.model.identity import object_id
from smb.model.revision import Revision, RevisionKind
from smb.model.validity import Interval

K = RevisionKind


@st.composite
def histories(draw: st.DrawFn, foreign: bool = True) -> list[Revision]:
    """What may have happened to object A, in the order of recording: every kind, replacing whatever came before."""
    said: list[Revision] = []
    at = DAYS[0]
    for n in range(draw(st.integers(0, 8))):
        at += timedelta(hours=draw(st.sampled_from((0, 6, 24))))
        kind = draw(st.sampled_from((K.ASSERT, K.ASSERT, *RevisionKind)))
        before = [r.id for r in said]
        replaces: tuple[str, ...] = ()
        if before and kind not in (K.CONTEST, K.VERIFY):
            replaces = tuple(draw(st.lists(st.sampled_from(before), max_size=2, unique=True)))
        if kind in (K.ASSERT, K.SUPERSEDE):
            object_ = draw(st.sampled_from((A, B))) if foreign and replaces else A
            evidence, valid = (Span("a" * 64, n // 2, n // 2 + 1, 1, 1, "x"),), draw(day_intervals())
            said.append(told(at, kind, object_, valid=valid, document=f"d{n}", replaces=replaces, evidence=evidence))
        else:
            into = (B,) if kind in (K.MERGE, K.SPLIT, K.CONTEST) else ()
            signed = {"statement": draw(sign_offs())} if kind is K.VERIFY else {}
            said.append(told(at, kind, valid=None, replaces=replaces, into=into, reason=f"{kind} {n}", **signed))
    return said


def as_ofs() -> st.SearchStrategy[AsOf]:
    return st.builds(AsOf, st.none() | st.sampled_from(DAYS), st.none() | st.sampled_from(DAYS))


@given(histories(), as_ofs(), st.randoms())
@settings(max_examples=100, deadline=None)
def test_order_and_repetition_of_a_history_are_nothing(history: list[Revision], as_of: AsOf, shuffler: random.Random) -> None:
    """The verdict and the object are those of the set of revisions."""
    mixed = [*history, *(r for r in history if shuffler.random() < 0.3)]
    shuffler.shuffle(mixed)
    assert judge(mixed, as_of) == judge(history, as_of)
    assert as_object(mixed, as_of) == as_object(history, as_of)


def test_of_a_revision_recorded_twice_the_first_recording_counts() -> None:
    """Two clones said the same; whoever has both transactions answers as whoever has the first."""
    first = told(DAYS[0], K.ASSERT)
    again = replace(first, recorded_at=DAYS[3], transaction="later")
    assert judge([first, again], AsOf(known_at=DAYS[1])) == judge([first])
    assert judge([first, again]) == judge([first])


@given(histories(), st.none() | st.sampled_from(DAYS), st.sampled_from(DAYS))
@settings(max_examples=100, deadline=None)
def test_what_was_known_then_is_the_verdict_on_what_was_recorded_by_then(
    history: list[Revision], at: datetime | None, then: datetime
) -> None:
    """judge(history, known_at=t) == judge([r recorded <= t]), so late evidence never changes the past's answer."""
    by_then = [r for r in history if r.recorded_at is not None and r.recorded_at <= then]
    assert judge(history, AsOf(at, then)) == judge(by_then, AsOf(at)) == judge(by_then, AsOf(at, then))
    late = told(then + timedelta(seconds=1), K.REVOKE, valid=None, replaces=tuple(r.id for r in history))
    assert judge([*history, late], AsOf(at, then)) == judge(history, AsOf(at, then))


@given(st.lists(day_intervals(), min_size=1, max_size=3), st.none() | st.sampled_from(DAYS), st.sampled_from(DAYS[2:]))
def test_a_revoke_takes_away_from_its_recording_on(valids: list[Interval], at: datetime | None, known: datetime) -> None:
    """At every valid time, and not a moment before it was recorded."""
    said = [told(DAYS[1], K.ASSERT, valid=valid, document=f"d{n}") for n, valid in enumerate(valids)]
    revoke = told(DAYS[4], K.REVOKE, valid=None, replaces=tuple(r.id for r in said), reason="source removed")
    verdict = judge([*said, revoke], AsOf(at, known))
    if known < DAYS[4]:
        assert verdict == judge(said, AsOf(at))
    else:
        assert verdict.standing is Standing.REVOKED and verdict.by == (revoke,) and verdict.reason == "source removed"


def test_a_revoke_of_one_support_leaves_the_others() -> None:
    """Two documents say it, one is removed: it stands on the other."""
    one, two = told(DAYS[0], K.ASSERT, document="d1"), told(DAYS[0], K.ASSERT, document="d2")
    verdict = judge([one, two, told(DAYS[1], K.REVOKE, valid=None, replaces=(one.id,))])
    assert verdict.standing is Standing.CURRENT and verdict.supports == (two,)


def test_revoking_a_revoke_brings_back_what_it_took() -> None:
    """Undo, once."""
    said = told(DAYS[0], K.ASSERT)
    revoke = told(DAYS[1], K.REVOKE, valid=None, replaces=(said.id,))
    undo = told(DAYS[2], K.REVOKE, valid=None, replaces=(revoke.id,))
    assert [judge(h).standing for h in ([said, revoke], [said, revoke, undo])] == [Standing.REVOKED, Standing.CURRENT]


def test_undo_and_redo_alternate_however_often() -> None:
    """A revoke that was revoked takes nothing away, at any depth."""
    said = [told(DAYS[0], K.ASSERT)]
    for n in range(1, 6):
        said.append(told(DAYS[n], K.REVOKE, valid=None, replaces=(said[-1].id,), reason=str(n)))
        assert judge(said).standing is (Standing.REVOKED if n % 2 else Standing.CURRENT)


@given(st.sampled_from(DAYS[1:]), st.sampled_from(DAYS), day_intervals())
def test_before_a_supersede_starts_the_old_value_holds_and_ends_there(start: datetime, at: datetime, old_valid: Interval) -> None:
    """Its interval is closed at the start of the newer validity, whenever that was recorded."""
    old = told(DAYS[7], K.ASSERT, valid=old_valid)
    new = told(DAYS[0], K.SUPERSEDE, B, valid=Interval(start), replaces=(old.id,))
    if at < start and old_valid.contains(at):
        verdict = judge([old, new], AsOf(at))
        assert verdict.standing is Standing.CURRENT and verdict.supports == (old,) and verdict.valid == old_valid.closed_at(start)


@pytest.mark.parametrize(
    ("start", "at"), [(DAYS[3], DAYS[3]), (DAYS[3], DAYS[6]), (DAYS[3], None), (None, DAYS[0]), (None, None)]
)
def test_from_its_start_a_supersede_takes_the_place_of_what_it_replaces(start: datetime | None, at: datetime | None) -> None:
    """The old claim is superseded, by the new one and into its object; the new claim is current."""
    old = told(DAYS[0], K.ASSERT, A, valid=Interval(DAYS[0]))
    new = told(DAYS[1], K.SUPERSEDE, B, valid=Interval(start), replaces=(old.id,))
    assert judge([new], AsOf(at)).standing is Standing.CURRENT
    verdict = judge([old, new], AsOf(at), A)
    assert (verdict.standing, verdict.supports, verdict.by, verdict.into) == (Standing.SUPERSEDED, (old,), (new,), (B,))
    shown = as_object([old, new], AsOf(at), A)
    assert shown is not None and shown.id == A and shown.status == "revised"


@pytest.mark.parametrize(("kind", "standing"), [(K.REVOKE, Standing.REVOKED), (K.MERGE, Standing.MERGED)])
def test_a_revoke_or_merge_after_a_supersede_is_seen_with_and_without_a_time(kind: RevisionKind, standing: Standing) -> None:
    """The same history has one fate, asked for a day or for whenever."""
    old = told(DAYS[0], K.ASSERT, A, valid=Interval(DAYS[0]))
    new = told(DAYS[1], K.SUPERSEDE, B, valid=Interval(DAYS[5]), replaces=(old.id,))
    gone = told(DAYS[2], kind, A, valid=None, replaces=(old.id,), into=(object_id("claim", "c"),) if kind is K.MERGE else ())
    assert judge([old, new, gone], AsOf(DAYS[1]), A).standing is standing
    assert judge([old, new, gone], about=A).standing is standing


def test_a_later_statement_of_the_same_object_replaces_silently() -> None:
    """A new version of the document says it again: current, on the new words only."""
    old = told(DAYS[0], K.ASSERT, document="d", valid=Interval(DAYS[0]))
    new = told(DAYS[1], K.SUPERSEDE, document="d", valid=Interval(DAYS[2]), replaces=(old.id,))
    verdict = judge([old, new])
    assert verdict == Verdict(Standing.CURRENT, (new,), valid=Interval(DAYS[2]))
    assert judge([old, new], AsOf(DAYS[1])).standing is Standing.NOT_YET_VALID


@given(st.integers(1, 4), st.booleans(), st.none() | st.sampled_from(DAYS))
def test_a_superseding_claim_that_is_restated_closes_only_what_the_restatement_names(times: int, names: bool, at: datetime | None) -> None:
    """However often; and where it is not named any more the old claim stands as if it had never been superseded."""
    old = told(DAYS[0], K.ASSERT, A)
    said, last = [old], told(DAYS[1], K.SUPERSEDE, B, valid=Interval(DAYS[2]), replaces=(old.id,), document="b0")
    said.append(last)
    for n in range(1, times + 1):
        also = (old.id,) if names or n < times else ()
        last = told(DAYS[1] + timedelta(hours=n), K.SUPERSEDE, B, valid=Interval(DAYS[2]), replaces=(last.id, *also), document=f"b{n}")
        said.append(last)
    verdict = judge(said, AsOf(at), A)
    if names:
        assert verdict.by in ((last,), ()) and (verdict.standing is Standing.CURRENT) == (at is not None and at < DAYS[2])
        assert judge([*said, told(DAYS[6], K.REVOKE, B, valid=None, replaces=(last.id,))], AsOf(at), A) == judge([old], AsOf(at), A)
    else:
        assert verdict == judge([old], AsOf(at), A)


@given(histories(), st.none() | st.sampled_from(DAYS))
@settings(max_examples=60, deadline=None)
def test_revoking_every_statement_of_the_others_gives_back_what_they_superseded(history: list[Revision], at: datetime | None) -> None:
    """B gone, A is what A's own history says."""
    own = [r for r in history if r.object_id == A]
    gone = told(DAYS[7] + timedelta(days=9), K.REVOKE, B, valid=None, replaces=tuple(r.id for r in history if r.object_id == B))
    assert judge([*history, gone], AsOf(at), A) == judge(own, AsOf(at), A)


def test_revoking_a_restatement_does_not_bring_back_what_it_restated() -> None:
    """The document has said something else since: with it gone nothing of it is left."""
    first = told(DAYS[0], K.ASSERT, document="d", valid=Interval(DAYS[0]))
    again = told(DAYS[1], K.ASSERT, document="d", valid=Interval(DAYS[1]), replaces=(first.id,))
    removed = told(DAYS[2], K.REVOKE, valid=None, replaces=(again.id,), reason="source removed")
    assert judge([first, again, removed]).standing is Standing.REVOKED
    assert judge([first, again, removed], AsOf(known_at=DAYS[1])).supports == (again,)


@given(histories(), as_ofs())
@settings(max_examples=60, deadline=None)
def test_what_is_stated_holds_every_support_and_nothing_a_verdict_calls_gone(history: list[Revision], as_of: AsOf) -> None:
    """`stated` is the supports of every standing but revoked, merged and split, whatever the valid time."""
    known, verdict = {r.id for r in stated(history, as_of)}, judge(history, as_of, A)
    supports = {r.id for r in verdict.supports}
    if verdict.standing in (Standing.REVOKED, Standing.MERGED, Standing.SPLIT):
        assert not supports & known or any(r.kind is K.VERIFY for r in history)
    else:
        assert supports <= known


@given(day_intervals(), st.none() | st.sampled_from(DAYS))
def test_a_contest_leaves_both_standing(valid: Interval, at: datetime | None) -> None:
    """Both claims keep their supports and their interval; where one holds it is contested, undone it is current again."""
    for mine, other in ((A, B), (B, A)):
        said = told(DAYS[0], K.ASSERT, mine, valid=valid)
        contest = told(DAYS[1], K.CONTEST, mine, valid=None, into=(other,), reason="36 or 48")
        before, after = judge([said], AsOf(at)), judge([said, contest], AsOf(at))
        assert after.supports == before.supports and after.valid == before.valid and after.holds == before.holds
        if before.standing is Standing.CURRENT:
            assert (after.standing, after.by, after.into, after.reason) == (Standing.CONTESTED, (contest,), (other,), "36 or 48")
        settled = told(DAYS[2], K.REVOKE, mine, valid=None, replaces=(contest.id,))
        assert judge([said, contest, settled], AsOf(at)) == before


@given(st.sampled_from((K.MERGE, K.SPLIT)), st.lists(day_intervals(), min_size=1, max_size=3), st.none() | st.sampled_from(DAYS))
def test_a_merge_or_split_points_onward(kind: RevisionKind, valids: list[Interval], at: datetime | None) -> None:
    """At every valid time, once recorded; undone it is as it was."""
    said = [told(DAYS[0], K.ASSERT, valid=valid, document=f"d{n}") for n, valid in enumerate(valids)]
    moved = told(DAYS[2], kind, valid=None, replaces=tuple(r.id for r in said), into=(B, "c" * 12))
    verdict = judge([*said, moved], AsOf(at))
    assert verdict.standing is (Standing.MERGED if kind is K.MERGE else Standing.SPLIT)
    assert verdict.into == (B, "c" * 12) and verdict.by == (moved,) and not verdict.holds
    assert judge([*said, moved], AsOf(at, DAYS[1])) == judge(said, AsOf(at))
    undo = told(DAYS[3], K.REVOKE, valid=None, replaces=(moved.id,))
    assert judge([*said, moved, undo], AsOf(at)) == judge(said, AsOf(at))


@given(day_intervals(), st.sampled_from(DAYS))
def test_outside_its_interval_a_claim_is_expired_or_not_yet_valid(valid: Interval, at: datetime) -> None:
    """And current just inside it."""
    standing = judge([told(DAYS[0], K.ASSERT, valid=valid)], AsOf(at)).standing
    if valid.start is not None and at < valid.start:
        assert standing is Standing.NOT_YET_VALID
    else:
        assert standing is (Standing.CURRENT if valid.contains(at) else Standing.EXPIRED)


def test_nothing_known_is_unknown() -> None:
    """No history, only a verification, or nothing recorded by then."""
    assert judge([]).standing is Standing.UNKNOWN and as_object([]) is None
    assert judge([told(DAYS[0], K.VERIFY, valid=None, reason="rejected")]).standing is Standing.UNKNOWN
    assert judge([told(DAYS[3], K.ASSERT)], AsOf(known_at=DAYS[2])) == Verdict(Standing.UNKNOWN)


@given(histories(foreign=False), as_ofs())
@settings(max_examples=100, deadline=None)
def test_an_object_shows_the_verdict_and_only_its_supports(history: list[Revision], as_of: AsOf) -> None:
    """Its evidence is that of its supports, each span once; its status renders the standing; nothing known, nothing shown."""
    verdict, shown = judge(history, as_of), as_object(history, as_of)
    assert (shown is None) == (verdict.standing is Standing.UNKNOWN)
    if shown is not None:
        assert shown.id == A and set(shown.evidence) == {span for r in verdict.supports for span in r.evidence}
        assert len(shown.evidence) == len(set(shown.evidence)) and (shown.status == "active") == (
            verdict.standing in (Standing.CURRENT, Standing.NOT_YET_VALID))
        assert shown.revision in {r.id for r in verdict.supports} and shown.location.endswith(f"-{A}.md")
