"""Projects: work under way, each on a page: its state, what is open, what was decided, who is in it.

Owns the pages of `layer-6/projects`. A project is what a note or folder calls one, or a thing that tasks, a decision and notes of
several days gather round. Never guesses a state: it is the one the notes give, or there is none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from smb.evolve.chronicle.dated import cite, is_occasion, shown
from smb.evolve.chronicle.marks import OPEN, MarkReader, Marks, Task, folders_of
from smb.evolve.chronicle.named import is_date
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.plans import about, counted, newest, note, primaries, told
from smb.evolve.snapshot import Doc, Item, Snapshot
from smb.evolve.specifications import OVER, Record, records
from smb.model.edges import EdgeType
from smb.model.identity import fold
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement
from smb.model.validity import to_iso

PROJECT_WORDS = frozenset("project projects projekt projekte projet projets proyecto proyectos projeto projetos progetto progetti プロジェクト 项目".split())
LEAST_DAYS = 3  # dated notes that make a project of a thing with tasks and a decision
LEAST_KNOWN = 2  # tasks, or kinds of what is known of it: a task, a decision, a person, a state, a dated note
SHOWN = 10
CITED = 12
_STATE = ("status", "state", "phase", "stage", "stand")
_OWNER = ("owner", "lead", "owners", "responsible", "manager", "verantwortlich")
_NOT_A_PROJECT = frozenset(("person", "place", "date", "organisation"))


@dataclass(slots=True)
class Project:
    """What belongs to one: its own notes, and those that link to it or are linked from it. `gathered`: nobody calls it a project."""

    identity: str
    title: str
    gathered: bool = False
    own: list[Doc] = field(default_factory=list)
    near: list[Doc] = field(default_factory=list)


class Projects:
    """`marks` is shared with the other phases that read them."""

    name = "projects"
    version = 2

    def __init__(self, marks: MarkReader | None = None):
        self._marks = marks or MarkReader()

    async def propose(self, snapshot: Snapshot) -> Proposals:
        held = {item.id for item in snapshot.derived(self.name)}
        rests_on = await about(snapshot, self.name)
        claims = [c for c in snapshot.changed(MemoryType.CLAIM, MemoryType.RELATIONSHIP) if c.about in rests_on]
        if not claims and not await self._marks.touched(snapshot, rests_on) and not await self._named_anew(snapshot):
            return Proposals()
        marks, decisions = await self._marks.of(snapshot), await records(snapshot, self._marks)
        found = await _projects(snapshot, marks, decisions)
        keyed = [c for c in snapshot.stated(MemoryType.CLAIM) if c.attribute in _STATE or c.attribute in _OWNER]
        stated_in = await snapshot.documents_of(c.id for c in keyed)
        documents = await snapshot.documents()
        people = {i.id: i for i in snapshot.stated(MemoryType.ENTITY) if "person" in i.tags}
        names = {name: i for i, given in (await snapshot.names(people)).items() for name in given}
        made = (_page(snapshot, p, marks, decisions, keyed, stated_in, documents, people, names) for p in found)
        return Proposals([page for page in made if page is not None], held)

    async def _named_anew(self, snapshot: Snapshot) -> bool:
        documents = await snapshot.documents()
        return any(i in documents and _called(documents[i], snapshot.items.get(documents[i].primary)) for i in await snapshot.touched())


async def _projects(snapshot: Snapshot, marks: Marks, decisions: Sequence[Record]) -> list[Project]:
    documents = await snapshot.documents()
    of_primary = {snapshot.canonical(d.primary): d for d in documents.values() if d.primary}
    found: dict[str, Project] = {}
    alike: dict[str, str] = {}  # a title, or what a note is about → the project it is of
    for doc in sorted(documents.values(), key=lambda d: (d.path, d.id)):
        if name := _called(doc, snapshot.items.get(snapshot.canonical(doc.primary))):
            identity, title = (f"folder:{name}", name.rpartition("/")[2]) if name != doc.id else (f"note:{doc.id}", doc.title)
            known = {re.sub(r"[\W_]+", "", fold(title)) or title, *((snapshot.canonical(doc.primary),) if name == doc.id and doc.primary else ())}
            identity = next((alike[key] for key in sorted(known) if key in alike), identity)
            alike |= dict.fromkeys(known - alike.keys(), identity)
            project = found.setdefault(identity, Project(f"projects:{identity}", title))
            project.own.append(doc)
    taken = {snapshot.canonical(d.primary) for p in found.values() for d in p.own}
    busy, decided = {snapshot.canonical(documents[t.document].primary) for t in marks.tasks}, {snapshot.canonical(r.doc.primary) for r in decisions}
    beside = await _joined(snapshot, decided) if busy else {}
    candidates = [snapshot.items[i] for i in sorted({i for near in beside.values() for i in near}) if i in snapshot.items]
    joined = await _joined(snapshot, {*taken, *(c.id for c in candidates)})
    for item in candidates:
        near = joined.get(item.id, set()) | {item.id}
        if item.type not in (MemoryType.CONCEPT, MemoryType.ENTITY) or item.id in taken | decided or is_date(item.title) or _NOT_A_PROJECT & set(item.tags):
            continue
        if not near & busy or not near & decided:
            continue
        around = [of_primary[i] for i in near if i in of_primary]
        if len({shown(d.date) for d in around if d.date.known}) >= LEAST_DAYS:
            found[item.id] = Project(f"projects:{item.id}", item.title, True, [of_primary[item.id]] if item.id in of_primary else [])
            found[item.id].near = [d for d in around if d not in found[item.id].own and snapshot.canonical(d.primary) not in taken]
    for project in found.values():
        own = {snapshot.canonical(d.primary) for d in project.own}
        linked = set() if project.gathered else {i for o in own for i in joined.get(o, ())} - own
        near = {d.id: d for d in (*project.near, *(of_primary[i] for i in linked if i in of_primary))}
        project.near = sorted(near.values(), key=lambda d: (to_iso(d.date.start) or "", d.path, d.id))
    return [found[key] for key in sorted(found)]


async def _joined(snapshot: Snapshot, ids: Collection[str]) -> dict[str, set[str]]:
    """Each of `ids` → what links to it or it links to."""
    found: dict[str, set[str]] = {}
    for edge in await snapshot.edges_at(ids):
        if edge.type is not EdgeType.EXPLAINS:
            found.setdefault(edge.source, set()).add(edge.target)
            found.setdefault(edge.target, set()).add(edge.source)
    return {i: found[i] for i in sorted(ids) if i in found}


def _called(doc: Doc, primary: Item | None) -> str:
    """What makes a document one of a project's: its own id where it is the whole of it, its folder where that is, else ""."""
    path = doc.path.rpartition("/")[0]
    if not PROJECT_WORDS.isdisjoint(folders_of(path)):
        folders = path.split("/")
        n = next(n for n, part in enumerate(folders) if fold(part) in PROJECT_WORDS)
        return "/".join(folders[:n + 2]) if n + 1 < len(folders) else doc.id
    return doc.id if primary is not None and not PROJECT_WORDS.isdisjoint(map(fold, primary.tags)) else ""


