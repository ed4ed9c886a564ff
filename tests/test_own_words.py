"""What a sentence says by itself: its own day, whether it dangles, and which shared words tell anything."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smb.evolve.chronicle.own_words import is_dangling, is_vague, own_day
from smb.evolve.language.telling import is_topical, tells


@pytest.mark.parametrize(("text", "day"), [
    ("Mara fitted the new winch on Tuesday, 2033-03-08.", "2033-03-08"), ("On 2033-03-08 at 20:40 the mast broke.", "2033-03-08"),
    ("The winch came on 8 March 2033.", "2033-03-08"), ("Mara told us that we will answer by 2033-04-16.", ""), ("The old one gets no care after 2033-01-31.", ""),
    ("We sailed from 2033-03-01 to 2033-03-08.", ""), ("Mara sailed in March 2033.", ""), ("The race of 2033-02-31 is off.", ""), ("", "")])
def test_a_sentence_that_says_on_which_day_it_was_dates_itself(text: str, day: str) -> None:
    found = own_day(text)
    assert (found.date().isoformat() if found else "") == day


@pytest.mark.parametrize(("text", "vague"), [
    ("Mara sold 12 sails in January.", True), ("Mara sailed on Monday.", True), ("We counted 23 boats last week.", True), ("Mara sailed in January 2033.", False),
    ("Mara moved her Monday class.", False), ("Mara may sail.", False)])
def test_a_month_without_its_year_is_no_date(text: str, vague: bool) -> None:
    assert is_vague(text) is vague


@pytest.mark.parametrize(("text", "dangling"), [
    ("Mara entered it in the log and in Winch settings.", True), ("Mara still wants it.", True), ("Mara Lund told them that we will answer.", True),
    ("It was built in 2024.", True), ("Ben: I sold it to Mara.", True), ("Mara cleaned the winch and painted it.", False), ("The winch failed because it ran dry.", False),
    ("Mara is no longer cook; on 2033-09-01 she became skipper.", False), ("This year we sold 20 sails.", False), ("Mara sold her boat.", False), ("", False)])
def test_a_sentence_about_something_only_others_name_dangles(text: str, dangling: bool) -> None:
    assert is_dangling(text) is dangling


@pytest.mark.parametrize(("phrase", "telling"), [
    ("autolyse", True), ("kiln vent", True), ("Thursdays", False), ("min", False), ("kW", False), ("baked", False), ("asked", False), ("sold", False), ("10 min", False),
    ("PV-40", True), ("January", False)])
def test_a_unit_a_weekday_or_a_verb_tells_nothing(phrase: str, telling: bool) -> None:
    assert tells(phrase) is telling or phrase[0].isdigit() and is_topical(phrase) is telling


@given(st.text(max_size=60))
@settings(max_examples=200)
def test_any_text_can_be_asked(text: str) -> None:
    assert own_day(text) is None or own_day(text) == own_day(text)
    assert is_dangling(text) in (True, False) and is_vague(text) in (True, False) and tells(text) in (True, False)
    assert all(is_topical(word) in (True, False) for word in text.lower().split())
