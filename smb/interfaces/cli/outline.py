"""Any JSON answer as indented text: what a command shows whose answer needs no wording of its own.

Owns layout only; says every key and value but `schema_version`, in the order given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from smb.interfaces.cli.page import Page


def outline(answer: Any, page: Page) -> str:
    """`answer` (dicts, lists, scalars) as text; an empty one says so."""
    return "\n".join(_lines(answer, page)) or page.faint("nothing")


def _lines(value: Any, page: Page) -> list[str]:
    if isinstance(value, Mapping):
        return _pairs({name: v for name, v in value.items() if name != "schema_version"}, page)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [line for one in value for line in _row(one, page)]
    return [page.style(scalar(value))]


def _pairs(pairs: Mapping[str, Any], page: Page) -> list[str]:
    names = {name: str(name).replace("_", " ") for name in pairs}
    width = max((len(names[name]) for name, value in pairs.items() if _flat(value)), default=0)
    lines: list[str] = []
    for name, value in pairs.items():
        if _flat(value):
            first, *rest = (flat_text(value) or "-").splitlines()
            lines.append(f"{page.faint(f'{names[name]:<{width}}')}  {page.style(first)}")
            lines += [f"{'':<{width}}  {page.style(line)}" for line in rest]
        else:
            lines += [page.strong(names[name]), *(f"  {line}" for line in _lines(value, page))]
    return lines


def _row(value: Any, page: Page) -> list[str]:
    if not isinstance(value, Mapping):
        return _lines(value, page)
    if all(_flat(v) for v in value.values()):
        return ["  ".join(page.style(" ".join(flat_text(v).split())) for v in value.values() if flat_text(v))]
    first, *rest = _pairs(value, page)
    return [f"- {first}", *(f"  {line}" for line in rest)]


def _flat(value: Any) -> bool:
    """Whether `value` fits behind its name: a scalar, or a list of scalars."""
    if isinstance(value, Mapping):
        return not value
    if isinstance(value, str) or not isinstance(value, Sequence):
        return True
    return not any(isinstance(one, (Mapping, list, tuple)) for one in value)


def flat_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return ""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(scalar, value))
    return scalar(value)


def scalar(value: Any) -> str:
    """A JSON scalar for reading: numbers grouped, times and text as they are, nothing for null."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.3f}".rstrip("0").rstrip(".")
        case _:
            return str(value)


def count(number: int, noun: str) -> str:
    """`number` and the noun that goes with it: 1 document, 1,500 documents, 2 entities."""
    if noun == "research":
        noun = "research agenda"
    if number != 1:
        noun = noun[:-1] + "ies" if noun.endswith("y") else noun[:-2] + "es" if noun.endswith("is") else noun + "s"
    return f"{number:,} {noun}"
