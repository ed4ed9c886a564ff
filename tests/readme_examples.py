"""The examples of README.md: what they run, and what README says they print.

Owns their form: a fenced block `console` whose lines starting with `$ ` are commands and whose other lines are their
output. `python tests/readme_examples.py` runs them on a copy of `kbmd/` and writes what they print now into README.md.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CHANGING = (  # what is another from run to run
    (re.compile(r"\b\d+\.\d s\b"), "N s"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d UTC\b|T\d\d:\d\d:[\d.]+\+00:00)"), "TIME"),
    (re.compile(r"\b[0-9a-f]{12}(?=  the record of this cycle| --bank my-bank takes this back|` brings it back|  [a-z-]+  TIME)"), "ACT"),  # its id is of its time too
)


@dataclass(frozen=True, slots=True)
class Example:
    command: str
    output: str


def examples(readme: str) -> list[Example]:
    """Every command of the console blocks, in order, with the output shown below it."""
    return [
        Example(command.strip(), output.strip("\n"))
        for block in _BLOCK.findall(readme)
        for command, _, output in (part.partition("\n") for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:])
    ]


def steady(output: str) -> str:
    """Output without what changes from run to run."""
    for pattern, stand_in in _CHANGING:
        output = pattern.sub(stand_in, output)
    return "\n".join(line.rstrip() for line in output.strip("\n").split("\n"))


def prepare(place: Path) -> None:
    """A folder to run examples in: `kbmd/` as it is shipped, and nothing else."""
    shutil.copytree(ROOT / "kbmd", place / "kbmd")


def run(command: str, place: Path) -> str:
    """What `command` prints in `place`. Raises CalledProcessError where it fails."""
    shell = f'set -e; smb() {{ "{sys.executable}" -m smb "$@"; }}; {command}'
    ran = subprocess.run(["bash", "-c", shell], cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=True, timeout=120)
    return ran.stdout.strip("\n")


def updated(readme: str, place: Path) -> str:
    """README with every console block's output as it is now."""

    def block(found: re.Match[str]) -> str:
        shown = (f"$ {example.command}\n{output}\n" if (output := run(example.command, place)) else f"$ {example.command}\n" for example in examples(found[0]))
        return "```console\n" + "".join(shown) + "```"

    return _BLOCK.sub(block, readme)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        README.write_text(updated(README.read_text("utf-8"), Path(folder)), "utf-8")
