"""What the rules share while they read one note: its prose cut into sentences, its keyed lines, the names in force.

Owns one pass over the blocks. Never drafts an object.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from smb.ingest.lexicon import GENERIC_STEMS, KIND_WORDS, LABELS
from smb.ingest.note import Block, Note
from smb.ingest.occasion import is_activity, is_occasion
from smb.ingest.plain_keys import About, PlainLine, plain_lines
from smb.ingest.quoting import Quoter, sentences
from smb.ingest.signals import Signal, SignalKind, struck, values
from smb.ingest.speech_act import SpeechAct, speech_act, words_of
from smb.model.evidence import Span
from smb.model.identity import fold

PROSE_KINDS = frozenset(("paragraph", "item", "turn", "quote", "html"))
MAX_VALUE = 120
READ_AGAIN = 5  # prose blocks whose sentences are read for the note's definition as well as for claims
_COMMENT = re.compile(r"%%.*?(?:%%|\Z)")  # Obsidian's comments
_ALT = re.compile(r"!\[([^\]\n]+)\]\(|<img\b[^>]*?\balt\s*=\s*[\"']([^\"'>]+)", re.I)
_COLON = re.compile(r"\s?[:：]\s*")
_SENTENCE_BREAK = re.compile(r"[.!?] +[A-Z]|[。！？].")


@dataclass(frozen=True, slots=True)
class Prose:
    """A block of running text. `place` counts prose blocks from 0; `label` is what stood before a colon (`Note:`), `term` what
    stood on a line of its own above the text that describes it."""

    block: Block
    place: int
    sentences: tuple[str, ...]
    label: str = ""
    term: str = ""


@dataclass(frozen=True, slots=True)
class Keyed:
    """`**Key:** value` or `Key: value` as it stands in a block; `struck` are values crossed out beside the one that counts.
    `said` is the line where it is one of several in its block, `about` whom a record of several lines is about."""

    block: Block
    key: str
    value: str
    struck: tuple[str, ...] = ()
    said: str = ""
    about: About | None = None


class NameStarts:
    """Known names by their first word, to ask cheaply which of them a text begins with. `names`: lower case to title."""

    __slots__ = ("_by_first", "titles")

    def __init__(self, names: dict[str, str]):
        self.titles = names
        self._by_first: dict[str, list[str]] = {}
        for name in sorted(names, key=len, reverse=True):
            if m := _FIRST.match(name):
                self._by_first.setdefault(m[0], []).append(name)

    def title(self, lower: str, at: int = 0) -> str:
        """The title of the longest name that stands at `at` of the lower-case text; "" for none."""
        m = _FIRST.match(lower, at)
        if m and (names := self._by_first.get(m[0])):
            for name in names:
                if lower.startswith(name, at) and not lower[at + len(name) : at + len(name) + 1].isalnum():
                    return self.titles[name]
        return ""

    def subject(self, lower: str) -> str:
        """As `title`, past an article."""
        at = len(m[0]) if (m := _ARTICLE.match(lower)) else 0
        return self.title(lower, at) or at and self.title(lower) or ""


_FIRST = re.compile(r"\W{0,2}\w+|\W")
_ARTICLE = re.compile(r"(?:the|an?|our)\s")


@dataclass(slots=True)
class Survey:
    """One note as the rules see it. `names` maps folded names of the primary to its title.

    `leads` are the places (`byte_start`) of prose right before code or a picture. `is_occasion`: the note is of a day, a
    meeting or a talk; `is_activity`: it is titled for something done ("Firing the kiln"). Neither title is what its
    sentences are about. `acts` holds what `act` has found. `is_personal`: "I" in it is somebody, because it is a day's
    record or names its author.
    """

    note: Note
    quoter: Quoter
    title: str
    kind: str = ""
    names: dict[str, str] = field(default_factory=dict)
    prose: list[Prose] = field(default_factory=list)
    keyed: list[Keyed] = field(default_factory=list)
    rows: list[list[Block]] = field(default_factory=list)
    headings: list[Block] = field(default_factory=list)
    code: set[str] = field(default_factory=set)
    text: str = ""
    leads: set[int] = field(default_factory=set)
    is_occasion: bool = False
    is_activity: bool = False
    is_personal: bool = False
    found: dict[str, list[Signal]] = field(default_factory=dict)
    acts: dict[str, tuple[list[str], SpeechAct]] = field(default_factory=dict)

    def values(self, sentence: str) -> list[Signal]:
        """`signals.values`, once a sentence."""
        held = self.found.get(sentence)
        if held is None:
            held = self.found[sentence] = values(sentence)
        return held

    def act(self, sentence: str) -> tuple[list[str], SpeechAct]:
        """The words of a sentence of the first blocks and what is done by saying it, once a sentence."""
        held = self.acts.get(sentence)
        if held is None:
            words = words_of(sentence)
            held = self.acts[sentence] = words, speech_act(sentence, words) if words else SpeechAct.FRAGMENT
        return held

    @property
    def sentence_count(self) -> int:
        return sum(len(p.sentences) for p in self.prose)

    def span(self, block: Block, sentence: str) -> Span:
        return self.quoter.sentence(block, sentence)


def survey(note: Note) -> Survey:
    """Reads the blocks of `note` once."""
    seen = Survey(note, Quoter(note), _title(note), _kind(note))
    seen.is_occasion, seen.is_activity = is_occasion(note, seen.title), is_activity(seen.title)
    seen.is_personal = seen.is_occasion or any(p.key.lower() in ("author", "authors") for p in note.properties)
    last = -1
    table: list[Block] = []
    text: list[str] = []
    before: Block | None = None
    plain = plain_lines(note, seen.quoter)
    strikes, images = "~~" in note.text, "![" in note.text or "<img" in note.text
    for block in note.blocks:
        kind = block.kind
        if table and kind != "row":
            table = []
        if kind != "row":
            before = block
        if block.code_terms:
            seen.code.update(block.code_terms)
        if kind == "code":
            seen.leads.add(last)
        if kind == "row":
            if not table and not (before and _shows_output(before)):
                seen.rows.append(table)
            table.append(block)
        elif kind == "heading":
            seen.headings.append(block)
        elif kind in PROSE_KINDS and block.text and not block.task:
            if kind == "html" and "<" in block.text:
                continue
            shown = images and ("![" in (raw := seen.quoter.raw(block)) or "<img" in raw)
            if shown and raw.lstrip(" -*+>").startswith(("![", "<img")):
                seen.leads.add(last)
                continue
            last = block.byte_start
            gone = struck(seen.quoter.raw(block)) if strikes else []
            if shown:
                gone = [*gone, *(" ".join((a or b).split()) for a, b in _ALT.findall(raw))]
            if lines := plain.get(block.byte_start):
                _plain(seen, block, lines, gone)
            else:
                _prose(seen, block, gone)
            text.append(block.text)
    seen.rows = [rows for rows in seen.rows if not _is_listing(seen, rows)]
    seen.text = "\n".join(text)
    stem = _stem(note.path)
    for name in (seen.title, *note.aliases, *((stem,) if fold(stem) not in GENERIC_STEMS else ())):
        seen.names.setdefault(fold(name), seen.title)
    return seen


_OUTPUT = re.compile(
    r"\b(?:outputs?|results? (?:is|are|was|were|in|looks?|of)|results?|returns?|returned|prints?|printed|produces|displays?|"
    r"example|examples|sample|looks? like)\b[^.]{0,60}[:.]\s*\Z",
    re.I,
)


def _shows_output(block: Block) -> bool:
    """Whether what follows the block is what a program printed, or an example."""
    if block.kind == "heading":
        return block.text.strip(" :").lower() in _OUTPUT_HEADINGS
    return block.kind == "code" or block.kind in PROSE_KINDS and bool(_OUTPUT.search(block.text[-120:]))


_OUTPUT_HEADINGS = frozenset("output outputs result results example examples sample".split())
_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{1,2}:\d{2}|\d{1,2}:\d{2}:\d{2}")
_FIGURE = re.compile(r"[^\W\d_]{0,2}\d[\d.,:]*\Z")


def _is_listing(seen: Survey, rows: list[Block]) -> bool:
    """Whether a table says nothing of what its rows name: rows named by timestamps, numbers beside numbers (what a program
    prints), or names under names."""
    named = [row.cells[0][1].strip() for row in rows if row.cells]
    if not named:
        return True
    if all(_STAMP.match(cell) for cell in named):
        return True
    if seen.code and len(rows[0].cells) > 2 and all(header.strip() in seen.code for header, _ in rows[0].cells):
        return True
    return all(not c[1].strip() or _FIGURE.match(c[1].strip()) for row in rows for c in row.cells)


def _plain(seen: Survey, block: Block, lines: list[PlainLine], gone: list[str]) -> None:
    """The property lines of a block; the lines between them stay prose."""
    left, at = [], 0
    for line in lines:
        said = block.text[line.start : line.end]
        alone = line.end - line.start == len(block.text)
        here = tuple(old for old in gone if old in said)
        seen.keyed.append(Keyed(block, line.key, line.value, here, "" if alone else said, line.about))
        left.append(block.text[at : line.start].strip())
        at = line.end
    if rest := " ".join(filter(None, (*left, block.text[at:].strip()))):
        seen.prose.append(Prose(block, len(seen.prose), tuple(sentences(rest))))


def _prose(seen: Survey, block: Block, gone: list[str]) -> None:
    text = block.text
    for old in gone:
        text = text.replace(old, " ", 1)
    if "%%" in text:
        text = _COMMENT.sub(" ", text)
    if gone or "%%" in block.text:
        text = " ".join(text.split())
    if block.speaker:
        text = _without_speaker(text, block.speaker)
    label = term = ""
    if block.terms or block.code_terms or block.web:
        if block.line_end > block.line_start:
            raw = seen.quoter.raw(block)
            if "&emsp;" in raw:  # laid out with spaces: a production of a grammar
                return
            if raw[raw.find("\n") - 1] in "\\ >\r":
                term, text = _described(block, raw, text)
        if block.terms and not term:
            keyed, label, text = _keyed(block, text, gone)
            seen.keyed += keyed
    if text:
        seen.prose.append(Prose(block, len(seen.prose), tuple(sentences(text)), label, term))


_TERM_LINE = re.compile(r"\s*(?:(?:[*_`]+[^*_`\n]{1,60}[*_`]+|\[[^\[\]\n]{1,80}\]\([^()\n]*\))[,\s]*)+(?:\\| {2,}|<br ?/?>)\r?\n")


def _described(block: Block, raw: str, text: str) -> tuple[str, str]:
    """A term alone on the first line of a block, which a hard break ends, and the text that describes it; a production of a
    grammar ("*a*: *b* **c**") has none."""
    m = _TERM_LINE.match(raw)
    if not m:
        return "", text
    names = [t for t in (*block.terms, *block.code_terms, *(w.text for w in block.web)) if t and t in m[0]]
    names.sort(key=m[0].find)
    if not names or names[0].endswith((":", "：")):
        return "", text if not names else ""
    at = 0
    for name in names:
        if text.startswith(name, at):
            at += len(name)
            at += len(text) - at - len(text[at:].lstrip(" ,"))
    return (names[0], text[at:]) if at else ("", text)


def _keyed(block: Block, text: str, gone: list[str]) -> tuple[list[Keyed], str, str]:
    """Keyed values at the start of `text`, a label, and the prose that remains."""
    term = block.terms[0].rstrip(" :：")
    if not term or len(term) > 40 or not text.startswith(term):
        return [], "", text
    colon = _COLON.match(text, len(term))
    if not colon:
        return [], "", text
    if term.lower() in LABELS or _dated(term):
        return [], term.lower(), text[colon.end() :]
    found: list[Keyed] = []
    while True:
        rest = text[colon.end() :]
        following = next(((t, at) for t in block.terms[1:] if t.endswith((":", "：")) and (at := rest.find(t)) > 0), None)
        value = (rest[: following[1]] if following else rest).strip(" ,;|")
        if value and len(value) <= MAX_VALUE and "?" not in value and "？" not in value and not _SENTENCE_BREAK.search(value):
            found.append(Keyed(block, term, value, tuple(g for g in gone)))
        elif not found and not following:
            return [], "", rest
        if not following or len(found) > 8:
            return found, "", ""
        text, term = rest[following[1] :], following[0].rstrip(" :：")
        colon = _COLON.match(text, len(term))
        if not colon:
            return found, "", ""


def _dated(term: str) -> bool:
    """Whether a label is a date, so that what follows is an entry of a log. Clock times stay keys."""
    found = values(term)
    return len(found) == 1 and found[0].kind is SignalKind.DATE and found[0].end - found[0].start >= len(term) - 2


def _without_speaker(text: str, speaker: str) -> str:
    at = text.find(speaker)
    if 0 <= at <= 24:
        colon = _COLON.match(text, at + len(speaker))
        if colon:
            return text[colon.end() :]
    return text


def _title(note: Note) -> str:
    title = " ".join(note.title.replace("`", "").replace("**", "").split())
    return title[:160].rstrip() or _stem(note.path) or "untitled"


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name


def _kind(note: Note) -> str:
    """person, organisation, place or product where properties, tags or the folder say so; else ""."""
    for prop in note.properties:
        if prop.key.lower() in ("type", "kind", "category", "class", "is"):
            for item in prop.items:
                if kind := KIND_WORDS.get(item.strip(" #\"'[]").lower()):
                    return kind
    for tag in note.tags:
        if kind := KIND_WORDS.get(tag.rpartition("/")[2].lower()):
            if tag.rpartition("/")[2].lower() not in (
                "supplier",
                "suppliers",
                "contact",
                "location",
                "place",
                "product",
                "products",
            ):
                return kind
    for part in note.path.lower().split("/")[:-1]:
        if kind := KIND_WORDS.get(part):
            return kind
    return ""
