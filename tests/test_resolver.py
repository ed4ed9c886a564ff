"""The resolver: a key at two clocks is a state, a miss or a conflict, whatever any route or score says."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_bank import run_recall

from smb.model.currentness import AsOf
from smb.model.evidence import Span
from smb.model.identity import object_id
from smb.model.revision import RevisionKind, Statement, new_revision
from smb.model.validity import Interval, parse_instant
from smb.recall.resolver import Conflict, Miss, State, resolve, same_value


def says(value, at, *, begins=None, ends=None, kind=RevisionKind.ASSERT, replaces=(), into=(), name=None, document="d1"):
    title = name or f"press speed {value}"
    made = new_revision(
        kind, object_id("claim", title), "claim", document=document,
        statement=Statement(title, title, subject="press", attribute="speed", value=value,
                            valid=Interval(begins and parse_instant(begins), ends and parse_instant(ends))),
        evidence=(Span("s" * 64, 0, 1, 1, 1, "x"),), replaces=tuple(r.id for r in replaces), into=into,
    )  # fmt: skip
    return replace(made, recorded_at=parse_instant(at))


def histories(*revisions):
    found = {}
    for one in revisions:
        found.setdefault(one.object_id, [])
    for held in found:
        ids = {r.id for r in revisions if r.object_id == held}
        found[held] = [r for r in revisions if r.object_id == held or ids & set(r.replaces)]
    return found


def test_one_value_is_a_state_and_equal_values_count_once():
    two = histories(says("1,200 rpm", "2031-01-01"), says("1200rpm.", "2031-01-02", document="d2"))
    found = resolve(two, AsOf())
    assert isinstance(found, State) and found.value == "1,200 rpm" and len(found.claims) == 2
    assert same_value("1,200 RPM") == same_value("1200rpm") != same_value("1300rpm")


def test_nothing_known_is_a_miss_and_two_values_are_a_conflict():
    both = histories(says("60", "2031-01-01"), says("90", "2031-01-02"))
    assert isinstance(resolve({}, AsOf()), Miss)
    assert isinstance(resolve(both, AsOf(None, parse_instant("2030-12-31"))), Miss)
    found = resolve(both, AsOf())
    assert isinstance(found, Conflict) and [c.value for c in found.claims] == ["60", "90"]


def test_a_late_correction_changes_what_is_known_now_and_not_what_was_known_then():
    first = says("60", "2031-01-01", begins="2031-01-01")
    fixed = says("75", "2031-06-01", begins="2031-01-01", kind=RevisionKind.SUPERSEDE, replaces=(first,))
    held = histories(first, fixed)
    for valid, known, value in (
        ("2031-03-01", "2031-05-01", "60"),
        ("2031-03-01", "2031-07-01", "75"),
        ("2031-03-01", None, "75"),
    ):
        found = resolve(held, AsOf(parse_instant(valid), known and parse_instant(known)))
        assert isinstance(found, State) and found.value == value, (valid, known)
    now = resolve(held, AsOf())
    assert isinstance(now, State) and now.excluded == (first.object_id,)


def test_values_whose_times_follow_each_other_are_no_rivals():
    held = histories(
        says("60", "2031-01-01", begins="2031-01-01", ends="2031-03-01"), says("90", "2031-01-01", begins="2031-03-01")
    )
    found = resolve(held, AsOf())
    assert isinstance(found, State) and found.value == "90"
    assert resolve(held, AsOf(parse_instant("2031-02-01"))).value == "60"


def test_a_contest_with_something_that_no_longer_holds_is_none():
    a, b = says("60", "2031-01-01", name="a"), says("90", "2031-01-01", name="b")
    contest = new_revision(RevisionKind.CONTEST, a.object_id, "claim", replaces=(a.id,), into=(b.object_id,))
    gone = new_revision(RevisionKind.REVOKE, b.object_id, "claim", replaces=(b.id,))
    held = {a.object_id: [a, contest], b.object_id: [b, contest]}
    assert isinstance(resolve(held, AsOf(), [a.object_id]), Conflict)
    held[b.object_id].append(gone)
    assert isinstance(resolve(held, AsOf(), [a.object_id]), State)


@given(st.permutations(range(4)), st.lists(st.sampled_from(["60", "75", "90"]), min_size=4, max_size=4), st.data())
def test_the_order_of_revisions_says_nothing(order, values, data):
    revisions = []
    for n, value in enumerate(values):
        older = data.draw(st.sampled_from([None, *revisions])) if revisions else None
        revisions.append(says(value, f"2031-0{n + 1}-01", name=f"c{n}", begins=f"2031-0{n + 1}-01",
                              kind=RevisionKind.SUPERSEDE if older else RevisionKind.ASSERT, replaces=(older,) if older else ()))  # fmt: skip
    one = resolve(histories(*revisions), AsOf())
    two = resolve(histories(*(revisions[i] for i in order)), AsOf())
    assert (
        one == two
        if isinstance(one, State | Miss)
        else sorted(c.object_id for c in one.claims) == sorted(c.object_id for c in two.claims)
    )


class Scored:
    """A route that proposes what it is told to, with the scores it is told to."""

    def __init__(self, scores):
        self.name, self.scores = "dense", scores

    async def find(self, plan, reader, found):
        from smb.recall.discover import Hit

        rows = await reader.object_rows(self.scores)
        return [Hit("object", rows[i], self.scores[i]) for i in sorted(self.scores, key=lambda i: -self.scores[i])]


@settings(max_examples=12, deadline=None)
@given(st.floats(0, 1), st.floats(0, 1))
def test_no_score_changes_a_verdict(tmp_path_factory, stale, fresh):
    """A stale item with cosine 0.99 against a current one with 0.3: the current one is the answer, the stale one superseded."""
    from smb.recall.discover import Keyed, Lexical, Neighbourhood

    async def scenario(bank, ask):
        old = bank.note("spring.md", "The press runs at 60 sheets. The press speed is what we measure.\n")
        first = bank.say(
            old,
            "claim",
            "The press runs at 60 sheets",
            "The press runs at 60 sheets.",
            subject="press",
            attribute="speed",
            value="60",
        )
        new = bank.note("autumn.md", "It is 90 now.\n")
        second = bank.say(
            new,
            "claim",
            "It is 90 now",
            "It is 90 now.",
            kind=RevisionKind.SUPERSEDE,
            replaces=(first,),
            subject="press",
            attribute="speed",
            value="90",
        )
        await bank.commit("2031-05-01T00:00:00")
        routes = (
            Lexical(),
            Scored({first.object_id: 0.99 if stale < 0.5 else stale, second.object_id: 0.3 * fresh}),
            Keyed(),
            Neighbourhood(),
        )
        packet = await ask("what is the speed of the press", given={"routes": routes})
        assert (packet["outcome"], packet["answer"]["value"], packet["answer"]["id"]) == ("state", "90", second.object_id)
        assert packet["items"][0]["id"] == second.object_id and first.object_id in packet["items"][0]["closure"]
        assert first.object_id in {i["id"] for i in packet["superseded"]} and first.object_id not in {
            i["id"] for i in packet["items"]
        }

    run_recall(tmp_path_factory.mktemp("bank"), scenario)


def test_values_that_disagree_are_a_conflict_with_both_sides(tmp_path):
    async def scenario(bank, ask):
        for path, value in (("east.md", "60"), ("west.md", "90"), ("north.md", "90")):
            note = bank.note(path, f"The speed of the press is {value}.\n")
            bank.say(
                note,
                "claim",
                f"{path}: the speed of the press is {value}",
                f"The speed of the press is {value}.",
                subject="press",
                attribute="speed",
                value=value,
            )
        await bank.commit("2031-05-01T00:00:00")
        packet = await ask("what is the speed of the press?")
        assert (packet["outcome"], packet["answer"], packet["members_total"]) == ("conflict", None, 2)
        (conflict,) = packet["conflicts"]
        assert conflict["key"] == ["press", "speed"] and sorted(i["value"] for i in conflict["items"]) == ["60", "90"]
        assert all(i["verdict"] == "contested" for i in conflict["items"])
        assert (await ask("what is the speed of the press?", budget=20))["outcome"] == "budget_infeasible"

    run_recall(tmp_path, scenario)


@pytest.mark.parametrize("question", ["where does the press stand", "who oiled the press", "what is the width of the press"])
def test_another_question_about_the_subject_is_not_answered_by_the_key(tmp_path, question):
    async def scenario(bank, ask):
        note = bank.note("a.md", "The speed of the press is 60.\n")
        bank.say(
            note,
            "claim",
            "The speed of the press is 60",
            "The speed of the press is 60.",
            subject="press",
            attribute="speed",
            value="60",
        )
        await bank.commit("2031-05-01T00:00:00")
        assert (await ask(question))["answer"] is None

    run_recall(tmp_path, scenario)
