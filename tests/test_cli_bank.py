"""The command line over a real bank: what each command answers, its exit code, and what stays unimported."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from shell import SMB, Ran, imported, run, settle

NOTES = {
    "boats/Tern.md": (
        "---\ntitle: Tern\ntags: [boat]\n---\n# Tern\n\n- **Length:** 7.4 m\n- **Skipper:** [[Oda Lund]]\n\n"
        "Tern is moored at the north quay.\n"
    ),
    "Oda Lund.md": "---\ntags: [person]\n---\n# Oda Lund\n\nOda Lund keeps the log of [[Tern]] and lives in Svolvær.\n",
    "log/2034-05-02.md": "# 2034-05-02\n\nWind from the west. We scraped the hull of [[Tern]].\n",
    "broken.md": b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0d",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with notes in kbmd/ and a bank beside it that has read them."""
    place = tmp_path_factory.mktemp("harbour")
    for name, text in NOTES.items():
        path = place / "kbmd" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.MonkeyPatch.context() as patch:
        settle(place, patch)
        assert Ran("init", "--no-git").code == 0
        assert Ran("ingest", "kbmd").code == 7
    return place


@pytest.fixture
def harbour(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The shared bank, for tests that change nothing."""
    settle(made, monkeypatch)
    return made


@pytest.fixture
def own(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of notes and bank, for tests that change something."""
    shutil.copytree(made, tmp_path / "own", symlinks=True)
    (tmp_path / "own" / "memory-bank" / "index" / "roots.json").unlink()  # it names the shared folder
    settle(tmp_path / "own", monkeypatch)
    return tmp_path / "own"


def answer(*args: str | Path, code: int = 0) -> Any:
    ran = Ran(*args, "--json")
    assert ran.code == code, ran.err
    return json.loads(ran.out)


def test_init_makes_a_bank_names_the_next_step_and_is_repeatable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(tmp_path, monkeypatch)
    first = Ran("init", "here")
    assert first.code == 0 and (tmp_path / "here" / "bank.toml").is_file() and "smb ingest FOLDER --bank here" in first.out
    assert "already" in Ran("init", "here").out
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("years of work")
    assert Ran("init", "full").code == 1


def test_ingest_adds_up_names_what_it_skipped_and_exits_7(own: Path) -> None:
    (own / "kbmd" / "new.md").write_text("# New\n\nA new buoy lies off the mole.\n")
    report = answer("ingest", "kbmd", code=7)
    assert (
        report["seen"]
        == 5
        == report["added"] + report["changed"] + report["moved"] + report["unchanged"] + len(report["skipped"])
    )
    assert (report["added"], report["status"], report["skipped"][0]["path"]) == (1, "partial", "broken.md")
    said = Ran("ingest", "kbmd")
    assert said.code == 7 and "broken.md" in said.out and "4 unchanged" in said.out
    (own / "kbmd" / "broken.md").unlink()
    assert Ran("ingest", "kbmd").code == 0


def test_a_dry_run_changes_nothing(own: Path) -> None:
    before = answer("status")["generation"]
    (own / "kbmd" / "Oda Lund.md").write_text("# Oda Lund\n\nShe moved to Bodø.\n")
    assert "Would read" in Ran("ingest", "kbmd", "--dry-run").out
    assert answer("status")["generation"] == before


def test_a_folder_that_is_not_there_is_an_error(harbour: Path) -> None:
    ran = Ran("ingest", "no-such-folder")
    assert ran.code in (1, 2) and "no-such-folder" in ran.err and ran.out == ""


def test_status_counts_and_says_what_is_behind(harbour: Path) -> None:
    counted = answer("status")
    assert counted["documents"] == 3 and counted["objects"]["entity"] >= 1
    said = Ran("status").out
    assert "3 with" in said and counted["generation"][:12] in said and "broken.md" in said


def test_recall_finds_cites_and_repeats_itself_byte_for_byte(harbour: Path) -> None:
    one, two = answer("recall", "how long is Tern"), answer("search", "how", "long", "is", "Tern")
    assert one.pop("elapsed_ms") >= 0 and two.pop("elapsed_ms") >= 0 and one == two
    cited = {(c["path"], c["line_start"]) for item in one["items"] for c in item["citations"]}
    assert ("boats/Tern.md", 7) in cited
    said = Ran("recall", "how long is Tern")
    assert said.code == 0 and "7.4 m" in said.out and "boats/Tern.md:7" in said.out
    assert "] boats/Tern.md:7" in Ran("recall", "how long is Tern", "--format", "markdown").out
    assert json.loads(Ran("recall", "Tern", "--format", "json").out)["outcome"]


def test_a_miss_is_told_and_exits_3_when_asked_to(harbour: Path) -> None:
    assert Ran("recall", "zyzzyva quux").code == 0
    missed = Ran("recall", "zyzzyva quux", "--exit-status")
    assert missed.code == 3 and "Nothing in the bank" in missed.out
    assert Ran("recall", "how long is Tern", "--exit-status").code == 0


@pytest.mark.parametrize(
    "query", ["pre-fire", "don't", "check:open", "(open", "open AND", "C++", "*", '"', "NEAR(", "a" * 10_000, "窯", "\x00"]
)
def test_no_question_is_a_query_language(harbour: Path, query: str) -> None:
    ran = Ran("recall", query, "--lexical")
    assert (ran.code, ran.err) == (0, "")


@pytest.mark.parametrize("args", [["--as-of", "yesterday"], ["--known-at", "2031-02-30"], ["--now", "x"]], ids=" ".join)
def test_what_the_bank_cannot_read_is_a_usage_error(harbour: Path, args: list[str]) -> None:
    ran = Ran("recall", "Tern", *args)
    assert ran.code == 2 and ran.err.startswith("smb: ") and args[1] in ran.err


def test_filters_reach_the_bank(harbour: Path) -> None:
    def paths(*args: str) -> set[str]:
        return {c["path"] for item in answer("recall", "Tern", *args)["items"] for c in item["citations"]}

    assert paths("--type", "passage", "--source", "log") == {"log/2034-05-02.md"}
    assert {item["type"] for item in answer("recall", "Tern", "--type", "entity")["items"]} == {"entity"}
    assert len(answer("recall", "Tern", "-n", "1")["items"]) == 1
    assert answer("recall", "Tern", "--budget", "40")["tokens"] <= 40
    assert "dimensions" in answer("recall", "Tern", "--explain")["items"][0]
    assert (
        Ran(
            "recall",
            "Tern",
            "--as-of",
            "2034",
            "--known-at",
            "2090-01-01",
            "--now",
            "2034-06-01",
            "--tag",
            "boat",
            "--layer",
            "1",
            "--hops",
            "0",
            "--goal",
            "hull",
            "--min-score",
            "0.0",
            "--include-superseded",
            "--profile",
            "research",
        ).code
        == 0
    )


def test_get_shows_a_note_s_lines_and_an_object(harbour: Path) -> None:
    assert Ran("get", "boats/Tern.md:7:2").out.splitlines()[1:] == ["7  - **Length:** 7.4 m", "8  - **Skipper:** [[Oda Lund]]"]
    found = answer("recall", "Tern", "--type", "entity")["items"][0]
    assert answer("get", found["id"])["title"] == found["title"]
    said = Ran("get", found["id"]).out
    assert found["title"] in said and found["id"] in said
    assert Ran("get", "no-such-note.md").code == 1


def test_why_and_history_show_the_chain(harbour: Path) -> None:
    found = answer("recall", "Tern", "--type", "entity")["items"][0]
    chain = answer("why", found["id"])
    assert chain["revisions"] and all(span["intact"] for revision in chain["revisions"] for span in revision["evidence"])
    assert "intact" in Ran("why", found["id"]).out
    assert answer("history", found["id"])["revisions"][0]["kind"] == "assert"
    assert "assert" in Ran("history", found["id"]).out


def test_the_graph_is_counted_walked_and_exported(harbour: Path) -> None:
    assert answer("graph", "stats")["nodes"] >= 2 and "nodes" in Ran("graph", "stats").out
    assert "Oda Lund" in Ran("graph", "neighbors", "Tern").out
    assert "Oda Lund" in Ran("graph", "path", "Tern", "Oda Lund").out
    assert Ran("graph", "neighbors", "Tern", "--type", "no-such-edge").code == 2
    exported = json.loads(Ran("graph", "export").out)
    assert exported["nodes"] and exported["links"]


def test_doctor_finds_damage_names_the_remedy_and_exits_1(own: Path) -> None:
    assert Ran("doctor").code == 0
    source = next((own / "memory-bank" / "layer-0" / "source").iterdir())
    source.chmod(0o644)
    source.write_bytes(source.read_bytes() + b"tampered")
    sick = Ran("doctor")
    assert sick.code == 1 and source.name in sick.out and "mend:" in sick.out


def test_a_hand_edit_is_seen_taken_in_and_shown(own: Path) -> None:
    file = next((own / "memory-bank" / "layer-1").glob("*/tern-*.md"))
    file.write_text(file.read_text().replace("title: Tern", "title: Tern of Svolvær"))
    assert file.name in Ran("absorb", "--dry-run").out
    taken = answer("absorb")
    assert [edit["kind"] for edit in taken["edits"]] == ["edited"]
    assert "Tern of Svolvær" in Ran("get", taken["edits"][0]["id"]).out
    file.write_text("<<<<<<< ours\n" + file.read_text())
    assert Ran("absorb").code == 7


def test_rebuild_makes_the_indexes_again(own: Path) -> None:
    generation = answer("status")["generation"]
    (own / "memory-bank" / "index" / "metadata.db").unlink()
    assert answer("rebuild")["generation"] == generation
    assert "Rebuilt" in Ran("rebuild").out
    assert answer("status")["documents"] == 3


def test_a_locked_bank_exits_6_after_the_timeout_and_readers_go_on(own: Path) -> None:
    with open(own / "memory-bank" / "index" / "writer.lock", "a+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for command in (["ingest", "kbmd"], ["absorb"], ["rebuild"]):
            ran = Ran(*command, "--lock-timeout", "0.2")
            assert ran.code == 6 and "after 0.2 s" in ran.err and ran.out == ""
        assert Ran("recall", "Tern", "--lexical").code == 0
        assert Ran("status").code == 0


def test_ctrl_c_exits_130_and_says_that_nothing_is_lost(own: Path) -> None:
    with open(own / "memory-bank" / "index" / "writer.lock", "a+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        process = subprocess.Popen([*SMB, "ingest", "kbmd"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (130, "") and "kept" in err and "Traceback" not in err


def test_a_bank_that_names_a_host_is_refused(own: Path) -> None:
    with open(own / "memory-bank" / "bank.toml", "a") as file:
        file.write('\n[settings]\nollama_host = "http://elsewhere.example"\n')
    ran = Ran("recall", "Tern")
    assert ran.code == 1 and "bank.toml" in ran.err and "ollama_host" in ran.err


def test_config_set_in_bank_keeps_the_bank_readable(own: Path) -> None:
    assert Ran("config", "set", "recall_budget", "123", "--in-bank").code == 0
    assert answer("recall", "Tern")["budget"] == 123
    assert answer("recall", "Tern", "--budget", "77")["budget"] == 77


# ---------------------------------------------------------------- processes

NEVER = {"chromadb", "ollama", "pydantic", "rich", "yaml", "charset_normalizer", "fastapi", "mcp", "httpx"}


def test_status_and_an_ingest_with_nothing_to_do_import_nothing_heavy(harbour: Path) -> None:
    for args in (["status"], ["ingest", "kbmd"]):
        assert imported(*args) & (NEVER | {"numpy", "markdown_it", "tokenizers", "pathspec"}) == set()


def test_recall_loads_no_chroma_and_a_lexical_one_no_embedder(harbour: Path) -> None:
    assert imported("recall", "Tern") & (NEVER | {"markdown_it"}) == set()
    assert imported("recall", "Tern", "--lexical") & (NEVER | {"markdown_it", "tokenizers", "safetensors"}) == set()


def test_stdout_is_the_answer_alone_whatever_the_bank_is_like(harbour: Path) -> None:
    ran = run("recall", "Tern", "--json")
    assert json.loads(ran.stdout)["schema_version"] == 1 and ran.stderr == ""


def test_a_document_cannot_drive_the_terminal(own: Path) -> None:
    (own / "kbmd" / "trap.md").write_text("# Trap\n\nThe beacon \x1b]0;owned\x07 blinks \x1b[31mred\x1b[0m.\n")
    Ran("ingest", "kbmd")
    for args in (["recall", "beacon"], ["recall", "beacon", "--format", "markdown"], ["get", "trap.md"]):
        assert "\x1b" not in Ran(*args).out and "beacon" in Ran(*args).out


def test_a_note_whose_name_is_not_unicode_is_told_of(own: Path) -> None:
    name = os.fsencode(own) + b"/kbmd/caf\xe9.md"
    with open(name, "wb") as file:
        file.write(b"# Cafe\n\nThe quay has a cafe.\n")
    report = answer("ingest", "kbmd", code=7)
    assert report["seen"] == 5
    assert Ran("ingest", "kbmd").code == 7
