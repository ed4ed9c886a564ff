"""COUNT and LIST: the members of a class as the ledger has them, all of them.

Owns where membership may be stated: the type of an object, a tag, a `type:` or `kind:` property, a list or table under a
heading that names the class, "X is a C", the values of a key, an edge of the graph. Members that several of these name are
one. A set that was cut, or that stands in more places than can be told apart, is no set: the total is then left open
rather than wrong. Never uses a score.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from smb.model.identity import fold
from smb.recall.class_question import ClassQuestion
from smb.recall.discover import stem
from smb.recall.late_pattern import LatePattern
from smb.recall.query import Plan
from smb.recall.resolver import Conflict, State, resolve_key
from smb.recall.verdicts import Judged, judge_objects, sources_known
from smb.stores.catalog_reader import CatalogReader
from smb.stores.member_reader import MemberReader

LISTED_IN = 3  # a heading of this name in more documents than this is a common one, and its lists are no one set
LONGEST_LIST = 2_000
_TYPES = {
    "concept": "concept",
    "claim": "claim",
    "fact": "claim",
    "entity": "entity",
    "relationship": "relationship",
    "question": "question",
    "open question": "question",
    "contradiction": "contradiction",
    "conflict": "contradiction",
    "insight": "insight",
    "synthesis": "synthesis",
    "abstraction": "abstraction",
    "cluster": "cluster",
    "community": "community",
    "narrative": "narrative",
    "timeline": "timeline",
    "plan": "plan",
    "project": "project",
}
STATED = frozenset({"concept", "claim", "entity", "relationship"})  # the types notes state
_KINDS = {
    "person": "person",
    "people": "person",
    "organisation": "organisation",
    "organization": "organisation",
    "company": "organisation",
    "place": "place",
    "product": "product",
}
_PARTS = frozenset("member part component item element piece page section child children participant".split())
_NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_PROPERTY = LatePattern(r"^(?:type|kind|category|categories|class|group)\s*:\s*(?P<v>.*(?:\n[ \t]*-[ \t].*)*)", re.I | re.M)
_MARK = LatePattern(r"^\s*(?:[-*+•]|\d+[.)])\s+(?:\[(?P<done>[ xX])\]\s+)?")
_NAME_ENDS = LatePattern(r"\s+[–—-]\s+|:\s|：|\s\(|\s*→|;\s|\.\s")
_IS_A = LatePattern(
    r"^(?:the\s)?(?P<name>[^,;:]{2,60}?)\s(?:is|are)\s(?:(?:now|also)\s)?(?:an?|one\sof\s(?:the|our)|another|the\s\w+)\s(?P<what>[^,.;:]{1,60})",
    re.I,
)
_NO_NAME = frozenset("this that these those it he she they there here what who which we i you a an one another".split())
_WORDS = LatePattern(r"[^\W_]+")
_SPLIT = LatePattern(r"\s*(?:,|;|、|，|\band\b|&|\n[ \t]*-[ \t])\s*")


@dataclass(slots=True)
class Member:
    """One member: its name as written and what shows it, a passage row or an object's row number."""

    name: str
    passage: sqlite3.Row | None = None
    object_row: int | None = None


@dataclass(slots=True)
class Members:
    """All members, in order. `stated` is a number some note gives instead ("stones: four"), with the claim that does.
    `sure` is False where no whole set could be told."""

    found: list[Member] = field(default_factory=list)
    judged: dict[int, Judged] = field(default_factory=dict)
    stated: tuple[int, int] | None = None  # (number, object row)
    sure: bool = True

    @property
    def total(self) -> int | None:
        return len(self.found) or None if self.sure else None


async def members_of(asked: ClassQuestion, plan: Plan, reader: CatalogReader, read_source: Callable[[str], bytes]) -> Members:
    """The members at the plan's clocks and within its scope; not `sure` where the bank states no set that is whole."""
    finder = _Finder(asked, plan, reader, read_source)
    try:
        if asked.edge:
            await finder.by_edge(await finder.owners(), asked.edge, asked.outward)
        elif asked.owner:
            await finder.owned()
        else:
            await finder.anywhere()
    except _Cut:
        finder.members.sure = False
    members = finder.members
    if members.stated is not None and members.found and members.stated[0] != len(members.found):
        members.sure = False
    members.found.sort(key=lambda m: (m.passage is None, m.passage["rowid"] if m.passage is not None else 0, fold(m.name)))
    return members


