"""Object files read back: the inverse of `MemoryObject.to_markdown`, forgiving where a person has edited.

Owns how front matter becomes a `MemoryObject`. Every scalar stays the text that was written: nothing is taken for a
number, a date or a boolean, and tags are refused. Never opens a file. Importing this module imports PyYAML, so callers
on hot paths import it late.
"""

from __future__ import annotations

import re
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import yaml
from yaml.cyaml import CParser
from yaml.events import (
    AliasEvent, DocumentEndEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent,
)

from smb.model.edges import SEEN_FROM_THE_TARGET, EdgeType
from smb.model.errors import SmbError
from smb.model.evidence import Span
from smb.model.objects import EVIDENCE_SHOWN, RELATED, MemoryObject, MemoryType, Mode, Status, Verification

assert yaml.__with_libyaml__, "PyYAML was built without libyaml; install a wheel that has it"

_E = TypeVar("_E", bound=StrEnum)
_ONE_LINE = ("id", "type", "title", "confidence", "status", "created", "modified", "embedding_id", "graph_node_id", "revision",
             "verification", "mode", "valid_from", "valid_to", "recorded_at", "value", "attributed_to", "evidence_total")
_LISTS = ("aliases", "tags", "source_ids", "derived_from", "key")
_KNOWN = frozenset((*_ONE_LINE, *_LISTS, "evidence"))
_FENCE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_MARKER = re.compile(r"^(?:<{7}|={7}|>{7}|\|{7})", re.MULTILINE)
_RELATED_LINE = re.compile(rf"- (?:{'|'.join((*EdgeType, *SEEN_FROM_THE_TARGET.values()))}): \[\[[^\]|]*\|.*\]\]")
_LINES = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")


class MalformedObjectFile(SmbError):
    """An object file that can't be read back. `line` counts from 1; 0 means the file as a whole."""

    def __init__(self, path: Path | None, line: int, detail: str):
        self.path, self.line, self.detail = path, line, detail
        place = (f"{path}, line {line}" if line else str(path)) if path else (f"line {line}" if line else "the object file")
        super().__init__(f"{place}: {detail}. Mend it by hand, or undo the edit (`git checkout -- FILE`) and make it again.")


def deserialize_memory(text: str, path: Path | None = None) -> MemoryObject:
    """The object an object file shows (see `as_written` for what a file doesn't carry); `path` only for the error.

    Read the file as bytes and decode them: text mode would change line ends inside the body. Keys `to_markdown` never
    writes come back in `extra` as the lines that were written, with a comment directly above them. Text a person put
    into or below the generated `## Related` section is kept as the end of the body.
    Raises MalformedObjectFile for conflict markers, missing fences, broken YAML, tags, a missing or unknown id, type or title.
    """
    text = _unix_lines(text.removeprefix("\ufeff"))
    opening = _FENCE.match(text)
    closing = _FENCE.search(text, opening.end()) if opening else None
    if marker := _conflict(text, closing.start() if closing else 0):
        raise MalformedObjectFile(path, marker, "a git conflict marker")
    if opening is None:
        raise MalformedObjectFile(path, 1, "the file doesn't begin with the line ---")
    if closing is None:
        raise MalformedObjectFile(path, 0, "the front matter has no closing line ---")
    return _object(_FrontMatter(text[opening.end() + 1:closing.start()], path), text[closing.end() + 1:])


def as_written(obj: MemoryObject) -> MemoryObject:
    """The part of `obj` its file carries: `deserialize_memory(obj.to_markdown()) == as_written(obj)`.

    Left out are the links (the graph has them) and the location; evidence keeps the first 12 digits of its source, its
    lines and its quote, for the quotes shown; confidence is rounded to two places; a body that only repeats the title
    is no body, nor is what it has of a `## Related` section that looks as generated; a value without a key isn't written.
    """
    shown = (obj.body or obj.title).rstrip()
    body = shown if any(link.page for link in obj.links) else _body(f"\n{shown}")
    return replace(
        obj,
        body="" if body == obj.title.rstrip() else body,
        confidence=float(f"{obj.confidence:.2f}"),
        source_ids=tuple(source[:12] for source in obj.source_ids),
        valid_from=obj.valid_from or None,
        valid_to=obj.valid_to or None,
        value=obj.value if obj.key else "",
        evidence=tuple(Span(s.source[:12], 0, 0, s.line_start, s.line_end, s.quote) for s in obj.evidence[:EVIDENCE_SHOWN]),
        links=(),
        extra=tuple((key, raw.rstrip("\n")) for key, raw in obj.extra),
        location="",
    )


def same_as_rendered(text: str, obj: MemoryObject) -> bool:
    """Whether a file with this text is `obj` as we would write it: nobody has edited it. Line ends may have become CRLF."""
    return _unix_lines(text) == obj.to_markdown()


