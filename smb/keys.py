"""Single-valued keys: which attributes have one value at a time.

Owns the list in `bank.toml`, what the bank's own claims propose for it, and the transaction that makes a change of the
list hold for what the bank has already. Never adds an attribute by itself.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from smb.bank_layout import read_toml
from smb.model.errors import SmbError
from smb.model.identity import fold
from smb.model.measure import Value, value_of
from smb.model.revision import Revision, Transaction
from smb.stores.atomic_file import write_atomic
from smb.stores.catalog import Catalog
from smb.writer import Writer

KeysOf = Callable[[Iterable[str]], "Keys"]
ACTOR = "keys"
SUBJECTS = 3  # an attribute of fewer subjects proposes nothing
EXCEPTIONS = 0.1  # share of subjects with several values at a time up to which it is still proposed
SHOWN = 50
GENERIC = frozenset(("value", "値", "date", "needs", "requires"))


class Keys(Protocol):
    """What settles the claims of the catalog by one list of single-valued keys (`smb.ingest.stirred_keys`)."""

    async def behind(self) -> bool: ...
    async def settled(self, planned: Sequence[Revision]) -> list[Revision]: ...
    async def mark(self) -> None: ...


class NotListed(SmbError):
    def __init__(self, name: str, listed: Iterable[str]):
        super().__init__(f"{name!r} is not among the single-valued keys ({', '.join(listed) or 'there are none'}). `smb config keys` lists them.")


class NoKey(SmbError):
    exit_code = 2

    def __init__(self) -> None:
        super().__init__("A key needs a name, such as `smb config keys add port`.")


class ListHidden(SmbError):
    def __init__(self, file: Path, wanted: Sequence[str]):
        super().__init__(f"The layout of {file} hides where the list goes. Write `single_valued = {_array(wanted)}` under [keys] by hand; "
                         "the next ingest follows it.")


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the bank's claims say of an attribute: its subjects, those whose value changed with its date, those with several
    values at one time."""

    attribute: str
    subjects: int
    changing: int
    exceptions: int


async def proposals(catalog: Catalog, listed: Iterable[str]) -> list[Proposal]:
    """Attributes that look single-valued and are not `listed`, the likeliest first."""
    rows = await catalog.fetch(
        "SELECT subject, attribute, value, valid_from, valid_to FROM memory_objects WHERE type = 'claim' AND attribute != '' "
        "AND standing IN ('current', 'contested', 'superseded')")
    known = frozenset(map(fold, listed)) | GENERIC
    held: dict[str, dict[str, list[tuple[Value, str, str]]]] = {}
    for row in rows:
        if row["attribute"] not in known:
            values = held.setdefault(row["attribute"], {}).setdefault(row["subject"], [])
            values.append((value_of(row["value"]), row["valid_from"] or "", row["valid_to"] or ""))
    found = [_proposal(attribute, list(subjects.values())) for attribute, subjects in held.items()]
    likely = [p for p in found if p.subjects >= SUBJECTS and p.exceptions <= EXCEPTIONS * p.subjects]
    return sorted(likely, key=lambda p: (-p.changing, p.exceptions, -p.subjects, p.attribute))


def _proposal(attribute: str, subjects: list[list[tuple[Value, str, str]]]) -> Proposal:
    changing = exceptions = 0
    for claims in subjects:
        if len({value for value, _, _ in claims}) > 1:
            starts: dict[str, set[Value]] = {}
            for value, start, _ in claims:
                starts.setdefault(start, set()).add(value)
            at_once = "" in starts or any(len(values) > 1 for values in starts.values())
            exceptions += at_once
            changing += not at_once
    return Proposal(attribute, len(subjects), changing, exceptions)


