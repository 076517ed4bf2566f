"""Run the console examples of the README and the guide, to check them or to update their output.

An example is a fenced ``console`` block: a line that starts with ``$`` is a command, and the lines up to the
next command are its standard output. Words must be identical, and numbers must agree within their displayed
digits: the last bit of a solver or of BLAS depends on the machine, and can change how a tie is rounded.
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

# Summation order changes the last bits, so later digits are not compared.
RELATIVE = 1e-9


@dataclass(frozen=True)
class Example:
    """Command line and the output that its page shows."""

    page: Path
    command: str
    output: str


def pages() -> list[Path]:
    """Return the pages with examples: the README and the user's guide."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def examples(page: Path) -> list[Example]:
    """Return all examples of a page, in order."""
    return [Example(page, *part) for part in commands(page.read_text(encoding="utf-8"))]


def commands(text: str) -> list[tuple[str, str]]:
    """Return command and output of each example in a text."""
    examples = []
    for block in BLOCK.findall(text):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            examples.append((command, output))
    return examples


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


def difference(expected: str, actual: str) -> str | None:
    """Return the first line that differs in a word, or in a number by more than its digits, or None."""
    for expected_line, actual_line in zip_longest(expected.splitlines(), actual.splitlines()):
        if expected_line is None or actual_line is None or not same_line(expected_line, actual_line):
            return f"shown:   {expected_line}\nprinted: {actual_line}"
    return None


def same_line(expected: str, actual: str) -> bool:
    """Return whether two lines agree, apart from columns shifted by numbers of different length."""
    if expected == actual:
        return True
    expected_numbers, actual_numbers = NUMBER.findall(expected), NUMBER.findall(actual)
    return (
        len(expected_numbers) == len(actual_numbers)
        and _words(expected) == _words(actual)
        and all(
            same_number(left, right) for left, right in zip(expected_numbers, actual_numbers, strict=True)
        )
    )


def same_number(expected: str, actual: str) -> bool:
    """Return whether two numbers differ by at most one unit in the last digit of the coarser one."""
    if "." not in expected + actual and "e" not in (expected + actual).lower():
        return expected == actual  # counts, seeds and ranks are exact
    left, right = _value(expected), _value(actual)
    step = max(_last_digit(expected), _last_digit(actual), RELATIVE * abs(left))
    return abs(left - right) <= step * (1 + 1e-6)


def _words(line: str) -> list[str]:
    """Return the text between the numbers of a line; table rules and runs of blanks become one character."""
    return [re.sub(r"\s+|[─-]{2,}|━{2,}", " ", part).strip() for part in NUMBER.split(line)]


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def _last_digit(number: str) -> float:
    """Return the unit of the last displayed digit: 0.01 for 0.25, 1e-7 for 1.23e-05."""
    mantissa, _, exponent = number.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals)


def update(pages: list[Path]) -> None:
    """Rewrite the outputs of commands on some pages that differ from the real output."""

    def renewed(part: tuple[str, str]) -> str:
        command, output = part
        actual = run(command)
        return f"$ {command}\n{output if difference(output, actual) is None else actual}"

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
