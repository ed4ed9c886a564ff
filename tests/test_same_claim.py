"""Claims that say the same and claims that don't: another figure, unit, name, negation, speaker, scope or time is another claim."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smb.evolve.sameness.claim_form import forms_of, skeleton, words_of_claim
from smb.evolve.said import Said
from smb.evolve.sameness.same_claim import same_claim
from smb.evolve.sameness.same_name import Sameness
from smb.model.validity import ALWAYS, Interval


def said(id_: str, text: str, **known: object) -> Said:
    return replace(Said(id_, text, documents=(f"doc-{id_}",), context=("Dye house",)), **known)


def same(one: str, other: str, cosine: float = 0.99, **known: object) -> Sameness | None:
    return same_claim(said("a", one, **known), said("b", other, **known), cosine)


def between(start: tuple[int, int], end: tuple[int, int]) -> Interval:
    return Interval(datetime(*start, 1, tzinfo=timezone.utc), datetime(*end, 1, tzinfo=timezone.utc))


SAME = """
Indigo needs 40 g of lime per litre.|Indigo needs 40g lime a litre
Cone six is reached at 1,280 °C.|Cone 6 is reached at 1280°C
Mara Quill built the loom.|The loom was built by Mara Quill.
Mara Quill repairs the loom.|The loom is repaired by Mara Quill.
In March 2031, the vat leaked.|The vat leaked in March 2031.
In March 2031 the vat leaked.|The vat leaked in March 2031.
The vat was moved to Harrow in 2031.|The vat was moved in 2031 to Harrow.
Madder doesn't need iron.|Madder does not need iron.
Madder can't be boiled.|Madder cannot be boiled.
Weld won't fade.|Weld will not fade.
The vat's lid is cracked.|The lid of the vat is cracked.
Lime and alum are stored in the shed.|Alum and lime are stored in the shed.
Soaking takes two hours.|Soaking takes 2 hours.
Soaking takes 2 h.|Soaking takes two hours.
Alum is a mordant for madder.|Alum is also a mordant for madder.
Alum is actually a mordant for madder.|Alum is a mordant for madder
Rent is $500 a month.|Rent is 500 dollars per month.
Wool shrinks by 20%.|Wool shrinks by 20 percent.
Weld takes iron as a mordant.|Weld takes iron as mordant
The colour of weld is yellow.|The color of weld is yellow.
The accomodation in Harrow costs 300 €.|The accommodation in Harrow costs 300 €.
**Madder** needs `alum`.|Madder needs alum
Ｍadder needs alum|Madder needs alum
温度は九百度である。|温度は九百度である
""".strip().split("\n")

APART = """
Indigo needs 40 g of lime per litre.|Indigo needs 45 g of lime per litre.
Indigo needs 40 g of lime per litre.|Indigo needs 40 kg of lime per litre.
Cone 6 is reached at 1280 °C.|Cone 6 is reached at 1280 °F.
The motor draws 5 mW.|The motor draws 5 MW.
It is kept at -5 °C in Harrow.|It is kept at 5 °C in Harrow.
Mara pays Jonas.|Jonas pays Mara.
Mara is paid by Jonas.|Jonas is paid by Mara.
Mara is Jonas's boss.|Jonas is Mara's boss.
Cats chase mice.|Mice chase cats.
The cart goes from Harrow to Elm.|The cart goes from Elm to Harrow.
Madder needs iron.|Madder does not need iron.
Alum is a mordant.|Alum is no mordant.
All looms are wide.|Some looms are wide.
Most vats leak.|Vats leak.
Weld may need iron.|Weld needs iron.
Weld must dry.|Weld can dry.
Only Mara signs orders.|Mara only signs orders.
Madder does need iron.|Does madder need iron?
Mara built the loom.|Marla built the loom.
The vat was moved in 2031.|The vat was moved in 2032.
The vat was moved in March.|The vat was moved in May.
The shed was hot in Harrow.|The shed is hot in Harrow.
Soaking takes 2 hours.|Soaking takes 2 minutes.
Soaking takes at least 2 hours.|Soaking takes 2 hours.
The weaver with the dog met the dyer in the yard.|The weaver in the yard met the dyer with the dog.
Mara said that Jonas left.|Jonas said that Mara left.
Indigo is dipped before weld is dipped.|Weld is dipped before indigo is dipped.
Batch 3.10 is used.|Batch 3.1 is used.
Vitamin A fades.|Vitamin B fades.
Run dye_vat now.|Run dye-vat now.
Set depth=1.|Set depth=2.
Jonas loves Mara and Ken.|Ken loves Mara and Jonas.
The vat holds more than 5 pots.|The vat holds 5 pots.
Casual loads are heavy in Harrow.|Causal loads are heavy in Harrow.
The vat opens inwards.|The vat opens outwards.
If it rains, the vat leaks.|The vat leaks.
Without alum, weld fades.|With alum, weld fades.
温度は九百度である。|湿度は九百度である。
""".strip().split("\n")


@pytest.mark.parametrize("pair", SAME)
def test_one_proposition_in_two_wordings_is_one_claim(pair: str) -> None:
    found = same(*pair.split("|"))
    assert found is not None and found.sure
    one, other = (skeleton(words_of_claim(text)) for text in pair.split("|"))
    assert one == other or found.reason == "misspelling"


@pytest.mark.parametrize("pair", APART)
def test_another_figure_name_order_or_turn_of_meaning_is_another_claim(pair: str) -> None:
    found = same(*pair.split("|"))
    assert found is None or not found.sure


@pytest.mark.parametrize("pair", APART)
def test_no_pair_is_close_whose_figures_negations_or_quantifiers_differ(pair: str) -> None:
    one, other = pair.split("|")
    digits = [sorted(c for c in text if c.isdigit()) for text in (one, other)]
    if digits[0] != digits[1]:
        assert same(one, other) is None


def test_a_speaker_is_part_of_a_claim() -> None:
    one, other = said("a", "Madder doesn't fade.", attributed_to="Mara Quill"), said("b", "Madder does not fade.", attributed_to="Jonas Stroud")
    assert same_claim(one, other, 1.0) is None
    assert same_claim(one, replace(other, attributed_to="mara quill"), 1.0) == Sameness("same words")
    assert same_claim(one, replace(other, attributed_to=""), 1.0) is None


def test_two_stays_are_two_claims_and_one_stay_told_twice_is_one() -> None:
    spring, autumn = between((2031, 1), (2031, 4)), between((2031, 8), (2031, 11))
    one, other = said("a", "Alex is on Payments.", valid=spring), said("b", "Alex is on Payments", valid=autumn)
    assert same_claim(one, other, 1.0) is None
    assert same_claim(one, replace(other, valid=spring), 1.0) is not None
    assert same_claim(one, replace(other, valid=ALWAYS), 1.0) is not None


def test_a_scope_around_a_claim_is_part_of_it() -> None:
    one = said("a", "The port is 8080 for web traffic.", context=("Gateway", "Staging"), about="g")
    assert same_claim(one, said("b", "The port is 8080 for web traffic", context=("Gateway", "Production"), about="g"), 1.0) is None
    assert same_claim(one, said("b", "The port is 8080 for web traffic", context=("Gateway", "Staging"), about="g"), 1.0) is not None
    assert same_claim(said("a", "Alum is listed.", context=("Stock 2030",)), said("b", "Alum is listed", context=("Stock 2031",)), 1.0) is None


def test_what_points_at_its_surroundings_is_the_same_only_there() -> None:
    assert same("It needs no alum", "It needs no alum.") is None
    assert same("The function returns zero", "The function returns zero.", context=()) is None
    here = {"about": "x", "context": ("Vat", "Care")}
    assert same("It needs no alum", "It needs no alum.", **here) is not None
    assert same("I signed the lease in 2031", "I signed the lease in 2031.", context=()) is None


def test_what_leaves_its_time_to_the_note_is_the_same_only_then() -> None:
    one, other = said("a", "The vat leaks today.", date=between((2031, 1), (2031, 2))), said("b", "The vat leaks today", date=between((2031, 3), (2031, 4)))
    assert same_claim(one, other, 1.0) is None
    assert same_claim(one, replace(other, date=one.date), 1.0) is not None
    assert same_claim(replace(one, text="The vat leaked."), replace(other, text="The vat leaked"), 1.0) is None
    assert same_claim(replace(one, text="The vat leaked in 2030."), replace(other, text="In 2030, the vat leaked"), 1.0) is not None
    assert same_claim(replace(one, text="The vat is blue."), replace(other, text="The vat is blue"), 1.0) is not None


def test_one_key_with_one_value_is_one_claim_unless_a_sentence_says_more() -> None:
    key = {"key": ("loom", "width"), "value": "120 cm", "about": "l"}
    listed, told = said("a", "Loom – Width: 120 cm", **key), said("b", "The width of the loom is 120 cm.", **key)
    assert same_claim(listed, told, 0.8) == Sameness("same key and value")
    assert same_claim(listed, replace(told, value="130 cm", text="The width of the loom is 130 cm."), 0.99) is None
    assert same_claim(listed, replace(told, text="The width of the loom is 120 cm when folded."), 0.8) is None
    assert same_claim(listed, replace(told, text="The width of the loom is not 120 cm."), 0.99) is None
    assert same_claim(listed, replace(told, value="1.2 m", text="The width of the loom is 1.2 m."), 0.8) == Sameness("same key and value")


def test_closeness_alone_is_never_sure() -> None:
    assert same("Woad is grown in Harrow.", "In Harrow farmers grow woad.", 0.97) == Sameness("close in meaning", sure=False)
    assert same("Woad is grown in Harrow.", "In Harrow farmers grow woad.", 0.6) is None


@given(st.text(max_size=80), st.text(max_size=80))
def test_sameness_of_claims_is_symmetric_and_never_fails(one: str, other: str) -> None:
    assert same(one, other) == same_claim(said("b", other), said("a", one), 0.99)
    assert words_of_claim(one) == words_of_claim(one) and isinstance(forms_of(one), frozenset)
