"""`smb ask`: a question in, an answer in words out, sentence by sentence, each with its evidence."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from smb.interfaces.cli.command import SmbCommand, banked
from smb.interfaces.cli.page import Page
from smb.interfaces.cli.session import Session

ABSTAINED, CONFLICT = 3, 4


def register(app: typer.Typer) -> None:
    app.command(cls=SmbCommand)(ask)


@banked
def ask(
    session: Session,
    question: Annotated[list[str], typer.Argument(metavar="QUESTION", help="The question, quoted or not.", show_default=False)],
    n: Annotated[int, typer.Option("-n", "--limit", min=1, metavar="N", help="Items opened at most.", show_default=True)] = 10,
    budget: Annotated[int | None, typer.Option(min=1, metavar="TOKENS", help="Tokens of evidence at most.")] = None,
    as_of: Annotated[str | None, typer.Option(metavar="TIME", help="What held then.")] = None,
    known_at: Annotated[str | None, typer.Option(metavar="TIME", help="What the bank knew then.")] = None,
    source: Annotated[str | None, typer.Option(metavar="PATH", help="Only from this document or folder.")] = None,
    exit_status: Annotated[bool, typer.Option("--exit-status", help="Exit 3 where there is no answer, 4 on a conflict.")] = False,
) -> None:
    """Answer in words with a local model, from what recall finds and nothing else."""
    asked = " ".join(question).strip()
    if not asked:
        raise typer.BadParameter("the question is empty", param_hint="QUESTION")
    streams = session.out.terminal and not session.as_json
    told = session.ask(lambda bank: bank.ask(asked, n=n, budget=budget, as_of=as_of, known_at=known_at, source=source,
                                             say=(lambda text: session.out.write(session.out.style(text))) if streams else None))
    session.show(told, lambda answer, page: ask_text(answer, page, said=streams))
    if exit_status and told["outcome"] != "answered":
        raise typer.Exit(CONFLICT if told["recall"] == "conflict" else ABSTAINED)


def ask_text(told: dict[str, Any], page: Page, *, said: bool = False) -> str:
    """The answer and what it cites; without one, why not, and both sides of a conflict. `said`: the sentences stand there already."""
    lines = []
    if told["outcome"] == "answered":
        lines.append("" if said else page.style(told["answer"]))
        cited = {c["n"] for sentence in told["sentences"] for c in sentence["citations"]}
        lines += ["", *(_source(item, page) for item in told["items"] if item["n"] in cited)]
    else:
        lines.append(page.warning("No answer.") + " " + page.style(told["reason"]))
        for conflict in told["conflicts"]:
            lines += [f"  {page.strong(item['title'])}  {_place(item, page)}" for item in conflict["items"]]
        if not told["conflicts"] and told["items"]:
            lines += ["", page.faint("What came nearest:"), *(_source(item, page) for item in told["items"][:3])]
    if told["dropped"]:
        dropped = told["dropped"]
        lines += ["", page.faint(f"{len(dropped)} sentence{'s' if len(dropped) > 1 else ''} of the model did not hold: {dropped[0]['reason']}")]
    return "\n".join(lines)


def _source(item: dict[str, Any], page: Page) -> str:
    return f"  [{item['n']}] {_place(item, page)}  {page.faint(item['title'][:100])}"


def _place(item: dict[str, Any], page: Page) -> str:
    return page.place(next((f"{c['path']}:{c['line_start']}" for c in item["citations"]), item["id"]))
