"""The shape of the source: what may import what, and the house rules a machine can check (STYLE.md, DESIGN.md section 7)."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "smb").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
PACKAGES = {  # package → the packages it may import besides itself (DESIGN.md, section 7)
    "model": set(),
    "stores": {"model"},
    "inference": {"model"},
    "ingest": {"model", "stores", "inference"},
    "recall": {"model", "stores", "inference"},
    "evolve": {"model", "stores", "inference"},
    "interfaces": {"model", "bank", "config", "version"},
}
BELOW = {"model", "stores", "inference"}
COMPOSITION = ("config", "bank_layout", "embedding", "writer", "vector_work", "keys", "authoring", "projections", "usage", "signing", "conflicts", "lookup", "embeds", "models", "model_work", "health", "evolution", "undoing", "asking")  # each may import those before it
ROOT_MODULES = {  # the row of `smb/config.py` and `smb/bank.py`: the composition root and what it is split into
    **{name: BELOW | set(COMPOSITION[:rank]) for rank, name in enumerate(COMPOSITION)},
    **{name: BELOW | set(COMPOSITION) | {"evolve"} for name in ("evolution", "undoing", "conflicts")},
    "bank": BELOW | set(COMPOSITION) | {"ingest", "recall", "evolve"},
    "version": {"bank"},  # smb/__init__.py
    "__main__": {"interfaces"},
}
FORBIDDEN_NAMES = {"util", "utils", "helper", "helpers", "common", "base", "misc", "manager", "shared"}
NETWORK = {"socket", "ssl", "http", "urllib.request", "urllib3", "requests", "httpx", "aiohttp", "websockets", "ftplib", "smtplib",
           "poplib", "imaplib", "telnetlib", "xmlrpc", "socketserver", "ollama", "huggingface_hub", "grpc"}
ONLY_IN = {  # a heavy library → the modules that may name it; all import it inside the function that needs it, or are imported late
    "chromadb": {"smb/stores/vectors.py", "smb/inference/minilm_download.py"},
    "yaml": {"smb/stores/object_file.py", "smb/ingest/front_matter.py"},
    "markdown_it": {"smb/ingest/segment.py", "smb/ingest/inline.py"},
    "charset_normalizer": {"smb/ingest/read.py"},
    "pathspec": {"smb/ingest/scan.py"},
    "tokenizers": {"smb/inference/static_embedder.py", "smb/inference/minilm_embedder.py"},
    "rich": {"smb/interfaces/cli/progress.py"},
    "igraph": {"smb/evolve/grouping/partition.py"},
    "snowballstemmer": {"smb/evolve/language/terms.py", "smb/evolve/language/stems.py"},
}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def unit_of(path: Path) -> str:
    """The package a source file belongs to, or its own name where it lies directly under `smb/`."""
    first = path.relative_to(ROOT / "smb").parts[0]
    return "version" if first == "__init__.py" else first.removesuffix(".py")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), filename=str(path))


def statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those that only a type checker runs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for other in node.orelse:
                yield other
                yield from statements(other)
            continue
        yield node
        yield from statements(node)


@cache
def imports(path: Path) -> frozenset[str]:
    """Dotted names of the modules a file imports at run time, anywhere in it; `from a import b` counts as `a` and `a.b`."""
    found: set[str] = set()
    for node in statements(parsed(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)}:{node.lineno} imports relatively"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(found)


def units_imported(path: Path) -> set[str]:
    """The units of `smb` a file imports."""
    found = set()
    for name in imports(path):
        if name == "smb.__version__":
            found.add("version")
        elif name == "smb.Bank":
            found.add("bank")
        elif name.startswith("smb."):
            found.add(name.split(".")[1])
    return found


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_imports_point_down_only(path: Path) -> None:
    unit = unit_of(path)
    ranked = PACKAGES | ROOT_MODULES
    assert unit in ranked, f"give {unit} a rank here and in smb/ARCHITECTURE.md"
    assert units_imported(path) <= ranked[unit] | {unit}


def test_recall_uses_of_inference_only_the_embedder() -> None:
    for path in (ROOT / "smb" / "recall").rglob("*.py"):
        used = {name.split(".")[2] for name in imports(path) if name.startswith("smb.inference.")}
        assert used <= {"embedder"}, name_of(path)


@pytest.mark.parametrize("path", sorted((ROOT / "smb" / "model").rglob("*.py")), ids=name_of)
def test_the_model_imports_only_the_standard_library(path: Path) -> None:
    assert {name.split(".")[0] for name in imports(path)} <= set(sys.stdlib_module_names) | {"smb"}


def test_the_model_has_no_clock_no_randomness_and_no_files() -> None:
    outside = {"os", "io", "pathlib", "random", "uuid", "secrets", "time", "socket", "subprocess", "tempfile", "shutil", "sqlite3", "asyncio"}
    for path in (ROOT / "smb" / "model").rglob("*.py"):
        assert {name.split(".")[0] for name in imports(path)} & outside == set(), name_of(path)
        called = {ast.unparse(node.func) for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)}
        assert {c for c in called if re.fullmatch(r"open|print|input|.*\b(?:now|utcnow|today)", c)} == set(), name_of(path)


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_only_config_reads_the_environment(path: Path) -> None:
    read = {f"{node.value.id}.{node.attr}" for node in ast.walk(parsed(path)) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)}
    read = read & {"os.environ", "os.environb", "os.getenv", "os.getenvb", "os.putenv"} | imports(path) & {"os.environ", "os.getenv"}
    assert read == set() or name_of(path) == "smb/config.py"


@pytest.mark.parametrize("path", [p for p in SOURCES if unit_of(p) != "interfaces"], ids=name_of)
def test_only_interfaces_write_to_the_streams(path: Path) -> None:
    tree = parsed(path)
    assert [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id in ("print", "input")] == []
    assert [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Attribute) and ast.unparse(n) in ("sys.stdout", "sys.stderr", "sys.stdin")] == []


@pytest.mark.parametrize("path", SOURCES + TESTS, ids=name_of)
def test_a_file_is_named_for_what_it_defines_and_is_short(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    assert {word for part in parts for word in part.split("_")} & FORBIDDEN_NAMES == set()
    lines = path.read_text("utf-8").count("\n")
    assert lines <= 400


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_what_is_caught_is_named(path: Path) -> None:
    """No `except Exception`; a `BaseException` only to put something right and raise it again."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ExceptHandler):
            caught = ast.unparse(node.type) if node.type else ""
            assert caught and not re.search(r"\bException\b", caught), f"line {node.lineno}"
            if "BaseException" in caught:
                assert isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None, f"line {node.lineno}"


