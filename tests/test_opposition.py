"""Which pairs of claims contradict each other, and which only look like it."""

from __future__ import annotations

import pytest

from smb.evolve.opposing.opposition import OppositionKind, analyse, blocking_keys, opposition
from smb.evolve.said import Said
from smb.model.validity import parse_interval


def said(text: str, **fields: object) -> Said:
    return Said(id=text, text=text, **fields)  # type: ignore[arg-type]


def sure(one: str, other: str) -> OppositionKind | None:
    found = opposition(said(one), said(other))
    return found.kind if found and found.sure else None


OPPOSED = [
    ("number", "The cistern holds 600 litres.", "The cistern has a capacity of 900 litres."),
    ("number", "The night train takes eleven hours.", "The night train takes 14 hours."),
    ("number", "The monthly fee is 12 euros.", "The monthly fee is 18 euros."),
    ("number", "The kennel has 14 dogs.", "There are 22 dogs in the kennel."),
    ("number", "The pharmacy opens at 8 am.", "The pharmacy opens at 9:30."),
    ("number", "Users may upload at most 20 files per day.", "We cap uploads by users at 50 files per day."),
    ("date", "The harvest fair is on 3 October.", "The harvest fair takes place on October 10."),
    ("date", "The lighthouse was built in 1871.", "The lighthouse was built in 1884."),
    ("date", "Visas expire in June 2031.", "The visas are valid until August 2031."),
    ("negation", "The resin contains solvents.", "There are no solvents in the resin."),
    ("negation", "The tenor has signed the contract.", "The contract has not been signed by the tenor."),
    ("negation", "The exporter keeps the comments.", "The exporter doesn't keep the comments."),
    ("negation", "Ida cannot swim.", "Ida swam across the bay last summer."),
    ("antonym", "The left pump is quiet.", "The left pump is noisy."),
    ("antonym", "The new glue is stronger than the old glue.", "The new glue is weaker than the old glue."),
    ("antonym", "The tram is faster than the bus.", "The bus is faster than the tram."),
    ("antonym", "Telemetry must be off in staging.", "Enable telemetry in staging."),
    ("antonym", "Turn the pump on at night.", "Turn the pump off at night."),
    ("antonym", "The traffic is encrypted.", "The traffic is unencrypted."),
    ("state", "The dam project is on hold.", "The dam project is in progress."),
    ("state", "Vera chairs the allotment board.", "Vera stepped down as chair of the allotment board."),
    ("value", "The ledger service uses MariaDB.", "The ledger service uses SQLite."),
    ("value", "My favourite poet is Szymborska.", "My favourite poet is Larkin."),
    ("value", "The bursar of the school is Ann Reyes.", "The bursar of the school is Tom Iwata."),
    ("value", "The counter is made of marble.", "The counter is made of oak."),
    ("quantifier", "All lamps are dimmed after ten.", "Not all lamps are dimmed after ten."),
    ("negation", "Everyone in the crew speaks Welsh.", "Nobody in the crew speaks Welsh."),
    ("implication", "Otto is a vegan.", "Otto had a steak for dinner."),
    ("implication", "Ruth has no siblings.", "Ruth's brother runs the mill."),
    ("quantifier", "Every bell is tuned.", "Not every bell is tuned."),
    ("negation", "All fields are mown.", "No field is mown."),
    ("negation", "Both ferries sail.", "Neither ferry sails."),
    ("negation", "Residents may keep bees.", "Residents may not keep bees."),
    ("negation", "Porters may open the vault alone.", "Porters must not open the vault alone."),
    ("negation", "Volunteers may handle cash.", "Volunteers are not allowed to handle cash."),
    ("negation", "No passenger may open the windows.", "Passengers may open the windows."),
    ("negation", "Moles damage the lawn.", "Moles don't damage the lawn."),
    ("negation", "Magnolias tolerate wind.", "Magnolias do not tolerate wind."),
    ("antonym", "Metrics must stay enabled on box-7.", "Turn off metrics on box-7."),
    ("antonym", "Keep the lamp on at night.", "Switch off the lamp at night."),
    ("antonym", "The side door stays unlocked.", "Lock the side door."),
    ("antonym", "Leave the sluice open.", "Close the sluice."),
    ("antonym", "The kitchen is overstaffed.", "The kitchen is understaffed."),
    ("negation", "Keep the loft heated.", "Stop heating the loft."),
    ("number", "Hall 3 has 24 lockers.", "Hall 3 counts 18 lockers."),
    ("number", "We have 3 altos.", "We have 5 altos."),
    ("date", "The parish picnic is on Tuesday.", "The parish picnic is on Thursday."),
    ("value", "The ledgers are stored in cabinet B.", "The ledgers are stored in cabinet D."),
    ("value", "The dough is fed with rye flour.", "The dough is fed with wheat flour."),
    ("value", "Mira is secretary of the guild.", "The secretary of the guild is Tobias."),
    ("implication", "The school has no pool.", "The school's pool is heated."),
    ("number", "水箱的容量是600升。", "水箱的容量是900升。"),
    ("negation", "新泵支持远程控制。", "新泵不支持远程控制。"),
]


