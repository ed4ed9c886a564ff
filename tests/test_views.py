"""Object files: rendered once, never over a person's words."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from smb.model.edges import EdgeType
from smb.model.evidence import Span
from smb.model.identity import object_id, sha256_hex
from smb.model.objects import Link, Mode
from smb.model.revision import Revision, RevisionKind, Statement, Transaction, new_revision
from smb.model.validity import UTC
from smb.stores import atomic_file
from smb.stores.catalog import Catalog
from smb.stores.catalog_apply import apply
from smb.stores.object_file import deserialize_memory
from smb.stores.projection import Stamp
from smb.stores.views import FILE_DELETED, MarkdownStore

START = datetime(2031, 5, 1, 9, tzinfo=UTC)


class Workshop:
    """A bank folder with a catalog, and statements said to it one transaction at a time."""

    def __init__(self, folder: Path, catalog: Catalog):
        self.folder, self.catalog, self.views = folder, catalog, MarkdownStore(folder)
        self.said: list[Transaction] = []

    async def commit(self, *revisions: Revision) -> Transaction:
        at = START + timedelta(hours=len(self.said))
        id_ = sha256_hex(repr((at, [r.id for r in revisions])).encode())[:32]
        tx = Transaction("ingest", "test", at, tuple(replace(r, recorded_at=at, transaction=id_) for r in revisions), id=id_)
        self.said.append(tx)
        await self.take(tx)
        return tx

    async def take(self, *transactions: Transaction) -> None:
        await apply(self.catalog, transactions, lambda source: b"")
        self.catalog.forget_fresh()

    def file(self, revision: Revision) -> Path:
        (found,) = self.folder.glob(f"layer-*/*/*-{revision.object_id}.md")
        return found

    def files(self) -> dict[str, bytes]:
        return {p.relative_to(self.folder).as_posix(): p.read_bytes() for p in sorted(self.folder.glob("layer-*/*/*.md"))}


def concept(
    title: str, *, body: str = "", type_: str = "concept", document: str = "d00000000001",
    replaces: tuple[Revision, ...] = (), **says: object,
) -> Revision:
    quote = body or title
    span = Span(sha256_hex(quote.encode()), 0, len(quote.encode()), 1, 1, quote)
    return new_revision(
        RevisionKind.ASSERT, object_id(type_, title), type_, document=document, evidence=(span,),
        statement=Statement(title, title, body=body, **says), replaces=tuple(r.id for r in replaces),
    )


def revoke(of: Revision, reason: str) -> Revision:
    return new_revision(RevisionKind.REVOKE, of.object_id, of.object_type, replaces=(of.id,), reason=reason, actor="person")


Scene = Callable[[Workshop], Awaitable[None]]


@pytest.fixture
def workshop(tmp_path: Path) -> Callable[[Scene], None]:
    def run(scene: Scene) -> None:
        async def play() -> None:
            async with await Catalog.open(tmp_path / "bank" / "index" / "metadata.db") as catalog:
                await scene(Workshop(tmp_path / "bank", catalog))
        asyncio.run(play())
    return run


def test_an_object_gets_its_file_and_a_second_pass_changes_nothing(workshop):
    async def scene(w: Workshop) -> None:
        kiln = concept("Slow cooling", body="Cool a kiln by 40 degrees an hour.", tags=("kiln",))
        glaze = concept("Glaze", links=(Link(kiln.object_id, EdgeType.RELATED_TO),))
        await w.commit(kiln, glaze)
        assert await w.views.catch_up(w.catalog) == 2
        text = w.file(glaze).read_text()
        assert f"- related_to: [[slow-cooling-{kiln.object_id}|Slow cooling]]" in text
        assert deserialize_memory(w.file(kiln).read_text()).tags == ("kiln",)
        assert await w.views.stamp(w.catalog) == await w.catalog.latest() == Stamp(*await w.catalog.latest())
        before = {p: p.stat().st_mtime_ns for p in w.folder.glob("layer-1/*/*")}
        assert await w.views.catch_up(w.catalog) == await w.views.rebuild(w.catalog) == 0
        assert {p: p.stat().st_mtime_ns for p in w.folder.glob("layer-1/*/*")} == before
    workshop(scene)


def test_an_object_touched_without_a_visible_change_keeps_its_file(workshop):
    async def scene(w: Workshop) -> None:
        note = concept("Note")
        await w.commit(note)
        await w.views.catch_up(w.catalog)
        inode = w.file(note).stat().st_ino
        await w.commit(concept("Other"))
        await w.catalog.run("UPDATE memory_objects SET changed = 2")
        assert await w.views.catch_up(w.catalog) == 1 and w.file(note).stat().st_ino == inode
    workshop(scene)


def test_only_what_changed_is_written_again(workshop):
    async def scene(w: Workshop) -> None:
        kept, old = concept("Kept"), concept("Moved", body="Was here.")
        await w.commit(kept, old)
        await w.views.catch_up(w.catalog)
        untouched = w.file(kept).stat()
        await w.commit(concept("Moved", body="Is there.", replaces=(old,)))
        assert await w.views.catch_up(w.catalog) == 1
        assert "Is there." in w.file(old).read_text() and w.views.take_edits() == []
        assert w.file(kept).stat().st_ino == untouched.st_ino
    workshop(scene)


def test_a_claim_superseded_by_another_is_shown_as_revised_in_its_own_file(workshop):
    async def scene(w: Workshop) -> None:
        old = concept("The kiln is in the shed.", type_="claim")
        await w.commit(old)
        await w.views.catch_up(w.catalog)
        new = concept("The kiln is in the barn.", type_="claim", replaces=(old,))
        await w.commit(new)
        assert await w.views.catch_up(w.catalog) == 2 and w.views.take_edits() == []
        assert "status: revised" in (text := w.file(old).read_text()) and text.endswith("shed.\n")
        assert "status: active" in w.file(new).read_text()
    workshop(scene)


def test_files_are_the_same_whether_rendered_as_things_happened_or_at_once(workshop, tmp_path):
    async def scene(w: Workshop) -> None:
        first, second = concept("One", body="First said."), concept("Two")
        await w.commit(first, second)
        await w.views.catch_up(w.catalog)
        await w.commit(concept("One", body="Said again.", replaces=(first,)), revoke(second, "source removed"))
        await w.views.catch_up(w.catalog)
        async with await Catalog.open(tmp_path / "other" / "index" / "metadata.db") as catalog:
            other = Workshop(tmp_path / "other", catalog)
            await other.take(*w.said)
            await other.views.catch_up(catalog)
            assert other.files() == w.files() and len(w.files()) == 2
        assert "status: deprecated" in w.file(second).read_text()
    workshop(scene)


def test_a_fresh_clone_records_the_files_it_has_and_writes_only_what_differs(workshop):
    async def scene(w: Workshop) -> None:
        kept, lost = concept("Kept"), concept("Lost")
        await w.commit(kept, lost)
        await w.views.catch_up(w.catalog)
        await w.catalog.clear()
        w.file(lost).unlink()
        inode = w.file(kept).stat().st_ino
        await w.take(*w.said)
        assert await w.views.catch_up(w.catalog) == 1
        assert w.file(kept).stat().st_ino == inode and w.file(lost).exists()
        assert await w.views.scan_edits(w.catalog) == []
    workshop(scene)


def test_a_stamp_of_another_history_is_not_believed(workshop):
    async def scene(w: Workshop) -> None:
        note = concept("Note")
        await w.commit(note)
        await w.catalog.set_meta("views.stamp", "1:0123456789abcdef")
        assert await w.views.stamp(w.catalog) is None
        assert await w.views.catch_up(w.catalog) == 1
        await w.catalog.set_meta("views.stamp", "rubbish")
        assert await w.views.stamp(w.catalog) is None
    workshop(scene)


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


def test_an_object_born_earlier_elsewhere_moves_its_file(workshop):
    """The slug is of the first title ever recorded; a pull can bring an earlier one."""
    async def scene(w: Workshop) -> None:
        here = concept("Kiln")
        there = new_revision(
            RevisionKind.ASSERT, here.object_id, "concept", document="d00000000002", statement=Statement("The Kiln", "Kiln"))
        at = START - timedelta(days=1)
        earlier = Transaction("ingest", "test", at, (replace(there, recorded_at=at),), id="f" * 32)
        await w.commit(here)
        await w.views.catch_up(w.catalog)
        assert w.file(here).name.startswith("kiln-")
        await w.take(earlier)
        assert await w.views.catch_up(w.catalog) == 2
        assert w.file(here).name.startswith("the-kiln-")
        assert await w.views.scan_edits(w.catalog) == w.views.take_edits() == []
    workshop(scene)


def test_the_file_of_a_forgotten_object_goes_unless_it_was_edited(workshop):
    async def scene(w: Workshop) -> None:
        clean, edited = concept("Clean"), concept("Edited")
        await w.commit(clean, edited)
        await w.views.catch_up(w.catalog)
        w.file(edited).write_text("mine")
        await w.catalog.run("DELETE FROM memory_objects")
        assert await w.views.rebuild(w.catalog) == 1
        assert [p.read_text() for p in w.folder.glob("layer-1/*/*")] == ["mine"]
        assert [e.object_id for e in w.views.take_edits()] == [edited.object_id]
    workshop(scene)


def test_a_touched_file_is_no_edit(workshop):
    async def scene(w: Workshop) -> None:
        note = concept("Note")
        await w.commit(note)
        await w.views.catch_up(w.catalog)
        os.utime(w.file(note), ns=(1, 1))
        assert await w.views.scan_edits(w.catalog) == []
        await w.commit(concept("Note", document="d00000000002"))
        assert await w.views.catch_up(w.catalog) == 1 and w.views.take_edits() == []
    workshop(scene)


class _Stopped(BaseException):
    """The process ends here."""


def test_stopped_at_any_file_change_the_next_run_ends_with_the_same_files_and_no_edits(workshop, tmp_path, monkeypatch):
    async def scene(w: Workshop) -> None:
        old = concept("A claim.", body="First.", type_="claim")
        await w.commit(old, concept("Other"))
        await w.views.catch_up(w.catalog)
        new = concept("A claim.", body="Second.", type_="claim", replaces=(old,))
        await w.commit(new, concept("B claim.", type_="claim"))
        latest, stops, unfinished = await w.catalog.meta("views.stamp"), 0, set()
        done = False
        while not done:
            before = w.files()
            rows = [tuple(r) for r in await w.catalog.fetch("SELECT * FROM rendered")]
            left = stops

            def count(action: str, path: Path) -> None:
                nonlocal left
                left -= 1
                if left < 0:
                    raise _Stopped
            monkeypatch.setattr(atomic_file, "before_step", count)
            try:
                await w.views.catch_up(w.catalog)
                done = True
            except _Stopped:
                pass
            monkeypatch.setattr(atomic_file, "before_step", atomic_file._unobserved)
            unfinished.add(tuple(w.files().items()))
            w.views = MarkdownStore(w.folder)
            await w.commit(concept("A claim.", body="Third.", type_="claim", replaces=(new,)))
            await w.views.catch_up(w.catalog)
            assert w.views.take_edits() == await w.views.scan_edits(w.catalog) == []
            assert w.file(new).read_text().endswith("\nThird.\n") and len(w.files()) == 3
            await w.catalog.begin()
            for seq_table in ("transactions WHERE seq > 2", "revisions WHERE tx > 2", "rendered"):
                await w.catalog.run(f"DELETE FROM {seq_table}")
            await w.catalog.run("DELETE FROM replacements WHERE replaced = ?", (new.id,))
            await w.catalog.run_many("INSERT INTO rendered VALUES (?, ?, ?, ?, ?)", rows)
            await w.catalog.set_meta("views.stamp", latest)
            await w.catalog.commit()
            shutil.rmtree(w.folder / "layer-1")
            for name, data in before.items():
                (w.folder / name).parent.mkdir(parents=True, exist_ok=True)
                (w.folder / name).write_bytes(data)
            w.said = w.said[:2]
            stops += 1
        assert stops > 4 and len(unfinished) == 3
        (w.folder / "layer-1" / "claims" / ".smb-1-1.tmp").write_bytes(b"")  # of a process that was killed
        await w.views.rebuild(w.catalog)
        assert list(w.folder.glob("layer-1/*/.smb-*")) == []
    workshop(scene)


def test_rendering_imports_no_yaml():
    code = "import sys, smb.stores.views, smb.stores.graph_file; sys.exit('yaml' in sys.modules or 'numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
