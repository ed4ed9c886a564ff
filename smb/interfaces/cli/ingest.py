"""`smb ingest`: documents in, and what became of each."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from smb.config import size_in_bytes
from smb.interfaces.cli.command import LockOption, SmbCommand, banked
from smb.interfaces.cli.next_step import DEFAULT_BANK, bank_option
from smb.interfaces.cli.outline import count
from smb.interfaces.cli.page import Page
from smb.interfaces.cli.progress import Progress
from smb.interfaces.cli.session import Session

PARTIAL, NO_MODEL = 7, 8
LINES_SHOWN = 20
PATHS_HELP = "Folders or files; without any, those read before, or SMB_KBMD_DIR, or ./kbmd."


def register(app: typer.Typer) -> None:
    app.command(cls=SmbCommand)(ingest)


@banked
def ingest(
    session: Session,
    paths: Annotated[list[Path] | None, typer.Argument(metavar="PATH", help=PATHS_HELP, show_default=False)] = None,
    include: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Read files that match, too; repeatable.")] = None,
    max_size: Annotated[int | None, typer.Option(metavar="SIZE", parser=size_in_bytes, help="Skip larger files (16 MB).")] = None,
    follow_symlinks: Annotated[bool, typer.Option("--follow-symlinks", help="Read what links point to.")] = False,
    sync: Annotated[bool, typer.Option("--sync", help="Bring every index up to date before ending.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen; write nothing.")] = False,
    skip_embeddings: Annotated[bool, typer.Option("--skip-embeddings", help="Leave embedding for later.")] = False,
    model: Annotated[bool, typer.Option("--model", help="Then have the local model read what it has not read.")] = False,
    lock_timeout: LockOption = None,
) -> None:
    """Read markdown into the bank; unchanged files cost nothing."""
    with Progress(session.err) as progress:
        report = session.ask(
            lambda bank: bank.ingest(
                paths or (),
                include=tuple(include or ()),
                max_size=max_size or session.settings.max_file_size,
                follow_symlinks=follow_symlinks,
                sync=sync,
                dry_run=dry_run,
                skip_embeddings=skip_embeddings,
                model=model,
                progress=progress,
            ),
            lock_timeout=lock_timeout,
        )
    session.show(report, lambda answer, page: ingest_text(answer, page, dry_run=dry_run, bank=session.settings.bank_dir))
    if model and report["model"]["unavailable"]:
        raise typer.Exit(NO_MODEL)
    if report["status"] == "partial":
        raise typer.Exit(PARTIAL)


def ingest_text(report: dict[str, Any], page: Page, *, dry_run: bool = False, bank: Path = DEFAULT_BANK) -> str:
    """The summary of an ingest: counts, what was skipped and why, warnings, the next step."""
    moves = [f"{report[name]} {name}" for name in ("added", "changed", "moved", "removed", "unchanged") if report[name]]
    skipped, warnings = report["skipped"], report["warnings"]
    if skipped:
        moves.append(page.warning(f"{len(skipped)} skipped"))
    head = f"{'Would read' if dry_run else 'Read'} {count(report['seen'], 'document')} in {report['seconds']:.1f} s"
    lines = [page.strong(head) + (": " + ", ".join(moves) if moves else "")]
    if report["objects"]:
        kinds = ", ".join(count(n, kind) for kind, n in sorted(report["objects"].items(), key=lambda kn: (-kn[1], kn[0])))
        lines.append(f"{kinds}; {count(report['passages'], 'passage')}")
    if skipped:
        lines += ["", page.strong("Skipped"), *_listed(skipped, "reason", page)]
    if warnings:
        lines += ["", page.strong("Warnings"), *_listed(warnings, "code", page)]
    if read := report.get("model"):
        lines += ["", *_read_text(read, page)]
    if report["added"] and not dry_run:
        lines += ["", f"Next: {page.strong(f'smb recall QUESTION{bank_option(bank)}')}"]
    return "\n".join(lines)


def _read_text(read: dict[str, Any], page: Page) -> list[str]:
    lines = []
    if read["model"]:
        refused = ", ".join(f"{n} {gate}" for gate, n in read["refused"].items())
        lines.append(f"{page.style(read['model'])} read {count(read['read'], 'document')}" + page.faint(f"; refused by gate: {refused}" if refused else ""))
    if read["unavailable"]:
        lines.append(page.warning(read["unavailable"]))
    lines += [f"  {page.place(one['path'])}  {page.warning(one['reason'])}" for one in read["failed"][:LINES_SHOWN]]
    if read["pending"]:
        lines.append(f"{count(read['pending'], 'document')} still to be read by a model; `smb ingest --model` goes on.")
    return lines


def _listed(found: list[dict[str, Any]], label: str, page: Page) -> list[str]:
    lines = []
    for one in found[:LINES_SHOWN]:
        place = f"{one['path']}:{one['line']}" if one.get("line") else one["path"]
        lines.append(f"  {page.place(place)}  {page.warning(one[label])}  {page.style(one['detail'])}".rstrip())
    rest = Counter(one[label] for one in found[LINES_SHOWN:])
    if rest:
        more = ", ".join(f"{n:,} more {name}" for name, n in rest.most_common())
        lines.append(page.faint(f"  and {more} (--json lists all)"))
    return lines
