"""One writer at a time, and a sentence that says who it is."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from smb.stores.writer_lock import BankLocked, WriterLock


def hold_in_child(path: Path) -> int:
    """A child process that holds the lock until it is killed; its pid, once it has it."""
    ready, told = os.pipe()
    child = os.fork()
    if child == 0:
        sys.argv = ["/usr/bin/smb", "ingest", "my notes"]
        WriterLock(path).acquire()
        os.write(told, b"x")
        time.sleep(30)
        os._exit(0)
    assert os.read(ready, 1) == b"x"
    os.close(ready), os.close(told)
    return child


def end(child: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_the_lock_is_exclusive_between_processes_and_falls_with_its_holder(tmp_path: Path) -> None:
    """While a process holds it, waiting ends in BankLocked naming that process; once killed, the lock is free."""
    path = tmp_path / "index" / "writer.lock"
    child = hold_in_child(path)
    try:
        assert WriterLock(path).try_acquire() is False
        started = time.monotonic()
        with pytest.raises(BankLocked) as caught, WriterLock(path, timeout=0.1):
            pass
        assert 0.1 <= time.monotonic() - started < 2
    finally:
        end(child)
    assert caught.value.exit_code == 6
    assert f"process {child} (smb ingest my notes)" in str(caught.value)
    assert "--lock-timeout" in str(caught.value)
    with WriterLock(path) as lock:
        assert lock.held and path.read_text().startswith(f"{os.getpid()}\n")
    assert not lock.held and path.read_text() == ""


def test_a_waiter_gets_the_lock_when_the_holder_gives_it_back(tmp_path: Path) -> None:
    """Waiting takes about as long as the holder needs, not the whole timeout."""
    path = tmp_path / "writer.lock"
    holder = WriterLock(path)
    holder.acquire()
    threading.Timer(0.1, holder.release).start()
    started = time.monotonic()
    with WriterLock(path, timeout=20):
        assert time.monotonic() - started < 5


def test_threads_sharing_one_instance_keep_each_other_out(tmp_path: Path) -> None:
    """Never are two of them inside at once."""
    lock, inside, most = WriterLock(tmp_path / "writer.lock", timeout=20), [], []

    def work() -> None:
        for _ in range(5):
            with lock:
                inside.append(1)
                most.append(len(inside))
                time.sleep(0.001)
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 20


def test_holding_it_twice_says_that_this_process_has_it(tmp_path: Path) -> None:
    """A second acquire of the same instance doesn't wait for ever and doesn't drop the lock."""
    with WriterLock(tmp_path / "writer.lock") as lock:
        with pytest.raises(BankLocked, match="this process"):
            lock.acquire()
        assert lock.held and not lock.try_acquire()
    lock.release()
    assert lock.try_acquire()
    lock.release()


def test_an_unreadable_note_in_the_lock_file_still_makes_a_sentence(tmp_path: Path) -> None:
    """What the file says is for the message only; the lock itself is the kernel's."""
    path = tmp_path / "writer.lock"
    path.write_bytes(b"\xff\xfe nonsense")
    with WriterLock(path):
        path.write_bytes(b"\xff\xfe nonsense")
        with pytest.raises(BankLocked, match="another process"):
            WriterLock(path).acquire()


def test_a_read_only_bank_has_no_writer(tmp_path: Path) -> None:
    """`try_acquire` says no; `acquire` says why."""
    folder = tmp_path / "index"
    folder.mkdir(mode=0o555)
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setuid(65534)  # root may write anywhere
        lock = WriterLock(folder / "writer.lock")
        refused = lock.try_acquire() is False
        try:
            lock.acquire()
        except PermissionError:
            os._exit(0 if refused else 2)
        os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
