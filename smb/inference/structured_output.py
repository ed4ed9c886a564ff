"""Reading what a model returned: the one JSON value of an answer, or why there is none.

Owns what surrounds an answer (thinking, fences, words before and after) and which shapes are taken for the one asked for.
Never mends an answer that was cut off: half an answer is none. Never calls a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from smb.inference.model_errors import AnswerEmpty, AnswerMalformed, AnswerTruncated

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

_OPEN = re.compile(r"<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_CLOSE = re.compile(r"</(think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)^[ \t]*\1[ \t]*(?=\s|$)", re.DOTALL | re.MULTILINE)
_STRING_OR_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[\]}])')
_START = re.compile(r"[\[{]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SHAPES = {"type", "properties", "required", "items", "$schema", "additionalProperties", "$defs", "title", "description"}
MOST_CHARACTERS = 4_000_000


def without_thinking(model: str, text: str) -> str:
    """`text` without what the model thought aloud before it answered. Raises AnswerTruncated where the thinking never ends.

    Some templates open the thinking themselves, so what stands before a close without an open is thinking, too. Marks
    within the answer's own JSON are text.
    """
    while (opened := _OPEN.search(text)) and not _START.search(text, 0, opened.start()):
        closed = _CLOSE.search(text, opened.end())
        if closed is None:
            raise AnswerTruncated(model, "the thinking never ends")
        text = text[closed.end() :]
    closed = _CLOSE.search(text)
    return text[closed.end() :] if closed and not _in_json(text, closed.start()) else text


def read_json(model: str, text: str, schema: Mapping[str, Any]) -> Any:
    """The value of the answer `text` that fits `schema`.

    Taken as meant: thinking before it, a fence and words around it, trailing commas, and a bare list where the schema
    wants an object with one list in it. Raises AnswerEmpty, AnswerTruncated, AnswerMalformed.
    """
    if len(text) > MOST_CHARACTERS:
        raise AnswerMalformed(model, f"it is {len(text)} characters long")
    answer = text.strip()
    values, complete = [_parsed(answer)], True
    if values[0] is _NONE:
        answer = without_thinking(model, answer).strip()
        if not answer:
            raise AnswerEmpty(model)
        values, complete = _values(answer)
    if not values:
        if not complete:
            raise AnswerTruncated(model, "the JSON never ends")
        raise AnswerMalformed(model, "it holds no JSON")
    try:
        fitting, reason = _fitting(values, schema)
    except RecursionError as error:
        raise AnswerMalformed(model, "it is nested too deeply") from error
    if len(fitting) > 1:
        raise AnswerMalformed(model, "it holds several different answers")
    if not fitting:
        raise AnswerMalformed(model, reason)
    return fitting[0]


def _fitting(values: Sequence[Any], schema: Mapping[str, Any]) -> tuple[list[Any], str]:
    """The different values that fit the schema, and why the first of the others doesn't."""
    fitting: list[Any] = []
    reason = ""
    for value in values:
        shaped = _shaped(value, schema)
        why = _misfit(shaped, schema)
        if why:
            reason = reason or why
        elif shaped not in fitting:
            fitting.append(shaped)
    return fitting, reason


def _values(answer: str) -> tuple[list[Any], bool]:
    """The JSON values in an answer and whether each that begins also ends: the whole of it, else those of its fences, else any."""
    for part in (answer, *(block[2] for block in _FENCE.finditer(answer))):
        value = _parsed(part.strip())
        if value is not _NONE:
            return [value], True
    return _embedded(answer)


_NONE = object()


def _parsed(text: str) -> Any:
    for mend in (False, True):
        try:
            return _DECODER.decode(_STRING_OR_COMMA.sub(lambda found: found[1] or "", text) if mend else text)
        except (ValueError, RecursionError):
            continue
    return _NONE


def _embedded(answer: str) -> tuple[list[Any], bool]:
    """The outermost objects and lists among other words."""
    text = _STRING_OR_COMMA.sub(lambda found: found[1] or "", answer)
    found: list[Any] = []
    at = 0
    tries = 0
    while (start := _START.search(text, at)) and tries < 64:
        tries += 1
        try:
            value, at = _DECODER.raw_decode(text, start.start())
            found.append(value)
        except json.JSONDecodeError as error:
            if error.pos >= len(text.rstrip()) or "Unterminated" in error.msg:
                return found, False
            if text[start.end() : error.pos].strip():
                return [], True  # it begins as JSON and breaks: what lies within it is not the answer
            at = start.end()
        except (ValueError, RecursionError):
            return found, True
    return found, True


def _in_json(text: str, at: int) -> bool:
    """Whether a place lies within a whole JSON value."""
    start = _START.search(text, 0, at)
    while start:
        try:
            _, end = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            end = start.end()
        if end > at:
            return True
        start = _START.search(text, end, at)
    return False


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a name occurs twice")
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, strict=False)


def _shaped(value: Any, schema: Mapping[str, Any]) -> Any:
    """A bare list as the one list of the object asked for; everything else as it is."""
    properties = schema.get("properties", {})
    lists = [name for name, one in properties.items() if isinstance(one, Mapping) and one.get("type") == "array"]
    if isinstance(value, list) and schema.get("type") == "object" and len(lists) == 1 and set(schema.get("required", ())) <= set(lists):
        return {lists[0]: value}
    return value


def _misfit(value: Any, schema: Mapping[str, Any]) -> str:
    """Why a value isn't what the schema asks for; empty when it is."""
    own = set(schema.get("properties", {}))
    if value == schema or (isinstance(value, dict) and {"type", "properties"} <= value.keys() and value.keys() <= _SHAPES and not {"type", "properties"} <= own):
        return "it repeats the schema instead of answering by it"
    if any(_LONE_SURROGATE.search(text) for text in _texts(value)):
        return "it holds half of a character"
    error = next(iter(sorted(_validator(json.dumps(schema, sort_keys=True)).iter_errors(value), key=lambda e: (list(map(str, e.absolute_path)), e.message))), None)
    if error is None:
        return ""
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path).lstrip(".")
    said = error.message if len(error.message) < 160 else f"it breaks the rule {error.validator}"
    return f"{place}: {said}" if place else said


@lru_cache(maxsize=64)
def _validator(schema: str) -> Validator:
    from jsonschema import Draft202012Validator

    read = json.loads(schema)
    Draft202012Validator.check_schema(read)
    return Draft202012Validator(read)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from _texts(one)
