"""Format the figures of a calibration: shares and means with their errors, tables, marks."""

import math
import re
from collections.abc import Iterable, Sequence
from operator import attrgetter
from pathlib import Path

import numpy as np

OK, MISSED, TOO_FEW = "ok", "MISSED", "too few tables"

KEY, NAME = attrgetter("key"), attrgetter("name")

# Minimum number of tables to mark a figure as kept; fewer suffice for power, with many pairs per table.
LEAST_TABLES, LEAST_TABLES_OF_PAIRS = 150, 75


def share(values: np.ndarray) -> tuple[float, float]:
    """Return a share and its Monte Carlo standard error."""
    rate = float(np.mean(values))
    return rate, math.sqrt(rate * (1 - rate) / len(values))


def shares(outcomes: np.ndarray) -> list[tuple[float, float]]:
    """Return the share of each column and its Monte Carlo standard error."""
    return [share(column) for column in outcomes.T]


def mean(values: np.ndarray) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values) / math.sqrt(len(values)))


def format_estimate(estimate: tuple[float, float], digits: int = 3) -> str:
    return f"{estimate[0]:.{digits}f} ± {estimate[1]:.{digits}f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a Markdown table; the first column is aligned left, the others right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


# Text of the page; tables replace the braces.
WORDS = re.split(r"^(?=#+ )", Path(__file__).with_name("calibration_words.md").read_text("utf-8"), flags=re.M)


def section(title: str, *tables: str, **numbers: float) -> str:
    """Format a section with its title, tables and numbers."""
    (words,) = (text for text in WORDS if text.partition("\n")[0].lstrip("# ") == title)
    return words.format(*tables, **numbers)
