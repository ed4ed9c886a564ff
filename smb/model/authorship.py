"""Who says what of a derived object: a rule, or a language model in the rule's place.

Owns the name of a model as an actor, and the mark a model's rewording of a rule's text bears. A rule treats what a model said
of its objects as its own: it leaves a rewording of what it still says, and replaces one of what it no longer says.
"""

from __future__ import annotations

import json
from typing import Any

from smb.model.evidence import Span
from smb.model.revision import Revision, RevisionKind, Statement, new_revision

MODEL = "model:"  # every model's actor begins so
WORDED = "worded"  # the front-matter key of a rewording


def said_by(revision: Revision, actor: str) -> bool:
    """Whether `actor` says it, or a model does in its place: of no single note."""
    return revision.actor == actor or (revision.actor.startswith(MODEL) and not revision.document)


def text_hash(object_id: str, object_type: str, statement: Statement, evidence: tuple[Span, ...]) -> str:
    """16 hex digits over all that is said of an object and what it rests on, whoever says it."""
    return new_revision(RevisionKind.ASSERT, object_id, object_type, statement=statement, evidence=evidence).id


def worded_from(statement: Statement | Any) -> str:
    """The `text_hash` of what a statement rewords; "" where it rewords nothing."""
    if not isinstance(statement, Statement):
        return ""
    line = dict(statement.extra).get(WORDED, "")
    try:
        told = json.loads(line.partition(":")[2]) if line else {}
    except json.JSONDecodeError:
        return ""  # a person has rewritten the line
    return str(told.get("from", "")) if isinstance(told, dict) else ""


def worded_mark(text: str, actor: str) -> tuple[str, str]:
    """The front-matter line of a rewording by `actor` of the text with this hash."""
    return WORDED, f"{WORDED}: {json.dumps({'from': text, 'by': actor}, ensure_ascii=False)}"
