"""What concepts may have in common that a person would name them by.

That is words of their titles, a tag, a folder, what they are said to be, or the folder together with the word. Owns what traits there are, who has each, and how a trait is written as a title. Never decides which of them matter.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from smb.evolve.grouping.partition import Node
from smb.evolve.snapshot import Doc
from smb.evolve.language.rarity import frequency, rarity
from smb.evolve.language.terms import stem
from smb.evolve.language.word_forms import is_word, singulars
from smb.model.english import STOP_WORDS
from smb.model.identity import fold
from smb.model.objects import MemoryType

WORDS = "words"  # kinds of traits; a trait is its kind, a colon and a folded value
TAG = "tag"
FOLDER = "folder"
KIND = "kind"
PLACED = "placed"  # a folder and, after a vertical bar, words
LONGEST = 4  # words of a phrase
COUNTABLE = 0.03  # share of the uses of a word that must be in the plural for its plural to sound right
_STEM = 4  # letters a stem and every word it is the stem of have in common
BROAD = 0.3  # share of the nodes beyond which a folder tells nothing of a word
_PART = re.compile(r"[()\[\]{}:;,|/\"“”„«»<>…!?]+|\s[–—-]\s")
_TOKEN = re.compile(r"[^\W_]+(?:['’.+#_-]+[^\W_]+)*[+#]*")
_CODE = re.compile(r"\d")
_JOINING = frozenset("of for in on and".split())  # small words a name may have within it
_RARE = 5.0  # rarity from which on a single English word says what a thing is about


@dataclass(frozen=True, slots=True)
class Phrase:
    """A run of words of a title; `ends` says that nothing but a code or a bracket follows it."""

    key: str
    surface: str
    ends: bool


@lru_cache(maxsize=32_768)
def phrases_of(title: str) -> tuple[Phrase, ...]:
    """The runs of one to four words of `title` that may name something, none across punctuation."""
    found: list[Phrase] = []
    for part in _PART.split(title):
        words = _TOKEN.findall(part)
        stems = [stem(word.lower()) for word in words]
        dull = [word.lower() in STOP_WORDS or bool(_CODE.search(word)) or len(word) < 2 for word in words]
        for start in range(len(words)):
            if dull[start] or stems[start] == "use" or words[start][0].isupper() and words[start].endswith("ing") and len(words) > start + 1 and start == 0:
                continue  # "Using …", "Running …": what one does, not what it is about
            for end in range(start + 1, min(start + LONGEST, len(words)) + 1):
                if not dull[end - 1]:
                    found.append(Phrase(" ".join(stems[start:end]), " ".join(words[start:end]), all(_CODE.search(w) for w in words[end:])))
                elif words[end - 1].lower() not in _JOINING:
                    break
    return tuple(found)


@dataclass
class Traits:
    """Who has which trait, of the nodes `read` (all, where it is None): each is looked at when it is asked about."""

    nodes: Mapping[str, Node]
    documents: Mapping[str, Doc]
    kinds: Mapping[str, Sequence[str]]
    read: Collection[str] | None = None
    _of: dict[str, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        filed = Counter(folder for node in self.nodes.values() for folder in self.folders_of(node))
        self.broad = {folder for folder, n in filed.items() if n > BROAD * len(self.nodes)}
        self.folder_names = Counter(folder.rpartition("/")[2] for folder, n in filed.items() if n > 2)

    def is_read(self, id_: str) -> bool:
        return id_ in (self.nodes if self.read is None else self.read)

    def of(self, id_: str) -> list[str]:
        """The traits of a node that is read."""
        if id_ not in self._of:
            self._of[id_] = list(self._read(self.nodes[id_]))
        return self._of[id_]

    @cached_property
    def holders(self) -> dict[str, list[str]]:
        """Ids by trait, each trait with at least three."""
        found: dict[str, list[str]] = defaultdict(list)
        for id_ in self._ids:
            for trait in self.of(id_):
                found[trait].append(id_)
        return {trait: ids for trait, ids in found.items() if len(ids) > 2}

    @cached_property
    def _written_as(self) -> tuple[dict[str, Counter[str]], Counter[str]]:
        """How titles write each phrase, and how often it ends one."""
        surfaces: dict[str, Counter[str]] = defaultdict(Counter)
        endings: Counter[str] = Counter()
        for id_ in self._ids:
            for phrase in {phrase.key: phrase for phrase in phrases_of(self.nodes[id_].item.title)}.values():
                surfaces[phrase.key][phrase.surface] += 1
                endings[phrase.key] += phrase.ends
        return surfaces, endings

    @property
    def _ids(self) -> Collection[str]:
        return self.nodes if self.read is None else sorted(self.read)

    def among(self, ids: Iterable[str]) -> list[str]:
        """The traits any of `ids` has and at least three have, sorted."""
        return sorted({trait for id_ in ids for trait in self.of(id_) if trait in self.holders})

    def _read(self, node: Node) -> Iterable[str]:
        phrases = {phrase.key: phrase for phrase in phrases_of(node.item.title)}
        folders = self.folders_of(node)
        yield from (f"{WORDS}:{key}" for key in phrases)
        if node.item.type is MemoryType.CONCEPT:  # an entity's tag is the sort of entity it is
            yield from (f"{TAG}:{fold(tag)}" for tag in node.item.tags)
        yield from (f"{FOLDER}:{folder}" for folder in folders)
        yield from (f"{KIND}:{kind}" for kind in self.kinds.get(node.id, ()))
        yield from (f"{PLACED}:{folder}|{key}" for key, phrase in phrases.items() if phrase.ends and " " not in key
                    for folder in folders if folder not in self.broad)

    def folders_of(self, node: Node) -> list[str]:
        """The folders above the document it is the subject of, outermost first."""
        return _above(self.documents[node.home].path.rpartition("/")[0]) if node.home else []

    # ------------------------------------------------------------ titles

    @cached_property
    def _titles(self) -> dict[str, str]:
        return {fold(node.item.title): node.item.title for node in self.nodes.values()}

    def names_a_thing(self, words: str) -> bool:
        """Whether an object of the bank bears this name."""
        return fold(words) in self._titles

    def title_of(self, trait: str) -> str:
        """The trait as a title, "" where it would make a poor one."""
        kind, _, value = trait.partition(":")
        match kind:
            case "words":
                title = self._phrase_title(value)
            case "tag":
                title = _capital(self._written(value.replace("/", " ")))
            case "folder":
                title = _capital(self.folder_name(value))
            case "kind":
                title = _capital(plural(value) or value)
            case _:
                folder, _, key = value.partition("|")
                title = self._placed_title(self.folder_name(folder), self.surface(key).lower())
        return f"About {self._titles[fold(title)]}" if fold(title) in self._titles else title

    def _phrase_title(self, key: str) -> str:
        surface = self.surface(key)
        if self.names_a_thing(surface):
            named = self._titles[fold(surface)]
            return surface if " " in key or not is_word(surface.lower()) or rarity(surface.lower()) >= _RARE and named[0].isalnum() else ""
        if " " not in key:
            return ""
        written = " ".join(self._word(word) for word in surface.split())
        surfaces, endings = self._written_as
        ends = endings[key] >= 0.6 * sum(surfaces[key].values())
        return _capital(ends and plural(written) or written)

    def _placed_title(self, folder: str, word: str) -> str:
        many = plural(word)
        if not folder or not many or not is_word(word) or stem(word) in map(stem, folder.lower().split()):
            return ""
        return _capital(f"{folder} {many}")

    def folder_name(self, folder: str) -> str:
        """The name of a folder in words, with its parent's where several folders bear it; "" for a name nobody writes."""
        parent, _, last = folder.rpartition("/")
        name = self._written(re.sub(r"[-_.]+", " ", last).strip())
        if name and parent and self.folder_names[last] > 1:
            above = self.folder_name(parent)
            return f"{above} {name}" if above else ""
        return name

    def _written(self, words: str) -> str:
        """`words` as titles of the bank write them, "" where one is neither a word nor written anywhere."""
        key = " ".join(stem(word) for word in words.lower().split())
        found: list[str] = []
        for word in words.split():
            cases = Counter({s: n for s, n in self._written_as[0].get(stem(word.lower()), Counter()).items() if s.lower() == word.lower()})
            if not cases and not is_word(word.lower()) and word.isascii():
                return ""
            found.append(self._word(min(cases, key=lambda s: (-cases[s], s)) if cases else word))
        return " ".join(found)

    def surface(self, key: str) -> str:
        """A phrase as most titles write it."""
        return min(self._written_as[0][key].items(), key=lambda pair: (-pair[1], pair[0]))[0]

    def _word(self, word: str) -> str:
        return word.lower() if word[1:].islower() and is_word(word.lower()) and not self.names_a_thing(word) else word


