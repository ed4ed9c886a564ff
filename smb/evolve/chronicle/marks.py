"""What notes mark for somebody to do, to answer or to keep to: tasks, open questions, records of decisions.

Owns how these are read off the passages of live documents. A mark is a person's own: a box, the word TODO, a question under a
heading that calls it open, a section that is called a decision. Never takes a question of a page of answers for an open one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from smb.evolve.chronicle.dated import notes_at
from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.model.evidence import Span
from smb.model.identity import fold
from smb.model.objects import MemoryType

OPEN, DONE, DROPPED = "open", "done", "dropped"
_BOX = re.compile(r"\s*(?:[-*+]|\d{1,4}[.)])[ \t]+\[([ xX/>\-])\][ \t]+(\S[^\n]*(?:\n[ \t]+(?![-*+] |\d{1,4}[.)] )\S[^\n]*)*)")
_TODO = re.compile(r"^[ \t]*(?:[-*+][ \t]+|>[ \t]*)?(?:\*\*|__)?TODO(?:\([^)\n]{1,40}\))?(?:\*\*|__)?[ \t]*:(?:\*\*|__)?[ \t]*(\S[^\n]*)", re.MULTILINE)
_DAY = r"(\d{4}-\d{2}-\d{2})"
_DUE = re.compile(rf"(?:[,;]\s*)?\(?\s*(?:📅|⏳|\b(?:due|by|until|deadline|before|bis|até)\b:?)\s*{_DAY}\s*\)?", re.IGNORECASE)
_FINISHED = re.compile(rf"\(?\s*(?:✅|\b(?:done|finished|completed|closed)\b:?)\s*{_DAY}\s*\)?", re.IGNORECASE)
_OWNER = re.compile(r"@([\w.-]{2,40})|^([^\W\d_][^:\n]{1,40}):\s+")
_ASKED = re.compile(
    r"(?:\*\*|__)?\b(?:open questions?|open points?|still open|not answered|unanswered|unresolved|unclear|offene frage|question ouverte|"
    r"pregunta abierta|questão em aberto)\b(?:\*\*|__)?\s*[:：]|未解決|待解决|#(?:open|question|open-question)\b", re.IGNORECASE)
_OPEN_HEADING = re.compile(
    r"^(?:open|questions?|unknowns?|(?:still |remaining |our )?(?:open|unresolved|unanswered) (?:questions?|points?|issues?)|to (?:be )?clarif(?:y|ied)|"
    r"offene? (?:fragen?|punkte)|questions? (?:ouvertes?|en suspens)|preguntas abiertas|questões em aberto|未解決.*|待解决.*)$")
_DECIDED_HEADING = re.compile(r"^(?:the )?(?:decisions?(?: outcome| taken| made)?|entscheidung(?:en)?|décisions?|decisi[oó]n(?:es)?|decisão|decisões|決定(?:事項)?|决定|决策)$")
_QUESTION = re.compile(r"[?？]")
_DECIDED = re.compile(
    r"^\s*(?:>\s*)*(?:[-*+]\s+|\d{1,4}[.)]\s+)?(?:\*\*|__)?(?:decided|decisions?|agreed|we agreed|resolved|resolution|beschlossen|beschluss|décidé|decidido|decisão|decisión|決定|决定)"
    r"(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s*(?=\S)", re.IGNORECASE)
_LABEL = re.compile(
    r"^\s*(?:[-*+]|\d{1,4}[.)])?\s*(?:\*\*|__)?(?:open questions?|open points?|still open|not answered|unanswered|unresolved|unclear|offene frage|question ouverte|"
    r"pregunta abierta|questão em aberto)(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s*", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:>\s*)*(?:(?:[-*+]|\d{1,4}[.)])\s+)?")
RECORD_TAGS = frozenset("decision decisions adr adrs madr rfc".split())
MOST_TOLD = 300  # characters of a task or question that are told
MOST_QUOTED = 1200  # characters of a passage that is quoted


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do, as the newest version of its note has it. `due` and `finished` are days, "" where none is given."""

    document: str
    text: str
    state: str
    span: Span | None
    due: str = ""
    finished: str = ""
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Noted:
    """An open question, or a decision, of a note. `text` is its passage without its label, `place` where it comes in the note."""

    document: str
    text: str
    span: Span | None
    place: int


@dataclass(frozen=True, slots=True)
class Part:
    """A passage of a record of a decision. `heading` is the folded heading above it."""

    heading: str
    text: str
    span: Span | None
    task: bool


@dataclass(slots=True)
class Marks:
    """Those of all live documents; lists are in order of document and place. `records` maps documents that record a decision to
    their passages; `decided` are the decisions of other notes."""

    tasks: list[Task] = field(default_factory=list)
    questions: list[Noted] = field(default_factory=list)
    decided: list[Noted] = field(default_factory=list)
    records: dict[str, list[Part]] = field(default_factory=dict)


