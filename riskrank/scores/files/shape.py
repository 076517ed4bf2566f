"""How wide and how empty a table may be, and how long its names: few bytes can ask for very much."""

from collections.abc import Iterable, Sequence

from riskrank.errors import InputError, listing, option

MOST_COLUMNS = 100_000
# Metrics and models somebody compares, and letters of a name that stands in every table and picture.
_MOST, LONGEST_NAME = {"metric": 5_000, "model": 10_000}, 10_000
# Cells of a table that is never too empty; and cells a byte, which columns of numbers do not reach.
_FEW = 10_000_000
_A_BYTE = 4
_LONG = "write a long table, a row a score: model, sample, metric, score"


def require_columns(label: str, names: Sequence[str]) -> None:
    """Refuse more columns than a table of scores has.

    Raises
    ------
    InputError
    """
    if len(names) > MOST_COLUMNS:
        raise InputError(
            f"{label}: more than {MOST_COLUMNS:,} columns, which no table of scores has",
            found=f"{len(names):,} columns: {listing(names, 20)}",
            hint=_LONG,
        )


def require_few(label: str, what: str, names: Sequence[str]) -> None:
    """Refuse more metrics or models than anybody compares, each of which is looked at.

    Raises
    ------
    InputError
    """
    if len(names) > _MOST[what]:
        few = ",".join(names[:2])
        picked = option("metric", names[0]) if what == "metric" else option("models", few)
        raise InputError(
            f"{label}: more than {_MOST[what]:,} {what}s, which nobody compares at once",
            found=f"{len(names):,}: {listing(names)}",
            hint=f"pick those that count: {picked}",
        )


def require_short(label: str, what: str, names: Iterable[str]) -> None:
    """Refuse names as long as texts.

    Raises
    ------
    InputError
    """
    longest = max(names, key=len, default="")
    if len(longest) > LONGEST_NAME:
        raise InputError(
            f"{label}: a name of {len(longest):,} characters {what}; {LONGEST_NAME:,} are allowed",
            found=f"{longest[:60]}…",
            hint=f"is that the text that was scored? name the columns that count with {option('columns')}",
        )


def require_filled(label: str, rows: int, columns: int, size: int) -> None:
    """Refuse a table whose cells are far more than the bytes that hold them.

    Raises
    ------
    InputError
    """
    if rows * columns > _FEW + _A_BYTE * size:
        raise InputError(
            f"{label}: a table of {rows:,} rows and {columns:,} columns, nearly all of it empty",
            found=f"{rows * columns:,} cells in {size:,} bytes",
            hint=_LONG,
        )
