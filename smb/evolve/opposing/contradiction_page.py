"""How a contradiction reads: its title, its page and its question.

Owns the wording. Says nothing that the two sides, their quotes and the reasons do not say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from smb.evolve.opposing.opposed_claims import UNNAMED
from smb.evolve.snapshot import wikilink
from smb.model.disagreement import Disagreement, Settled
from smb.model.evidence import Span
from smb.model.objects import MemoryObject, Status

SIDE = 70  # letters of a sentence in a title
QUOTE = 300  # letters of a quote
QUOTES = 3  # quotes of one claim that are shown
SHARED = 2  # words two sentences must begin with in common to be told as one
DIFFERENT = 6  # words of what then differs
_HOW = {
    "dismissed": "it is no contradiction", "merged": "both sides are one claim now", "same": "it is the same disagreement as another one",
}


@dataclass(frozen=True, slots=True)
class Voice:
    """A claim of one side: the object, and its quotes with where each stands (`path:line`)."""

    claim: MemoryObject
    quotes: tuple[tuple[Span, str], ...]

    @property
    def holds(self) -> bool:
        return self.claim.status in (Status.ACTIVE, Status.CONTESTED)

    @property
    def link(self) -> str:
        return wikilink(self.claim.location.rpartition("/")[2].removesuffix(".md"), self.claim.title)


def title_of(d: Disagreement, one: MemoryObject, other: MemoryObject, subject: str = "") -> str:
    """What two claims disagree about, as a question. `subject` is the title of what both are about."""
    values = d.reasons[0].rstrip(".").split(" against ") if d.kind in ("number", "date", "value") and len(d.reasons) == 1 else []
    if one.key and one.key == other.key and one.value and other.value:
        about, attribute = subject or _capital(one.key[0]), one.key[1]
        named = about if attribute in about.lower() else f"{about} {attribute}"
        return f"{named}: {_plain(one.value)} or {_plain(other.value)}?"
    measured = max((_attribute(o) for o in (one, other)), key=len)
    if subject and measured and len(values) == 2 and not any("“" in v for v in values):
        ordered = values if one.title < other.title else values[::-1]  # the reason names the two in the order of their words
        return f"{subject}, {measured}: {ordered[0]} or {ordered[1]}?"
    mine, theirs = _plain(one.title), _plain(other.title)
    return _woven(mine, theirs) or "“{}” or “{}”?".format(*map(_short, _parted(mine, theirs)))


def question_of(title: str) -> str:
    return f"Which holds: {title}" if title.startswith("“") else f"Which holds? {title}"


def body_of(d: Disagreement, voices: Mapping[str, Voice], settled: Settled | None, question: str) -> str:
    """The page: both sides with their quotes, why they can't both hold, and how it stands."""
    kept = voices[settled.decision.keep].claim.title if settled and settled.decision and settled.decision.keep in voices else ""
    lines = ["Two statements that can't both hold:", ""]
    for n, side in enumerate((d.one, d.other)):
        if n:
            lines += ["", "against", ""]
        lines += _side([voices[i] for i in side if i in voices])
    reasons = "; ".join(r.rstrip(".") for r in d.reasons if not r.startswith("“"))  # one that quotes both sentences says nothing new
    lines += ["", f"{_KINDS.get(d.kind, 'They exclude each other')}{': ' if reasons else ''}{reasons}.", "", state_of(settled, question, kept)]
    return "\n".join(lines)


def state_of(settled: Settled | None, question: str = "", kept: str = "") -> str:
    """One sentence on how a disagreement stands; `kept` is the sentence a person kept."""
    if settled is None:
        return f"Open: {question}" if question else "Open."
    who = f" by {settled.by}" if settled.decision else ""
    if settled.how == "kept":
        what = f"“{_short(_plain(kept))}” holds" if kept else "one side holds"
    elif settled.how == "both" and settled.decision is not None:
        what = f"both hold, {settled.decision.scopes[0]} and {settled.decision.scopes[1]}"
    else:
        what = _HOW.get(settled.how) or f"one side is {settled.how}"
    why = f" ({settled.reason.rstrip('.')})" if settled.reason and settled.how not in ("merged", "same") else ""
    return f"Settled{who}: {what}{why}."


_KINDS = {
    "number": "The figures differ", "date": "The dates differ", "negation": "One denies what the other says", "antonym": "They say opposites",
    "state": "They name two states", "value": "They give two values", "quantifier": "They differ in how much it holds for",
}


def _side(voices: Sequence[Voice]) -> list[str]:
    lines: list[str] = []
    partly = any(voice.holds for voice in voices)  # a side that is gone altogether is told of below
    for voice in voices:
        said = f" (said by {voice.claim.attributed_to})" if voice.claim.attributed_to else ""
        said += " (no longer so)" if partly and not voice.holds else ""
        places = ", ".join(place for span, place in voice.quotes[:QUOTES] if _plain(span.quote) == _plain(voice.claim.title))
        lines.append(f"- {voice.link}{said}{' — ' if places else ''}{places}")
        for span, place in voice.quotes[:QUOTES]:
            if (quote := _plain(span.quote)) != _plain(voice.claim.title):
                lines.append(f"  > {quote if len(quote) <= QUOTE else quote[: QUOTE - 1] + '…'} — {place}")
        if len(voice.quotes) > QUOTES:
            lines.append(f"  and {len(voice.quotes) - QUOTES} more")
    return lines


def _woven(one: str, other: str) -> str:
    """ "The shop is open or closed on Sundays?": two sentences with one beginning told as one; "" where that reads badly."""
    a, b = one.rstrip(".!").split(), other.rstrip(".!").split()
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    mine, theirs = a[start : len(a) - end], b[start : len(b) - end]
    if start < SHARED or not mine or not theirs or max(len(mine), len(theirs)) > DIFFERENT or len(a) > 24:
        return ""
    return f"{' '.join((*a[:start], *mine, 'or', *theirs, *a[len(a) - end :]))}?"


def _attribute(claim: MemoryObject) -> str:
    """What a keyed claim gives the value of, as its sentence writes it; "" where that says little."""
    attribute = claim.key[1] if claim.key else ""
    at = claim.title.lower().find(attribute)
    return claim.title[at : at + len(attribute)] if attribute and at >= 0 and attribute not in (*UNNAMED, "needs", "requires", "date") else ""


def _parted(one: str, other: str) -> tuple[str, str]:
    """Two sentences without what both begin with, where what differs would be cut off otherwise."""
    a, b = one.split(), other.split()
    start = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    if len(" ".join(a[:start])) < SIDE // 2:
        return one, other
    return f"…{' '.join(a[max(0, start - 2) :])}", f"…{' '.join(b[max(0, start - 2) :])}"


def _plain(text: str) -> str:
    return " ".join(text.split())


def _short(text: str) -> str:
    text = text.rstrip(".")
    if len(text) <= SIDE:
        return text
    cut = text[: SIDE - 1]
    return f"{cut[: cut.rfind(' ')] if ' ' in cut[SIDE // 2 :] else cut}…"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
