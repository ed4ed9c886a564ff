"""`smb.sspec`: every promise has an id, a status, and where it is met the tests that prove it."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
ITEMS: list[dict[str, Any]] = yaml.safe_load((ROOT / "smb.sspec").read_text("utf-8"))
KINDS = {"requirement", "constraint", "acceptance", "test", "performance", "security", "nonfunctional"}
LEFT_OUT = re.compile(r"mark\.(?:slow|bench|model|skip|skipif|xfail)\b")  # by the test command, or by the machine it runs on
by_id = pytest.mark.parametrize("item", ITEMS, ids=lambda item: item["id"])


@cache
def runs_of(path: str) -> dict[str, bool]:
    """Test name → whether the test command runs it, for one file."""
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    whole = [ast.unparse(node.value) for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark"]
    found = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test"):
            marks = [*whole, *map(ast.unparse, node.decorator_list)]
            first = ast.unparse(node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0])
            found[node.name] = not any(LEFT_OUT.search(mark) for mark in marks) and not first.startswith("pytest.skip")
    return found


def test_the_file_is_a_list_of_items_with_ids_of_their_own() -> None:
    assert [item["id"] for item in ITEMS] == list(dict.fromkeys(item["id"] for item in ITEMS))
    assert len(ITEMS) > 40


@by_id
def test_an_item_is_well_formed(item: dict[str, Any]) -> None:
    assert list(item) == ["id", "kind", "text", "status", "tests"]
    assert re.fullmatch(r"[RCATPSN]-[A-Z]{3}-\d\d", item["id"])
    assert item["kind"] in KINDS and item["id"][0] == item["kind"][0].upper()
    assert item["text"].endswith(".") and len(item["text"]) > 20
    assert len(item["tests"]) == len(set(item["tests"]))


@by_id
def test_what_is_met_is_proved_and_what_is_planned_is_not_claimed(item: dict[str, Any]) -> None:
    assert item["status"] in ("met", "partial", "planned")
    assert bool(item["tests"]) == (item["status"] != "planned")


@pytest.mark.parametrize("named", sorted({name for item in ITEMS for name in item["tests"]}))
def test_every_test_named_exists_and_runs(named: str) -> None:
    path, _, name = named.partition("::")
    assert (ROOT / path).is_file(), path
    assert name in runs_of(path), named
    assert runs_of(path)[name], f"{named} is left out of the test command"


def test_every_test_file_proves_something_promised() -> None:
    files = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    assert files - {name.partition("::")[0] for item in ITEMS for name in item["tests"]} == set()
