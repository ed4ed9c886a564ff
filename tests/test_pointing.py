"""What a sentence leans on: navigation, openings without a name, bare pronouns; and what the writer only did on the way."""

from __future__ import annotations

import pytest

from smb.ingest.first_person import Telling, cost, telling, tried_only
from smb.ingest.note import Block, WebLink, WikiLink
from smb.ingest.pointing import expletive, is_local, late_pronoun, leans, navigates, points
from smb.ingest.speech_act import SpeechAct, speech_act, words_of

PLAIN = Block("paragraph", "", 0, 0, 1, 1, ())
LINKED = Block("paragraph", "", 0, 0, 1, 1, (), links=(WikiLink("Reed", "", "", "", False, 1),), web=(WebLink("Warping", "w.md", 1),))


@pytest.mark.parametrize(
    "text",
    ["See the reed of 2031.", "The gauge is explained in Reed.", "This chapter covers the heddle.", "For more information, ask Ana.",
     "The sample shows a warp of wool.", "Warping."],
)
def test_what_only_sends_a_reader_elsewhere(text: str) -> None:
    assert navigates(text, words_of(text), LINKED)


@pytest.mark.parametrize("text", ["The gauge was explained by Ana.", "This reed covers 90 cm.", "Warping takes two days.", "The more wool, the better."])
def test_what_only_looks_like_navigation(text: str) -> None:
    assert not navigates(text, words_of(text), LINKED)


@pytest.mark.parametrize(
    "text",
    ["None of these looms fits.", "On one other a thread broke.", "The reeds in question are new.", "In it Ana weighs the wool.",
     "The latter holds 90 threads.", "Each bobbin is wound like this.", "In that case the pedal locks."],
)
def test_what_can_not_be_understood_alone(text: str) -> None:
    assert leans(text, words_of(text))


@pytest.mark.parametrize("text", ["One loom is in the attic.", "Ana asked a question of Rui."])
def test_what_can(text: str) -> None:
    assert not leans(text, words_of(text)) and points(text, words_of(text)) == 0.0


def test_a_bare_this_and_a_mere_opinion_cost() -> None:
    assert points("Ana said that this broke the reed.", words_of("Ana said that this broke the reed.")) > 0
    assert points("The pattern is really nice.", words_of("The pattern is really nice.")) > points("The pattern is blue.", words_of("The pattern is blue."))


@pytest.mark.parametrize(
    ("text", "local"),
    [
        ("The program assumes two pedals.", True), ("The warp weighs 3 kg.", True), ("A thread was cut.", True), ("Threading it takes skill.", True),
        ("The Tisserand program assumes two pedals.", False), ("Ana sold the loom.", False), ("A reed is a comb.", False), ("The T7 runs warm.", False),
    ],
)
def test_an_opening_that_many_notes_could_have_needs_the_title(text: str, local: bool) -> None:
    words = words_of(text)
    assert is_local(words[0], words, text, PLAIN) is local


def test_it_that_stands_for_nothing() -> None:
    assert expletive("It is possible to weave at night.") and expletive("It turned out that Ana knew.")
    assert not expletive("It weighs 80 kg.") and not expletive("It is old.")


def test_a_pronoun_after_an_opening_phrase() -> None:
    text = "Since 2031-02-01 she works two days."
    assert text[slice(*late_pronoun(text))] == "she"
    assert late_pronoun("Since it was oiled, the loom is quiet.") == (0, 0) and late_pronoun("Since 2031 Ana works.") == (0, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I decided to try the other reed.", (Telling.STORY, "i")),
        ("After much winding I've found two ways.", (Telling.STORY, "i")),
        ("To see what broke, I used a lens.", (Telling.STORY, "i")),
        ("Built a stand for it.", (Telling.STORY, "i")),
        ("My first try broke the reed.", (Telling.STORY, "i")),
        ("We lost 12 spools.", (Telling.STORY, "we")),
        ("We use 40 spools a week.", (Telling.STATE, "we")),
        ("I keep the wool in the loft.", (Telling.STATE, "i")),
        ("The reed broke, so I took the other.", (Telling.ASIDE, "i")),
        ("Ana is our weaver.", (Telling.NOT, "")),
        ("From 2032-03-01 Mill Sol supplies us.", (Telling.NOT, "")),
    ],
)
def test_how_a_sentence_speaks_of_its_writer(text: str, expected: tuple[Telling, str]) -> None:
    assert telling(text, words_of(text)) == expected


def test_only_the_subject_costs_and_a_story_most() -> None:
    assert cost(Telling.NOT, "", False) == 0 < cost(Telling.STATE, "we", False) < cost(Telling.STORY, "we", False) < cost(Telling.STORY, "i", False)
    assert cost(Telling.STORY, "i", True) < cost(Telling.STORY, "i", False)
    assert tried_only("I decided to try wool.") and not tried_only("I decided to leave the guild.")


@pytest.mark.parametrize(
    ("text", "act"),
    [
        ("设计一个算法，算出织机需要多少根线。", SpeechAct.ASSERTION),
        ("给定一组线的长度，每根线都不同。", SpeechAct.ASSERTION),
        ("请打开织机的后盖。", SpeechAct.INSTRUCTION),
        ("A shed with two looms installed.", SpeechAct.FRAGMENT),
    ],
)
def test_a_problem_posed_says_what_it_is(text: str, act: SpeechAct) -> None:
    assert speech_act(text) is act
