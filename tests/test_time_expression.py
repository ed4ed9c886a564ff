"""Times in questions: which words tell one, and which stretch they mean from a given day."""

import itertools
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smb.model.validity import UTC
from smb.recall.time_expression import Relation, read_times, window_of

THURSDAY = datetime(2031, 5, 8, 13, tzinfo=UTC)


def window(text, now=THURSDAY):
    stretch = window_of(read_times(text, now))
    return tuple(t.date().isoformat() if t else None for t in (stretch.start, stretch.end))


@pytest.mark.parametrize(
    ("text", "stretch"),
    [
        ("which press as of 2031-02", ("2031-02-01", "2031-03-01")),
        ("what ran in March 2031", ("2031-03-01", "2031-04-01")),
        ("what ran last March", ("2031-03-01", "2031-04-01")),
        ("what ran last June", ("2030-06-01", "2030-07-01")),
        ("who called before 2031-05-01", (None, "2031-05-01")),
        ("who called after 3 May 2031", ("2031-05-04", None)),
        ("who called since 2030", ("2030-01-01", None)),
        ("who called until 2031-04", (None, "2031-05-01")),
        ("between March and April 2031 who called", ("2031-03-01", "2031-05-01")),
        ("from 2031-01-02 to 2031-01-05", ("2031-01-02", "2031-01-06")),
        ("yesterday's run", ("2031-05-07", "2031-05-08")),
        ("the day before yesterday", ("2031-05-06", "2031-05-07")),
        ("three days ago", ("2031-05-05", "2031-05-06")),
        ("last week", ("2031-04-28", "2031-05-05")),
        ("this month", ("2031-05-01", "2031-06-01")),
        ("last Friday", ("2031-05-02", "2031-05-03")),
        ("next Monday", ("2031-05-12", "2031-05-13")),
        ("in Q2 2031", ("2031-04-01", "2031-07-01")),
        ("last year", ("2030-01-01", "2031-01-01")),
        ("2031年5月3日の刷り", ("2031-05-03", "2031-05-04")),
        ("2031年4月まで", (None, "2031-05-01")),
        ("2031年4月以降", ("2031-04-01", None)),
        ("先月の刷り", ("2031-04-01", "2031-05-01")),
        ("3日前の刷り", ("2031-05-05", "2031-05-06")),
        ("昨天印了什么", ("2031-05-07", "2031-05-08")),
        ("上周印了什么", ("2031-04-28", "2031-05-05")),
        ("在2031-05-01之前", (None, "2031-05-01")),
        ("截至2031年4月", ("2031-04-01", "2031-05-01")),
    ],
)
def test_words_mean_a_stretch_of_time(text, stretch):
    assert window(text) == stretch


@pytest.mark.parametrize(
    "text",
    [
        "may I print",
        "march on",
        "page 2031 of the book",
        "at 10:30",
        "the second press",
        "version 2.3",
        "what is due in June 99999",
    ],
)
def test_what_tells_no_time_is_none(text):
    assert not any(one.resolved for one in read_times(text, None))


@pytest.mark.parametrize("text", ["yesterday", "last March", "two weeks ago", "先月", "on Friday", "in May"])
def test_without_a_day_to_count_from_words_stay_unresolved(text):
    assert not any(one.resolved for one in read_times(text, None))
    assert any(one.resolved for one in read_times(text, THURSDAY))


@pytest.mark.parametrize(
    "text", ["[2031-05-08] what ran yesterday", "Today is 8 May 2031. What ran yesterday?", "On 2031-05-08: what ran yesterday"]
)
def test_a_question_that_bears_its_date_is_counted_from_it(text):
    assert window(text, None) == ("2031-05-07", "2031-05-08")


@pytest.mark.parametrize(
    ("text", "event", "relation", "reach"),
    [
        ("which press ran before the move?", "the move", Relation.BEFORE, 0),
        ("in the week after the flood what was printed", "the flood", Relation.AFTER, 7),
        ("who helped during the open day", "the open day", Relation.IN, 0),
        ("what have we printed since Ilse left", "Ilse left", Relation.SINCE, 0),
        ("移転の前の機械", "移転", Relation.BEFORE, 0),
        ("搬家之后的机器", "搬家", Relation.AFTER, 0),
    ],
)
def test_a_happening_is_left_for_the_bank_to_date(text, event, relation, reach):
    (one,) = read_times(text, THURSDAY)
    assert (one.event, one.relation, one.reach, one.resolved) == (event, relation, reach, False)
    assert text[one.start : one.end] == one.text


@given(st.text(max_size=120), st.sampled_from([None, THURSDAY]))
def test_any_text_is_read_in_order_without_overlap(text, now):
    found = read_times(text, now)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    assert all(text[one.start : one.end] == one.text for one in found)


@given(
    st.lists(
        st.sampled_from(
            "in on last next before after since 2031 2031-13-45 may March week Friday ago 3 the move 31 feb 2月 前 年".split()
        ),
        max_size=8,
    )
)
def test_no_mixture_of_time_words_breaks_the_reader(words):
    for now in (None, THURSDAY):
        read_times(" ".join(words), now)
