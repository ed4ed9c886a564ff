"""The ledger: committed transactions come back whole, in order, or say why not."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import instants, nasty_text, revisions

from smb.model.identity import generation_of, sha256_hex
from smb.model.revision import Revision, RevisionKind, Statement, Transaction, new_revision
from smb.model.validity import UTC
from smb.stores import atomic_file
from smb.stores.ledger import Ledger, LedgerDamaged
from test_atomic_file import run_and_die_at

NOON = datetime(2031, 5, 8, 12, 0, 0, 250, tzinfo=UTC)


def claim(n: int) -> Revision:
    return new_revision(RevisionKind.ASSERT, f"{n:012x}", "claim", statement=Statement(f"Shelf {n} is dry", f"shelf {n} is dry"))


def batch(*numbers: int, at: datetime = NOON, actor: str = "rules/1") -> Transaction:
    return Transaction("ingest", actor, at, tuple(map(claim, numbers)))


def path_of(bank: Path, txid: str) -> Path:
    (path,) = (bank / "ledger").glob(f"*/{txid}.jsonl")
    return path


@given(nasty_text(), nasty_text(), instants(), st.lists(revisions(), max_size=5))
@settings(max_examples=30, deadline=None)
def test_whatever_is_committed_is_read_back_equal(
    tmp_path_factory: pytest.TempPathFactory, kind: str, actor: str, at: datetime, said: list[Revision]
) -> None:
    """Any text in any field survives, with the time and the transaction told to every revision."""
    bank = tmp_path_factory.mktemp("bank")
    done = Ledger(bank).commit(Transaction(kind, actor, at, tuple(said)))
    assert Ledger(bank).read(done.id) == done
    assert done.revisions == tuple(replace(r, recorded_at=at, transaction=done.id) for r in said)
    assert Ledger(bank).verify() == []


def test_a_transaction_is_one_file_named_after_its_bytes_in_its_month(tmp_path: Path) -> None:
    """ledger/2031-05/<32 hex>.jsonl: a header line, then one line a revision."""
    done = Ledger(tmp_path).commit(batch(1, 2))
    path = tmp_path / "ledger" / "2031-05" / f"{done.id}.jsonl"
    assert sha256_hex(path.read_bytes()).startswith(done.id) and len(done.id) == 32
    header, *lines = map(orjson.loads, path.read_bytes().splitlines())
    at = "2031-05-08T12:00:00.000250+00:00"
    assert header == {"format": 1, "kind": "ingest", "actor": "rules/1", "recorded_at": at, "count": 2}
    assert [line["rev"] for line in lines] == [r.id for r in done.revisions]


def test_the_zone_of_the_clock_changes_neither_the_bytes_nor_the_month(tmp_path: Path) -> None:
    """One instant is one transaction wherever it is told; a time without a zone is refused."""
    late = datetime(2031, 5, 31, 23, 30, tzinfo=UTC)
    ledger = Ledger(tmp_path)
    first = ledger.commit(batch(1, at=late))
    assert ledger.commit(batch(1, at=late.astimezone(timezone(timedelta(hours=2))))) == first
    assert path_of(tmp_path, first.id).parent.name == "2031-05"
    with pytest.raises(ValueError):
        ledger.commit(batch(1, at=late.replace(tzinfo=None)))


def test_two_clones_agree_on_ids_and_generation_whatever_the_order(tmp_path: Path) -> None:
    """The generation depends on the set of transactions only, and changes with it."""
    one, two = Ledger(tmp_path / "one"), Ledger(tmp_path / "two")
    todo = [batch(n, at=NOON + timedelta(days=40 * n)) for n in range(4)]
    generations = [one.generation()]
    for transaction in todo:
        one.commit(transaction)
        generations.append(one.generation())
    for transaction in reversed(todo):
        two.commit(transaction)
    assert one.ids() == two.ids() == sorted(one.ids()) and len(one.ids()) == 4
    assert one.generation() == two.generation() == generation_of(one.ids())
    assert len(set(generations)) == 5


def test_missing_gives_what_is_not_applied_by_time_and_then_id(tmp_path: Path) -> None:
    """Ties in time are ordered by id; a transaction another process committed is among them."""
    ledger = Ledger(tmp_path)
    assert ledger.ids() == ledger.missing(()) == []
    done = [ledger.commit(batch(n, at=NOON - timedelta(days=n // 2))) for n in range(6)]
    foreign = Ledger(tmp_path).commit(batch(9, at=NOON + timedelta(days=1)))
    expected = sorted([*done, foreign], key=lambda t: (t.recorded_at, t.id))
    assert ledger.missing(set()) == expected
    assert ledger.missing({done[3].id, foreign.id}) == [t for t in expected if t not in (done[3], foreign)]


def test_files_that_are_no_transactions_are_neither_ids_nor_read(tmp_path: Path) -> None:
    """Foreign and misplaced files are named by verify and ignored by everything else; dot files by both."""
    ledger = Ledger(tmp_path)
    done = ledger.commit(batch(1))
    path = path_of(tmp_path, done.id)
    (path.parent / "notes.txt").write_text("x")
    (path.parent / ".DS_Store").write_text("x")
    (path.parent / f"{done.id[:-1]}.jsonl").write_text("{}")
    (ledger.directory / f"{'0' * 32}.jsonl").write_text("{}")
    elsewhere = ledger.directory / "2030-01" / path.name
    elsewhere.parent.mkdir()
    elsewhere.write_bytes(path.read_bytes())
    assert ledger.ids() == [done.id] and ledger.missing(()) == [done]
    assert {(p.name, problem.split(";")[0]) for p, problem in ledger.verify()} == {
        ("notes.txt", "is no ledger file"), (f"{done.id[:-1]}.jsonl", "is no ledger file"),
        (f"{'0' * 32}.jsonl", "is no ledger file"),
        (path.name, "belongs in ledger/2031-05"),
    }


DAMAGE = {
    "cut": (lambda data: data[:-20], 3, "no JSON"),
    "empty": (lambda data: b"", 0, "empty"),
    "a byte changed": (lambda data: data.replace(b"Shelf 1", b"Shelf 7"), 0, "no longer matches"),
    "a line gone": (lambda data: data[: data.rindex(b"\n", 0, -1) + 1], 0, "no longer matches"),
    "crlf": (lambda data: data.replace(b"\n", b"\r\n"), 0, "CRLF"),
    "conflict": (lambda data: data.replace(b"\n", b"\n<<<<<<< HEAD\n", 1), 2, "conflict"),
    "binary": (lambda data: b"\x00\xff" + data, 1, "no JSON"),
    "a list": (lambda data: b"[]\n" + data, 1, "no JSON object"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named_with_file_and_line_and_never_read_past(tmp_path: Path, name: str) -> None:
    """Reading raises, verifying reports; other transactions stay readable."""
    change, line, words = DAMAGE[name]
    ledger = Ledger(tmp_path)
    done, sound = ledger.commit(batch(1, 2)), ledger.commit(batch(3))
    path = path_of(tmp_path, done.id)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(LedgerDamaged, match=words) as caught:
        Ledger(tmp_path).read(done.id)
    assert (caught.value.path, caught.value.line) == (path, line) and "smb doctor" in str(caught.value)
    ((where, problem),) = ledger.verify()
    assert where == path and words in problem
    assert ledger.read(sound.id) == sound


def put_raw(bank: Path, *lines: object) -> str:
    """A file whose name matches its bytes, whatever they say: what a broken or hostile writer could leave."""
    data = b"".join(line if isinstance(line, bytes) else orjson.dumps(line) + b"\n" for line in lines)
    txid = sha256_hex(data)[:32]
    path = bank / "ledger" / "2031-05" / f"{txid}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return txid


HEADER = {"format": 1, "kind": "ingest", "actor": "x", "recorded_at": "2031-05-08T12:00:00+00:00", "count": 1}
LINE = {"rev": "r", "op": "assert", "object": "o", "type": "claim", "says": {"title": "t", "identity": "i"}}


@pytest.mark.parametrize(("lines", "at", "words"), [
    ((HEADER,), 1, "announces 1 revisions and has 0"),
    ((HEADER | {"format": 2}, LINE), 1, "newer smb"),
    ((HEADER | {"recorded_at": "yesterday"}, LINE), 1, "time"),
    ((HEADER | {"count": "1"}, LINE), 1, "count"),
    ((b"",), 1, "no JSON"),
    ((HEADER, LINE | {"op": "guess"}), 2, "guess"),
    ((HEADER, {"rev": "r"}), 2, "type"),
    ((HEADER, orjson.dumps(LINE)), 2, "cut off"),
], ids=str)
def test_well_named_nonsense_is_refused_with_its_line(tmp_path: Path, lines: tuple[object, ...], at: int, words: str) -> None:
    """A right hash is no excuse: format, header, count and every revision are checked."""
    txid = put_raw(tmp_path, *lines)
    with pytest.raises(LedgerDamaged, match=words) as caught:
        Ledger(tmp_path).read(txid)
    assert caught.value.line == at
    assert words in Ledger(tmp_path).verify()[0].problem


def test_a_transaction_that_is_not_there_is_damage(tmp_path: Path) -> None:
    """Also when it vanishes after it was listed."""
    ledger = Ledger(tmp_path)
    with pytest.raises(LedgerDamaged, match="missing"):
        ledger.read("0" * 32)
    done = ledger.commit(batch(1))
    os.unlink(path_of(tmp_path, done.id))
    with pytest.raises(LedgerDamaged, match="missing"):
        ledger.read(done.id)


def test_dying_at_any_step_of_a_commit_leaves_it_done_or_undone(tmp_path: Path) -> None:
    """The rename is the commit: before it there is nothing to read, after it everything; a repeat completes."""
    committed = []
    n, finished = 0, False
    while not finished:
        n += 1
        bank = tmp_path / str(n)
        finished = run_and_die_at(n, lambda: Ledger(bank).commit(batch(1, 2, 3)), "kill")
        ledger = Ledger(bank)
        found = ledger.missing(())
        committed.append(len(found))
        assert all(len(t.revisions) == 3 for t in found) and ledger.verify() == []
        done = ledger.commit(batch(1, 2, 3))
        assert ledger.missing(()) == [done] and (found == [done] or not found)
        assert not any(atomic_file.is_temporary(name) for name in os.listdir(path_of(bank, done.id).parent))
    assert committed == sorted(committed) and set(committed) == {0, 1}
