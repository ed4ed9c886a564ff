"""The outermost group: which commands there are, and how a failure ends the process.

Owns the table of commands, of which only the one asked for is imported, and the exit codes of failures. Never catches
what nobody raised on purpose: that reaches `report_unexpected` as the interpreter's hook.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import TracebackType
from typing import Annotated, Any

import typer
import typer.main

from smb.interfaces.cli.command import BankOption, DebugOption, JsonOption, SmbGroup, shared_options
from smb.model.errors import SmbError

INTERRUPTED = 130
HELP = """A memory bank of plain markdown: keeps every source, answers with evidence.

Start with `smb init`, then `smb ingest FOLDER`, then `smb recall "a question"`; `smb evolve` puts the notes together.

Exit codes: 0 ok, 1 error, 2 usage, 6 bank locked, 7 some files skipped, 8 no model can be used,
130 interrupted; recall --exit-status also 3 miss, 4 conflict, 5 degraded or stale;
ask --exit-status 3 no answer, 4 conflict."""

COMMANDS: dict[str, tuple[str, str]] = {  # name → its module here, and its summary (a test holds it to the command's own)
    "init": ("init", "Make a memory bank."),
    "ingest": ("ingest", "Read markdown into the bank; unchanged files cost nothing."),
    "recall": ("recall", "Answer a question, with evidence (also: search, query)."),
    "ask": ("ask", "Answer in words with a local model, from what recall finds and nothing else."),
    "get": ("lookup", "Show an object, or a document's exact lines."),
    "why": ("lookup", "Show everything needed to check an object."),
    "history": ("lookup", "Show every revision of an object or a key."),
    "conflicts": ("conflicts", "List what contradicts what, and settle it."),
    "verify": ("decide", "Sign an object off as checked by a person."),
    "reject": ("decide", "Reject an object for good: it is never current again."),
    "feedback": ("decide", "Say whether an item of an answer was of use; it counts in later ranks here."),
    "goal": ("goal", "Set, list and close what recalls are for."),
    "evolve": ("evolve", "Let the bank organise itself: merge, split, find contradictions, build on top."),
    "undo": ("evolve", "Take back a cycle of evolution; an undo can be undone."),
    "status": ("upkeep", "Show what the bank holds and how far its indexes are."),
    "doctor": ("upkeep", "Check the bank; name each fault and what mends it."),
    "absorb": ("upkeep", "Take hand edits of object files into the ledger."),
    "rebuild": ("upkeep", "Make every index again from the ledger; calls no model."),
    "graph": ("graph", "Walk the knowledge graph."),
    "models": ("models", "Show the models there are, which are used, and whether they work."),
    "config": ("settings", "Show the settings in force, or change one."),
}
ALIASES = {"search": "recall", "query": "recall"}


class SmbRoot(SmbGroup):
    """`smb` itself."""

    debug = False

    def list_commands(self, ctx: typer.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:
        """The command, its module imported now; for an unknown name all are, to suggest the nearest."""
        name = ALIASES.get(cmd_name, cmd_name)
        for module, _ in [COMMANDS[name]] if name in COMMANDS else COMMANDS.values():
            family = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
            import_module(f"smb.interfaces.cli.{module}").register(family)
            self.commands.update(typer.main.get_group(family).commands)
        return self.commands.get(name)

    def format_commands(self, ctx: typer.Context, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def main(self, *args: Any, **kwargs: Any) -> None:
        """Run the command line and exit with its code. What nobody raised on purpose passes through."""
        kwargs["standalone_mode"] = False
        try:
            code = super().main(*args, **kwargs) or 0
        except SmbError as error:
            code = self._report(str(error), error.exit_code)
        except typer.Abort:
            code = INTERRUPTED
        except typer.TyperException as error:  # what typer says of a usage it can't read
            code = self._report(_usage(error), error.exit_code)
        except OSError as error:
            code = self._report(f"{error.filename}: {error.strerror}" if error.filename else str(error), 1)
        if code == INTERRUPTED:
            _say("interrupted; what was committed is kept")
        sys.exit(code)

    def report_unexpected(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """An exception hook: one line for a fault of the program, and its traceback with --debug."""
        if self.debug:
            sys.__excepthook__(kind, error, trace)
        elif "disk is full" in str(error):  # SQLite's words
            _say("The disk is full. What was committed is kept; make room and run the command again.")
        else:
            detail = " ".join(str(error).split())
            _say(f"internal error: {kind.__name__}{': ' if detail else ''}{detail} (the same command with --debug shows where)")

    def _report(self, sentence: str, code: int) -> int:
        if self.debug:
            import traceback

            traceback.print_exc()
        _say(sentence)
        return code


def application() -> typer.Typer:
    """The command line as typer has it, for its own test runner."""
    app = typer.Typer(cls=SmbRoot, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True, help=HELP)(_options)
    return app


def build() -> SmbRoot:
    """The command line, ready for `main`."""
    root = typer.main.get_group(application())
    assert isinstance(root, SmbRoot)
    return root


def _options(
    ctx: typer.Context,
    bank: BankOption = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
) -> None:
    if version:
        from smb import __version__

        typer.echo(f"smb {__version__}")
        raise typer.Exit()
    shared_options(ctx, bank, as_json, debug)


def _usage(error: typer.TyperException) -> str:
    said = " ".join(error.format_message().split())
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx is not None else "smb"
    return f"{said}{'' if said.endswith(('.', '?')) else '.'} See `{path} --help`."


def _say(sentence: str) -> None:
    from smb.interfaces.cli.page import printable

    print(f"smb: {printable(sentence)}", file=sys.stderr)
