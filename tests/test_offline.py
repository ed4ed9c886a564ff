"""Nothing leaves the machine: the main job runs with every connection an end of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shell import settle
from worlds import WORKSHOP, write

WATCH = """
import os, sys

def watch(event, args):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.sendto") or event in ("socket.connect", "socket.bind") and isinstance(args[1], tuple):
        os.write(2, f"NETWORK {event} {args[1:]}\\n".encode())
        os._exit(99)

sys.addaudithook(watch)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of notes, and Python processes that end at the first address they look up, connect to or bind."""
    settle(tmp_path, monkeypatch)
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch" / "sitecustomize.py").write_text(WATCH)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path / 'watch'}{os.pathsep}{os.environ['PYTHONPATH']}")
    write(tmp_path / "kbmd", WORKSHOP)
    return tmp_path


def test_no_command_opens_a_connection(place: Path) -> None:
    """Ingest with the Chroma mirror, recall with embeddings, evolve, undo, rebuild, doctor: all with the network out of reach."""
    for words in (["init", "bank"], ["ingest", "kbmd", "--sync"], ["recall", "what", "is", "the", "loom"], ["evolve"], ["conflicts"],
                  ["undo", "--yes"], ["rebuild", "--vectors"], ["doctor"], ["status"]):
        options = ["--bank", "bank"] if words[0] != "init" else []
        ran = subprocess.run([sys.executable, "-m", "smb", *words, *options], cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False, timeout=120)
        assert ran.returncode in (0, 7) and "NETWORK" not in ran.stderr, (words, ran.stderr)


def test_the_watch_sees_a_connection(place: Path) -> None:
    """What the test above rests on."""
    for code in ("socket.create_connection(('127.0.0.1', 9))", "socket.socket().connect(('127.0.0.1', 9))", "socket.getaddrinfo('localhost', 80)"):
        assert subprocess.run([sys.executable, "-c", f"import socket; {code}"], check=False, capture_output=True, timeout=20).returncode == 99
