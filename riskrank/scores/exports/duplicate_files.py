"""Files of one harness that hold the same run, as converting a log or two output formats leave them."""

from collections import Counter
from collections.abc import Mapping

import polars as pl

from riskrank.scores.exports.interface import FILE, GRADE

_ROW = ("model", "sample", "metric", "draw", "score", GRADE)


def copies(rows: pl.DataFrame, runs: Mapping[int, object]) -> dict[int, int]:
    """Files by their numbers that hold nothing another one does not hold of the same run, and that one.

    Parameters
    ----------
    rows : DataFrame
    runs : mapping of int to object
        The run each file says it is of, if it says so. Where one of two files does not, the rows have to
        tell.
    """
    if len(runs) < 2:
        return {}
    rows = rows.select(FILE, *(name for name in _ROW if name in rows.columns))
    parts = rows.partition_by(FILE, as_dict=True, include_key=False)
    held = {number: Counter(part.rows()) for (number,), part in parts.items()}
    found: dict[int, int] = {}
    kept: list[int] = []
    for number in sorted(runs.keys() & held, key=lambda number: (-held[number].total(), number)):
        wholes = (one for one in kept if _may_be_one(runs[one], runs[number]) and held[number] <= held[one])
        whole = next(wholes, None)
        if whole is None:
            kept.append(number)
        else:
            found[number] = whole
    return found


def _may_be_one(one: object, other: object) -> bool:
    return one == other if one and other else bool(one) != bool(other)
