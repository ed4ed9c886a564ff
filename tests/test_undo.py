"""`smb undo`: a cycle taken back, and nothing lost by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from smb.evolve.phase import Proposals
from smb.evolve.snapshot import Snapshot
from smb.model.objects import MemoryType
from smb.model.revision import RevisionKind, Statement, new_revision
from smb.undoing import NothingToUndo, NotUndoable, UnknownAct
from test_evolve_cycle import Listing, run, titles
from worlds import ask, ingest, rows, write

NOTES = {
    "Big kiln.md": "# Big kiln\n\nThe big kiln reaches 1300 °C. It stands in the yard.\n",
    "The big kiln.md": "# The big kiln\n\nThe big kiln was built by Ada Lowe.\n",
}


class Merging:
    """A phase that merges "The big kiln" into "Big kiln"."""

    name, version = "merging", 1

    async def propose(self, snapshot: Snapshot) -> Proposals:
        found = {item.title: item for item in snapshot.stated(MemoryType.CONCEPT)}
        if "The big kiln" not in found:
            return Proposals()
        one, into = found["The big kiln"], found["Big kiln"]
        live = [r for r in (await snapshot.histories([one.id]))[one.id] if isinstance(r.statement, Statement)]
        return Proposals(revisions=[new_revision(
            RevisionKind.MERGE, one.id, "concept", replaces=tuple(r.id for r in live), into=(into.id,), reason="the same name", actor=self.name)])


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    ingest(tmp_path / "bank", write(tmp_path / "kb", NOTES))
    return tmp_path / "bank"


def standings(bank: Path) -> dict[str, str]:
    return dict(rows(bank, "SELECT title, standing FROM memory_objects WHERE type = 'concept'"))


def test_the_last_cycle_is_taken_back_whole_and_its_record_with_it(bank: Path) -> None:
    run(bank, Listing("first"), Merging())
    assert standings(bank)["The big kiln"] == "merged"
    told = ask(bank, "undo", who="Ana")
    assert [act["phase"] for act in told["undone"]] == ["first", "merging", "cycle"]
    assert standings(bank)["The big kiln"] == "current" and not titles(bank)
    assert rows(bank, "SELECT count(*) FROM memory_objects WHERE type = 'evolution' AND standing = 'current'") == [(0,)]


def test_what_was_undone_is_not_done_again_by_the_next_cycle(bank: Path) -> None:
    run(bank, Merging())
    ask(bank, "undo")
    report = run(bank, Merging())
    assert report.phases[0].dropped == 1 and standings(bank)["The big kiln"] == "current"


def test_a_reworded_page_has_its_earlier_words_again(bank: Path, tmp_path: Path) -> None:
    run(bank, Listing())
    before = titles(bank)
    write(tmp_path / "kb", {"people/Mo.md": "---\ntags: [person]\n---\n# Mo Tann\n\nMo Tann spins.\n"})
    ingest(bank, tmp_path / "kb")
    run(bank, Listing())
    assert titles(bank) != before
    ask(bank, "undo")
    assert titles(bank) == before


def test_what_was_undone_comes_back_once_the_notes_say_something_else(bank: Path, tmp_path: Path) -> None:
    run(bank, Listing())
    ask(bank, "undo")
    assert run(bank, Listing()).phases[0].committed == 0 and not titles(bank)
    write(tmp_path / "kb", {"people/Mo.md": "---\ntags: [person]\n---\n# Mo Tann\n\nMo Tann spins.\n"})
    ingest(bank, tmp_path / "kb")
    run(bank, Listing())
    assert "There is Mo Tann" in titles(bank) and any(title.startswith("There are") for title in titles(bank))


def test_earlier_words_given_back_by_an_undo_follow_the_notes_again(bank: Path, tmp_path: Path) -> None:
    for n in range(3):
        write(tmp_path / "kb", {f"people/N{n}.md": f"---\ntags: [person]\n---\n# Nia Orr{'abc'[n]}\n\nNia Orr{'abc'[n]} weaves.\n"})
        ingest(bank, tmp_path / "kb")
        run(bank, Listing())
        if n == 1:
            ask(bank, "undo")
    entities = len(rows(bank, "SELECT 1 FROM memory_objects WHERE type = 'entity' AND standing = 'current'"))
    assert [title for title in titles(bank) if title.startswith("There are")] == [f"There are {entities} entities"]


def test_a_withdrawal_that_was_undone_is_not_made_again_in_every_cycle(bank: Path, tmp_path: Path) -> None:
    write(tmp_path / "kb", {"people/Mo.md": "---\ntags: [person]\n---\n# Mo Tann\n\nMo Tann spins.\n"})
    ingest(bank, tmp_path / "kb")
    run(bank, Listing())
    (tmp_path / "kb" / "people" / "Mo.md").unlink()
    ingest(bank, tmp_path / "kb")
    run(bank, Listing())
    ask(bank, "undo")
    for version in (2, 3):
        phase = Listing()
        phase.version = version
        report = run(bank, phase)
        assert report.phases[0].committed == 0 and report.phases[0].dropped and not report.record


def test_cycles_undone_in_turn_leave_nothing_of_theirs(bank: Path, tmp_path: Path) -> None:
    run(bank, Listing())
    write(tmp_path / "kb", {"people/Mo.md": "---\ntags: [person]\n---\n# Mo Tann\n\nMo Tann spins.\n"})
    ingest(bank, tmp_path / "kb")
    run(bank, Listing())
    ask(bank, "undo")
    ask(bank, "undo")
    assert titles(bank) == []
    with pytest.raises(NothingToUndo):
        ask(bank, "undo")


def test_an_undo_can_be_undone(bank: Path) -> None:
    run(bank, Listing(), Merging())
    done = titles(bank)
    ask(bank, "undo")
    ((transaction,),) = rows(bank, "SELECT id FROM transactions WHERE kind = 'undo'")
    ask(bank, "undo", transaction)
    assert titles(bank) == done and standings(bank)["The big kiln"] == "merged"
    heads = sorted(rows(bank, "SELECT id, head FROM revisions"))
    ask(bank, "rebuild")
    assert sorted(rows(bank, "SELECT id, head FROM revisions")) == heads


def test_an_object_freed_by_an_undo_is_supported_by_its_note_again(bank: Path, tmp_path: Path) -> None:
    run(bank, Merging())
    ask(bank, "undo")
    (tmp_path / "kb" / "The big kiln.md").unlink()
    ingest(bank, tmp_path / "kb")
    assert standings(bank)["The big kiln"] == "revoked"


def test_a_bank_made_again_from_its_ledger_says_the_same_of_heads(bank: Path) -> None:
    run(bank, Merging())
    ask(bank, "undo")
    heads = sorted(rows(bank, "SELECT id, head FROM revisions"))
    ask(bank, "rebuild")
    assert sorted(rows(bank, "SELECT id, head FROM revisions")) == heads


def test_a_dry_run_takes_nothing_back(bank: Path) -> None:
    run(bank, Merging())
    assert ask(bank, "undo", dry_run=True)["objects"]
    assert standings(bank)["The big kiln"] == "merged"


def test_what_cannot_be_undone_says_what_to_do(bank: Path) -> None:
    with pytest.raises(NothingToUndo, match="No cycle"):
        ask(bank, "undo")
    with pytest.raises(NotUndoable, match="change"):
        ask(bank, "undo", rows(bank, "SELECT id FROM transactions WHERE kind = 'ingest'")[0][0])
    with pytest.raises(UnknownAct, match="neither"):
        ask(bank, "undo", "zzz")


