"""`smb get`, `smb why`, `smb history`: one thing, what it rests on, and how it came to be so."""

from __future__ import annotations

from typing import Annotated

import typer

from smb.interfaces.cli.command import SmbCommand, banked
from smb.interfaces.cli.history_text import history_text
from smb.interfaces.cli.lookup_text import got_text, why_text
from smb.interfaces.cli.session import Session


def register(app: typer.Typer) -> None:
    for command in (get, why, history):
        app.command(cls=SmbCommand)(command)


@banked
def get(
    session: Session,
    ref: Annotated[str, typer.Argument(metavar="ID|PATH[:LINE[:COUNT]]", help="An id, or a note and lines.", show_default=False)],
    expand: Annotated[bool, typer.Option("--expand", help="Show what a note embeds where it embeds it.")] = False,
) -> None:
    """Show an object, or a document's exact lines."""
    session.show(session.ask(lambda bank: bank.get(ref, expand=expand)), got_text)


@banked
def why(
    session: Session,
    ref: Annotated[str, typer.Argument(metavar="ID|KEY", help="An object's id or name, or SUBJECT / ATTRIBUTE.", show_default=False)],
) -> None:
    """Show everything needed to check an object."""
    session.show(session.ask(lambda bank: bank.why(ref)), why_text)


@banked
def history(
    session: Session,
    ref: Annotated[str, typer.Argument(metavar="ID|KEY", help="An object's id, or what claims are about.", show_default=False)],
) -> None:
    """Show every revision of an object or a key."""
    session.show(session.ask(lambda bank: bank.history(ref)), history_text)
