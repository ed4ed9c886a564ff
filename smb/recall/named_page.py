"""The pages of evolution a question names: by title, or by kind and subject.

Owns which page is meant. A page leads the items of a question that names it and answers nothing: it is no evidence, and a
question for a number, a count or a date has none. Reads titles, names and text; no score and no similarity enters.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace

from smb.model.english import STOP_WORDS
from smb.model.identity import fold
from smb.recall.discover import stem
from smb.recall.pack import STATED, Unit
from smb.recall.page_question import PageKind, page_questions, subject_of, without_lead
from smb.recall.query import Operation, Plan
from smb.recall.rank_objects import object_unit
from smb.recall.verdicts import Judged, judge_objects
from smb.stores.catalog_reader import CatalogReader
from smb.stores.lexical import match_query

NAMED_BY = frozenset({Operation.FACT, Operation.LIST})  # operations whose questions can name a page
SHARE = 3  # one in so many items may be a page that was named
LOOKED_AT = 200  # pages of a kind that are compared
NAMES = 12  # names of what is asked about that are compared

Match = tuple[int, int, float]  # how well a page fits, less is better: tier, place of its type, share of its subject left unsaid


async def named_pages(asked: Plan, reader: CatalogReader, n: int) -> list[Unit]:
    """Units of the pages a question names that hold at its clocks and within its scope, the most fitting first, at most n / SHARE."""
    if asked.operation not in NAMED_BY:
        return []
    most = max(1, n // SHARE)
    titles = {fold(asked.text), fold(without_lead(asked.text))}
    rows = await reader.object_rows([i for _, i in await reader.named(titles)])
    titled = [one for one in await _held(rows.values(), asked, reader) if fold(one.title) in titles]
    if titled and all(_is_page(one) for one in titled):  # what notes name so is meant before a page of the same name
        return _units(titled[:most])
    for question in page_questions(asked.text):
        kind = question.kind
        types = tuple(t for t in kind.types if not asked.scope.types or t in asked.scope.types)
        if not types:
            continue
        names = [await _names(subject, reader) for subject in question.subjects]
        pages = list(filter(_is_page, await _held(await _candidates(types, names, reader), asked, reader)))
        if best := _about(pages, kind, names) if names else _of_nothing(pages, kind):
            return _units(best[:most])
    return []


async def _names(subject: str, reader: CatalogReader) -> list[str]:
    """A subject's folded names: as the question has it first, then the others of what bears it."""
    own = fold(subject)
    bearers = [i for _, i in await reader.named([own])]
    return list(dict.fromkeys((own, *(name for name, _ in await reader.names_of(bearers)))))[:NAMES]


async def _candidates(types: Sequence[str], names: Sequence[Sequence[str]], reader: CatalogReader) -> list[int]:
    """Rows of objects of these types: those that share a word with a name, or all where nothing is named."""
    marks = ",".join("?" * len(types))
    worked_out = f"mode = 'inferred' AND type IN ({marks})"
    if not names:
        rows = await reader.fetch(f"SELECT rowid FROM memory_objects WHERE {worked_out} ORDER BY supports DESC, title, id LIMIT ?", *types, LOOKED_AT)
        return [row[0] for row in rows]
    match = match_query([word for held in names for name in held for word in (name.split() if name.isascii() else [*name.split(), name])])
    if not match:
        return []
    rows = await reader.fetch(
        f"SELECT o.rowid FROM objects_fts f JOIN memory_objects o ON o.rowid = f.rowid WHERE objects_fts MATCH ? AND o.{worked_out.replace('type', 'o.type')} "
        "ORDER BY bm25(objects_fts, 4.0, 0.6, 0.9, 1.0), o.rowid LIMIT ?", match, *types, LOOKED_AT)
    return [row[0] for row in rows]


async def _held(rows: Iterable[int], asked: Plan, reader: CatalogReader) -> list[Judged]:
    """Those of these objects that hold, in the order of their titles."""
    admitted = await reader.admitted_objects(rows, replace(asked.scope, stated=False))
    judged = (await judge_objects(await reader.objects(sorted(admitted)), asked.as_of, reader, asked.during)).values()
    return sorted((one for one in judged if one.holds), key=lambda one: (one.title, one.row["id"]))


def _is_page(one: Judged) -> bool:
    """Whether evolution made it to be read; the records of its cycles are only for who asks for them."""
    return one.row["mode"] == "inferred" and one.row["type"] not in STATED and one.row["type"] != "evolution"


def _of_nothing(pages: Sequence[Judged], kind: PageKind) -> list[Judged]:
    """The pages about nothing in particular; all of the kind where its phase has no such."""
    for title in kind.title:
        if found := [one for one in pages if title.match(one.title)]:
            return found
    return [] if kind.title and not kind.gathers else list(pages)


def _about(pages: Sequence[Judged], kind: PageKind, names: Sequence[Sequence[str]]) -> list[Judged]:
    """The pages that fit best, of those that name every subject; of pages that have it in their text alone the general one."""
    fits = [(fit, one) for one in pages if (fit := _fit(one, kind, names)) is not None]
    best = min((fit for fit, _ in fits), default=None)
    found = [one for fit, one in fits if fit == best]
    if best is not None and best[0] == _IN_TEXT:
        return next(([one for one in found if t.match(one.title)] for t in kind.title if any(t.match(one.title) for one in found)), found)
    return found


_WHOLE, _LIKE, _IN_TITLE, _IN_TEXT = range(4)


def _fit(one: Judged, kind: PageKind, names: Sequence[Sequence[str]]) -> Match | None:
    """How a page fits subjects with these names; None where it names one of them nowhere."""
    place, said = kind.types.index(one.row["type"]), subject_of(one.title)
    if len(names) == 1:
        if fold(said) in names[0]:
            return _WHOLE, place, float(names[0][0] != fold(said))
        if plain(said) in map(plain, names[0]):
            return _LIKE, place, 0.0
    if all(any(_says(one.title, name) for name in held) for held in names):
        told = {word for held in names for name in held for word in _words(name) if _says(one.title, name)}
        left = [word for word in _words(said) if word not in told]
        return _IN_TITLE, place, round(len(left) / (len(left) + len(told)), 6)
    lines = one.body.splitlines() if kind.gathers else ()
    if any(all(any(_says(line, name) for name in held) for held in names) for line in lines):
        return _IN_TEXT, 0, 0.0
    return None


def _says(text: str, name: str) -> bool:
    """Whether a text has every word of a name, accents and endings apart; of an unspaced script, the name itself."""
    words = set(_words(name))
    return bool(words) and words <= set(_words(text)) or not name.isascii() and len(name) > 1 and plain(name) in plain(text) and not _spaced(name)


def _words(text: str) -> list[str]:
    held = ["".join(c for c in word if c.isalnum()) for word in plain(text).split()]
    return [stem(word) for word in held if word and word not in STOP_WORDS]


def _spaced(name: str) -> bool:
    """Whether a name is of a script that has spaces between words."""
    return all(unicodedata.name(c, "").startswith(("LATIN", "GREEK", "CYRILLIC")) for c in name if c.isalpha())


def plain(text: str) -> str:
    """A text folded, without accents."""
    return "".join(c for c in unicodedata.normalize("NFKD", fold(text)) if not unicodedata.combining(c))


def _units(pages: Sequence[Judged]) -> list[Unit]:
    units = [object_unit(one.row["rowid"], one, 0.0) for one in pages]
    for rank, unit in enumerate(units, 1):
        unit.routes = {"keyed": rank}
    return units
