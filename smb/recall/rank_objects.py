"""The order of objects among passages, and which object may speak for the passage it stands in.

Owns how objects and passages become units: a claim drawn from a passage takes that passage's place when it says at least
as much of what was asked, and is attached to it otherwise, so one line of a source is one item. Never judges.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass

from smb.model.currentness import Standing
from smb.recall.discover import Found, stem
from smb.recall.pack import Unit
from smb.recall.query import Plan
from smb.recall.score import Signals, Terms
from smb.recall.verdicts import GONE, Judged, passage_standing

DESCRIBED = frozenset({"concept", "entity"})  # their body is the sentence that says what they are
SPEAKS_FOR_ITS_LINES = frozenset({"claim", "question", "relationship"})
KEY_BONUS, KEY_WHOLE_BONUS = (
    0.5,
    1.0,
)  # a claim keyed by what was asked: times the share of its attribute's words said; all of them said
OWN = dict(cover=0.75, dense=0.3, name=0.5, graph=0.15)  # an object found by itself: most it can reach is a good passage's score
MADE_FOR_IT = 0.25  # what evolution worked out, in an overview, where its type is for such questions; its title counts as its name
KIND_WORTH = {"heading": 0.35, "title": 0.35, "properties": 0.8}  # a heading names what is said below it and says nothing
DETAIL = 0.002  # a claim that says as much as its passage in fewer words goes first

_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Asked:
    """The question's terms as compared with an object's own words."""

    stems: tuple[frozenset[str], ...]
    weight: tuple[float, ...]
    kinds: frozenset[str] = frozenset()  # types of what was worked out that are made for such a question

    @classmethod
    def of(cls, plan: Plan, terms: Terms) -> Asked:
        return cls(tuple(frozenset(stem(w) for w in _WORDS.findall(term.casefold())) for term in plan.terms), tuple(terms.weight), plan.kinds)

    def cover(self, text: str) -> float:
        """Share of the question's words in `text`, by weight."""
        folded = text.casefold()
        held = {stem(w) for w in _WORDS.findall(folded)}
        return sum(
            w
            for stems, w in zip(self.stems, self.weight, strict=True)
            if stems and (stems <= held or (not folded.isascii() and all(s in folded for s in stems)))
        )


@dataclass(frozen=True, slots=True)
class Material:
    """What ranking works on: rows, verdicts and signals of the candidates."""

    found: Found
    passages: Mapping[int, Signals]
    objects: Mapping[int, Judged]
    within: Mapping[int, Sequence[tuple[int, int, int]]]  # passage row → (object row, byte_start, byte_end)
    homes: Mapping[int, Sequence[int]]  # object row → rows of the passages that hold its evidence
    admitted: Container[int]  # object rows the question's filters let through; the others only lend passages their verdicts


def units_of(material: Material, asked: Asked) -> list[Unit]:
    """Every candidate as a unit, best first; ties by kind and id. Units that no longer hold carry their verdict."""
    units: list[Unit] = []
    homes: dict[int, Unit] = {}  # passage row → the unit that stands for its lines
    spoken: set[int] = set()
    for row, signals in material.passages.items():
        passage = material.found.rows[row]
        within = material.within.get(row, ())
        standing = passage_standing(passage, within, material.objects)
        score = signals.total * KIND_WORTH.get(passage["kind"], 1.0)
        unit = passage_unit(row, passage, score, standing.value, signals, material.found)
        homes[row] = unit
        if standing is not Standing.CURRENT:
            units.append(unit)
            continue
        claims = list(
            dict.fromkeys(
                o
                for o, _, _ in within
                if o in material.objects
                and o in material.admitted
                and o not in spoken
                and _speaks(material.objects[o])
                and material.objects[o].holds
            )
        )
        fit = [
            (score + _key_bonus(o, material.found) + DETAIL, c, -o)
            for o in claims
            if (c := asked.cover(_text(material.objects[o]))) >= signals.cover - 1e-9 or o in material.found.keys
        ]
        best = max(fit, default=None, key=lambda t: (t[0] + t[1], t[2]))
        spoken.update(claims)
        alike = best is not None and sum((one[0], one[1]) == (best[0], best[1]) for one in fit) > 1  # then no one of them says it all
        if best is not None and not alike and material.objects[-best[2]].row["type"] != "relationship":
            judged = material.objects[-best[2]]
            speaker = object_unit(-best[2], judged, best[0], material.found)
            speaker.signals, speaker.document = signals, passage["document_id"]
            speaker.routes = {**unit.routes, **speaker.routes}
            speaker.attached = [unit.id, *(material.objects[o].row["id"] for o in claims if o != -best[2])]
            unit = homes[row] = speaker
        else:
            unit.attached = [material.objects[o].row["id"] for o in claims]
        units.append(unit)
    for row, judged in material.objects.items():
        if row in spoken or row not in material.admitted or ("object", row) not in material.found.by:
            continue
        unit = object_unit(row, judged, _own_score(row, judged, asked, material.found), material.found)
        home = next((homes[p] for p in material.homes.get(row, ()) if p in homes and homes[p].score >= unit.score), None)
        if judged.holds and home is not None and home.verdict == Standing.CURRENT and _speaks(judged):
            home.attached.append(unit.id)
            continue
        units.append(unit)
    return sorted(units, key=lambda u: (-u.score, u.kind, u.id, u.row))