def _unix_lines(text: str) -> str:
    """CRLF as LF where every line ends so (git or an editor did that); a lone CRLF inside a body is content."""
    crlf = text.count("\r\n")
    return text.replace("\r\n", "\n") if crlf and crlf == text.count("\n") else text


def _object(front: _FrontMatter, rest: str) -> MemoryObject:
    title = front.text("title")
    confidence = front.text("confidence", "0.5")
    try:
        sure = float(confidence)
    except ValueError as error:
        raise front.malformed("confidence", f"{confidence!r} is no number") from error
    if not 0 <= sure <= 1:
        raise front.malformed("confidence", f"{confidence} is not between 0 and 1")
    key = front.list("key")
    if len(key) not in (0, 2):
        raise front.malformed("key", "a key is [subject, attribute]")
    id_ = front.text("id")
    if not id_:
        raise front.malformed("id", "the id is empty")
    body = _body(rest)
    return MemoryObject(
        id=id_,
        type=front.choice("type", MemoryType),
        title=title,
        body="" if body == title.rstrip() else body,
        aliases=front.list("aliases"),
        tags=front.list("tags"),
        confidence=sure,
        status=front.choice("status", Status, "active"),
        created=front.text("created", ""),
        modified=front.text("modified", ""),
        source_ids=front.list("source_ids"),
        revision=front.text("revision", ""),
        verification=front.choice("verification", Verification, "unverified"),
        mode=front.choice("mode", Mode, "extracted"),
        valid_from=front.text("valid_from", "") or None,
        valid_to=front.text("valid_to", "") or None,
        recorded_at=front.text("recorded_at", ""),
        key=(key[0], key[1]) if key else (),
        value=front.text("value", "") if key else "",
        attributed_to=front.text("attributed_to", ""),
        evidence=front.evidence(),
        derived_from=front.list("derived_from"),
        extra=tuple(front.extra),
    )


def _body(rest: str) -> str:
    """The text below the front matter without the section made from the graph."""
    body = rest.removeprefix("\n").rstrip()
    above, heading, below = body.rpartition(f"\n{RELATED}\n")
    if not heading and body.startswith(f"{RELATED}\n"):
        above, heading, below = "", RELATED, body[len(RELATED) + 1:]
    lines = below.split("\n")
    generated = [line for line in lines if _RELATED_LINE.fullmatch(line)]
    if not heading or not generated:
        return body
    kept = "\n".join(line for line in lines if line not in set(generated)).strip("\n")
    return "\n\n".join(part for part in (above.rstrip(), kept) if part)


def _conflict(text: str, front_end: int) -> int:
    """The line of a conflict marker: any in the front matter, a whole set of three in the body; 0 without one."""
    if found := _MARKER.search(text, 0, front_end):
        return text.count("\n", 0, found.start()) + 1
    at = start = 0 if text.startswith("<<<<<<< ") else text.find("\n<<<<<<< ")
    for marker in ("\n=======\n", "\n>>>>>>> "):
        at = text.find(marker, at) if at >= 0 else -1
    return text.count("\n", 0, start + 1) + 1 if at >= 0 else 0


