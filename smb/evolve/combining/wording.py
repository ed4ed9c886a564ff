"""Sentences that carry their citations.

Owns the form of what evolution says: each sentence ends with links to the objects it rests on, and a sentence whose figures
stand in none of their quotes is not said. Never decides what is worth saying.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.snapshot import Item, wikilink
from smb.model.evidence import Span

_FIGURE = re.compile(r"\d+")
_SENTENCE_END = " .。;,:"
SHOWN = 220  # characters of a quoted sentence


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` without its full stop; `cites` at least one object, `bullet` whether it is one of a list, `spans` quotes it rests on
    that are none of the objects' own."""

    text: str
    cites: tuple[Item, ...]
    bullet: bool = False
    spans: tuple[Span, ...] = ()


def said(sentence: Sentence, named: Mapping[str, str]) -> str:
    """One line: the sentence, its links, a full stop. `named`: object → what its link shows (the title of its document); of two
    links that show the same the first is set."""
    shown = {named.get(item.id, item.title): item.page for item in reversed(sentence.cites)}
    links = ", ".join(wikilink(page, title) for title, page in reversed(shown.items()))
    contested = "contested: " if any(item.contested for item in sentence.cites) else ""
    return f"{'- ' if sentence.bullet else ''}{sentence.text.rstrip(_SENTENCE_END)} ({contested}{links})."


def page(sentences: Sequence[Sentence], named: Mapping[str, str]) -> str:
    """The sentences as a page: those of a list on lines of their own, the others as paragraphs."""
    lines: list[str] = []
    for n, sentence in enumerate(sentences):
        if n and not (sentence.bullet and sentences[n - 1].bullet):
            lines.append("")
        lines.append(said(sentence, named))
    return "\n".join(lines)


def quoted(text: str) -> str:
    """`text` in quotation marks, shortened at a word where it is long."""
    text = " ".join(text.split()).rstrip(_SENTENCE_END)
    if len(text) > SHOWN:
        head = text[:SHOWN]
        text = f"{head[: head.rfind(' ')] if ' ' in head[SHOWN // 2:] else head}…"
    return f"“{text}”"


def listed(words: Sequence[str], joint: str = "and") -> str:
    """“a”, “a and b”, “a, b and c”."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {joint} {words[-1]}"


def grounded(sentence: Sentence, known: Iterable[str]) -> bool:
    """Whether every figure of a sentence stands in one of the texts `known` of what it cites."""
    return set(_FIGURE.findall(sentence.text)) <= {figure for text in known for figure in _FIGURE.findall(text)}