@pytest.mark.parametrize(("kind", "one", "other"), OPPOSED)
def test_a_contradiction_is_sure_and_of_its_kind(kind: str, one: str, other: str) -> None:
    assert sure(one, other) == kind


@pytest.mark.parametrize(("kind", "one", "other"), OPPOSED)
def test_opposed_claims_share_a_blocking_key(kind: str, one: str, other: str) -> None:
    assert blocking_keys(analyse(said(one))) & blocking_keys(analyse(said(other)))


@pytest.mark.parametrize(("one", "other"), [
    ("The lathe is a good machine to know.", "The lathe is a noisy machine."),  # both may be true; "no" is in no "know"
    ("The trip takes 90 minutes.", "The trip takes 1.5 hours."),
    ("The plan costs $10 per month.", "The plan costs $120 per year."),
    ("About 50 guests came to the fair.", "52 guests came to the fair."),
    ("The pump delivers at least 20 litres.", "The pump delivers at least 30 litres."),
    ("Pump 3 needs 40 litres.", "Pump 4 needs 60 litres."),
    ("The trailer weighs 300 kg.", "The trailer can carry 800 kg."),
    ("The pool is 25 metres long.", "The pool is 4 metres deep."),
    ("Vera's bonus was 900 euros.", "Vera's rent is 700 euros."),
    ("The fair is in October.", "The fair is on 3 October."),
    ("The fair is on 3 October.", "The rehearsal is on 10 October."),
    ("The exporter keeps comments.", "The exporter does not keep dates."),
    ("The mixer on line 2 no longer leaks.", "The mixer on line 7 leaks."),
    ("The door is not unlocked.", "The door is locked."),
    ("The report is not only long but also dull.", "The report is long."),
    ("The old pump is slow.", "The new pump is fast."),
    ("The tram is faster than the bus.", "The bus is slower than the tram."),
    ("Some guests liked the soup.", "Many guests hated the soup."),
    ("The ledger service uses SQLite.", "The search service uses MariaDB."),
    ("The ledger service uses SQLite.", "The ledger service uses Jinja."),
    ("Otto speaks Welsh.", "Otto speaks Danish."),
    ("The market is on the square.", "The market is loud."),
    ("My cat likes fish.", "Otto's cat hates fish."),
    ("Invoice 77 is outstanding.", "Invoice 78 is outstanding."),  # a figure after a noun is a name
    ("We keep the mixer 543-0 open at night.", "We keep the mixer 302-0 closed at night."),
    ("The second act is longer than the first.", "The first act is shorter than the second."),
    ("The third coat is thicker than the first.", "The second coat is thinner than the first."),
    ("The file may exist.", "The file may not exist."),  # chance, no leave
    ("Trains may stop here.", "Trains may not stop here."),
    ("Users may lose data.", "Users must not lose data."),
    ("The roof may leak.", "The roof does not leak."),
    ("Ida can drive a lorry.", "Ida must not drive a lorry."),
    ("Porters may open two vaults.", "Porters may not open three vaults."),
    ("Adults may use the sauna.", "Children may not use the sauna."),
    ("Close the valve.", "The valve is open."),  # what is to be done is not done yet
    ("Turn on the alarm.", "The alarm is off."),
    ("The gate must stay locked at night.", "Unlock the gate in the morning."),
    ("All tables are reserved.", "No chairs are reserved."),
    ("We have 5 minutes.", "We have 6 oboes."),
    ("We have a meeting at 5.", "We have a meeting at 6."),
    ("The market is on Tuesdays.", "The market is on Thursdays too."),
    ("The ledgers are stored in cabinet B.", "The keys are stored in cabinet D."),
    ("We have no car.", "Our car was sold in May."),
    ("We have no dog.", "Our dog kennel is empty."),
    ("The brine, with no cover, needs 9 hours in the loft.", "The brine, with a cover and no lamp, needs 4 hours in the loft."),
    ("水箱的容量是600升。", "水箱的高度是900毫米。"),
])
def test_two_claims_that_may_both_be_true_are_no_contradiction(one: str, other: str) -> None:
    assert sure(one, other) is None


