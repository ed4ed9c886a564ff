"""The `smb` program. Owns how the process starts; the commands are wired in `root`.

Nothing heavy is imported before a command runs, and not even typer for `--version`.
"""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run `smb` on this process's arguments and exit."""
    if sys.argv[1:] == ["--version"]:
        from smb import __version__
        from smb.interfaces.cli.page import Page

        Page(sys.stdout, colour=False).write(f"smb {__version__}\n")
        sys.exit(0)
    from smb.interfaces.cli.root import build

    gc.set_threshold(50_000, 20, 100)  # a short process that makes many small values and few cycles: 5 % of an ingest
    root = build()
    sys.excepthook = root.report_unexpected
    root.main(prog_name="smb")


if __name__ == "__main__":
    main()
