"""Object files come back as they were written, and a person's edits as they were meant."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from strategies import NASTY, memory_objects, nasty_text

from smb.model.edges import EdgeType
from smb.model.evidence import Span
from smb.model.objects import Link, MemoryObject, MemoryType, Mode, Status, Verification, quoted
from smb.stores.object_file import MalformedObjectFile, as_written, deserialize_memory, same_as_rendered

CAPACITY = MemoryObject(
    "0123456789ab", MemoryType.CLAIM, "Kiln North holds 48 plates", body="Kiln North holds 48 plates since the new shelves.",
    aliases=("capacity: north", "no"), tags=("kiln/north",), confidence=0.85, status=Status.CONTESTED,
    created="2031-05-08T12:00:00+00:00",
    modified="2031-05-09T12:00:00+00:00", source_ids=("ab" * 32,), revision="0011223344556677",
    verification=Verification.SELF_SUPPORTED,
    mode=Mode.EXTRACTED, valid_from="2031-05-01T00:00:00+00:00", recorded_at="2031-05-08T12:00:00+00:00",
    key=("kiln north", "capacity"),
    value="48", attributed_to="Odile", evidence=(Span("ab" * 32, 10, 36, 12, 14, 'It "holds" 48: plates'),),
    derived_from=("ba9876543210",),
    links=(Link("ba9876543210", EdgeType.RELATED_TO, 1.0, "Kiln North", "kiln-north-ba9876543210"),),
    extra=(("rating", "rating: 5"),),
    location="layer-1/claims/kiln-north-holds-48-plates-0123456789ab.md",
)
TEXT = CAPACITY.to_markdown()


@given(memory_objects())
@settings(max_examples=100, deadline=None)
def test_an_object_comes_back_as_written(obj: MemoryObject) -> None:
    """deserialize(to_markdown) is `as_written`, whatever the text; so it is for a file whose line ends became CRLF."""
    text = obj.to_markdown()
    assert deserialize_memory(text) == as_written(obj)
    if "\r" not in text:
        assert deserialize_memory(text.replace("\n", "\r\n")) == as_written(obj)


@given(memory_objects(shown_links=False))
@settings(max_examples=100, deadline=None)
def test_writing_what_was_read_gives_the_same_bytes(obj: MemoryObject) -> None:
    """Nothing drifts when a file is read and rendered again."""
    assume(obj.body.strip() or not obj.body)  # a body of white space is written as an empty one and read as none
    assume("## Related" not in obj.body or not any(f"- {kind}: [[" in obj.body for kind in EdgeType))
    text = obj.to_markdown()
    assert deserialize_memory(text).to_markdown() == text
    assert same_as_rendered(text, obj) and not same_as_rendered(text + "x", obj)


@given(nasty_text())
@settings(max_examples=100, deadline=None)
def test_quoted_text_is_that_very_text_for_the_c_loader_and_the_safe_loader(text: str) -> None:
    """No YAML reader takes a quoted scalar for a number, date or boolean, as a value or in a list."""
    line = f"k: {quoted(text)}\nl: [{quoted(text)}, x]\n"
    assert "\n" not in quoted(text)
    for loader in (yaml.CBaseLoader, yaml.CSafeLoader):
        assert yaml.load(line, Loader=loader) == {"k": text, "l": [text, "x"]}


@pytest.mark.parametrize("text", NASTY, ids=ascii)
def test_every_nasty_text_survives_as_title_body_and_quote(text: str) -> None:
    """The list of known traps, each in every field at once."""
    obj = replace(CAPACITY, title=text, body=text, aliases=(text, text), value=text, key=(text, text), attributed_to=text,
                  evidence=(Span("a" * 64, 0, 0, 1, 1, text),))
    assert deserialize_memory(obj.to_markdown()) == as_written(obj)


def test_the_fields_the_file_carries_are_the_objects_own() -> None:
    """as_written drops links, location and byte offsets and nothing else of an ordinary object."""
    span = Span("ab" * 6, 0, 0, 12, 14, 'It "holds" 48: plates')
    assert deserialize_memory(TEXT) == replace(CAPACITY, links=(), location="", source_ids=("ab" * 6,), evidence=(span,))


def test_only_the_quotes_shown_come_back() -> None:
    """A file shows 24 of 30 quotes; their number is not taken for a person's key."""
    many = replace(CAPACITY, evidence=tuple(Span("c" * 64, n, n + 1, n + 1, n + 1, f"quote {n}") for n in range(30)))
    found = deserialize_memory(many.to_markdown())
    assert len(found.evidence) == 24 and found == as_written(many) and [key for key, _ in found.extra] == ["rating"]


