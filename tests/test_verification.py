"""Verification: worked out from evidence and sign-offs, and what a rejection ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from worlds import MOMENT, ask, ingest, rows, write

from smb import Bank
from smb.bank_layout import BankTomlDamaged, read_toml
from smb.model.verification import Decision, SignOff, verification_of
from smb.model.objects import Verification as V
from smb.signing import AlreadyRejected, NotEntitled, NothingToSign, ReasonMissing, SignerMissing

CLAIM = "The pump delivers 40 litres"
NOTE = "# Pump\n\nThe pump delivers 40 litres.\n"
RIVAL = "# Well\n\nThe well is 9 m deep.\n"


class Place:
    """Notes, and a bank that has read them an hour before anything is decided."""

    def __init__(self, folder: Path, **notes: str):
        self.notes, self.bank = folder / "notes", folder / "bank"
        self.write(**(notes or {"Pump.md": NOTE}))

    def write(self, **notes: str) -> None:
        write(self.notes, notes)
        ingest(self.bank, self.notes, moment=MOMENT - timedelta(hours=1))

    def drop(self, name: str) -> None:
        (self.notes / name).unlink()
        ingest(self.bank, self.notes)

    def claim(self, title: str = CLAIM) -> tuple[str, str, str]:
        """(id, verification, standing) of a claim."""
        ((id_, verification, standing),) = rows(self.bank, "SELECT id, verification, standing FROM memory_objects WHERE type = 'claim' AND title LIKE ?", f"{title}%")
        return id_, verification, standing

    def of(self) -> str:
        return self.claim()[1]

    def verify(self, who: str = "ana", **more: Any) -> dict[str, Any]:
        return ask(self.bank, "verify", self.claim()[0], who=who, **more)

    def reject(self, who: str = "ana", reason: str = "the meter was off") -> dict[str, Any]:
        return ask(self.bank, "reject", self.claim()[0], who=who, reason=reason)

    def authority(self, **names: int) -> None:
        with (self.bank / "bank.toml").open("a") as file:
            file.write("\n[authority]\n" + "".join(f"{name} = {value}\n" for name, value in names.items()))


TOOL = "---\ntool_output: flowmeter 2\n---\n# Pump\n\nThe pump delivers 40 litres.\n"


def test_the_whole_way_up_and_down(tmp_path: Path) -> None:
    """A quote gives self-supported, tool output tool-supported, a sign-off supervisor-verified; the tool output gone, what
    was signed on it is worth what is left."""
    place = Place(tmp_path)
    assert place.of() == "self-supported"
    place.write(**{"Reading.md": TOOL})
    assert place.of() == "tool-supported"
    told = place.verify(note="read the dial")
    assert (told["was"], told["verification"], told["changed"]) == ("tool-supported", "supervisor-verified", True)
    assert place.of() == "supervisor-verified"
    place.drop("Reading.md")
    assert place.of() == "self-supported"
    shown = ask(place.bank, "why", place.claim()[0])
    assert [(s["by"], s["note"], s["counts"]) for s in shown["signed"]] == [("ana", "read the dial", False)]
    assert place.verify()["verification"] == "supervisor-verified", "signed anew on what there is"


def test_more_or_other_evidence_keeps_a_sign_off_and_other_words_do_not(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.verify()
    place.write(**{"Other.md": "# Pump\n\n- The pump delivers 40 litres.\n"})
    place.drop("Pump.md")
    assert place.claim()[1:] == ("supervisor-verified", "current"), "the same words, on evidence as good"
    (file,) = place.bank.glob(f"layer-1/claims/*{place.claim()[0]}.md")
    file.write_text(file.read_text("utf-8").replace("title: The pump delivers 40 litres", "title: The pump delivers 90 litres"), "utf-8")
    assert len(ask(place.bank, "absorb")["edits"]) == 1
    assert place.claim("The pump delivers 90 litres")[1] == "unverified", "a person's word without evidence; nobody signed that"


def test_a_sign_off_is_said_once_and_survives_a_rebuild(tmp_path: Path) -> None:
    place = Place(tmp_path)
    first, again, other = place.verify(), place.verify(), place.verify("bo", note="too")
    assert (first["changed"], again["changed"], other["changed"]) == (True, False, True)
    assert first["generation"] == again["generation"] != other["generation"]
    ask(place.bank, "rebuild")
    assert place.of() == "supervisor-verified"
    (file,) = place.bank.glob("layer-1/claims/*.md")
    assert "verification: supervisor-verified" in file.read_text("utf-8")


def test_a_rejected_claim_is_revoked_for_good_whoever_states_it_later(tmp_path: Path) -> None:
    place = Place(tmp_path)
    told = place.reject()
    assert (told["verification"], place.claim()[1:]) == ("rejected", ("rejected", "revoked"))
    shown = ask(place.bank, "why", place.claim()[0])
    assert (shown["verdict"], shown["reason"], shown["verification"]) == ("revoked", "the meter was off", "rejected")
    place.write(**{"Again.md": "# Pump\n\n- The pump delivers 40 litres.\n", "Pump.md": NOTE + "\nIt hums.\n"})
    assert place.claim()[1:] == ("rejected", "revoked")
    packet = ask(place.bank, "recall", "how many litres does the pump deliver")
    assert all(item["id"] != place.claim()[0] for item in packet["items"])
    with pytest.raises(AlreadyRejected, match="rejected by ana .the meter was off."):
        place.verify("bo")
    with pytest.raises(AlreadyRejected):
        place.reject()
    assert place.claim()[1:] == ("rejected", "revoked")


def test_what_was_known_before_the_rejection_stays_known(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.reject()
    packet = ask(place.bank, "recall", "how many litres does the pump deliver", known_at="2031-05-01T11:30:00Z")
    assert any(item["id"] == place.claim()[0] and item["verdict"] == "current" for item in packet["items"])


@pytest.mark.parametrize(("reason", "who", "error"), [("", "ana", ReasonMissing), (" \n", "ana", ReasonMissing), ("wrong", " ", SignerMissing)])
def test_a_rejection_needs_a_reason_and_a_name(tmp_path: Path, reason: str, who: str, error: type[Exception]) -> None:
    place = Place(tmp_path)
    with pytest.raises(error) as told:
        place.reject(who, reason)
    assert told.value.exit_code == 2 and place.of() == "self-supported"  # type: ignore[attr-defined]


def test_what_is_signed_takes_the_signer_or_more_authority_to_reject(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.authority(ana=60, cy=70, bot=10)
    for who in ("bot",):
        with pytest.raises(NotEntitled, match="bot has authority 10; this needs 50"):
            place.verify(who)
        with pytest.raises(NotEntitled):
            place.reject(who)
    place.verify("ana")
    for who in ("bo", "dee"):
        with pytest.raises(NotEntitled, match="ana, who signed it, or more than 60"):
            place.reject(who)
    assert place.reject("cy")["verification"] == "rejected"


def test_the_signer_may_reject_what_they_signed_and_anyone_what_nobody_did(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.verify("ana")
    assert place.reject("ana")["verification"] == "rejected"
    other = Place(tmp_path / "other")
    assert other.reject("bo")["verification"] == "rejected"


def test_a_rejected_value_gives_back_what_it_had_superseded(tmp_path: Path) -> None:
    """A correction that is rejected corrects nothing."""
    place = Place(tmp_path, **{"Boiler.md": "# Boiler\n\n- **Pressure:** 2 bar\n"})
    place.write(**{"Boiler.md": "# Boiler\n\n- **Pressure:** 7 bar\n"})
    before = dict(rows(place.bank, "SELECT value, standing FROM memory_objects WHERE attribute = 'pressure'"))
    assert before == {"2 bar": "superseded", "7 bar": "current"}
    (new,) = rows(place.bank, "SELECT id FROM memory_objects WHERE value = '7 bar'")
    ask(place.bank, "reject", new[0], who="ana", reason="misread")
    after = dict(rows(place.bank, "SELECT value, standing FROM memory_objects WHERE attribute = 'pressure'"))
    assert after == {"2 bar": "current", "7 bar": "revoked"}
    ask(place.bank, "rebuild")
    assert dict(rows(place.bank, "SELECT value, standing FROM memory_objects WHERE attribute = 'pressure'")) == after


def test_of_two_that_disagree_the_one_not_rejected_is_current_and_stays_so(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    place = Place(tmp_path, **{"Hut.md": "# Hut\n\nNothing yet.\n"})
    text = (place.bank / "bank.toml").read_text("utf-8")
    (place.bank / "bank.toml").write_text(text.replace("single_valued = []", 'single_valued = ["height"]'), "utf-8")
    place.write(**{"one.md": "# Mast\n\n- **Height:** 9 m\n", "two.md": "# Mast\n\n- **Height:** 11 m\n"})

    def heights() -> dict[str, str]:
        return dict(rows(place.bank, "SELECT value, standing FROM memory_objects WHERE attribute = 'height'"))

    assert heights() == {"9 m": "contested", "11 m": "contested"}
    (nine,) = rows(place.bank, "SELECT id FROM memory_objects WHERE value = '9 m'")
    ask(place.bank, "reject", nine[0], who="ana", reason="measured wet")
    assert heights() == {"9 m": "revoked", "11 m": "current"}
    write(folder, {"one.md": "# Mast\n\n- **Height:** 9 m\n\nIt was painted.\n", "three.md": "# Mast\n\n- **Height:** 9 m\n"})
    ingest(place.bank, folder)
    assert heights() == {"9 m": "revoked", "11 m": "current"}, "said again, it contests nothing"


def test_only_what_is_stated_can_be_signed(tmp_path: Path) -> None:
    place = Place(tmp_path, **{"Pump.md": NOTE, "Well.md": RIVAL})
    id_ = place.claim()[0]
    place.drop("Pump.md")
    for method, options in (("verify", {}), ("reject", {"reason": "x"})):
        with pytest.raises(NothingToSign, match="revoked"):
            ask(place.bank, method, id_, who="ana", **options)


def test_an_authority_is_a_whole_number_to_a_hundred(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.authority(ana=101)
    with pytest.raises(BankTomlDamaged, match="authority"):
        read_toml(place.bank)


@pytest.mark.parametrize("strength", [V.UNVERIFIED, V.SELF_SUPPORTED, V.TOOL_SUPPORTED])
def test_the_rule_by_itself(strength: V) -> None:
    order = [V.UNVERIFIED, V.SELF_SUPPORTED, V.TOOL_SUPPORTED]
    for on in order:
        signed = SignOff(Decision.VERIFIED, 50, on, "form")
        stands = order.index(on) <= order.index(strength)
        assert verification_of(strength, [signed], "form") == (V.SUPERVISOR_VERIFIED if stands else strength)
        assert verification_of(strength, [signed], "other") == strength
        assert verification_of(strength, [signed, SignOff(Decision.REJECTED, 50)], "form") == V.REJECTED


def test_two_clones_that_decide_differently_end_alike(tmp_path: Path) -> None:
    """One verifies, one rejects; with both transactions, in either order, it is rejected."""
    import shutil

    place = Place(tmp_path)
    clone = tmp_path / "clone"
    shutil.copytree(place.bank, clone)
    id_ = place.claim()[0]
    place.verify("ana")
    ask(clone, "reject", id_, who="bo", reason="no")
    for here, there in ((place.bank, clone), (clone, place.bank)):
        shutil.copytree(there / "ledger", here / "ledger", dirs_exist_ok=True)

    async def standing(bank: Path) -> Any:
        async with Bank.open(bank) as opened:
            told = await opened.why(id_)
            return told["verification"], told["verdict"], [s["by"] for s in told["signed"]]

    found: Callable[[Path], Any] = lambda bank: asyncio.run(standing(bank))  # noqa: E731
    assert found(place.bank) == found(clone) and found(clone)[:2] == ("rejected", "revoked")