@pytest.mark.parametrize("other", [
    "Is the left pump noisy?", "The left pump might be noisy.", "If the valve sticks, the left pump is noisy.", "The left pump would be noisy without oil.",
    "I doubt that the left pump is noisy.", "Perhaps the left pump is noisy.", "The left pump was noisy last year.", "The left pump will be noisy.",
])
def test_what_is_asked_supposed_or_of_another_time_contradicts_nothing(other: str) -> None:
    assert sure("The left pump is quiet.", "The left pump is noisy.") is OppositionKind.ANTONYM
    assert sure("The left pump is quiet.", other) is None


def test_two_people_may_say_opposite_things_and_one_may_not() -> None:
    assert sure("Ana says the film is boring.", "Ben says the film is exciting.") is None
    assert sure("Ana says the film is boring.", "Ana says the film is exciting.") is OppositionKind.ANTONYM
    one, other = said("I like the new stage.", attributed_to="Ana"), said("I hate the new stage.", attributed_to="Ben")
    assert opposition(one, other) is None


def test_two_scopes_are_two_things_and_a_scope_on_one_side_is_only_a_candidate() -> None:
    assert sure("Payments are enabled in staging.", "Payments are disabled in production.") is None
    found = opposition(said("Shutters are locked."), said("Shutters are not locked in summer."))
    assert found is not None and not found.sure


def test_values_of_two_times_are_a_change() -> None:
    then, now = parse_interval("2029"), parse_interval("2031")
    assert opposition(said("The fee is 12 euros.", valid=then), said("The fee is 18 euros.", valid=now)) is None
    assert sure("2031-04-02: The tank is full.", "2031-04-09: The tank is empty.") is None
    found = opposition(said("The fee is 12 euros.", date=then), said("The fee is now 18 euros.", date=now))
    assert found is None or not found.sure


def test_a_key_decides_only_where_it_is_listed_as_single_valued() -> None:
    one = said("Mill – Owner: Reyes", key=("mill", "owner"), value="Reyes")
    other = said("Mill – Owner: Iwata", key=("mill", "owner"), value="Iwata")
    assert opposition(one, other) is None
    found = opposition(one, other, ("owner",))
    assert found is not None and found.sure and "Reyes" in found.reasons[0] and "Iwata" in found.reasons[0]


def test_reasons_show_both_sides_as_written() -> None:
    found = opposition(said("The night train takes eleven hours."), said("The night train takes 14 hours."))
    assert found is not None and found.reasons == ("eleven hours against 14 hours",) or found.reasons == ("14 hours against eleven hours",)


def test_what_a_claim_points_at_without_naming_it_is_never_sure() -> None:
    assert sure("It is 12 metres long.", "It is 15 metres long.") is None
    assert sure("This valve is open.", "This valve is closed.") is None
    assert sure("The default value is 4.", "The default value is 9.") is None
