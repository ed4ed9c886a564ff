"""The plan of a question: rules only, never an exception but EmptyQuery."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smb.model.validity import TimeError
from smb.recall.query import MAX_TERMS, EmptyQuery, Operation, RecallRequest, operation_of, plan

ASKS = {
    "how many looms are in the barn": Operation.COUNT,
    "number of looms": Operation.COUNT,
    "when did the barn burn": Operation.TEMPORAL_LOOKUP,
    "Which year was the loom built?": Operation.TEMPORAL_LOOKUP,
    "how long did the repair take": Operation.TEMPORAL_ARITHMETIC,
    "how many days between the fire and the repair": Operation.TEMPORAL_ARITHMETIC,
    "list the dyes": Operation.LIST,
    "who repaired the loom": Operation.FACT,
    "whenever you like": Operation.FACT,
}


@pytest.mark.parametrize(("question", "operation"), ASKS.items())
def test_operation_follows_from_the_wording(question, operation):
    assert operation_of(question) is operation


def test_question_words_are_dropped_and_content_words_kept_in_order():
    assert plan(RecallRequest("What is the colour of Wilhelmina's loom?")).terms == ("colour", "Wilhelmina", "loom")


def test_a_question_of_nothing_but_stop_words_keeps_them():
    assert plan(RecallRequest("who are you")).terms == ("who", "are", "you")


def test_a_compound_is_searched_whole_and_by_parts():
    assert plan(RecallRequest("pre-mordant bath")).terms == ("pre-mordant", "pre", "mordant", "bath")


def test_an_unspaced_question_is_searched_by_bigrams_without_particles():
    assert plan(RecallRequest("染料の濃度は")).terms == ("染料", "料の", "の濃", "濃度", "度は")


def test_names_hold_word_runs_and_stretches_of_unspaced_script():
    names = plan(RecallRequest("Is the Big Loom near 染料庫?")).names
    assert {"big loom", "loom", "染料庫", "染料"} <= set(names)
    assert "the" not in names


def test_quoted_text_is_a_phrase():
    assert plan(RecallRequest('where is "cold room two"')).phrases == ("cold room two",)


@pytest.mark.parametrize("empty", ["", "   ", "\n\t"])
def test_an_empty_question_is_a_usage_error(empty):
    with pytest.raises(EmptyQuery) as caught:
        plan(RecallRequest(empty))
    assert caught.value.exit_code == 2


def test_a_long_question_is_cut_to_a_stated_number_of_words():
    made = plan(RecallRequest(" ".join(f"word{n}" for n in range(2000))))
    assert len(made.terms) == MAX_TERMS and made.cut


@given(st.text(max_size=300))
def test_any_text_plans_to_a_match_sqlite_accepts(text):
    if not text.split():
        return
    match = plan(RecallRequest(text)).match
    if match:
        db = sqlite3.connect(":memory:")
        db.execute("CREATE VIRTUAL TABLE f USING fts5(text, context, ngrams)")
        db.execute("SELECT rowid FROM f WHERE f MATCH ?", (match,)).fetchall()
        db.close()


def test_options_as_interfaces_have_them():
    made = RecallRequest.of("x", source="a/b", layer=1, as_of="2031-05", known_at="2031-05-08", min_score=None)
    assert (made.sources, made.layers, made.min_score) == (("a/b",), (1,), None)
    assert made.as_of.isoformat() == "2031-05-01T00:00:00+00:00"
    assert made.known_at.isoformat() == "2031-05-08T23:59:59.999999+00:00", "what was known on a day is what was known at its end"
    with pytest.raises(TimeError):
        RecallRequest.of("x", as_of="soon")
