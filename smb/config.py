"""Settings: what they are, where each value comes from, and the one place that reads the environment.

Owns `Settings` and the order of authority: defaults < $XDG_CONFIG_HOME/smb/config.toml < bank.toml < environment <
flags. A bank travels with git, so its bank.toml may set only what can neither reach a host nor run a command. Never
opens a bank and never imports pydantic (0.15 s, and every command reads settings).
"""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from smb.model.errors import SmbError

BANK_TABLE = "settings"  # the table of bank.toml that holds settings
DEFAULT_ORIGIN = "default"


class BadSetting(SmbError):
    """A setting that can't be used as it is written."""

    def __init__(self, origin: str, key: str, detail: str):
        super().__init__(f"{origin}: {key}: {detail}.")
        self.key = key


class UnreadableSettings(SmbError):
    """A settings file that isn't TOML."""

    def __init__(self, path: Path, detail: str):
        super().__init__(f"{path} is not valid TOML: {detail}. Mend that line, or move the file away to use the defaults.")


class UnknownSetting(SmbError):
    """A name that is no setting; a usage error where a person typed it."""

    exit_code = 2

    def __init__(self, origin: str, key: str):
        near = difflib.get_close_matches(key, SETTINGS, n=1)
        hint = f"Did you mean {near[0]}?" if near else "`smb config` lists them all."
        super().__init__(f"{origin}: {key} is not a setting. {hint}")


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting with its value; `origins` says where each that isn't a default came from."""

    bank_dir: Path = Path("memory-bank")
    kbmd_dir: Path = Path("kbmd")
    ollama_host: str = "http://127.0.0.1:11434"
    ollama_model: str = ""
    embedding_model: str = "static"
    use_model: bool = False
    model_timeout: float = 300.0
    model_context: int = 8192
    model_parallel: int = 2
    evolution_interval_seconds: float = 3600.0
    api_host: str = "127.0.0.1"
    api_port: int = 8000
    lock_timeout: float = 30.0
    max_file_size: int = 16_000_000
    recall_budget: int = 2000
    recall_profile: str = ""
    log_recalls: bool = True
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    def origin(self, name: str) -> str:
        """Where the value of setting `name` came from: a flag, a variable, a file, or `default`."""
        return self.origins.get(name, DEFAULT_ORIGIN)

    @classmethod
    def resolve(cls, *, environ: Mapping[str, str] | None = None, **flags: Any) -> Settings:
        """The settings in force here.

        `flags` are values given on the command line by setting name (None means not given); `environ` stands in for
        the process environment in tests. Raises BadSetting, UnknownSetting or UnreadableSettings, each naming the
        file or variable and the key.
        """
        env = os.environ if environ is None else environ
        given = {name: value for name, value in flags.items() if value is not None}
        config_file = config_path(env)
        values: dict[str, Any] = {}
        origins: dict[str, str] = {}

        def take(found: Mapping[str, Any], origin: str) -> None:
            for name, raw in found.items():
                values[name], origins[name] = parse(name, raw, origin), origin

        def take_stronger() -> None:
            for name, (variable, text) in _from_environment(env).items():
                take({name: text}, variable)
            take(given, "command line")

        take(read_toml(config_file), str(config_file))
        take_stronger()  # twice: the bank is named here, and what its own file says ranks below this
        bank_file = values.get("bank_dir", cls().bank_dir) / "bank.toml"
        take(_from_bank(bank_file), str(bank_file))
        take_stronger()
        return cls(**values, origins=origins)


@dataclass(frozen=True, slots=True)
class Setting:
    """How one setting is read. `parse` takes text or a TOML value and raises ValueError saying what it wants."""

    name: str
    parse: Callable[[Any], Any]
    about: str
    variables: tuple[str, ...] = ()  # in order of authority, the strongest first
    bank_may_set: bool = False

    @property
    def default(self) -> Any:
        return next(f.default for f in fields(Settings) if f.name == self.name)


