"""The command that comes next, as a person may copy it."""

from __future__ import annotations

import shlex
from pathlib import Path

DEFAULT_BANK = Path("memory-bank")


def bank_option(bank: Path) -> str:
    """The ` --bank DIR` that names this bank; empty for the default one."""
    return "" if bank == DEFAULT_BANK else f" --bank {shlex.quote(str(bank))}"
