"""`smb status`, `smb doctor`, `smb absorb`, `smb rebuild`: how the bank is, and putting it right."""

from __future__ import annotations

from typing import Annotated

import typer

from smb.config import embedder_name
from smb.interfaces.cli.command import LockOption, SmbCommand, banked
from smb.interfaces.cli.health_text import absorb_text, doctor_text, rebuild_text, status_text
from smb.interfaces.cli.ingest import PARTIAL
from smb.interfaces.cli.progress import Progress
from smb.interfaces.cli.session import Session


def register(app: typer.Typer) -> None:
    for command in (status, doctor, absorb, rebuild):
        app.command(cls=SmbCommand)(command)


@banked
def status(session: Session) -> None:
    """Show what the bank holds and how far its indexes are."""
    session.show(session.ask(lambda bank: bank.status()), status_text)


@banked
def doctor(
    session: Session,
    fix: Annotated[bool, typer.Option("--fix", help="Mend what can be mended without asking.")] = False,
    lock_timeout: LockOption = None,
) -> None:
    """Check the bank; name each fault and what mends it."""
    answer = session.ask(lambda bank: bank.doctor(fix=fix), lock_timeout=lock_timeout)
    session.show(answer, doctor_text)
    if not answer["ok"]:
        raise typer.Exit(1)


@banked
def absorb(
    session: Session,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be taken in; write nothing.")] = False,
    lock_timeout: LockOption = None,
) -> None:
    """Take hand edits of object files into the ledger."""
    answer = session.ask(lambda bank: bank.absorb(dry_run=dry_run), lock_timeout=lock_timeout)
    session.show(answer, absorb_text)
    if answer["unreadable"]:
        raise typer.Exit(PARTIAL)


@banked
def rebuild(
    session: Session,
    vectors: Annotated[bool, typer.Option("--vectors", help="Embed everything anew, too.")] = False,
    embedder: Annotated[str | None, typer.Option("--embedder", metavar="NAME", parser=embedder_name, help="With --vectors: move to static, minilm or ollama:MODEL.")] = None,
    lock_timeout: LockOption = None,
) -> None:
    """Make every index again from the ledger; calls no model."""
    if embedder and not vectors:
        raise typer.BadParameter("--embedder moves the vectors: give --vectors, too")
    with Progress(session.err) as progress:
        answer = session.ask(lambda bank: bank.rebuild(vectors=vectors, progress=progress, embedder=embedder or ""), lock_timeout=lock_timeout)
    session.show(answer, rebuild_text)
    if answer["unreadable"]:
        raise typer.Exit(PARTIAL)
