"""Claims with a key of their own: `**Key:** value` and `Key: value` lines, front-matter properties, cells of small tables.

Owns which of them are knowledge and which are housekeeping. Never reads running text.
"""

from __future__ import annotations

import re
from collections import Counter

from smb.ingest.extract import Draft
from smb.ingest.lexicon import (
    LABELS,
    METADATA_SUFFIXES,
    STRUCTURAL_KEYS,
    TERM_HEADERS,
    VALUE_HEADERS,
)
from smb.model.measure import with_unit, without_unit
from smb.ingest.note import Block, Property
from smb.ingest.plain_keys import About, is_name, owners
from smb.ingest.signals import valid_in
from smb.ingest.survey import Keyed, Survey
from smb.model.evidence import Span
from smb.model.identity import fold
from smb.model.objects import MemoryType
from smb.model.validity import ALWAYS, TimeError, parse_interval

MAX_ROWS = 25  # a longer table is a reference to look things up in, and stays passages only
MAX_TABLE_CLAIMS = 24
MAX_KEYED = 40
MAX_CELL = 60
_EMPTY = frozenset(("", "-", "–", "—", "n/a", "none", "?", "…", "...", "x", "✓", "✔", "✗", "tbd"))
_LINKED = re.compile(r"\[\[([^\]|#]+)(?:[^\]|]*\|([^\]]+))?[^\]]*\]\]")
_WORDY = re.compile(r"[^\W\d_]")
_DEFINITION = re.compile(r"^(?:an?|the)\s\w+(?:\s\S+){2,}", re.I)


def keyed_claims(seen: Survey) -> list[Draft]:
    """Claims (subject, attribute, value), in the order they stand."""
    drafts = [*_properties(seen), *_lines(seen)]
    for table in seen.rows:
        drafts += _table(seen, table)
    return drafts[:MAX_KEYED]


def is_definition(value: str) -> bool:
    """Whether the value of a `**Term:** value` line defines the term rather than gives it a value."""
    return bool(_DEFINITION.match(value)) and len(value) > 20 and not any(c.isdigit() for c in value)


def _lines(seen: Survey) -> list[Draft]:
    above = owners(seen.note.blocks) if seen.keyed else {}
    under: dict[str, set[tuple[str, str]]] = {}
    for line in seen.keyed:
        owner = above.get(line.block.byte_start)
        under.setdefault(fold(line.key), set()).add((_section(line.block), owner[0] if owner else ""))
    drafts = []
    for line in seen.keyed:
        if is_definition(line.value) or not _is_key(line.key):
            continue
        spans = [seen.span(line.block, line.said) if line.said else seen.quoter.block(line.block)]
        about = line.about or _owner(above.get(line.block.byte_start), under[fold(line.key)])
        if about is not None:
            subject = about[0]
            spans.append(seen.quoter.block(about[1]))
        else:
            subject = _section_or_title(seen, line, under[fold(line.key)])
        drafts.append(_claim(seen, subject, line.key, line.value, *spans, confidence=0.7, tags=("correction",) if line.struck else ()))
    return drafts


def _owner(above: About | None, places: set[tuple[str, str]]) -> About | None:
    """What stands right above a list as what it is about: where that is a name, or the key stands under several such."""
    return above if above and (is_name(above[0]) or len({owner for _, owner in places}) > 1) else None


def _section_or_title(seen: Survey, line: Keyed, places: set[tuple[str, str]]) -> str:
    section = _section(line.block)
    return section if section and len({heading for heading, _ in places}) > 1 and seen.kind == "" else seen.title


def _section(block: Block) -> str:
    return block.headings[-1] if len(block.headings) > 1 else ""


def _is_key(key: str) -> bool:
    return bool(_WORDY.search(key)) and len(key.split()) <= 6 and fold(key) not in LABELS and not key.endswith((".", "!"))


def _properties(seen: Survey) -> list[Draft]:
    drafts = []
    for prop in seen.note.properties:
        if prop.items and is_knowledge(prop):
            value = ", ".join(plain_name(item) for item in prop.items[:12])
            if 0 < len(value) <= MAX_VALUE and not _CODE_CELL.search(value):
                drafts.append(_claim(seen, seen.title, prop.key.replace("_", " "), value, seen.quoter.block(prop), confidence=0.7))
    return drafts


MAX_VALUE = 160


def is_knowledge(prop: Property) -> bool:
    """Whether a property says something of the note's subject: not housekeeping, not a switch, not a namespaced key."""
    key = prop.key.lower()
    if key in STRUCTURAL_KEYS or "." in key or ":" in key or key.endswith(METADATA_SUFFIXES) or len(key) > 32:
        return False
    if key == "source" and "export" in prop.text.lower():  # how the note came here
        return False
    return prop.text.lower() not in ("true", "false", "null", "~", "yes", "no") and not prop.text.startswith(("{", "|", ">"))


