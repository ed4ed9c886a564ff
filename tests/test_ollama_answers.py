"""Reading what a model returned: whatever comes, it is the answer that was asked for or a rejection, never a part of one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smb.inference.model_errors import AnswerEmpty, AnswerMalformed, AnswerRejected, AnswerTruncated
from smb.inference.structured_output import read_json
from smb.inference.thinking import ThinkingFilter
from smb.inference.token_estimate import at_least, at_most

CLAIM = {"type": "object", "properties": {"text": {"type": "string"}, "n": {"type": "integer"}}, "required": ["text"], "additionalProperties": False}
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"claims": {"type": "array", "items": CLAIM}}, "required": ["claims"], "additionalProperties": False}
ONE = {"claims": [{"text": "The loom is wide", "n": 120}]}


def read(text: str, schema: dict[str, Any] = SCHEMA) -> Any:
    return read_json("m", text, schema)


@pytest.mark.parametrize("text", [
    json.dumps(ONE), json.dumps(ONE["claims"]), json.dumps(ONE, indent=2) + "\n\n",
    f"```json\n{json.dumps(ONE)}\n```", f"~~~\n{json.dumps(ONE)}\n~~~", f"Here it is:\n```\n{json.dumps(ONE)}\n```\nI hope that helps.",
    f'<think>[{{"a":1}}]</think>\n```json\n{json.dumps(ONE)}\n``` ok', f"<THINKING>{{}}</THINKING>{json.dumps(ONE)}", f"well, [1] and so\n</think>\n{json.dumps(ONE)}",
    f"Sure! The answer is {json.dumps(ONE)}.", f"{{braces}} and [brackets] aside: {json.dumps(ONE)}", f"{json.dumps(ONE)} {json.dumps(ONE)}",
    '{"claims": [{"text": "The loom is wide", "n": 120,},],}',
])
def test_an_answer_is_found_in_what_surrounds_it(text: str) -> None:
    assert read(text) == ONE


@pytest.mark.parametrize("text, error", [
    ("", AnswerEmpty), (" \n", AnswerEmpty), ("<think>hm</think>", AnswerEmpty), ("<think>" + json.dumps(ONE), AnswerTruncated),
    ('{"claims": [{"text": "a"}', AnswerTruncated), ('```json\n{"claims": [{"text": "a"}', AnswerTruncated), ('{"claims": [{"text": "a', AnswerTruncated),
    ("none", AnswerMalformed), ("null", AnswerMalformed), ("42", AnswerMalformed), ('"claims"', AnswerMalformed), ("{}", AnswerMalformed),
    (json.dumps(SCHEMA), AnswerMalformed), (json.dumps({"claims": [{"txt": "a"}]}), AnswerMalformed), (json.dumps({"claims": "a"}), AnswerMalformed),
    (json.dumps([1]), AnswerMalformed), (json.dumps(ONE) + json.dumps({"claims": []}), AnswerMalformed), ('{"claims": [], "claims": [{"text": "a"}]}', AnswerMalformed),
    ('{"claims": [{"text": "a"}], oops}', AnswerMalformed), ('{"claims": [{"text": "a", "n": NaN}]}', AnswerMalformed), ('{"claims": [{"text": "a\\ud800"}]}', AnswerMalformed),
    ('{"claims": [{"text": "a", "n": ' + "9" * 5000 + "}]}", AnswerMalformed), ("[" * 100_000, AnswerRejected), ('{"a":' * 50_000, AnswerRejected),
])
def test_what_is_no_whole_answer_is_rejected(text: str, error: type[AnswerRejected]) -> None:
    with pytest.raises(error):
        read(text)


def test_the_schema_is_no_answer_even_where_it_would_fit() -> None:
    loose = {"type": "object", "properties": {"claims": {"type": "array"}}}
    with pytest.raises(AnswerMalformed, match="repeats the schema"):
        read(json.dumps(loose), loose)
    with pytest.raises(AnswerMalformed, match="repeats the schema"):
        read(json.dumps(loose | {"title": "Claims"}), loose)


def test_a_bare_list_is_taken_only_where_one_list_is_wanted() -> None:
    two = {"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": "array"}}, "required": ["a"]}
    with pytest.raises(AnswerMalformed):
        read("[1]", two)
    with pytest.raises(AnswerMalformed):
        read("[]", SCHEMA | {"required": ["claims", "more"]})


def test_marks_of_thinking_within_the_answer_are_text() -> None:
    said = {"claims": [{"text": "a <think>b</think> c </think> <think> ```json\n[1]\n``` d"}]}
    for text in (json.dumps(said), f"```json\n{json.dumps(said)}\n```", f"<think>x</think>{json.dumps(said)}", f"So: {json.dumps(said)}"):
        assert read(text) == said


@given(st.lists(st.fixed_dictionaries({"text": st.text(st.characters(codec="utf-8"), max_size=12)}, optional={"n": st.integers(-9, 9)}), min_size=1, max_size=4), st.data())
def test_an_answer_cut_anywhere_is_rejected(claims: list[Any], data: st.DataObject) -> None:
    whole = json.dumps({"claims": claims}, ensure_ascii=data.draw(st.booleans()))
    assert read(whole) == {"claims": claims}
    cut = data.draw(st.integers(0, len(whole) - 1))
    for text in (whole[:cut], f"```json\n{whole[:cut]}", f"Here: {whole[:cut]}"):
        with pytest.raises(AnswerRejected):
            read(text)


@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(["<think>", "</think>", "{", "}", "[", "]", '"', ",", ":", "```", "\n", "claims", "1", "a", "\\", json.dumps(ONE)]), max_size=14).map("".join)))
def test_whatever_comes_is_an_answer_by_the_schema_or_a_rejection(text: str) -> None:
    try:
        value = read(text)
    except AnswerRejected:
        return
    assert set(value) == {"claims"} and all(set(c) <= {"text", "n"} and isinstance(c["text"], str) for c in value["claims"])


@given(st.text("ab<>/think ", max_size=30), st.text("ab<>hk ", max_size=20), st.data())
def test_a_stream_gives_the_same_however_it_is_cut(thought: str, said: str, data: st.DataObject) -> None:
    whole = f"<think>{thought.replace('</think>', '')}</think>{said}"
    if "</think>" in said or "</think>" in thought or said.lstrip().lower().startswith(("<think", "<reas")):
        return
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=6)))
    thinking = ThinkingFilter("m")
    shown = "".join(thinking.feed(whole[a:b]) for a, b in zip([0, *cuts], [*cuts, len(whole)])) + thinking.rest()
    assert shown == said


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_the_bounds_of_a_text_s_tokens_are_in_order(text: str) -> None:
    assert 0 <= at_least(text) <= at_most(text)


def test_the_upper_bound_holds_for_a_real_vocabulary() -> None:
    """The packaged 32,000 tokens of Llama 2, which spell most of what isn't English in bytes: worse than any model in use now."""
    from importlib.util import find_spec
    from pathlib import Path

    from tokenizers import Tokenizer

    (folder,) = find_spec("wordllama").submodule_search_locations  # type: ignore[union-attr]
    count = Tokenizer.from_file(str(Path(folder, "tokenizers", "l2_supercat_tokenizer_config.json")))
    texts = ["The loom stands in Harrow Street since March 2031, and it is 120 cm wide.\n" * 20, "織機の幅は百二十センチである。染料は藍。" * 30, "5KJvsngHeMpm884wtkJNzQGaCErckhHJBGFsvd3VyK5qMZXj3hS" * 20,
             "| Dye | Mordant |\n|---|---|\n| Madder | alum |\n" * 20, "Привет, это текст. " * 30, "안녕하세요 세계 " * 30, "🎉🔥👩‍👩‍👧‍👦" * 40, "def f(x):\n    return x['a'] + 1\n" * 30]
    for text in texts:
        real = len(count.encode(text, add_special_tokens=False).ids)
        assert at_least(text) <= real <= at_most(text) <= 3.5 * real, text[:20]
