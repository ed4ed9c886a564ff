"""Prompts: files a person can read and override, and how what notes say is put into them.

Owns the packaged `prompts/*.md`, the folder that overrides them, and the fence around data. A prompt file is what the
model is told to be, a line `---`, and what it is asked, with `{{names}}` to fill in. What comes from a note goes in as
`Data`, between two marks that nothing in it can close, so that no note can pass for an instruction. Never reads a prompt
from a bank: a bank is somebody's data.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from smb.model.errors import SmbError

PACKAGED = Path(__file__).parent / "prompts"
HASH_DIGITS = 12
_NAME = re.compile(r"[a-z][a-z0-9_-]*")
_PLACEHOLDER = re.compile(r"\{\{\s*([a-z][a-z0-9_]*)\s*\}\}")
_RULE = re.compile(r"^---[ \t]*$", re.MULTILINE)
# Marks of chat templates. Servers read one as a token of its own wherever it stands: a note that holds one could end the turn.
_TURN_MARK = re.compile(
    r"[<\[](?=[|｜][^\s<>]{1,60}[|｜]>|(?:/?(?:start_of_turn|end_of_turn|bos|eos|s|unk|pad|think|tool_call|tool_response)|<SYS>|</SYS>)>"
    r"|/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT)\])", re.IGNORECASE)
_WORD_JOINER = "\u2060"


class NoPrompt(SmbError):
    def __init__(self, name: str, known: list[str]):
        super().__init__(f"There is no prompt {name}; there are {', '.join(known) or 'none'}.")


class BadPrompt(SmbError):
    """A prompt file that can't be used as it is."""

    def __init__(self, path: Path | str, detail: str):
        super().__init__(f"{path}: {detail}. Mend it, or remove the file to use the packaged one.")


@dataclass(frozen=True, slots=True)
class Data:
    """Text from notes, or from a model: never an instruction. `label` says what it is, in a word or two."""

    text: str
    label: str = "notes"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent: `system` and `user`. `hash` is that of the prompt's file, so it is the version of the wording."""

    name: str
    hash: str
    system: str
    user: str

    @property
    def text(self) -> str:
        return f"{self.system}\n\n{self.user}"


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt file: its two parts, with their places to fill in."""

    name: str
    hash: str
    system: str
    user: str
    origin: str

    @property
    def places(self) -> frozenset[str]:
        return frozenset(_PLACEHOLDER.findall(self.system) + _PLACEHOLDER.findall(self.user))

    def fill(self, **values: str | int | Data) -> Prompt:
        """The prompt with every place filled. What is filled in is not looked at for places again.

        A plain string is smb's own wording, one line of it; whatever a note or a model said goes in as Data, and only
        into the part that asks. Raises BadPrompt where the file has a place nobody fills, or fills one of the system part
        with data, and ValueError for a plain string of several lines.
        """
        if missing := sorted(self.places - values.keys()):
            raise BadPrompt(self.origin, f"nothing fills {', '.join(f'{{{{{name}}}}}' for name in missing)}")
        for place in _PLACEHOLDER.findall(self.system):
            if isinstance(values[place], Data):
                raise BadPrompt(self.origin, f"{{{{{place}}}}} is text of notes and may stand only below the line ---")
        filled = {name: _value(name, value) for name, value in values.items()}
        system, user = (_PLACEHOLDER.sub(lambda found: filled[found[1]], part) for part in (self.system, self.user))
        return Prompt(self.name, self.hash, system, user)


def load(name: str, overrides: Path | None = None) -> Template:
    """The prompt `name`: from `overrides` (a person's own folder) where it holds one, else the packaged one.

    Raises NoPrompt, BadPrompt.
    """
    path = _path(name, overrides)
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
    except OSError as error:
        raise BadPrompt(path, error.strerror or "it can't be read") from error
    except UnicodeDecodeError as error:
        raise BadPrompt(path, f"it is not UTF-8 ({error.reason})") from error
    system, rule, user = _parts(text)
    if not rule or not user.strip():
        raise BadPrompt(path, "it needs a line --- between what the model is told to be and what it is asked")
    digest = hashlib.sha256(f"{system}\n---\n{user}".encode()).hexdigest()[:HASH_DIGITS]
    return Template(name, digest, system, user, str(path))


def fenced(data: Data) -> str:
    """The text between two marks named for its own hash, which no text can hold by foresight; one that does gets another.

    The marks of chat templates are broken by a word joiner, so that they are letters to the model.
    """
    text = _TURN_MARK.sub(lambda mark: mark[0] + _WORD_JOINER, data.text.encode("utf-8", "replace").decode())  # a lone surrogate can't be sent
    label = re.sub(r"[^a-z0-9]+", "-", data.label.casefold()).strip("-") or "notes"
    mark = f"{label}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    while mark in text:
        mark = f"{label}-{hashlib.sha256(f'{mark}{text}'.encode()).hexdigest()[:8]}"
    return f"<{mark}>\n{text}\n</{mark}>"


def _path(name: str, overrides: Path | None) -> Path:
    packaged = PACKAGED / f"{name}.md"
    if not _NAME.fullmatch(name) or not packaged.exists():
        raise NoPrompt(name, sorted(path.stem for path in PACKAGED.glob("*.md")))
    own = overrides / packaged.name if overrides else None
    return own if own is not None and own.exists() else packaged


def _parts(text: str) -> tuple[str, bool, str]:
    rule = _RULE.search(text)
    return (text[: rule.start()].strip(), True, text[rule.end() :].strip()) if rule else (text.strip(), False, "")


def _value(name: str, value: str | int | Data) -> str:
    if isinstance(value, Data):
        return fenced(value)
    if "\n" in (text := str(value)):
        raise ValueError(f"{name} has several lines: what a note or a model said is Data")
    return text
