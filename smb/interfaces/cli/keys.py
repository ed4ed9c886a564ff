"""`smb config keys`: which attributes have one value at a time, and what the bank proposes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from smb.interfaces.cli.command import BankOption, DebugOption, JsonOption, LockOption, SmbCommand, SmbGroup, banked, keep
from smb.interfaces.cli.page import Page
from smb.interfaces.cli.session import Session

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="An attribute, such as `port`.", show_default=False)]
PROPOSED = 12  # lines of proposals in text; --json has more


def register(app: typer.Typer) -> None:
    group = typer.Typer(cls=SmbGroup, add_completion=False, rich_markup_mode=None)
    group.callback(invoke_without_command=True, help="Show the keys with one value at a time, and what looks like one.")(keys)
    for command in (list_, add, remove):
        group.command(command.__name__.rstrip("_"), cls=SmbCommand)(command)
    app.add_typer(group, name="keys")


def keys(ctx: typer.Context, bank: BankOption = None, as_json: JsonOption = False, debug: DebugOption = False) -> None:
    keep(ctx, bank, as_json)
    if ctx.invoked_subcommand is None:
        _show(Session.start(bank_dir=ctx.meta.get("smb.bank"), as_json=ctx.meta["smb.json"]))


def _show(session: Session) -> None:
    session.show(session.ask(lambda bank: bank.keys()), keys_text)


@banked
def list_(session: Session) -> None:
    """Show the keys with one value at a time, and what looks like one."""
    _show(session)


@banked
def add(session: Session, name: NameArgument, lock_timeout: LockOption = None) -> None:
    """Say that an attribute has one value at a time."""
    session.show(session.ask(lambda bank: bank.set_key(name, single_valued=True), lock_timeout=lock_timeout), changed_text)


@banked
def remove(session: Session, name: NameArgument, lock_timeout: LockOption = None) -> None:
    """Say that an attribute may have several values at a time."""
    session.show(session.ask(lambda bank: bank.set_key(name, single_valued=False), lock_timeout=lock_timeout), changed_text)


def keys_text(answer: dict[str, Any], page: Page) -> str:
    """The list, then what the bank's claims propose, with counts."""
    lines = [f"{page.strong(page.style(one['name']))}  {one['claims']} claims" for one in answer["single_valued"]]
    lines = lines or [page.faint("no attribute is listed as single-valued")]
    if answer["proposed"]:
        lines += ["", "These look single-valued; `smb config keys add NAME` lists one:"]
        width = max(len(one["name"]) for one in answer["proposed"][:PROPOSED])
        lines += [
            f"  {page.style(one['name']):<{width}}  {one['subjects']} subjects, {one['changing']} changed with the date"
            + (f", {one['exceptions']} with several values at a time" if one["exceptions"] else "")
            for one in answer["proposed"][:PROPOSED]
        ]
        if (more := answer["proposed_total"] - PROPOSED) > 0:
            lines.append(page.faint(f"  and {more} more (--json)"))
    return "\n".join(lines)


def changed_text(answer: dict[str, Any], page: Page) -> str:
    """What is listed now and what that changed."""
    listed = ", ".join(answer["single_valued"]) or "none"
    return (
        f"single-valued: {page.strong(page.style(listed))}\n"
        f"{answer['superseded']} claims superseded, {answer['contested']} contested, {answer['current']} current again"
    )
