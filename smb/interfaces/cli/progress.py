"""A progress bar for work a person waits for.

Owns when a bar appears: only where stderr is a terminal, and only once the work has taken a second; rich is not
imported before. Never writes to stdout.
"""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

from smb.interfaces.cli.page import Page

PATIENCE = 1.0  # seconds


class Progress:
    """The callable `Bank` reports to: `progress(stage, done, total)`; `total` is None while unknown."""

    def __init__(self, page: Page):
        self._page = page
        self._started = time.monotonic()
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, stage: str, done: int, total: int | None = None) -> None:
        if not self._page.terminal or (self._bar is None and time.monotonic() - self._started < PATIENCE):
            return
        if self._bar is None:
            self._bar = _bar(self._page.colour)
            self._bar.start()
        if stage not in self._tasks:
            self._tasks[stage] = self._bar.add_task(stage, total=total)
        self._bar.update(self._tasks[stage], completed=done, total=total)


def _bar(colour: bool) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True, no_color=not colour), transient=True)