def _page(snapshot: Snapshot, project: Project, marks: Marks, decisions: Sequence[Record], keyed: Sequence[Item], stated_in: Mapping[str, tuple[str, ...]],
          documents: Mapping[str, Doc], people: Mapping[str, Item], names: Mapping[str, str]) -> Wanted | None:
    """The page of a project; None where too little is known of it."""
    own, near = {d.id for d in project.own}, {d.id for d in project.near}
    gathered = {d.id for d in project.near if not d.date.known or not is_occasion(d, snapshot.items.get(d.primary))} if project.gathered else set()
    subjects = {snapshot.canonical(d.primary) for d in project.own} | ({project.identity.removeprefix("projects:")} & snapshot.items.keys())
    said = [c for c in keyed if snapshot.canonical(c.about) in subjects and c.value]
    states, owners = [c for c in said if c.attribute in _STATE], [c for c in said if c.attribute in _OWNER]
    tasks = newest((t for t in marks.tasks if t.document in own or t.document in gathered), documents)
    beside = [t for t in newest((t for t in marks.tasks if t.document in near - gathered), documents) if fold(project.title) in fold(t.text)]
    decided = [r for r in decisions if r.doc.id in own | near]
    questions = [q for q in marks.questions if q.document in own]
    head = [f"{_where(snapshot, project)} {'is what tasks, a decision and notes of several days are about' if project.gathered else 'is a project'}."]
    head += [f"{c.attribute.capitalize()}: {c.value} ({cite(c, documents, stated_in.get(c.id, ()))})." for c in states + owners]
    if tasks:
        head.append(f"It has {len(tasks)} tasks: {counted(tasks)}." if len(tasks) > 1 else f"Its one task is {counted(tasks)[2:]}.")
    sections = []
    still = sorted((t for t in [*tasks, *beside] if t.state == OPEN), key=lambda t: (t.due or "9999", documents[t.document].path))
    if still:
        sections.append("## Open\n\n" + "\n".join(f"{told(t)} ({note(snapshot, documents[t.document])})" for t in still[:SHOWN]) + _more(still))
    if questions:
        told_ = "\n".join(f"- {q.text} ({note(snapshot, documents[q.document])})" for q in questions[:SHOWN])
        sections.append(f"## Not answered\n\n{told_}{_more(questions)}")
    if decided:
        sections.append("## Decided\n\n" + "\n".join(f"- {_decided(snapshot, r)}" for r in decided[:SHOWN]) + _more(decided))
    involved = _people(snapshot, project, owners, tasks, people, names)
    if involved:
        sections.append("## People\n\n" + ", ".join(p.link for p in involved[:SHOWN]) + (f" and {len(involved) - SHOWN} more" if len(involved) > SHOWN else ""))
    dated = [d for d in (*project.own, *project.near) if d.date.known and d.id not in {r.doc.id for r in decided}]
    if dated := sorted(dated, key=lambda d: (to_iso(d.date.start) or "", d.path), reverse=True)[:5]:
        sections.append("## Latest notes\n\n" + "\n".join(f"- {'' if is_date(d.title) else shown(d.date) + ': '}{note(snapshot, d)}" for d in dated))
    if len(tasks) < LEAST_KNOWN and sum(map(bool, (tasks or beside, decided, involved, states, dated))) < LEAST_KNOWN:
        return None
    notes = [*project.own, *(documents[t.document] for t in still), *(r.doc for r in decided), *dated]
    cited = {i.id: i for i in (*primaries(snapshot, notes), *states, *owners, *involved)}
    spans = [t.span for t in still if t.span] + [q.span for q in questions if q.span]
    statement = Statement(
        title=f"Project: {project.title}", identity=project.identity, body=" ".join(head) + "".join(f"\n\n{s}" for s in sections),
        links=tuple(Link(i, EdgeType.CONTAINS if i in subjects else EdgeType.DERIVES_FROM) for i in cited),
        confidence=min((i.confidence for i in cited.values()), default=0.5), mode=Mode.INFERRED, derived_from=tuple(cited))
    return Wanted(MemoryType.PROJECT, statement, tuple(dict.fromkeys(spans))[:CITED])


