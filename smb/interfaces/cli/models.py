"""`smb models`: what there is to compute with, which of it is used, whether it works, and fetching the one thing smb fetches."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import typer

from smb.interfaces.cli.command import BankOption, DebugOption, JsonOption, SmbCommand, SmbGroup, banked, keep
from smb.interfaces.cli.health_text import size_text
from smb.interfaces.cli.page import Page
from smb.interfaces.cli.progress import Progress
from smb.interfaces.cli.session import Session


def register(app: typer.Typer) -> None:
    group = typer.Typer(cls=SmbGroup, add_completion=False, rich_markup_mode=None)
    group.callback(invoke_without_command=True, help="Show the models there are, which are used, and whether they work.")(models)
    for command in (check, pull):
        group.command(cls=SmbCommand)(command)
    app.add_typer(group, name="models")


def models(ctx: typer.Context, bank: BankOption = None, as_json: JsonOption = False, debug: DebugOption = False) -> None:
    keep(ctx, bank, as_json)
    if ctx.invoked_subcommand is None:
        session = Session.start(bank_dir=ctx.meta.get("smb.bank"), as_json=ctx.meta["smb.json"])
        _show(session, asyncio.run(_models(session).report()))


@banked
def check(session: Session) -> None:
    """Ask each model in use a small question."""
    _show(session, asyncio.run(_models(session).check()))


@banked
def pull(session: Session, name: Annotated[str, typer.Argument(metavar="minilm", help="The only model smb fetches.", show_default=False)]) -> None:
    """Fetch the embedder minilm from its publisher, once."""
    with Progress(session.err) as progress:
        answer = asyncio.run(_models(session).pull(name, progress))
    session.show(answer, _pulled)


def models_text(answer: dict[str, Any], page: Page) -> str:
    """What is used for what, what else is installed, and what to do."""
    words, embeddings = answer["words"], answer["embeddings"]
    server = f"Ollama {answer['version']} at {page.place(answer['host'])}" if answer["version"] else page.warning(f"No Ollama at {answer['host']}")
    lines = [server, "", f"{page.strong('words')}       {_used(words, page)}", f"{page.strong('embeddings')}  {_used(embeddings, page)}"]
    used = {words["name"], embeddings["name"].removeprefix("ollama:")}
    if others := [one for one in answer["installed"] if one["name"] not in used]:
        lines += ["", page.strong("Also installed"), *(f"  {_installed(one, page)}" for one in others)]
    if answer["to_do"]:
        lines += ["", page.strong("To do"), *(f"  {page.warning(sentence)}" for sentence in answer["to_do"])]
    return "\n".join(lines)


def _used(use: dict[str, Any], page: Page) -> str:
    if not use["name"] or not use["why"]:
        return page.faint(f"{use['name']}: can't be used" if use["name"] else "none: rules and word vectors do the work")
    facts = [f"context {use['context']:,} of {use['longest_context']:,} tokens"] if use.get("context") and use.get("longest_context") else []
    facts += [f"{use['dimension']} numbers"] if use.get("dimension") else []
    facts += [f"answered {use['answered']!r} in {use['elapsed_ms']:,} ms"] if "answered" in use else []
    return f"{page.good(use['name']) if not use['trouble'] else page.warning(use['name'])}  {page.style(', '.join(facts))}  {page.faint(use['why'])}"


def _installed(one: dict[str, Any], page: Page) -> str:
    return f"{page.style(one['name'])}  {page.faint(size_text(one['bytes']) if one['local'] else 'runs elsewhere: never used')}"


def _pulled(answer: dict[str, Any], page: Page) -> str:
    return (
        f"{page.good(answer['name'])} is in {page.place(answer['folder'])} ({size_text(answer['bytes'])} from {page.style(answer['from'])}; its checksum is right).\n"
        f"Next: {page.strong('smb rebuild --vectors --embedder minilm')}"
    )


def _models(session: Session) -> Any:
    from smb.bank import Bank

    return Bank.models(session.settings)


def _show(session: Session, answer: dict[str, Any]) -> None:
    session.show(answer, models_text)
    if not answer["ok"]:
        raise typer.Exit(1)