class MarkReader:
    """Reads the marks once for the phases that share it, until notes change."""

    def __init__(self) -> None:
        self._at: tuple[int, ...] = ()
        self._marks = Marks()

    async def of(self, snapshot: Snapshot) -> Marks:
        people = [e for e in snapshot.stated(MemoryType.ENTITY) if "person" in e.tags]
        at = (id(snapshot.catalog), await notes_at(snapshot), len(people), max((p.changed for p in people), default=0))
        if at != self._at:
            self._at, self._marks = at, await _read(snapshot)
        return self._marks

    async def touched(self, snapshot: Snapshot, held: Collection[str]) -> bool:
        """Whether what changed since the phase last looked can matter: a document with marks, or one of those a page rests
        on (`held`: ids of the things they are about)."""
        documents, touched = await snapshot.documents(), await snapshot.touched()
        if not snapshot.since or any(i in held or i in snapshot.merged for i in snapshot.gone()):
            return True
        if any("person" in e.tags and e.recorded_at == e.modified for e in snapshot.changed(MemoryType.ENTITY)):
            return True  # a name that owners of tasks may have
        if any(i not in documents or documents[i].primary in held for i in touched):
            return True
        marks = await _read(snapshot, touched)
        return bool(marks.tasks or marks.questions or marks.decided or marks.records)


_COLUMNS = "p.document_id, p.source, p.ordinal, p.kind, p.byte_start, p.byte_end, p.line_start, p.line_end, p.text, p.context, d.encoding"
_LIVE = f"SELECT {_COLUMNS} FROM passages p JOIN documents d ON d.id = p.document_id WHERE p.live = 1 AND "
_WORDS = " OR ".join(  # one of these is in every mark but a box, as the index folds them
    "todo decided decision agreed resolved resolution entscheidung beschlossen beschluss décision décidé decisión decidido decisão decisões "
    "question questions unknown unknowns open unresolved unanswered answered unclear clarify clarified offen offene frage fragen ouverte ouvertes suspens pregunta preguntas questão questões aberto".split())
_RUNS = '"決定" OR "决定" OR "决策" OR "未解 解決" OR "待解 解决"'
_RUN_HEADINGS = "未解決* OR 待解决* OR 決定* OR 决定* OR 决策*"
_MARKED = (
    f"(p.kind = 'item' AND p.text GLOB '*[[]?] *' OR p.kind IN ('item', 'paragraph', 'quote') AND p.rowid IN (SELECT rowid FROM passages_fts WHERE passages_fts MATCH "
    f"'({{text context}} : ({_WORDS})) OR (context : ({_RUN_HEADINGS})) OR (ngrams : ({_RUNS}))'))")


async def _read(snapshot: Snapshot, only: Collection[str] | None = None) -> Marks:
    """The marks of all live documents, or of those in `only`."""
    documents = await snapshot.documents()
    people = await _people(snapshot)
    if only is None:
        rows = await snapshot.catalog.fetch(f"{_LIVE}{_MARKED}")
    else:
        rows = await snapshot.catalog.fetch_in(_LIVE + _MARKED.replace("{", "{{").replace("}", "}}") + " AND p.document_id IN ({marks})", sorted(only))
    marks = Marks()
    records = {d.id for d in documents.values() if (only is None or d.id in only) and is_record(d, snapshot.items.get(d.primary))}
    for row in sorted(rows, key=lambda row: (row["document_id"], row["ordinal"])):
        if row["document_id"] not in documents:
            continue
        if is_decided(_heading(row)):
            records.add(row["document_id"])
        tasks = [task for task in _tasks(row, people) if _says(task.text)]
        marks.tasks += tasks
        if not tasks and (found := _DECIDED.match(row["text"])):
            marks.decided += _noted(row, row["text"][found.end():])
        elif not tasks and _is_open(row):
            marks.questions += _noted(row, _LABEL.sub("", _BULLET.sub("", row["text"])))
    marks.tasks = _one_spelling(marks.tasks)
    marks.decided = [noted for noted in marks.decided if noted.document not in records]
    for row in await snapshot.catalog.fetch_in(
            f"{_LIVE}p.kind IN ('item', 'paragraph', 'quote', 'row') AND p.document_id IN ({{marks}}) ORDER BY p.document_id, p.ordinal", sorted(records)):
        marks.records.setdefault(row["document_id"], []).append(Part(_heading(row), plain(_BULLET.sub("", row["text"])), _span(row), bool(_BOX.match(row["text"]))))
    return marks


async def _people(snapshot: Snapshot) -> dict[str, str]:
    """Each folded name of a person of the bank → the name the bank has for them; itself where several are called so."""
    titles = {e.id: e.title for e in snapshot.stated(MemoryType.ENTITY) if "person" in e.tags}
    called: dict[str, list[str]] = {}
    for id_, names in sorted((await snapshot.names(titles)).items()):
        for name in names:
            called.setdefault(name, []).append(titles[id_])
    return {name: of[0] if len(of) == 1 else next((title for title in of if fold(title) == name), "") for name, of in called.items()}