def edited(old: str, new: str) -> MemoryObject:
    assert TEXT.count(old) == 1, TEXT
    return deserialize_memory(TEXT.replace(old, new))


def test_a_persons_keys_survive_as_their_lines_with_the_comment_above() -> None:
    """Unknown keys, of any shape and in any place, are written back as they stood."""
    mine = ("# mine\nnotes: |\n  a: b\n\n  # not a comment\nshelf:\n- {room: 2}   # by the door\n-   b\n"
            "also: &x [1,\n  2]\nagain: *x\n")
    found = edited("status: contested\n", mine + "status: contested\n")
    assert found.extra == (
        ("notes", "# mine\nnotes: |\n  a: b\n\n  # not a comment"), ("shelf", "shelf:\n- {room: 2}   # by the door\n-   b"),
        ("also", "also: &x [1,\n  2]"), ("again", "again: *x"), ("rating", "rating: 5"),
    )
    again = found.to_markdown()
    assert mine in again and deserialize_memory(again) == found


def test_scalars_stay_the_text_that_was_written() -> None:
    """Plain scalars a YAML 1.1 reader would resolve are kept, unquoted and in other styles."""
    assert edited("value: \"48\"", "value: 0o17").value == "0o17"
    assert edited("value: \"48\"", "value: 2031-05-08").value == "2031-05-08"
    assert edited("value: \"48\"", "value: no").value == "no"
    assert edited("value: \"48\"", "value: ~").value == "~"
    assert edited("value: \"48\"", "value: >-\n  two\n  lines").value == "two lines"
    assert edited("tags: [kiln/north]", "tags: kiln").tags == ("kiln",)
    assert edited("tags: [kiln/north]", "tags:\n  - 01\n  - yes").tags == ("01", "yes")
    assert edited("tags: [kiln/north]", "tags:").tags == ()
    assert edited("tags: [kiln/north]\n", "").tags == ()


def test_an_edit_of_the_body_is_the_body_without_the_related_section() -> None:
    """Text before, inside and below the generated section is the person's; the generated lines are not."""
    related = "\n## Related\n\n- related_to: [[kiln-north-ba9876543210|Kiln North]]\n"
    assert TEXT.endswith(related)
    assert deserialize_memory(TEXT + "\nMeasured again in June.\n").body == f"{CAPACITY.body}\n\nMeasured again in June."
    assert deserialize_memory(TEXT + "- my own line\n").body == f"{CAPACITY.body}\n\n- my own line"
    assert deserialize_memory(TEXT.replace(related, "")).body == CAPACITY.body
    mine = TEXT.replace(related, "\n## Related\n\n- [[Odile]]\n")
    assert deserialize_memory(mine).body == f"{CAPACITY.body}\n\n## Related\n\n- [[Odile]]"
    assert deserialize_memory(TEXT.replace("---\n\nKiln", "---\nKiln")).body == CAPACITY.body
    assert not same_as_rendered(mine, CAPACITY)


def test_a_byte_order_mark_and_blanks_after_the_fences_are_forgiven() -> None:
    """What editors add without being asked changes nothing."""
    assert deserialize_memory("\ufeff" + TEXT.replace("---\n", "--- \n")) == as_written(CAPACITY)


