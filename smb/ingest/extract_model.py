"""What a language model reads in a note: asked passage by passage, taken for drafts only where the note bears it out.

Owns the question put to the model, the shape of its answer, and the gates of what it says beyond those of `ground`: the quote
stands in its passage; subject, value, dates and speaker are the passage's own; the sentence asserts, and affirms or denies as
the model says. A claim's words are the note's sentence, never the model's, so what rules read and what a model reads meet in
one object. Never keeps a draft that fails, never repairs one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smb.ingest.borne_out import bears_kind, bears_relation, bears_value
from smb.ingest.extract import Draft, DraftLink, Refused
from smb.ingest.lexicon import AUXILIARIES, DETERMINERS, FUNCTION_WORDS, PRONOUNS, SPEECH
from smb.ingest.note import Block, Note
from smb.ingest.pointing import leans
from smb.ingest.quoting import Quoter, sentences
from smb.ingest.signals import negated, valid_in, values
from smb.ingest.speech_act import SpeechAct, speech_act, words_of
from smb.model.edges import EdgeType
from smb.model.evidence import Span
from smb.model.identity import fold, short_hash
from smb.model.objects import MemoryType

if TYPE_CHECKING:
    from smb.inference.ollama_client import ModelClient
    from smb.inference.prompts import Prompt, Template

_ARTICLES = frozenset(("the", "a", "an"))
_LEANING = (PRONOUNS | DETERMINERS) - _ARTICLES
_DEFINITION = 4  # words at least: fewer behind a key are its value
VERSION = "1"  # of the gates and of how passages are numbered
WINDOW_CHARACTERS = 6_000  # of passages in one call
ANSWER_TOKENS = 1_600
CONFIDENCE = 0.6
_READ = frozenset(("paragraph", "item", "row", "turn", "quote"))
_KINDS = ("person", "organisation", "place", "product")
_EDGES = tuple(edge.value for edge in EdgeType)
_CAPITAL = re.compile(r"\b[A-ZÀ-ÞΑ-ΩА-Я][\w’'-]*")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_MOST = 40  # of each kind from one window
_LONGEST = 300  # characters of a name, attribute or value
_MARKS = re.compile(r"[*_`~]+|\[\[|\]\]")
_PRONOUNS = frozenset("it its he his she her hers they their theirs this that these those i my mine we our ours you your".split())


def _of(fields: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    text = {"type": "string", "maxLength": 1200}
    properties = {"passage": {"type": "integer"}, "quote": text, **{name: {**text, **more} for name, more in fields.items()}}
    return {"type": "array", "maxItems": _MOST, "items": {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}}


SCHEMA: Mapping[str, Any] = {
    "type": "object", "additionalProperties": False, "required": ["claims", "concepts", "entities", "relationships"],
    "properties": {
        "claims": _of({"subject": {}, "attribute": {}, "value": {}, "polarity": {"enum": ["affirmed", "denied"]}, "since": {}, "until": {}, "attributed_to": {}}),
        "concepts": _of({"name": {}}), "entities": _of({"name": {}, "kind": {"enum": list(_KINDS)}}),
        "relationships": _of({"source": {}, "edge": {"enum": list(_EDGES)}, "target": {}}),
    },
}
Said = dict[str, Any]  # one answer as `SCHEMA` has it, passages numbered within the note


def fingerprint(model: str, template: Template) -> str:
    """Names the extractor: equal ones give equal answers to equal notes, as far as a model does. `model` with its digest."""
    return short_hash("extract", VERSION, model, template.hash)


def passages_of(note: Note) -> list[tuple[int, Block]]:
    """What a model is shown of a note: its readable blocks, numbered from 1."""
    return list(enumerate((b for b in note.blocks if b.kind in _READ and b.text.strip()), 1))


def windows(note: Note, room: int = WINDOW_CHARACTERS) -> Iterator[list[tuple[int, Block]]]:
    """The passages of a note in stretches of at most `room` characters (one passage at least)."""
    held: list[tuple[int, Block]] = []
    size = 0
    for numbered in passages_of(note):
        length = len(numbered[1].text) + 60
        if held and size + length > room:
            yield held
            held, size = [], 0
        held.append(numbered)
        size += length
    if held:
        yield held


async def asked(note: Note, client: ModelClient, template: Template) -> list[Said]:
    """What the model says of each window of the note, unchecked but for its shape. A window whose answer is cut off is asked for
    in halves. Raises ModelError."""
    from smb.inference.model_errors import AnswerTruncated

    model = await client.in_use()
    answers: list[Said] = []
    waiting = _fitting(note, client, template, model)
    while waiting:
        window = waiting.pop(0)
        try:
            reply = await client.structured(_prompt(note, window, template), SCHEMA, check=lambda value: value, answer_tokens=ANSWER_TOKENS)
        except AnswerTruncated:
            if len(window) == 1:
                raise
            waiting[:0] = [window[: len(window) // 2], window[len(window) // 2 :]]
            continue
        answers.append(reply.value)
    return answers


def _fitting(note: Note, client: ModelClient, template: Template, model: Any) -> list[list[tuple[int, Block]]]:
    """Windows whose prompts fit the model: halved until they do. Raises PromptTooLong where one passage alone does not."""
    from smb.inference.model_errors import PromptTooLong

    waiting, fitting = list(windows(note)), []
    while waiting:
        window = waiting.pop(0)
        try:
            client.measure(_prompt(note, window, template), ANSWER_TOKENS, model)
        except PromptTooLong:
            if len(window) == 1:
                raise
            waiting[:0] = [window[: len(window) // 2], window[len(window) // 2 :]]
            continue
        fitting.append(window)
    return fitting


def _prompt(note: Note, window: Sequence[tuple[int, Block]], template: Template) -> Prompt:
    from smb.inference.prompts import Data

    lines = [f"[{n}] {' › '.join(block.headings)}{': ' if block.headings else ''}{f'{block.speaker}: ' if block.speaker else ''}{block.text}" for n, block in window]
    return template.fill(title=Data(note.title, "title"), passages=Data("\n\n".join(lines), "passages"))


def _is_name(text: str) -> bool:
    """Whether words could name something: they begin and end with no word that leans on another, and none of them makes a sentence."""
    words = text.split()
    if not words or not any(c.isalpha() for c in text):
        return False
    first = words[0] if len(words[0]) > 1 and words[0].isupper() else words[0].lower()  # IT and US are names
    return first not in _LEANING and words[0] not in FUNCTION_WORDS - _ARTICLES and words[-1] not in FUNCTION_WORDS and not any(w in AUXILIARIES for w in words)


def _keyed(sentence: str, name: str) -> str:
    """What a line says under the key `name`; "" where it is no key."""
    key, _, value = sentence.partition(":")
    return value.strip() if fold(key) == fold(name) else ""


# ---------------------------------------------------------------- from answers to drafts

@dataclass(frozen=True, slots=True)
class _Place:
    """Where a quote stands: the block, the sentence of it that holds the quote, and that sentence's span."""

    block: Block
    sentence: str
    span: Span


