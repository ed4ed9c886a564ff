"""Sentences of a block and the exact bytes they stand at.

Owns sentence boundaries, how long a quote may be, and the way back from plain text to source bytes. Never changes a byte,
never guesses: where markup hides a sentence, its span is the smallest raw stretch found to cover it, else the whole block.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterator

from smb.ingest.note import Block, Note, Property, WebLink, WikiLink
from smb.ingest.wiki_link import WIKI_LINK, wiki_link
from smb.model.evidence import Span
from smb.model.identity import sha256_hex

_END = re.compile(
    r"[.!?。！？](?:(?<=[。！？])[。！？]*[」』”）)]*"
    r"|(?<=[.!?])[\"'”’»)\]]*(?=\s+[\"'“‘«(\[]?[^\sa-z])(?!(?<=[!?])\s+[=+*/<>,;:%&|^~\d-])(?!(?<=\d[!?])\s+[^A-ZÀ-Þ\"“])"
    r")"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|ca|no|nr|p|pp|fig|eq|vol|ed|dr|mr|mrs|ms|prof|st|jr|sr|inc|ltd|corp|co|dept|"
    r"est|al|"
    r"z\.b|bzw|u\.a|ex|[A-Z])\Z",
    re.IGNORECASE,
)
_LINE = re.compile(r"\r\n|\n|\r")
_MARKUP_TAIL = re.compile(
    r"(?:[*_`~\]]|\]?\([^()\s]*(?:\([^()\s]*\)[^()\s]*)?\)|\[[^\]\n]{0,40}\])*[.!?。！？…]*[\"'”’»)」』]*[*_`~]*"
)
_WORDS = re.compile(r"[^\s,;()]+")
_SPACES = re.compile(r"\s+")
_CORE = re.compile(r"[\w¥$€£°%].*[\w%°]|[\w¥$€£°%]", re.DOTALL)
LONGEST_QUOTE = 600  # characters of evidence for a name or a link; a reader checks a sentence, not a screenful
_BEFORE = 80  # of them, how many stand before what the quote is about where no sentence can be told
MAX_GAP = 400  # raw characters of markup (a long URL) allowed between two neighbouring words


def sentences(text: str) -> list[str]:
    """`text` cut at sentence ends; abbreviations, initials and decimals end nothing. Joined by spaces they are `text`."""
    found: list[str] = []
    start = 0
    for m in _END.finditer(text):
        at = m.start()
        if text[at] == "." and _ABBREVIATION.search(text, max(start, at - 8), at):
            continue
        end = m.end()
        if piece := text[start:end].strip():
            found.append(piece)
        start = end
    if start < len(text) and (rest := text[start:].strip()):
        found.append(rest)
    return found


def _ends(text: str) -> Iterator[int]:
    start = 0
    for m in _END.finditer(text):
        at = m.start()
        if text[at] == "." and _ABBREVIATION.search(text, max(start, at - 8), at):
            continue
        start = m.end()
        yield start


class Quoter:
    """Spans of one note's source. `data` are the bytes that `Block` offsets count in."""

    def __init__(self, note: Note):
        self.note = note
        self.data = source_bytes(note)
        self._raw: dict[int, str] = {}
        self._shown: dict[int, str] = {}

    def raw(self, block: Block | Property) -> str:
        """The block as it stands in the file."""
        held = self._raw.get(block.byte_start)
        if held is None:
            held = self._raw[block.byte_start] = self.data[block.byte_start : block.byte_end].decode(
                self.note.encoding, "replace"
            )
        return held

    def block(self, block: Block | Property) -> Span:
        """The span of a whole block or property, without white space at its ends."""
        raw = self.raw(block)
        return self._span(block, raw, len(raw) - len(raw.lstrip()), len(raw.rstrip()))

    def sentence(self, block: Block, text: str) -> Span:
        """The span of `text`, a sentence of `block.text`; the whole block where its words can't be followed."""
        raw, seen = self.raw(block), self.shown(block)
        at = _word_at(seen, text, 0)
        found = (at, at + len(text)) if at >= 0 else _follow(raw, seen, text)
        return self._span(block, raw, *_closed(raw, *found)) if found else self.block(block)

    def shown(self, block: Block | Property) -> str:
        """The block as it stands in the file, with blanks for what a reader is not shown: link targets and tags."""
        held = self._shown.get(block.byte_start)
        if held is None:
            held = self._shown[block.byte_start] = _shown(self.raw(block))
        return held

    def link(self, block: Block, link: WikiLink | WebLink) -> Span:
        """The span of a block for a link in it: the whole of a short one, else the sentence the link is written in; of front
        matter the property."""
        whole = self.block(block)
        if block.kind == "properties" and (
            prop := next((p for p in self.note.properties if p.line_start <= link.line <= p.line_end), None)
        ):
            whole = self.block(prop)
        if len(whole.quote) <= LONGEST_QUOTE:
            return whole
        if isinstance(link, WikiLink):
            found = next((m.span() for m in WIKI_LINK.finditer(whole.quote) if wiki_link(m, link.line) == link), (0, 1))
        else:
            at = max(whole.quote.find(f"]({link.url}"), 0)
            found = at, at + len(link.url) + 2
        return self._within(whole, *_piece(whole.quote, *found))

    def shortened(self, span: Span, *names: str) -> tuple[Span, ...]:
        """`span` itself where it is short; else, for each of `names` that stands in it, the sentence it stands in, or the
        first sentence where none does."""
        if len(span.quote) <= LONGEST_QUOTE:
            return (span,)
        lower = span.quote.lower()  # as long as the quote but for a few letters, whose places then miss and are clipped
        places = [(at, at + len(name)) for name in names if name and (at := lower.find(name.lower())) >= 0]
        return tuple(dict.fromkeys(self._within(span, *_piece(span.quote, *place)) for place in places or [(0, 1)]))

    def _within(self, span: Span, start: int, end: int) -> Span:
        """The part [start, end) of a span's quote as a span."""
        encoding = self.note.encoding
        byte_start = span.byte_start + len(span.quote[:start].encode(encoding, "replace"))
        byte_end = byte_start + len(span.quote[start:end].encode(encoding, "replace"))
        first = span.line_start + _breaks(span.quote, 0, start)
        return Span(span.source, byte_start, byte_end, first, first + _breaks(span.quote, start, end), span.quote[start:end])

    def _span(self, block: Block | Property, raw: str, start: int, end: int) -> Span:
        encoding = self.note.encoding
        if raw.isascii() and not encoding.startswith(("utf-16", "utf-32")):
            b0, b1 = block.byte_start + start, block.byte_start + end
        else:
            b0 = block.byte_start + len(raw[:start].encode(encoding, "replace"))
            b1 = b0 + len(raw[start:end].encode(encoding, "replace"))
        first = block.line_start + _breaks(raw, 0, start)
        return Span(self.note.source, b0, b1, first, first + _breaks(raw, start, end), raw[start:end])


