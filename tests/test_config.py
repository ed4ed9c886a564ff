"""Settings: the order of authority, what a cloned bank may not say, and errors that name their place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smb.config import (
    SETTINGS,
    BadSetting,
    Settings,
    UnknownSetting,
    UnreadableSettings,
    colour_wanted,
    config_path,
    read_toml,
    size_in_bytes,
    write_setting,
)

SAFE = {"evolution_interval_seconds", "max_file_size", "recall_budget", "recall_profile"}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "xdg" / "smb").mkdir(parents=True)
    (tmp_path / "bank").mkdir()
    return tmp_path


def resolve(place: Path, config: str = "", bank: str = "", flags: dict[str, object] | None = None, **environ: str) -> Settings:
    (place / "xdg" / "smb" / "config.toml").write_text(config)
    (place / "bank" / "bank.toml").write_text(bank)
    env = {"XDG_CONFIG_HOME": str(place / "xdg"), "SMB_MEMORY_BANK_DIR": str(place / "bank"), **environ}
    return Settings.resolve(environ=env, **(flags or {}))


def test_without_anything_said_the_defaults_hold_and_the_server_stays_on_this_machine(tmp_path: Path) -> None:
    found = Settings.resolve(environ={"HOME": str(tmp_path)})
    assert found == Settings()
    assert (found.api_host, found.bank_dir, found.evolution_interval_seconds) == ("127.0.0.1", Path("memory-bank"), 3600)
    assert {found.origin(name) for name in SETTINGS} == {"default"}


def test_each_place_outranks_the_one_before_it(place: Path) -> None:
    config, bank = "evolution_interval_seconds = 1", "[settings]\nevolution_interval_seconds = 2"
    name, variable = "evolution_interval_seconds", "SMB_EVOLUTION_INTERVAL_SECONDS"
    steps = [
        resolve(place),
        resolve(place, config),
        resolve(place, config, bank),
        resolve(place, config, bank, **{variable: "3"}),
        resolve(place, config, bank, {name: 4}, **{variable: "3"}),
    ]
    assert [s.evolution_interval_seconds for s in steps] == [3600, 1, 2, 3, 4]
    assert [s.origin(name) for s in steps] == [
        "default",
        str(place / "xdg" / "smb" / "config.toml"),
        str(place / "bank" / "bank.toml"),
        variable,
        "command line",
    ]


def test_the_bank_file_read_is_that_of_the_bank_finally_named(place: Path) -> None:
    (place / "other").mkdir()
    (place / "other" / "bank.toml").write_text("[settings]\nrecall_budget = 77\n")
    found = resolve(place, bank="[settings]\nrecall_budget = 55", flags={"bank_dir": place / "other"})
    assert found.recall_budget == 77
    assert resolve(place, bank="[settings]\nrecall_budget = 55").recall_budget == 55


@pytest.mark.parametrize("name", sorted(SETTINGS.keys() - SAFE))
@pytest.mark.parametrize("layout", ["[settings]\n{} = 'x'", "{} = 'x'\nformat = 1"])
def test_a_cloned_bank_may_not_name_a_host_a_model_or_a_folder(place: Path, name: str, layout: str) -> None:
    with pytest.raises(BadSetting) as caught:
        resolve(place, bank=layout.format(name))
    assert str(place / "bank" / "bank.toml") in str(caught.value) and name in str(caught.value)


def test_what_a_bank_may_set_is_a_short_list() -> None:
    assert {s.name for s in SETTINGS.values() if s.bank_may_set} == SAFE


def test_the_variable_of_smb_outranks_that_of_ollama_and_an_empty_one_is_unset(place: Path) -> None:
    both = {"SMB_OLLAMA_HOST": "http://127.0.0.1:1", "OLLAMA_HOST": "127.0.0.1:2"}
    assert resolve(place, **both).ollama_host == "http://127.0.0.1:1"
    assert resolve(place, **both | {"SMB_OLLAMA_HOST": ""}).ollama_host == "http://127.0.0.1:2"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("localhost", "http://localhost:11434"),
        ("127.0.0.1:9", "http://127.0.0.1:9"),
        ("https://box.lan/", "https://box.lan"),
        ("[::1]:8", "http://[::1]:8"),
    ],
)
def test_ollama_hosts_are_read_as_ollama_writes_them(place: Path, written: str, read: str) -> None:
    assert resolve(place, OLLAMA_HOST=written).ollama_host == read


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("SMB_API_PORT", "99999"),
        ("SMB_API_PORT", "http"),
        ("SMB_API_PORT", "-1"),
        ("SMB_EVOLUTION_INTERVAL_SECONDS", "soon"),
        ("SMB_EVOLUTION_INTERVAL_SECONDS", "nan"),
        ("SMB_OLLAMA_HOST", "ftp://x"),
        ("SMB_OLLAMA_HOST", "x:port"),
        ("SMB_API_HOST", "a b"),
    ],
)
def test_a_bad_variable_is_named(place: Path, variable: str, text: str) -> None:
    with pytest.raises(BadSetting, match=variable):
        resolve(place, **{variable: text})


@pytest.mark.parametrize(
    "line", ["api_port = true", "api_port = 1.5", "ollama_model = 7", "bank_dir = ''", "lock_timeout = -1", "max_file_size = '0'"]
)
def test_a_bad_line_names_its_file_and_key(place: Path, line: str) -> None:
    with pytest.raises(BadSetting) as caught:
        resolve(place, config=line)
    assert "config.toml" in str(caught.value) and line.split(" ")[0] in str(caught.value)


def test_a_misspelt_key_is_told_its_neighbour(place: Path) -> None:
    with pytest.raises(UnknownSetting, match="config.toml: ollama_hots is not a setting. Did you mean ollama_host?"):
        resolve(place, config='ollama_hots = "x"')


@pytest.mark.parametrize("data", [b"api_port = ", b"\xff\xfe", b"a = 1\na = 2"])
def test_a_file_that_is_not_toml_is_named(place: Path, data: bytes) -> None:
    file = place / "bank" / "bank.toml"
    resolve(place)
    file.write_bytes(data)
    with pytest.raises(UnreadableSettings, match="bank.toml"):
        Settings.resolve(environ={"HOME": str(place)}, bank_dir=place / "bank")


def test_a_relative_xdg_folder_is_ignored_as_its_standard_says() -> None:
    assert config_path({"XDG_CONFIG_HOME": "here", "HOME": "/home/ida"}) == Path("/home/ida/.config/smb/config.toml")


def test_colour_is_left_out_where_no_color_or_a_dumb_terminal_says_so() -> None:
    assert colour_wanted({}) and colour_wanted({"NO_COLOR": ""})
    assert not colour_wanted({"NO_COLOR": "0"}) and not colour_wanted({"TERM": "dumb"})


@pytest.mark.parametrize(("text", "size"), [(5, 5), ("16MB", 16_000_000), ("1.5 kB", 1500), ("2GiB", 2 << 30), ("3m", 3_000_000)])
def test_sizes(text: object, size: int) -> None:
    assert size_in_bytes(text) == size


@pytest.mark.parametrize("text", ["", "0", "-1", "MB", "1 TB", "1e3", True, "0.1"])
def test_what_is_no_size_is_refused(text: object) -> None:
    with pytest.raises(ValueError):
        size_in_bytes(text)


def test_setting_one_key_leaves_every_other_line_alone(place: Path) -> None:
    file = place / "config.toml"
    file.write_text("# mine\napi_port = 1  # old\n\n[later]\napi_port = 2\n")
    write_setting(file, "api_port", "9000")
    write_setting(file, "ollama_model", 'a "quoted" one')
    assert file.read_text() == '# mine\napi_port = 9000\nollama_model = "a \\"quoted\\" one"\n\n[later]\napi_port = 2\n'


def test_a_bank_setting_goes_into_its_table(place: Path) -> None:
    file = place / "bank" / "bank.toml"
    file.write_text('format = 1\n\n[keys]\nsingle_valued = ["recall_budget = 3"]\n')
    write_setting(file, "recall_budget", "500", in_bank=True)
    write_setting(file, "recall_budget", "600", in_bank=True)
    assert file.read_text() == 'format = 1\n\n[keys]\nsingle_valued = ["recall_budget = 3"]\n\n[settings]\nrecall_budget = 600\n'


def test_an_unsafe_key_is_not_written_into_a_bank(place: Path) -> None:
    file = place / "bank" / "bank.toml"
    with pytest.raises(BadSetting, match="ollama_host"):
        write_setting(file, "ollama_host", "http://elsewhere", in_bank=True)
    assert not file.exists()


def test_a_file_whose_layout_hides_the_place_is_left_as_it_is(place: Path) -> None:
    file = place / "config.toml"
    text = 'ollama_model = """\napi_port = 1\n"""\n'
    file.write_text(text)
    with pytest.raises(BadSetting, match="by hand"):
        write_setting(file, "api_port", "2")
    assert file.read_text() == text


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_text_set_is_read_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.mktemp("set") / "config.toml"
    write_setting(file, "ollama_model", text)
    assert read_toml(file) == {"ollama_model": text}
