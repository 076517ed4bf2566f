"""Format figures of a calibration: shares and means with their errors, tables, marks."""

import math
import re
from collections.abc import Iterable, Sequence
from operator import attrgetter
from pathlib import Path

import numpy as np

OK, MISSED, TOO_FEW = "ok", "MISSED", "too few tables"

KEY, NAME = attrgetter("key"), attrgetter("name")

# A share of fewer tables says too little to be called kept; pairs found are many a table.
LEAST_TABLES, LEAST_TABLES_OF_PAIRS = 150, 75


def share(values: np.ndarray) -> tuple[float, float]:
    """A share and its Monte-Carlo error."""
    rate = float(np.mean(values))
    return rate, math.sqrt(rate * (1 - rate) / len(values))


def shares(outcomes: np.ndarray) -> list[tuple[float, float]]:
    """The same of each column."""
    return [share(column) for column in outcomes.T]


def mean(values: np.ndarray) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values) / math.sqrt(len(values)))


def format_estimate(estimate: tuple[float, float], digits: int = 3) -> str:
    return f"{estimate[0]:.{digits}f} ± {estimate[1]:.{digits}f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, the first column to the left and numbers to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


# What the page says of its tables, which stand where the braces are.
WORDS = re.split(r"^(?=#+ )", Path(__file__).with_name("calibration_words.md").read_text("utf-8"), flags=re.M)


def section(title: str, *tables: str, **numbers: float) -> str:
    """The section of this title, with its tables and numbers."""
    (words,) = (text for text in WORDS if text.partition("\n")[0].lstrip("# ") == title)
    return words.format(*tables, **numbers)
