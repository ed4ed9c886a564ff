"""Several processes on one bank: nothing is lost, counts never go backwards, readers see committed state."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from smb.stores.writer_lock import WriterLock
from worlds import ask, catalog, ingest, rows, write


def smb(*args: object, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", "smb", *map(str, args)], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=os.environ | {"NO_COLOR": "1", "PYTHONPATH": str(Path(__file__).parents[1])})


def answer(process: subprocess.Popen[str], *codes: int) -> Any:
    out, err = process.communicate(timeout=120)
    assert process.returncode in (codes or (0,)), (process.returncode, err)
    return json.loads(out)


def test_two_ingests_and_recalls_at_once_lose_nothing(tmp_path: Path) -> None:
    one = write(tmp_path / "one", {f"a{n}.md": f"# Valve {n}\n\nValve {n} opens at {n + 3} bar in hall {n % 7}.\n" for n in range(120)})
    two = write(tmp_path / "two", {f"b{n}.md": f"# Pump {n}\n\nPump {n} moves {n + 11} litres a minute to valve {n}.\n" for n in range(120)})
    bank = tmp_path / "bank"
    ingest(bank, write(tmp_path / "zero", {"z.md": "# Hall\n\nHall 3 holds 40 valves.\n"}))
    writers = [smb("ingest", place, "--bank", bank, "--json", cwd=tmp_path) for place in (one, two)]
    counts = []
    while any(w.poll() is None for w in writers):
        packet = answer(smb("recall", "which valve opens at 9 bar", "--bank", bank, "--json", cwd=tmp_path))
        assert all(item["verdict"] == "current" for item in packet["items"])
        counts.append(rows(bank, "SELECT count(*) FROM documents WHERE live = 1")[0][0])
    reports = [answer(w) for w in writers]
    assert counts == sorted(counts)
    assert [r["added"] for r in reports] == [120, 120] and not any(r["skipped"] for r in reports)
    assert rows(bank, "SELECT count(*) FROM documents WHERE live = 1") == [(241,)]
    assert len(list((bank / "layer-0" / "source").iterdir())) == 241
    assert ask(bank, "doctor")["ok"]
    before = catalog(bank)
    ask(bank, "rebuild")
    assert catalog(bank) == before


def test_two_ingests_of_the_same_folder_say_everything_once(tmp_path: Path) -> None:
    kb = write(tmp_path / "kb", {f"n{n}.md": f"# Tank {n}\n\nTank {n} holds {n + 5} litres.\n" for n in range(60)})
    bank = tmp_path / "bank"
    ingest(bank, write(tmp_path / "zero", {"z.md": "# Hall\n"}))
    for writer in [smb("ingest", kb, "--bank", bank, "--json", cwd=tmp_path) for _ in range(2)]:
        answer(writer)
    assert rows(bank, "SELECT count(*), count(DISTINCT path) FROM documents WHERE live = 1") == [(61, 61)]
    assert rows(bank, "SELECT count(*) FROM (SELECT 1 FROM revisions WHERE head = 1 AND kind = 'assert' GROUP BY object_id, document_id HAVING count(*) > 1)") == [(0,)]


def test_a_writer_that_waits_too_long_says_who_holds_the_bank_and_exits_6(tmp_path: Path) -> None:
    kb = write(tmp_path / "kb", {"n.md": "# Tank\n"})
    bank = tmp_path / "bank"
    ingest(bank, kb)
    with WriterLock(bank / "index" / "writer.lock"):
        process = smb("ingest", kb, "--bank", bank, "--lock-timeout", "0.2", cwd=tmp_path)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 6 and f"process {os.getpid()}" in err and "--lock-timeout" in err
        assert answer(smb("recall", "tank", "--bank", bank, "--json", cwd=tmp_path))["outcome"] == "state"
        assert answer(smb("status", "--bank", bank, "--json", cwd=tmp_path))["documents"] == 1