class _FrontMatter:
    """The keys of one front matter, as libyaml's events tell them: scalars as text, lists of text, nothing resolved."""

    def __init__(self, source: str, path: Path | None):
        self.path = path
        self.source = source
        self.values: dict[str, Any] = {}
        self.starts: dict[str, int] = {}  # where each key's line begins in `source`
        self.extra: list[tuple[str, str]] = []
        try:
            self._read(CParser(source))
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            detail = f"the front matter is no YAML ({error.problem or error.context})"
            raise self.malformed(mark.index if mark else -1, detail) from error
        except (yaml.YAMLError, UnicodeEncodeError) as error:
            raise self.malformed(-1, f"the front matter is no YAML ({' '.join(str(error).split())})") from error

    def malformed(self, where: str | int, detail: str) -> MalformedObjectFile:
        """The error for a key, or for a place in the front matter; -1 is no place."""
        at = self.starts.get(where, -1) if isinstance(where, str) else where
        return MalformedObjectFile(self.path, self.source.count("\n", 0, at) + 2 if at >= 0 else 0, detail)

    def text(self, key: str, default: str | None = None) -> str:
        """The scalar under `key`. Raises MalformedObjectFile when it is no scalar, or missing without a default."""
        value = self.values.get(key, default)
        if value is None:
            raise self.malformed(-1, f"the front matter has no {key}")
        if not isinstance(value, str):
            raise self.malformed(key, f"{key} must be one line of text")
        return value

    def list(self, key: str) -> tuple[str, ...]:
        """The texts under `key`; a single scalar is a list of one, nothing an empty list."""
        value = self.values.get(key, "")
        if isinstance(value, str):
            return (value,) if value else ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.malformed(key, f"{key} must be a list of texts")
        return tuple(value)

    def choice(self, key: str, kind: type[_E], default: str | None = None) -> _E:
        """The member of `kind` under `key`."""
        value = self.text(key, default)
        try:
            return kind(value)
        except ValueError as error:
            raise self.malformed(key, f"{value!r} is no {key}; it is one of {', '.join(kind)}") from error

    def evidence(self) -> tuple[Span, ...]:
        """The quotes, each a Span without its bytes."""
        value = self.values.get("evidence") or []
        if not isinstance(value, list):
            raise self.malformed("evidence", "evidence must be a list of source, lines and quote")
        return tuple(map(self._span, value))

    def _span(self, item: Any) -> Span:
        fields = [item.get(name) for name in ("source", "lines", "quote")] if isinstance(item, dict) else [None]
        found = _LINES.fullmatch(fields[1]) if all(isinstance(field, str) for field in fields) else None
        if found is None:
            raise self.malformed("evidence", "each piece of evidence is a source, lines (12 or 12-14) and a quote")
        return Span(fields[0], 0, 0, int(found[1]), int(found[2] or found[1]), fields[2])

    def _read(self, parser: CParser) -> None:
        """Fills `values`, `starts` and `extra`."""
        parser.get_event(), parser.get_event()  # the stream begins, the document begins
        event = parser.get_event()
        if type(event) is not MappingStartEvent or event.flow_style:
            raise self.malformed(0, "the front matter must be lines of the form `key: value`")
        begins: list[tuple[str, int]] = []  # each key, and where what belongs to it begins
        ended = 0
        while type(event := parser.get_event()) is not MappingEndEvent:
            if type(event) is not ScalarEvent or event.start_mark.column or event.tag is not None or event.anchor is not None:
                raise self.malformed(event.start_mark.index, "a key must be plain text at the beginning of its line")
            key, at = event.value, event.start_mark.index
            if key in self.starts:
                raise self.malformed(at, f"the key {key} is there twice")
            self.starts[key] = at
            begins.append((key, at if key in _KNOWN else self._with_comment(at, ended)))
            if key in _KNOWN:
                self.values[key], ended = self._value(parser, parser.get_event(), key)
            else:
                ended = self._skip(parser, key)
        if type(event := parser.get_event()) is not DocumentEndEvent or event.explicit:
            raise self.malformed(event.start_mark.index, "the front matter ends before its closing ---")
        for (key, begin), (_, end) in zip(begins, [*begins[1:], ("", len(self.source))], strict=True):
            if key not in _KNOWN:
                self.extra.append((key, self.source[begin:end].rstrip("\n")))

    def _with_comment(self, at: int, ended: int) -> int:
        """Where the comment lines directly above a key begin, but not before the value above has `ended`."""
        while (above := self.source.rfind("\n", 0, max(at - 1, 0)) + 1) >= ended and above < at and self.source[above] == "#":
            at = above
        return at

    def _value(self, parser: CParser, event: Any, key: str, depth: int = 0) -> tuple[Any, int]:
        """The value that begins with `event`, as text, list or dict, and where its last scalar ends."""
        if type(event) is AliasEvent or event.tag is not None or event.anchor is not None:
            raise self.malformed(event.start_mark.index, f"{key} can't have a tag, an anchor or an alias")
        if type(event) is ScalarEvent:
            return event.value, event.end_mark.index
        if depth == 2:
            raise self.malformed(event.start_mark.index, f"{key} is nested too deeply")
        ended = event.end_mark.index
        if type(event) is SequenceStartEvent:
            items = []
            while type(event := parser.get_event()) is not SequenceEndEvent:
                item, ended = self._value(parser, event, key, depth + 1)
                items.append(item)
            return items, ended
        fields: dict[str, Any] = {}
        while type(event := parser.get_event()) is not MappingEndEvent:
            name, _ = self._value(parser, event, key, depth + 1)
            if not isinstance(name, str):
                raise self.malformed(event.start_mark.index, f"{key} has a key that is no text")
            fields[name], ended = self._value(parser, parser.get_event(), key, depth + 1)
        return fields, ended

    def _skip(self, parser: CParser, key: str) -> int:
        """Passes over a value nobody interprets; returns where its last scalar ends."""
        depth, ended = 0, 0
        while True:
            event = parser.get_event()
            if type(event) in (SequenceEndEvent, MappingEndEvent):
                depth -= 1
            else:
                if getattr(event, "tag", None) is not None:
                    raise self.malformed(event.start_mark.index, f"{key} can't have a tag")
                depth += type(event) in (SequenceStartEvent, MappingStartEvent)
                ended = event.end_mark.index
            if depth == 0:
                return ended
