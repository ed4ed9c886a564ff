"""Hypothesis strategies for the values of the model, with text of the kind that breaks parsers."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from smb.model.edges import EdgeType
from smb.model.evidence import DanglingLink, DocumentVersion, Passage, Span
from smb.model.identity import document_id, object_id, sha256_hex
from smb.model.objects import Link, MemoryObject, MemoryType, Mode, Status, Verification
from smb.model.revision import DOCUMENT, Revision, RevisionKind, Statement, new_revision
from smb.model.validity import ALWAYS, UTC, Interval, to_iso
from smb.model.verification import Decision, SignOff, form_of

NASTY = (
    "no", "Yes", "null", "~", "y", ".inf", "1e3", "0x1F", "01234", "12:30", "1_000", "2031-05-08", "2031-05-08T13:56:00Z", "3.10",
    "- a", "a: b", "a #b", "#x", "# x", "[x, y]", "[[x]]", "[[a|b]]", "{a: b}", "&a", "*a", "!!int 5", "!x", "%x", "@x", "`x`",
    "> x", "| x",
    "'", "''", '"', '\\"', "\\", "\\n", "\\u2028", "a'b\"c", "---", "...", "a\n---\nb", "?", "? x", ":", "a:", "=", "<<", "\t",
    "a\tb", " a", "a ",
    "", " ", "\n", "a\nb", "\r\n", "a\rb", "a\r\nb", "\u2028", "\u2029", "\x85", "\ufeff", "\ufeffa", "\x00", "\x07", "\x1b[0m",
    "\x7f",
    "\ufffe", "\uffff",
    "😀", "👩‍🔬", "e\u0301", "é", "ﬁ", "İ", "ß", "窯の温度", "가마", "خبز", "हिन्दी", "\u202eabc", "\U0001fffe", "## Related",
    "a\n\n## Related\n\nb",
    "- supports: [[a|b]]", "<!-- x -->", "=======", "a" * 1100, "word " * 60,
)


_FREE = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
_NASTY_TEXT = st.one_of(st.sampled_from(NASTY), _FREE, st.builds(str.__add__, st.sampled_from(NASTY), st.sampled_from(NASTY)))


def nasty_text() -> st.SearchStrategy[str]:
    """Text with YAML traps, controls, line separators and many scripts; no lone surrogates (no decoded file has any)."""
    return _NASTY_TEXT


def names() -> st.SearchStrategy[str]:
    """Short names of the ordinary sort."""
    return st.sampled_from(("Kiln North", "glaze shelf", "窯", "C-14", "sala de secagem", "Odile", "no", "12:30"))


def instants() -> st.SearchStrategy[datetime]:
    """Aware UTC times, to the microsecond."""
    return st.datetimes(min_value=datetime(1000, 1, 1), max_value=datetime(9000, 1, 1)).map(lambda at: at.replace(tzinfo=UTC))


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    """Half-open intervals, unknown at either end now and then; never ending before they start."""
    start, end = draw(st.none() | instants()), draw(st.none() | instants())
    return Interval(*sorted((start, end))) if start is not None and end is not None else Interval(start, end)


def sources() -> st.SearchStrategy[str]:
    return st.binary(max_size=3).map(sha256_hex)


def hex12() -> st.SearchStrategy[str]:
    return st.integers(0, 30).map(lambda n: object_id("claim", str(n)))


@st.composite
def spans(draw: st.DrawFn) -> Span:
    start, line = draw(st.integers(0, 10**6)), draw(st.integers(1, 10**5))
    length, more = draw(st.integers(0, 5000)), draw(st.integers(0, 50))
    return Span(draw(sources()), start, start + length, line, line + more, draw(nasty_text()))


def tuples_of(values: st.SearchStrategy[str], most: int = 2) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(values, max_size=most).map(tuple)


def weights() -> st.SearchStrategy[float]:
    """Numbers from 0 to 1 with at most four decimals: what a ledger line keeps."""
    return st.integers(0, 10_000).map(lambda n: n / 10_000)


def links() -> st.SearchStrategy[Link]:
    return st.builds(Link, hex12(), st.sampled_from(EdgeType), weights())


def statements() -> st.SearchStrategy[Statement]:
    text = nasty_text()
    return st.builds(
        Statement, title=text, identity=text, body=text, aliases=tuples_of(text), tags=tuples_of(text), subject=text,
        attribute=text, value=text,
        about=text, links=st.lists(links(), max_size=3).map(tuple), attributed_to=text, negated=st.booleans(),
        confidence=weights(),
        mode=st.sampled_from(Mode), valid=intervals(), valid_text=text, derived_from=tuples_of(hex12()),
        extra=st.lists(st.tuples(text, text), max_size=2).map(tuple),
    )


def passages() -> st.SearchStrategy[Passage]:
    n = st.integers(0, 10**6)
    kinds, speakers = st.sampled_from(("paragraph", "item", "turn")), st.sampled_from(("", "Odile"))
    return st.builds(Passage, kinds, n, n, n, n, tuples_of(nasty_text()), speakers)


def document_versions() -> st.SearchStrategy[DocumentVersion]:
    text = nasty_text()
    return st.builds(
        DocumentVersion, root=text, path=text, source=sources(), title=text, encoding=st.sampled_from(("utf-8", "cp1252")),
        shape=st.sampled_from(("note", "chat")), date=text, valid=intervals(), primary=text, tags=tuples_of(text),
        aliases=tuples_of(text),
        properties=st.lists(st.tuples(text, text), max_size=2).map(tuple), passages=st.lists(passages(), max_size=4).map(tuple),
        dangling=st.lists(st.builds(DanglingLink, text, st.sampled_from([e.value for e in EdgeType]), weights(), spans()),
        max_size=2).map(tuple),
    )


_STRENGTHS = (Verification.UNVERIFIED, Verification.SELF_SUPPORTED, Verification.TOOL_SUPPORTED)


def sign_offs() -> st.SearchStrategy[SignOff]:
    """Decisions, more often to verify than to reject."""
    decisions = st.sampled_from((Decision.VERIFIED, Decision.VERIFIED, Decision.REJECTED))
    return st.builds(SignOff, decisions, st.integers(50, 100), st.sampled_from(_STRENGTHS), st.sampled_from(("", form_of("x", ""))))


@st.composite
def revisions(draw: st.DrawFn) -> Revision:
    """Any revision, not yet recorded."""
    about_document = draw(st.booleans())
    return new_revision(
        draw(st.sampled_from(RevisionKind)),
        document_id("notes", draw(names())) if about_document else draw(hex12()),
        DOCUMENT if about_document else draw(st.sampled_from(MemoryType)).value,
        document=draw(st.sampled_from(("", document_id("notes", "a.md")))),
        statement=draw(st.none() | (document_versions() if about_document else statements() | sign_offs())),
        evidence=tuple(draw(st.lists(spans(), max_size=3))),
        replaces=draw(tuples_of(st.integers(0, 2**64 - 1).map(lambda n: f"{n:016x}"))),
        into=draw(tuples_of(hex12())),
        reason=draw(nasty_text()),
        actor=draw(nasty_text()),
    )


_EXTRAS = (
    ("rating", "rating: 5"), ("color", "color: '#ff0000'"), ("reviewers", "reviewers:\n  - Odile\n  - Tomás"),
    ("note", "note: |\n  two\n\n  lines # here"),
    ("where", "# on the shelf\nwhere: {room: 2, shelf: [a, b]}"), ("cssclasses", "cssclasses: [wide]  # for Obsidian"),
    ("窯", "窯: はい"), ("empty", "empty:"),
    ("base", "base: &b [1, 2]"), ("folded", 'folded: "a\n  b"'),
)


@st.composite
def memory_objects(draw: st.DrawFn, shown_links: bool = True) -> MemoryObject:
    """Any object, every field filled with whatever is allowed there."""
    text = nasty_text()
    iso = instants().map(to_iso)
    return draw(st.builds(
        MemoryObject, id=hex12(), type=st.sampled_from(MemoryType), title=text, body=text, aliases=tuples_of(text),
        tags=tuples_of(text),
        confidence=st.floats(0, 1), status=st.sampled_from(Status), created=iso, modified=iso, source_ids=tuples_of(sources()),
        revision=text,
        verification=st.sampled_from(Verification), mode=st.sampled_from(Mode), valid_from=st.none() | iso,
        valid_to=st.none() | iso, recorded_at=iso,
        key=st.just(()) | st.tuples(text, text), value=text, attributed_to=text,
        evidence=st.lists(spans(), max_size=3).map(tuple),
        derived_from=tuples_of(hex12()), extra=st.lists(st.sampled_from(_EXTRAS), max_size=3, unique=True).map(tuple),
        links=st.lists(st.builds(Link, hex12(), st.sampled_from(EdgeType), weights(), text, st.just("kiln-north-0123456789ab")),
        max_size=3).map(tuple)
        if shown_links else st.just(()),
    ))


DAYS = tuple(datetime(2031, 5, 1, tzinfo=UTC) + timedelta(days=n) for n in range(8))


def day_intervals() -> st.SearchStrategy[Interval]:
    """Intervals among `DAYS`, so that ends and questions often meet."""
    return st.one_of(st.just(ALWAYS), st.builds(Interval, st.sampled_from(DAYS)),
                     st.lists(st.sampled_from(DAYS), min_size=2, max_size=2, unique=True).map(lambda two: Interval(*sorted(two))))


A, B = object_id("claim", "the kiln holds 36"), object_id("claim", "the kiln holds 48")


def told(at: datetime, kind: RevisionKind, object_: str = A, *, valid: Interval | None = ALWAYS, **fields: Any) -> Revision:
    """A revision recorded at `at`; with a statement unless `valid` is None."""
    derived_from = fields.pop("derived_from", ())
    said = fields.pop("statement", None) if valid is None else Statement(f"claim {object_[:4]}", object_, valid=valid, derived_from=derived_from)
    return replace(new_revision(kind, object_, "claim", statement=said, **fields), recorded_at=at, transaction=at.isoformat())
