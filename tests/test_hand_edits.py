"""Hand edits of object files: found, kept, and never rendered over."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from workshop import Scene, Workshop, concept, play, revoke

from smb.model.edges import SEEN_FROM_THE_TARGET, EdgeType
from smb.model.identity import object_id
from smb.model.objects import Link, Mode
from smb.stores.catalog import Catalog
from smb.stores.object_file import deserialize_memory
from smb.stores.views import FILE_DELETED


@pytest.fixture
def workshop(tmp_path: Path) -> Callable[[Scene], None]:
    return functools.partial(play, tmp_path)


def test_an_edit_is_found_kept_and_replaced_only_once_the_ledger_has_it(workshop):
    async def scene(w: Workshop) -> None:
        note = concept("Note", body="As extracted.")
        await w.commit(note)
        await w.views.catch_up(w.catalog)
        path = w.file(note)
        edited = path.read_text().replace("As extracted.", "As I remember it.")
        path.write_text(edited)
        (edit,) = await w.views.scan_edits(w.catalog)
        assert (edit.object_id, edit.text, edit.path) == (note.object_id, edited, path.relative_to(w.folder).as_posix())
        later = concept("Note", body="Extracted again.", replaces=(note,))
        await w.commit(later)
        assert await w.views.catch_up(w.catalog) == 0 and w.views.take_edits() == [edit] and path.read_text() == edited
        assert w.views.take_edits() == [] and await w.views.scan_edits(w.catalog) == [edit]
        mine = concept("Note", body="As I remember it.", replaces=(later,), mode=Mode.AUTHORED)
        await w.commit(mine)
        assert await w.views.adopt(w.catalog, [edit]) == 1
        assert "mode: authored" in path.read_text() and "As I remember it." in path.read_text()
        await w.views.catch_up(w.catalog)
        assert w.views.take_edits() == await w.views.scan_edits(w.catalog) == []
    workshop(scene)


def test_a_file_edited_again_while_its_edit_was_taken_in_is_left_alone(workshop):
    async def scene(w: Workshop) -> None:
        note = concept("Note", body="As extracted.")
        await w.commit(note)
        await w.views.catch_up(w.catalog)
        path = w.file(note)
        path.write_text(path.read_text() + "\nMore.\n")
        (edit,) = await w.views.scan_edits(w.catalog)
        path.write_text(path.read_text() + "\nAnd more.\n")
        assert await w.views.adopt(w.catalog, [edit]) == 0
        assert "And more." in path.read_text()
        (again,) = w.views.take_edits()
        assert again.text.endswith("And more.\n")
    workshop(scene)


@pytest.mark.parametrize("change", [
    lambda text: text.replace("tags: [a, b]", "tags: [a]"),
    lambda text: text.replace("status: active", "status: deprecated"),
    lambda text: text + "\nA line at the end.\n",
    lambda text: text.replace("---\nid:", "---\n# mine\nid:"),
    lambda text: text.replace("id:", "<<<<<<< HEAD\nid:"),
    lambda text: text.replace("---\n", "", 1),
    lambda text: "",
])
def test_no_edit_of_a_file_rendered_here_is_written_over(workshop, change):
    async def scene(w: Workshop) -> None:
        other = concept("Other")
        old = concept("Note", body="First.", tags=("a", "b"), links=(Link(other.object_id, EdgeType.SUPPORTS),))
        await w.commit(old, other)
        await w.views.catch_up(w.catalog)
        path = w.file(old)
        edited = change(path.read_text())
        assert edited != path.read_text()
        path.write_text(edited)
        await w.commit(concept("Note", body="Second.", tags=("a", "b"), replaces=(old,)))
        await w.views.catch_up(w.catalog)
        assert path.read_text() == edited
        assert [e.text for e in w.views.take_edits()] == [edited]
    workshop(scene)


def test_bytes_that_are_no_text_are_an_edit_and_kept(workshop):
    async def scene(w: Workshop) -> None:
        note = concept("Note")
        await w.commit(note)
        await w.views.catch_up(w.catalog)
        w.file(note).write_bytes(b"\xff\xfe\x00gone wrong")
        (edit,) = await w.views.scan_edits(w.catalog)
        assert edit.data == b"\xff\xfe\x00gone wrong"
    workshop(scene)


def test_a_file_rendered_elsewhere_from_an_older_state_is_replaced_but_words_nobody_recorded_are_not(workshop):
    async def scene(w: Workshop) -> None:
        old, edited = concept("Old", body="First."), concept("Edited", body="First.")
        await w.commit(old, edited)
        await w.views.catch_up(w.catalog)
        stale = {r: w.file(r).read_text() for r in (old, edited)}
        await w.commit(concept("Old", body="Second.", replaces=(old,)), concept("Edited", body="Second.", replaces=(edited,)))
        await w.catalog.clear()
        await w.take(*w.said)
        mine = stale[edited].replace("First.", "What I think.")
        w.file(old).write_text(stale[old])
        w.file(edited).write_text(mine)
        await w.views.catch_up(w.catalog)
        assert "Second." in w.file(old).read_text()
        assert w.file(edited).read_text() == mine and [e.object_id for e in w.views.take_edits()] == [edited.object_id]
    workshop(scene)


def test_a_pull_brings_files_and_ledger_and_nothing_counts_as_an_edit(workshop, tmp_path):
    async def scene(w: Workshop) -> None:
        note = concept("Note", body="First.")
        await w.commit(note)
        await w.views.catch_up(w.catalog)
        async with await Catalog.open(tmp_path / "clone" / "index" / "metadata.db") as catalog:
            clone = Workshop(tmp_path / "clone", catalog)
            await clone.take(*w.said)
            await clone.views.catch_up(catalog)
            await w.commit(concept("Note", body="First.", tags=("here",), document="d00000000002"))
            await w.views.catch_up(w.catalog)
            clone.said = list(w.said)  # the clone speaks an hour later than the bank
            theirs = await clone.commit(concept("Note", body="First.", tags=("there",), document="d00000000003"))
            await clone.views.catch_up(catalog)
            shutil.copy(clone.file(note), w.file(note))  # what a merge that takes their side leaves
            await w.take(theirs)
            await w.views.catch_up(w.catalog)
            assert w.views.take_edits() == []
            assert deserialize_memory(w.file(note).read_text()).tags == ("here", "there")
            assert await w.views.scan_edits(w.catalog) == []
    workshop(scene)


def test_an_old_rendering_put_back_is_no_edit(workshop):
    """`git checkout` of an earlier commit's file; to go back to old words, a person edits or `smb undo` does."""
    async def scene(w: Workshop) -> None:
        note = concept("Note", body="First.", tags=("a", "b"))
        await w.commit(note)
        await w.views.catch_up(w.catalog)
        old = w.file(note).read_text()
        await w.commit(concept("Note", body="Second.", replaces=(note,)))
        await w.views.catch_up(w.catalog)
        w.file(note).write_text(old)
        assert await w.views.scan_edits(w.catalog) == []
        assert await w.views.rebuild(w.catalog) == 1 and "Second." in w.file(note).read_text()
        w.file(note).write_text(old.replace("tags: [a, b]", "tags: [a]"))
        assert len(await w.views.scan_edits(w.catalog)) == 1
    workshop(scene)


