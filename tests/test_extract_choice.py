"""Which of a note's sentences, tables, tags and names become objects: the rules of choice, each on a note of our own."""

from __future__ import annotations

import pytest

from smb.model.edges import EdgeType
from smb.model.objects import MemoryType
from test_extract_rules import claims, extract, of

LONG = "\n\n".join(f"Part {n} hangs at the side of the frame." for n in range(2, 12))


def test_what_i_did_on_the_way_is_no_claim_and_what_holds_is() -> None:
    found = claims(f"# Reed\n\nI decided to try a reed of brass. I had this idea at night. The brass reed holds 40 threads.\n\n{LONG}\n")
    assert "Reed: The brass reed holds 40 threads." in found or "The brass reed holds 40 threads." in found
    assert not any(title.startswith("I ") for title in found)


def test_our_and_us_cost_nothing() -> None:
    assert "From 2032-03-01 Mill Sol is our main supplier." in claims(f"# Wool\n\nFrom 2032-03-01 Mill Sol is our main supplier.\n\n{LONG}\n")


def test_what_stands_under_decision_is_one_and_a_try_is_not() -> None:
    found = claims("# Rule 4\n\n## Decision\n\nMill Sol supplies the wool.\n\n## Notes\n\nI decided to try red dye for 3 weeks.\n\n" + LONG)
    assert "decision" in found["Mill Sol supplies the wool."].tags
    assert not any("decision" in c.tags for t, c in found.items() if "red dye" in t)


@pytest.mark.parametrize("path", ["journal/2031-05-09.md", "meetings/Weekly.md"])
def test_a_day_or_a_meeting_is_nobodys_subject(path: str) -> None:
    found = claims("# 2031-05-09\n\nThe fee is 20 euros. It was raised in 2030.\n" if "2031" in path else
                   "---\ndate: 2031-05-09\n---\n# Weekly meeting\n\nThe fee is 20 euros. It was raised in 2030.\n", path)
    assert found and all(c.subject not in ("2031-05-09", "Weekly meeting") for c in found.values())
    assert not any("was raised" in title for title in found)


def test_it_is_the_title_only_where_the_sentence_before_names_it() -> None:
    assert "Ada was oiled in 2030." in claims("# Ada\n\nAda is a loom of oak. It was oiled in 2030.\n")
    assert not any("oiled" in t for t in claims("# Ada\n\nWe met.\n\nThe reed of brass came. It was oiled in 2030.\n"))


def test_a_pronoun_after_an_opening_phrase_is_resolved() -> None:
    assert "Since 2031-02-01 Ana Prado works two days." in claims("# Shop\n\nAna Prado weaves. Since 2031-02-01 she works two days.\n")


@pytest.mark.parametrize(
    "before", ["The query prints this result:\n", "```\nselect\n```\n", "## Output\n"],
)
def test_a_table_that_shows_output_says_nothing(before: str) -> None:
    table = "| Loom | Width | Place |\n|---|---|---|\n| Ada | 90 cm | Porto |\n| Bea | 120 cm | Braga |\n"
    assert not extract(f"# Looms\n\n{before}\n{table}").drafts
    assert claims(f"# Looms\n\nWe have these:\n\n{table}")


def test_rows_named_by_a_moment_or_by_numbers_say_nothing() -> None:
    assert not claims("# Log\n\n| At | Place |\n|---|---|\n| 2031-05-03T10:20:01 | Porto |\n| 2031-05-03T11:20:01 | Braga |\n")
    assert not claims("# Log\n\n| n | 0 | 1 |\n|---|---|---|\n| x1 | 3 | 4 |\n| x2 | 5 | 6 |\n")
    assert claims("# Log\n\n| Day | Place |\n|---|---|\n| 2031-05-03 | Porto |\n| 2031-05-04 | Braga |\n")


def test_a_question_is_no_value() -> None:
    assert not claims("# Loom\n\n- **Open point:** do we need 3 pedals? #open\n")


def test_a_term_on_a_line_of_its_own_is_named_in_the_claim() -> None:
    (claim,) = claims("# Winder\n\n*speed*\\\nThe number of turns is at most 90 a minute.\n").values()
    assert claim.title == "Winder, speed: The number of turns is at most 90 a minute."
    assert claim.spans[0].quote == "The number of turns is at most 90 a minute."


def test_a_production_of_a_grammar_is_no_claim() -> None:
    assert not claims("# Draft\n\n*`draft`*:\\\n&emsp;*`threading`* *`treadling`*opt\n")


def test_a_sentence_before_code_with_a_figure_is_kept() -> None:
    found = claims("# Winder\n\nThe winder of Ada turns at 90 rpm:\n\n```\nwind 90\n```\n")
    assert [c.spans[0].quote for c in found.values()] == ["The winder of Ada turns at 90 rpm:"]


def test_the_title_before_a_sentence_does_not_make_it_a_hypothesis() -> None:
    assert "If a thread breaks: The pedal was locked at 3 o'clock." in claims("# If a thread breaks\n\nThe pedal was locked at 3 o'clock.\n")


@pytest.mark.parametrize(
    "sentence",
    ["When the warp is on don't forget to oil the 2 pedals.", "The main lesson of 2031: do not wash wool hot!", "The T7 pedal can do that with 3 turns."],
)
def test_bids_and_sentences_that_hang_on_others_are_no_claims(sentence: str) -> None:
    assert not claims(f"# Warp\n\n{LONG}\n\n{sentence}\n").get(sentence)