def without_lapsed(units: list[Unit], judged: Mapping[int, Judged], evidence: dict[str, list[sqlite3.Row]]) -> list[Unit]:
    """The units with concepts and entities no longer described by a sentence whose claim has lapsed: they keep their name
    and the rest of their evidence, and go where nothing of it is left."""
    gone = _places(judged, evidence, lambda one: one.standing in GONE) - _places(judged, evidence, lambda one: one.holds)
    if not gone:
        return units
    kept = []
    for unit in units:
        if unit.kind == "object" and unit.judged is not None and unit.type in DESCRIBED and unit.judged.holds:
            lines = evidence.get(unit.id, [])
            standing = [line for line in lines if (line["source"], line["byte_start"]) not in gone]
            if len(standing) < len(lines):
                if not standing:
                    continue
                evidence[unit.id], unit.text = standing, unit.title
        kept.append(unit)
    return kept


def _places(judged: Mapping[int, Judged], evidence: Mapping[str, Sequence[sqlite3.Row]], which: Callable[[Judged], bool]) -> set[tuple[str, int]]:
    """Where the claims stand of which `which` is true: (source, first byte)."""
    return {
        (line["source"], line["byte_start"])
        for one in judged.values()
        if one.row["type"] == "claim" and which(one)
        for line in evidence.get(one.row["id"], ())
    }


def _speaks(judged: Judged) -> bool:
    """Whether it says what its lines say; what was worked out says something of its own."""
    return judged.row["type"] in SPEAKS_FOR_ITS_LINES and (judged.row["mode"] != "inferred" or judged.row["type"] == "claim")


def _own_score(row: int, judged: Judged, asked: Asked, found: Found) -> float:
    routes = found.by[("object", row)]
    graph = routes["graph"][1] if "graph" in routes else 0.0
    dense = max(0.0, routes["dense"][1]) if "dense" in routes else 0.0
    return (
        OWN["cover"] * asked.cover(_text(judged))
        + OWN["dense"] * dense
        + OWN["name"] * found.names.get(row, 0.0)
        + OWN["graph"] * graph
        + _key_bonus(row, found)
        + (OWN["name"] * asked.cover(judged.title) + MADE_FOR_IT * (judged.row["type"] in asked.kinds) if judged.row["mode"] == "inferred" else 0.0)
    )


def _key_bonus(row: int, found: Found) -> float:
    share = found.keys.get(row, 0.0)
    return KEY_WHOLE_BONUS if share > 0.999 else KEY_BONUS * share


def _text(judged: Judged) -> str:
    return f"{judged.title}\n{judged.body}\n{judged.row['aliases']}"


def passage_unit(row: int, passage: sqlite3.Row, score: float, verdict: str, signals: Signals, found: Found) -> Unit:
    """The unit of a passage."""
    return Unit(
        "passage",
        row,
        passage["id"],
        passage["kind"],
        passage["context"],
        passage["text"].strip(),
        round(score, 6),
        verdict,
        _ranks(found, "passage", row),
        passage["document_id"],
        passage,
        signals=signals,
        closure=(passage["id"],),
    )


def object_unit(row: int, judged: Judged, score: float, found: Found | None = None) -> Unit:
    """The unit of an object; without `found` no route is named for it."""
    o = judged.row
    text = judged.body if judged.body and judged.title in judged.body else f"{judged.title}\n{judged.body}".strip()
    return Unit(
        "object",
        row,
        o["id"],
        o["type"],
        judged.title,
        text,
        round(score, 6),
        judged.standing.value,
        _ranks(found, "object", row) if found is not None else {},
        valid_from=judged.valid_from,
        valid_to=judged.valid_to,
        recorded_at=judged.recorded_at,
        judged=judged,
        closure=(o["id"], judged.revision),
    )


def _ranks(found: Found, kind: str, row: int) -> dict[str, int]:
    return {name: rank for name, (rank, _) in sorted(found.by.get((kind, row), {}).items())}
