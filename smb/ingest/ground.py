"""The gates a draft passes before it may become a belief (REQUIREMENTS.md, section 4, item 4).

    support   its quotes are the bytes at their spans, and there is a quote
    hard      every number, date, version, amount and address of its title and value stands in the quotes
    subject   what it is about is named in the quotes, or is the note's own subject, a heading above or the speaker
    act       a claim asserts: no question, hypothesis or unattributed instruction
    secret    it does not repeat a key, token or password

Owns the gates and what they say when one closes. Never repairs a draft.
"""

from __future__ import annotations

import re
from dataclasses import replace

from smb.ingest.extract import Draft, Extraction, Refused
from smb.ingest.note import Note
from smb.ingest.speech_act import SpeechAct, speech_act
from smb.model.evidence import Span
from smb.model.identity import fold
from smb.model.objects import MemoryType

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_ADDRESS = re.compile(r"(?:https?|ftp)://[^\s<>\"'()\[\]]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SECRET_KEY = re.compile(
    r"\b(?:api[ _-]?key|secret|password|passwd|passphrase|access[ _-]?token|auth[ _-]?token|private[ _-]?key|pin code|パスワード|"
    r"密码)\b",
    re.I,
)
_SECRET = re.compile(
    r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant)?[-_]?[A-Za-z0-9_-]{12,}|\bgh[pousr]_[A-Za-z0-9]{20,}|"
    r"\bxox[abprs]-[A-Za-z0-9-]{10,}|\bAKIA[0-9A-Z]{12,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY|\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}|\bAIza[0-9A-Za-z_-]{30,}"
)
_SECRET_HINT = re.compile(r"sk|pk|rk|gh|xox|AKIA|BEGIN|eyJ|AIza", re.I)
_MARKUP = re.compile(r"[*_`~\\]|\[\[|\]\]|<[^>]{0,200}>")
_WHITE = re.compile(r"\s+")


def ground(note: Note, data: bytes, extraction: Extraction) -> Extraction:
    """`extraction` with only the drafts that pass every gate; each refusal is appended to `refused`, in order.

    The primary always stays: it stands for the document itself. Spans of it that fail are dropped.
    """
    gates = _Gates(note, data, extraction)
    kept: list[Draft] = []
    refused = list(extraction.refused)
    for draft in extraction.drafts:
        if (refusal := gates.check(draft)) is None:
            kept.append(draft)
        else:
            refused.append(refusal)
    primary = extraction.primary
    spans = tuple(s for s in primary.spans if gates.stands(s))
    if spans != primary.spans:
        refused.append(Refused("support", primary.title, "a quote of the title or body is not at its bytes"))
        primary = replace(primary, spans=spans)
    if primary.body and _leaks(primary.body):
        primary = replace(primary, body="")
    return Extraction(primary, tuple(kept), tuple(refused), extraction.by_model)


class _Gates:
    def __init__(self, note: Note, data: bytes, extraction: Extraction):
        self.note = note
        self.data = data
        self.title = extraction.primary.title
        self.own = {fold(extraction.primary.title), *map(fold, extraction.primary.aliases), *map(fold, note.aliases)}
        self.own_text = f"{extraction.primary.title} {' '.join(extraction.primary.aliases)}"

    def _is_heading(self, subject: str) -> bool:
        return any(fold(h) == subject for h in {h for b in self.note.blocks for h in b.headings})

    def stands(self, span: Span) -> bool:
        """Whether the quote is what stands at the span's bytes."""
        piece = self.data[span.byte_start : span.byte_end]
        return bool(piece) and span.source == self.note.source and piece.decode(self.note.encoding, "replace") == span.quote

    def check(self, draft: Draft) -> Refused | None:
        if not draft.spans or not all(self.stands(s) for s in draft.spans):
            return Refused("support", draft.title, "its quote is not at its bytes" if draft.spans else "it has no quote")
        claim = draft.type is MemoryType.CLAIM
        if (claim or draft.body) and (
            _leaks(f"{draft.title} {draft.body}") or claim and draft.value and _SECRET_KEY.search(draft.attribute)
        ):
            return Refused("secret", "(withheld)", "it repeats a key, token or password")
        quote = draft.spans[0].quote if len(draft.spans) == 1 else "\n".join(s.quote for s in draft.spans)
        if claim:
            return self._hard(draft, quote) or self._subject(draft, quote) or self._act(draft)
        return None

    def _unprefixed(self, title: str) -> str:
        """A claim's title without the name of the note (and of a term) that tells it apart from other notes' claims."""
        if title.startswith((f"{self.title}: ", f"{self.title}, ")):
            return title[len(self.title) :].partition(": ")[2] or title
        return title

    def _hard(self, draft: Draft, quote: str) -> Refused | None:
        said = self._unprefixed(draft.title)
        if draft.value and draft.value not in said:
            said = f"{said} {draft.value}"
        hard = _NUMBER.findall(said)
        if not hard:
            return None if "@" not in said and "://" not in said else self._address(draft, said, quote)
        missing = set(hard).difference(_NUMBER.findall(quote))
        if missing:
            missing.difference_update(
                _NUMBER.findall(f"{_MARKUP.sub('', quote)} {draft.subject} {self.own_text} {draft.attributed_to}")
            )
        if missing and draft.attribute and draft.attribute in self.note.text:  # a column header, which stands above its cells
            missing.difference_update(_NUMBER.findall(draft.attribute))
        if missing:
            return Refused("hard", draft.title, f"{min(missing)} is not in the quote")
        return None if "@" not in said and "://" not in said else self._address(draft, said, quote)

    def _address(self, draft: Draft, said: str, quote: str) -> Refused | None:
        for address in _ADDRESS.findall(said):
            bare = address.rstrip(".,;:!?")
            if bare not in quote and bare not in self.own_text and bare not in draft.attributed_to:
                return Refused("hard", draft.title, f"{bare} is not in the quote")
        return None

    def _subject(self, draft: Draft, quote: str) -> Refused | None:
        subject = fold(draft.subject)
        if not subject or subject in self.own or draft.subject in quote:
            return None
        if fold(_MARKUP.sub("", draft.subject)) in fold(_WHITE.sub(" ", _MARKUP.sub("", quote))) or subject == fold(
            draft.attributed_to
        ):
            return None
        if self._is_heading(subject):
            return None
        return Refused("subject", draft.title, f"{draft.subject} is not named in the quote")

    def _act(self, draft: Draft) -> Refused | None:
        if draft.attribute or "quoted" in draft.tags or "instruction" in draft.tags:
            return None
        said = self._unprefixed(draft.title)
        if said.rstrip()[-1:] in "?？":
            return Refused("act", draft.title, "it asks")
        act = speech_act(said)
        if act in (SpeechAct.QUESTION, SpeechAct.HYPOTHESIS):
            return Refused("act", draft.title, "it asks" if act is SpeechAct.QUESTION else "it supposes")
        return None


def _leaks(text: str) -> bool:
    return bool(_SECRET_HINT.search(text)) and bool(_SECRET.search(text))
