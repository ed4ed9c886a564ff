"""What the pair judge reads of a sentence: quantities, dates, opposites, stems, slots."""

from __future__ import annotations

import pytest

from smb.evolve.language.antonyms import opposed_poles, poles, states_exclude
from smb.evolve.language.calendar_date import dates
from smb.evolve.opposing.opposition import analyse
from smb.evolve.language.quantity import quantities
from smb.evolve.said import Said
from smb.evolve.language.stems import stem
from smb.evolve.language.synonyms import concept, joined


@pytest.mark.parametrize(("text", "kind", "low", "high", "per"), [
    ("It takes sixteen minutes.", "time", 960, 960, ""),
    ("We sell 43k euros a year.", "EUR", 43_000, 43_000, "year"),
    ("They may send 70 parcels per minute.", "", 70, 70, "minute"),
    ("It costs €5 per month.", "EUR", 5, 5, "month"),
    ("The rope is between 3 and 5 metres long.", "length", 3, 5, ""),
    ("Delivery takes 5-7 days.", "time", 432_000, 604_800, ""),
    ("A flat of 68 square metres.", "area", 68, 68, ""),
    ("The class starts at half size with twenty-five people.", "", 25, 25, ""),
    ("The bus leaves at 4:30 pm.", "clock", 990, 990, ""),
    ("It runs twice a week.", "", 2, 2, "week"),
])
def test_a_quantity_is_read_in_base_units(text: str, kind: str, low: float, high: float, per: str) -> None:
    (found,), _ = quantities(joined(text))
    assert (found.kind, found.low, found.high, found.per) == (kind, low, high, per)


@pytest.mark.parametrize("text", ["Host pi-4 is up.", "Python 3.11 is used.", "See page 66.", "Run example 2.", "It uses c++17.", "One of them left."])
def test_a_figure_in_a_name_is_no_quantity(text: str) -> None:
    assert quantities(text)[0] == []


@pytest.mark.parametrize(("text", "year", "month", "day", "weekday"), [
    ("It is due on the sixth of April.", 0, 4, 6, 0), ("It is due on 17 June 2031.", 2031, 6, 17, 0), ("It is due on June 3rd, 2031.", 2031, 6, 3, 0),
    ("It was set up in 2011.", 2011, 0, 0, 0), ("It is due on Friday.", 0, 0, 0, 5), ("Due 2031-02-03.", 2031, 2, 3, 0), ("It is due in May.", 0, 5, 0, 0),
])
def test_a_date_is_read_as_far_as_it_is_said(text: str, year: int, month: int, day: int, weekday: int) -> None:
    (found,), _ = dates(text)
    assert (found.year, found.month, found.day, found.weekday) == (year, month, day, weekday)


def test_may_is_a_month_only_where_it_can_be_one() -> None:
    assert dates("It may rain.")[0] == [] and dates("The mill cost 2000 euros.")[0] == []


def test_opposites_are_words_and_never_parts_of_words() -> None:
    assert opposed_poles(poles("faster"), poles("slower")) and opposed_poles(poles("enabled"), poles("disabled"))
    assert not poles("know") and not poles("office") and not poles("onward")
    assert states_exclude("on-hold", "active") and not states_exclude("done", "done")


def test_forms_spellings_and_synonyms_of_a_word_are_one() -> None:
    assert stem("written") == stem("writes") and stem("colours") == stem("color") and stem("licence") == stem("license")
    assert stem("container") != stem("contains") and stem("importance") != stem("import")
    assert concept("salary") == concept("earns") and concept("firm") == concept("company") != concept("invoice")


@pytest.mark.parametrize(("text", "value"), [
    ("The choir director is Marek.", "marek"), ("Marek is the choir director.", "marek"), ("The libretto is written in Czech.", "czech"), ("We store the logs in Ghent.", "ghent"),
    ("My favourite soup is borscht.", "borscht"), ("The hall was designed by Utzon.", "utzon"), ("The wiki uses MariaDB.", "mariadb"),
])
def test_the_value_of_a_slot_is_found_on_either_side(text: str, value: str) -> None:
    analysed = analyse(Said(id="x", text=text))
    assert analysed.slot is not None and [t.form for t in analysed.tokens if t.at in analysed.slot.places] == [value]


@pytest.mark.parametrize(("text", "negations"), [
    ("The pump does not leak.", 1), ("The pump doesn't leak.", 1), ("The pump can't leak.", 1), ("The pump never leaks.", 1), ("There are no leaks.", 1),
    ("The pump is not without leaks.", 2), ("The knot is known.", 0), ("It is a pump, not a fan.", 0),
])
def test_negations_are_counted(text: str, negations: int) -> None:
    assert analyse(Said(id="x", text=text)).negations == negations