def plain_name(text: str) -> str:
    """A property item as a name: `[[Target|alias]]` is its target."""
    m = _LINKED.search(text)
    return m[1].strip() if m else text.strip().strip("\"'")


def _table(seen: Survey, rows: list[Block]) -> list[Draft]:
    rows = [row for row in rows if row.cells]
    if not rows or len(rows) > MAX_ROWS or not 2 <= len(rows[0].cells) <= 10:
        return []
    headers = [header.strip() for header, _ in rows[0].cells]
    if not all(any(c.isalnum() for c in h) for h in headers[1:2]):
        return []
    first = headers[0].lower()
    if first in TERM_HEADERS:
        return []
    keyed = headers[1].lower() in VALUE_HEADERS
    keys = Counter(fold(row.cells[0][1]) for row in rows if row.cells)
    by_date = False
    column = 0
    if not keyed:
        column = _naming_column(rows)
        if column < 0:
            return []
        by_date = all(_is_date(row.cells[column][1].strip()) for row in rows if len(row.cells) > column)
    drafts: list[Draft] = []
    for row in rows:
        cells = [cell.strip() for _, cell in row.cells]
        if len(cells) < 2 or len(cells[column]) > MAX_CELL or not any(c.isalnum() for c in cells[column]):
            continue
        if keyed:
            unit = cells[2] if len(cells) > 2 and headers[2].lower() in ("unit", "units", "einheit", "単位", "单位") else ""
            if cells[1].lower() not in _EMPTY and len(cells[1]) <= MAX_CELL and keys[fold(cells[0])] == 1:
                drafts.append(_claim(seen, seen.title, cells[0], f"{cells[1]} {unit}".strip(), seen.quoter.block(row), confidence=0.7))
            continue
        for i, cell in enumerate(cells[:10]):
            header = headers[i] if i < len(headers) else ""
            if (
                i == column
                or _CODE_CELL.search(cell)
                or not _WORDY.search(header)
                or header.lower() in _NUMBERING
                or cell.lower() in _EMPTY
                or len(cell) > MAX_CELL
            ):
                continue
            subject, when = (seen.title, cells[column]) if by_date else (cells[column], "")
            drafts.append(_claim(seen, subject, header, cell, seen.quoter.block(row), confidence=0.65, when=when))
    return drafts if len(drafts) <= 3 * MAX_TABLE_CLAIMS and _informative(drafts) else []


_NUMBERING = frozenset(
    ("no.", "no", "nr.", "nr", "#", "id", "description", "notes", "remarks", "comment", "comments", "meaning", "see also")
)
_CODE_CELL = re.compile(r"[{};\[\]]|^\(|\)\s*const\b")
_DATE_CELL = re.compile(r"^\d{4}-\d{2}(?:-\d{2})?\Z")


def _is_date(cell: str) -> bool:
    try:
        return _DATE_CELL.match(cell) is not None and parse_interval(cell).known
    except TimeError:
        return False


def _naming_column(rows: list[Block]) -> int:
    """The first of the first two columns whose cells name the rows: all different, with letters or dates; -1 for none."""
    for column in (0, 1):
        cells = [row.cells[column][1].strip() for row in rows if len(row.cells) > column]
        if len(cells) == len(rows) and len(set(map(fold, cells))) == len(cells) and all(len(c) <= MAX_CELL for c in cells):
            if all(_WORDY.search(c) or _DATE_CELL.match(c) for c in cells):
                return column
    return -1


def _informative(drafts: list[Draft]) -> bool:
    """Whether the cells are values (numbers, names, dates) rather than sentences or yes/no marks."""
    short = sum(1 for d in drafts if len(d.value) <= 32)
    return bool(drafts) and short >= 0.7 * len(drafts)


def _claim(
    seen: Survey, subject: str, attribute: str, value: str, *spans: Span, confidence: float, tags: tuple[str, ...] = (), when: str = ""
) -> Draft:
    dated = parse_interval(when) if when else ALWAYS
    valid, valid_text = (dated, "") if dated.known else valid_in(value)
    attribute, unit = without_unit(attribute.strip(" :："))
    value = with_unit(" ".join(value.split()), unit)
    return Draft(
        MemoryType.CLAIM,
        f"{subject} – {attribute}{f', {when}' if when else ''}: {value}",
        spans,
        subject=subject,
        attribute=attribute,
        value=value,
        tags=tags,
        confidence=confidence,
        valid=valid,
        valid_text=valid_text,
    )
