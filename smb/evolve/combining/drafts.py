"""What a kind of synthesis hands over: sentences with citations, before quotes are looked up and anything is refused."""

from __future__ import annotations

from dataclasses import dataclass

from smb.evolve.snapshot import Item
from smb.evolve.combining.wording import Sentence


@dataclass(frozen=True, slots=True)
class Draft:
    """`about` are the ids that make it the same synthesis from cycle to cycle, `weight` how much it connects among its kind, `ends`
    two objects it relates that nothing related before."""

    kind: str
    about: tuple[str, ...]
    title: str
    sentences: tuple[Sentence, ...]
    weight: float
    ends: tuple[Item, Item] | tuple[()] = ()

    @property
    def cited(self) -> tuple[Item, ...]:
        return tuple(dict.fromkeys(item for sentence in self.sentences for item in sentence.cites))