def test_line_ends_changed_by_git_are_no_edit(workshop):
    async def scene(w: Workshop) -> None:
        note = concept("Note", body="First.\nSecond.")
        await w.commit(note)
        await w.views.catch_up(w.catalog)
        w.file(note).write_bytes(w.file(note).read_bytes().replace(b"\n", b"\r\n"))
        assert await w.views.scan_edits(w.catalog) == []
    workshop(scene)


def test_a_deleted_file_is_a_deletion_until_revoked_and_then_stays_away_in_every_clone(workshop, tmp_path):
    async def scene(w: Workshop) -> None:
        gone, stays = concept("Gone"), concept("Stays")
        await w.commit(gone, stays)
        await w.views.catch_up(w.catalog)
        path = w.file(gone)
        path.unlink()
        (edit,) = await w.views.scan_edits(w.catalog)
        assert (edit.object_id, edit.text, edit.moved) == (gone.object_id, None, False)
        await w.commit(revoke(gone, FILE_DELETED))
        await w.views.adopt(w.catalog, [edit])
        await w.views.catch_up(w.catalog)
        assert await w.views.rebuild(w.catalog) == 0
        assert not path.exists() and await w.views.scan_edits(w.catalog) == w.views.take_edits() == []
        async with await Catalog.open(tmp_path / "clone" / "index" / "metadata.db") as catalog:
            clone = Workshop(tmp_path / "clone", catalog)
            await clone.take(w.said[0])
            await clone.views.catch_up(catalog)
            assert len(clone.files()) == 2
            await clone.take(w.said[1])
            assert await clone.views.catch_up(catalog) == 1
            assert clone.files() == w.files()
        await w.commit(concept("Gone", document="d00000000002"))
        await w.views.catch_up(w.catalog)
        assert path.exists()
    workshop(scene)