@pytest.mark.parametrize("path", [p for p in SOURCES if unit_of(p) != "inference"], ids=name_of)
def test_only_inference_may_open_a_connection(path: Path) -> None:
    """`smb/interfaces/http` will listen; it may import a server, never a client."""
    names = imports(path)
    assert {n for n in names if any(n == net or n.startswith(net + ".") for net in NETWORK)} == set()
    assert {n for n in names if n in ("asyncio.open_connection", "asyncio.start_server")} == set()


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_heavy_libraries_have_one_home(path: Path) -> None:
    used = {name.split(".")[0] for name in imports(path)}
    assert {library for library in used & ONLY_IN.keys() if name_of(path) not in ONLY_IN[library]} == set()


def test_chroma_is_imported_where_it_is_used_and_not_before() -> None:
    for path in SOURCES:
        top = {alias.name for node in parsed(path).body if isinstance(node, ast.Import) for alias in node.names}
        top |= {node.module or "" for node in parsed(path).body if isinstance(node, ast.ImportFrom)}
        assert {name.split(".")[0] for name in top} & {"chromadb", "rich", "ollama", "charset_normalizer", "pathspec"} == set(), name_of(path)


def test_every_library_imported_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    modules = {"pyyaml": "yaml", "markdown-it-py": "markdown_it", "pyspellchecker": "spellchecker"}

    def declared(wanted: list[str]) -> set[str]:
        names = {re.match(r"[A-Za-z0-9-]+", text)[0].lower() for text in wanted}  # type: ignore[index]
        return {modules.get(name, name.replace("-", "_")) for name in names}

    own = {path.stem for path in TESTS} | {"smb"}
    needed = declared(project["dependencies"])
    used = {name.split(".")[0] for path in SOURCES for name in imports(path)}
    assert used - set(sys.stdlib_module_names) - {"smb", "__future__"} <= needed
    used = {name.split(".")[0] for path in TESTS for name in imports(path)}
    assert used - set(sys.stdlib_module_names) - own <= needed | declared(project["optional-dependencies"]["dev"])
