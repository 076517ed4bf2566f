"""Run the console examples of the README, to check them or to write their output anew.

An example is a fenced ``console`` block; a line that starts with ``$`` is a command, the lines up to
the next one are its standard output.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """A command line and the output the README shows."""

    command: str
    shown: str


def examples(text: str) -> list[Example]:
    """All examples of a README, in order."""
    found = []
    for block in BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append(Example(command, shown))
    return found


def run(command: str) -> str:
    """Run a ``riskrank`` command line, pipes included, in this environment; return its stdout."""
    if not command.startswith("riskrank "):
        raise ValueError(f"only riskrank commands can be checked: {command}")
    ours = f"{shlex.quote(sys.executable)} -m riskrank "
    line = re.sub(r"(^|\| )riskrank ", lambda match: match.group(1) + ours, command)
    done = subprocess.run(
        line, shell=True, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return done.stdout


def update() -> None:
    """Write the real output under every command."""

    def renew(match: re.Match[str]) -> str:
        parts = [f"$ {example.command}\n{run(example.command)}" for example in examples(match.group(0))]
        return "```console\n" + "".join(parts) + "```"

    README.write_text(BLOCK.sub(renew, README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit("usage: readme_examples.py --update")
    update()
