"""What concepts may have in common that a person would name them by: words of their titles, a tag, a folder, what they are said
to be, or the folder together with the word.

Owns what traits there are, who has each, and how a trait is written as a title. Never decides which of them matter.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from smb.evolve.partition import Node
from smb.evolve.snapshot import Doc
from smb.evolve.terms import stem
from smb.evolve.word_forms import is_word, singulars
from smb.model.english import STOP_WORDS
from smb.model.identity import fold

WORDS = "words"  # kinds of traits; a trait is its kind, a colon and a folded value
TAG = "tag"
FOLDER = "folder"
KIND = "kind"
PLACED = "placed"  # a folder and, after a vertical bar, words
LONGEST = 4  # words of a phrase
_PART = re.compile(r"[()\[\]{}:;,|/\"“”„«»<>…!?]+|\s[–—-]\s")
_TOKEN = re.compile(r"[^\W_]+(?:['’.+#_-]+[^\W_]+)*[+#]*")
_CODE = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Phrase:
    """A run of words of a title; `ends` says that nothing but a code or a bracket follows it."""

    key: str
    surface: str
    ends: bool


def phrases_of(title: str) -> list[Phrase]:
    """The runs of one to four words of `title` that may name something, none across punctuation."""
    found: list[Phrase] = []
    for part in _PART.split(title):
        words = _TOKEN.findall(part)
        stems = [stem(word.lower()) for word in words]
        dull = [word.lower() in STOP_WORDS or bool(_CODE.search(word)) or len(word) < 2 for word in words]
        for start in range(len(words)):
            if dull[start] or words[start].lower().endswith("ing") and start == 0 and len(words) > 1 and words[start].lower() != words[start]:
                continue  # "Using …": what one does, not what it is about
            for end in range(start + 1, min(start + LONGEST, len(words)) + 1):
                if not dull[end - 1]:
                    found.append(Phrase(" ".join(stems[start:end]), " ".join(words[start:end]), all(_CODE.search(w) for w in words[end:])))
    return found


@dataclass
class Traits:
    """Who has which trait. `holders` lists ids by trait, each trait with at least three; `of` is the inverse."""

    nodes: Mapping[str, Node]
    documents: Mapping[str, Doc]
    kinds: Mapping[str, Sequence[str]]
    surfaces: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    endings: Counter[str] = field(default_factory=Counter)
    holders: dict[str, list[str]] = field(default_factory=dict)
    of: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found: dict[str, list[str]] = defaultdict(list)
        for id_, node in self.nodes.items():
            for trait in self._read(node):
                found[trait].append(id_)
        self.holders = {trait: ids for trait, ids in found.items() if len(ids) > 2}
        self.of = {id_: [] for id_ in self.nodes}
        for trait, ids in self.holders.items():
            for id_ in ids:
                self.of[id_].append(trait)

    def among(self, ids: Iterable[str]) -> list[str]:
        """The traits any of `ids` has, sorted."""
        return sorted({trait for id_ in ids for trait in self.of[id_]})

    def _read(self, node: Node) -> Iterable[str]:
        phrases = {phrase.key: phrase for phrase in phrases_of(node.item.title)}
        for phrase in phrases.values():
            self.surfaces[phrase.key][phrase.surface] += 1
            self.endings[phrase.key] += phrase.ends
        folders = self.folders_of(node)
        yield from (f"{WORDS}:{key}" for key in phrases)
        yield from (f"{TAG}:{fold(tag)}" for tag in node.item.tags)
        yield from (f"{FOLDER}:{folder}" for folder in folders)
        yield from (f"{KIND}:{kind}" for kind in self.kinds.get(node.id, ()))
        yield from (f"{PLACED}:{folder}|{key}" for key, phrase in phrases.items() if phrase.ends and " " not in key for folder in folders)

    def folders_of(self, node: Node) -> list[str]:
        """The folders above the document it is the subject of, outermost first."""
        if not node.home:
            return []
        parts = self.documents[node.home].path.split("/")[:-1]
        return ["/".join(parts[: n + 1]) for n in range(len(parts))]

    # ------------------------------------------------------------ titles

    @cached_property
    def _folder_names(self) -> Counter[str]:
        folders = {trait.partition(":")[2] for trait in self.holders if trait.startswith(f"{FOLDER}:")}
        return Counter(folder.rpartition("/")[2] for folder in folders)

    @cached_property
    def _titles(self) -> frozenset[str]:
        return frozenset(fold(node.item.title) for node in self.nodes.values())

    def names_a_thing(self, words: str) -> bool:
        """Whether an object of the bank bears this name."""
        return fold(words) in self._titles

    def title_of(self, trait: str, attested: str) -> str:
        """The trait as a title, "" where it would make a poor one. `attested` is lower-case text of the bank: a plural is used
        only where people who wrote it used it."""
        kind, _, value = trait.partition(":")
        match kind:
            case "words":
                return self._phrase_title(value, attested)
            case "tag":
                return _capital(self._written(value))
            case "folder":
                return _capital(self.folder_name(value))
            case "kind":
                return _capital(plural(value, attested, anyway=True))
            case _:
                folder, _, key = value.partition("|")
                name, words = self.folder_name(folder), self.surface(key)
                if set(map(stem, name.lower().split())) & set(key.split()) or not is_word(words.lower()):
                    return ""
                return _capital(f"{name} {plural(words.lower(), attested, anyway=True)}")

    def _phrase_title(self, key: str, attested: str) -> str:
        surface = self.surface(key)
        if self.names_a_thing(surface):
            return f"About {surface}" if " " in surface or not is_word(surface.lower()) else ""
        if " " not in key:
            return ""
        written = " ".join(self._word(word) for word in surface.split())
        ends = self.endings[key] >= 0.6 * sum(self.surfaces[key].values())
        return _capital(plural(written, attested) if ends else written)

    def folder_name(self, folder: str) -> str:
        """The name of a folder in words; with its parent's where several folders bear it."""
        parent, _, last = folder.rpartition("/")
        name = self._written(re.sub(r"[-_.]+", " ", last).strip() or last)
        return f"{self.folder_name(parent)} {name}" if parent and self._folder_names[last] > 1 else name

    def _written(self, words: str) -> str:
        """`words` as titles of the bank write them."""
        key = " ".join(stem(word) for word in words.lower().split())
        if " " in key and self.surfaces.get(key):
            return " ".join(self._word(word) for word in self.surface(key).split())
        return " ".join(self._word(self.surface(stem(word.lower())) if self.surfaces.get(stem(word.lower())) else word) for word in words.split())

    def surface(self, key: str) -> str:
        """A phrase as most titles write it."""
        return min(self.surfaces[key].items(), key=lambda pair: (-pair[1], pair[0]))[0]

    def _word(self, word: str) -> str:
        return word.lower() if word[1:].islower() and is_word(word.lower()) and not self.names_a_thing(word) else word


def plural(words: str, attested: str, anyway: bool = False) -> str:
    """`words` in the plural where `attested` has that plural, or `anyway`; as they are otherwise."""
    head, _, last = words.rpartition(" ")
    low = last.lower()
    if singulars(low) and is_word(low) and low.endswith("s") or low.endswith("ing") or not is_word(low):
        return words
    if re.search(r"[^aeiou]y$", low):
        many = last[:-1] + "ies"
    elif re.search(r"(?:s|x|z|ch|sh)$", low):
        many = last + "es"
    else:
        many = last + "s"
    whole = f"{head} {many}".strip()
    return whole if anyway or f" {whole.lower()}" in attested else words


def _capital(text: str) -> str:
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.islower() else text

