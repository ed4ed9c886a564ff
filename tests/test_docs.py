"""The documents say what the code does: every command, type and term, and examples that print what is shown."""

from __future__ import annotations

import ast
import asyncio
import re
import shlex
import subprocess
from enum import StrEnum
from pathlib import Path

import pytest
import typer

import smb
from readme_examples import README, ROOT, Example, examples, prepare, run, steady
from smb.config import SETTINGS
from smb import Bank
from smb.interfaces.cli.root import ALIASES, COMMANDS, HELP, build
from smb.model.currentness import Standing
from smb.model.edges import EdgeType, NodeType
from smb.model.errors import SmbError
from smb.model.objects import MemoryType
from test_layering import PACKAGES, SOURCES, name_of, parsed

ARCHITECTURE = ROOT / "smb" / "ARCHITECTURE.md"
CHANGELOG = ROOT / "smb" / "CHANGELOG.md"
DOCUMENTS = [README, ARCHITECTURE, CHANGELOG]
INSTALL = "python3 -m venv .venv && .venv/bin/pip install -q "
WORDS = """document; source; span; passage; memory object; key; revision; transaction; valid time; recorded time; verdict;
projection; generation; closure"""  # DESIGN.md, section 1


def section(text: str, heading: str) -> str:
    """What stands under `heading` (`### Name`), up to the next heading of its level or above."""
    level = len(heading) - len(heading.lstrip("#"))
    found = re.search(rf"^{re.escape(heading)}$\n(.*?)(?=^#{{1,{level}}} |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, heading
    return found[1]


def rows(table: str) -> dict[str, str]:
    """First cell → the other cells of a markdown table, without its two head lines."""
    lines = [line for line in table.split("\n") if line.startswith("|")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in lines[2:]]
    return {first.strip("`"): " | ".join(rest) for first, *rest in cells}


def one_liners() -> list[str]:
    """The commands of README's `sh` blocks, each a single line."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", README.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert [block.count("\n") for block in blocks] == [1] * len(blocks)
    return [block.strip() for block in blocks]


# ---------------------------------------------------------------- what is there is described


def test_every_command_and_alias_is_in_the_readme() -> None:
    root = build()
    words = [*COMMANDS, *ALIASES]
    for name in COMMANDS:
        words += [f"{name} {below}" for below in getattr(root.get_command(typer.Context(root), name), "commands", {})]
    said = README.read_text("utf-8")
    described = [name for name in words if not re.search(rf"`smb {name}\b", said)]
    assert described == []


def test_the_readme_names_no_command_that_is_not_there() -> None:
    told = {found for found in re.findall(r"`smb ([a-z]+)\b", README.read_text("utf-8"))}
    assert told <= COMMANDS.keys() | ALIASES.keys()


def test_every_variable_is_in_the_readme() -> None:
    said = README.read_text("utf-8")
    assert [v for setting in SETTINGS.values() for v in setting.variables if f"`{v}`" not in said] == []


@pytest.mark.parametrize(
    ("heading", "kinds"),
    [("### Object types", MemoryType), ("### Edge types", EdgeType), ("### Node types", NodeType), ("### Standings", Standing)],
)
def test_the_glossary_has_every_value_of_the_closed_vocabularies_and_no_other(heading: str, kinds: type[StrEnum]) -> None:
    told = rows(section(ARCHITECTURE.read_text("utf-8"), heading))
    assert list(told) == [kind.value for kind in kinds]
    assert all(len(meaning) > 5 for meaning in told.values())


def test_the_glossary_fixes_the_words_of_the_design() -> None:
    told = rows(section(ARCHITECTURE.read_text("utf-8"), "### Words"))
    assert {word.strip() for word in WORDS.split(";")} <= told.keys() and all(told.values())


def test_the_import_ranks_are_those_the_layering_test_enforces() -> None:
    told = rows(section(ARCHITECTURE.read_text("utf-8"), "## Import ranks"))
    allowed = {name.split("/")[1]: cells.split(" | ")[1] for name, cells in told.items()}
    assert {name: set() if "standard library" in text else set(text.split(", ")) for name, text in allowed.items()} == PACKAGES


def test_the_changelog_ends_at_the_version() -> None:
    assert re.findall(r"^## (\S+)", CHANGELOG.read_text("utf-8"), re.MULTILINE)[0] == smb.__version__


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_every_module_says_what_it_is(path: Path) -> None:
    said = ast.get_docstring(parsed(path)) or ""
    assert said and said.splitlines()[0].endswith((".", ":")), name_of(path)


def test_the_error_tree_has_every_error_with_its_module_and_exit_code() -> None:
    """The tree in the docstring of `smb.model.errors`, against the classes in the source."""
    tree = ast.get_docstring(parsed(ROOT / "smb" / "model" / "errors.py")) or ""
    told: set[tuple[str, str, int]] = set()
    for module, names in re.findall(r"^\s*[├└]── (\S+)\s+((?:\w+(?: \(exit \d+\))?(?:, )?)+)$", tree, re.MULTILINE):
        for name, code in re.findall(r"(\w+)(?: \(exit (\d+)\))?(?:, |$)", names):
            told.add((module, name, int(code or SmbError.exit_code)))
    found: set[tuple[str, str, int]] = set()
    for path in SOURCES:
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and "SmbError" in map(ast.unparse, node.bases):
                codes = [ast.literal_eval(s.value) for s in node.body if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "exit_code"]
                module = name_of(path).removeprefix("smb/").removesuffix(".py").replace("/", ".")
                found.add((module, node.name, codes[0] if codes else SmbError.exit_code))
    assert told == found


def test_every_exit_code_of_a_failure_is_in_the_readme_and_in_the_help() -> None:
    bodies = [node.body for path in SOURCES for node in parsed(path).body if isinstance(node, ast.ClassDef)]
    codes = {ast.literal_eval(s.value) for body in bodies for s in body if isinstance(s, ast.Assign) and ast.unparse(s.targets[0]) == "exit_code"}
    assert codes == {1, 2, 6, 8}
    for text in (README.read_text("utf-8"), HELP):
        said = text.partition("Exit codes: ")[2].partition("130 interrupted")[0]
        assert codes <= {int(code) for code in re.findall(r"\b(\d) [a-z]", said)}


def test_the_phases_of_evolution_are_described_in_their_order(tmp_path: Path) -> None:
    async def names() -> list[str]:
        await Bank.init(tmp_path / "bank", git=False)
        async with Bank.open(tmp_path / "bank") as bank:
            return [phase["name"] for phase in (await bank.evolve(dry_run=True, model=True))["phases"]]

    told = rows(section(ARCHITECTURE.read_text("utf-8"), "## Three flows"))
    assert ", ".join(told).split(", ") == asyncio.run(names())


# ---------------------------------------------------------------- what is described is there


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)", document.read_text("utf-8")):
        assert target.startswith(("https://", "#")) or (document.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_files_named_in_the_text_exist(document: Path) -> None:
    text = document.read_text("utf-8")
    named = re.findall(r"`((?:smb|tests|kbmd)/[\w./-]*)`", text) + re.findall(r"^((?:smb|tests)/[\w./]+|smb\.sspec)\s{2,}\S", text, re.MULTILINE)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_map_has_ten_lines() -> None:
    shown = re.findall(r"^```\n(.*?)^```$", section(README.read_text("utf-8"), "## Where everything is"), re.MULTILINE | re.DOTALL)
    assert [block.count("\n") for block in shown] == [10]


def test_the_change_gate_runs_the_readme_s_test_command() -> None:
    """`.ci/run`'s own extraction gives the one line README shows, and that line installs and runs these tests."""
    gate = (ROOT / ".ci" / "run").read_text("utf-8")
    extraction = next(line for line in gate.splitlines() if line.startswith("command="))
    assert README.read_text("utf-8").count("<!-- the test command -->") == 1
    ran = subprocess.run(["bash", "-eu", "-c", f'{extraction}\nprintf %s "$command"'], cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == one_liners()[1]
    assert ran.stdout.startswith(INSTALL + "-e '.[dev]' && ") and "-m pytest" in ran.stdout
    assert 'bash -eu -c "${command' in gate


# ---------------------------------------------------------------- the examples


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("readme")
    prepare(where)
    return where


def test_the_examples_print_what_the_readme_shows(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a wanted change of output, `python tests/readme_examples.py` brings README up to date."""
    from shell import settle

    settle(place, monkeypatch)
    shown = examples(README.read_text("utf-8"))
    assert len(shown) >= 5
    now = [Example(one.command, steady(run(one.command, place))) for one in shown]
    assert now == [Example(one.command, steady(one.output)) for one in shown]
    first, *work = one_liners()[0].removeprefix(INSTALL).split(" && ")
    assert first == "." and len(work) == 3
    for command in work:  # on the bank the examples made
        assert shlex.split(command)[0] == ".venv/bin/smb"
        assert run(command.removeprefix(".venv/bin/"), place)
