"""Abstractions: concepts that belong together and share something a person would name them by."""

from __future__ import annotations

from pathlib import Path

import pytest

from smb.evolve.abstractions import AbstractionPromoter
from smb.evolve.traits import phrases_of, plural
from tests.grouped_world import GROUPS, add, bank_of, evolve, held, hundred
from tests.worlds import ingest, write

KINDS = ("abstraction", "meta-concept")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bank = bank_of(tmp_path_factory.mktemp("planted"), hundred())
    evolve(bank, AbstractionPromoter())
    return bank


def members(noun: str) -> set[str]:
    return {f"{first} {noun}" for first in GROUPS[noun][0].split()}


def test_planted_groups_of_a_hundred_concepts_become_abstractions_that_contain_them(planted: Path) -> None:
    found = held(planted, *KINDS)
    for noun in GROUPS:
        best = max(found.values(), key=lambda a: len(a["contains"] & members(noun)))
        assert members(noun) <= best["contains"] and len(best["contains"]) <= len(members(noun)) + 2, noun
        assert noun in best["title"].lower()


def test_every_abstraction_holds_three_concepts_and_says_why_with_links_to_them(planted: Path) -> None:
    for a in held(planted, "abstraction").values():
        assert len(a["contains"]) >= 3 and a["identity"].startswith("abstractions:")
        first = a["body"].split("\n")[0]
        assert first[0].isdigit() and "such as [[" in first and ("#" in first or "names" in first or "folder" in first or "called" in first)


def test_a_second_look_at_everything_changes_nothing(planted: Path) -> None:
    report = evolve(planted, AbstractionPromoter(), forgetful=True)
    assert report.phases[0].proposed == 0 and report.phases[0].note != "nothing changed"


def test_notes_in_another_order_give_the_same_abstractions(planted: Path, tmp_path: Path) -> None:
    for path, text in reversed(hundred().items()):
        write(tmp_path / "kb", {path: text})
        if path.startswith(("notes/income", "notes/moth", "notes/rye")):
            ingest(tmp_path / "bank", tmp_path / "kb")
    ingest(tmp_path / "bank", tmp_path / "kb")
    evolve(tmp_path / "bank", AbstractionPromoter())
    one, other = held(planted, *KINDS), held(tmp_path / "bank", *KINDS)
    assert {t: (a["identity"], a["body"], a["contains"]) for t, a in one.items()} == {t: (a["identity"], a["body"], a["contains"]) for t, a in other.items()}


def test_a_new_concept_joins_its_abstraction_and_the_others_stay_as_they_are(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, hundred())
    evolve(bank, AbstractionPromoter())
    before = held(bank, *KINDS)
    add(bank, tmp_path / "kb", {"notes/soda bread.md": "---\ntags: [bread]\n---\n# Soda bread\n\nA soda bread is baked from dough without yeast.\n"})
    report = evolve(bank, AbstractionPromoter())
    after = held(bank, *KINDS)
    changed = {title for title in after if after[title]["body"] != before.get(title, {}).get("body")}
    assert {title.lower().removeprefix("about ") for title in changed} == {"bread"} and report.phases[0].committed == 1
    assert {a["id"] for a in after.values()} == {a["id"] for a in before.values()}
    assert "Soda bread" in after[changed.pop()]["contains"]
    assert evolve(bank, AbstractionPromoter(), forgetful=True).phases[0].proposed == 0


def test_three_new_concepts_of_one_kind_found_an_abstraction_of_their_own(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, hundred())
    evolve(bank, AbstractionPromoter())
    add(bank, tmp_path / "kb", {f"notes/{first.lower()} kite.md": f"---\ntags: [kite]\n---\n# {first} kite\n\nA {first.lower()} kite flies in the wind on a long line.\n"
                                for first in ("Box", "Stunt", "Delta", "Paper")})
    evolve(bank, AbstractionPromoter())
    kites = [a for title, a in held(bank, "abstraction").items() if "kite" in title.lower()]
    assert len(kites) == 1 and {"Box kite", "Stunt kite", "Delta kite", "Paper kite"} <= kites[0]["contains"]
    assert evolve(bank, AbstractionPromoter(), forgetful=True).phases[0].proposed == 0


def test_one_whose_concepts_go_loses_them_and_goes_with_the_last_but_two(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, hundred())
    evolve(bank, AbstractionPromoter())
    notes = sorted((tmp_path / "kb" / "notes").glob("* ferry.md"))
    for note in notes[:4]:
        note.unlink()
    add(bank, tmp_path / "kb", {})
    evolve(bank, AbstractionPromoter())
    ferry = next(a for title, a in held(bank, "abstraction").items() if "ferr" in title.lower())
    assert len(ferry["contains"] & members("ferry")) == 6
    for note in notes[4:]:
        note.unlink()
    add(bank, tmp_path / "kb", {})
    evolve(bank, AbstractionPromoter())
    assert not any("ferr" in title.lower() for title in held(bank, "abstraction"))
    assert evolve(bank, AbstractionPromoter(), forgetful=True).phases[0].proposed == 0


def test_notes_that_have_nothing_in_common_give_none(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, {
        "a.md": "# Ferry timetable\n\nThe ferry leaves at noon.\n", "b.md": "# Rye bread\n\nRye bread wants sour dough.\n", "c.md": "# Reef knot\n\nThe reef knot joins two ropes.\n",
        "d.md": "# Sales tax\n\nSales tax is due in May.\n", "e.md": "# Moth orchid\n\nThe moth orchid likes shade.\n"})
    evolve(bank, AbstractionPromoter())
    assert not held(bank, *KINDS)


def test_three_parts_of_one_document_are_no_abstraction(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, {"Breads.md": "# Breads\n\n**Rye bread** is a bread of rye.\n\n**Corn bread** is a bread of corn.\n\n**Olive bread** is a bread with olives.\n"})
    evolve(bank, AbstractionPromoter())
    assert not held(bank, "abstraction")


def test_phrases_name_things_and_not_what_one_does_with_them() -> None:
    keys = {phrase.surface for phrase in phrases_of("Using Kiln North (slow cooling) with cone 7")}
    assert "Kiln North" in keys and "slow cooling" in keys
    assert not any("Using" in key or "with" in key or "7" in key for key in keys)
    assert not any(" cooling with" in key or "North slow" in key for key in keys)


@pytest.mark.parametrize(("words", "many"), [("compiler warning", "compiler warnings"), ("search query", "search queries"), ("class", "classes"), ("software", ""), ("GitHub", "")])
def test_a_plural_is_formed_where_english_uses_one(words: str, many: str) -> None:
    assert plural(words) == many
