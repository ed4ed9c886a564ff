"""The phase `wording`: what rules put together, said the way a person would.

Owns which texts a language model is asked to reword, and what comes of its answer: a restatement of the object by the model, every
sentence with the objects it cites behind it, marked with the text it was made from, or nothing. Titles, links, evidence and
confidence stay. The phase that holds an object treats a rewording of what it still says as its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from smb.evolve.judging.borne_out import Source, borne_out, source_of
from smb.evolve.phase import Proposals, again, undone_by_a_person
from smb.evolve.snapshot import Item, Snapshot
from smb.evolve.combining.support import Support, quotes_of
from smb.evolve.language.terms import terms_of, words_of
from smb.evolve.combining.wording import Sentence, said
from smb.model.authorship import text_hash, worded_from, worded_mark
from smb.model.citation_lock import Cited, sentences_of
from smb.model.currentness import stated
from smb.model.disagreement import QUESTION
from smb.model.identity import fold, sha256_hex, short_hash
from smb.model.objects import MemoryType, Mode
from smb.model.revision import Revision, RevisionKind, Statement, new_revision
from smb.model.validity import to_iso
from smb.stores.catalog import Catalog
from smb.stores.model_memo import ModelMemo

if TYPE_CHECKING:
    from smb.inference.ollama_client import ModelClient
    from smb.inference.prompts import Prompt, Template

VERSION = "1"  # of the gates and of what is shown
MOST = 60  # texts asked about in one cycle
ANSWER_TOKENS = 900
ITEMS = 14  # cited objects shown
_ITEM_CHARACTERS = 700
_LONGEST = 420
SCHEMA: Mapping[str, Any] = {
    "type": "object", "additionalProperties": False, "required": ["sentences"],
    "properties": {"sentences": {"type": "array", "maxItems": 20, "items": {"type": "string", "maxLength": 2 * _LONGEST}}},
}
_TYPES = (MemoryType.SYNTHESIS, MemoryType.ABSTRACTION, MemoryType.NARRATIVE, MemoryType.QUESTION)  # in the order they are asked about
_LINK = re.compile(r"\[\[([^|\]]*)(?:\|[^\]]*)?\]\]")
_MARKUP = re.compile(r"[*`]+|\A#+\s+|\[\[(?:[^|\]]*\|)?([^|\]]*)\]\]|!?\[([^\[\]]*)\]\([^()]*\)")
_A_PARAGRAPH = 4  # sentences
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True, slots=True)
class _Needs:
    """What of a kind of text must hold for a rewording to be taken: sentences, cited objects and sources, and the share of the objects
    the draft cites. `head`: its first paragraph counts what no object says, and stays."""

    sentences: int
    objects: int = 1
    sources: int = 1
    share: float = 1.0
    head: bool = False


_NEEDS = {
    MemoryType.SYNTHESIS: _Needs(2, 3, 2, 0.75), MemoryType.ABSTRACTION: _Needs(2, 3, 1, 0.6, head=True),
    MemoryType.NARRATIVE: _Needs(3, 3, 2, 0.75, head=True), MemoryType.QUESTION: _Needs(1, 2),
}


@dataclass(frozen=True, slots=True)
class _Text:
    """A text of rules: the revision that states it, the paragraphs that stay, the draft between them, and the objects it cites."""

    item: Item
    said: Revision
    statement: Statement
    head: str
    draft: str
    tail: str
    cited: tuple[Item, ...]

    @property
    def hash(self) -> str:
        return text_hash(self.said.object_id, self.said.object_type, self.statement, self.said.evidence)

    @property
    def linked(self) -> frozenset[str]:
        """The objects the draft itself cites."""
        own = {item.page: item.id for item in self.cited}
        return frozenset(own[page] for page in _LINK.findall(self.draft) if page in own)


@dataclass(frozen=True, slots=True)
class _Case:
    text: _Text
    sources: Mapping[int, Source]
    prompt: Prompt

    @property
    def key(self) -> str:
        return sha256_hex(f"{self.prompt.hash}\x1f{self.prompt.user}".encode("utf-8", "surrogatepass"))


def fingerprint(model: str, template: Template) -> str:
    """Names the writer. `model` with its digest."""
    return short_hash("word", VERSION, model, template.hash)


class Rewording:
    """The phase. It looks at every text of rules in every cycle; what a model said of one is kept in `memo`. Without a
    `client` it asks nothing, and `trouble` says why."""

    name = "wording"
    version = 1

    def __init__(self, client: ModelClient | None, memo: ModelMemo, template: Template, trouble: str = "", progress: Progress | None = None):
        self._client, self._memo, self._template, self._trouble, self._progress = client, memo, template, trouble, progress
        self._left: list[list[str]] = []
        self._note = ""

    async def ask(self, snapshot: Snapshot) -> None:
        """Asks about the first texts nobody has asked about."""
        from smb.inference.model_errors import ModelError, ModelUnavailable

        self._note = self._trouble
        if (client := self._client) is None:
            return
        model = await client.in_use()
        self._memo.begin(fingerprint(f"{model.name}@{model.digest[:12]}", self._template))
        cases, _ = await self._cases(snapshot)
        waiting = [case for case in cases if self._memo.get(case.key) is None]
        self._memo.leave([[case.text.item.id] for case in waiting])
        failed = self._memo.failed()
        waiting = sorted(waiting, key=lambda c: failed.get(c.key, {}).get("times", 0))[:MOST]

        async def ask(case: _Case) -> tuple[str, list[dict[str, Any]]]:
            reply = await client.structured(case.prompt, SCHEMA, check=lambda value: value, answer_tokens=ANSWER_TOKENS)
            return reply.actor, [reply.value]

        async for case, outcome in client.each(waiting, ask, stage=self.name, progress=self._progress):
            if isinstance(outcome, ModelUnavailable):
                self._note = str(outcome)
            elif isinstance(outcome, ModelError):
                self._memo.fail(case.key, str(outcome))
                self._note = self._note or str(outcome)
            else:
                self._memo.put(case.key, *outcome)

    async def propose(self, snapshot: Snapshot) -> Proposals:
        cases, support = await self._cases(snapshot)
        self._left = []
        revisions: list[Revision] = []
        histories = await snapshot.histories(case.text.item.id for case in cases)
        for case in cases:
            held = self._memo.get(case.key)
            if held is None:
                self._left.append([case.text.item.id])
            elif body := _body(case, held["answers"], support):
                text = case.text
                worded = replace(text.statement, body=body, extra=(*text.statement.extra, worded_mark(text.hash, held["actor"])))
                revision = new_revision(RevisionKind.ASSERT, text.item.id, text.item.type.value, statement=worded, evidence=text.said.evidence,
                                        replaces=(text.said.id,), actor=held["actor"])
                revisions.append(again(revision, {r.id: r for r in histories[text.item.id]}))
        waits = f"{len(self._left)} of {len(cases)} texts wait for a model" if self._left else ""
        return Proposals(revisions=revisions, note=f"{waits}: {self._note}" if waits and self._note else waits)

    async def settle(self, catalog: Catalog) -> None:
        self._memo.leave(self._left)

    async def _cases(self, snapshot: Snapshot) -> tuple[list[_Case], Support]:
        from smb.inference.prompts import Data

        texts = await _texts(snapshot)
        support = await quotes_of(snapshot, sorted({item.id for text in texts for item in text.cited}))
        bodies = await snapshot.bodies(item.id for text in texts for item in text.cited)
        cases = []
        for text in texts:
            sources = {n: _source(item, support, bodies.get(item.id, "")) for n, item in enumerate(text.cited, 1)}
            items = "\n\n".join(f"[{n}] {source.text}" for n, source in sources.items())
            numbers = {item.page: n for n, item in enumerate(text.cited, 1)}
            draft = _LINK.sub(lambda m: f"[{numbers[m[1]]}]" if m[1] in numbers else m[0].rpartition("|")[2].strip("[]"), text.draft)
            cases.append(_Case(text, sources, self._template.fill(
                kind=text.item.type.value, title=Data(text.item.title, "title"), draft=Data(draft, "draft"), items=Data(items, "items"))))
        return cases, support


async def _texts(snapshot: Snapshot) -> list[_Text]:
    """The texts of rules that are live and that nobody has reworded, worth most first."""
    items = [i for type_ in _TYPES for i in sorted(snapshot.of_type(type_), key=lambda i: (-i.confidence, i.id)) if i.mode is Mode.INFERRED]
    lapsed = await snapshot.superseded()
    pages = {item.page: item for item in (*lapsed.values(), *snapshot.items.values())}
    histories = await snapshot.histories(item.id for item in items)
    found = []
    for item in items:
        history = histories.get(item.id, [])
        live = [r for r in stated(history) if r.object_id == item.id]
        if len(live) != 1 or not isinstance(statement := live[0].statement, Statement) or live[0].actor != item.identity.partition(":")[0] or worded_from(statement):
            continue
        if item.type is MemoryType.QUESTION and not item.identity.startswith(QUESTION):
            continue  # what another one rests on is a count of the bank's own
        head, draft, tail = _cut(statement.body, _NEEDS[item.type].head)
        ids = dict.fromkeys(map(snapshot.canonical, statement.derived_from))
        if item.type is MemoryType.QUESTION:  # it rests on its contradiction, which rests on the two sides it speaks of
            ids, tail = dict.fromkeys(pages[page].id for page in _LINK.findall(draft) if page in pages and pages[page].id not in ids), _see(snapshot, ids, tail)
        cited = [found_ for i in ids if (found_ := snapshot.items.get(i) or lapsed.get(i)) is not None and "instruction" not in found_.tags][:ITEMS]
        text = _Text(item, live[0], statement, head, draft, tail, tuple(cited))
        if not draft or len(cited) < _NEEDS[item.type].objects:
            continue
        if not any(worded_from(r.statement) == text.hash and undone_by_a_person(r, history, live[0].actor) for r in history):
            found.append(text)
    return found


def _see(snapshot: Snapshot, ids: Iterable[str], tail: str) -> str:
    links = [snapshot.items[i].link for i in ids if i in snapshot.items]
    return "\n\n".join((*(f"See {link}." for link in links), tail))


def _both_told(said_: str, sides: Sequence[str]) -> bool:
    """Whether a text about a disagreement tells what each of two sides says and the other doesn't."""
    if len(sides) != 2:
        return False
    told, one, other = ({*terms_of(text), *words_of(text)} for text in (said_, *sides))
    return all(not alone or alone & told for alone in (one - other, other - one))


