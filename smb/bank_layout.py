"""The folders and settings files of a bank on disk.

Owns what `smb init` makes and what `bank.toml` says. Never writes objects, sources or the ledger; a cloned bank's
`bank.toml` is read for data only: it can't name hosts or commands.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from smb.model.errors import SmbError
from smb.model.objects import TYPE_TO_LOCATION
from smb.stores.atomic_file import make_directory, remove_stale_temporaries, write_atomic

FORMAT = 1
FOLDERS = ("layer-0/source", "ledger", *(f"layer-{int(layer)}/{name}" for layer, name in TYPE_TO_LOCATION.values()))
_IGNORED = "# Projections and local state: made again by `smb rebuild`.\n/index/\n/usage/\n/graph.json\n.smb-*.tmp\n"
_ATTRIBUTES = (
    "# Sources and ledger are named by the hash of their bytes: no line-ending conversion, no merging line by line.\n"
    "/layer-0/** -text\n/ledger/** -text\n"
    "# Object files are rendered from the ledger: after a merge smb writes them again from what both sides know.\n"
    "/layer-[1-6]/** merge=union\n"
)


class NoBank(SmbError):
    def __init__(self, path: Path):
        super().__init__(f"There is no memory bank at {path}. Make one with `smb init {path}`, or name another with --bank DIR.")


class NotEmpty(SmbError):
    def __init__(self, path: Path):
        super().__init__(f"{path} holds files that are no memory bank. Name a new or an empty folder: `smb init DIR`.")


class BankTooNew(SmbError):
    def __init__(self, path: Path, found: object):
        super().__init__(f"The bank at {path} has format {found}; this smb knows {FORMAT}. Upgrade smb.")


class BankTomlDamaged(SmbError):
    def __init__(self, path: Path, detail: str):
        super().__init__(f"{path} can't be read ({detail}). Mend it by hand, or take the version git has: `git checkout -- {path.name}`.")


@dataclass(frozen=True, slots=True)
class BankToml:
    """What `bank.toml` says of the bank itself; settings a person may add there are `smb.config`'s.

    `authority` says who may sign how much (`smb.signing`), `profiles` how scores are weighed (`smb.recall.profiles`).
    """

    bank_id: str
    fingerprint: str = ""
    single_valued: tuple[str, ...] = ()
    authority: Mapping[str, int] = field(default_factory=dict)
    profiles: Mapping[str, Any] = field(default_factory=dict)


def make_bank(path: Path, *, git: bool = True) -> dict[str, object]:
    """Makes the folders and files of an empty bank; in one that is there already, only what is missing.

    Returns {"created": bool, "git": "own" | "around" | "none"}. Raises NotEmpty, OSError.
    """
    created = not (path / "bank.toml").exists()
    if created and path.exists() and (not path.is_dir() or any(p.name not in (".git", ".gitignore", ".gitattributes") for p in path.iterdir())):
        raise NotEmpty(path)
    make_folders(path)
    if created:
        import uuid

        write_atomic(path / "bank.toml", _toml(BankToml(str(uuid.uuid4()))).encode(), durable=True)
    for name, text in ((".gitignore", _IGNORED), (".gitattributes", _ATTRIBUTES)):
        if not (path / name).exists():
            write_atomic(path / name, text.encode(), durable=False)
    return {"created": created, "git": _repository(path) if git else "none"}


def make_folders(path: Path) -> None:
    """The folders git does not carry when they are empty."""
    for name in (*FOLDERS, "index", "usage"):
        make_directory(path / name)


def clear_leftovers(path: Path) -> int:
    """Removes what a writer that was killed left half-written; returns how many files."""
    months = sorted(p for p in (path / "ledger").iterdir() if p.is_dir()) if (path / "ledger").is_dir() else []
    return sum(remove_stale_temporaries(folder) for folder in (path, path / "index", *months, *(path / name for name in FOLDERS)) if folder.is_dir())


def read_toml(path: Path) -> BankToml:
    """Raises NoBank, BankTooNew, BankTomlDamaged."""
    file = path / "bank.toml"
    try:
        data = tomllib.loads(file.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise NoBank(path) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BankTomlDamaged(file, str(error)) from error
    if data.get("format") != FORMAT:
        raise BankTooNew(path, data.get("format"))
    tables = {name: data.get(name, {}) for name in ("embedder", "keys", "authority", "profiles")}
    if wrong := [f"[{name}]" for name, table in tables.items() if not isinstance(table, dict)]:
        raise BankTomlDamaged(file, f"{', '.join(wrong)} must be a table")
    embedder, keys, authority, profiles = tables.values()
    for name, value in authority.items():
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 100:
            raise BankTomlDamaged(file, f"[authority] {name} must be a whole number from 0 to 100")
    return BankToml(str(data.get("id", "")), str(embedder.get("fingerprint", "")), tuple(map(str, keys.get("single_valued", ()))), authority, profiles)


def fix_fingerprint(path: Path, fingerprint: str) -> None:
    """Writes the embedder's fingerprint into bank.toml, leaving every other line as it is."""
    file = path / "bank.toml"
    lines = file.read_text("utf-8").splitlines()
    said = f"fingerprint = {json.dumps(fingerprint)}"
    start = next((n for n, line in enumerate(lines) if line.strip() == "[embedder]"), None)
    if start is None:
        lines += ["", "[embedder]", said]
    else:
        end = next((n for n in range(start + 1, len(lines)) if lines[n].lstrip().startswith("[")), len(lines))
        place = next((n for n in range(start + 1, end) if lines[n].lstrip().startswith("fingerprint")), None)
        if place is None:
            lines.insert(start + 1, said)
        else:
            lines[place] = said
    write_atomic(file, ("\n".join(lines) + "\n").encode(), durable=True)


def read_places(path: Path) -> dict[str, str]:
    """Where the ingest roots lie on this machine: name → absolute path (`index/roots.json`)."""
    try:
        data = json.loads((path / "index" / "roots.json").read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return {str(name): str(place) for name, place in data.items()} if isinstance(data, dict) else {}


def write_place(path: Path, name: str, place: str) -> None:
    places = read_places(path)
    if places.get(name) != place:
        write_atomic(path / "index" / "roots.json", json.dumps(places | {name: place}, ensure_ascii=False, indent=1).encode("utf-8", "surrogateescape"), durable=False)


def _toml(bank: BankToml) -> str:
    return (
        "# A memory bank made by smb. This file travels with git; it says what the bank is, never where or how to run.\n"
        f"format = {FORMAT}\nid = {json.dumps(bank.bank_id)}\n\n"
        "[embedder]\n# Fixed at first use; `smb rebuild --vectors` changes it.\n"
        f"fingerprint = {json.dumps(bank.fingerprint)}\n\n"
        "[keys]\n# Attributes that have one value at a time.\nsingle_valued = []\n"
    )


def _repository(path: Path) -> str:
    """Makes a git repository for the bank unless one is around it; "none" where there is no git."""
    import shutil
    import subprocess  # 10 ms together, and only `init` needs them

    git = shutil.which("git")
    if git is None:
        return "none"
    inside = subprocess.run([git, "-C", str(path), "rev-parse", "--is-inside-work-tree"], capture_output=True, text=True, check=False)
    if inside.returncode == 0 and inside.stdout.strip() == "true":
        return "own" if (path / ".git").exists() else "around"
    made = subprocess.run([git, "init", "--quiet", str(path)], capture_output=True, text=True, check=False)
    return "own" if made.returncode == 0 else "none"
