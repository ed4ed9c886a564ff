"""The command line without a bank: help, usage errors, what is imported, where words go."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import typer

import smb
from shell import SMB, Ran, imported, on_a_terminal, run, settle
from smb.interfaces.cli.root import ALIASES, COMMANDS, build

HEAVY = {"rich", "numpy", "asyncio", "sqlite3", "yaml", "chromadb", "pydantic", "ollama", "markdown_it", "tokenizers", "orjson"}


@pytest.fixture(autouse=True)
def quiet_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(tmp_path, monkeypatch)


def everything() -> list[tuple[list[str], Any]]:
    """Every command with the words that call it."""
    root = build()
    found: list[tuple[list[str], Any]] = []
    waiting = [([name], root.get_command(typer.Context(root), name)) for name in COMMANDS]
    while waiting:
        words, command = waiting.pop()
        found.append((words, command))
        waiting += [([*words, name], below) for name, below in getattr(command, "commands", {}).items()]
    return found


EVERYTHING = everything()


@pytest.mark.parametrize(("words", "command"), EVERYTHING, ids=lambda x: " ".join(x) if isinstance(x, list) else "")
def test_every_command_says_what_it_does_and_so_does_each_of_its_parameters(words: list[str], command: Any) -> None:
    assert command.help and command.help.splitlines()[0].endswith(".")
    assert [p.name for p in command.params if not getattr(p, "help", None)] == []
    ran = Ran(*words, "--help")
    assert (ran.code, ran.err) == (0, "") and command.help.splitlines()[0] in ran.out


@pytest.mark.parametrize("words", [w for w, c in EVERYTHING], ids=" ".join)
def test_every_command_takes_bank_json_and_debug(words: list[str]) -> None:
    helped = Ran(*words, "--help").out
    assert all(option in helped for option in ("--bank", "--json", "--debug"))


def test_the_summaries_of_the_table_are_the_commands_own() -> None:
    commands = {words[0]: command for words, command in EVERYTHING if len(words) == 1}
    assert {name: summary for name, (_, summary) in COMMANDS.items()} == {
        name: commands[name].help.splitlines()[0] for name in COMMANDS
    }


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_is_the_command(alias: str) -> None:
    assert Ran(alias, "--help").out.replace(f"smb {alias}", "smb recall") == Ran("recall", "--help").out


@pytest.mark.parametrize(
    "args",
    [
        ["no-such-command"],
        ["recall"],
        ["recall", ""],
        ["recall", "  "],
        ["recall", "x", "-n", "0"],
        ["recall", "x", "-n", "two"],
        ["recall", "x", "--format", "xml"],
        ["recall", "x", "--type", "clam"],
        ["recall", "x", "--layer", "7"],
        ["recall", "x", "--min-score", "nan"],
        ["recall", "x", "--no-such-option"],
        ["ingest", "--max-size", "big"],
        ["ingest", "--lock-timeout", "-3"],
        ["get"],
        ["graph", "path", "a"],
        ["graph", "walk"],
        ["status", "--bank"],
        ["config", "get", "nothing"],
        ["config", "set", "nothing", "1"],
    ],
    ids=" ".join,
)
def test_a_usage_error_is_one_line_on_stderr_and_exit_2(args: list[str]) -> None:
    ran = Ran(*args)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("smb: ") and ran.err.count("\n") == 1


def test_a_misspelt_command_is_told_its_neighbour() -> None:
    assert "recall" in Ran("recal", "x").err


@pytest.mark.parametrize("args", [[], ["graph"]])
def test_no_command_shows_the_help_as_a_usage_error(args: list[str]) -> None:
    ran = Ran(*args)
    assert (ran.code, ran.out) == (2, "") and ran.err.startswith("Usage: smb")


def test_a_bank_that_is_not_there_is_an_error_that_says_what_to_do() -> None:
    ran = Ran("status", "--bank", "nowhere")
    assert (ran.code, ran.out) == (1, "")
    assert "nowhere" in ran.err and "smb init" in ran.err


@pytest.mark.parametrize(
    ("args", "bank"),
    [
        (["--bank", "a", "config", "get", "bank_dir"], "a"),
        (["config", "get", "bank_dir", "--bank", "b"], "b"),
        (["config", "--bank", "c", "get", "bank_dir"], "c"),
        (["--bank", "a", "config", "--bank", "c", "get", "bank_dir", "--bank", "d"], "d"),
        (["config", "get", "bank_dir"], "memory-bank"),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_the_bank_is_named_before_or_after_the_command_and_the_nearest_wins(args: list[str], bank: str) -> None:
    assert Ran(*args).out.strip() == bank


@pytest.mark.parametrize(
    "args",
    [
        ["--json", "config"],
        ["config", "--json"],
        ["--json", "config", "get", "api_port"],
        ["config", "get", "api_port", "--json"],
    ],
)
def test_json_is_asked_for_before_or_after_the_command(args: list[str]) -> None:
    assert json.loads(Ran(*args).out)["schema_version"] == 1


def test_config_shows_where_each_value_comes_from(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMB_API_PORT", "8123")
    assert Ran("config", "set", "ollama_model", "tiny").code == 0
    settings = json.loads(Ran("config", "--json").out)["settings"]
    assert (settings["api_port"]["value"], settings["api_port"]["origin"]) == (8123, "SMB_API_PORT")
    assert settings["ollama_model"]["value"] == "tiny" and settings["ollama_model"]["origin"].endswith("xdg/smb/config.toml")
    assert settings["api_host"] == {"value": "127.0.0.1", "origin": "default", "about": settings["api_host"]["about"]}


def test_a_broken_settings_file_is_named_and_can_be_mended_by_config_set(tmp_path: Path) -> None:
    (tmp_path / "xdg" / "smb").mkdir(parents=True)
    (tmp_path / "xdg" / "smb" / "config.toml").write_text("api_port = 'many'\n")
    broken = Ran("config")
    assert broken.code == 1 and "config.toml" in broken.err and "api_port" in broken.err
    assert Ran("config", "set", "api_port", "9000").code == 0
    assert Ran("config", "get", "api_port").out == "9000\n"


# ---------------------------------------------------------------- processes


@pytest.mark.parametrize(
    "args", [["--help"], ["recall", "--help"], ["config"], ["config", "get", "api_port"], ["recall", ""]], ids=" ".join
)
def test_help_and_settings_import_nothing_heavy(args: list[str]) -> None:
    assert imported(*args) & HEAVY == set()


def test_the_version_does_not_even_import_typer() -> None:
    assert imported("--version") & (HEAVY | {"typer", "inspect", "dataclasses"}) == set()
    assert run("--version").stdout == f"smb {smb.__version__}\n"
    asked = Ran("--version", "--json")
    assert (asked.code, asked.out, asked.err) == (0, f"smb {smb.__version__}\n", "")


@pytest.mark.bench
@pytest.mark.parametrize("args", [["--help"], ["--version"], ["recall", "--help"]], ids=" ".join)
def test_help_takes_an_eighth_of_a_second(args: list[str]) -> None:
    def seconds() -> float:
        started = time.perf_counter()
        run(*args)
        return time.perf_counter() - started

    assert min(seconds() for _ in range(10)) <= 0.12


def test_importing_smb_is_cheap_and_an_unknown_name_is_an_attribute_error() -> None:
    code = "import sys, smb; print(sorted(m for m in sys.modules if m.startswith('smb'))); hasattr(smb, 'Bunk') and 1/0"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "['smb']\n"


@pytest.mark.parametrize(
    ("args", "code"),
    [(["config"], 0), (["--version"], 0), (["--help"], 1)],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_a_reader_that_leaves_early_hears_no_complaint(args: list[str], code: int) -> None:
    process = subprocess.Popen([*SMB, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout and process.stderr
    process.stdout.close()
    assert (process.stderr.read(), process.wait()) == (b"", code)
    process.stderr.close()


def test_without_a_stdout_nothing_breaks() -> None:
    ran = subprocess.run(f"{' '.join(SMB)} config >&-", shell=True, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_an_unexpected_fault_is_one_line_and_a_traceback_only_with_debug(capsys: pytest.CaptureFixture[str]) -> None:
    root = build()
    try:
        raise KeyError("who\nknows")
    except KeyError as error:
        assert error.__traceback__
        root.report_unexpected(KeyError, error, error.__traceback__)
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and "KeyError" in said and "--debug" in said
        root.debug = True
        root.report_unexpected(KeyError, error, error.__traceback__)
        assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("args", [["--debug", "status"], ["status", "--debug"]], ids=" ".join)
def test_debug_shows_the_traceback_of_an_expected_error_too(args: list[str]) -> None:
    ran = run(*args)
    assert ran.returncode == 1 and "Traceback" in ran.stderr and ran.stderr.splitlines()[-1].startswith("smb: ")
    assert "Traceback" not in run("status").stderr


CONFIG = "import sys; sys.argv = ['smb', 'config']; from smb.interfaces.cli.app import main; main()"


def test_a_terminal_gets_colour_unless_no_color_is_set_and_a_pipe_gets_none() -> None:
    assert "\x1b[" in on_a_terminal(CONFIG)
    assert "\x1b[" not in on_a_terminal(CONFIG, NO_COLOR="1")
    assert "\x1b[" not in run("config").stdout


WORK = """
import sys, time
from smb.interfaces.cli import progress
from smb.interfaces.cli.page import Page
progress.PATIENCE = {patience}
with progress.Progress(Page(sys.stderr, True)) as tell:
    for done in range(5):
        tell("reading", done, 5)
        time.sleep(0.05)
print("rich" in sys.modules)
"""


def test_a_bar_appears_on_a_terminal_once_the_work_is_long_and_never_in_a_pipe() -> None:
    long = on_a_terminal(WORK.format(patience=0.0))
    assert "reading" in long and long.rstrip().endswith("True")
    short = on_a_terminal(WORK.format(patience=60.0))
    assert short.strip() == "False"
    piped = subprocess.run([sys.executable, "-c", WORK.format(patience=0.0)], capture_output=True, text=True, check=True)
    assert (piped.stdout, piped.stderr) == ("False\n", "")
