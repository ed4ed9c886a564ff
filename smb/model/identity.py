"""Ids and the foldings they rest on.

Owns how a name, a proposition or bytes become an id. Never uses a clock, a host name or a random value, so the same
note gives the same ids in every clone.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable

_SEPARATORS = re.compile(r"[\s_\-‐-―/]+")
_EDGE_MARKS = " \t\r\n.,;:!?\"'`*_~()[]{}<>«»“”‘’。、，；：！？「」"
_MARKUP = re.compile(r"[*_`~]+|\[\[|\]\]")
SLUG_BYTES = 72


def sha256_hex(data: bytes) -> str:
    """64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def short_hash(*parts: str, digits: int = 12) -> str:
    """The first `digits` hex digits of sha256 over the parts, each ended by U+001F so that ("a", "bc") != ("ab", "c")."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:digits]


def fold(name: str) -> str:
    """A name as compared: NFKC, case folded, hyphens, underscores, slashes and white space as one space.

    >>> fold("  Slow-Cooling ") == fold("slow cooling")
    True
    """
    if name.isascii():
        folded = _SEPARATORS.sub(" ", name.lower()).strip(_EDGE_MARKS)
    else:
        folded = _SEPARATORS.sub(" ", unicodedata.normalize("NFKC", name).casefold()).strip(_EDGE_MARKS)
    return folded or name.strip()


def fold_proposition(text: str) -> str:
    """A sentence as compared: as `fold`, with inline markup dropped and the inner punctuation kept."""
    text = _MARKUP.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.casefold().split()).strip(_EDGE_MARKS) or text.strip()


def slugify(text: str) -> str:
    """A file-name-safe rendering of `text`, letters of every script kept, at most `SLUG_BYTES` bytes; never empty.

    Lossy on purpose: the id beside it in a file name is the identity.
    """
    kept = (c if c.isalnum() or c == "_" or unicodedata.category(c)[0] == "M" else "-" for c in unicodedata.normalize("NFC", text).casefold()[:400])
    slug = re.sub("-{2,}", "-", "".join(kept)).strip("-_")
    raw = slug.encode("utf-8", "ignore")
    if len(raw) > SLUG_BYTES:
        slug = raw[:SLUG_BYTES].decode("utf-8", "ignore").rstrip("-_")
    return slug or "untitled"


def object_id(type_: str, identity: str) -> str:
    """12 hex digits for a memory object of `type_` with the given identity key (DESIGN.md, section 2)."""
    return short_hash(type_, identity)


def relationship_identity(source: str, edge: str, target: str) -> str:
    """The identity key of the relationship that states an edge of type `edge` between two objects."""
    return f"{source} {edge} {target}"


def document_id(root: str, path: str, nth: int = 1) -> str:
    """12 hex digits for the `nth` document born at `path` (relative, POSIX) under the ingest root named `root`."""
    return short_hash("document", root, path, str(nth))


def embedding_id(id_: str) -> str:
    return f"emb-{id_}"


def graph_node_id(id_: str) -> str:
    return f"mem-{id_}"


def generation_of(transaction_ids: Iterable[str]) -> str:
    """The generation of a ledger: 16 hex digits over its sorted transaction ids; equal where the ledgers are equal."""
    return hashlib.sha256("\n".join(sorted(transaction_ids)).encode()).hexdigest()[:16]
