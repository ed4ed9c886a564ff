"""Names of one thing and names of two: what differs in the writing only is one, what differs in a word, a number or a mark is two."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smb.evolve.sameness.acronyms import expansions, initials, stands_for
from smb.evolve.sameness.name_blocks import keys_of, may_meet, pairs_of, slips_in
from smb.evolve.sameness.name_parts import parts_of
from smb.evolve.sameness.same_name import Agreement, Named, Sameness, agreement, same_name
from smb.evolve.language.word_forms import american, is_slip, singulars
from smb.model.objects import MemoryType
from smb.model.validity import Interval

ALIKE = {"text": "Holds pots above the burner while the shed stays cold.", "neighbours": frozenset({"n1", "n2"}), "tags": frozenset({"shed"}),
         "documents": frozenset({"d1"})}


def names(one: str, other: str, type_: MemoryType = MemoryType.CONCEPT, **known: object) -> tuple[Named, Named]:
    return Named("a", one, type_, **known), Named("b", other, type_, **known)  # type: ignore[arg-type]


def judged(one: str, other: str, type_: MemoryType = MemoryType.CONCEPT, **known: object) -> Sameness | None:
    return same_name(*names(one, other, type_, **known))


# ---------------------------------------------------------------- near names that are two things

NUMBERED = ("Python 3.{n}", "release v{n}", "Annual report 202{n}", "Furnace {n}", "db-{n}", "Chapter {n}", "Q{n}", "Form A{n}", "{n} May 2031", "Apollo {n}",
            "RFC 811{n}", "Level-{n} support", "Unit {n}B", "KB{n}00")
WORDS_APART = """
slow glazing/fast glazing|mail client/mail server|input file/output file|left valve/right valve|north wing/south wing|primary node/secondary node|old barn/new barn
inner join/outer join|upstream port/downstream port|buyer/seller|import/export|encoder/decoder|encryption/decryption|serialization/deserialization|read lock/write lock
public key/private key|static typing/dynamic typing|hot standby/cold standby|parent process/child process|source branch/target branch|min heap/max heap
drying/slow drying|lock/read lock|table/hash table|tree/binary tree|Java/JavaScript|Go/Golang tools|C/C++|C/C#|C++/C#|F#/F|operator+/operator-|a < b/a > b
casual/causal|form/from|adapter/adopter|complement/compliment|stationary/stationery|principal/principle|discrete/discreet|affect/effect|elicit/illicit|angel/angle
desert/dessert|diary/dairy|trail/trial|quite/quiet|marital/martial|loose/lose|personal/personnel|perspective/prospective|hypotension/hypertension|interstate/intrastate
nitrate/nitrite|sulfate/sulfite|ethanol/methanol|ethane/ethene|phosphate/phosphide|adoption/adaption|allusion/illusion|ingenious/ingenuous|immigration/emigration
historic/historical|economic/economical|sensible/sensitive|conservation/conversation|organism/organist|internet/intranet|macroscopic/microscopic|internal/external
CO/CO2|H2O/H2O2|H2SO4/H2SO3|Fe2+/Fe3+|NaCl/KCl|5 mW/5 MW|10 Mb/10 MB|3.1/3.10|1.2.3/1.2.4|2031-05-01/2031-05-02|May 2031/June 2031|Monday/Tuesday
World War I/World War II|Louis XIV/Louis XV|Part III/Part IV|Plan A/Plan B|Vitamin B/Vitamin C|Model S/Model X|Type A/Type B|Appendix C/Appendix D
Window/Windows|Arm/Arms|Custom/Customs|Good/Goods|Physic/Physics|Mathematic/Mathematics|New/News|Mean/Means|Glass/Glasses|Premise/Premises|Work/Works
CSS/CS|DNS/DN|SMS/SM|OS/O|GPS/GP|APS/AP|Mercury (planet)/Mercury (element)|Mercury/Mercury (planet)|Java (island)/Java (language)|Kernel (image)/Kernel (operating system)
SQL to JSON/JSON to SQL|light from heat/heat from light|cat in hat/hat in cat|test driver/driver test|house boat/boat house|race horse/horse race|key value/value key
first kiln/second kiln|one pot/two pots|half note/quarter note|morning shift/evening shift|red glaze/blue glaze|oak ash/pine ash|cone six/cone ten|raw clay/fired clay
Flag 🇩🇪/Flag 🇫🇷|🐘/🦏|東京/京都|温度/湿度|窯/窯業|Моск/Москва|は/ば|和紙/洋紙
weekly review/monthly review|unit test/integration test|REST API/GraphQL API|blue team/red team|alpha release/beta release|staging server/production server
GET request/POST request|TCP/UDP|IPv4/IPv6|HTTP/HTTPS|SSD/HDD|CPU/GPU|RAM/ROM|AM/PM|LAN/WAN|SHA-1/SHA-256|UTF-8/UTF-16|x86/x64|B12/B6
accept/except|access/excess|advice/advise|allude/elude|assent/ascent|bare/bear|brake/break|cereal/serial|council/counsel|cue/queue|dual/duel|ensure/insure
forth/fourth|gorilla/guerrilla|hoard/horde|idle/idol|lead/led|miner/minor|moral/morale|naval/navel|peak/peek|pedal/peddle|plain/plane|pole/poll|pray/prey
""".replace("\n", "|").strip("|").split("|")
PEOPLE = "Mara Quill,Jonas Quill,Mara Stroud,Jonas Stroud,Marta Quill,John Gray,John Grey,Alexandra Voss,Alexander Voss,Ann Lee,Anna Lee,Will Adam,Will Adams,Dr. Quill,M. Quill".split(",")
PEOPLE_APART = [("Mr. Alex Kerr", "Mrs. Alex Kerr"), ("Dr. Quill", "Quill"), ("Sam Orr Jr.", "Sam Orr"), ("Sam Orr Jr.", "Sam Orr Sr."), ("Acme Inc", "Acme Ltd"),
                ("Harrow Street", "Harrow Lane"), ("Acme Tools", "Acme Paints"), ("Adam", "Adams"), ("Christina", "Christine"), ("University of Ald", "University of Elm")]


def near_names() -> list[tuple[str, str, MemoryType]]:
    pairs = [(a.format(n=m), a.format(n=n), MemoryType.CONCEPT) for a in NUMBERED for m, n in ((1, 2), (3, 4), (8, 9))]
    pairs += [(f"{name} {a}", f"{name} {b}", MemoryType.CONCEPT) for name in ("Kiln", "Batch") for a, b in combinations(("1", "2", "II", "III", "A", "B", "10"), 2)]
    pairs += [(*pair.split("/"), MemoryType.CONCEPT) for pair in WORDS_APART if pair.count("/") == 1]  # type: ignore[misc]
    pairs += [(a, b, MemoryType.ENTITY) for a, b in (*combinations(PEOPLE, 2), *PEOPLE_APART)]
    return pairs


@pytest.mark.parametrize("known", [{}, ALIKE], ids=["nothing known", "everything else the same"])
def test_none_of_the_near_names_is_merged(known: dict[str, object]) -> None:
    pairs = near_names()
    assert len(pairs) >= 350
    assert [(a, b, found) for a, b, type_ in pairs if (found := judged(a, b, type_, **known)) is not None and found.sure] == []


def test_a_number_after_a_name_is_another_thing_even_where_an_alias_says_so() -> None:
    one, other = names("Kiln", "Kiln 2")
    assert same_name(replace(one, aliases=("Kiln 2",)), other) is None


# ---------------------------------------------------------------- names of one thing

WRITTEN = """
Slow Glazing/slow glazing|slow-glazing/slow glazing|slow_glazing/Slow Glazing|SLOW GLAZING/slow glazing|slow  glazing/slow glazing|The Drying Shed/Drying Shed|A Drying Shed/drying shed
Colour wheel/Color wheel|Centre of mass/Center of mass|Organisation chart/Organization chart|Modelling clay/Modeling clay|Catalogue/Catalog|Defence policy/Defense policy
Aluminium foil/Aluminum foil|Analyse phase/Analyze phase|Grey wash/Gray wash|Fibre optics/Fiber optics|Anaemia/Anemia|Behaviour tree/Behavior tree|Licence plate/License plate
Café culture/Cafe culture|Résumé/Resume|naïve bayes/Naive Bayes|São Tomé/Sao Tome|Gödel numbering/Godel numbering|Ångström unit/Angstrom unit|Łódź/Lodz
pot/pots|kiln shelf/kiln shelves|batch/batches|query/queries|glaze recipe/glaze recipes|matrix/matrices|index/indices|hypothesis/hypotheses|knife/knives|child process/child processes
box/boxes|category/categories|bus stop/bus stops|analysis/analyses|radius/radii|criterion/criteria|API/APIs|URL/URLs|hero image/hero images|state of mind/states of mind
drying, slow/Slow drying|testing, unit/Unit testing|salt and ash/ash and salt|e-mail/email|data-base/database|Non-linear filter/Nonlinear filter|co-operation/cooperation
pre-processing/Preprocessing|work flow diagram/workflow diagram|time stamp/timestamp|data base/database|fire wall rules/firewall rules|ｓｌｏｗ　ｇｌａｚｉｎｇ/slow glazing|Ａ４ paper/A4 paper|Newton's method/Newton method|R&D/R and D
Two-phase commit/2-phase commit|U.S.A./USA|コンピュータ/コンピューター|k8s/Kubernetes|i18n/Internationalization|“Slow” glazing/slow glazing|Slow glazing./slow glazing
Kiln No. 2/Kiln No 2|10,000 hours/10000 hours|web/app/web app|Retrieval-Augmented Generation (RAG)/Retrieval augmented generation|Retrieval-Augmented Generation (RAG)/RAG
""".replace("\n", "|").strip("|").split("|")
WITH_EVIDENCE = """
Rate of drying/Drying rate|History of art/Art history|Accomodation/Accommodation|Temprature curve/Temperature curve|Enviroment variable/Environment variable
thermocuople/thermocouple|Kubernetse cluster/Kubernetes cluster|seperation of concerns/separation of concerns|Calibraton log/Calibration log|maintainance plan/maintenance plan
occurence/occurrence|refrigeratoin/refrigeration|Config file/Configuration file|Repo layout/Repository layout|DB schema/Database schema|SLA/Service level agreement
MTBF/Mean time between failures|LLM/Large language model|DoD/Definition of done|slow kiln drying/kiln slow drying
""".replace("\n", "|").strip("|").split("|")
ENTITIES = """
Dr. Mara Quill/Mara Quill|Quill, Mara/Mara Quill|Prof. Jonas Stroud/Jonas Stroud|Mara Quill, PhD/Mara Quill|José Orr/Jose Orr|The Harrow Press/Harrow Press|Sir Ken Ald/Ken Ald
"""
ENTITIES_WITH_EVIDENCE = "Acme Inc./Acme|@maraquill/Mara Quill|mara.quill@example.org/Mara Quill|Mara T. Quill/Mara Quill|Postgersql/Postgresql"


def planted() -> list[tuple[str, str, MemoryType, dict[str, object]]]:
    def split(text: str) -> tuple[str, str]:
        left, _, right = text.rpartition("/")
        return left, right

    pairs = [(*split(p), MemoryType.CONCEPT, {}) for p in WRITTEN] + [(*split(p), MemoryType.CONCEPT, ALIKE) for p in WITH_EVIDENCE]
    pairs += [(*split(p), MemoryType.ENTITY, {}) for p in ENTITIES.strip().split("|")]
    return pairs + [(*split(p), MemoryType.ENTITY, ALIKE) for p in ENTITIES_WITH_EVIDENCE.split("|")]  # type: ignore[return-value]


def test_planted_duplicates_are_merged() -> None:
    pairs = planted()
    missed = [(a, b) for a, b, type_, known in pairs if not ((found := judged(a, b, type_, **known)) and found.sure)]
    assert len(pairs) >= 100
    assert missed == []


@pytest.mark.parametrize("pair", WITH_EVIDENCE)
def test_what_may_be_the_same_needs_something_that_speaks_for_it(pair: str) -> None:
    assert judged(*pair.split("/")) is None


def test_every_pair_that_is_one_meets_under_a_key_and_passes_the_quick_test() -> None:
    missed = []
    for a, b, _, _ in planted():
        slips = slips_in([a, b])
        met = pairs_of({"a": keys_of(a, slips=slips), "b": keys_of(b, slips=slips)}, frozenset("b"))
        if met != [("a", "b")] or not may_meet([a])(b) or not may_meet([b])(a):
            missed.append((a, b))
    assert missed == []


def test_long_names_with_equal_initials_meet_only_where_one_is_short() -> None:
    keys = {"a": keys_of("slow glazing"), "b": keys_of("sad goose"), "c": keys_of("SG")}
    assert pairs_of(keys, frozenset("abc")) == [("a", "c"), ("b", "c")]


def test_the_reason_says_what_makes_them_one() -> None:
    reasons = {(a, b): judged(a, b).reason for a, b in (("pot", "pots"), ("Colour", "Color"), ("The shed", "Shed"), ("drying, slow", "slow drying"))}  # type: ignore[union-attr]
    assert list(reasons.values()) == ["plural", "spelling", "article", "word order"]
    assert judged("SLA", "Service level agreement", **ALIKE) == Sameness("acronym of Service level agreement")


# ---------------------------------------------------------------- what is known of them

def test_an_acronym_is_its_expansion_where_a_note_says_so_and_only_then() -> None:
    one, other = names("CVD", "Cold vapour dyeing")
    assert same_name(one, other) is None
    assert same_name(one, replace(other, text="Cold vapour dyeing (CVD) uses no water.")) == Sameness("acronym of Cold vapour dyeing")
    assert same_name(replace(one, text="CVD stands for cold vapour dyeing."), other) == Sameness("acronym of Cold vapour dyeing")
    assert same_name(replace(one, aliases=("Cold vapour dyeing",)), other) == Sameness("alias of CVD")
    said_otherwise = replace(one, text="Chemical vapour deposition (CVD) coats blades.", **{k: v for k, v in ALIKE.items() if k != "text"})
    assert same_name(said_otherwise, replace(other, **ALIKE)) is None


def test_case_alone_tells_acronyms_apart_where_their_expansions_differ() -> None:
    one = Named("a", "iOS", text="The iOS of a phone.", **{k: v for k, v in ALIKE.items() if k != "text"})
    other = Named("b", "IOS", text="Internetwork Operating System (IOS) runs routers.")
    found = same_name(one, other)
    assert found is None or not found.sure


def test_homographs_are_told_apart_by_their_properties() -> None:
    planet = {"moons": frozenset({"0"}), "orbital period": frozenset({"88 days"}), "kind": frozenset({"planet"})}
    metal = {"melting point": frozenset({"-39 c"}), "atomic number": frozenset({"80"}), "kind": frozenset({"metal"})}
    one, other = names("Mercury", "mercury")
    assert same_name(one, other) is not None
    assert same_name(replace(one, properties=planet), replace(other, properties=metal)) is None
    del planet["kind"], metal["kind"]
    assert same_name(replace(one, properties=planet), replace(other, properties=metal)) is None
    assert same_name(replace(one, properties={**planet, "kind": frozenset({"metal"})}), replace(other, properties={**metal, "kind": frozenset({"metal"})}))


def test_names_with_times_that_never_meet_are_two() -> None:
    def between(start: int, end: int) -> tuple[Interval, ...]:
        return (Interval(datetime(start, 1, 1, tzinfo=timezone.utc), datetime(end, 1, 1, tzinfo=timezone.utc)),)

    one, other = names("Harrow guild", "Harrow Guilds")
    assert same_name(replace(one, valid=between(2001, 2005)), replace(other, valid=between(2010, 2015))) is None
    assert same_name(replace(one, valid=between(2001, 2011)), replace(other, valid=between(2010, 2015))) is not None


def test_a_tag_and_a_document_in_common_are_not_much() -> None:
    one, other = names("a", "b", tags=frozenset({"work"}), documents=frozenset({"d"}))
    assert agreement(one, other) is Agreement.SOME
    assert agreement(replace(one, neighbours=frozenset({"x"})), replace(other, neighbours=frozenset({"x"}))) is Agreement.MUCH


def test_an_entity_and_a_concept_of_one_name_are_one_and_of_one_kind_of_name_only_with_evidence() -> None:
    assert same_name(Named("a", "Harrow", MemoryType.ENTITY), Named("b", "harrow", MemoryType.CONCEPT))
    assert same_name(Named("a", "The Kiln", MemoryType.ENTITY), Named("b", "kiln", MemoryType.CONCEPT)) is None


# ---------------------------------------------------------------- laws

NAMES = st.one_of(st.text(max_size=30), st.lists(st.sampled_from("slow kiln Kilns the of and 3 3.10 II A C++ glaze, e-mail RAG (RAG) dr. ー 窯 🐘 colour".split()), max_size=6).map(" ".join))


@given(NAMES, NAMES, st.sampled_from([MemoryType.CONCEPT, MemoryType.ENTITY]))
def test_sameness_is_symmetric_and_never_fails(a: str, b: str, type_: MemoryType) -> None:
    one, other = names(a, b, type_, **ALIKE)
    assert same_name(one, other) == same_name(other, one)


@given(NAMES)
def test_every_name_is_the_same_as_itself_and_keeps_what_tells_it_apart(name: str) -> None:
    parts = parts_of(name)
    assert len(parts.words) == len(parts.written) == len(parts.joints)
    if parts.words and not (parts.article and len(parts.joined) == 1):
        assert judged(name, name) is not None


@given(NAMES, st.integers(0, 99), st.integers(0, 99))
def test_another_number_is_always_another_thing(name: str, m: int, n: int) -> None:
    if m != n:
        found = judged(f"{name} {m}", f"{name} {n}", **ALIKE)
        assert found is None


# ---------------------------------------------------------------- the parts

def test_words_lose_their_accents_only_where_they_are_latin() -> None:
    assert parts_of("Ångström café").words == ("angstrom", "cafe")
    assert parts_of("が").words == ("が",)
    assert parts_of("йод").words == ("йод",)


def test_plurals_spellings_and_slips_of_single_words() -> None:
    assert "query" in singulars("queries") and "shelf" in singulars("shelves") and not singulars("windows") and not singulars("physics")
    assert american("timbre") == "timbre" and american("filling") == "filling" and american("theatres") == "theaters"
    assert is_slip("accomodation", "accommodation") and not is_slip("casual", "causal") and not is_slip("stationery", "stationary")


def test_what_a_text_says_an_acronym_stands_for() -> None:
    assert expansions("The slow drying method (SDM) and RAG (Retrieval-Augmented Generation).") == {
        "sdm": frozenset({"slow drying method"}), "rag": frozenset({"retrieval augmented generation"})}
    assert stands_for("DoD", "Definition of Done") and stands_for("MTBF", "mean time between failures") and not stands_for("CAT", "slow drying method")
    assert initials("kiln") == frozenset()
