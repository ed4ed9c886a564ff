"""Sovereign Memory Bank: a local-first memory bank of plain markdown for people and their agents.

`from smb import Bank` is the whole Python API; it is loaded when asked for, so that importing `smb` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from smb.bank import Bank

__all__ = ["Bank", "__version__"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name != "Bank":
        raise AttributeError(f"module 'smb' has no attribute {name!r}")
    from smb.bank import Bank

    return Bank
