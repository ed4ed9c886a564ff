"""Signals: what counts as a date, an amount, a cue; word boundaries; times a claim gives itself; speech acts."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smb.ingest.signals import (
    SignalKind,
    correction,
    decision,
    iso_date,
    negated,
    signals,
    struck,
    valid_in,
    values,
)
from smb.ingest.speech_act import SpeechAct, reported, speech_act
from smb.model.validity import ALWAYS, Interval


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Opened on 2031-05-03.", SignalKind.DATE, "2031-05-03"),
        ("Opened on 3 May 2031.", SignalKind.DATE, "2031-05-03"),
        ("Opened on the 3rd of May 2031.", SignalKind.DATE, "2031-05-03"),
        ("Opened on May 3, 2031.", SignalKind.DATE, "2031-05-03"),
        ("It opened in May 2031.", SignalKind.DATE, "2031-05"),
        ("The fair is on March 5.", SignalKind.DATE, "--03-05"),
        ("It was founded in 1987.", SignalKind.DATE, "1987"),
        ("2031年5月3日に開いた。", SignalKind.DATE, "2031-05-03"),
        ("The loom cost €1,140.", SignalKind.AMOUNT, "€1,140"),
        ("It weighs 12.5 kg.", SignalKind.AMOUNT, "12.5 kg"),
        ("価格は74ユーロです。", SignalKind.AMOUNT, "74ユーロ"),
        ("Upgrade to v2.3.1 soon.", SignalKind.VERSION, "v2.3.1"),
        ("It runs Tisserand 4.2 today.", SignalKind.VERSION, "4.2"),
        ("See https://loom.example/a?b=1.", SignalKind.URL, "https://loom.example/a?b=1"),
        ("Write to ana@loom.example.", SignalKind.EMAIL, "ana@loom.example"),
        ("The rack has 7 trays.", SignalKind.NUMBER, "7"),
    ],
)
def test_a_value_is_found_with_its_kind_and_normal_form(text: str, kind: SignalKind, value: str) -> None:
    assert [(s.kind, s.value) for s in values(text)] == [(kind, value)]


def test_a_number_inside_a_code_is_no_number() -> None:
    assert values("Part TX9 and B12c fit, rev_3 does not.") == []


def test_spans_of_values_are_exact_and_do_not_overlap() -> None:
    text = "From 2031-01-02 it cost €5/kg at https://a.example/2031-01-02, or 3 kg."
    found = values(text)
    assert [text[s.start : s.end] for s in found] == ["2031-01-02", "€5/kg", "https://a.example/2031-01-02", "3 kg"]
    assert all(a.end <= b.start for a, b in zip(found, found[1:]))


@pytest.mark.parametrize("text", ["I know the loom.", "The notary is here.", "A knot holds.", "The node is up."])
def test_a_negation_inside_a_word_is_none(text: str) -> None:
    assert not negated(text)


@pytest.mark.parametrize(
    "text", ["Mugs are not washed.", "He never came.", "It isn’t on.", "There is no lock.", "It is no longer used.", "鍵はない。", "门没有锁。"]
)
def test_a_denial_is_seen(text: str) -> None:
    assert negated(text)


@pytest.mark.parametrize(
    "text",
    [
        "The depot moved to Rua Nova.", "It is no longer on 4.2.", "The fee was 8, now it is 9.", "Use tape instead of glue.",
        "The lamp was replaced by a panel.", "住所は大阪に変更した。", "端口已改为 9000。",
    ],
)
def test_a_correction_is_seen(text: str) -> None:
    assert correction(text)


@pytest.mark.parametrize("text", ["The snow fell.", "A removed part.", "He knows now.", "The mayor spoke."])
def test_a_look_alike_of_a_correction_is_none(text: str) -> None:
    assert correction(text) is None


def test_a_decision_is_seen_and_indecision_of_words_is_not() -> None:
    assert decision("We decided to buy the loom.") and decision("ルール変更が決定した。")
    assert decision("An undecided voter agreeable to all.") is None


def test_strike_through_gives_the_struck_text() -> None:
    assert struck("- **Hours:** ~~9 to 5~~ 10 to 6") == ["9 to 5"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Open since 2031-03-01.", Interval(at(2031, 3, 1), None)),
        ("She worked here until May 2031.", Interval(None, at(2031, 6, 1))),
        ("Closed from March to June 2031.", Interval(at(2031, 3, 1), at(2031, 7, 1))),
        ("It was built in 2024.", Interval(at(2024, 1, 1), None)),
        ("The port was 80 on 2031-02-12.", Interval(at(2031, 2, 12), at(2031, 2, 13))),
        ("The lease ends on 2031-06-30.", Interval(None, at(2031, 7, 1))),
        ("2031-07-14: port changed", Interval(at(2031, 7, 14), None)),
        ("2031年4月1日から営業している。", Interval(at(2031, 4, 1), None)),
        ("2031年4月1日まで営業していた。", Interval(None, at(2031, 4, 2))),
        ("Nothing here is dated.", ALWAYS),
        ("It broke on 2031-02-30.", ALWAYS),
        ("Closed from 2031-05 to 2030-01.", ALWAYS),
    ],
)
def test_the_words_of_a_claim_give_its_time(text: str, expected: Interval) -> None:
    assert valid_in(text)[0] == expected


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("The loom has nine shafts.", SpeechAct.ASSERTION),
        ("Auth must be on in prod.", SpeechAct.ASSERTION),
        ("Test yarns ending in 4 are refused.", SpeechAct.ASSERTION),
        ("On 3 May 2031 we paid the bill.", SpeechAct.ASSERTION),
        ("织机有九个综框。", SpeechAct.ASSERTION),
        ("部品は届いた。", SpeechAct.ASSERTION),
        ("Is the loom warped?", SpeechAct.QUESTION),
        ("織機は動きますか。", SpeechAct.QUESTION),
        ("Use the left pedal.", SpeechAct.INSTRUCTION),
        ("To warp it, open the back.", SpeechAct.INSTRUCTION),
        ("When it stops, click Reset.", SpeechAct.INSTRUCTION),
        ("Don't pull the thread.", SpeechAct.INSTRUCTION),
        ("電源を切ってください。", SpeechAct.INSTRUCTION),
        ("If the thread breaks, it stops.", SpeechAct.HYPOTHESIS),
        ("Perhaps the loom is warped.", SpeechAct.HYPOTHESIS),
        ("如果断线就停机。", SpeechAct.HYPOTHESIS),
        ("The parts are as follows:", SpeechAct.FRAGMENT),
        ("Nine shafts and a bench.", SpeechAct.FRAGMENT),
        ("Zero if the call failed; otherwise one.", SpeechAct.FRAGMENT),
    ],
)
def test_what_is_done_by_saying_it(text: str, act: SpeechAct) -> None:
    assert speech_act(text) is act


def test_reported_speech_names_who_says_what() -> None:
    assert reported("Ana Prado says that the warp is tight.") == ("Ana Prado", "the warp is tight.")
    assert reported("According to Ana, it is late.") == ("Ana", "it is late.")
    assert reported("Ana runs the dye house.") is None


@given(st.text(alphabet="0123456789年月日 MayJune.,-/€kg°C@:htps在에あ\n'’n", max_size=80))
@settings(max_examples=150, deadline=None)
def test_signals_never_fail_and_stand_where_they_say(text: str) -> None:
    for signal in signals(text):
        assert 0 <= signal.start < signal.end <= len(text)
    valid_in(text)
    for found in values(text):
        iso_date(text[found.start : found.end]) if found.kind is SignalKind.DATE else None