def surface_among(titles: Iterable[str], key: str) -> str:
    """The words of the phrase `key` as most of `titles` write them."""
    found = Counter(phrase.surface for title in titles for phrase in phrases_of(title) if phrase.key == key)
    return min(found, key=lambda surface: (-found[surface], surface), default=key)


def plural(words: str) -> str:
    """`words` with the last one in the plural, "" where English hardly ever uses that word in the plural."""
    head, _, last = words.rpartition(" ")
    low = last.lower()
    if low.endswith("s") and singulars(low) and is_word(low):
        return words
    if re.search(r"[^aeiou]y$", low):
        many = last[:-1] + "ies"
    elif re.search(r"(?:s|x|z|ch|sh)$", low):
        many = last + "es"
    else:
        many = last + "s"
    common = last[1:] == low[1:] and frequency(many.lower()) > COUNTABLE * frequency(low)
    return f"{head} {many}".strip() if common else ""


def _capital(text: str) -> str:
    first = text.split(" ", 1)[0]
    return text[:1].upper() + text[1:] if first.islower() and is_word(first) else text



def alike_by_name(nodes: Mapping[str, Node], documents: Mapping[str, Doc], ids: Collection[str], broad: float) -> set[str]:
    """`ids` and every node that may share a trait with one of them that at most the share `broad` of all nodes have."""
    words = {word for i in ids for phrase in phrases_of(nodes[i].item.title) for word in phrase.key.split()}
    tags = {fold(tag) for i in ids for tag in nodes[i].item.tags}
    homes = Counter(documents[node.home].path.rpartition("/")[0] for node in nodes.values() if node.home)
    near = {documents[nodes[i].home].path.rpartition("/")[0] for i in ids if nodes[i].home}
    folders = tuple(f"{above}/" for folder in near for above in _above(folder)
                    if sum(n for other, n in homes.items() if f"{other}/".startswith(f"{above}/")) <= broad * len(nodes))
    found = set(ids)
    for id_, node in nodes.items():
        low = node.item.title.lower()
        if (any(word[:_STEM] in low for word in words) or tags and any(fold(tag) in tags for tag in node.item.tags)
                or node.home and folders and documents[node.home].path.startswith(folders)):
            found.add(id_)
    return found


def _above(folder: str) -> list[str]:
    parts = folder.split("/")
    return ["/".join(parts[: n + 1]) for n in range(len(parts)) if folder]
