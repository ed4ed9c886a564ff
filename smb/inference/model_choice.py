"""Which installed model is used: the one a person named, else the best of a short list. Never another one in silence.

Owns the list and what counts as installed. Never asks the server and never has anything fetched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from smb.inference.model_errors import ModelElsewhere, ModelMissing, NoModelInstalled

# Best first, by how well models of about 8 billion parameters keep to a JSON schema and to their source, as published; of
# one name the largest installed. Only these are chosen unasked.
PREFERRED = ("qwen3", "gemma3", "qwen2.5", "mistral-small", "phi4", "llama3.1", "mistral", "llama3.2")
SUGGESTED = "qwen3:8b"  # what to pull where nothing is there: 5 GB, runs on 8 GB of memory
EMBEDDING = "nomic-embed-text"
LARGEST = 40e9  # parameters; larger ones are used when they are named, for they may take minutes a note
_SMALLEST_FILE = 1 << 20  # what is smaller holds no weights: a pointer to a model served elsewhere
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMBT])", re.IGNORECASE)
_SCALE = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """One of /api/tags. `size` is bytes on disk, `parameters` a count (0 where the server doesn't say)."""

    name: str
    digest: str
    size: int
    family: str = ""
    parameters: float = 0.0

    @property
    def local(self) -> bool:
        """Whether its weights lie on the server's own disk."""
        return self.size >= _SMALLEST_FILE and not re.search(r"[:-]cloud$", self.name)


@dataclass(frozen=True, slots=True)
class Choice:
    """A model and why it is the one."""

    model: InstalledModel
    why: str


def full_name(name: str) -> str:
    """A name as Ollama lists it: with its tag, `latest` where none is written."""
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def named(name: str, installed: Sequence[InstalledModel], host: str) -> InstalledModel:
    """The installed model of that name. Raises ModelMissing, ModelElsewhere."""
    wanted = full_name(name).casefold()
    found = next((model for model in installed if full_name(model.name).casefold() == wanted), None)
    if found is None:
        if re.search(r"[:-]cloud$", name):
            raise ModelElsewhere(name)
        raise ModelMissing(name, host)
    if not found.local:
        raise ModelElsewhere(name)
    return found


def choose(configured: str, installed: Sequence[InstalledModel], host: str, origin: str = "the settings") -> Choice:
    """The model for words: `configured` or, when that is empty, the first of `PREFERRED` that is there.

    Raises ModelMissing, ModelElsewhere, NoModelInstalled.
    """
    if configured:
        return Choice(named(configured, installed, host), f"named by {origin}")
    for preferred in PREFERRED:
        fitting = [m for m in installed if m.local and m.parameters <= LARGEST and m.name.rpartition("/")[2].partition(":")[0] == preferred]
        if fitting:
            best = max(fitting, key=lambda m: (m.parameters, m.size, m.name))
            return Choice(best, f"none is named, and {preferred} is the first of smb's list that is installed")
    raise NoModelInstalled(host, SUGGESTED, [m.name for m in installed if m.local])


def parameters_of(text: str | None) -> float:
    """8.2e9 from "8.2B"; 0 where nothing is said."""
    found = _SIZE.search(text or "")
    return float(found[1]) * _SCALE[found[2].upper()] if found else 0.0
