"""Property lists without markup: which lines are claims with a key, whose they are, and what only looks like them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smb.ingest.extract import Draft
from smb.ingest.extract_rules import RulesExtractor
from smb.ingest.ground import ground
from smb.ingest.note import Note
from smb.ingest.read import read_note
from smb.ingest.survey import survey
from smb.model.objects import MemoryType
from worlds import ingest, rows, write


def read(text: str) -> tuple[Note, bytes]:
    data = text.encode()
    note = read_note("pump.md", hashlib.sha256(data).hexdigest(), data)
    assert isinstance(note, Note)
    return note, data


def drafts(text: str) -> list[Draft]:
    note, data = read(text)
    return [d for d in ground(note, data, RulesExtractor().extract(note)).drafts if d.type is MemoryType.CLAIM and d.attribute]


def keyed(text: str) -> list[str]:
    return [d.title for d in drafts(text)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("- Power: 32 kW\n", ["Power: 32 kW"]),
        ("- Phone: 123\n- Power: 32 kW\n- Weight: 20 kg\n", ["Phone: 123", "Power: 32 kW", "Weight: 20 kg"]),
        ("Power: 5 kW\nColour:: red\n", ["Power: 5 kW", "Colour: red"]),
        ("Length: 9.8 m  \nBuilder: Rui Sá\\\nState: in progress\n", ["Length: 9.8 m", "Builder: Rui Sá", "State: in progress"]),
        ("Status: accepted\n\nSome words on it.\n", ["Status: accepted"]),
        ("* hull: navy blue\n* engine: 30 hp\n* berth: [[Doca]]\n", ["hull: navy blue", "engine: 30 hp", "berth: Doca"]),
        ("- Price (EUR): 18,000\n- Web: https://boats.example/lx\n", ["Price: 18,000 EUR", "Web: https://boats.example/lx"]),
        ("電話：03-1234-5678\n価格：1200円\n住所：東京都千代田区\n", ["電話: 03-1234-5678", "価格: 1200円", "住所: 東京都千代田区"]),
        ("- Maker: Ann Lee\n- We bought it in spring\n- It is loud\n- It leaks\n", ["Maker: Ann Lee"]),
        ("- Engine: ~~18 hp~~ 30 hp\n- Seats: 4\n", ["Engine: 30 hp", "Seats: 4"]),
        ("> [!info]\n> - Power: 3 kW\n> - Colour: red\n", ["Power: 3 kW", "Colour: red"]),
    ],
)
def test_plain_property_lines_are_claims_about_the_note(body: str, expected: list[str]) -> None:
    assert keyed(f"# Pump\n\n{body}") == [f"Pump – {claim}" for claim in expected]


@pytest.mark.parametrize(
    "body",
    [
        "- Stack: a list where the last in is the first out\n- Queue: a list where the first in is the first out\n",
        "Bisque: the first firing of clay.\nGlaze: a coat of glass on a pot.\n",
        "- Note: 3 apples\n- TODO: 5 things\n- Example: 32 kW\n- Tip: 20 g\n- Warning: 240 V\n- See: Chapter 3\n- e.g.: 5\n",
        "- Idea: 20 € a month\n- Bugfix: 3 lines\n- Dear Ann: 3\n",
        "1. Preheat: 240 °C\n2. Bake: 20 min\n",
        "INFO: started\nWARN: 3 retries\nERROR: 7\n",
        "Usage: smb 3\nhttps://x.example: 3\n10:30: 5\n2031-05-03: 4\n",
        "- `port`: 80\n- some_key: 5\n- someKey: 6\n",
        "- [ ] Milk: 3 l\n- [x] Bread: 2 kg\n",
        "> Power: 3 kW\n",
        "```\nPower: 3 kW\n```\n",
        "- We sold bread: 412 loaves\n- The result: 3 kg\n- One shelf broke: 14 mugs\n",
        "- Flour: Shipton missed two Mondays.\n- Oven: Tom wants to buy another one.\n",
        "Verdict: great\n",
        "Sunday: we walked 20 km along the coast and ate fish.\n",
        "Power: is 32 kW enough?\n",
        "Ann: good morning.\nBob: morning!\n",
    ],
)
def test_labels_sentences_definitions_steps_and_code_have_no_key(body: str) -> None:
    assert keyed(f"# Pump\n\n{body}") == []


def test_bold_and_plain_keys_are_the_same_claim(tmp_path: Path) -> None:
    """One object with both notes as its evidence, so that values meet and differ."""
    notes = write(
        tmp_path / "n",
        {"a/Pump.md": "# Pump\n\n- Power: 32 kW\n- Weight: 20 kg\n", "b/Pump.md": "# Pump\n\n- **Power:** 32 kW\n- **Weight:** 25 kg\n"},
    )
    ingest(tmp_path / "bank", notes)
    titles = [title for (title,) in rows(tmp_path / "bank", "SELECT title FROM memory_objects WHERE type = 'claim' ORDER BY title")]
    assert titles == ["Pump – Power: 32 kW", "Pump – Weight: 20 kg", "Pump – Weight: 25 kg"]


def test_the_evidence_of_a_line_is_that_line() -> None:
    first, second = drafts("# Pump\n\nPower: 5 kW\nMaker: Ann Lee\n")
    assert [s.quote for s in (*first.spans, *second.spans)] == ["Power: 5 kW", "Maker: Ann Lee"]
    assert (second.spans[0].line_start, second.spans[0].line_end) == (4, 4)


def test_other_lines_of_the_block_stay_prose() -> None:
    note, _ = read("# Pump\n\nStatus: in progress\nNext step: it goes to Harrow Street.\nOwner: Ann Lee\n")
    seen = survey(note)
    assert [(line.key, line.value) for line in seen.keyed] == [("Status", "in progress"), ("Owner", "Ann Lee")]
    assert [prose.sentences for prose in seen.prose] == [("Next step: it goes to Harrow Street.",)]


@pytest.mark.parametrize(
    "text",
    [
        "# Staff\n\nAnn Lee\n\n- Phone: 12 34 56\n- Role: baker\n\nBob Ray\n\n- Phone: 65 43 21\n- Role: miller\n",
        "# Staff\n\n- Ann Lee\n  - Phone: 12 34 56\n  - Role: baker\n- Bob Ray\n  - Phone: 65 43 21\n  - Role: miller\n",
        "# Staff\n\n## Ann Lee\n\n- Phone: 12 34 56\n- Role: baker\n\n## Bob Ray\n\n- Phone: 65 43 21\n- Role: miller\n",
        "# Staff\n\n- Name: Ann Lee\n- Phone: 12 34 56\n- Role: baker\n- Name: Bob Ray\n- Phone: 65 43 21\n- Role: miller\n",
    ],
)
def test_keys_that_come_back_belong_to_the_name_above_them(text: str) -> None:
    assert keyed(text) == ["Ann Lee – Phone: 12 34 56", "Ann Lee – Role: baker", "Bob Ray – Phone: 65 43 21", "Bob Ray – Role: miller"]


def test_keys_that_come_back_with_no_name_to_tell_them_apart_are_nobodys() -> None:
    assert keyed("# Staff\n\n- Phone: 12 34 56\n- Pay: £30\n- Phone: 65 43 21\n- Pay: £31\n- Shop: Harrow Street\n") == ["Staff – Shop: Harrow Street"]


@pytest.mark.parametrize(
    "text",
    [
        "# Ann\n\n- Phone: +44 20 7946 0022\n- Salary: £38,000\n- Phone: +44 20 7946 0023\n- Salary: £41,000\n",
        "# Ann\n\n- Phone: 12 34 56\n- Works: Tuesday to Saturday\n- Pay: £38,000\n\n- **Pay:** £41,000\n- **Phone:** 12 34 56\n",
        "- Role: baker\n- Shift: early\n- Role: miller\n- Shift: late\n",
        "- see:: [[Kiln A]]\n- by:: [[Ann Lee]]\n- see:: [[Kiln B|the other]]\n- by:: [[Bob Ray]]\n",
        "Width: 3 cm\n\nHeight: 4 cm\n\nWidth: 5 cm\n\nHeight: 6 cm\n",
    ],
)
def test_repeated_properties_are_no_chat(text: str) -> None:
    note, data = read(text)
    assert note.shape == "note"
    assert not {"Phone", "Salary", "Role", "Shift"} & {d.title for d in RulesExtractor().extract(note).drafts}


@pytest.mark.parametrize(
    "text",
    [
        "- Ann: I think we should go to the market.\n- Bob: At what time?\n- Ann: 10:30\n- Bob: See you there.\n",
        "Ann: 5 kg\nBob: of what?\nAnn: 6 kg\nBob: no idea\n",
    ],
)
def test_what_people_say_to_each_other_stays_a_chat(text: str) -> None:
    note, _ = read(text)
    assert note.shape == "chat" and not keyed(text)


LINE = st.tuples(
    st.sampled_from(["Power", "Ann Lee", "note", "電話", "e-mail", "Price (EUR)", "Start date", "x", "~~a~~", "[k](u)", "**B**"]),
    st.sampled_from([": ", "：", ":: ", ":", " : "]),
    st.sampled_from(["32 kW", "`a: b`", "[[Kiln: big]]", "~~3~~ 4 kg", "é", "Power: 3 kW", "he said: no", "", "1200円", "a" * 200, "%%x%%", "*5* kg"]),
).map("".join)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINE, min_size=1, max_size=6), st.sampled_from(["", "- ", "> - ", "1. ", "  - "]), st.sampled_from(["\n", "\n\n", "\r\n", "  \n"]))
def test_whatever_stands_in_a_list_every_claim_quotes_its_own_line(lines: list[str], mark: str, ending: str) -> None:
    """Value and key of every keyed claim stand in the quote it gives; nothing raises."""
    text = f"# Pump\n\n{''.join(f'{mark}{line}{ending}' for line in lines)}"
    for draft in drafts(text):
        quote = draft.spans[0].quote
        assert draft.attribute.split()[0] in quote and all(word in quote.replace("*", "") for word in draft.value.split() if word != "EUR")
