"""What every command shares: the options all of them take, and the Session they are called with.

Owns `banked`, the declaration of --bank, --json and --debug, and where their values wait for the command. They may
stand before the command or after it; the one nearest the command wins.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from smb.config import seconds
from smb.interfaces.cli.coercion import read_plainly


def _show_tracebacks(ctx: typer.Context, value: bool) -> bool:
    if value:
        ctx.find_root().command.debug = True  # type: ignore[attr-defined]
    return value


BankOption = Annotated[
    Path | None, typer.Option("--bank", metavar="DIR", help="The bank (SMB_MEMORY_BANK_DIR; ./memory-bank).", show_default=False)
]
JsonOption = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.", callback=_show_tracebacks)]

LockOption = Annotated[
    float | None, typer.Option("--lock-timeout", metavar="SECONDS", parser=seconds, help="Wait so long for another writer (30).")
]


class SmbCommand(TyperCommand):
    """A command whose arguments are read without pydantic."""

    def get_params(self, ctx: typer.Context) -> list[Any]:
        return read_plainly(super().get_params(ctx))


class SmbGroup(TyperGroup):
    """A group of commands, its own options read the same way."""

    def get_params(self, ctx: typer.Context) -> list[Any]:
        return read_plainly(super().get_params(ctx))


def shared_options(ctx: typer.Context, bank: BankOption = None, as_json: JsonOption = False, debug: DebugOption = False) -> None:
    """The callback of a group: keeps its options for the command below; no command is a usage error."""
    keep(ctx, bank, as_json)
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help(), err=True)
        raise typer.Exit(2)


def keep(ctx: typer.Context, bank: Path | None, as_json: bool) -> None:
    """Note --bank and --json where every command below sees them."""
    if bank is not None:
        ctx.meta["smb.bank"] = bank
    ctx.meta["smb.json"] = as_json or ctx.meta.get("smb.json", False)


def banked(function: Callable[..., None]) -> Callable[..., None]:
    """Turn `function(session, …)` into a command that also takes --bank, --json and --debug."""

    def run(ctx: typer.Context, bank: Path | None, as_json: bool, debug: bool, **own: Any) -> None:
        from smb.interfaces.cli.session import Session

        keep(ctx, bank, as_json)
        function(Session.start(bank_dir=ctx.meta.get("smb.bank"), as_json=ctx.meta["smb.json"]), **own)

    functools.update_wrapper(run, function)
    del run.__wrapped__  # type: ignore[attr-defined]  # or typer would read the function's own signature
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [p.replace(kind=keyword) for p in list(inspect.signature(function, eval_str=True).parameters.values())[1:]]
    parameters = [
        inspect.Parameter("ctx", keyword, annotation=typer.Context),
        *own,
        inspect.Parameter("bank", keyword, default=None, annotation=BankOption),
        inspect.Parameter("as_json", keyword, default=False, annotation=JsonOption),
        inspect.Parameter("debug", keyword, default=False, annotation=DebugOption),
    ]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run