_BOMS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


def source_bytes(note: Note) -> bytes:
    """The bytes of the source, from its decoded text; the note's source id tells whether a byte-order mark stood first."""
    data = note.text.encode(note.encoding)
    bom = _BOMS.get(note.encoding)
    if bom and sha256_hex(data) != note.source and sha256_hex(bom + data) == note.source:
        return bom + data
    return data


def _breaks(raw: str, start: int, end: int) -> int:
    if "\r" not in raw:
        return raw.count("\n", start, end)
    return len(_LINE.findall(raw, start, end))


def _piece(text: str, at: int, until: int) -> tuple[int, int]:
    """The sentence of `text` that holds [at, until), on its own line where it runs over many, at most LONGEST_QUOTE long."""
    at = min(at, len(text) - 1)
    start, end = 0, len(text)
    for sentence_end in _ends(text):
        if sentence_end >= until:
            end = sentence_end
            break
        if sentence_end <= at:
            start = sentence_end
    if end - start > LONGEST_QUOTE:
        lines = [0, *(m.end() for m in _LINE.finditer(text, start, end)), len(text)]
        place = bisect_right(lines, at) - 1
        start, end = max(start, lines[place]), min(end, lines[place + 1])
    if end - start > LONGEST_QUOTE:
        if at - start > _BEFORE:
            start = next((m.end() for m in _SPACES.finditer(text, at - _BEFORE, at)), at - _BEFORE)
        if end - start > LONGEST_QUOTE:
            end = max((m.start() for m in _SPACES.finditer(text, until, start + LONGEST_QUOTE)), default=start + LONGEST_QUOTE)
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


