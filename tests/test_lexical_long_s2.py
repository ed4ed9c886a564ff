"""`smb.stores.lexical` against real FTS5 tables: what is indexed can be found, and no question is a syntax error."""

from __future__ import annotations

import sqlite3
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smb.stores.catalog_schema import MIGRATIONS
from smb.stores.lexical import RUN_LIMIT, TERM_LIMIT, derived_text, match_query, ngrams

FTS = next(s for s in MIGRATIONS[0].script.split(";") if "passages_fts" in s)


class Index:
    """The passages table of the catalog with the given texts, in order, as rows 1, 2, 3, …"""

    def __init__(self, *texts: str) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE TABLE passages (rowid INTEGER PRIMARY KEY, text TEXT, context TEXT, ngrams TEXT)")
        self.db.execute(FTS)
        for text in texts:
            indexed = derived_text(text)
            self.db.execute("INSERT INTO passages (text, context, ngrams) VALUES (?, '', ?)", (indexed, ngrams(indexed)))
        self.db.execute("INSERT INTO passages_fts (rowid, text, context, ngrams) SELECT * FROM passages")

    def find(self, *words: str, prefix_last: bool = False) -> set[int]:
        match = match_query(words, prefix_last=prefix_last)
        if not match:
            return set()
        return {row for (row,) in self.db.execute("SELECT rowid FROM passages_fts WHERE passages_fts MATCH ?", (match,))}


@pytest.fixture(scope="module")
def kiln() -> Index:
    return Index(
        "窯の温度は九百度である。重跑gen-itgc後",
        "The pre-fire check is open and the C++ code doesn't run.",
        "釉薬を塗る前に、素焼きの器を乾かす。2031年3月",
    )


@pytest.mark.parametrize("word", [
    "温度", "温度は", "itgc", "gen", "窯", "九百度", "重跑gen-itgc後", "重跑", "後", "温度が", "窯の温度は何度ですか",
])
def test_unspaced_scripts_and_the_latin_words_inside_them_are_found(kiln: Index, word: str) -> None:
    """D01: unicode61 alone takes the sentence for one token."""
    assert 1 in kiln.find(word)


def test_an_unspaced_word_that_is_not_there_is_not_found(kiln: Index) -> None:
    assert kiln.find("湿度計") == kiln.find("度温") == kiln.find("itg") == set()
    assert kiln.find("素焼") == {3}


def test_a_number_with_its_unit_is_one_phrase() -> None:
    index = Index("2031年3月に窯を開けた", "2032年に窯を閉じた", "3年")
    assert match_query(["2031年"]).startswith('ngrams : "2031 年" *')
    assert index.find("2031年") == {1}
    assert index.find("3月") == {1, 3}  # the digit alone is a word too


@pytest.mark.parametrize(("text", "query"), [
    ("เตาเผาอุณหภูมิสูง", "อุณหภูมิ"), ("가마의 온도는 구백도이다", "온도가"), ("가마의 온도는 구백도이다", "온도"),
    ("Wir nahmen カオリン dazu", "ｶｵﾘﾝ"),
    ("ភាសាខ្មែរ", "ខ្មែរ"), ("မြန်မာစာ", "မြန်မာ"), ("𠮷野の土", "𠮷野"),
])
def test_other_unspaced_scripts(text: str, query: str) -> None:
    assert Index("nothing of the kind", text).find(query) == {2}


def test_a_hyphenated_name_inside_an_unspaced_sentence() -> None:
    assert Index("plain", "先用docker-compose-v2部署").find("docker-compose-v2") == {2}
    assert Index("plain", "先用docker-compose-v2部署").find("compose") == {2}


def test_ngrams_of_a_mixed_sentence_keep_text_order() -> None:
    assert ngrams("重跑gen-itgc後") == "重跑 跑 gen itgc 後"
    assert ngrams("plain words, déjà vu") == "" == ngrams("")
    assert ngrams("a 窯 b") == "窯"  # words apart from a run are tokens of the text itself


@pytest.mark.parametrize("query", [
    "pre-fire", "don't", "check:open", "(open", "open AND", "C++", "*", "", '"', "NEAR(", "a\x00b", "\ud800x", "{text} :",
    "^open", "-open", "🔥",
])
def test_no_question_is_a_syntax_error(kiln: Index, query: str) -> None:
    """D02: FTS5's own operators are only characters."""
    kiln.find(query)
    kiln.find("open", query)
    kiln.find(query, prefix_last=True)


