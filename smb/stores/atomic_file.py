"""Changes to files that happen wholly or not at all.

Owns every file change the stores make by path: new content goes to a temporary beside its target and is renamed over
it, so a reader sees the old bytes or the new ones. Announces each change before making it (`before_step`), so that a
test can stop the process at any of them. Never reads a file's content and never locks the bank.
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
from collections.abc import Callable, Iterable
from pathlib import Path

PREFIX, SUFFIX = ".smb-", ".tmp"  # of temporaries; `.gitignore` of a bank names them
_BATCH = 128  # temporaries open at once; macOS allows a process 256 files
_SYNC_WHOLE = 4  # from this many files on, one syncfs is cheaper than an fsync each (256 files: 0.3 ms CPU against 4)
_counter = itertools.count()


def _unobserved(action: str, path: Path) -> None:
    pass


before_step: Callable[[str, Path], None] = _unobserved
"""Called as (action, path) before each change; actions are create, write, fsync, rename, unlink, mkdir."""


def step(action: str, path: Path | str) -> None:
    """Announces a change the caller is about to make itself (a store that must write in place)."""
    if before_step is not _unobserved:
        before_step(action, Path(path))


def write_atomic(path: Path | str, data: bytes, *, durable: bool, mode: int = 0o644) -> None:
    """Makes `data` the content of `path`. When `durable`, it survives a power cut once this returns.

    Missing parents are made. `mode` is subject to the umask. Raises OSError, leaving what was there.
    """
    write_batch([(path, data)], mode, durable=durable)


def write_batch(items: Iterable[tuple[Path | str, bytes]], mode: int = 0o644, *, durable: bool = True) -> int:
    """Writes many files as `write_atomic` would, but makes them durable together; returns how many.

    Not atomic as a whole: a crash leaves some of them written, each of those completely. A name is never durable
    before its bytes are.
    """
    written = 0
    folders: set[str] = set()
    waiting = iter(items)
    while batch := list(itertools.islice(waiting, _BATCH if durable else 1)):
        _write_some([(os.fspath(path), data) for path, data in batch], mode, durable, folders)
        written += len(batch)
    return written


def make_directory(path: Path, *, durable: bool = False) -> None:
    """Makes `path` and its missing parents; nothing happens if it is there."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        step("mkdir", folder)
        try:
            os.mkdir(folder)
        except FileExistsError:  # another process was faster; a file in the way shows when it is opened
            continue
        if durable:
            _sync_folder(os.fspath(folder.parent))


def remove(path: Path, *, durable: bool = False) -> bool:
    """Removes the file; returns False if there was none."""
    step("unlink", path)
    try:
        os.unlink(path)
    except FileNotFoundError:
        return False
    if durable:
        _sync_folder(os.fspath(path.parent))
    return True


def remove_stale_temporaries(directory: Path) -> int:
    """Removes what crashed writers left in `directory` itself; returns how many.

    A temporary belongs to a living writer for as long as that holds its flock, on whatever host or in whatever
    container, so this may run beside writers.
    """
    removed = 0
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        return 0
    for name in names:
        if is_temporary(name):
            removed += _remove_if_stale(os.path.join(directory, name))
    return removed


def is_temporary(name: str) -> bool:
    """Whether a file name is that of a temporary of this module."""
    return name.startswith(PREFIX) and name.endswith(SUFFIX)


def _write_some(items: list[tuple[str, bytes]], mode: int, durable: bool, folders: set[str]) -> None:
    """One batch: all temporaries, then all flushed, then all renamed, then their folders flushed."""
    made: list[tuple[int, str, str]] = []  # descriptor, temporary, target
    renamed = 0
    try:
        for target, data in items:
            folder = os.path.dirname(target) or "."
            if folder not in folders:
                make_directory(Path(folder), durable=durable)
                folders.add(folder)
            made.append((*_create(folder, mode), target))
            step("write", made[-1][1])
            _write_all(made[-1][0], data)
        if durable:
            _flush(made)
        for _, temporary, target in made:
            step("rename", target)
            os.replace(temporary, target)
            renamed += 1
    finally:
        for _, temporary, _ in made[renamed:]:
            remove(Path(temporary))
        for descriptor, _, _ in made:
            os.close(descriptor)
    if durable:
        for folder in sorted({os.path.dirname(target) or "." for target, _ in items}):
            _sync_folder(folder)


def _create(folder: str, mode: int) -> tuple[int, str]:
    """A new temporary, flocked so that no cleaner takes it for a stale one; its descriptor and path."""
    while True:
        temporary = f"{folder}/{PREFIX}{os.getpid()}-{next(_counter)}{SUFFIX}"
        step("create", temporary)
        try:
            descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode)
        except FileExistsError:  # left by a crashed process that had our pid
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # a cleaner was faster than our flock: it has this one
            os.close(descriptor)
            continue
        except OSError:  # a file system without flock: no cleaner can take it there either
            return descriptor, temporary
        if os.fstat(descriptor).st_nlink:
            return descriptor, temporary
        os.close(descriptor)


def _write_all(descriptor: int, data: bytes) -> None:
    done = os.write(descriptor, data)
    while done < len(data):
        done += os.write(descriptor, data[done:])


def _flush(made: list[tuple[int, str, str]]) -> None:
    for _, temporary, _ in made:
        step("fsync", temporary)
    if len(made) >= _SYNC_WHOLE and _sync_file_system(made[0][0]):
        return
    for descriptor, _, _ in made:
        os.fsync(descriptor)


def _sync_file_system(descriptor: int) -> bool:
    """Flushes everything on the descriptor's file system; False where that isn't offered or failed (fsync then tells why)."""
    import ctypes  # 2 ms; only writers of batches pay it

    syncfs = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    return syncfs is not None and syncfs(descriptor) == 0


def _sync_folder(folder: str) -> None:
    step("fsync", folder)
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems can't flush a folder
            raise
    finally:
        os.close(descriptor)


def _remove_if_stale(temporary: str) -> int:
    try:
        descriptor = os.open(temporary, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:  # gone meanwhile, or another user's
        return 0
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return int(remove(Path(temporary)))
    except OSError:  # its writer lives, or this file system can't tell
        return 0
    finally:
        os.close(descriptor)
