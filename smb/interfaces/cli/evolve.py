"""`smb evolve` and `smb undo`: the bank organises itself, and takes that back."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from smb.config import seconds
from smb.interfaces.cli.command import LockOption, SmbCommand, banked
from smb.interfaces.cli.outline import count
from smb.interfaces.cli.page import Page
from smb.interfaces.cli.progress import Progress
from smb.interfaces.cli.session import Session

NO_MODEL = 8
MODEL_HELP = "Have the local model read, judge and word, or not; without either, while work waits for it or with use_model = true in your config."


def register(app: typer.Typer) -> None:
    for command in (evolve, undo):
        app.command(cls=SmbCommand)(command)


@banked
def evolve(
    session: Session,
    phase: Annotated[list[str] | None, typer.Option("--phase", metavar="NAME", help="Run this phase alone; repeatable.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, each phase by itself; write nothing.")] = False,
    deadline: Annotated[float | None, typer.Option(metavar="SECONDS", parser=seconds, help="Begin no phase after so long; the next run goes on.")] = None,
    every: Annotated[bool, typer.Option("--every", help="Go on until interrupted, a cycle every SMB_EVOLUTION_INTERVAL_SECONDS.")] = False,
    interval: Annotated[float | None, typer.Option("--interval", metavar="SECONDS", parser=seconds, help="With --every: seconds between cycles.")] = None,
    model: Annotated[bool | None, typer.Option("--model/--no-model", help=MODEL_HELP, show_default=False)] = None,
    lock_timeout: LockOption = None,
) -> None:
    """Let the bank organise itself: merge, split, find contradictions, build on top."""
    if interval is not None and not every:
        raise typer.BadParameter("it says how long --every waits between cycles; give --every, too", param_hint="--interval")
    while True:
        started = time.monotonic()
        with Progress(session.err) as progress:
            report = session.ask(
                lambda bank: bank.evolve(tuple(phase or ()), dry_run=dry_run, deadline=deadline, model=model, progress=progress), lock_timeout=lock_timeout)
        session.show(report, evolve_text)
        if not every:
            if model and report["model"]["unavailable"]:
                raise typer.Exit(NO_MODEL)
            return
        time.sleep(max(0.0, (interval or session.settings.evolution_interval_seconds) - (time.monotonic() - started)))


@banked
def undo(
    session: Session,
    reference: Annotated[str, typer.Argument(metavar="[ID]", help="A cycle's record or a transaction; without it, the last cycle.", show_default=False)] = "",
    who: Annotated[str, typer.Option("--as", metavar="NAME", help="Who takes it back.", show_default=False)] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be taken back; write nothing.")] = False,
    lock_timeout: LockOption = None,
) -> None:
    """Take back a cycle of evolution; an undo can be undone."""
    if not yes and not dry_run:
        _confirm(session, session.ask(lambda bank: bank.undo(reference, who=who, dry_run=True), lock_timeout=lock_timeout))
    session.show(session.ask(lambda bank: bank.undo(reference, who=who, dry_run=dry_run), lock_timeout=lock_timeout), undo_text)


def _confirm(session: Session, planned: dict[str, Any]) -> None:
    """Asks on a terminal; elsewhere the command needs --yes."""
    import sys

    if not (sys.stdin is not None and sys.stdin.isatty()):
        raise typer.BadParameter("this takes something back: say --yes, or --dry-run to see what")
    session.err.write(undo_text(planned, session.err) + "\n")
    typer.confirm("Go on?", abort=True, err=True)


def evolve_text(report: dict[str, Any], page: Page) -> str:
    """A line a phase that changed anything, then what there is to look at."""
    did = [phase for phase in report["phases"] if phase["committed"] or (report["dry_run"] and phase["proposed"])]
    verb = "Would change" if report["dry_run"] else "Changed"
    total = sum(phase["proposed" if report["dry_run"] else "committed"] for phase in did)
    kept = sum(phase["dropped"] for phase in report["phases"])
    nothing = "Nothing to do" if report["complete"] else "Nothing finished in time"
    lines = [page.strong(f"{verb} {count(total, 'object')} in {report['seconds']:.1f} s" if did else f"{nothing} ({report['seconds']:.1f} s)")]
    width = max((len(phase["name"]) for phase in did), default=0)
    for phase in did:
        kinds = ", ".join(count(n, kind) for kind, n in phase["by_type"].items())
        note = page.faint(f"  {phase['note']}") if phase["note"] else ""
        lines.append(f"  {phase['name']:{width}}  {kinds}{note}")
    if kept:
        lines.append(page.faint(f"{count(kept, 'object')} left as people edited, deleted or undid {'it' if kept == 1 else 'them'}"))
    if not report["complete"]:
        lines.append(page.warning("The deadline came first; run it again to go on."))
    lines += _model_text(report.get("model"), page)
    if report["record"]:
        lines += ["", f"{page.place(report['record'])}  {page.faint('the record of this cycle; `smb undo` takes it back')}"]
    return "\n".join(lines)


def _model_text(used: dict[str, Any] | None, page: Page) -> list[str]:
    if used is None:
        return []
    lines = [page.warning(used["unavailable"])] if used["unavailable"] else []
    if read := used["reading"]:
        lines.append(f"{page.style(read['model'] or 'The model')} read {count(read['read'], 'document')}")
    lines += [page.faint(note) for note in used["notes"] if not used["unavailable"]]
    if used["pending"]:
        lines.append(f"{count(used['pending'], 'piece')} of work still wait{'s' if used['pending'] == 1 else ''} for a model; the next `smb evolve` goes on.")
    return lines


def undo_text(answer: dict[str, Any], page: Page) -> str:
    """Which transactions are taken back, and how many objects that changes."""
    verb = "Would take back" if answer["dry_run"] else "Took back"
    lines = [page.strong(f"{verb} {count(len(answer['undone']), 'transaction')}; {count(answer['objects'], 'object')}")]
    if answer["transaction"]:
        lines.append(page.faint("What was taken back stays so while the notes stay as they are; ") + f"`smb undo {answer['transaction'][:12]}`" + page.faint(" brings it back."))
    lines += [f"  {page.place(act['transaction'][:12])}  {act['phase']}  {page.faint(act['recorded_at'])}  {count(act['revisions'], 'revision')}" for act in answer["undone"]]
    return "\n".join(lines)