def test_a_deletion_the_ledger_refused_brings_the_file_back(workshop):
    async def scene(w: Workshop) -> None:
        note = concept("Note")
        await w.commit(note)
        await w.views.catch_up(w.catalog)
        path = w.file(note)
        path.unlink()
        await w.commit(concept("Note", document="d00000000002"))
        assert await w.views.catch_up(w.catalog) == 0
        assert await w.views.adopt(w.catalog, w.views.take_edits()) == 1 and path.exists()
    workshop(scene)


def test_a_lost_folder_is_no_deletion(workshop):
    async def scene(w: Workshop) -> None:
        note, claim = concept("Note"), concept("A claim.", type_="claim")
        await w.commit(note, claim)
        await w.views.catch_up(w.catalog)
        before = w.files()
        shutil.rmtree(w.folder / "layer-1" / "claims")
        assert await w.views.scan_edits(w.catalog) == []
        assert await w.views.rebuild(w.catalog) == 1 and w.files() == before
        shutil.rmtree(w.folder / "layer-1" / "claims")
        await w.commit(concept("A claim.", type_="claim", document="d00000000002"))
        assert await w.views.catch_up(w.catalog) == 1 and w.views.take_edits() == []
    workshop(scene)


def test_a_renamed_file_is_one_edit_and_goes_back_to_its_place(workshop):
    async def scene(w: Workshop) -> None:
        note = concept("Note", body="Text.")
        await w.commit(note)
        await w.views.catch_up(w.catalog)
        path = w.file(note)
        path.rename(path.with_name("My own name.md"))
        (edit,) = await w.views.scan_edits(w.catalog)
        assert (edit.moved, edit.path) == (True, "layer-1/concepts/My own name.md")
        await w.views.adopt(w.catalog, [edit])
        assert list(w.files()) == [path.relative_to(w.folder).as_posix()]
        assert await w.views.scan_edits(w.catalog) == []
    workshop(scene)


@pytest.mark.parametrize("type_", list(EdgeType))
def test_links_shown_from_either_end_are_no_text_of_the_page_and_stay_out_of_an_edit(workshop, type_: EdgeType):
    async def scene(w: Workshop) -> None:
        whole, part = concept("Whole", body="All of it."), concept("Part", body="Some of it.")
        link = concept("Whole – Part", type_="relationship", about=whole.object_id, links=(Link(part.object_id, type_),), body="Because.", mode=Mode.INFERRED)
        await w.commit(whole, part, link)
        await w.views.catch_up(w.catalog)
        for page, label, body in ((whole, type_, "All of it."), (part, SEEN_FROM_THE_TARGET[type_], "Some of it.")):
            text = w.file(page).read_text()
            assert f"\n## Related\n\n- {label}: [[" in text
            assert deserialize_memory(text).body == body
            assert deserialize_memory(text.replace(body, f"{body} Mine.")).body == f"{body} Mine."
        await w.commit(concept("Whole", body="All of it.", document="d00000000002"), concept("Other"), concept(
            "Whole – Other", type_="relationship", about=whole.object_id, links=(Link(object_id("concept", "Other"), type_, 0.3),)))
        old = w.files()
        await w.commit(revoke(link, "gone"))
        await w.catalog.clear()
        await w.take(*w.said)
        for path, data in old.items():
            (w.folder / path).write_bytes(data)
        await w.views.catch_up(w.catalog)
        assert w.views.take_edits() == []
    workshop(scene)


def test_a_link_that_weighs_more_now_is_shown_first_at_both_its_ends(workshop):
    async def scene(w: Workshop) -> None:
        hub, one, two = concept("Hub"), concept("One"), concept("Two")
        heavy = concept("Hub – Two", type_="relationship", about=hub.object_id, links=(Link(two.object_id, EdgeType.REFERENCES, 0.5),))
        light = concept("Hub – One", type_="relationship", about=hub.object_id, links=(Link(one.object_id, EdgeType.REFERENCES, 0.4),))
        await w.commit(hub, one, two, heavy, light)
        await w.views.catch_up(w.catalog)
        assert w.file(hub).read_text().index("|Two]]") < w.file(hub).read_text().index("|One]]")
        await w.commit(concept("Hub – One", type_="relationship", about=hub.object_id, links=(Link(one.object_id, EdgeType.REFERENCES, 0.9),), document="d00000000002"))
        await w.views.catch_up(w.catalog)
        assert w.file(hub).read_text().index("|One]]") < w.file(hub).read_text().index("|Two]]")
        assert await w.views.rebuild(w.catalog) == 0
    workshop(scene)