class _Cut(Exception):
    """A read reached its limit."""


class _Finder:
    def __init__(self, asked: ClassQuestion, plan: Plan, reader: CatalogReader, read_source: Callable[[str], bytes]):
        self.asked, self.plan, self.reader, self.read_source = asked, plan, reader, read_source
        self.rows = MemberReader(reader)
        self.members = Members()
        self.seen: set[str] = set()

    def add(self, name: str, passage: sqlite3.Row | None = None, object_row: int | None = None) -> None:
        """Takes a member in unless one of that name is there; "Kiln Alder" and "Alder" are one name among kilns."""
        words = [w for w in fold(name).split() if stem(w) not in self.asked.stems] or fold(name).split()
        key = " ".join(words)
        if key and key not in self.seen:
            self.seen.add(key)
            self.members.found.append(Member(name, passage, object_row))

    # ------------------------------------------------------------ anybody's

    async def anywhere(self) -> None:
        name = self.asked.forms[-1] if len(self.asked.forms) > 1 else self.asked.forms[0]
        for form in self.asked.forms:
            if form in _TYPES:
                return self.take(await self._standing(_whole(await self.rows.of_type(_TYPES[form])), worked_out=_TYPES[form] not in STATED))
            if form in _KINDS:
                name = form
                self.take(await self._standing(_whole(await self.rows.of_type("entity", _KINDS[form]))))
        if name in _KINDS and self.members.found:
            return None
        hyphened = tuple(
            dict.fromkeys(f for form in self.asked.forms for f in (form, form.replace(" ", "-"), form.replace(" ", "_")))
        )
        tagged = await self._standing(_whole(await self.rows.tagged(hyphened)))
        self.take({row: one for row, one in tagged.items() if fold(one.title) not in self.asked.forms})
        await self._by_property()
        await self._by_heading(())
        await self._by_statement()
        await self._by_attribute(())
        return None

    def take(self, judged: dict[int, Judged]) -> None:
        for row, one in judged.items():
            self.members.judged[row] = one
            self.add(one.title, object_row=row)

    async def _standing(self, rows: Sequence[sqlite3.Row], worked_out: bool = False) -> dict[int, Judged]:
        """Those of the rows that hold at the plan's clocks and lie in its scope, which may ask for `worked_out` ones by their type."""
        judged = await judge_objects(rows, self.plan.as_of, self.reader, self.plan.during)
        held = {row: one for row, one in judged.items() if one.holds}
        scope = replace(self.plan.scope, stated=False) if worked_out else self.plan.scope
        admitted = await self.reader.admitted_objects(held, scope) if held else set()
        return {row: one for row, one in held.items() if row in admitted}

    async def _admitted(self, passages: Sequence[sqlite3.Row]) -> list[sqlite3.Row]:
        admitted = await self.reader.admitted_passages([p["rowid"] for p in passages], self.plan.scope) if passages else set()
        held = [p for p in passages if p["rowid"] in admitted]
        if self.plan.scope.past:
            known = await sources_known({p["document_id"] for p in held}, self.plan.clocks, self.reader)
            held = [p for p in held if p["source"] in known.get(p["document_id"], ())]
        return held

    async def _by_property(self) -> None:
        found = _whole(await self.rows.passages_with([self.asked.phrase], ("properties",), self.plan.scope.past))
        for passage in await self._admitted(found):
            values = [fold(v.strip(" \"'[]#")) for m in _PROPERTY.finditer(passage["text"]) for v in _SPLIT.split(m["v"])]
            if any(value in self.asked.forms for value in values):
                self.add(passage["context"].split(" › ")[0], passage)

    async def _by_statement(self) -> None:
        rows = _whole(await self.rows.saying(self.asked.forms[:1]))
        for row, one in (await self._standing(rows)).items():
            said = _IS_A.match(one.title)
            if not said or said["name"].split()[0].lower() in _NO_NAME:
                continue
            what = [
                stem(w)
                for w in fold(
                    re.split(r"\b(?:that|which|who|from|of|in|for|with|by|at|on|to|and|than)\b", said["what"])[0]
                ).split()
            ]
            if tuple(what[-len(self.asked.stems) :]) == self.asked.stems:
                self.members.judged[row] = one
                self.add(said["name"], object_row=row)

    async def _by_heading(self, owners: Iterable[str]) -> bool:
        """Lists and tables under a heading that names the class (of what one of `owners` names, where there are any)."""
        wanted = set(owners)
        sections: dict[tuple[str, str, str], list[sqlite3.Row]] = {}
        deeper: dict[tuple[str, str, str], dict[str, sqlite3.Row]] = {}
        for passage in await self._admitted(
            _whole(await self.rows.under(_WORDS.findall(self.asked.phrase.lower()), self.plan.scope.past))
        ):
            path = passage["context"].split(" › ")
            columns = path.pop().split(" | ") if passage["kind"] == "row" and " | " in path[-1] else []
            if not wanted and any(self._is_class(column) for column in columns):
                sections.setdefault((passage["document_id"], passage["source"], passage["context"]), []).append(passage)
                continue
            place = next(
                (n for n in range(len(path) - 1, -1, -1) if self._names_class(path[n], {fold(p) for p in path[:n]}, wanted)), None
            )
            if place is None:
                continue
            section = (passage["document_id"], passage["source"], " › ".join(path[: place + 1]))
            if place == len(path) - 1:
                sections.setdefault(section, []).append(passage)
            else:
                deeper.setdefault(section, {}).setdefault(path[place + 1], passage)
        lists = {section: items for section, held in sections.items() if (items := self._listed(held))}
        for section, below in deeper.items():
            if section not in lists and len(below) > 1:
                lists[section] = list(below.items())
        if len({document for document, _, _ in lists}) > LISTED_IN:
            raise _Cut
        for items in lists.values():
            for name, passage in items:
                self.add(name, passage)
        return bool(lists)

    def _names_class(self, heading: str, above: set[str], owners: set[str]) -> bool:
        """Whether a heading names the class, and it or those above it one of the owners, where there are any."""
        words = [w for w in fold(heading).split() if w not in _DROPPED]
        if self._is_class(heading):
            return not owners or bool(owners & above)
        for owner in owners:
            left = [w for w in words if w not in owner.split()]
            if len(left) < len(words) and tuple(stem(re.sub("['’]s$", "", w)) for w in left) == self.asked.stems:
                return True
        return False

    def _is_class(self, heading: str) -> bool:
        return tuple(stem(w) for w in fold(heading).split() if w not in _DROPPED) == self.asked.stems

    def _listed(self, passages: Sequence[sqlite3.Row]) -> list[tuple[str, sqlite3.Row]]:
        """(name, passage) of the members of the one list or table in a section. Raises _Cut where it has several."""
        runs: list[list[sqlite3.Row]] = []
        for passage in passages:
            if passage["kind"] not in ("item", "row"):
                continue
            if runs and passage["kind"] == runs[-1][-1]["kind"] and passage["ordinal"] == runs[-1][-1]["ordinal"] + 1:
                runs[-1].append(passage)
            else:
                runs.append([passage])
        if len(runs) > 1 or len(passages) >= LONGEST_LIST:
            raise _Cut
        return [] if not runs else self._rows(runs[0]) if runs[0][0]["kind"] == "row" else self._items(runs[0])

    def _rows(self, rows: Sequence[sqlite3.Row]) -> list[tuple[str, sqlite3.Row]]:
        head = rows[0]["context"].split(" › ")[-1].split(" | ")  # a row's context ends with its table's columns
        column = next((n for n, cell in enumerate(head) if self._is_class(cell)), 0)
        table = [[cell.strip(" *_`[]") for cell in row["text"].strip().strip("|").split("|")] for row in rows]
        return [(cells[column], row) for cells, row in zip(table, rows, strict=True) if len(cells) > column and cells[column]]

    def _items(self, items: Sequence[sqlite3.Row]) -> list[tuple[str, sqlite3.Row]]:
        depths = [self._indent(item) for item in items]
        found = []
        for item, depth in zip(items, depths, strict=True):
            mark = _MARK.match(item["text"])
            text = item["text"][mark.end() :] if mark else item["text"].strip()
            if depth == min(depths) and not text.startswith("~~"):
                found.append((_NAME_ENDS.split(text, 1)[0].strip(" *_`[]."), item))
        return found

    def _indent(self, item: sqlite3.Row) -> int:
        """Bytes of white space before an item in its line."""
        data = self.read_source(item["source"])
        line = max(data.rfind(b"\n", 0, item["byte_start"]), data.rfind(b"\r", 0, item["byte_start"])) + 1
        return len(data[line : item["byte_start"]].expandtabs(4))

    async def _by_attribute(self, subjects: Sequence[str]) -> bool:
        """The values of a key of this name: of the subjects where there are any, else of all."""
        rows = _whole(await self.rows.keyed(self.asked.forms, subjects))
        held = await self._standing(rows)
        if subjects and held:
            resolution = await resolve_key(
                self.reader, [one.row["id"] for one in held.values()], self.plan.as_of, self.plan.during
            )
            claims = resolution.claims if isinstance(resolution, State | Conflict) else ()
            held = {row: one for row, one in held.items() if one.row["id"] in {c.object_id for c in claims}}
            numbers = {row: n for row, one in held.items() if (n := _number(one.value)) is not None}
            if numbers:
                if len(set(numbers.values())) == 1 and len(numbers) == len(held):
                    row = min(numbers)
                    self.members.stated, self.members.judged[row] = (numbers[row], row), held[row]
                else:
                    raise _Cut
                return True
        for row, one in held.items():
            parts = [part for part in _SPLIT.split(one.value) if part]
            if len(parts) == MANY_ITEMS:
                raise _Cut
            for part in parts:
                self.members.judged[row] = one
                self.add(part, object_row=row)
        return bool(held)

    # ------------------------------------------------------------ somebody's

    async def owners(self) -> tuple[list[str], set[str]]:
        """(ids of the objects the owner's words name, every folded name of theirs)."""
        name = fold(re.sub(r"^(?:the|our|my|an?)\s", "", self.asked.owner, flags=re.I))
        ids = sorted({i for _, i in await self.reader.named([name])})
        return ids, {name} | {folded for folded, _ in await self.reader.names_of(ids)}

    async def owned(self) -> None:
        ids, names = await self.owners()
        found = await self._by_attribute(sorted(names))
        found |= await self._by_heading(names)
        if not found and self.asked.stems and set(self.asked.forms) & _PARTS:
            await self.by_edge((ids, names), "contains", True)
        self.members.sure = bool(self.members.found)

    async def by_edge(self, owner: tuple[list[str], set[str]], edge: str, outward: bool) -> None:
        others = await self.rows.edges_between(owner[0], edge, outward)
        rows = await self.reader.object_rows(others, self.plan.scope)
        held = await self._standing(await self.reader.objects(rows.values()))
        self.take({row: one for row, one in held.items() if one.row["type"] in ("concept", "entity")})
        self.members.sure = bool(self.members.found)


MANY_ITEMS = 12  # a list property keeps at most so many items in its claim: of one with exactly so many, some may be missing
_DROPPED = frozenset("the our my all list of a an current known its and overview".split())


def _whole(rows: list[sqlite3.Row] | None) -> list[sqlite3.Row]:
    if rows is None:
        raise _Cut
    return rows


def _number(text: str) -> int | None:
    """The number a value is, in digits or an English word; None where it says more than that."""
    word = fold(text)
    if word.isdigit():
        return int(word)
    return _NUMBER_WORDS.index(word) if word in _NUMBER_WORDS else None