def _one_spelling(tasks: list[Task]) -> list[Task]:
    """The tasks, the owner of several written one way, capitalised where anybody does; a name before a colon is one where another task has it."""
    owners = {fold(task.owner) for task in tasks if task.owner}
    tasks = [replace(task, owner=found[2], text=_capital(task.text[found.end():])) if not task.owner and (found := _OWNER.match(task.text)) and found[2]
             and fold(found[2]) in owners else task for task in tasks]
    spelt: dict[str, Counter[str]] = {}
    for task in tasks:
        spelt.setdefault(fold(task.owner), Counter())[task.owner] += 1
    best = {key: min(found, key=lambda owner: (owner == owner.lower(), -found[owner], owner)) for key, found in spelt.items()}
    return [task if task.owner == best[fold(task.owner)] else replace(task, owner=best[fold(task.owner)]) for task in tasks]


def is_record(doc: Doc, primary: Item | None) -> bool:
    """Whether a document calls itself the record of a decision, by its folder or its tags."""
    return bool(RECORD_TAGS & folders_of(doc.path.rpartition("/")[0])) or primary is not None and not RECORD_TAGS.isdisjoint(map(fold, primary.tags))


@lru_cache(maxsize=4096)
def folders_of(path: str) -> frozenset[str]:
    """The folded names of the folders of a path."""
    return frozenset(map(fold, path.split("/")))


def is_decided(heading: str) -> bool:
    """Whether a folded heading is that of the decision itself."""
    return bool(_DECIDED_HEADING.match(heading))


def _tasks(row: Any, people: Mapping[str, str]) -> list[Task]:
    text = row["text"]
    if (box := _BOX.match(text)) and row["kind"] == "item":
        state = OPEN if box[1] in " />" else DROPPED if box[1] == "-" else DONE
        return [_task(row, box[2], state, people)]
    return [_task(row, found[1], OPEN, people) for found in _TODO.finditer(text)] if "TODO" in text else []


def _noted(row: Any, text: str) -> list[Noted]:
    said = plain(text)
    return [Noted(row["document_id"], _capital(said), _span(row), row["ordinal"])] if _says(said) else []


def _says(text: str) -> bool:
    return any(c.isalnum() for c in text)


def _task(row: Any, text: str, state: str, people: Mapping[str, str]) -> Task:
    due, finished = _DUE.search(text), _FINISHED.search(text)
    text = plain(_FINISHED.sub(" ", _DUE.sub(" ", text)))
    owner = ""
    if found := _OWNER.search(text):
        if found[1]:
            owner, text = found[1], " ".join((text[:found.start()] + text[found.end():]).split())
        elif fold(found[2]) in people:
            owner, text = found[2], text[found.end():]
    return Task(row["document_id"], _capital(text), state, _span(row), due[1] if due else "", finished[1] if finished else "", people.get(fold(owner)) or owner)


def _is_open(row: Any) -> bool:
    text = row["text"]
    if not _QUESTION.search(text) or row["kind"] == "quote":
        return False
    return bool(_ASKED.search(text)) or any(_OPEN_HEADING.match(fold(h)) for h in row["context"].split(" › ")[1:])


def _heading(row: Any) -> str:
    """The folded heading right above a passage, "" where only the title is."""
    _, found, last = row["context"].rpartition(" › ")
    return fold(last) if found else ""


def _span(row: Any) -> Span | None:
    """The whole passage as a quote; None where its text as indexed is not its bytes, or it is long."""
    text = row["text"]
    if len(text) > MOST_QUOTED or len(text.encode(row["encoding"], "surrogatepass" if row["encoding"] == "utf-8" else "replace")) != row["byte_end"] - row["byte_start"]:
        return None
    return Span(row["source"], row["byte_start"], row["byte_end"], row["line_start"], row["line_end"], text)


def _capital(text: str) -> str:
    text = text if len(text) <= MOST_TOLD else text[:MOST_TOLD].rsplit(" ", 1)[0] + " …"
    return text[:1].upper() + text[1:]


_WIKI = re.compile(r"!?\[\[([^\]|]*?)(?:\|([^\]]*))?\]\]")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_NOTE_MARKS = re.compile(r"\[\^[^\]\n]{1,20}\]|(?<=\s)\^[\w-]{1,30}\s*$|(?<=\s)#(?:open|question|open-question)\b")
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)|`")


def plain(text: str) -> str:
    """A passage as it is read: links as their text, no emphasis, no block id, on one line."""
    text = _LINK.sub(r"\1", _WIKI.sub(lambda m: m[2] or m[1].replace("#", ", "), text))
    return " ".join(_EMPHASIS.sub("", _NOTE_MARKS.sub("", text)).split())
