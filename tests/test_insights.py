"""What a reader should know of the bank itself: hubs, lone notes, the last week, single sources, ageing values, and what to verify."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from smb.evolve.insights import Insights
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Snapshot
from smb.evolve.verification_gaps import FEWEST, Gaps
from smb.model.edges import EdgeType
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement
from evolved import evolve, new_bank, pages, plain, proposed, quotes_stand
from worlds import MOMENT, ask, ingest, rows, write

NOTES = {
    "Well.md": "---\ndate: 2029-05-01\n---\n# Well\n\n- **Depth limit:** 40 m\n- **Owner:** Ola\n\nThe well was dug in 1921.\n",
    "Pump.md": "---\ndate: 2031-04-01\n---\n# Pump\n\n- **Depth limit:** 12 m\n\nThe pump feeds from [[Well]].\n",
    "New pump.md": "---\ndate: 2031-04-20\n---\n# New pump\n\n| Thing | Depth limit |\n|---|---|\n| Pump | 15 m |\n\nSee [[Well]].\n",
    "Pipe.md": "# Pipe\n\nThe pipe runs to [[Well]].\n",
    "Tank.md": "# Tank\n\nThe tank is filled from [[Well]].\n",
    "Lone.md": "# Lone\n\nNobody links here.\n",
}


class Pages:
    """An earlier phase: `n` syntheses worked out from the claim that the well was dug."""

    name = "syntheses"

    def __init__(self, n: int):
        self.n = self.version = n

    async def propose(self, snapshot: Snapshot) -> Proposals:
        (claim,) = [c for c in snapshot.stated(MemoryType.CLAIM) if "dug" in c.title]
        return Proposals([Wanted(MemoryType.SYNTHESIS, Statement(f"Synthesis {n}", f"syntheses:{n}", mode=Mode.INFERRED, derived_from=(claim.id,),
                                                                 links=(Link(claim.id, EdgeType.DERIVES_FROM),))) for n in range(self.n)])


@pytest.fixture
def kb(tmp_path: Path) -> Path:
    return write(tmp_path / "kb", NOTES)


@pytest.fixture
def bank(tmp_path: Path, kb: Path) -> Path:
    ingest(new_bank(tmp_path / "bank", "depth limit"), kb)
    return tmp_path / "bank"


def run(bank: Path, syntheses: int = 0, **options: bool) -> dict[str, int]:
    return proposed(evolve(bank, lambda: [*([Pages(syntheses)] if syntheses else []), Gaps(), Insights()], **options))


def told(bank: Path, title: str) -> str:
    return plain(pages(bank, MemoryType.INSIGHT)[title].body)


def questions(bank: Path) -> dict[str, str]:
    return {title: plain(page.body) for title, page in pages(bank, MemoryType.QUESTION).items()}


def test_what_much_links_to_is_a_hub_and_what_has_no_link_is_named(bank: Path) -> None:
    run(bank)
    assert "- Well: 4 link to it" in told(bank, "Where most links lead") and "Pipe" not in told(bank, "Where most links lead")
    assert told(bank, "Notes without a link") == "One note has no link to or from another.\n\n- Lone (Lone.md)"


def test_the_last_week_is_the_one_up_to_what_the_bank_learned_last(bank: Path, kb: Path) -> None:
    run(bank)
    assert "15 m" in told(bank, "What changed in the last week").split("## No longer so")[1].split("then")[1]
    write(kb, {"Later.md": "# Later\n\nThe meter reads 8.\n"})
    (kb / "Lone.md").unlink()
    ingest(bank, kb, moment=MOMENT + timedelta(days=30))
    run(bank)
    page = told(bank, "What changed in the last week")
    assert page.startswith("In the week up to 2031-05-31") and "1 note was read for the first time and 1 went" in page and "- Later (new)" in page and "Tank" not in page
    assert "No longer so" not in page


def test_an_old_value_of_a_kind_that_changes_may_have_aged_and_one_that_never_changed_has_not(bank: Path) -> None:
    run(bank)
    page = told(bank, "Values that may have aged")
    assert "2029-05-01: Depth limit: 40 m (Well)" in page or "2029-05-01: Well – Depth limit: 40 m (Well)" in page
    assert "15 m" not in page and "Ola" not in page


def test_a_claim_much_is_built_on_and_one_note_says_is_named_and_asked_about(bank: Path) -> None:
    run(bank, 2)
    assert "Much rests on one note" not in pages(bank, MemoryType.INSIGHT)
    run(bank, 3)
    assert "The well was dug in 1921. (Well): 3 pages" in told(bank, "Much rests on one note")
    asked = questions(bank)["Is it so: “The well was dug in 1921”?"]
    assert "Only Well says so" in asked and "3 pages of the bank are worked out from it" in asked and "4 things link to Well" in asked


def test_a_value_that_changes_and_one_note_says_is_asked_about_until_a_second_note_says_it_too(bank: Path, kb: Path) -> None:
    run(bank)
    asked = questions(bank)
    assert "Well: is “depth limit” really 40 m?" in asked and "values of this kind have changed before" in asked["Well: is “depth limit” really 40 m?"]
    assert len(asked) <= FEWEST and not any("Ola" in title for title in asked)
    write(kb, {"Survey.md": "---\ndate: 2029-05-01\n---\n# Survey\n\n| Thing | Depth limit |\n|---|---|\n| Well | 40 m |\n"})
    ingest(bank, kb)
    run(bank)
    assert "Well: is “depth limit” really 40 m?" not in questions(bank) and not run(bank, anew=True)


def test_a_claim_a_person_signed_is_not_asked_about(bank: Path) -> None:
    run(bank)
    (claim,) = [id_ for id_, title in rows(bank, "SELECT id, title FROM memory_objects WHERE type = 'claim'") if "40 m" in title]
    ask(bank, "verify", claim, who="Ola")
    run(bank)
    assert not any("40 m" in title for title in questions(bank))


def test_pages_are_restated_and_a_second_cycle_changes_nothing_even_with_every_stamp_lost(bank: Path, kb: Path) -> None:
    assert run(bank, 3) and not run(bank, 3) and not run(bank, 3, anew=True)
    before = {title: page.id for title, page in pages(bank, MemoryType.INSIGHT).items()}
    write(kb, {"Drain.md": "# Drain\n\nThe drain leads to [[Well]].\n"})
    ingest(bank, kb)
    assert run(bank, 3) and not run(bank, 3, anew=True)
    after = {title: page.id for title, page in pages(bank, MemoryType.INSIGHT).items()}
    assert before == after and "- Well: 5 link to it" in told(bank, "Where most links lead")


def test_every_page_cites_what_it_names_and_its_quotes_stand(bank: Path) -> None:
    run(bank, 3)
    made = [*pages(bank, MemoryType.INSIGHT).values(), *pages(bank, MemoryType.QUESTION).values()]
    assert len(made) > 5 and quotes_stand(bank, made) and all(page.derived_from for page in made)


def test_a_value_a_later_one_followed_is_not_asked_about(bank: Path, kb: Path) -> None:
    write(kb, {"Old well.md": "---\ndate: 2028-01-01\n---\n# Old well\n\n| Thing | Depth limit |\n|---|---|\n| Well | 30 m |\n"})
    ingest(bank, kb)
    run(bank)
    assert not any("30 m" in title for title in questions(bank))