def _cut(body: str, head: bool) -> tuple[str, str, str]:
    """(what stays before, the draft, what stays behind): a paragraph that counts, and those with a command."""
    paragraphs = body.split("\n\n")
    first = paragraphs[:1] if head else []
    rest = paragraphs[len(first) :]
    tail = [p for p in rest if p.startswith("`")]
    return "\n\n".join(first), "\n\n".join(p for p in rest if p not in tail).strip(), "\n\n".join(tail)


def _source(item: Item, support: Support, body: str) -> Source:
    homes = support.documents.get(item.id, ())
    quotes = [_plain(span.quote) for span in support.quotes.get(item.id, ())[:3]]
    around = [f"Note: {home.title}" for home in homes[:1]]
    around += [f"Dated: {(to_iso(home.date.start) or '')[:10]}" for home in homes[:1] if home.date.start is not None]
    around += [f"Since: {item.valid_from[:10]}" if item.valid_from else "", f"Until: {item.valid_to[:10]}" if item.valid_to else "",
               f"Said by: {item.attributed_to}" if item.attributed_to else ""]
    told = [_plain(item.title), *([_plain(body)[:_ITEM_CHARACTERS]] if item.type is not MemoryType.CLAIM and body else []), *quotes]
    once = {fold(text): text for text in reversed(told)}
    return source_of(told[0], list(reversed(once.values())), [line for line in around if line], item.attributed_to)


