"""Names of the roles of a file's rows, models and samples and tasks, as numbers into a list of them."""

import polars as pl

from riskrank.errors import InputError, option
from riskrank.scores.files.derived import WHOLE_FLOAT
from riskrank.scores.files.shape import require_short
from riskrank.scores.files.source import Source
from riskrank.scores.files.sql_names import quoted_column
from riskrank.scores.table.columns import Roles


def list_of(series: pl.Series) -> pl.Series:
    """The names a column of numbers points to."""
    assert isinstance(series.dtype, pl.Enum)
    return series.dtype.categories


def of_role(
    source: Source, roles: Roles, role: str, column: pl.Series | None, height: int
) -> dict[str, pl.Series]:
    """Names of a role, if the file has any; a label names the models, and no column the only sample."""
    if role == "sample" and column is None:
        return {role: _one_name("", height)}
    if role == "task" and column is not None and _names_no_task(source, roles, column):
        return {}
    label = source.model_label if role == "model" else None
    if label is None:
        return {} if column is None else {role: coded_names(source, roles, role, column)}
    if column is None or _text(source, column).drop_nulls().str.strip_chars().n_unique() <= 1:
        return {role: _one_name(label, height)}
    coded = coded_names(source, roles, role, column)
    names = pl.Series([f"{label}/"]) + list_of(coded)
    return {role: names.cast(pl.Enum(names)).gather(coded.to_physical())}


def _names_no_task(source: Source, roles: Roles, column: pl.Series) -> bool:
    """Whether no cell names a task, as harnesses write it, or some do not, where nobody asks for tasks."""
    named = _text(source, column).cast(pl.String).str.strip_chars().fill_null("") != ""
    return not (named.all() if roles.pools_tasks else named.any())


def _one_name(name: str, height: int) -> pl.Series:
    return pl.Series([name], dtype=pl.Enum([name])).new_from_index(0, height)


def _text(source: Source, series: pl.Series) -> pl.Series:
    """A column of names as text; a NaN among numbers is a gap."""
    if series.dtype.is_float():
        series = series.fill_nan(None)
    try:
        return series if isinstance(series.dtype, pl.Enum) else series.cast(pl.String)
    except pl.exceptions.PolarsError:
        raise InputError(
            f"{source.label}: column {series.name} cannot be used as names",
            found=f"a column of type {series.dtype}",
            hint=f"name a column of text or whole numbers with {option('columns')}",
        ) from None


def coded_names(source: Source, roles: Roles, role: str, series: pl.Series) -> pl.Series:
    """Names as numbers into the sorted list of those there are, cleaned of the blanks around them.

    Only the distinct names are cleaned, so that millions of rows cost one hash look-up each.
    """
    text = _text(source, series)
    if not isinstance(text.dtype, pl.Enum):
        text = text.cast(pl.Enum(text.unique().drop_nulls().sort()))
    distinct = list_of(text)
    clean = distinct.to_frame("name").select(_cleaned(role)).to_series()
    if role != "sample":
        require_short(source.label, f"in column {series.name}", clean.drop_nulls())
    if text.null_count() or (clean == "").any():
        raise _blank_name(source, role, str(getattr(roles, role)), text.cast(pl.String))
    names = clean.unique().sort()
    if names.equals(distinct):
        return text
    return clean.cast(pl.Enum(names)).gather(text.to_physical())


def _cleaned(role: str) -> pl.Expr:
    name = pl.col("name").str.strip_chars()
    return name if role in ("model", "metric") else name.str.replace(WHOLE_FLOAT, "$1")


def _blank_name(source: Source, role: str, column: str, text: pl.Series) -> InputError:
    blank = (text.is_null() | (text.str.strip_chars() == "")).arg_true()
    other = f"name another column: {option('columns', f'{role}=…')}"
    where = f"{quoted_column(column)} IS NOT NULL"
    if role != "model":
        other = f"leave such rows out: {option('where', where)}"
    if role == "task":
        other += f"; {option('task', 'none')} pools all samples"
    file, row = source.file_of(blank[0]), source.row_number(blank[0])
    return InputError(
        f"{file}: row {row}, column {column}: the {role} has no name",
        found=f"an empty cell; {len(blank)} such row{'s' if len(blank) > 1 else ''} in all",
        hint=f"fill it in, or {other}",
        ways=[] if role == "model" else [(option("where", where), {"where": where})],
    )