def _where(snapshot: Snapshot, project: Project) -> str:
    if project.identity.startswith("projects:folder:"):
        return f"The folder {project.identity.removeprefix('projects:folder:')}, of {len(project.own)} {'note' if len(project.own) == 1 else 'notes'},"
    if project.own:
        names = list(dict.fromkeys(note(snapshot, d) for d in project.own))
        return names[0] + (f" (also {' and '.join(names[1:SHOWN])})" if len(names) > 1 else "")
    return snapshot.items[project.identity.removeprefix("projects:")].link


def _decided(snapshot: Snapshot, record: Record) -> str:
    state = f" ({record.status}{', not in force' if record.status in OVER else ''})" if record.status else ""
    return note(snapshot, record.doc) + state


def _people(snapshot: Snapshot, project: Project, owners: Sequence[Item], tasks: Sequence[Task], people: Mapping[str, Item], names: Mapping[str, str]) -> list[Item]:
    """Owners first, then who has a task, then whom the project's notes link to or are linked from."""
    given = [names[fold(v)] for v in (*(c.value for c in owners), *(t.owner for t in tasks)) if fold(v) in names]
    near = [snapshot.canonical(d.primary) for d in project.near]
    return [people[i] for i in dict.fromkeys((*given, *near)) if i in people]


def _more(shown_of: Sequence[object]) -> str:
    return f"\n- and {len(shown_of) - SHOWN} more" if len(shown_of) > SHOWN else ""