def test_words_with_punctuation_find_the_words(kiln: Index) -> None:
    assert kiln.find("pre-fire") == kiln.find("C++") == kiln.find("(open") == kiln.find("doesn't") == kiln.find("RUNNING") == {2}
    assert kiln.find("fire-pre") == set()
    assert match_query([""]) == match_query([]) == match_query(["*", "— …"]) == ""


def test_a_pasted_page_is_cut_and_still_searches(kiln: Index) -> None:
    page = [f"word{n}" for n in range(4000)]
    assert match_query(page).count(" OR ") == TERM_LIMIT - 1
    assert kiln.find("open", *page) == {2}
    assert kiln.find("x " * 5000 + "open") == set()  # one word of 5,000: a phrase that is not there
    assert kiln.find("温度" * 5000) == {1}


def test_prefix_of_the_last_word(kiln: Index) -> None:
    assert kiln.find("chec") == set()
    assert kiln.find("chec", prefix_last=True) == kiln.find("nothing", "chec", prefix_last=True) == {2}
    assert kiln.find("chec", "nothing", prefix_last=True) == set()


@settings(max_examples=3000, deadline=None)
@given(st.lists(st.text(max_size=20) | st.text('"*():^-+AND ORNEAR窯温がのgen2年ั็ก\x00\ud800'), max_size=4), st.booleans())
def test_any_words_make_a_valid_expression(kiln: Index, words: list[str], prefix_last: bool) -> None:
    kiln.find(*words, prefix_last=prefix_last)


@settings(max_examples=30000, deadline=None)
@given(st.text("窯温度釉薬のはがabx19 -、", min_size=1, max_size=24), st.data())
def test_every_part_of_a_text_finds_it(text: str, data: st.DataObject) -> None:
    """A substring that begins and ends at a border of words, or inside an unspaced run, is found in the text it is of."""
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]
    inside = [edge for edge, outer in ((part[0], text[start - 1 : start]), (part[-1], text[start + len(part) :][:1]))
              if edge.isascii() and edge.isalnum() and outer.isascii() and outer.isalnum()]
    if not inside and match_query(part.split()):
        assert Index(text).find(*part.split()) == {1}


def test_data_is_not_text() -> None:
    assert derived_text("see ![kiln](data:image/png;base64,iVBORw0KGgo+/=) there") == "see ![kiln]([data:image/png]) there"
    assert derived_text("a<!-- hidden\n-->b <!-- never closed") == "ab <!-- never closed"
    blob = "QUJD" * 80
    assert derived_text(f"key {blob} end") == f"key {blob[:16]}… end"
    assert derived_text("A" * RUN_LIMIT) == "A" * RUN_LIMIT
    assert derived_text("A" * (RUN_LIMIT + 1)) == "A" * 16 + "…"
    assert derived_text("=" * 300 + "x") == "=" * 16 + "…"  # an encoded run takes the x along
    assert derived_text("。" * 300 + "x") == "。" * 16 + "…x"
    assert derived_text("a" + " " * 300 + "b") == "a" + " " * 16 + "…b"


def test_a_blob_is_found_by_itself() -> None:
    blob = "c29tZSBieXRlcyBv" + "Zm5vIGltcG9ydGFuY2U" * 20
    assert Index("other", f"the key {blob}").find(blob) == {2}


@pytest.mark.parametrize("text", [
    "data: a, b and data:,x", "x" * (RUN_LIMIT - 1) + "y", "a <b> c", "", "。".join(["窯の温度は九百度である"] * 60), "ab " * 400,
    "https://example.org/" + "kiln.log/" * 60,
])
def test_everything_else_stays_as_it_is(text: str) -> None:
    assert derived_text(text) == text


@settings(max_examples=30000, deadline=None)
@given(st.text("ab=/ \n", max_size=20), st.sampled_from("Aé。 "), st.integers(0, 600))
def test_exactly_the_runs_over_the_limit_are_shortened(before: str, character: str, length: int) -> None:
    text = before + "|" + character * length + "|"
    assert derived_text(text) == (text if length <= RUN_LIMIT else before + "|" + character * 16 + "…|")


@pytest.mark.parametrize("unit", [
    "<!--", "data:a/b;", "data:", "A" * RUN_LIMIT + " ", "a", "窯", "é", "<!---->", "データ<!--", "後a", "=-" * 100 + "\n",
])
def test_linear_time(unit: str) -> None:
    """A megabyte of anything takes well under the seconds a backtracking pattern would."""
    text = unit * (1_000_000 // len(unit))
    started = time.process_time()
    ngrams(derived_text(text))
    match_query([text])
    assert time.process_time() - started < 3
