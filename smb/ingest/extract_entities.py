"""Entities: people, organisations, places, products and dates that a note names.

Owns the evidence for being one: a property that holds names, a chat speaker, a verb only people do, an honorific, a
corporate suffix, a product's spelling, or a capitalised name of several words inside sentences. Never takes a word for
a name because it begins a sentence, and never takes code, link texts, headings or emphasised interface labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from smb.ingest.extract import Draft
from smb.ingest.extract_keyed import plain_name
from smb.ingest.lexicon import (
    BASE_VERBS,
    CORPORATE,
    HONORIFICS,
    NOT_NAMES,
    ORGANISATION_KEYS,
    PERSON_KEYS,
    PLACE_CUES,
    PLACE_KEYS,
    PREPOSITIONS,
    PRODUCT_KEYS,
    STREETS,
)
from smb.ingest.note import Block
from smb.ingest.signals import SignalKind, correction
from smb.ingest.survey import Prose, Survey
from smb.model.evidence import Span
from smb.model.identity import fold
from smb.model.objects import MemoryType

MOST_FOUND = 4  # names found in prose; properties and speakers come on top
MOST_DATES = 2
MOST_BLOCKS = 40  # prose blocks looked through; what a longer note is about shows before
_U = "A-ZÀ-ÖØ-Þ"
_RUN = re.compile(  # begins with a set, so that the engine skips to capitals
    rf"[{_U}](?<![\w/.@#$:<+-].)(?:[\w’'&+-]*(?:\.(?=\s[{_U}]))?(?:\s(?:(?:of|de|da|do|dos|das|del|di|du|la|le|van|von|der|"
    rf"den)\s(?:the\s)?)?[{_U}][\w’'&+-]*)+"
    rf"|(?:[a-z]+[A-Z]+[a-z]*|[A-Z]+[a-z]{{2,}})(?![\w(:]|\.\w)"
    rf"|[a-zà-ÿ]{{2,}}(?=\s(?:said|says|asked|told|wrote|writes|claims|thinks|wants|joined|offered|signed|replied|suggested)\s))"
)
_LOWER_FIRST = re.compile(r"(?<![\w/.@#$:<(+-])(?:[ei][A-Z][a-z]{2,}|[a-z]{1,7}OS|[a-z]{1,2}[A-Z]{2,3})(?![\w(:]|\.\w)")
_LOWER_HUMP = re.compile(r"[a-z][A-Z]")
_HANDLE = re.compile(r"(?<![\w/.@])@[A-Za-z][\w-]{2,30}\b(?![./])")
_SENTENCE_START = re.compile(r"(?:^|[.!?:。]\s+|\(|[\"“])\Z")
_PLACE_BEFORE = re.compile(r"\b(?:based in|located in|born in|city of|town of|village of|island of)\s\Z")
_SOMEBODY_LIVES = re.compile(  # who must be somebody: code lives in files
    rf"(?:\b(?:I|[Ww]e|[Hh]e|[Ss]he|[Tt]hey|who|family|parents|mother|father|sister|brother)|[{_U}][a-zà-ÿ]+)"
    r"(?:\s(?:now|also|still|then|has|have))*\s(?:lives?|lived|moved|grew up|settled) (?:in|to)\s\Z"
)
_NAME = re.compile(rf"^[{_U}][\w’'.-]*(?:\s(?:[{_U}][\w’'.-]*|de|da|do|dos|van|von|der|del|la|le|bin|al)){{0,4}}\Z")
_CJK_NAME = re.compile(r"^[぀-ヿ㐀-鿿・]{2,12}\Z")
_CODE_VERBS = frozenset(w.capitalize() for w in BASE_VERBS) | {"Is", "On", "Has", "To", "From", "My", "New", "No"}
_UNITS = frozenset("KiB MiB GiB TiB kHz MHz GHz kWh MWh GWh mAh kVA dB dBm pH".split())
_SAYS = frozenset(
    "said says asked told wrote writes thinks joined replied suggested promised married offered signed wants".split()
)
_HUMP = re.compile(r"^([A-Z][a-z]+)[A-Z]")


@dataclass(slots=True)
class _Seen:
    title: str
    first: tuple[Prose, int, int]
    places: set[int] = field(default_factory=set)
    inside: int = 0
    kind: str = ""
    sure: bool = False


def entities(seen: Survey) -> tuple[list[Draft], dict[str, set[int]]]:
    """The entities besides the primary, and in which prose blocks each title stands."""
    drafts: dict[str, Draft] = {}
    primary = set(seen.names)
    for title, kind, span in _declared(seen):
        key = fold(title)
        if key not in primary and key not in drafts:
            drafts[key] = _entity(title, kind, span, 0.7)
    places: dict[str, set[int]] = {}
    found = _found(seen)
    for short, entry in [(k, e) for k, e in found.items() if " " not in k]:
        owner = next(
            (k for k in (*drafts, *found) if k != short and (k.startswith(short + " ") or k.endswith(" " + short))), None
        )
        if owner and entry.kind == "person":
            if owner in found:
                found[owner].places |= entry.places
                found[owner].kind = found[owner].kind or "person"
                found[owner].sure = True
            else:
                places.setdefault(drafts[owner].title, set()).update(entry.places)
            del found[short]
    ranked = sorted(found.items(), key=lambda kv: (-kv[1].sure, -len(kv[1].places), kv[1].first[0].place))
    count = 0
    for key, entry in ranked:
        if key in drafts or key in primary:
            places.setdefault(entry.title, set()).update(entry.places)
            continue
        if count >= MOST_FOUND or not _evident(entry):
            continue
        block = _written_in(seen, entry)
        if block is None:
            continue
        count += 1
        drafts[key] = _entity(entry.title, entry.kind, seen.quoter.sentence(block, entry.title), 0.55 if entry.sure else 0.45)
        places[entry.title] = entry.places
    for draft in _dates(seen):
        drafts.setdefault(draft.title, draft)
    return list(drafts.values()), places


def _written_in(seen: Survey, entry: _Seen) -> Block | None:
    """The first block that holds the name as it is: not across a line's end or a link's."""
    for place in sorted(entry.places):
        block = seen.prose[place].block
        if entry.title in seen.quoter.raw(block) and entry.title in seen.quoter.shown(block):
            return block
    return None


def _evident(entry: _Seen) -> bool:
    if entry.sure:
        return True
    return entry.inside > 0 and len(entry.places) >= 2


def _declared(seen: Survey) -> list[tuple[str, str, Span]]:
    """Names that properties and chat speakers declare: (name, kind, span)."""
    declared = []
    for prop in seen.note.properties:
        kind = _kind_of_key(prop.key.lower())
        if kind:
            for item in prop.items[:20]:
                name = plain_name(item)
                if _is_name(name, kind):
                    declared.append((name, kind, seen.quoter.block(prop)))
    speakers: set[str] = set()
    for prose in seen.prose:
        speaker = prose.block.speaker
        if speaker and speaker not in speakers:
            speakers.add(speaker)
            if _is_name(speaker, "person"):
                full = next((n for n, k, _ in declared if k == "person" and n.startswith(speaker + " ")), None)
                if not full:
                    declared.append((speaker, "person", seen.quoter.block(prose.block)))
    for line in seen.keyed:
        if (kind := _kind_of_key(line.key.lower())) and _is_name(line.value, kind) and " " in line.value:
            declared.append((line.value, kind, seen.quoter.block(line.block)))
    for rows in seen.rows:
        for row in rows[:25]:
            for header, cell in row.cells:
                if (kind := _kind_of_key(header.lower())) and _is_name(cell.strip(), kind):
                    declared.append((cell.strip(), kind, seen.quoter.block(row)))
    return declared


def _kind_of_key(key: str) -> str:
    if key in PERSON_KEYS:
        return "person"
    if key in ORGANISATION_KEYS:
        return "organisation"
    if key in PLACE_KEYS:
        return "place"
    return "product" if key in PRODUCT_KEYS else ""


def _is_name(name: str, kind: str) -> bool:
    if not 2 <= len(name) <= 48 or fold(name) in NOT_NAMES:
        return False
    if _CJK_NAME.match(name):
        return True
    if kind == "person" and not any(c.isdigit() for c in name) and _NAME.match(name):
        return True
    return kind != "person" and bool(_NAME.match(name)) and (kind != "place" or len(name.split()) <= 3)


def _found(seen: Survey) -> dict[str, _Seen]:
    found: dict[str, _Seen] = {}
    code = {fold(c.rstrip("()")) for c in seen.code}
    for prose in seen.prose[:MOST_BLOCKS]:
        if prose.block.quoted:
            continue
        block = prose.block
        skip = _labels(prose) if block.terms or block.web else None
        humps = _LOWER_HUMP.search(block.text) is not None
        handles = "@" in block.text
        for sentence in prose.sentences:
            for m in _runs(sentence, humps):
                name, starts = _trim(sentence, m)
                if name and not (skip and any(name in s for s in skip)):
                    key = fold(name)
                    if key not in code:
                        _note_name(found, key, name, sentence, m, starts, prose)
            if handles:
                for m in _HANDLE.finditer(sentence):
                    entry = found.setdefault(fold(m[0]), _Seen(m[0], (prose, m.start(), m.end()), kind="person"))
                    entry.places.add(prose.place)
                    entry.inside += 1
    return found


def _runs(sentence: str, humps: bool) -> Iterator[re.Match[str]]:
    yield from _RUN.finditer(sentence)
    if humps:
        yield from _LOWER_FIRST.finditer(sentence)


def _labels(prose: Prose) -> set[str]:
    """Texts in a block that are labels rather than prose: emphasised terms and link texts."""
    labels = {t for t in prose.block.terms}
    labels.update(w.text for w in prose.block.web if w.text and w.url[:4] != "http")
    return labels


def _trim(sentence: str, m: re.Match[str]) -> tuple[str, bool]:
    """The run without words that name nothing, and whether it begins its sentence."""
    starts = bool(_SENTENCE_START.search(sentence, max(0, m.start() - 3), m.start())) if m.start() else True
    words = m[0].split()
    dropped = False
    while words and words[0].rstrip(".").lower() in NOT_NAMES and words[0].lower() not in HONORIFICS:
        words, dropped = words[1:], True
    if starts and len(words) > 1 and not dropped and _opens_a_sentence(words[0].lower()):
        words, dropped = words[1:], True
    while words and words[-1].lower() in NOT_NAMES:
        words = words[:-1]
    if not words or words[0][0].islower() and len(words) > 1:
        return "", starts
    name = " ".join(words)
    if "'s " in name or "’s " in name:
        return "", starts
    for tail in ("'s", "’s"):
        if name.endswith(tail):
            name = name[:-2]
    if len(words) > 5 or len(name) < 3 or len(name) > 48:
        return "", starts
    return name.rstrip("'’.-&"), starts and not dropped


def _opens_a_sentence(word: str) -> bool:
    """Whether a capitalised word before a name is there because it begins the sentence: "Recently", "Second", "Uses"."""
    if word.endswith("ly") and len(word) > 4 or word in _ORDINALS or word.endswith("ing") and word[:-3] in BASE_VERBS:
        return True
    return word.endswith("s") and (word[:-1] in BASE_VERBS or word.endswith("es") and word[:-2] in BASE_VERBS)


_ORDINALS = frozenset("first second third fourth fifth last next another like unlike both via plus given".split())


def _note_name(found: dict[str, _Seen], key: str, name: str, sentence: str, m: re.Match[str], starts: bool, prose: Prose) -> None:
    words = name.split()
    verb = _next_word(sentence, m.end())
    before = sentence[max(0, m.start() - 14) : m.start()]
    kind, sure = "", False
    if words[0].lower() in HONORIFICS and words[0][1:].islower() and len(words) > 1:
        kind, sure = "person", True
    elif (
        len(words) > 1
        and words[-1].lower().rstrip(".") in CORPORATE
        or words[0] in ("University", "Institute", "Ministry", "Museum", "Bank")
    ):
        kind, sure = "organisation", not starts or len(words) > 1
    elif (
        verb in _SAYS
        and 1 <= len(words) <= 3
        and _plain_word(words)
        and not _CAPITAL_BEFORE.search(sentence, max(0, m.start() - 30), m.start())
    ):
        if len(words) == 1 and (name.lower() in BASE_VERBS or name[:-1].lower() in BASE_VERBS):
            return
        if before.rpartition(" ")[0].rpartition(" ")[2].lower() in PREPOSITIONS:
            return
        kind, sure = "person", True
    elif words[0].lower() in STREETS or words[-1].lower() in STREETS and len(words) > 1:
        kind, sure = "place", True
    elif _plain_word(words) and (
        _PLACE_BEFORE.search(sentence, max(0, m.start() - 20), m.start())
        or _SOMEBODY_LIVES.search(sentence, max(0, m.start() - 60), m.start())
    ):
        kind, sure = "place", False
    elif len(words) == 1:
        hump = _HUMP.match(name)
        if (
            name in _UNITS
            or m[0] != name
            and m[0][: len(name)] != name
            or hump
            and hump[1] in _CODE_VERBS
            or name.isupper()
            or not any(c.isupper() for c in name[1:])
        ):
            return
        kind = "product"
    elif any(c.isdigit() for c in words[0]) or all(w.isupper() for w in words):
        return
    elif any(w.lower() in PLACE_CUES for w in before.split()):
        kind = "place"
    entry = found.get(key)
    if entry is None:
        entry = found[key] = _Seen(name, (prose, m.start(), m.end()))
    entry.places.add(prose.place)
    entry.inside += not starts
    entry.kind = entry.kind or kind
    entry.sure = entry.sure or sure


def _plain_word(words: list[str]) -> bool:
    """Whether a name is spelt as people and places are: letters only, no capital inside a word."""
    return all(_LETTERS.match(w) and w[1:].islower() for w in words if w[0].isupper())


_LETTERS = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*\Z")
_CAPITAL_BEFORE = re.compile(rf"[{_U}][\w’'-]*\s\Z")


def _next_word(sentence: str, at: int) -> str:
    m = _NEXT.match(sentence, at)
    return m[1] if m else ""


_NEXT = re.compile(r"\s([a-z]+)\b")


_FULL_YEAR = re.compile(r"\d\d\d\d")


def _dates(seen: Survey) -> list[Draft]:
    """Full dates on which something changed, or that stand in more than one block."""
    places: dict[str, set[int]] = {}
    first: dict[str, Span] = {}
    matters: set[str] = set()
    if not _FULL_YEAR.search(seen.text):
        return []
    for prose in seen.prose:
        if not _FULL_YEAR.search(prose.block.text):
            continue
        for sentence in prose.sentences:
            for value in seen.values(sentence):
                if value.kind is SignalKind.DATE and len(value.value) >= 10 and value.value[0] != "-":
                    day = value.value[:10]
                    places.setdefault(day, set()).add(prose.place)
                    if correction(sentence):
                        matters.add(day)
                    if day not in first:
                        first[day] = seen.quoter.sentence(prose.block, sentence[value.start : value.end])
    chosen = sorted(
        (d for d in places if d in matters or len(places[d]) > 1), key=lambda d: (d not in matters, -len(places[d]), d)
    )
    return [_entity(day, "date", first[day], 0.5) for day in chosen[:MOST_DATES] if fold(day) not in seen.names]


def _entity(title: str, kind: str, span: Span, confidence: float) -> Draft:
    return Draft(MemoryType.ENTITY, title, (span,), tags=(kind,) if kind else (), confidence=confidence)
