"""A claim as evolution compares it with others."""

from __future__ import annotations

from dataclasses import dataclass

from smb.model.validity import ALWAYS, Interval


@dataclass(frozen=True, slots=True)
class Said:
    """One claim that holds, with what decides whether it speaks of the same thing as another.

    `text` is its sentence, `key` the folded (subject, attribute) or empty, `value` the value as written, `context` the title of the
    first document that states it and the headings above its quote, outermost first, `documents` the ids of all that state it, `date` the
    interval the first of these bears.
    """

    id: str
    text: str
    key: tuple[str, str] | tuple[()] = ()
    value: str = ""
    about: str = ""
    attributed_to: str = ""
    valid: Interval = ALWAYS
    date: Interval = ALWAYS
    tags: tuple[str, ...] = ()
    context: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
