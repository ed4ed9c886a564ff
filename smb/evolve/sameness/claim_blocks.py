"""Which claims may be one proposition.

Owns blocking: claims whose sentences have the same words whatever their order, or the same but for a word no dictionary has, or one key
and one value. Never decides anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from smb.evolve.sameness.claim_form import skeleton, words_of_claim
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.language.word_forms import is_word, slips_among
from smb.model.english import STOP_WORDS
from smb.model.measure import value_of
from smb.stores.catalog import Catalog

WIDEST = 48  # claims under one key; a key of more tells nothing
FEW = 256  # changed claims up to which their words are looked up; of more the whole bank is read
ASKED = 4  # words of a claim that are looked up together
MET = 64  # claims one look-up gives

Pair = tuple[str, str]


async def claim_pairs(snapshot: Snapshot, items: Mapping[str, Item]) -> list[Pair]:
    """Pairs (a < b) of claims worth comparing, one of them changed since the phase last looked, sorted."""
    fresh = {i for i, item in items.items() if snapshot.is_new(item)}
    if not fresh:
        return []
    looked_at = set(items)
    if len(fresh) <= FEW:
        looked_at = fresh | {i for i in await _with_words_of(snapshot.catalog, [items[i] for i in sorted(fresh)]) if i in items}
    words = {i: words_of_claim(items[i].title) for i in sorted(looked_at)}
    slips = slips_among(w for told in words.values() for w in told)
    blocks: dict[tuple[str, ...], list[str]] = {}
    for i, told in words.items():
        for key in _keys(items[i], told, slips):
            blocks.setdefault(key, []).append(i)
    pairs = {(a, b) for members in blocks.values() if 1 < len(members) <= WIDEST for n, a in enumerate(members) for b in members[n + 1:] if a in fresh or b in fresh}
    return sorted(pairs)


def _keys(item: Item, words: tuple[str, ...], slips: Mapping[str, str]) -> set[tuple[str, ...]]:
    keys = {("words", *skeleton(words))}
    if any(w in slips for w in words):
        keys.add(("words", *skeleton(slips.get(w, w) for w in words)))
    if item.attribute:
        value = value_of(item.value)
        keys.add(("key", item.subject, item.attribute, value.kind, value.form))
    return keys


async def _with_words_of(catalog: Catalog, claims: Iterable[Item]) -> set[str]:
    """Ids of claims that have the longest dictionary words of one of `claims`, or its key."""
    found: set[str] = set()
    for claim in claims:
        plain = {w for w in words_of_claim(claim.title) if w.isascii() and w.isalpha() and len(w) > 2 and w not in STOP_WORDS and is_word(w)}
        if words := sorted(plain, key=lambda w: (-len(w), w))[:ASKED]:
            rows = await catalog.fetch(
                "SELECT o.id FROM objects_fts f JOIN memory_objects o ON o.rowid = f.rowid WHERE objects_fts MATCH ? AND o.type = 'claim' ORDER BY f.rowid LIMIT ?",
                ("title : (" + " AND ".join(f'"{w}"' for w in words) + ")", MET))
            found |= {row["id"] for row in rows}
        if claim.attribute:
            rows = await catalog.fetch(
                "SELECT id FROM memory_objects WHERE subject = ? AND attribute = ? AND attribute != '' LIMIT ?", (claim.subject, claim.attribute, MET))
            found |= {row["id"] for row in rows}
    return found
