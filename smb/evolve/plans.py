"""Plans: the tasks of the notes, gathered with the state they have now.

Owns the pages of `layer-6/plans`: one for a note with several tasks, one for the scattered tasks of a folder, one for all that is
open. A task that was carried from note to note is told once, as its newest note has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from smb.evolve.chronicle.marks import DONE, DROPPED, OPEN, MarkReader, Task
from smb.evolve.chronicle.named import is_date
from smb.evolve.phase import Proposals, Wanted
from smb.evolve.snapshot import Doc, Item, Snapshot, wikilink
from smb.model.edges import EdgeType
from smb.model.identity import fold
from smb.model.objects import Link, MemoryType, Mode
from smb.model.revision import Statement
from smb.model.validity import to_iso

OF_A_NOTE = 3  # tasks of a note with a page of its own
LINES = 30
CITED = 12
_WORDS = {OPEN: "open", DONE: "done", DROPPED: "dropped"}


class Plans:
    """`marks` is shared with the other phases that read them."""

    name = "plans"
    version = 2

    def __init__(self, marks: MarkReader | None = None):
        self._marks = marks or MarkReader()

    async def propose(self, snapshot: Snapshot) -> Proposals:
        held = {item.id for item in snapshot.derived(self.name)}
        if not await self._marks.touched(snapshot, await about(snapshot, self.name)):
            return Proposals()
        documents, tasks = await snapshot.documents(), (await self._marks.of(snapshot)).tasks
        of_note: dict[str, list[Task]] = {}
        for task in tasks:
            of_note.setdefault(task.document, []).append(task)
        wanted: list[Wanted] = []
        scattered: dict[str, list[Task]] = {}
        for id_, found in sorted(of_note.items()):
            if len(found) >= OF_A_NOTE and not is_date(documents[id_].title):
                wanted.append(_page(snapshot, f"note:{id_}", f"Tasks of {documents[id_].title}", note(snapshot, documents[id_]), found, documents, source=False))
            else:
                scattered.setdefault(documents[id_].path.rpartition("/")[0], []).extend(found)
        unseen = False
        for folder, found in sorted(scattered.items()):
            unseen |= len(newest(found, documents)) < OF_A_NOTE
            if len(told := newest(found, documents)) >= OF_A_NOTE:
                where = f"the folder {folder}" if folder else "the top folder"
                wanted.append(_page(snapshot, f"folder:{folder}", f"Tasks in {where}", where, told, documents, source=True))
        once = newest(tasks, documents)
        still, closed = [t for t in once if t.state == OPEN], [t for t in once if t.state != OPEN]
        if still and (unseen or len(wanted) > 1):
            wanted.append(_page(snapshot, OPEN, "Open tasks", "the notes", still, documents, source=True, others=_closed(closed)))
        return Proposals(wanted, held)


def newest(tasks: Iterable[Task], documents: Mapping[str, Doc]) -> list[Task]:
    """Tasks of one wording once, as the note of the latest date has it."""
    found: dict[str, Task] = {}
    for task in sorted(tasks, key=lambda t: (to_iso(documents[t.document].date.start) or "", documents[t.document].path)):
        found[fold(task.text)] = task
    return list(found.values())


def told(task: Task) -> str:
    """A task on one line, as markdown has it."""
    dates = [f"due {task.due}"] if task.due and task.state == OPEN else [f"done {task.finished}"] if task.finished else []
    said = f"{task.owner}: {task.text}" if task.owner else task.text
    return f"- [{' ' if task.state == OPEN else 'x' if task.state == DONE else '-'}] {said}" + (f" — {dates[0]}" if dates else "")


def counted(tasks: Sequence[Task]) -> str:
    """How many are in which state: "3 open, 2 done"."""
    counts = Counter(t.state for t in tasks)
    return ", ".join(f"{counts[state]} {_WORDS[state]}" for state in (OPEN, DONE, DROPPED) if counts[state])


def _closed(tasks: Sequence[Task]) -> str:
    """How many are done or dropped: "3 are done, 1 is dropped"; "" for none."""
    counts = Counter(t.state for t in tasks)
    return ", ".join(f"{n} {'is' if n == 1 else 'are'} {_WORDS[state]}" for state in (DONE, DROPPED) if (n := counts[state]))


def note(snapshot: Snapshot, doc: Doc) -> str:
    """The wikilink to what a document is about, or its path."""
    primary = snapshot.items.get(snapshot.canonical(doc.primary))
    return wikilink(primary.page, doc.title) if primary else doc.path


def primaries(snapshot: Snapshot, documents: Iterable[Doc]) -> list[Item]:
    """What the documents are about, each once, in their order."""
    found = dict.fromkeys(snapshot.canonical(d.primary) for d in documents)
    return [snapshot.items[i] for i in found if i in snapshot.items]


async def about(snapshot: Snapshot, phase: str) -> set[str]:
    """What the pages of a phase rest on."""
    return {i for ids in (await snapshot.cited_by(phase)).values() for i in ids}


def _page(snapshot: Snapshot, identity: str, title: str, where: str, tasks: Sequence[Task], documents: Mapping[str, Doc], *, source: bool,
          others: str = "") -> Wanted:
    """A page; `others` counts tasks that are not on it."""
    sections = []
    for state, heading in ((OPEN, "Open"), (DONE, "Done"), (DROPPED, "Dropped")):
        found = sorted((t for t in tasks if t.state == state), key=lambda t: (t.due or "9999", not t.owner, fold(t.owner), documents[t.document].path, t.span.byte_start if t.span else 0))
        lines = [told(t) + (f" ({note(snapshot, documents[t.document])})" if source else "") for t in found[:LINES if state == OPEN else CITED]]
        if len(found) > len(lines):
            lines.append(f"- and {len(found) - len(lines)} more")
        if lines:
            sections.append(f"## {heading}\n\n" + "\n".join(lines))
    one = len(tasks) == 1
    many = "One task" if one else f"{len(tasks)} tasks"
    if others:
        head = f"{many} of {where} {'is' if one else 'are'} open; {others}."
    else:
        head = f"{many} of {where} {'is' if one else 'are'} open." if identity == OPEN else f"There {'is one task' if one else f'are {many}'} in {where}: {counted(tasks)}."
    cited = primaries(snapshot, (documents[i] for i in dict.fromkeys(t.document for t in tasks)))
    spans = tuple(dict.fromkeys(t.span for t in sorted(tasks, key=lambda t: t.state != OPEN) if t.span))
    statement = Statement(
        title=title, identity=f"plans:{identity}", body=head + "\n\n" + "\n\n".join(sections), links=tuple(Link(item.id, EdgeType.DERIVES_FROM) for item in cited),
        confidence=min((item.confidence for item in cited), default=0.5), mode=Mode.INFERRED, derived_from=tuple(item.id for item in cited))
    return Wanted(MemoryType.PLAN, statement, spans[:CITED])
