"""`smb verify`, `smb reject`, `smb feedback`: what a person says of something the bank holds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from smb.interfaces.cli.command import LockOption, SmbCommand, banked
from smb.interfaces.cli.lookup_text import signed_lines
from smb.interfaces.cli.page import Page
from smb.interfaces.cli.session import Session

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="An object's id or name.", show_default=False)]
AsOption = Annotated[str, typer.Option("--as", metavar="NAME", help="Who decides.", show_default=False)]
SIGNALS = ("used", "ignored")


def register(app: typer.Typer) -> None:
    for command in (verify, reject, feedback):
        app.command(cls=SmbCommand)(command)


def _signal(text: str) -> str:
    if text not in SIGNALS:
        raise ValueError(f"{text!r} is none of {', '.join(SIGNALS)}")
    return text


@banked
def verify(
    session: Session,
    object_id: IdArgument,
    who: AsOption,
    note: Annotated[str, typer.Option("--note", metavar="TEXT", help="What it was checked against.")] = "",
    lock_timeout: LockOption = None,
) -> None:
    """Sign an object off as checked by a person."""
    session.show(session.ask(lambda bank: bank.verify(object_id, who=who, note=note), lock_timeout=lock_timeout), decided_text)


@banked
def reject(
    session: Session,
    object_id: IdArgument,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why it is wrong.", show_default=False)],
    who: AsOption,
    lock_timeout: LockOption = None,
) -> None:
    """Reject an object for good: it is never current again."""
    session.show(session.ask(lambda bank: bank.reject(object_id, who=who, reason=reason), lock_timeout=lock_timeout), decided_text)


@banked
def feedback(
    session: Session,
    item: Annotated[str, typer.Argument(metavar="ID", help="An item's id, as recall gives it.", show_default=False)],
    signal: Annotated[str, typer.Argument(metavar="|".join(SIGNALS), help="What became of it.", parser=_signal, show_default=False)],
) -> None:
    """Say whether an item of an answer was of use; it counts in later ranks here."""
    session.show(session.ask(lambda bank: bank.feedback(item, signal)), feedback_text)


def decided_text(answer: dict[str, Any], page: Page) -> str:
    """What the object is now, and who signed."""
    now = answer["verification"]
    word = (page.bad if now == "rejected" else page.good)(now)
    before = "" if now == answer["was"] else "  " + page.faint(f"was {answer['was']}")
    return "\n".join([f"{page.strong(answer['title'])}  {word}{before}  {page.place(answer['id'])}", *signed_lines(answer, page)])


def feedback_text(answer: dict[str, Any], page: Page) -> str:
    """How often the item was of use so far."""
    often = f"of use {answer['successes']} of {answer['uses']} times"
    return f"{page.place(answer['id'])}  {answer['signal']}  {page.faint(often)}"
