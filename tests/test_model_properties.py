"""Laws of the model: ids, times, the revision codec and closures. Those of `judge` are in test_judge_laws.py."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import A, B, DAYS, instants, intervals, nasty_text, revisions, told

from smb.model.currentness import AsOf
from smb.model.evidence import Span
from smb.model.identity import SLUG_BYTES, fold, generation_of, object_id, short_hash, slugify
from smb.model.provenance import closure_of
from smb.model.revision import (
    MalformedRevision, Revision, RevisionKind, Statement, new_revision, revision_from_json, revision_to_json,
)
from smb.model.validity import UTC, Interval, TimeError, from_iso, parse_instant, parse_interval, to_iso

K = RevisionKind


# ---------------------------------------------------------------- ids

@given(revisions())
@settings(max_examples=60, deadline=None)
def test_a_revisions_id_is_a_function_of_what_it_says(revision: Revision) -> None:
    """Equal content gives an equal id; recording it changes nothing; any change of content changes the id."""
    fields = {n: getattr(revision, n) for n in ("document", "statement", "evidence", "replaces", "into", "reason", "actor")}
    assert new_revision(revision.kind, revision.object_id, revision.object_type, **fields).id == revision.id
    recorded = replace(revision, recorded_at=DAYS[0], transaction="t")
    assert revision_to_json(recorded) == revision_to_json(revision)
    changed = new_revision(revision.kind, revision.object_id, revision.object_type, **fields | {"reason": revision.reason + "!"})
    assert changed.id != revision.id and len(revision.id) == 16


def test_ids_are_the_same_in_another_process(tmp_path: Path) -> None:
    """No clock, host, hash seed or random value enters an id."""
    script = ("from smb.model.identity import *; from smb.model.revision import *; "
              "print(object_id('claim', 'x'), document_id('notes', 'a.md'), short_hash('a', '窯'), "
              "new_revision(RevisionKind.ASSERT, 'o', 'claim', statement=Statement('t', 'i', tags=('b', 'a'))).id)")
    root = Path(__file__).resolve().parent.parent
    said = {subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": str(root), "PYTHONHASHSEED": seed}, cwd=tmp_path,
                           capture_output=True, text=True, check=True).stdout for seed in ("1", "2")}
    assert len(said) == 1 and said.pop().split()[0] == object_id("claim", "x")


@given(st.lists(nasty_text(), min_size=1, max_size=3), st.lists(nasty_text(), min_size=1, max_size=3))
def test_parts_of_an_id_do_not_run_together(one: list[str], two: list[str]) -> None:
    """Different lists of parts give different ids (U+001F can't be in a part that matters)."""
    if not any("\x1f" in part for part in (*one, *two)):
        assert (short_hash(*one) == short_hash(*two)) == (one == two)


@given(st.lists(st.integers(0, 99).map(str), unique=True), st.randoms())
def test_a_generation_depends_on_the_set_of_ids_only(ids: list[str], shuffler: random.Random) -> None:
    """Order is nothing, one more id is everything."""
    mixed = list(ids)
    shuffler.shuffle(mixed)
    assert generation_of(mixed) == generation_of(ids) != generation_of([*ids, "new"])


@given(nasty_text())
def test_slugs_are_safe_file_names(text: str) -> None:
    """Never empty, never too long, no separator, no leading dot, the same when slugged again."""
    slug = slugify(text)
    assert 0 < len(slug.encode()) <= SLUG_BYTES
    assert not set(slug) & set("/\\:\0\n\t ") and not slug.startswith((".", "-"))
    assert slugify(slug) == slug


@given(nasty_text())
def test_folding_a_folded_ascii_name_changes_nothing(name: str) -> None:
    """Case, hyphens, underscores and outer marks are gone after the first time."""
    ascii_name = name.encode("ascii", "ignore").decode()
    assert fold(fold(ascii_name)) == fold(ascii_name)
    assert fold(ascii_name.upper()) == fold(ascii_name.lower())


# ---------------------------------------------------------------- times

@given(st.dates(min_value=datetime(1, 1, 2).date(), max_value=datetime(9998, 12, 30).date()))
def test_a_written_day_month_or_year_is_the_interval_it_names(day) -> None:
    """Neighbouring days, months and years meet without gap or overlap, and each contains the finer ones."""
    d, m, y = (parse_interval(day.strftime(f)) for f in (f"{day.year:04d}-%m-%d", f"{day.year:04d}-%m", f"{day.year:04d}"))
    assert d.start == datetime(day.year, day.month, day.day, tzinfo=UTC) and d.end - d.start == timedelta(days=1)
    assert m.start == d.start.replace(day=1) and (m.end - timedelta(seconds=1)).month == day.month and m.end.day == 1
    assert y.start == d.start.replace(month=1, day=1) and y.end == y.start.replace(year=day.year + 1)
    assert y.start <= m.start <= d.start < d.end <= m.end <= y.end
    following = day + timedelta(days=1)
    assert parse_interval(f"{following.year:04d}-{following.month}-{following.day}").start == d.end


@given(instants(), st.integers(-14 * 60, 14 * 60), st.sampled_from(("T", " ", "t")), st.booleans())
def test_a_written_instant_is_the_same_moment_in_every_zone(at: datetime, minutes: int, between: str, colon: bool) -> None:
    """With an offset, with Z, or bare (which is UTC), to the second."""
    at = at.replace(microsecond=0)
    local = (at + timedelta(minutes=minutes)).replace(tzinfo=None).isoformat(sep=between)
    sign, rest = "-" if minutes < 0 else "+", abs(minutes)
    zone = f"{sign}{rest // 60:02d}{':' if colon else ''}{rest % 60:02d}"
    bare = at.replace(tzinfo=None).isoformat(sep=between)
    assert parse_instant(local + zone) == parse_instant(bare) == parse_instant(bare + "Z") == at
    assert parse_interval(bare) == Interval(at, at + timedelta(seconds=1))


@pytest.mark.parametrize("text", [
    "", "soon", "2031-02-29", "2031-02-30", "2031-13", "2031-00", "2031-05-00", "2031-05-32", "0000", "0000-01-01", "31",
    "20310508", "2031/05/08",
    "08.05.2031", "2031-05-08T24:00", "2031-05-08T12:60", "2031-05-08T12", "2031-05-08T12:00+25:00", "2031-05-08 noon", "2031Z",
    "9999-12-31",
    "0001-01-01T00:00+02:00", "-2031", "2031-05-08T12:00:00:00", "2031-05-08\n2031-05-09",
])
def test_what_is_no_time_or_an_impossible_one_raises_time_error(text: str) -> None:
    """Never a guess, never another exception; the sentence repeats the text."""
    with pytest.raises(TimeError) as caught:
        parse_interval(text)
    assert repr(text) in str(caught.value) and caught.value.exit_code == 2


@given(nasty_text() | st.from_regex(r"\d{1,4}-\d{1,2}(-\d{1,2}(T\d\d:\d\d(:\d\d)?([+-]\d\d:\d\d)?)?)?", fullmatch=True))
def test_parsing_a_time_raises_nothing_else(text: str) -> None:
    """Any text is an interval that isn't empty, or TimeError."""
    try:
        found = parse_interval(text)
    except TimeError:
        return
    assert found.start is not None and found.end is not None and found.start < found.end
    assert found.start.utcoffset() == timedelta(0)


@given(instants())
def test_iso_text_round_trips(at: datetime) -> None:
    """To the microsecond, always with its offset."""
    text = to_iso(at)
    assert from_iso(text) == at and text is not None and text.endswith("+00:00")
    assert to_iso(None) is None and from_iso(None) is None


@given(intervals(), intervals(), instants())
def test_interval_laws(one: Interval, two: Interval, at: datetime) -> None:
    """Overlap is mutual and implied by a shared instant; closing only takes away, and everything from the end on."""
    assert one.overlaps(two) == two.overlaps(one)
    if one.contains(at) and two.contains(at):
        assert one.overlaps(two)
    closed = one.closed_at(at)
    assert not closed.contains(at)
    for moment in (at - timedelta(days=1), at + timedelta(days=1), *(t for t in (one.start, one.end) if t)):
        assert closed.contains(moment) == (one.contains(moment) and moment < at)


@given(st.lists(st.sampled_from(DAYS), min_size=4, max_size=4))
def test_intervals_overlap_just_when_they_share_an_instant(days: list[datetime]) -> None:
    """Half-open ones that only touch don't."""
    one, two = Interval(*sorted(days[:2])), Interval(*sorted(days[2:]))
    if one.start != one.end and two.start != two.end:
        assert one.overlaps(two) == any(one.contains(day) and two.contains(day) for day in DAYS)


def test_an_empty_interval_overlaps_nothing() -> None:
    """What was closed at its own start holds at no time."""
    assert not Interval(DAYS[1], DAYS[1]).overlaps(Interval(DAYS[0], DAYS[2]))


# ---------------------------------------------------------------- the codec

@given(revisions(), instants())
@settings(max_examples=60, deadline=None)
def test_a_revision_round_trips_through_its_ledger_line(revision: Revision, at: datetime) -> None:
    """Every field, through orjson's bytes; the line is that of the json module, read by either."""
    line = orjson.dumps(revision_to_json(revision))
    assert b"\n" not in line
    back = revision_from_json(orjson.loads(line), at, "tx")
    assert back == replace(revision, recorded_at=at, transaction="tx")
    assert json.loads(line) == orjson.loads(line)


def test_defaults_are_left_out_of_a_ledger_line() -> None:
    """A short statement is a short line."""
    assert revision_to_json(new_revision(K.ASSERT, A, "claim", statement=Statement("t", "i"))) == {
        "rev": new_revision(K.ASSERT, A, "claim", statement=Statement("t", "i")).id, "op": "assert", "object": A, "type": "claim",
        "says": {"title": "t", "identity": "i", "confidence": 0.5},
    }


GOOD = {"rev": "r", "op": "assert", "object": "o", "type": "claim", "says": {"title": "t", "identity": "i"}}
DOCUMENT_SAYS = {"root": "", "path": "", "source": "", "title": "", "headings": [[]], "passages": []}
DOCUMENT_LINE = GOOD | {"type": "document", "says": DOCUMENT_SAYS}


@pytest.mark.parametrize("line", [
    {}, [], "x", GOOD | {"op": "guess"}, GOOD | {"says": {}}, GOOD | {"evidence": [[1]]}, GOOD | {"evidence": 1},
    GOOD | {"replaces": 1},
    GOOD | {"says": GOOD["says"] | {"valid": ["2031", None, 1, "x"]}},
    GOOD | {"says": GOOD["says"] | {"valid": ["yesterday", None]}},
    GOOD | {"says": GOOD["says"] | {"mode": "sung"}}, GOOD | {"says": GOOD["says"] | {"links": [["a", "likes", 1]]}},
    DOCUMENT_LINE | {"says": {}},
], ids=str)
def test_a_line_that_is_no_revision_raises_malformed_revision(line: object) -> None:
    """And nothing else, so that the ledger can name the place."""
    with pytest.raises(MalformedRevision):
        revision_from_json(line)  # type: ignore[arg-type]


@pytest.mark.parametrize("line", [
    GOOD | {"says": 5}, GOOD | {"says": ["title"]},
    DOCUMENT_LINE | {"says": DOCUMENT_SAYS | {"passages": [["paragraph", 1]]}},
    DOCUMENT_LINE | {"says": DOCUMENT_SAYS | {"passages": [["paragraph", 0, 1, 1, 1, 7]]}},
    GOOD | {"says": GOOD["says"] | {"valid": ["2031-01-01T00:00:00+00:00"]}},
], ids=str)
def test_a_line_of_the_wrong_shape_raises_malformed_revision(line: dict[str, object]) -> None:
    """Shapes that only a hostile or half-written line has."""
    with pytest.raises(MalformedRevision):
        revision_from_json(line)


# ---------------------------------------------------------------- closures

@given(st.dictionaries(st.integers(0, 7), st.lists(st.integers(0, 9), max_size=4), min_size=1), st.integers(0, 7))
@settings(max_examples=60, deadline=None)
def test_a_closure_is_whole_and_ends_on_cycles(derived: dict[int, list[int]], start: int) -> None:
    """Just the objects reachable by derived_from, the item first; each deciding revision and each span once."""
    history = {
        str(n): [told(DAYS[0], K.ASSERT, str(n), derived_from=tuple(map(str, inputs)),
                      evidence=(_span(n), _span(n // 2)))] for n, inputs in derived.items()
    }
    reachable, waiting = set(), [str(start)]
    while waiting:
        if (now := waiting.pop()) not in reachable:
            reachable.add(now)
            waiting += [str(i) for i in derived.get(int(now), ())]
    closure = closure_of(str(start), lambda id_: history.get(id_, []))
    assert closure.objects[0] == str(start) and set(closure.objects) == reachable and len(closure.objects) == len(reachable)
    assert sorted(r.object_id for r in closure.revisions) == sorted(reachable & set(history))
    assert set(closure.spans) == {span for r in closure.revisions for span in r.evidence}
    assert len(closure.spans) == len(set(closure.spans))


def test_a_closure_of_thousands_in_a_row_does_not_recurse() -> None:
    """Deep derivations are no deep stacks."""
    history = {str(n): [told(DAYS[0], K.ASSERT, str(n), derived_from=(str(n + 1),))] for n in range(3000)}
    assert len(closure_of("0", lambda id_: history.get(id_, [])).objects) == 3001


def test_a_closure_holds_what_was_known_then() -> None:
    """Later supports are not in it, and what decided the verdict is."""
    first = told(DAYS[0], K.ASSERT, document="d1", evidence=(_span(1),))
    second = told(DAYS[2], K.ASSERT, document="d2", evidence=(_span(2),))
    contest = told(DAYS[1], K.CONTEST, valid=None, into=(B,), evidence=(_span(3),))
    history = [first, second, contest]
    assert closure_of(A, lambda _: history, AsOf(known_at=DAYS[0])).spans == (_span(1),)
    assert set(closure_of(A, lambda _: history).spans) == {_span(1), _span(2), _span(3)}


def _span(n: int) -> Span:
    return Span("a" * 64, n, n + 1, 1, 1, "x")
