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
# Rows that tell whether there are titles, and rows there are at least from the names on.
_LOOK, _BELOW = 30, 3
_ORDER, _OTHER_ORDER = ("model", "metric"), ("metric", "model")


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
    if not two_headers(rows):
        return
    named = [str(cell).strip() for cell in rows[0] if _text(cell)]
    second = rows[1]
    below = [str(cell).strip() for cell in second if cell not in (None, "")]
    if len(named) == 1 and len(below) > 1:
        raise InputError(
            f"{label}: the names of the columns stand below a title",
            found=f"'{named[0]}' in the first row, and {listing(below)} in the second",
            hint=f"{option('skip_rows', _names_at(rows))} leaves out the rows above the names",
        )
    if len(below) < 2:
        return
    raise InputError(
        f"{label}: two rows name the columns, and a table has one",
        found=f"{listing(named)} in the first row, and {listing(below)} in the second",
        hint="write what the rows name into their first cells, model and metric, with names of samples below",
    )


def _names_at(rows: Sequence[Sequence[object]]) -> int:
    """The first of the rows with most texts, which names the columns below titles."""
    texts = [sum(bool(_text(cell)) for cell in row) for row in rows]
    return max(texts.index(max(texts)), 1)


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


def titles_above(rows: Sequence[Sequence[object]]) -> int:
    """How many of the first rows are titles: a cell each, or a few at its left end, above rows of more.

    Parameters
    ----------
    rows : sequence of sequences
        The first rows of a file; of these the ones without a filled cell are passed over.
    """
    filled = [sum(cell not in (None, "") and str(cell).strip() != "" for cell in row) for row in rows[:_LOOK]]
    widest = max(filled, default=0)
    first = next((at for at, count in enumerate(filled) if count == widest), 0)
    if widest < 2 or len(filled) < first + _BELOW:
        return 0
    above = zip(rows, filled[:first], strict=False)
    if any(count > 1 and (2 * count > widest or not all(map(_text, row[:count]))) for row, count in above):
        return 0
    below = [count for count in filled[first + 1 :] if count]
    return first if below and sum(2 * count > widest for count in below) == len(below) else 0


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
