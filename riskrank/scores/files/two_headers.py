"""A table whose names stand in two rows, as pivots and merged cells leave them, or below a title."""

from collections.abc import Collection, Sequence
from itertools import accumulate

from riskrank.errors import InputError, listing, option
from riskrank.scores.files.sql_names import is_number
from riskrank.scores.names.directions import names_a_metric

# What people call a row of names, in the cell before them.
_NAMES_OF = {
    "model": {"model", "models", "system", "systems", "method", "methods", "algorithm", "llm", "agent"},
    "metric": {"metric", "metrics", "measure", "measures", "measurement", "criterion", "criteria", "scorer"},
}
_ORDER, _OTHER_ORDER = ("model", "metric"), ("metric", "model")


def refuse_titles(label: str, rows: Sequence[Sequence[object]], above: int) -> None:
    """Refuse a table whose names stand below titles.

    Parameters
    ----------
    label : str
    rows : sequence of sequences
        The first rows that may be the names.
    above : int
        Rows of the file above them.

    Raises
    ------
    InputError
    """
    texts = [[*filter(None, map(_text, row))] for row in rows]
    widest = max(map(len, texts))
    names_at = next((at for at, row in enumerate(texts) if 2 * len(row) > widest), 0)
    # An index has no name, as in ",score": a name in the last column alone is no title.
    is_last = len(rows[0]) == widest > 1 and texts[0] == [_text(rows[0][-1])]
    if names_at and len(texts[0]) < 2 and not is_last:
        raise InputError(
            f"{label}: the names of the columns stand below a title",
            found=f"'{''.join(texts[0])}' in row {above + 1}, and {listing(texts[names_at])} in row "
            f"{above + names_at + 1}",
            hint=f"{option('skip_rows', above + names_at)} leaves out the rows above the names",
        )


def refuse_two_headers(label: str, rows: Sequence[Sequence[object]]) -> None:
    """Refuse a table whose first row leaves out or repeats names, and whose second names columns as well.

    Parameters
    ----------
    label : str
    rows : sequence of sequences
        The first four.

    Raises
    ------
    InputError
    """
    first, second = ([*filter(None, map(_text, row))] for row in (*rows, (), ())[:2])
    if two_headers(rows) and min(len(first), len(second)) > 1:
        raise InputError(
            f"{label}: two rows name the columns, and a table has one",
            found=f"{listing(first)} in the first row, and {listing(second)} in the second",
            hint="write what the rows name into their first cells, model and metric, with names of samples "
            "below",
        )


def two_headers(rows: Sequence[Sequence[object]]) -> bool:
    """Whether the first row leaves out or repeats names, and the second names columns as well."""
    first = [_text(cell) for cell in rows[0]]
    named = [name for name in first if name]
    if len(rows) < 3 or ("" not in first[1:] and len(set(named)) == len(named)):
        return False
    data = [cell for row in rows[2:] for cell in row]
    return not any(map(_is_number, rows[1])) and any(map(_is_number, data))


def unpivoted(rows: Sequence[Sequence[object]]) -> list[list[object]] | None:
    """A table below two rows of names as one of a row a score; None where they do not tell what they name.

    Parameters
    ----------
    rows : sequence of sequences
        All of them.
    """
    above, below, third = ([_text(cell) for cell in row] for row in rows[:3])
    first = next((at for at, cell in enumerate(above) if at and cell), 0)
    named = [*accumulate(above[first:], _filled)]
    order = _order(above[0], below[0]) or _order_of_metrics({*named}, {*below[first:]})
    # Pandas writes what rows are called into a row of its own, below names of columns.
    keys = ["sample"] if first == 1 else [*(below if any(third[first:]) else third)[:first]]
    alike = len({*named}) < 2 or len({*keys}) < first
    if alike or order is None or not first or len(below) < len(above) or not all(keys):
        return None
    table: list[list[object]] = [[*order, *keys, "score"]]
    for row in rows[2:]:
        if any(map(_text, row[first:])):
            table += [
                [one, other, *row[:first], cell]
                for one, other, cell in zip(named, below[first:], row[first:], strict=False)
            ]
    return table


def _filled(before: str, cell: str) -> str:
    return cell or before


def _text(cell: object) -> str:
    return "" if cell is None else str(cell).strip()


def _order_of_metrics(above: Collection[str], below: Collection[str]) -> tuple[str, str] | None:
    """Which row names metrics, by its names: all of one, and none of the other."""
    first, second = ([names_a_metric(name) for name in names] for names in (above, below))
    if all(first) and not any(second):
        return _OTHER_ORDER
    return _ORDER if all(second) and not any(first) else None


def _order(above: object, below: object) -> tuple[str, str] | None:
    """What the two rows name, by the cells before their names; None where these do not tell."""
    first, second = (
        {role for role, names in _NAMES_OF.items() if _text(cell).casefold() in names}
        for cell in (above, below)
    )
    if first == second:
        return None
    return _ORDER if "model" in first or "metric" in second else _OTHER_ORDER


def _is_number(cell: object) -> bool:
    return is_number(cell.replace(",", ".")) if isinstance(cell, str) else isinstance(cell, int | float)
