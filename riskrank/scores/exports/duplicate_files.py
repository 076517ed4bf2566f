"""Detect files that contain the same run, as conversions or two output formats produce them."""

from collections import Counter
from collections.abc import Mapping

import polars as pl

from riskrank.scores.exports.interface import FILE, GRADE

_ROW = ("model", "sample", "metric", "draw", "score", GRADE)


def find_copies(rows: pl.DataFrame, runs: Mapping[int, object]) -> dict[int, int]:
    """Return files whose rows another file of the same run contains, mapped to that file.

    Parameters
    ----------
    rows : DataFrame
    runs : mapping of int to object
        Run of each file by its number; false if the file does not name its run. If only one of two files
        names its run, the rows alone decide.
    """
    if len(runs) < 2:
        return {}
    rows = rows.select(FILE, *(name for name in _ROW if name in rows.columns))
    parts = rows.partition_by(FILE, as_dict=True, include_key=False)
    row_counts = {number: Counter(part.rows()) for (number,), part in parts.items()}
    copies_of: dict[int, int] = {}
    originals: list[int] = []
    for number in sorted(runs.keys() & row_counts, key=lambda number: (-row_counts[number].total(), number)):
        matches = (
            candidate
            for candidate in originals
            if _may_be_same_run(runs[candidate], runs[number]) and row_counts[number] <= row_counts[candidate]
        )
        original = next(matches, None)
        if original is None:
            originals.append(number)
        else:
            copies_of[number] = original
    return copies_of


def _may_be_same_run(first_run: object, second_run: object) -> bool:
    return first_run == second_run if first_run and second_run else bool(first_run) != bool(second_run)
