"""`smb recall`: a question in, a packet with its evidence out. Never ranks or filters; that is the Bank's."""

from __future__ import annotations

import difflib
import math
from typing import Annotated, Any

import typer

from smb.interfaces.cli.command import SmbCommand, banked
from smb.interfaces.cli.session import Session

MISS, CONFLICT, DEGRADED = 3, 4, 5
FORMATS = ("text", "json", "markdown")
EXIT_HELP = "Exit 3 on a miss, 4 on a conflict, 5 if degraded or stale."


def register(app: typer.Typer) -> None:
    app.command(cls=SmbCommand)(recall)


def _format(text: str) -> str:
    if text not in FORMATS:
        raise ValueError(f"{text!r} is none of {', '.join(FORMATS)}")
    return text


def _type(text: str) -> str:
    from smb.model.objects import MemoryType

    known = [*map(str, MemoryType), "passage"]
    if text not in known:
        near = difflib.get_close_matches(text, known, 1)
        raise ValueError(f"{text!r} is no type; {f'did you mean {near[0]}?' if near else 'the types are ' + ', '.join(known)}")
    return text


def _score(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} is not a number")
    return value


@banked
def recall(
    session: Session,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="The question, quoted or not.", show_default=False)],
    n: Annotated[int, typer.Option("-n", "--limit", min=1, metavar="N", help="Items at most.", show_default=True)] = 10,
    budget: Annotated[int | None, typer.Option(min=1, metavar="TOKENS", help="Tokens at most (the profile's; base 2000).")] = None,
    as_of: Annotated[str | None, typer.Option(metavar="TIME", help="What held then.")] = None,
    known_at: Annotated[str | None, typer.Option(metavar="TIME", help="What the bank knew then.")] = None,
    now: Annotated[str | None, typer.Option(metavar="TIME", help="What today, last week… count from.")] = None,
    types: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", parser=_type, help="Only this type; repeatable.")
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Only with this tag; repeatable.")] = None,
    source: Annotated[str | None, typer.Option(metavar="PATH", help="Only from this document or folder.")] = None,
    layer: Annotated[int | None, typer.Option(min=0, max=6, metavar="0-6", help="Only from this layer.")] = None,
    hops: Annotated[int | None, typer.Option(min=0, metavar="N", help="Graph steps from a hit (the profile's; base 2).")] = None,
    profile: Annotated[str | None, typer.Option(metavar="NAME", help="Whom to rank for: base, coding, research, manager, worker, personal, or your own.")] = None,
    goal: Annotated[str | None, typer.Option(metavar="TEXT", help="What the answer is for.")] = None,
    seen: Annotated[list[str] | None, typer.Option("--seen", metavar="ID", help="Known already, so less news; repeatable.")] = None,
    min_score: Annotated[float | None, typer.Option(metavar="X", parser=_score, help="Leave out lower scores.")] = None,
    include_superseded: Annotated[bool, typer.Option("--include-superseded", help="Rank outdated values, too.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Show how each item scored.")] = False,
    lexical: Annotated[bool, typer.Option("--lexical", help="Words only; load no embedder.")] = False,
    format_: Annotated[str, typer.Option("--format", metavar="|".join(FORMATS), parser=_format, help="How to answer.")] = "text",
    exit_status: Annotated[bool, typer.Option("--exit-status", help=EXIT_HELP)] = False,
) -> None:
    """Answer a question, with evidence (also: search, query)."""
    question = " ".join(query).strip()
    if not question:
        raise typer.BadParameter("the question is empty", param_hint="QUERY")
    packet = session.ask(
        lambda bank: bank.recall(
            question,
            n=n,
            budget=budget,
            as_of=as_of,
            known_at=known_at,
            now=now,
            types=tuple(types or ()),
            tags=tuple(tags or ()),
            source=source,
            layer=layer,
            hops=hops,
            profile=profile,
            goal=goal,
            seen=tuple(seen or ()),
            min_score=min_score,
            include_superseded=include_superseded,
            explain=explain,
            lexical=lexical,
        )
    )
    if session.as_json or format_ == "json":
        session.out.write_json(packet)
    elif format_ == "markdown":
        from smb.interfaces.cli.packet_markdown import packet_markdown

        session.show(packet, packet_markdown)
    else:
        from smb.interfaces.cli.packet_text import packet_notes, packet_text

        for note in packet_notes(packet):
            session.note(note)
        session.show(packet, packet_text)
    if exit_status:
        raise typer.Exit(status_of(packet))


def status_of(packet: dict[str, Any]) -> int:
    """The exit code of --exit-status: a conflict was found whatever failed, an absence only if nothing failed."""
    if packet["outcome"] == "conflict":
        return CONFLICT
    if packet["degraded"] or packet["stale"]:
        return DEGRADED
    return MISS if packet["outcome"] == "miss" else 0
