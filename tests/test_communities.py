"""Clusters and communities: pages about what is alike and about what is linked, carried on while the bank grows."""

from __future__ import annotations

import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from smb.evolve.clusters import ClusterPages
from smb.evolve.communities import CommunityPages
from smb.evolve.grouping.group_page import sayings, shared_words
from smb.evolve.grouping.partition import _levels
from smb.model.objects import MemoryType
from evolved import evolve, plain, quotes_stand
from grouped_world import GROUPS, contained, hundred, made, members, note
from worlds import ingest, write

PAGES = (MemoryType.CLUSTER, MemoryType.COMMUNITY)


def crews(ships: str = "Aurora Borealis Calypso Dorado") -> dict[str, str]:
    """Ships, each with a crew whose notes link to it and to each other: path → text; one sailor visited the next ship."""
    notes: dict[str, str] = {}
    names = ships.split()
    for n, ship in enumerate(names):
        crew = [f"{first} {ship[:4]}sen" for first in ("Ada", "Bo", "Cleo", "Dag", "Eli")]
        notes[f"{ship}.md"] = f"# {ship}\n\nIts crew: {', '.join(f'[[{one}]]' for one in crew)}.\n"
        for one, other in zip(crew, crew[1:] + crew[:1], strict=True):
            visit = f" She once visited [[{names[(n + 1) % len(names)]}]]." if one.startswith("Ada") else ""
            notes[f"{one}.md"] = f"# {one}\n\nSails on [[{ship}]] and shares a cabin with [[{other}]].{visit}\n"
    return notes


def phases() -> list[ClusterPages | CommunityPages]:
    return [ClusterPages(), CommunityPages()]


def bank_of(root: Path, notes: dict[str, str]) -> Path:
    ingest(root / "bank", write(root / "kb", notes))
    evolve(root / "bank", phases)
    return root / "bank"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bank_of(tmp_path_factory.mktemp("fleet"), crews())


def test_each_crew_is_a_community_around_its_ship(fleet: Path) -> None:
    found = contained(fleet, MemoryType.COMMUNITY)
    assert sorted(found) == ["Around Aurora", "Around Borealis", "Around Calypso", "Around Dorado"]
    assert found["Around Aurora"] == {"Aurora", *(f"{first} Aurosen" for first in ("Ada", "Bo", "Cleo", "Dag", "Eli"))}


def test_a_community_says_whom_it_leads_to_and_how_it_is_connected(fleet: Path) -> None:
    page = made(fleet, MemoryType.COMMUNITY)["Around Aurora"]
    text = plain(page.body)
    assert text.startswith("6 concepts and names of 7 notes are linked") and "leads to Aurora" in text
    assert "## Connected to" in text and "Around Borealis: one link, between Ada Aurosen and Borealis." in text
    assert quotes_stand(fleet, [page]) and set(page.derived_from) <= {link.target for link in page.links}


def test_clusters_gather_what_is_alike_without_any_link(tmp_path: Path) -> None:
    found = contained(bank_of(tmp_path, hundred()), MemoryType.CLUSTER)
    good = [noun for noun in GROUPS if any(len(names & members(noun)) >= 8 and len(names) <= 12 for names in found.values())]
    assert len(good) >= 9
    assert sum("and similar" in title or ":" in title or any(noun in title.lower() for noun in GROUPS) for title in found) == len(found)


def test_a_few_notes_or_one_document_make_no_page(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, {"a.md": "# Ada Moss\n\nKnows [[Bo Fern]] and [[Cleo Reed]].\n", "Bo Fern.md": "# Bo Fern\n\nA gardener.\n", "Cleo Reed.md": "# Cleo Reed\n\nA baker.\n"})
    assert not made(bank, *PAGES)


@pytest.mark.parametrize("notes", [crews(), hundred()], ids=["linked", "alike"])
def test_a_second_look_at_everything_changes_nothing(notes: dict[str, str], tmp_path: Path) -> None:
    assert [report.proposed for report in evolve(bank_of(tmp_path, notes), phases, anew=True)] == [0, 0]


def test_notes_in_another_order_give_the_same_pages(fleet: Path, tmp_path: Path) -> None:
    notes = list(crews().items())
    random.Random(3).shuffle(notes)
    for start in range(0, len(notes), 7):
        ingest(tmp_path / "bank", write(tmp_path / "kb", dict(notes[start : start + 7])))
    evolve(tmp_path / "bank", phases)
    one, other = made(fleet, *PAGES), made(tmp_path / "bank", *PAGES)
    assert {t: (p.id, p.body, p.links) for t, p in one.items()} == {t: (p.id, p.body, p.links) for t, p in other.items()}


