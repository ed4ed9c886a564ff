"""Provenance closure: everything needed to check an item.

REQUIREMENTS.md, section 3, item 8: Γ(u) is the originating spans, the revisions that make it so, and, recursively,
what it was derived from. Cycles end where they meet themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from smb.model.currentness import NOW, AsOf, judge
from smb.model.evidence import Span
from smb.model.revision import Revision, Statement


@dataclass(frozen=True, slots=True)
class Closure:
    """Object ids in order of discovery (the item itself first), the deciding revisions, and the spans, each once."""

    objects: tuple[str, ...]
    revisions: tuple[Revision, ...]
    spans: tuple[Span, ...]


def closure_of(object_id: str, history_of: Callable[[str], Iterable[Revision]], as_of: AsOf = NOW) -> Closure:
    """The closure of one object; `history_of(id)` gives an object's history as `judge` wants it."""
    objects: dict[str, None] = {}
    revisions: dict[str, Revision] = {}
    spans: dict[Span, None] = {}
    waiting = [object_id]
    while waiting:
        current = waiting.pop()
        if current in objects:
            continue
        objects[current] = None
        verdict = judge(history_of(current), as_of, current)
        for revision in (*verdict.supports, *verdict.by):
            revisions[revision.id] = revision
            spans.update(dict.fromkeys(revision.evidence))
            if isinstance(revision.statement, Statement):
                waiting.extend(reversed(revision.statement.derived_from))
    return Closure(tuple(objects), tuple(revisions.values()), tuple(spans))