def size_in_bytes(value: Any) -> int:
    """Bytes from 16000000, "16MB", "500 kB" or "2GiB". Raises ValueError."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)(i?)b?", str(value).strip(), re.IGNORECASE)
    if not found or isinstance(value, bool):
        raise ValueError(f"{value!r} is not a size; write bytes, or a number with kB, MB or GB")
    number, prefix, binary = found.groups()
    size = int(float(number) * (1024 if binary else 1000) ** " kmg".index(prefix.lower() or " "))
    if size < 1:
        raise ValueError("a size is at least 1 byte")
    return size


def _path(value: Any) -> Path:
    if not isinstance(value, (str, os.PathLike)) or not os.fspath(value):
        raise ValueError(f"{value!r} is not a path")
    return Path(value).expanduser()


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is not text; put it in quotes")
    return value


def _host(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9.\-]+|\[?[0-9A-Fa-f:.]+\]?", value):
        raise ValueError(f"{value!r} is not a host name or address")
    return value


def _url(value: Any) -> str:
    """Ollama's own forms: a URL, HOST:PORT or HOST."""
    text = _text(value).rstrip("/")
    parts = urlsplit(text if "://" in text else f"http://{text}")
    try:
        port = parts.port
    except ValueError:
        raise ValueError(f"{value!r} has no usable port") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{value!r} is not an http address such as http://127.0.0.1:11434")
    return text if "://" in text else f"http://{text}" if port else f"http://{text}:11434"


def embedder_name(value: Any) -> str:
    """The name of an embedder. Raises ValueError."""
    text = _text(value)
    if not re.fullmatch(r"static|minilm|ollama:\S+", text):
        raise ValueError(f"{value!r} is none of static, minilm, ollama:MODEL")
    return text


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def parse_whole(value: Any) -> int:
        if isinstance(value, bool) or not re.fullmatch(r"\d{1,18}", str(value)) or not least <= int(value) <= most:
            raise ValueError(f"{value!r} is not a whole number from {least} to {most}")
        return int(value)

    return parse_whole


def _yes_or_no(value: Any) -> bool:
    if str(value).lower() not in ("true", "false"):
        raise ValueError(f"{value!r} is neither true nor false")
    return str(value).lower() == "true"


def seconds(value: Any) -> float:
    """A span of seconds, zero or more. Raises ValueError."""
    if isinstance(value, bool) or not re.fullmatch(r"\d{1,12}(\.\d{0,9})?", str(value)):
        raise ValueError(f"{value!r} is not a number of seconds")
    return float(value)


SETTINGS: dict[str, Setting] = {
    setting.name: setting
    for setting in (
        Setting("bank_dir", _path, "the memory bank", ("SMB_MEMORY_BANK_DIR",)),
        Setting("kbmd_dir", _path, "what `smb ingest` reads when no path is named", ("SMB_KBMD_DIR",)),
        Setting("ollama_host", _url, "where Ollama listens", ("SMB_OLLAMA_HOST", "OLLAMA_HOST")),
        Setting("ollama_model", _text, "language model; empty: the best installed of smb's list (`smb models`)", ("SMB_OLLAMA_MODEL",)),
        Setting("embedding_model", embedder_name, "static (built in), minilm or ollama:MODEL", ("SMB_EMBEDDING_MODEL",)),
        Setting("use_model", _yes_or_no, "let every `smb evolve` use the language model, not only while work waits for it"),
        Setting("model_timeout", seconds, "seconds a call to a model may take"),
        Setting("model_context", _whole(1024, 1_000_000), "tokens of prompt and answer together"),
        Setting("model_parallel", _whole(1, 64), "calls to a model at once"),
        Setting("evolution_interval_seconds", seconds, "seconds between cycles", ("SMB_EVOLUTION_INTERVAL_SECONDS",), True),
        Setting("api_host", _host, "address `smb serve` binds", ("SMB_API_HOST",)),
        Setting("api_port", _whole(0, 65_535), "port `smb serve` binds", ("SMB_API_PORT",)),
        Setting("lock_timeout", seconds, "seconds to wait for another writer"),
        Setting("max_file_size", size_in_bytes, "bytes; larger files are skipped", bank_may_set=True),
        Setting("recall_budget", _whole(1, 10_000_000), "tokens a recall may return", bank_may_set=True),
        Setting("recall_profile", _text, "scoring profile of recall", bank_may_set=True),
        Setting("log_recalls", _yes_or_no, "note in usage/ which items a recall showed (never the question), for `smb evolve`"),
    )
}


def config_path(environ: Mapping[str, str] | None = None) -> Path:
    """The person's settings file: $XDG_CONFIG_HOME/smb/config.toml, under ~/.config when that is unset or relative."""
    env = os.environ if environ is None else environ
    base = env.get("XDG_CONFIG_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path(env.get("HOME") or "~").expanduser() / ".config") / "smb" / "config.toml"


def prompts_path(environ: Mapping[str, str] | None = None) -> Path:
    """Where a person keeps prompts of their own: `prompts` beside `config_path`."""
    return config_path(environ).parent / "prompts"


def models_path(environ: Mapping[str, str] | None = None) -> Path:
    """Where models fetched on request lie: $XDG_CACHE_HOME/smb/models, under ~/.cache when that is unset or relative."""
    env = os.environ if environ is None else environ
    base = env.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path(env.get("HOME") or "~").expanduser() / ".cache") / "smb" / "models"


