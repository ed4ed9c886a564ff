"""`smb init`: a new bank."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from smb.interfaces.cli.command import SmbCommand, banked
from smb.interfaces.cli.next_step import bank_option
from smb.interfaces.cli.page import Page
from smb.interfaces.cli.session import Session


def register(app: typer.Typer) -> None:
    app.command(cls=SmbCommand)(init)


@banked
def init(
    session: Session,
    directory: Annotated[Path | None, typer.Argument(metavar="DIR", help="Where; as --bank.", show_default=False)] = None,
    no_git: Annotated[bool, typer.Option("--no-git", help="Do not make it a git repository.")] = False,
) -> None:
    """Make a memory bank."""
    import asyncio

    from smb.bank import Bank

    where = directory or session.settings.bank_dir
    session.show(asyncio.run(Bank.init(where, git=not no_git)), lambda answer, page: _made(where, answer, page))


def _made(where: Path, answer: dict[str, Any], page: Page) -> str:
    named = bank_option(where)
    said = "Made a memory bank in" if answer.get("created", True) else "There is a memory bank already in"
    return f"{said} {page.place(str(where))}\nNext: {page.strong(f'smb ingest FOLDER{named}')}"
