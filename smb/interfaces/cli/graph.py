"""`smb graph stats|neighbors|path|export`: questions to the knowledge graph."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from smb.interfaces.cli.command import SmbCommand, SmbGroup, banked, shared_options
from smb.interfaces.cli.outline import outline
from smb.interfaces.cli.packet_text import verdict_text
from smb.interfaces.cli.page import Page
from smb.interfaces.cli.session import Session

IdArgument = Annotated[str, typer.Argument(metavar="ID", help="An object's id or name.", show_default=False)]


def register(app: typer.Typer) -> None:
    group = typer.Typer(cls=SmbGroup, add_completion=False, rich_markup_mode=None)
    group.callback(invoke_without_command=True, help="Walk the knowledge graph.")(shared_options)
    for command in (stats, neighbors, path, export):
        group.command(cls=SmbCommand)(command)
    app.add_typer(group, name="graph")


@banked
def stats(session: Session) -> None:
    """Count nodes and edges by type."""
    session.show(session.ask(lambda bank: bank.graph_stats()), outline)


@banked
def neighbors(
    session: Session,
    object_id: IdArgument,
    hops: Annotated[int, typer.Option(min=1, metavar="N", help="Steps at most.", show_default=True)] = 1,
    types: Annotated[list[str] | None, typer.Option("--type", metavar="EDGE", help="Only along such edges; repeatable.")] = None,
) -> None:
    """Show what an object is linked to."""
    session.show(session.ask(lambda bank: bank.graph_neighbors(object_id, hops=hops, types=tuple(types or ()))), neighbors_text)


@banked
def path(
    session: Session,
    start: Annotated[str, typer.Argument(metavar="FROM", help="An object's id or name.", show_default=False)],
    end: Annotated[str, typer.Argument(metavar="TO", help="An object's id or name.", show_default=False)],
    max_hops: Annotated[int, typer.Option(min=1, metavar="N", help="Steps at most.", show_default=True)] = 6,
) -> None:
    """Show the shortest path between two objects."""
    session.show(session.ask(lambda bank: bank.graph_path(start, end, max_hops=max_hops)), path_text)


@banked
def export(session: Session) -> None:
    """Write the graph as node-link JSON to stdout."""
    session.out.write_json(session.ask(lambda bank: bank.graph_export()))


def neighbors_text(answer: dict[str, Any], page: Page) -> str:
    """A line for each object reached: how far it is, the edge that leads there, what it is."""
    lines = []
    for one in answer["found"]:
        steps = " ".join(_step(edge, page) for edge in one["path"][-1:])
        lines.append(f"{one['hops']}  {steps}  {_node(one['node'], page)}")
    if not answer["complete"]:
        lines.append(page.warning("and more than can be shown; ask with fewer --hops or one --type"))
    return "\n".join(lines or [page.faint(f"Nothing is linked to {answer['start']}.")])


def path_text(answer: dict[str, Any], page: Page) -> str:
    """The path, an object a line with the edge that leads to the next below it."""
    path = answer["path"]
    if path is None:
        return page.warning(f"No path leads from {answer['from']} to {answer['to']}; --max-hops allows longer ones.")
    lines = [_node(path["nodes"][0], page)]
    for before, edge, node in zip(path["nodes"], path["edges"], path["nodes"][1:], strict=False):
        lines += [f"  {_step(edge, page)} {'→' if edge['source'] == before['id'] else '←'}", _node(node, page)]
    return "\n".join(lines)


def _node(node: dict[str, Any], page: Page) -> str:
    held = "" if node["standing"] == "current" else f" · {verdict_text(node['standing'], page)}"
    return f"{page.strong(' '.join(node['title'].split()))}  {page.faint(node['type'])}{held}  {page.place(node['id'])}"


def _step(edge: dict[str, Any], page: Page) -> str:
    return page.style(edge["type"], fg="magenta")
