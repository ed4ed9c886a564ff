"""The lock that makes one process the writer of a bank.

Owns `index/writer.lock`. The kernel drops the lock with the process that holds it, so a crash leaves nothing to clean
up; what the file says only names the holder. Never deletes the file, and is never held across a model call.
"""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import random
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from smb.model.errors import SmbError
from smb.stores import atomic_file

_FIRST_WAIT, _LONGEST_WAIT = 0.005, 0.25  # seconds between tries; the wait doubles
_COMMAND_SHOWN = 200


class BankLocked(SmbError):
    """Another process is writing. `holder` says which, as far as its note in the lock file tells."""

    exit_code = 6

    def __init__(self, path: Path, holder: str, waited: float):
        self.path, self.holder = path, holder
        super().__init__(f"The bank is being written by {holder}; gave up after {waited:g} s. "
                         "Run the command again when that has ended, or wait longer with --lock-timeout SECONDS.")


class WriterLock:
    """`with WriterLock(path, timeout):` waits up to `timeout` seconds for the lock.

    Not re-entrant: two tasks or threads of one process keep each other out as two processes do, also through one instance.
    """

    def __init__(self, path: Path, timeout: float = 0.0):
        self.path = path
        self.timeout = timeout
        self._descriptor: int | None = None
        self.inherited = False  # whether the last holder died with it

    @property
    def held(self) -> bool:
        return self._descriptor is not None

    def try_acquire(self) -> bool:
        """Takes the lock if nobody has it. False as well where this process may not write at all (a read-only bank)."""
        try:
            return self._try()
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                return False
            raise

    def acquire(self) -> None:
        """Takes the lock, waiting for it. Raises BankLocked, or OSError where the lock file can't be opened."""
        deadline = time.monotonic() + self.timeout
        wait = _FIRST_WAIT
        while not self._try():
            left = deadline - time.monotonic()
            if left <= 0:
                raise BankLocked(self.path, self._holder(), self.timeout)
            time.sleep(min(left, wait * random.uniform(0.5, 1.0)))  # waiters that started together spread out
            wait = min(2 * wait, _LONGEST_WAIT)

    async def acquire_async(self) -> None:
        """As `acquire`, waiting in the event loop, so that ctrl-C ends the wait. Raises BankLocked, OSError."""
        deadline = time.monotonic() + self.timeout
        wait = _FIRST_WAIT
        while not self._try():
            left = deadline - time.monotonic()
            if left <= 0:
                raise BankLocked(self.path, self._holder(), self.timeout)
            await asyncio.sleep(min(left, wait * random.uniform(0.5, 1.0)))
            wait = min(2 * wait, _LONGEST_WAIT)

    def release(self) -> None:
        """Gives the lock back; nothing happens when it isn't held."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        try:
            os.ftruncate(descriptor, 0)
        finally:
            os.close(descriptor)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()

    def _try(self) -> bool:
        descriptor = self._open()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except OSError:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        self.inherited = os.fstat(descriptor).st_size > 0
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n{_command()}\n".encode("utf-8", "replace"), 0)
        return True

    def _open(self) -> int:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
        try:
            return os.open(self.path, flags, 0o644)
        except FileNotFoundError:
            atomic_file.make_directory(self.path.parent)
            return os.open(self.path, flags, 0o644)

    def _holder(self) -> str:
        try:
            pid, _, command = self.path.read_text("utf-8", "replace").strip().partition("\n")
        except FileNotFoundError:
            pid, command = "", ""
        if not pid.isdecimal():
            return "another process"
        if int(pid) == os.getpid():
            return "another task of this process"
        return f"process {pid} ({command})" if command else f"process {pid}"


def _command() -> str:
    words = [os.path.basename(sys.argv[0] or "smb"), *sys.argv[1:]]
    return " ".join(" ".join(words).split())[:_COMMAND_SHOWN]