def _plain(text: str) -> str:
    """Text of a note without the marks of its markup."""
    return " ".join(_MARKUP.sub(lambda m: (m[1] or m[2] or "").partition("#")[0], text).split())


def _body(case: _Case, answers: Sequence[Mapping[str, Any]], support: Support) -> str:
    """The reworded page; "" where too little of the answer is borne out."""
    text, needs = case.text, _NEEDS[case.text.item.type]
    kept: dict[str, Cited] = {}
    for answer in answers:
        for told in answer["sentences"]:
            for sentence in sentences_of(told):
                if isinstance(judged := borne_out(sentence, case.sources), Cited):
                    kept.setdefault(judged.text, judged)
    cited = {text.cited[n - 1].id: text.cited[n - 1] for one in kept.values() for n in one.cites}
    drafted = text.linked
    if len(kept) < needs.sentences or len(cited) < needs.objects or len(support.sources(list(cited.values()))) < needs.sources:
        return ""
    if drafted and len(drafted & cited.keys()) < needs.share * len(drafted):
        return ""
    if text.item.type is MemoryType.QUESTION and not _both_told(" ".join(kept), [i.title for i in text.cited if i.type is MemoryType.CLAIM][:2]):
        return ""
    claims = {i: homes[0].title for i, homes in support.documents.items() if homes and i in cited and cited[i].type is MemoryType.CLAIM}
    lines = [said(Sentence(one.text, tuple(text.cited[n - 1] for n in one.cites)), claims) for one in kept.values()]
    paragraphs = [" ".join(lines[n : n + _A_PARAGRAPH]) for n in range(0, len(lines), _A_PARAGRAPH)]
    return "\n\n".join(part for part in (text.head, *paragraphs, text.tail) if part)