async def shown(path: Path, catalog: Catalog) -> dict[str, Any]:
    """The list, with how many claims bear each name, and what is proposed for it."""
    listed = read_toml(path).single_valued
    counts = {row["attribute"]: row["n"] for row in await catalog.fetch_in(
        "SELECT attribute, count(*) AS n FROM memory_objects WHERE type = 'claim' AND attribute IN ({marks}) GROUP BY attribute", [fold(n) for n in listed])}
    proposed = await proposals(catalog, listed)
    return {
        "schema_version": 1, "single_valued": [{"name": name, "claims": counts.get(fold(name), 0)} for name in listed],
        "proposed": [{"name": p.attribute, "subjects": p.subjects, "changing": p.changing, "exceptions": p.exceptions} for p in proposed[:SHOWN]],
        "proposed_total": len(proposed),
    }


async def add(path: Path, writer: Writer, catalog: Catalog, clock: Callable[[], datetime], keys_of: KeysOf, name: str) -> dict[str, Any]:
    """Lists `name` and settles what the bank holds by it. Raises NoKey, ListHidden, BankLocked."""
    clean = " ".join(name.split())
    if not fold(clean):
        raise NoKey
    listed = read_toml(path).single_valued
    known = fold(clean) in map(fold, listed)
    return await _changed(path, writer, catalog, clock, keys_of, clean, listed if known else (*listed, clean))


async def remove(path: Path, writer: Writer, catalog: Catalog, clock: Callable[[], datetime], keys_of: KeysOf, name: str) -> dict[str, Any]:
    """Takes `name` off the list; what only it superseded or contested stands again. Raises NotListed, ListHidden, BankLocked."""
    listed = read_toml(path).single_valued
    kept = tuple(n for n in listed if fold(n) != fold(name))
    if len(kept) == len(listed):
        raise NotListed(name, listed)
    return await _changed(path, writer, catalog, clock, keys_of, name, kept)


async def _changed(path: Path, writer: Writer, catalog: Catalog, clock: Callable[[], datetime], keys_of: KeysOf, name: str, listed: Sequence[str]) -> dict[str, Any]:
    async with writer.writing():
        before = await _standings(catalog)
        if listed != read_toml(path).single_valued:
            _write(path / "bank.toml", listed)
        keys = keys_of(listed)
        if await keys.behind():
            if revisions := await keys.settled(()):
                await writer.commit(Transaction("keys", ACTOR, clock(), tuple(revisions)))
            await catalog.begin()
            await keys.mark()
            await catalog.commit()
        after = await _standings(catalog)
    changes = {s: sum(after[i] == s != before.get(i) for i in after) for s in ("superseded", "contested", "current")}
    return {"schema_version": 1, "name": name, "single_valued": list(listed), **changes}


async def _standings(catalog: Catalog) -> dict[str, str]:
    return {row["id"]: row["standing"] for row in await catalog.fetch("SELECT id, standing FROM memory_objects WHERE type = 'claim' AND attribute != ''")}


def _write(file: Path, listed: Sequence[str]) -> None:
    """Writes the list into bank.toml, leaving every other line as it is."""
    text = file.read_text("utf-8")
    expected = tomllib.loads(text)
    expected["keys"] = {**expected.get("keys", {}), "single_valued": list(listed)}
    lines, said = text.splitlines(), f"single_valued = {_array(listed)}"
    table = next((n for n, line in enumerate(lines) if line.split("#")[0].strip() == "[keys]"), None)
    if table is None:
        lines += ["", "[keys]", said]
    else:
        end = next((n for n in range(table + 1, len(lines)) if lines[n].startswith("[")), len(lines))
        start = next((n for n in range(table + 1, end) if lines[n].split("=")[0].strip() == "single_valued"), None)
        if start is None:
            lines.insert(table + 1, said)
        else:
            stop = next((n for n in range(start + 1, end + 1) if _parses("\n".join(lines[start:n]))), start + 1)
            lines[start:stop] = [said]
    new = "\n".join(lines) + "\n"
    if not _parses(new) or tomllib.loads(new) != expected:
        raise ListHidden(file, listed)
    write_atomic(file, new.encode(), durable=True)


def _array(names: Sequence[str]) -> str:
    return json.dumps(list(names), ensure_ascii=False)


def _parses(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True
