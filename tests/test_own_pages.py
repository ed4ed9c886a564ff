"""smb's own pages are never taken for a person's edits: in a fresh clone, without an index, after a merge of clones."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from smb.projections import Projections
from test_clones import commit, git
from worlds import MOMENT, ask, ingest, rows, truth, write

NOTES = {
    "A.md": "# Gate\n\nThe gate is open at night.\n", "B.md": "# Gate\n\nThe gate is closed at night.\n",
    "C.md": "---\ntags: [server]\n---\n# Build server\n\nA build server is a server for builds. It was moved to Harrow Street on 2031-03-09.\n",
    "D.md": "---\ntags: [server]\n---\n# Mail server\n\nA mail server is a server for mail. See [[Gateway]].\n",
    "E.md": "---\ntags: [server]\n---\n# Gateway\n\nA gateway is a server at the edge.\n",
}


@pytest.fixture(autouse=True)
def unmirrored(monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(*_: object, **__: object) -> str:
        return ""

    monkeypatch.setattr(Projections, "mirror_vectors", nothing)


@pytest.fixture(scope="module")
def evolved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A committed bank `bank` beside its notes `kb`, evolved."""
    place = tmp_path_factory.mktemp("own")
    ingest(place / "bank", write(place / "kb", NOTES), skip_embeddings=True)
    ask(place / "bank", "evolve")
    git(place / "bank", "init", "-q", "-b", "main")
    commit(place / "bank", "evolved")
    return place


@pytest.fixture
def place(evolved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(evolved, tmp_path / "place"))


def cloned(place: Path) -> Path:
    git(place, "clone", "-q", str(place / "bank"), str(place / "clone"))
    return place / "clone"


def without_index(place: Path) -> Path:
    shutil.rmtree(place / "bank" / "index")
    return place / "bank"


def changed(place: Path, bank: Path) -> None:
    (place / "kb" / "E.md").unlink()
    write(place / "kb", {"C.md": NOTES["C.md"].replace("Build server\n\nA", "The build server\n\nA")})
    ingest(bank, place / "kb", moment=MOMENT + timedelta(days=1), skip_embeddings=True)


def rejected(_: Path, bank: Path) -> None:
    (claim,) = bank.glob("layer-1/claims/the-gate-is-open-at-night-*.md")
    ask(bank, "reject", claim.stem.rpartition("-")[2], who="Bo", reason="seen")


def resolved(_: Path, bank: Path) -> None:
    ask(bank, "resolve_conflict", ask(bank, "conflicts")[0]["id"], who="Bo", reason="seen", keep="a")


def undone(_: Path, bank: Path) -> None:
    ask(bank, "undo")


def evolved_again(place: Path, bank: Path) -> None:
    ask(bank, "evolve")


@pytest.mark.parametrize("lost", [cloned, without_index])
@pytest.mark.parametrize("write_", [changed, rejected, resolved, undone, evolved_again])
def test_the_first_act_in_a_bank_without_an_index_takes_no_page_of_smb_for_an_edit(place: Path, lost: Callable[[Path], Path], write_: Callable[..., Any]) -> None:
    bank = lost(place)
    write_(place, bank)
    assert rows(bank, "SELECT count(*) FROM transactions WHERE kind = 'edit'") == [(0,)]
    told = ask(bank, "rebuild")
    assert (told["files_written"], told["absorbed"]) == (0, [])


@pytest.mark.parametrize("lost", [cloned, without_index])
def test_a_persons_edit_in_a_bank_without_an_index_is_taken_in_before_the_first_act(place: Path, lost: Callable[[Path], Path]) -> None:
    bank = lost(place)
    (page,) = bank.glob("layer-1/concepts/gateway-*.md")
    page.write_text(page.read_text("utf-8").replace("\n\n## Related", "\n\nIt hums.\n\n## Related"), "utf-8")
    changed(place, bank)
    text = page.read_text("utf-8")
    assert "\nmode: authored\n" in text and "\nIt hums.\n" in text and text.count("## Related") <= 1
    assert rows(bank, "SELECT count(DISTINCT object_id) FROM revisions r JOIN transactions t ON t.seq = r.tx WHERE t.kind = 'edit'") == [(1,)]
    assert rows(bank, "SELECT min(seq) FROM transactions WHERE kind = 'edit'") < rows(bank, "SELECT min(seq) FROM transactions WHERE kind = 'removal'")


def test_an_edit_nobody_can_read_is_still_reported_after_the_index_was_lost(place: Path) -> None:
    bank = without_index(place)
    (page,) = bank.glob("layer-1/concepts/gateway-*.md")
    page.write_text("gone wrong", "utf-8")
    changed(place, bank)
    assert page.read_text("utf-8") == "gone wrong"
    for _ in range(2):
        assert [u["path"] for u in ask(bank, "absorb")["unreadable"]] == [str(page.relative_to(bank))]


def undone_elsewhere(bank: Path) -> None:
    ask(bank, "undo")


def read_more(bank: Path) -> None:
    more = write(bank.parent / "more", {"G.md": "---\ntags: [server]\n---\n# Print server\n\nA print server is a server for print. See [[Gateway]].\n"})
    ingest(bank, more, moment=MOMENT + timedelta(days=2), skip_embeddings=True)
    ask(bank, "evolve")


@pytest.mark.parametrize("theirs", [lambda bank: rejected(bank, bank), undone_elsewhere, read_more])
def test_merged_clones_rebuild_to_the_same_files_without_an_edit(place: Path, theirs: Callable[[Path], None]) -> None:
    one, two = place / "bank", cloned(place)
    write(place / "kb", {"F.md": "---\ntags: [server]\n---\n# Loom server\n\nA loom server is a server for looms. See [[Gateway]].\n"})
    (place / "kb" / "B.md").unlink()
    ingest(one, place / "kb", moment=MOMENT + timedelta(days=1), skip_embeddings=True)
    ask(one, "evolve")
    theirs(two)
    for bank in (one, two):
        commit(bank, "mine")
    git(one, "pull", "-q", "--no-edit", "--no-rebase", str(two), "main")
    git(two, "pull", "-q", "--no-edit", "--no-rebase", str(one), "main")
    for bank in (one, two):
        assert ask(bank, "rebuild")["absorbed"] == []
        assert ask(bank, "rebuild")["files_written"] == 0
    assert truth(one) == truth(two)
    assert rows(one, "SELECT count(*) FROM transactions WHERE kind = 'edit'") == [(0,)]
