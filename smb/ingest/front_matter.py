"""Front matter: the properties between the fences on top of a note.

Owns where front matter begins and ends and what its values are: always the text as written, so that `no`, `12:30`,
`01234` and `#kiln` stay what the person typed. PyYAML's C parser reads YAML, tomllib TOML; what neither accepts is
recovered line by line. Never raises for any text, never builds an object from a tag, never expands an alias.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from smb.ingest.note import FrontState, NoteWarning, Property, WikiLink
from smb.ingest.source_text import SourceText
from smb.ingest.wiki_link import WIKI_LINK, wiki_link
from smb.model.validity import TimeError, parse_interval

if TYPE_CHECKING:
    from yaml.nodes import Node, ScalarNode

_CORE_TAGS = "tag:yaml.org,2002:"
_PLAIN_TAGS = frozenset(_CORE_TAGS + name for name in (
    "str", "int", "float", "bool", "null", "timestamp", "binary", "seq", "map", "set", "omap", "pairs", "merge", "value"))
_KEY_LINE = re.compile(
    r"""(?!-\s)(?P<quote>["']?)(?P<key>[^\s:=#"'\[\]{}*&!|>`<@%][^:=\n"]{0,80}?)(?P=quote)[ \t]*[:=](?=\s|$)"""
)
_TOML_KEY = re.compile(r"""[ \t]*(?:\[+[ \t]*)?(["']?)([\w.-]+)\1[ \t]*(?:=|\.|\])""")
_LINES_NAMED = 5
_LINE_REST = re.compile(r"[^\r\n]*")
_LIST_ITEM = re.compile(r"[ \t]*-(?:[ \t]+|$)")
_ISO_DAY = re.compile(r"(\d{4}-\d{1,2}-\d{1,2})(?:[T ]\d{1,2}:\d{2}[\d:.,]*\s*(?:Z|[+-]\d{2}:?\d{2})?)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands on top of a note. `body` is the index (from 0) of the first line that belongs to the body."""

    state: FrontState
    properties: tuple[Property, ...] = ()
    body: int = 0
    links: tuple[WikiLink, ...] = ()
    warnings: tuple[NoteWarning, ...] = ()


ABSENT = FrontMatter(FrontState.ABSENT)


def read_front_matter(source: SourceText) -> FrontMatter:
    """The front matter of `source`; ABSENT unless line 1 is a fence, a later line closes it, and a mapping (or nothing)
    stands between: a letter that begins with a horizontal rule is all body."""
    text = source.text
    if not text.startswith(("---", "+++")):
        return ABSENT
    fence = text[source.starts[0] : source.ends[0]].rstrip(" \t")
    if fence not in ("---", "+++"):
        return ABSENT
    closers = ("---", "...") if fence == "---" else ("+++",)
    close = next(
        (i for i in range(1, len(source.starts))
         if text.startswith(closers, source.starts[i]) and text[source.starts[i] : source.ends[i]].rstrip(" \t") in closers),
        None,
    )
    if close is None:
        return ABSENT
    read = _read_yaml if fence == "---" else _read_toml
    inner_start, inner_end = source.starts[1], source.starts[close]
    found = read(source, text[inner_start:inner_end], inner_start, close)
    if found is None:
        return ABSENT
    state, properties, warnings = found
    warnings.extend(_impossible_dates(properties))
    if fence == "---":
        warnings.extend(_duplicate_keys(properties))
    links = tuple(_links(source, inner_start, inner_end)) if "[[" in text[inner_start:inner_end] else ()
    return FrontMatter(state, tuple(properties), close + 1, links, tuple(sorted(warnings, key=lambda w: w.line or 0)))


_Read = tuple[FrontState, list[Property], list[NoteWarning]] | None


def _read_yaml(source: SourceText, inner: str, offset: int, close: int) -> _Read:
    import yaml

    try:
        root = yaml.compose(inner, Loader=yaml.CBaseLoader)
    except yaml.YAMLError as error:
        return _recover(source, close, *_complaint(source, error, offset))
    except (RecursionError, UnicodeEncodeError) as error:
        return _recover(source, close, str(error), 2)
    if root is None:
        return FrontState.OK, [], []
    if not isinstance(root, yaml.MappingNode):
        return None
    warnings: list[NoteWarning] = []
    properties: list[Property] = []
    for key_node, value_node in root.value:
        start = offset + key_node.start_mark.index
        key = key_node.value if isinstance(key_node, yaml.ScalarNode) else _raw(inner, key_node)
        aliased = value_node.start_mark.index < key_node.end_mark.index
        text, items = _value(inner, key_node, value_node, aliased)
        glued = isinstance(value_node, yaml.ScalarNode) and len(text) > len(value_node.value)
        end = offset + (key_node if aliased else value_node).end_mark.index
        if not aliased and not (isinstance(value_node, yaml.ScalarNode) and value_node.value):
            end = max(end, offset + key_node.end_mark.index)
        end = start + len(source.text[start:end].rstrip())
        if aliased or glued or not value_node.value:
            end = source.ends[source.line_at(end if glued else start) - 1]
            end = start + len(source.text[start:end].rstrip())
        start += len(source.text[start:end]) - len(source.text[start:end].lstrip())
        byte_start, byte_end, line_start, line_end = source.place(start, end)
        properties.append(Property(key, text, items, line_start, line_end, byte_start, byte_end))
        for tag in _refused_tags(value_node) if "!" in inner else ():
            said = f"{key}: the tag {tag} is not followed; its text is kept."
            warnings.append(NoteWarning("frontmatter.refused_tag", said, line_start))
    return FrontState.OK, properties, warnings


def _value(inner: str, key: Node, value: Node, aliased: bool) -> tuple[str, tuple[str, ...]]:
    """The text of a value and its items."""
    from yaml.nodes import ScalarNode, SequenceNode

    if aliased:
        text = _rest_of_line(inner, key.end_mark.index).lstrip(": \t")
        items = tuple(i.value for i in value.value if isinstance(i, ScalarNode)) if isinstance(value, SequenceNode) else ()
        return text, items or ((value.value,) if isinstance(value, ScalarNode) else (text,))
    if isinstance(value, ScalarNode):
        text = _text(inner, value)
        return text, (text,) if text else ()
    raw = _raw(inner, value)
    if not isinstance(value, SequenceNode):
        return raw, (raw,)
    if raw.startswith("[[") and WIKI_LINK.fullmatch(raw):
        return raw, (raw,)
    items = []
    for item in value.value:
        if isinstance(item, ScalarNode):
            items.append(_text(inner, item))
        else:
            items.append(_raw(inner, item))
    return raw, tuple(i for i in items if i)


def _raw(inner: str, node: Node) -> str:
    return inner[node.start_mark.index : node.end_mark.index].strip()


def _rest_of_line(inner: str, index: int) -> str:
    found = _LINE_REST.match(inner, index)
    return found[0].strip() if found else ""


def _text(inner: str, node: ScalarNode) -> str:
    """The text of a scalar, with what YAML takes for a comment where the hash is glued to a word: `#kiln`, `Fix for #12`. A
    comment proper has a space after its hash."""
    value: str = node.value
    if "#" not in inner or node.style or _ISO_DAY.fullmatch(value):
        return value
    rest = _rest_of_line(inner, node.end_mark.index)
    if not value:
        rest = rest.removeprefix(":").removeprefix("-").strip()
    glued = len(rest) > 1 and rest[0] == "#" and not rest[1].isspace() and rest[1] != "#"
    return f"{value} {rest}".strip() if glued else value


def _refused_tags(value: Node) -> Iterator[str]:
    """Explicit tags in a value that name anything but plain data; each node is looked at once."""
    pending: list[Any] = [value]
    seen: set[int] = set()
    while pending:
        node = pending.pop()
        if isinstance(node, tuple):
            pending.extend(node)
        elif id(node) not in seen:
            seen.add(id(node))
            if node.tag is not None and node.tag not in _PLAIN_TAGS:
                yield node.tag.replace(_CORE_TAGS, "!!", 1)
            if not isinstance(node.value, str):
                pending.extend(node.value)


def _complaint(source: SourceText, error: Any, offset: int) -> tuple[str, int]:
    """PyYAML's sentence without its picture of the line, and the line in the file."""
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    parts = [p for p in (getattr(error, "context", None), getattr(error, "problem", None) or getattr(error, "reason", None)) if p]
    index = mark.index if mark is not None else getattr(error, "position", 0)
    at = min(offset + max(index, 0), source.ends[-1])
    return ", ".join(map(str, parts)) or type(error).__name__, source.line_at(at)


def _read_toml(source: SourceText, inner: str, offset: int, close: int) -> _Read:
    import tomllib

    try:
        values = tomllib.loads(inner.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        return _recover(source, close, str(error), 1 + int(line[1]) if line else 2)
    except RecursionError as error:
        return _recover(source, close, str(error), 2)
    starts: dict[str, int] = {}
    for number in range(1, close):
        if (found := _TOML_KEY.match(source.text, source.starts[number], source.ends[number])) and found[2] in values:
            starts.setdefault(found[2], number)
    properties = []
    order = sorted(values, key=lambda k: starts.get(k, 1))
    for place, key in enumerate(order):
        first = starts.get(key, 1)
        last = max(starts.get(order[place + 1], close) if place + 1 < len(order) else close, first + 1)
        start, end = source.trimmed(first, last)
        raw = source.text[start:end]
        value = values[key]
        written = raw.partition("=")[2].strip() if "=" in raw else raw
        if isinstance(value, str):
            text, items = value, (value,) if value else ()
        elif isinstance(value, list):
            text, items = written, tuple(_toml_text(v) for v in value)
        else:
            text = raw if isinstance(value, dict) else written.partition("#")[0].strip()
            items = (text,)
        byte_start, byte_end, line_start, line_end = source.place(start, end)
        properties.append(Property(key, text, items, line_start, line_end, byte_start, byte_end))
    return FrontState.OK, properties, []


def _toml_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _recover(source: SourceText, close: int, detail: str, line: int) -> _Read:
    """`key: rest` line by line; None unless what stands between the fences is mostly that."""
    groups: list[tuple[str, int, int]] = []  # key, first line, start of the value
    others = 0
    for number in range(1, close):
        start, end = source.starts[number], source.ends[number]
        written = source.text[start:end]
        if not written.strip() or written[0] in " \t#" or _LIST_ITEM.match(written):
            continue
        if found := _KEY_LINE.match(source.text, start, end):
            groups.append((found["key"].strip(), number, found.end()))
        elif groups:
            others += 1
        else:
            return None
    if others > len(groups) or not groups:
        return None
    properties = []
    for place, (key, number, value_start) in enumerate(groups):
        last = groups[place + 1][1] if place + 1 < len(groups) else close
        start, end = source.trimmed(number, last)
        first, *more = source.text[value_start : max(end, value_start)].splitlines() or [""]
        first = first.strip()
        items = [_unquoted(m[len(found[0]) :]) for m in more if (found := _LIST_ITEM.match(m))]
        if items:
            text = "\n".join([first, *(m.strip() for m in more)]).strip()
        else:
            text = " ".join([first, *(m.strip() for m in more)]).strip()
            items = _split_items(text)
            text = _unquoted(text)
        byte_start, byte_end, line_start, line_end = source.place(start, end)
        properties.append(Property(key, text, tuple(i for i in items if i), line_start, line_end, byte_start, byte_end))
    return FrontState.MALFORMED, properties, [NoteWarning("frontmatter.malformed", detail, line)]


def _split_items(text: str) -> list[str]:
    if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        return [_unquoted(part) for part in text[1:-1].split(",")]
    return [_unquoted(text)]


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'" else text


def _duplicate_keys(properties: list[Property]) -> Iterator[NoteWarning]:
    lines: dict[str, list[int]] = {}
    for prop in properties:
        lines.setdefault(prop.key, []).append(prop.line_start)
    for key, on in lines.items():
        if len(on) > 1:
            said = ", ".join(map(str, on[:-1][:_LINES_NAMED])) + (", …" if len(on) > _LINES_NAMED + 1 else "")
            detail = f"{key} stands on lines {said} and {on[-1]}; the last one counts."
            yield NoteWarning("frontmatter.duplicate_key", detail, on[-1])


def _impossible_dates(properties: list[Property]) -> Iterator[NoteWarning]:
    for prop in properties:
        for item in prop.items:
            if len(item) >= 8 and item[:4].isdigit() and item[4] == "-" and _ISO_DAY.fullmatch(item):
                try:
                    parse_interval(item)
                except TimeError:
                    yield NoteWarning("date.impossible", f"{prop.key}: {item} is no date; it is kept as text.", prop.line_start)


def _links(source: SourceText, start: int, end: int) -> Iterator[WikiLink]:
    for found in WIKI_LINK.finditer(source.text, start, end):
        if link := wiki_link(found, source.line_at(found.start())):
            yield link
