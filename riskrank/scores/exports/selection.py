"""Select the models, filters, splits and metrics of an export, using explicit options only."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import polars as pl

from riskrank.errors import InputError, UsageError, index_of, listing, nearest, option
from riskrank.options.reading import ReadOptions

ALL = "*"


def resolve_model_name(
    path: Path, logged_name: str | None, options: ReadOptions, *, label: str | None = None
) -> str:
    """Return the name of the model in a file.

    It comes from the option for model names in paths, otherwise from the log, otherwise from the label.

    Parameters
    ----------
    path : Path
    logged_name : str or None
        Name in the file.
    options : ReadOptions
        `model_from_path` is a regular expression with a group around the model.
    label : str, optional
        Name that the user gave to the file.

    Raises
    ------
    InputError
        If the model has no name.
    UsageError
        If `model_from_path` is invalid or does not match the path.
    """
    pattern = options.model_from_path
    if pattern is None:
        name = (logged_name or label or "").strip()
        if not name:
            hint = f"write NAME={path}, or extract the name from the path with {option('model_from_path')}"
            raise InputError(f"{path}: the file does not name its model", found="no model name", hint=hint)
        return name
    flag, example = option("model_from_path", pattern), option("model_from_path", "runs/([^/]+)/")
    try:
        expression = re.compile(pattern)
    except re.error as error:
        hint = f"write a regular expression with a group around the model: {example}"
        raise UsageError(f"{flag} is not a valid regular expression", found=str(error), hint=hint) from None
    named, groups = "model" in expression.groupindex, expression.groups
    if not named and groups != 1:
        hint = f"for example {example}; write other groups as (?:…)"
        raise UsageError(f"{flag} needs one group around the model", found=f"{groups} groups", hint=hint)
    match = expression.search(path.as_posix())
    if not (match and (name := match["model" if named else 1])):
        hint = "the pattern is searched in the given path, including folders"
        raise UsageError(f"{flag} finds no model in a path", found=str(path), hint=hint)
    return name


def select_values(
    parameter: str, requested: Sequence[str], available: Iterable[str], *, plural: str, context: str
) -> tuple[str, ...]:
    """Select values such as filters or splits by an option; never choose among several by default.

    Parameters
    ----------
    parameter : {"filter", "split"}
        Name of the option.
    requested : sequence of str
        Values of the option; ``*`` selects all.
    available : iterable of str
        Values in the order of the export.
    plural, context : str
        Words for the message, for example ``"filters"`` and ``"task gsm8k"``.

    Returns
    -------
    tuple of str
        The requested values that are available, or the only available one.

    Raises
    ------
    UsageError
        If there are several values and the option selects none of them.
    """
    values = tuple(dict.fromkeys(available))
    if ALL in requested:
        return values
    selected = tuple(name for name in values if name in requested)
    if selected or len(values) <= 1:
        return selected or values
    found = listing(values, 20)
    found += f"; {option(parameter)} names {listing(requested)}" if requested else ""
    hint = f"select one: {option(parameter, values[0])}; or keep all: {option(parameter, ALL)}"
    if similar := next(filter(None, (nearest(name, values) for name in requested)), None):
        hint = f"did you mean {option(parameter, similar)}?"
    raise UsageError(f"{context}: several {plural}; select one", found=found, hint=hint)


def requested_metrics(requested: Sequence[str], tasks: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the metrics requested for each task.

    They are requested by name, or for one task as ``TASK=NAME``. An empty set means all metrics.
    """
    prefixes = {task: f"{task}=" for task in tasks}
    for_all_tasks = frozenset(text for text in requested if not text.startswith(tuple(prefixes.values())))
    names: dict[str, frozenset[str]] = {}
    for task, prefix in prefixes.items():
        of_task = frozenset(text.removeprefix(prefix) for text in requested if text.startswith(prefix))
        names[task] = of_task or for_all_tasks
    return names


def require_known_values(
    parameter: str, requested: Sequence[str], available: Mapping[str, object] | Iterable[str]
) -> None:
    """Raise UsageError if an option names a value that does not occur in the export.

    Parameters
    ----------
    parameter : {"filter", "split"}
        Name of the option.
    requested : sequence of str
        Values of the option; ``*`` is always accepted.
    available : iterable of str
        Values in the export.
    """
    values = tuple(dict.fromkeys(available))
    for name in requested:
        if name != ALL:
            index_of(name, values, kind=parameter, parameter=parameter)


def reject_unsupported_options(
    options: ReadOptions, format_name: str, *, supported: Sequence[str] = ()
) -> None:
    """Raise UsageError if `filter` or `split` is set but the named format does not support it.

    The value ``*`` is accepted. `supported` lists the options that the format supports.
    """
    for parameter, requested in (("filter", options.filter), ("split", options.split)):
        values = [value for value in requested if value != ALL]
        if values and parameter not in supported:
            problem = f"{option(parameter, values[0])}: exports of {format_name} do not support this option"
            raise UsageError(problem, found=f"the format {format_name}", hint=f"remove {option(parameter)}")


def select_variants(
    rows: pl.DataFrame, options: ReadOptions, plurals: Mapping[str, str], *, context: str
) -> pl.DataFrame:
    """Keep the rows of the judges, references or similar variants that the option `filter` selects.

    Parameters
    ----------
    rows : DataFrame
    options : ReadOptions
    plurals : mapping of str to str
        Columns that identify the variant, with their plurals for messages.
    context : str
        Name of the format, for messages.

    Returns
    -------
    DataFrame
        Rows of the selected variants. If several are selected, each becomes its own metric, ``score,judge``.

    Raises
    ------
    UsageError
        If there are several variants and the option selects none of them.
    """
    values_by_column = {column: rows[column].drop_nulls().unique().sort().to_list() for column in plurals}
    if plurals:
        require_known_values("filter", options.filter, chain(*values_by_column.values()))
    for column, values in values_by_column.items():
        selected = select_values("filter", options.filter, values, plural=plurals[column], context=context)
        rows = rows.filter(pl.col(column).is_in(selected)) if selected else rows
        if len(selected) > 1:
            rows = rows.with_columns(metric=pl.concat_str("metric", column, separator=","))
    return rows


def select_by_task(
    rows: pl.DataFrame,
    requested: Sequence[str],
    parameter: str,
    *,
    plural: str,
    context: str,
    task_column: str = "task",
    column: str = "",
) -> pl.DataFrame:
    """Keep the rows of the filters or splits that an option selects within each task.

    Parameters
    ----------
    rows : DataFrame
    requested : sequence of str
        Values of the option.
    parameter : {"filter", "split"}
        Name of the option.
    plural, context : str
        Words for messages: the plural of the values, and the word for a task.
    task_column : str
        Column that names the task.
    column : str
        Column that contains the values, if its name differs from the option.

    Raises
    ------
    UsageError
        If a task has several values and none is selected, or if a requested value does not occur.
    """
    column = column or parameter
    require_known_values(parameter, requested, rows[column].unique(maintain_order=True))
    in_order = pl.col(column).unique(maintain_order=True)
    selected = []
    for task, names in rows.group_by(task_column, maintain_order=True).agg(in_order).iter_rows():
        kept = select_values(parameter, requested, names, plural=plural, context=f"{context} {task}")
        selected += [(task, name) for name in kept]
    pairs = pl.DataFrame(selected, schema={task_column: pl.String, column: pl.String}, orient="row")
    return rows.join(pairs, on=[task_column, column], how="semi", maintain_order="left")
