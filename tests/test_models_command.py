"""`smb models`: what there is, which is used and why, whether it works; it exits 1 with what to do, and fetches nothing unasked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ollama_server import VECTORS, WORDS, Model, OllamaServer, Say, Status, say_json
from shell import Ran, imported, settle
from smb.inference.model_choice import PREFERRED, InstalledModel, choose, named
from smb.inference.model_errors import ModelElsewhere, ModelMissing, NoModelInstalled


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    settle(tmp_path, monkeypatch)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with OllamaServer(WORDS, VECTORS, brain=lambda body: say_json({"colour": "blue"})) as running:
        monkeypatch.setenv("SMB_OLLAMA_HOST", running.host)
        yield running


def told(*words: str) -> dict[str, Any]:
    return json.loads(Ran("models", *words, "--json").out)


def test_the_list_says_what_is_used_for_what_and_why(server: OllamaServer) -> None:
    ran = Ran("models")
    assert ran.code == 0 and "qwen3:8b" in ran.out and "first of smb's list" in ran.out and "nomic-embed-text" in ran.out
    answer = told()
    assert (answer["ok"], answer["words"]["name"], answer["words"]["context"], answer["words"]["longest_context"]) == (True, "qwen3:8b", 8192, 32768)
    assert (answer["embeddings"]["name"], answer["to_do"]) == ("static", [])
    assert {r.path for r in server.requests} <= {"/api/version", "/api/tags", "/api/show"}  # nothing is loaded, nothing fetched


def test_a_named_model_is_used_or_is_an_error_never_exchanged(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMB_OLLAMA_MODEL", "llama3.1")
    ran = Ran("models")
    assert ran.code == 1 and "ollama pull llama3.1" in ran.out and "qwen3:8b  context" not in ran.out
    monkeypatch.setenv("SMB_OLLAMA_MODEL", "qwen3:8b")
    assert "named by SMB_OLLAMA_MODEL" in Ran("models").out
    monkeypatch.setenv("SMB_OLLAMA_MODEL", "nomic-embed-text")
    ran = Ran("models")
    assert ran.code == 1 and "can't write" in ran.out


def test_check_asks_each_model_a_small_question(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMB_EMBEDDING_MODEL", "ollama:nomic-embed-text")
    ran = Ran("models", "check")
    assert ran.code == 0 and "answered 'blue'" in ran.out and "768 numbers" in ran.out
    answer = told("check")
    assert answer["words"]["answered"] == "blue" and answer["words"]["elapsed_ms"] >= 0 and answer["embeddings"]["dimension"] == 768


@pytest.mark.parametrize("reply, said", [
    (say_json({"colour": "red"}), "take a better model"), (Say(""), "no usable answer"), (Status(500), "failed with status 500"), (Status(400, "no"), "refused")])
def test_check_says_what_is_wrong_with_a_model(server: OllamaServer, monkeypatch: pytest.MonkeyPatch, reply: Any, said: str) -> None:
    monkeypatch.setattr("smb.inference.wire.pause_before_retry", lambda *_: None)
    server.brain = lambda body: reply
    ran = Ran("models", "check")
    assert ran.code == 1 and said in ran.out


def test_check_notices_a_context_smaller_than_asked_for(server: OllamaServer) -> None:
    server.num_ctx_limit = 2048
    ran = Ran("models", "check")
    assert ran.code == 1 and "context of 2048 tokens where 8192 were asked for" in ran.out


@pytest.mark.parametrize("case", ["down", "no Ollama", "old", "nothing installed"])
def test_a_server_that_can_t_be_used_is_exit_1_with_what_to_do(server: OllamaServer, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    monkeypatch.setattr("smb.inference.wire.pause_before_retry", lambda *_: None)
    if case == "down":
        server.stop()
    elif case == "no Ollama":
        server.script(*[Status(404, raw=b"<html>")] * 3, to="/api/version")
    elif case == "old":
        server.version = "0.3.14"
    else:
        server.models[:] = [VECTORS]
    ran = Ran("models")
    wanted = {"down": "ollama serve", "no Ollama": "404", "old": "upgrade", "nothing installed": "ollama pull qwen3:8b"}
    assert ran.code == 1 and wanted[case] in ran.out and "static" in ran.out


def test_an_embedder_that_is_not_there_is_named_with_the_command_that_gets_it(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, said in (("minilm", "smb models pull minilm"), ("ollama:bge-m3", "ollama pull bge-m3")):
        monkeypatch.setenv("SMB_EMBEDDING_MODEL", name)
        ran = Ran("models")
        assert ran.code == 1 and said in ran.out


def test_smb_fetches_minilm_and_nothing_else(server: OllamaServer) -> None:
    ran = Ran("models", "pull", "qwen3")
    assert ran.code == 2 and "ollama pull qwen3" in ran.err and server.requests == []


def test_ollama_is_imported_only_where_it_is_used(server: OllamaServer) -> None:
    assert not imported("models", "--help") & {"ollama", "httpx", "numpy", "pydantic"}


# ------------------------------------------------------------ the choice


def model(name: str, parameters: float = 8e9, size: int = 5_000_000_000) -> InstalledModel:
    return InstalledModel(name, "d" * 64, size, parameters=parameters)


def test_the_best_of_the_list_is_chosen_whatever_the_order_of_what_is_installed() -> None:
    there = [model("llama3.2:3b", 3e9), model("gemma3:4b", 4e9), model("gemma3:12b", 12e9), model("gemma3:70b", 70e9), model("nomic-embed-text:latest"), model("qwen3-coder:30b")]
    assert {choose("", list(order), "h").model.name for order in (there, there[::-1])} == {"gemma3:12b"}
    assert choose("gemma3:70b", there, "h").model.name == "gemma3:70b" and choose("LLAMA3.2:3b", there, "h").model.name == "llama3.2:3b"
    with pytest.raises(NoModelInstalled, match="llava:7b"):
        choose("", [model("llava:7b")], "h")
    with pytest.raises(ModelMissing):
        choose("gemma3", there, "h")  # without a tag: latest, as Ollama reads it


def test_a_model_on_somebody_else_s_computer_is_never_used() -> None:
    there = [model("qwen3:480b-cloud", size=380), model("qwen3:latest", size=380), model("mine:latest", size=380)]
    with pytest.raises(NoModelInstalled):
        choose("", there, "h")
    for name in ("qwen3:480b-cloud", "qwen3", "mine", "glm:cloud"):
        with pytest.raises(ModelElsewhere):
            named(name, there, "h")


def test_no_embedding_model_is_on_the_list() -> None:
    assert not [name for name in PREFERRED if "embed" in name]
