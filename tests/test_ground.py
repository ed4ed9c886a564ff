"""The gates: each closes on the draft it is for, by name, and lets the grounded one through."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from smb.ingest.extract import Draft, Extraction
from smb.ingest.ground import ground
from smb.ingest.note import Note
from smb.ingest.read import read_note
from smb.model.evidence import Span
from smb.model.objects import MemoryType

SENTENCE = "Ana paid 2,750 euros to the **mill** on 2031-05-03."
DATA = f"# Bill\n\n{SENTENCE}\n".encode()
SOURCE = hashlib.sha256(DATA).hexdigest()
SPAN = Span(SOURCE, 8, 8 + len(SENTENCE), 3, 3, SENTENCE)
PRIMARY = Draft(MemoryType.CONCEPT, "Bill", (Span(SOURCE, 0, 6, 1, 1, "# Bill"),))


def claim(title: str = "Ana paid 2,750 euros to the mill on 2031-05-03.", **fields: object) -> Draft:
    return replace(Draft(MemoryType.CLAIM, title, (SPAN,), subject="Ana"), **fields)  # type: ignore[arg-type]


def gate(draft: Draft, data: bytes = DATA) -> str:
    note = read_note("bill.md", SOURCE, DATA)
    assert isinstance(note, Note)
    result = ground(note, data, Extraction(PRIMARY, (draft,)))
    assert (draft in result.drafts) is (not result.refused)
    return result.refused[0].gate if result.refused else ""


def test_a_grounded_claim_passes() -> None:
    assert gate(claim()) == ""


@pytest.mark.parametrize(
    ("draft", "closed"),
    [
        (claim("Ana paid 3,750 euros to the mill on 2031-05-03."), "hard"),
        (claim("Ana paid 2,750 euros to the mill on 2031-05-04."), "hard"),
        (claim(attribute="paid", value="9 euros"), "hard"),
        (claim("Ana paid at https://a.example/x."), "hard"),
        (claim(subject="Rui"), "subject"),
        (claim("Did Ana pay the mill?"), "act"),
        (claim("If Ana paid the mill, it works."), "act"),
        (claim(spans=()), "support"),
        (claim(spans=(replace(SPAN, byte_start=9),)), "support"),
        (claim(spans=(replace(SPAN, source="0" * 64),)), "support"),
        (claim(attribute="API key", value="abc"), "secret"),
        (claim("Ana uses sk-test_FAKE0000LOOM1111WOOL2222 here."), "secret"),
    ],
)
def test_each_gate_closes_on_its_fault(draft: Draft, closed: str) -> None:
    assert gate(draft) == closed


def test_a_withheld_secret_is_not_repeated_in_the_refusal() -> None:
    note = read_note("bill.md", SOURCE, DATA)
    assert isinstance(note, Note)
    result = ground(note, DATA, Extraction(PRIMARY, (claim("Ana uses sk-test_FAKE0000LOOM1111WOOL2222 here."),)))
    assert "FAKE" not in repr(result.refused)


def test_subjects_that_the_note_itself_names_need_not_stand_in_the_quote() -> None:
    assert gate(claim(subject="Bill")) == "" and gate(claim(subject="the mill")) == ""


def test_the_bytes_decide_not_the_extraction() -> None:
    assert gate(claim(), DATA.replace(b"2,750", b"2,751")) == "support"