class ModelDrafts:
    """Drafts from the answers to one note. `known` are the claims rules read, whose titles are taken where a model reads the
    same sentence; `actor` says which model and prompt it was."""

    def __init__(self, note: Note, known: Iterable[Draft], actor: str):
        self.note, self.actor = note, actor
        self.refused: list[Refused] = []
        self._quoter = Quoter(note)
        self._blocks = dict(passages_of(note))
        drafts = list(known)
        self._known = [draft for draft in drafts if draft.type is MemoryType.CLAIM]
        self._kinds = {fold(draft.title): draft.tags for draft in drafts if draft.type is MemoryType.ENTITY}
        self._own = {fold(name) for name in (note.title, *note.aliases) if name}

    def of(self, answers: Iterable[Said]) -> list[Draft]:
        """What holds of the answers; the rest is in `refused`."""
        found: list[Draft] = []
        for said in answers:
            for kind, draft in (("claims", self._claim), ("concepts", self._concept), ("entities", self._entity), ("relationships", self._relationship)):
                for one in said[kind]:
                    made = draft(one)
                    if isinstance(made, Refused):
                        self.refused.append(made)
                    else:
                        found.append(made)
        return list(dict.fromkeys(found))

    def _placed(self, one: Mapping[str, Any]) -> _Place | Refused:
        block = self._blocks.get(one["passage"])
        quote = " ".join(one["quote"].split())
        if block is None or not quote or not any(c.isalnum() for c in quote):
            return Refused("support", quote[:80], f"there is no passage {one['passage']}" if block is None else "the quote is empty")
        text = " ".join(block.text.split())
        at = text.find(quote)
        if at < 0:
            plain = _MARKS.sub("", quote)
            at, quote = text.find(plain), plain
        if at < 0:
            return Refused("support", quote[:80], f"the quote is not in passage {one['passage']}")
        start = 0
        for sentence in sentences(text):
            begin = text.find(sentence, start)
            start = begin + len(sentence)
            if begin <= at and at + len(quote) <= start:
                return _Place(block, sentence, self._quoter.sentence(block, sentence))
        return Refused("support", quote[:80], "the quote runs over several sentences")

    def _claim(self, one: Mapping[str, Any]) -> Draft | Refused:
        place = self._placed(one)
        if isinstance(place, Refused):
            return place
        sentence, block = place.sentence, place.block
        subject, attribute, value = (" ".join(one[name].split())[:_LONGEST] for name in ("subject", "attribute", "value"))
        words = words_of(sentence)
        act = speech_act(sentence, words)
        whole = act is SpeechAct.FRAGMENT and (len(words) > 2 and sentence[-1] in ".。!" or block.kind in ("row", "item") and value)
        if act is not SpeechAct.ASSERTION and not whole:
            return Refused("act", sentence[:80], f"it is no assertion but {'an' if act.value[0] in 'aeiou' else 'a'} {act.value}")
        if block.quoted and not one["attributed_to"].strip():
            return Refused("act", sentence[:80], "it is somebody else's words and names nobody")
        if negated(sentence, words) != (one["polarity"] == "denied"):
            return Refused("polarity", sentence[:80], "it denies what the model affirms" if one["polarity"] == "affirmed" else "it denies nothing")
        if refusal := self._hard(sentence, value, attribute, one) or self._subject(subject, sentence, block):
            return refusal
        who = one["attributed_to"].strip()
        if who and not self._speaks(who, block, sentence, words):
            return Refused("hard", sentence[:80], f"{who} is not said to have said it")
        if not (attribute and value):
            attribute = value = ""
        elif len({fold(subject), fold(attribute), fold(value)}) < 3 or self._stands(subject, value):
            return Refused("subject", sentence[:80], f"it says {value} of {subject}, which is nothing")
        elif why := bears_value(sentence, subject, attribute, value):
            return Refused("subject", sentence[:80], why)
        valid, valid_text = valid_in(sentence)
        return Draft(
            MemoryType.CLAIM, self._title(place, subject, attribute, value), (place.span,), subject=subject, attribute=attribute, value=value, attributed_to=who or block.speaker,
            negated=one["polarity"] == "denied", confidence=0.35 if who or block.speaker else CONFIDENCE, valid=valid, valid_text=valid_text,
            tags=("reported",) if who else (), drafted_by=self.actor)

    def _hard(self, sentence: str, value: str, attribute: str, one: Mapping[str, Any]) -> Refused | None:
        """Everything hard the model says of a sentence stands in it; a value word for word."""
        if value and not self._stands(value, sentence):
            return Refused("hard", sentence[:80], f"{value} is not in the sentence")
        if attribute and (len(attribute.split()) > 6 or any(n not in sentence for n in _NUMBER.findall(attribute)) or any(
                name not in sentence for name in _CAPITAL.findall(attribute)[1:])):
            return Refused("hard", sentence[:80], f"{attribute} is no attribute of what the sentence says")
        dates = {signal.value for signal in values(sentence)}
        for name in ("since", "until"):
            if (date := one[name].strip()) and date not in sentence and date not in dates:
                return Refused("hard", sentence[:80], f"{date} is not in the sentence")
        return None

    def _speaks(self, who: str, block: Block, sentence: str, words: Sequence[str]) -> bool:
        """Whether it is told that they said it: they are the block's speaker, are named with somebody else's words, or in a sentence that
        tells what is said."""
        if not _is_name(who):
            return False
        if block.speaker and self._stands(who, block.speaker):
            return True
        if block.quoted:
            return self._stands(who, f"{sentence} {' '.join(block.headings)} {self.note.title}")
        return self._stands(who, sentence) and (not sentence.isascii() and not words or any(w in SPEECH or w == "according" for w in words))

    def _subject(self, subject: str, sentence: str, block: Block) -> Refused | None:
        """The subject is named in the sentence; or it is the note's own, a heading's or the speaker's, and the sentence names no
        other thing before its verb."""
        if not subject or not _is_name(subject):
            return Refused("subject", sentence[:80], f"{subject} names nothing" if subject else "it has no subject")
        if self._stands(subject, sentence):
            return None
        above = {fold(h) for h in block.headings} | self._own | ({fold(block.speaker)} if block.speaker else set())
        if fold(subject) not in above:
            return Refused("subject", sentence[:80], f"{subject} is not named in the sentence")
        words = words_of(sentence)
        if block.kind == "row" or leans(sentence, words) or words and words[0].partition("'")[0] in _PRONOUNS or ":" in sentence[:60]:
            return None
        return Refused("subject", sentence[:80], f"the sentence speaks of something else than {subject}")

    def _title(self, place: _Place, subject: str, attribute: str, value: str) -> str:
        """The claim's words: as rules title that sentence, else the sentence, with the note's title where it leans on it; where
        rules read another value of that sentence, as they title a key and its value."""
        read = [d for d in self._known if any(s.byte_start <= place.span.byte_start and place.span.byte_end <= s.byte_end for s in d.spans)]
        same = [d for d in read if value and fold(d.value) == fold(value)] or [d for d in read if not d.attribute]
        if len(same) == 1:
            return same[0].title
        if value and any(d.attribute for d in read):
            return f"{subject} – {attribute}: {value}"
        if fold(self.note.title) in fold(place.sentence) or place.block.speaker:
            return place.sentence
        return f"{self.note.title}: {place.sentence}"

    def _concept(self, one: Mapping[str, Any]) -> Draft | Refused:
        return self._named(one, MemoryType.CONCEPT)

    def _entity(self, one: Mapping[str, Any]) -> Draft | Refused:
        return self._named(one, MemoryType.ENTITY, one["kind"])

    def _named(self, one: Mapping[str, Any], type_: MemoryType, kind: str = "") -> Draft | Refused:
        place = self._placed(one)
        if isinstance(place, Refused):
            return place
        name = " ".join(one["name"].split())
        if not 2 <= len(name) <= 80 or len(name.split()) > 7 or not _is_name(name) or not self._stands(name, place.sentence):
            return Refused("subject", name[:80], "it is not named in the quote")
        if type_ is MemoryType.ENTITY and (name.isascii() and not any(c.isupper() for c in name) or name.split()[0] in ("A", "An")):
            return Refused("subject", name[:80], "it is no name")
        if (value := _keyed(_MARKS.sub("", place.sentence), name)) and value.isascii() and len(value.split()) < _DEFINITION:
            return Refused("subject", name[:80], "it is the key of a line")
        tags = (kind,) if kind and fold(name) not in self._own and (kind in self._kinds.get(fold(name), ()) or bears_kind(place.sentence, name, kind)) else ()
        body = place.sentence if type_ is MemoryType.CONCEPT and speech_act(place.sentence) is SpeechAct.ASSERTION else ""
        return Draft(type_, name, (place.span,), body=body, tags=tags, confidence=CONFIDENCE - 0.1, drafted_by=self.actor)

    def _relationship(self, one: Mapping[str, Any]) -> Draft | Refused:
        place = self._placed(one)
        if isinstance(place, Refused):
            return place
        source, target = (" ".join(one[name].split()) for name in ("source", "target"))
        if speech_act(place.sentence) is not SpeechAct.ASSERTION or negated(place.sentence):
            return Refused("act", place.sentence[:80], "it does not assert a relationship")
        for name in (source, target):
            if not name or len(name) > 80 or not _is_name(name) or not self._stands(name, place.sentence):
                return Refused("subject", place.sentence[:80], f"{name or 'an end'} is not named in the quote")
        if fold(source) == fold(target):
            return Refused("subject", place.sentence[:80], "both ends are one thing")
        edge = EdgeType(one["edge"])
        if not bears_relation(place.sentence, source, edge, target):
            return Refused("edge", place.sentence[:80], f"it does not say that {source} {edge.value.replace('_', ' ')} {target}")
        return Draft(MemoryType.RELATIONSHIP, f"{source} {edge.value.replace('_', ' ')} {target}", (place.span,), confidence=CONFIDENCE - 0.1, source_name=source,
                     link=DraftLink(target, edge, 0.6), drafted_by=self.actor)

    def _stands(self, name: str, text: str) -> bool:
        """Whether the text holds the name, as whole words."""
        folded = fold(_MARKS.sub("", name))
        found = fold(_MARKS.sub("", text)).find(folded)
        held = fold(_MARKS.sub("", text))
        while found >= 0:
            before, after = held[found - 1 : found], held[found + len(folded) : found + len(folded) + 1]
            if not folded.isascii() or not (before[-1:].isalnum() and folded[:1].isalnum()) and not (after.isalnum() and folded[-1:].isalnum()):
                if not (after == "." and held[found + len(folded) + 1 : found + len(folded) + 2].isdigit() and folded[-1:].isdigit()) and not (
                        before in (".", ",") and folded[:1].isdigit() and held[found - 2 : found - 1].isdigit()):
                    return True
            found = held.find(folded, found + 1)
        return False
