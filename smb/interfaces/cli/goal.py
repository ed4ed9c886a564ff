"""`smb goal add|list|done`: what recalls are for, until it is done."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from smb.interfaces.cli.command import SmbCommand, SmbGroup, banked, shared_options
from smb.interfaces.cli.page import Page
from smb.interfaces.cli.session import Session

LEVELS = ("session", "global")


def register(app: typer.Typer) -> None:
    group = typer.Typer(cls=SmbGroup, add_completion=False, rich_markup_mode=None)
    group.callback(invoke_without_command=True, help="Set, list and close what recalls are for.")(shared_options)
    for command in (add, list_, done):
        group.command(command.__name__.rstrip("_"), cls=SmbCommand)(command)
    app.add_typer(group, name="goal")


def _level(text: str) -> str:
    if text not in LEVELS:
        raise ValueError(f"{text!r} is none of {', '.join(LEVELS)}")
    return text


@banked
def add(
    session: Session,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="The goal, quoted or not.", show_default=False)],
    level: Annotated[str, typer.Option("--level", metavar="|".join(LEVELS), parser=_level, help="For now, or for good.", show_default=True)] = "session",
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="What bears this tag serves it; repeatable.")] = None,
    parent: Annotated[str, typer.Option("--parent", metavar="ID", help="The goal it is a part of.")] = "",
) -> None:
    """Set a goal; it raises what serves it in recalls on this machine."""
    answer = session.ask(lambda bank: bank.goal_add(" ".join(text), level=level, tags=tuple(tags or ()), parent=parent))
    session.show(answer, lambda told, page: _goal(told["goal"], page))


@banked
def list_(session: Session) -> None:
    """List the open goals."""
    session.show(session.ask(lambda bank: bank.goal_list()), goals_text)


@banked
def done(session: Session, goal: Annotated[str, typer.Argument(metavar="ID", help="A goal's id, or its beginning.", show_default=False)]) -> None:
    """Close a goal."""
    answer = session.ask(lambda bank: bank.goal_done(goal))
    session.show(answer, lambda told, page: f"{page.good('done')}  {_goal(told['goal'], page)}")


def goals_text(answer: dict[str, Any], page: Page) -> str:
    """A line for each open goal."""
    return "\n".join(_goal(goal, page) for goal in answer["goals"]) or page.faint('No goal is open. Set one with: smb goal add "what you are after"')


def _goal(goal: dict[str, Any], page: Page) -> str:
    facts = [goal["level"], *(f"#{tag}" for tag in goal["tags"]), *([f"part of {goal['parent']}"] if goal["parent"] else [])]
    return f"{page.place(goal['id'])}  {page.style(goal['text'])}  {page.faint(' · '.join(facts))}"
