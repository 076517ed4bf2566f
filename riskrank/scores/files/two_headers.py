"""Tables with two header rows, as from pivot tables and merged cells, or with a title above the header."""

from collections.abc import Collection, Sequence
from itertools import accumulate

from riskrank.errors import InputError, listing, option
from riskrank.scores.files.sql_names import is_number
from riskrank.scores.names.directions import names_a_metric

# Labels of a header row, in the cell before its names.
_ROLE_NAMES = {
    "model": {"model", "models", "system", "systems", "method", "methods", "algorithm", "llm", "agent"},
    "metric": {"metric", "metrics", "measure", "measures", "measurement", "criterion", "criteria", "scorer"},
}
_MODEL_FIRST, _METRIC_FIRST = ("model", "metric"), ("metric", "model")


def reject_titles(label: str, rows: Sequence[Sequence[object]], above: int) -> None:
    """Raise InputError if there is a title above the header of a table.

    Parameters
    ----------
    label : str
    rows : sequence of sequences
        First rows of the table.
    above : int
        Number of rows in the file above them.
    """
    texts = [[*filter(None, map(_text, row))] for row in rows]
    widest = max(map(len, texts))
    header = next((i for i, row in enumerate(texts) if 2 * len(row) > widest), 0)
    # An unnamed index, as in ",score", leaves only the last name; that is not a title.
    is_last = len(rows[0]) == widest > 1 and texts[0] == [_text(rows[0][-1])]
    if header and len(texts[0]) < 2 and not is_last:
        raise InputError(
            f"{label}: the column names are below a title",
            found=f"'{''.join(texts[0])}' in row {above + 1}, and {listing(texts[header])} in row "
            f"{above + header + 1}",
            hint=f"{option('skip_rows', above + header)} skips the rows above the header",
        )


def reject_two_headers(label: str, rows: Sequence[Sequence[object]]) -> None:
    """Raise InputError if a table has two header rows.

    Parameters
    ----------
    label : str
    rows : sequence of sequences
        First four rows.
    """
    first, second = ([*filter(None, map(_text, row))] for row in (*rows, (), ())[:2])
    if has_two_headers(rows) and min(len(first), len(second)) > 1:
        raise InputError(
            f"{label}: the table has two header rows instead of one",
            found=f"{listing(first)} in the first row, and {listing(second)} in the second",
            hint="in the first column, write model and metric for the two header rows, and the sample names "
            "below",
        )


def has_two_headers(rows: Sequence[Sequence[object]]) -> bool:
    """Return True if a table has two header rows.

    The first row then has missing or repeated names, and the second row also contains names.
    """
    first = [_text(cell) for cell in rows[0]]
    named = [name for name in first if name]
    if len(rows) < 3 or ("" not in first[1:] and len(set(named)) == len(named)):
        return False
    data = [cell for row in rows[2:] for cell in row]
    return not any(map(_is_number, rows[1])) and any(map(_is_number, data))


def unpivot(rows: Sequence[Sequence[object]]) -> list[list[object]] | None:
    """Convert a table with two header rows to long format.

    Return None if it is unclear which row names the models and which the metrics.

    Parameters
    ----------
    rows : sequence of sequences
        All rows.
    """
    upper, lower, third = ([_text(cell) for cell in row] for row in rows[:3])
    first = next((i for i, cell in enumerate(upper) if i and cell), 0)
    upper_names = [*accumulate(upper[first:], _fill_forward)]
    order = _role_order(upper[0], lower[0]) or _metric_order({*upper_names}, {*lower[first:]})
    # Pandas writes the index name into a separate row below the column names.
    keys = ["sample"] if first == 1 else [*(lower if any(third[first:]) else third)[:first]]
    ambiguous = len({*upper_names}) < 2 or len({*keys}) < first
    if ambiguous or order is None or not first or len(lower) < len(upper) or not all(keys):
        return None
    table: list[list[object]] = [[*order, *keys, "score"]]
    for row in rows[2:]:
        if any(map(_text, row[first:])):
            table += [
                [top, sub, *row[:first], cell]
                for top, sub, cell in zip(upper_names, lower[first:], row[first:], strict=False)
            ]
    return table


def _fill_forward(previous: str, cell: str) -> str:
    """Return a cell, or the previous cell if it is empty."""
    return cell or previous


def _text(cell: object) -> str:
    """Return a cell as text without surrounding whitespace, empty for None."""
    return "" if cell is None else str(cell).strip()


def _metric_order(upper: Collection[str], lower: Collection[str]) -> tuple[str, str] | None:
    """Return the roles of two header rows.

    Return None unless one of the rows, but not the other, consists of metric names.
    """
    first, second = ([names_a_metric(name) for name in names] for names in (upper, lower))
    if all(first) and not any(second):
        return _METRIC_FIRST
    return _MODEL_FIRST if all(second) and not any(first) else None


def _role_order(upper: object, lower: object) -> tuple[str, str] | None:
    """Return the roles of two header rows as indicated by their first cells, or None."""
    first, second = (
        {role for role, names in _ROLE_NAMES.items() if _text(cell).casefold() in names}
        for cell in (upper, lower)
    )
    if first == second:
        return None
    return _MODEL_FIRST if "model" in first or "metric" in second else _METRIC_FIRST


def _is_number(cell: object) -> bool:
    """Return True if a cell is a number, possibly as text with a decimal comma."""
    return is_number(cell.replace(",", ".")) if isinstance(cell, str) else isinstance(cell, int | float)
