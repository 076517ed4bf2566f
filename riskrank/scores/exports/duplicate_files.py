"""Detection of files that contain the same run, such as converted copies or two output formats."""

from collections import Counter
from collections.abc import Mapping

import polars as pl

from riskrank.scores.exports.interface import FILE, GRADE

_ROW = ("model", "sample", "metric", "draw", "score", GRADE)


def find_copies(rows: pl.DataFrame, runs: Mapping[int, object]) -> dict[int, int]:
    """Return the files whose rows are all contained in another file of the same run, mapped to that file.

    Parameters
    ----------
    rows : DataFrame
    runs : mapping of int to object
        Identifier of each file's run, by file number; a false value if the file does not name its run. If
        only one of two files names its run, the decision is based on the rows alone.
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
    """Return whether two run identifiers are equal, or exactly one of them is unknown."""
    return first_run == second_run if first_run and second_run else bool(first_run) != bool(second_run)