def colour_wanted(environ: Mapping[str, str] | None = None) -> bool:
    """Whether a terminal may be given colour (https://no-color.org)."""
    env = os.environ if environ is None else environ
    return not env.get("NO_COLOR") and env.get("TERM") != "dumb"


def parse(name: str, raw: Any, origin: str) -> Any:
    """The value of setting `name` as written at `origin`. Raises UnknownSetting or BadSetting."""
    if name not in SETTINGS:
        raise UnknownSetting(origin, name)
    try:
        return SETTINGS[name].parse(raw)
    except ValueError as error:
        raise BadSetting(origin, name, str(error)) from error


def read_toml(path: Path) -> dict[str, Any]:
    """The file's tables, or nothing where there is no such file. Raises UnreadableSettings."""
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise UnreadableSettings(path, error.strerror or str(error)) from error
    import tomllib

    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UnreadableSettings(path, str(error)) from error


def _from_bank(path: Path) -> dict[str, Any]:
    tables = read_toml(path)
    found = tables.get(BANK_TABLE, {})
    if not isinstance(found, dict):
        raise BadSetting(str(path), BANK_TABLE, "it is a table: write [settings] on a line of its own")
    for name in (*found, *tables):
        if name in SETTINGS and not SETTINGS[name].bank_may_set:
            raise BadSetting(
                str(path),
                name,
                f"a bank travels with git, so it may not set this. Remove the line; your own settings go into {config_path()}",
            )
    return found


def _from_environment(env: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Setting name → (variable, text). An empty variable counts as unset."""
    return {
        setting.name: (variable, env[variable])
        for setting in SETTINGS.values()
        for variable in reversed(setting.variables)
        if env.get(variable)
    }


def write_setting(path: Path, name: str, text: str, *, in_bank: bool = False) -> Any:
    """Set one setting in a settings file, leaving its other lines and comments as they are. Returns the value.

    `in_bank` says that `path` is a bank.toml. Raises UnknownSetting, BadSetting (also where a bank may not set it, or
    where the file is laid out so that the line can't be placed) or UnreadableSettings.
    """
    value = parse(name, text, "command line")
    if in_bank and not SETTINGS[name].bank_may_set:
        allowed = ", ".join(s.name for s in SETTINGS.values() if s.bank_may_set)
        raise BadSetting(str(path), name, f"a bank travels with git and may set only {allowed}; leave out --in-bank")
    before = read_toml(path)
    plain = value if isinstance(value, (int, float, str)) else str(value)
    lines = path.read_text(encoding="utf-8").splitlines() if before or path.exists() else []
    text = "\n".join(_with_line(lines, BANK_TABLE if in_bank else "", name, f"{name} = {_toml(plain)}")) + "\n"
    expected = {**before, BANK_TABLE: {**before.get(BANK_TABLE, {}), name: plain}} if in_bank else {**before, name: plain}
    if _parsed(text) != expected:
        raise BadSetting(
            str(path), name, f"the layout of the file hides where the line goes; write `{name} = {_toml(plain)}` by hand"
        )
    from smb.stores.atomic_file import write_atomic

    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, text.encode(), durable=True)
    return value


def _with_line(lines: list[str], table: str, name: str, line: str) -> list[str]:
    """`lines` with `line` in `table` ("" is the top of the file), in place of an earlier line for `name`."""
    headers = [i for i, text in enumerate(lines) if text.lstrip().startswith("[")]
    if table:
        start = next((i + 1 for i in headers if lines[i].split("#")[0].strip() == f"[{table}]"), None)
        if start is None:
            return [*lines, *([""] if lines else []), f"[{table}]", line]
    else:
        start = 0
    end = next((i for i in headers if i >= start), len(lines))
    for i in range(start, end):
        if re.match(rf"\s*[\"']?{re.escape(name)}[\"']?\s*=", lines[i]):
            return [*lines[:i], line, *lines[i + 1 :]]
    while end > start and not lines[end - 1].strip():
        end -= 1
    return [*lines[:end], line, *lines[end:]]


def _toml(value: int | float | str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _parsed(text: str) -> dict[str, Any] | None:
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