# concepts


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("# Reed\n\nI bought it late. The reed is a comb of steel.\n", "The reed is a comb of steel."),
        ("# Reed\n\nA comb of steel that spaces the warp.\n\nBut it is dear and old.\n", "A comb of steel that spaces the warp."),
        ("# width()\n\nReturns the width of the cloth.\n\nAna uses it a lot.\n", "Returns the width of the cloth."),
        ("# Reed\n\n[Deutsche Fassung](de.md)\n\nSteel wires space the warp.\n", "Steel wires space the warp."),
        ("# 箆\n\n[English](en.md)\n\n给定一组线的长度，算出箆的宽度。\n\n我们首先排序。\n", "给定一组线的长度，算出箆的宽度。"),
    ],
)
def test_the_body_says_what_the_title_is(text: str, body: str) -> None:
    assert extract(text).primary.body == body


def test_tags_of_the_kind_of_note_or_of_its_folder_are_no_concepts() -> None:
    found = of(extract("---\ntags: [journal, recipes, dyeing]\n---\n# Blue\n\nText.\n", "recipes/blue.md"), MemoryType.CONCEPT)
    assert set(found) == {"dyeing"}


def test_an_inline_tag_counts_on_its_line_or_when_met_again() -> None:
    once = "# Blue\n\nWe pay with #woad here too.\n"
    assert not of(extract(once), MemoryType.CONCEPT)
    assert set(of(extract(once + "\nMore #woad came.\n"), MemoryType.CONCEPT)) == {"woad"} == set(of(extract("# Blue\n\nDyed today. #woad\n"), MemoryType.CONCEPT))


def test_brackets_of_code_and_emphasised_parameters_are_no_concepts() -> None:
    text = "# f\n\n```\n[[noreturn]] f(int warp width)\n```\n\nIt is [[noreturn]] now.\n\nThe *warp width* of `warp width`.\n\nA *warp width* again.\n"
    assert not of(extract(text), MemoryType.CONCEPT)


# entities


def test_a_name_does_not_run_over_a_line_or_a_link() -> None:
    text = "# Trip\n\nWe saw Ana\nPrado Sol there.\n\nThen we saw Ana\nPrado Sol go. We like [Red](r.md) Mill and [Red](r.md) Mill.\n"
    assert not {"Ana Prado Sol", "Red Mill"} & set(of(extract(text), MemoryType.ENTITY))


def test_what_opens_a_sentence_is_no_part_of_a_name() -> None:
    text = "# Trip\n\nRecently Mill Sol came. We asked Mill Sol.\n\nSecond Mill Sol left. Uses Mill Sol wool.\n\nWe like Mill Sol.\n"
    assert set(of(extract(text), MemoryType.ENTITY)) == {"Mill Sol"}


def test_code_lives_in_files_and_people_in_places() -> None:
    text = "# Trip\n\nThe draft lives in LoomBase now. LoomBase is new.\n\nShe uses LoomBase. Rui moved to Braga. Tea in Braga.\n\nWe left Braga.\n"
    found = of(extract(text), MemoryType.ENTITY)
    assert found["LoomBase"].tags == ("product",) and found.get("Braga", found["LoomBase"]).tags != ("person",)


def test_the_text_of_a_picture_is_not_read() -> None:
    text = "# Trip\n\nWe met. ![Old Mill House stands in 2031.](a.png) It rained.\n\n![Old Mill House](b.png) is here.\n"
    assert not claims(text) and not of(extract(text), MemoryType.ENTITY)


def test_who_took_part_is_an_entity_and_no_claim() -> None:
    extraction = extract("---\nattendees: [Ana Prado, Rui Leal]\nsource: chat export\n---\n# Weekly\n\nText.\n")
    assert set(of(extraction, MemoryType.ENTITY)) == {"Ana Prado", "Rui Leal"} and not of(extraction, MemoryType.CLAIM)


# relationships


def test_a_link_of_a_property_is_cited_by_its_line_and_a_stronger_edge_stands_for_the_reference() -> None:
    extraction = extract('---\ntags: [wool]\nup: "[[Mill]]"\n---\n# Loom\n\nSee [[Mill]].\n')
    (edge,) = of(extraction, MemoryType.RELATIONSHIP).values()
    assert edge.link and edge.link.type is EdgeType.CONTAINS and edge.spans[0].quote == 'up: "[[Mill]]"'
    assert of(extraction, MemoryType.CONCEPT)["Mill"].spans[0].quote == 'up: "[[Mill]]"'


# chat


def said(*turns: str) -> set[str]:
    lines = "".join(f"- **{'Ana' if n % 2 else 'Rui'}:** {turn}\n" for n, turn in enumerate(turns))
    return {c.spans[0].quote for c in claims(f"# Chat\n\n{lines}").values()}


def test_events_are_kept_and_feelings_are_not() -> None:
    kept = {"We went to the mill last Saturday.", "By the way, I sold the old loom yesterday.", "My sister sells wool at the school."}
    dropped = {"I felt so happy and proud.", "I love it so much!", "It's such a wonderful feeling.", "Seeing others smile is so inspiring.",
               "We can all help each other grow."}
    assert said(*kept, *dropped) == kept
