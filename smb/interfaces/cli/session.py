"""One run of one command: its settings, its pages, and the only way from a command to the Bank.

Owns the single `asyncio.run`. Never interprets an answer.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smb.config import Settings, colour_wanted
from smb.interfaces.cli.page import Page

if TYPE_CHECKING:
    from smb.bank import Bank

Render = Callable[[Any, Page], str]


@dataclass(frozen=True, slots=True)
class Session:
    """What a command works with. `flags` are the settings named on the command line."""

    settings: Settings
    as_json: bool
    out: Page
    err: Page

    @classmethod
    def start(cls, *, bank_dir: Path | None = None, as_json: bool = False) -> Session:
        """A session on this process's streams and environment. Raises what `Settings.resolve` raises."""
        return cls.on(Settings.resolve(bank_dir=bank_dir), as_json=as_json)

    @classmethod
    def on(cls, settings: Settings, *, as_json: bool = False) -> Session:
        """A session with these settings on this process's streams."""
        colour = colour_wanted()
        return cls(settings, as_json, Page(sys.stdout, colour), Page(sys.stderr, colour))

    def ask(self, call: Callable[[Bank], Awaitable[Any]], *, lock_timeout: float | None = None) -> Any:
        """Open the bank, await `call(bank)`, close it, and return the answer. Raises SmbError."""
        import asyncio

        from smb.bank import Bank

        wait = self.settings.lock_timeout if lock_timeout is None else lock_timeout

        async def run() -> Any:
            async with Bank.open(self.settings.bank_dir, settings=self.settings, lock_timeout=wait) as bank:
                return await call(bank)

        return asyncio.run(run())

    def show(self, answer: Any, render: Render) -> None:
        """The answer on stdout: JSON where that was asked for, else as `render(answer, page)` words it."""
        if self.as_json:
            self.out.write_json(answer)
        else:
            self.out.write(render(answer, self.out).rstrip("\n") + "\n")

    def note(self, text: str) -> None:
        """A remark beside the answer, on stderr."""
        self.err.write(f"{self.err.warning('note:')} {self.err.style(text)}\n")
