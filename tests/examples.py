"""Run the console examples of the README and the guide, to check them or to write their output anew.

An example is a fenced ``console`` block; a line that starts with ``$`` is a command, the lines up to
the next one are its standard output. Words have to be the same, numbers within the digits that are
shown: the last bit of a solver or of a BLAS differs from machine to machine, and a number that lies
on a rounding tie is then printed either way.
"""

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)

# A number that is no part of a name: not the 2 of `top2`, the dates and digests of `a1b2-03`.
NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]*\w)")

# Sums in another order differ by some last bits; no digit beyond this is compared.
RELATIVE = 1e-9


@dataclass(frozen=True)
class Example:
    """A command line and the output its page shows."""

    page: Path
    command: str
    shown: str


def pages() -> list[Path]:
    """Every page with examples: the README and the user's guide."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def examples(page: Path) -> list[Example]:
    """All examples of a page, in order."""
    return [Example(page, *part) for part in commands(page.read_text(encoding="utf-8"))]


def commands(text: str) -> list[tuple[str, str]]:
    """Command and output of every example in a text."""
    found = []
    for block in BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
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


def difference(shown: str, printed: str) -> str | None:
    """First line that differs in a word, or in a number by more than its digits; None if none does."""
    for ours, theirs in zip_longest(shown.splitlines(), printed.splitlines()):
        if ours is None or theirs is None or not same_line(ours, theirs):
            return f"shown:   {ours}\nprinted: {theirs}"
    return None


def same_line(shown: str, printed: str) -> bool:
    """Whether two lines agree, columns apart that a number of another length moves."""
    if shown == printed:
        return True
    numbers, others = NUMBER.findall(shown), NUMBER.findall(printed)
    return (
        len(numbers) == len(others)
        and _words(shown) == _words(printed)
        and all(same_number(one, other) for one, other in zip(numbers, others, strict=True))
    )


def same_number(shown: str, printed: str) -> bool:
    """Whether two numbers differ by no more than a unit of the coarser one's last digit."""
    if "." not in shown + printed and "e" not in (shown + printed).lower():
        return shown == printed  # counts, seeds and ranks are exact
    one, other = _value(shown), _value(printed)
    step = max(_last_digit(shown), _last_digit(printed), RELATIVE * abs(one))
    return abs(one - other) <= step * (1 + 1e-6)


def _words(line: str) -> list[str]:
    """What a line says between its numbers; rules of a table and runs of blanks are one each."""
    return [re.sub(r"\s+|[─-]{2,}|━{2,}", " ", part).strip() for part in NUMBER.split(line)]


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def _last_digit(number: str) -> float:
    """Unit of the last digit shown: 0.01 for 0.25, 1e-7 for 1.23e-05."""
    mantissa, _, exponent = number.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals)


def update(pages: list[Path]) -> None:
    """Write the real output under every command of some pages whose output is another one."""

    def renewed(part: tuple[str, str]) -> str:
        command, shown = part
        printed = run(command)
        return f"$ {command}\n{shown if difference(shown, printed) is None else printed}"

    for page in pages:
        text = page.read_text(encoding="utf-8")
        page.write_text(
            BLOCK.sub(lambda m: "```console\n" + "".join(map(renewed, commands(m[0]))) + "```", text),
            encoding="utf-8",
        )


if __name__ == "__main__":
    if sys.argv[1:2] != ["--update"]:
        sys.exit("usage: examples.py --update [PAGE ...]")
    update([ROOT / name for name in sys.argv[2:]] or pages())