MALFORMED = {  # name: (text, what stands on the line that is blamed or None for the whole file, words of the error)
    "nothing": ("", "", "---"),
    "no front matter": ("Kiln North\n", "Kiln North", "---"),
    "never closed": (TEXT.replace("\n---\n", "\n"), None, "closing"),
    "empty front matter": ("---\n---\nbody\n", "---", "key: value"),
    "a list": ("---\n- a\n---\n", "- a", "key: value"),
    "flow style": ("---\n{id: a, type: claim, title: x}\n---\n", "{id", "key: value"),
    "no id": (TEXT.replace('id: "0123456789ab"\n', ""), None, "no id"),
    "empty id": (TEXT.replace('"0123456789ab"', '""'), "id:", "id"),
    "no type": (TEXT.replace("type: claim\n", ""), None, "no type"),
    "no title": (TEXT.replace("title: Kiln North holds 48 plates\n", ""), None, "no title"),
    "unknown type": (TEXT.replace("type: claim", "type: rumour"), "rumour", "rumour"),
    "unknown status": (TEXT.replace("status: contested", "status: fine"), "status:", "fine"),
    "a title of two": (TEXT.replace("title: Kiln", "title: [a, b]\nx: Kiln"), "title:", "title"),
    "no number": (TEXT.replace("0.85", "high"), "confidence:", "high"),
    "not a number": (TEXT.replace("0.85", "nan"), "confidence:", "nan"),
    "too sure": (TEXT.replace("0.85", "85"), "confidence:", "between"),
    "key of three": (TEXT.replace("[kiln north, capacity]", "[a, b, c]"), "[a, b, c]", "key"),
    "twice": (TEXT.replace("status: contested", "status: contested\ntype: claim"), "type: claim", "twice"),
    "a tag": (TEXT.replace("value: \"48\"", "value: !!int 48"), "!!int", "tag"),
    "a python tag in a key of a person": (TEXT.replace("rating: 5", "rating:\n- !!python/object/apply:os.system [ls]"),
    "!!python", "tag"),
    "an anchor": (TEXT.replace("value: \"48\"", "value: &v 48"), "&v", "anchor"),
    "an alias": (TEXT.replace("value: \"48\"", "value: *v"), "*v", "alias"),
    "deep": (TEXT.replace("[kiln/north]", "[" * 500 + "]" * 500), "tags:", "nested"),
    "a tab": (TEXT.replace("rating: 5", "rating:\n\t- 5"), "\t- 5", "YAML"),
    "unbalanced": (TEXT.replace("value: ", 'value: "x" '), "value: ", "YAML"),
    "after a line separator": (TEXT.replace("rating: 5", "rating: a\u2028 b\nmine: [}"), "mine", "YAML"),
    "a control character": (TEXT.replace("title: Kiln", "title: \x07Kiln"), None, "YAML"),
    "a second document": (TEXT.replace("rating: 5", "...\nrating: 5"), "...", "ends before"),
    "indented": ("---\n  id: a\n---\n", "id: a", "beginning"),
    "a key that is a list": ("---\n? [a]\n: b\n---\n", "[a]", "key"),
    "evidence of text": (TEXT.replace('  - source: abababababab\n', "  - x\n  - source: a\n"), "evidence:", "evidence"),
    "evidence that is text": (TEXT.replace('evidence:', "evidence: x\nmine:"), "evidence:", "evidence"),
    "lines of words": (TEXT.replace('"12-14"', "twelve"), "evidence:", "evidence"),
    "conflict in front": (TEXT.replace("type: claim", "<<<<<<< HEAD\ntype: claim"), "<<<<<<<", "conflict"),
    "conflict at the top": ("<<<<<<< HEAD\n" + TEXT + "=======\n" + TEXT + ">>>>>>> theirs\n", "<<<<<<<", "conflict"),
    "conflict in body": (TEXT + "\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n", "<<<<<<<", "conflict"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_can_not_be_read_is_refused_with_its_line(name: str) -> None:
    """Each kind of damage names the file, the line and the reason."""
    text, blamed, words = MALFORMED[name]
    assert text != TEXT
    with pytest.raises(MalformedObjectFile, match=words) as caught:
        deserialize_memory(text, Path("claims/x.md"))
    line = caught.value.line
    assert line == 0 if blamed is None else line and blamed in text.split("\n")[line - 1], caught.value
    assert "claims/x.md" in str(caught.value)


def test_a_body_about_conflicts_is_no_conflict() -> None:
    """One marker alone, or a setext heading, is prose."""
    body = "<<<<<<< is how git begins\n\nA heading\n=======\n\ntext"
    assert edited(CAPACITY.body, body).body == body


INSERTED = ("", "\t", "'", '"', "[", "]", "{", "}", ": ", "\n", "- ", "&a ", "*", "!", "---\n", "\u2028", "\x00", "|", "%")


@given(st.integers(0, len(TEXT)), st.sampled_from(INSERTED), st.integers(0, 30))
@settings(max_examples=100, deadline=None)
def test_mangled_files_raise_only_the_named_error(at: int, put: str, gone: int) -> None:
    """Any cut and any insertion either still is an object with an id or is refused by name."""
    mangled = TEXT[:at] + put + TEXT[at + gone:]
    try:
        assert deserialize_memory(mangled).id
    except MalformedObjectFile as error:
        assert 0 <= error.line <= mangled.count("\n") + 2


@given(st.text(max_size=200))
@settings(max_examples=100, deadline=None)
def test_arbitrary_front_matter_raises_only_the_named_error(text: str) -> None:
    """Lone surrogates included."""
    try:
        assert deserialize_memory(f"---\nid: a\ntype: claim\ntitle: x\n{text}\n---\n").id
    except MalformedObjectFile:
        pass