_HIDDEN = re.compile(
    r"(?P<code>(?<!`)(`+)(?!`).+?(?<!`)\2(?!`))|\\."
    r"|(?P<to>\](?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\[\]\n]*\]))"
    r"|\[\[(?P<wiki>[^\[\]\n`]{1,500})\]\]"
    r"|(?P<tag><[A-Za-z/!?](?![\w+.-]*[:@])[^<>]*>)",
    re.DOTALL,
)
_MARKED = re.compile(r"\](?:\(|\[)|\[\[|<")


def _shown(raw: str) -> str:
    """`raw` with blanks in place of link targets, references and tags; as long as `raw`. Code stays."""
    return _HIDDEN.sub(_blank, raw) if _MARKED.search(raw) else raw


def _blank(m: re.Match[str]) -> str:
    if m["to"] or m["tag"]:
        return " " * len(m[0])
    if m["wiki"]:
        target, pipe, alias = m["wiki"].rpartition("|")
        if pipe:
            return f"[[{' ' * (len(target) + 1)}{alias}]]"
        target, hash_, heading = alias.partition("#")
        return f"[[{target}{' ' * (len(heading) + 1)}]]" if target and hash_ else m[0]
    return m[0]


def _word_at(text: str, piece: str, at: int, until: int | None = None) -> int:
    """Where `piece` stands in `text` in [at, until), not as a part of a longer word; -1 for nowhere."""
    while (at := text.find(piece, at, until)) >= 0:
        end = at + len(piece)
        if not (at and _joined(text[at - 1], piece[0]) or end < len(text) and _joined(piece[-1], text[end])):
            return at
        at += 1
    return -1


def _joined(left: str, right: str) -> bool:
    """Whether two neighbouring characters belong to one word; scripts without spaces have none."""
    return left.isalnum() and right.isalnum() and left < _UNSPACED and right < _UNSPACED


_UNSPACED = "\u0e00"  # Thai, and from there on to the CJK scripts


def _follow(raw: str, seen: str, text: str) -> tuple[int, int] | None:
    """The shortest stretch of `seen` in which the words of `text` stand in order with only markup between them; with the
    markup at its ends, which `raw` shows."""
    words = [m[0] for word in _WORDS.findall(text) if (m := _CORE.search(word))]
    best: tuple[int, int] | None = None
    furthest = len(seen)
    start = _word_at(seen, words[0], 0) if words else -1
    while start >= 0:
        at = start + len(words[0])
        for word in words[1:]:
            following = _word_at(seen, word, at, min(furthest, at + MAX_GAP + len(word)))
            if following < 0:
                break
            at = following + len(word)
        else:
            best = start, at
        start = _word_at(seen, words[0], start + 1)
        if best:
            furthest = start + best[1] - best[0] - 1  # a longer stretch is of no use
    if best is None:
        return None
    start, at = best
    while start > 0 and not (raw[start - 1].isspace() or raw[start - 1].isalnum() or raw[start - 1] in _ENDS_BEFORE):
        start -= 1
    tail = _MARKUP_TAIL.match(raw, at)
    return start, tail.end() if tail else at


_ENDS_BEFORE = frozenset(")]}>.,;:!?…|。，、；：！？」』）”’")
_OPEN_LINK = re.compile(r"\[\[[^\[\]\n]*\Z|\]\([^()\n]*\Z")
_CLOSE_LINK = re.compile(r"[^\[\]()\n]*(?:\]\]|\))[.!?。！？…]?")


def _closed(raw: str, start: int, end: int) -> tuple[int, int]:
    """The stretch, widened where an end of it falls inside a link's brackets."""
    if "[[" in raw or "](" in raw:
        if m := _OPEN_LINK.search(raw, max(0, start - MAX_GAP), start):
            start = m.start()
        if _OPEN_LINK.search(raw, max(start, end - MAX_GAP), end) and (m := _CLOSE_LINK.match(raw, end)):
            end = m.end()
    return start, end
