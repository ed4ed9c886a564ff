"""Object files: rendered once, the same way in every clone, and again only where something changed."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from workshop import START, Scene, Workshop, concept, play, revoke

from smb.model.edges import EdgeType
from smb.model.objects import Link
from smb.model.revision import RevisionKind, Statement, Transaction, new_revision
from smb.stores import atomic_file
from smb.stores.catalog import Catalog
from smb.stores.object_file import deserialize_memory
from smb.stores.projection import Stamp
from smb.stores.views import MarkdownStore


@pytest.fixture
def workshop(tmp_path: Path) -> Callable[[Scene], None]:
    return functools.partial(play, tmp_path)


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
