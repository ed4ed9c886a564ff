"""Abstractions: concepts that belong together and share something a person would name them by."""

from __future__ import annotations

from pathlib import Path

import pytest

from smb.evolve.abstractions import AbstractionPromoter
from smb.evolve.grouping.traits import phrases_of, plural
from smb.model.objects import MemoryType
from evolved import evolve, quotes_stand
from grouped_world import GROUPS, contained, hundred, made, members, note
from worlds import ingest, write

KINDS = (MemoryType.ABSTRACTION, MemoryType.META_CONCEPT)
KITE = "flies in the wind on a long line that is held in the hand"


def phases() -> list[AbstractionPromoter]:
    return [AbstractionPromoter()]


def changed(bank: Path, anew: bool = False) -> int:
    """How many objects a cycle changes."""
    return evolve(bank, phases, anew=anew)[0].committed


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("planted")
    ingest(root / "bank", write(root / "kb", hundred()))
    evolve(root / "bank", phases)
    return root / "bank"


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """A bank of one's own, evolved once; its notes lie in `kb` beside it."""
    ingest(tmp_path / "bank", write(tmp_path / "kb", hundred()))
    evolve(tmp_path / "bank", phases)
    return tmp_path / "bank"


def test_planted_groups_of_a_hundred_concepts_become_abstractions_that_contain_them(planted: Path) -> None:
    found = contained(planted, *KINDS)
    for noun in GROUPS:
        title = max(sorted(found), key=lambda t: len(found[t] & members(noun)))
        assert members(noun) <= found[title] and len(found[title]) <= len(members(noun)) + 2, noun
        assert noun in title.lower()


def test_every_abstraction_says_why_with_links_to_its_concepts_and_quotes_that_stand(planted: Path) -> None:
    found = made(planted, MemoryType.ABSTRACTION)
    for page in found.values():
        first = page.body.split("\n")[0]
        assert len(page.links) >= 3 and first[0].isdigit() and first.count("[[") >= 3
        assert "tag" in first or "names" in first or "folder" in first or "called" in first
        assert page.confidence <= 0.9 and set(page.derived_from) <= {link.target for link in page.links}
    assert quotes_stand(planted, found.values())


def test_a_second_look_at_everything_changes_nothing(planted: Path) -> None:
    assert changed(planted, anew=True) == 0


def test_notes_in_another_order_give_the_same_abstractions(planted: Path, tmp_path: Path) -> None:
    for path, text in reversed(hundred().items()):
        write(tmp_path / "kb", {path: text})
        if path.startswith(("notes/income", "notes/moth", "notes/rye")):
            ingest(tmp_path / "bank", tmp_path / "kb")
    ingest(tmp_path / "bank", tmp_path / "kb")
    evolve(tmp_path / "bank", phases)
    one, other = made(planted, *KINDS), made(tmp_path / "bank", *KINDS)
    assert {t: (p.id, p.body, p.links) for t, p in one.items()} == {t: (p.id, p.body, p.links) for t, p in other.items()}


def test_a_new_concept_joins_its_abstraction_and_the_others_stay_as_they_are(bank: Path, tmp_path: Path) -> None:
    before = made(bank, *KINDS)
    ingest(bank, write(tmp_path / "kb", dict([note("Soda", "bread", GROUPS["bread"][1])])))
    assert changed(bank) == 1
    after = made(bank, *KINDS)
    assert {p.id for p in after.values()} == {p.id for p in before.values()}
    assert [t for t, names in contained(bank, *KINDS).items() if "Soda bread" in names] == [t for t in after if after[t].body != before[t].body]
    assert changed(bank, anew=True) == 0


def test_new_concepts_of_one_kind_found_an_abstraction_of_their_own(bank: Path, tmp_path: Path) -> None:
    ingest(bank, write(tmp_path / "kb", dict(note(first, "kite", KITE) for first in ("Box", "Stunt", "Delta", "Paper"))))
    assert changed(bank) == 1
    kites = [names for title, names in contained(bank, MemoryType.ABSTRACTION).items() if "kite" in title.lower()]
    assert len(kites) == 1 and {"Box kite", "Stunt kite", "Delta kite", "Paper kite"} <= kites[0]
    assert changed(bank, anew=True) == 0


def test_an_abstraction_loses_concepts_that_go_and_goes_with_the_last_but_two(bank: Path, tmp_path: Path) -> None:
    notes = sorted((tmp_path / "kb" / "notes").glob("* ferry.md"))
    for path in notes[:4]:
        path.unlink()
    ingest(bank, tmp_path / "kb")
    assert changed(bank) == 1
    assert max(len(names & members("ferry")) for names in contained(bank, *KINDS).values()) == 6
    for path in notes[4:]:
        path.unlink()
    ingest(bank, tmp_path / "kb")
    assert changed(bank) == 1
    assert not any("ferr" in title.lower() for title in made(bank, *KINDS))
    assert changed(bank, anew=True) == 0


def test_abstractions_that_share_a_folder_become_a_meta_concept(tmp_path: Path) -> None:
    notes = {path.replace("notes/", "kitchen/" if noun in path else "other/"): text for noun in ("bread",) for path, text in hundred().items()}
    notes = {("kitchen/" if path.endswith(("cheese.md", "bread.md", "soup.md")) else "other/") + path.partition("/")[2]: text for path, text in notes.items()}
    notes |= {f"kitchen/{path.partition('/')[2]}": text for path, text in
              (note(first, "soup", "is cooked in a pot with stock, vegetables and a spoon of cream") for first in "Leek Onion Pea Lentil Tomato Fish".split())}
    ingest(tmp_path / "bank", write(tmp_path / "kb", notes))
    evolve(tmp_path / "bank", phases)
    upper = made(tmp_path / "bank", MemoryType.META_CONCEPT)
    assert list(upper) == ["Kitchen"] and len(contained(tmp_path / "bank", MemoryType.META_CONCEPT)["Kitchen"]) == 3
    assert changed(tmp_path / "bank", anew=True) == 0


def test_notes_that_have_nothing_in_common_give_none(tmp_path: Path) -> None:
    ingest(tmp_path / "bank", write(tmp_path / "kb", {
        "a.md": "# Ferry timetable\n\nThe ferry leaves at noon.\n", "b.md": "# Rye bread\n\nRye bread wants sour dough.\n",
        "c.md": "# Reef knot\n\nThe reef knot joins two ropes.\n", "d.md": "# Sales tax\n\nSales tax is due in May.\n"}))
    evolve(tmp_path / "bank", phases)
    assert not made(tmp_path / "bank", *KINDS)


def test_three_parts_of_one_document_are_no_abstraction(tmp_path: Path) -> None:
    ingest(tmp_path / "bank", write(tmp_path / "kb", {
        "Breads.md": "# Breads\n\n**Rye bread** is a bread of rye.\n\n**Corn bread** is a bread of corn.\n\n**Olive bread** is a bread with olives.\n"}))
    evolve(tmp_path / "bank", phases)
    assert not made(tmp_path / "bank", *KINDS)


def test_phrases_name_things_and_not_what_one_does_with_them() -> None:
    found = {phrase.surface for phrase in phrases_of("Using Kiln North (slow cooling) with cone 7")}
    assert {"Kiln North", "slow cooling"} <= found
    assert not any("Using" in words or "with" in words or "7" in words or "North slow" in words for words in found)


@pytest.mark.parametrize(("words", "many"), [("compiler warning", "compiler warnings"), ("search query", "search queries"), ("class", "classes"), ("software", ""), ("GitHub", "")])
def test_a_plural_is_formed_where_english_uses_one(words: str, many: str) -> None:
    assert plural(words) == many
