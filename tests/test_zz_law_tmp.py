"""Contradictions are monotone: whatever happens to a bank, none that was found is ever lost, raised twice or left contested by mistake."""

from __future__ import annotations

import tempfile
from pathlib import Path

from disputes import Dispute
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from worlds import ask, ingest, rows

from smb.model.errors import SmbError
from smb.model.revision import RevisionKind, Statement, new_revision

SENTENCES = (
    "The north gate is locked at night.", "The north gate is unlocked at night.", "At night the north gate is locked.", "The mill is open.", "The mill is closed.",
    "The well is 9 m deep.", "The well is 12 m deep.", "The well is 15 m deep.",
)
NOTES = 4
_note = st.integers(0, NOTES - 1)
_pick = st.integers(0, 7)
STEPS = st.lists(st.one_of(
    st.tuples(st.just("write"), _note, st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3, unique=True)),
    st.tuples(st.just("drop"), _note, st.none()),
    st.tuples(st.just("cycle"), st.booleans(), st.none()),
    st.tuples(st.just("keep"), _pick, st.sampled_from("ab")),
    st.tuples(st.just("both"), _pick, st.none()),
    st.tuples(st.just("dismiss"), _pick, st.none()),
    st.tuples(st.just("merge"), _pick, _pick),
    st.tuples(st.just("undo"), _pick, st.none()),
    st.tuples(st.just("delete"), _pick, st.none()),
), min_size=4, max_size=10)


class World(Dispute):
    def __init__(self, folder: Path):
        super().__init__(folder, {"0.md": f"# Place\n\n{SENTENCES[0]}\n\n{SENTENCES[3]}\n", "1.md": f"# Place\n\n{SENTENCES[1]}\n\n{SENTENCES[4]}\n"})
        self.seen: set[str] = set()
        self.acts: list[str] = []

    def take(self, step: str, a: int | bool, b: object) -> None:
        known = [c["id"] for c in self.conflicts("all")]
        claims = [i for (i,) in rows(self.bank, "SELECT id FROM memory_objects WHERE type = 'claim' AND standing IN ('current', 'contested') ORDER BY id")]
        try:
            if step == "write":
                self.write({f"{a}.md": "# Place\n\n" + "\n\n".join(b) + "\n"})  # type: ignore[arg-type]
            elif step == "drop":
                (self.notes / f"{a}.md").unlink(missing_ok=True)
                ingest(self.bank, self.notes)
            elif step == "cycle":
                self.cycle(anew=bool(a))
            elif step in ("keep", "both", "dismiss") and known:
                what = {"keep": {"keep": b}, "both": {"scopes": ("here", "there")}, "dismiss": {"dismiss": True}}[step]
                if (told := self.resolve(known[int(a) % len(known)], reason=step, **what))["transaction"]:
                    self.acts.append(told["transaction"])
            elif step == "merge" and len(claims) > 1:
                one, into = claims[int(a) % len(claims)], claims[int(b) % len(claims)]  # type: ignore[call-overload]
                replaces = tuple(r.id for r in self.history(one) if isinstance(r.statement, Statement) and r.object_id == one)
                if one != into:
                    self.acts.append(self.commit(new_revision(RevisionKind.MERGE, one, "claim", replaces=replaces, into=(into,), actor="duplicates")))
            elif step == "undo" and self.acts:
                ask(self.bank, "undo", self.acts[int(a) % len(self.acts)], who="Ana")
            elif step == "delete" and known:
                ((location,),) = rows(self.bank, "SELECT location FROM memory_objects WHERE id = ?", known[int(a) % len(known)])
                (self.bank / location).unlink(missing_ok=True)
                ask(self.bank, "absorb")
        except SmbError:
            pass  # refused: a side that is gone can't be kept, what is undone can't be undone

    def check(self) -> None:
        every = {c["id"]: c for c in self.conflicts("all")}
        assert self.seen <= every.keys()
        self.seen |= every.keys()
        pairs = [frozenset(i for side in c["claims"] for i in [side["id"]]) for c in every.values() if c["resolved"] is None]
        assert len(pairs) == len(set(pairs))
        for one in every.values():
            if one["resolved"] is None:
                assert all(side["citations"] and all(cited["path"] for cited in side["citations"]) for side in one["claims"]), one
        stated = " ".join(path.read_text() for path in sorted(self.notes.glob("*.md")))
        for title, standing in rows(self.bank, "SELECT title, standing FROM memory_objects WHERE type = 'claim'"):
            assert standing not in ("current", "contested") or any(s in stated for s in SENTENCES if s.rstrip(".") in title), (title, standing)

    def check_settled(self) -> None:
        """After a cycle: nothing more to do, and exactly the sides of open contradictions are contested."""
        for anew in (False, True):
            assert not any(phase.committed for phase in self.cycle(anew=anew).phases)
        holding = {i: standing for i, standing in rows(self.bank, "SELECT id, standing FROM memory_objects WHERE type = 'claim'") if standing in ("current", "contested")}
        open_ = {i for c in self.conflicts() for side in c["claims"] for i in (side["id"], *(one["id"] for one in side["also"])) if i in holding}
        assert {i for i, standing in holding.items() if standing == "contested"} == open_
        assert len(self.held("question")) <= len(self.conflicts())


@settings(max_examples=110, deadline=None, phases=(Phase.explicit, Phase.generate), suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
@example([("write", 0, [SENTENCES[0]]), ("keep", 0, "a"), ("drop", 0, None), ("write", 0, [SENTENCES[2]]), ("keep", 0, "a"), ("keep", 1, "b")])
@example([("write", 0, [SENTENCES[0]]), ("keep", 0, "a"), ("both", 0, None), ("undo", 0, None)])
@example([("keep", 0, "a"), ("drop", 0, None), ("drop", 1, None), ("write", 1, [SENTENCES[1]]), ("write", 0, [SENTENCES[0]]), ("both", 0, None), ("drop", 0, None)])
def test_no_sequence_of_events_loses_doubles_or_forgets_a_contradiction(steps: list[tuple[str, int, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        world.cycle()
        world.check()
        for step in steps:
            world.take(*step)
            world.check()
        world.cycle()
        world.check()
        world.check_settled()
