"""Ways to run `smb` in a test: in this process, as its own process, and on a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import smb
from smb.interfaces.cli.root import application

SMB = [sys.executable, "-m", "smb"]


def settle(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in `place`, with no settings of the person who runs the tests."""
    monkeypatch.chdir(place)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(place / "xdg"))
    monkeypatch.setenv("PYTHONPATH", str(Path(smb.__file__).parents[1]))
    for variable in list(os.environ):
        if variable.startswith(("SMB_", "OLLAMA_")) or variable in ("NO_COLOR", "PYTHONUNBUFFERED"):
            monkeypatch.delenv(variable)


class Ran:
    """`smb ARGS` run in this process by typer's runner: `code`, `out`, `err`."""

    def __init__(self, *args: str | Path):
        result = CliRunner().invoke(application(), [str(a) for a in args], prog_name="smb", catch_exceptions=False)
        self.code, self.out, self.err = result.exit_code, result.stdout, result.stderr


def run(*args: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """`smb ARGS` as a process, its output captured and nothing to read."""
    words = [*SMB, *map(str, args)]
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=60, **options)


def imported(*args: str | Path) -> set[str]:
    """The top-level packages a process of `smb ARGS` has imported."""
    words = [sys.executable, "-X", "importtime", "-m", "smb", *map(str, args)]
    ran = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=60)
    return {
        line.rpartition("|")[2].strip().partition(".")[0] for line in ran.stderr.splitlines() if line.startswith("import time:")
    }


def on_a_terminal(code: str, **environ: str) -> str:
    """What a process of `code` writes to a terminal on both its streams."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "xterm", **environ}
    ):
        os.close(theirs)
        said = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # Linux says so when the other end is gone
                break
            if not part:
                break
            said += part
    os.close(ours)
    return said.decode()
