"""`smb conflicts`: what the bank holds that can't all be true, and what a person decides of it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from smb.interfaces.cli.command import BankOption, DebugOption, JsonOption, LockOption, SmbCommand, SmbGroup, banked, keep
from smb.interfaces.cli.next_step import bank_option
from smb.interfaces.cli.packet_text import day, verdict_text, where
from smb.interfaces.cli.page import Page
from smb.interfaces.cli.session import Session

PLACES = 3  # places of a side that are shown
HOW = {"kept": "one side kept", "both": "both hold", "dismissed": "no contradiction", "same": "the same as another"}


def register(app: typer.Typer) -> None:
    group = typer.Typer(cls=SmbGroup, add_completion=False, rich_markup_mode=None)
    group.callback(invoke_without_command=True, help="List what contradicts what, and settle it.")(conflicts)
    group.command(cls=SmbCommand)(resolve)
    app.add_typer(group, name="conflicts")


def conflicts(
    ctx: typer.Context,
    every: Annotated[bool, typer.Option("--all", help="Settled ones too.")] = False,
    resolved: Annotated[bool, typer.Option("--resolved", help="Settled ones only.")] = False,
    kind: Annotated[str, typer.Option("--kind", metavar="KIND", help="Of one kind: number, date, negation, antonym, state, value, quantifier.")] = "",
    about: Annotated[str, typer.Option("--about", metavar="TEXT", help="Whose sides speak of this.")] = "",
    bank: BankOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> None:
    keep(ctx, bank, as_json)
    if ctx.invoked_subcommand is None:
        session = Session.start(bank_dir=ctx.meta.get("smb.bank"), as_json=ctx.meta["smb.json"])
        found = session.ask(lambda bank: bank.conflicts("all" if every else "resolved" if resolved else "open", kind=kind, about=about))
        session.show(found, lambda answer, page: conflicts_text(answer, page, bank_option(session.settings.bank_dir)))


@banked
def resolve(
    session: Session,
    conflict: Annotated[str, typer.Argument(metavar="ID", help="A contradiction's id.", show_default=False)],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why.", show_default=False)],
    who: Annotated[str, typer.Option("--as", metavar="NAME", help="Who decides.", show_default=False)],
    kept: Annotated[str, typer.Option("--keep", metavar="CLAIM_ID|a|b", help="This side holds; it supersedes the other.")] = "",
    both: Annotated[tuple[str, str], typer.Option("--both", metavar="SCOPE_A SCOPE_B", help="Both hold, each in its scope.")] = ("", ""),
    dismiss: Annotated[bool, typer.Option("--dismiss", help="It is no contradiction; it is never raised again.")] = False,
    lock_timeout: LockOption = None,
) -> None:
    """Decide a contradiction: keep one side or both, or dismiss it."""
    scopes = both if any(both) else ()
    answer = session.ask(lambda bank: bank.resolve_conflict(conflict, keep=kept, scopes=scopes, dismiss=dismiss, who=who, reason=reason), lock_timeout=lock_timeout)
    session.show(answer, lambda answer, page: resolved_text(answer, page, bank_option(session.settings.bank_dir)))


def conflicts_text(answer: list[dict[str, Any]], page: Page, bank: str = "") -> str:
    """Each contradiction with both sides and their places."""
    if not answer:
        return page.faint("no contradictions")
    lines = [line for one in answer for line in (*_conflict(one, page), "")]
    if any(one["resolved"] is None for one in answer):
        lines.append(page.faint(f"Next: smb conflicts resolve ID --keep a --reason TEXT --as NAME{bank} (or --both, --dismiss)"))
    return "\n".join(lines)


def resolved_text(answer: dict[str, Any], page: Page, bank: str = "") -> str:
    """How the contradiction stands now, and how to take that back."""
    lines = _conflict(answer, page)
    if before := answer.get("overridden"):
        lines.append(f"  {page.warning('overrides: ' + _decision(before, answer))}")
    if answer["transaction"]:
        lines += ["", page.faint(f"smb undo {answer['transaction'][:12]}{bank} takes this back")]
    return "\n".join(lines)


def _conflict(one: dict[str, Any], page: Page) -> list[str]:
    lines = [f"{page.strong(page.style(one['title']))}  {page.place(one['id'])}"]
    for name, side in zip("ab", one["claims"], strict=False):
        places = list(dict.fromkeys(map(where, side["citations"])))
        more = f" and {len(places) - PLACES} more" if len(places) > PLACES else ""
        lines.append(f"  {page.strong(name)}  {page.style(side['text'])}  {verdict_text(side['standing'], page)}  {page.place(', '.join(places[:PLACES]) + more)}")
    lines.append(f"  {page.faint(_state(one))}")
    return lines


def _state(one: dict[str, Any]) -> str:
    how = one["resolution"]
    if how is None:
        return f"{one['kind']} · open since {day(one['opened'])}"
    return f"{one['kind']} · {_decision({**how, 'at': one['resolved']}, one)}"


def _decision(how: dict[str, Any], one: dict[str, Any]) -> str:
    """What settled a contradiction, by whom, why and when."""
    if how["how"] == "kept":
        first = one["claims"][0]
        what = f"{'a' if how['keep'] in (first['id'], *(other['id'] for other in first['also'])) else 'b'} kept"
    else:
        what = HOW.get(how["how"], f"one side is {how['how']}" if how["how"] != "merged" else "both are one claim now")
    scopes = f" ({' / '.join(how['scopes'])})" if how["scopes"] else ""
    return " · ".join(part for part in (f"{what}{scopes}", f"by {how['by']}" if how["by"] else "", how["reason"] or "", day(how["at"])) if part)