def test_a_new_note_joins_the_community_it_links_to_and_the_pages_keep_their_ids(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, crews())
    before = made(bank, *PAGES)
    ingest(bank, write(tmp_path / "kb", {"Finn.md": "# Finn Auroson\n\nSails on [[Aurora]] with [[Bo Aurosen]] and [[Dag Aurosen]].\n"}))
    evolve(bank, phases)
    assert "Finn Auroson" in contained(bank, MemoryType.COMMUNITY)["Around Aurora"]
    after = made(bank, *PAGES)
    assert {t: p.id for t, p in before.items()}.items() <= {t: p.id for t, p in after.items()}.items()
    assert after["Around Calypso"].body == before["Around Calypso"].body
    assert [report.proposed for report in evolve(bank, phases, anew=True)] == [0, 0]


def test_new_notes_that_fit_nowhere_found_a_community_and_what_goes_leaves(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, crews())
    new = crews("Estrella")
    ingest(bank, write(tmp_path / "kb", new))
    evolve(bank, phases)
    assert len(contained(bank, MemoryType.COMMUNITY)["Around Estrella"]) == 6
    for path in new:
        (tmp_path / "kb" / path).unlink()
    ingest(bank, tmp_path / "kb")
    evolve(bank, phases)
    assert "Around Estrella" not in made(bank, *PAGES)
    assert [report.proposed for report in evolve(bank, phases, anew=True)] == [0, 0]


def test_a_bank_half_of_which_is_new_is_grouped_anew(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, crews("Aurora Borealis"))
    ingest(bank, write(tmp_path / "kb", crews()))
    evolve(bank, phases)
    assert sorted(made(bank, MemoryType.COMMUNITY)) == ["Around Aurora", "Around Borealis", "Around Calypso", "Around Dorado"]


def test_the_levels_nest_and_the_same_ties_give_the_same_groups_in_any_order() -> None:
    pairs = [(a, b) for block in range(12) for a in range(block * 6, block * 6 + 6) for b in range(a + 1, block * 6 + 6)]
    pairs += [(block * 6, (block * 6 + 6) % 72) for block in range(12)]
    ties = {(min(pair), max(pair)): 1.0 for pair in pairs}
    fine, coarse = _levels(72, ties)
    assert [len({fine[n] for n in range(block * 6, block * 6 + 6)}) for block in range(12)] == [1] * 12
    assert all(coarse[a] == coarse[b] for a in range(72) for b in range(72) if fine[a] == fine[b])
    shuffled = list(ties.items())
    random.Random(5).shuffle(shuffled)
    assert _levels(72, dict(shuffled)) == [fine, coarse]


def test_a_new_note_of_a_planted_group_joins_its_cluster(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, hundred())
    ingest(bank, write(tmp_path / "kb", dict([note("Onion", "bread", GROUPS["bread"][1])])))
    evolve(bank, phases)
    found, = [names for names in contained(bank, MemoryType.CLUSTER).values() if "Onion bread" in names]
    assert len(found & members("bread")) >= 8


def test_a_member_is_quoted_with_what_it_says_and_not_with_its_properties_or_instructions() -> None:
    says = {"Rota": "Present: Martha, Tom, Luis and Ben.", "Oven": "Read Oven settings first.", "Mill": "Status: in progress since May.", "Rye": "Rye is baked on two days a week.",
            "Jar": "[!note] Keep the jar shut at night."}
    nodes = {title: SimpleNamespace(item=SimpleNamespace(title=title, link=f"[[{title}]]")) for title in says}
    assert sayings(nodes, says, list(says))[1] == ["Rye"]  # type: ignore[arg-type]


def test_shared_words_are_written_as_they_mostly_are_and_say_something() -> None:
    texts = {"a": "We asked Martha, and the dough had autolyse for Martha.", "b": "Then, with Martha, we baked autolyse loaves.", "c": "It was a garden."}
    found = dict(shared_words(texts, list(texts), set()))
    assert "Martha" in found and "autolyse" in found and not {"baked", "asked"} & found.keys()
    assert shared_words({"a": "The lathe hums.", "b": "A lathe sings."}, ["a", "b"], set()) == []
