"""Which models, filters, splits and metrics of an export count: what only rules decide is never guessed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from riskrank.errors import InputError, UsageError, index_of, listing, nearest, option
from riskrank.options.reading import ReadOptions

ALL = "*"


def resolve_model_name(
    path: Path, logged_name: str | None, rules: ReadOptions, *, label: str | None = None
) -> str:
    """The model of a file: by the rule for paths, else as the log says, else the label.

    Raises
    ------
    InputError
        If nothing names it.
    UsageError
        If the rule for paths does not fit the path.
    """
    if rules.model_from_path is not None:
        return _match_model_name(path, rules.model_from_path)
    name = (logged_name or label or "").strip()
    if not name:
        raise InputError(
            f"{path}: the file does not say which model it is of",
            found="no model name in it",
            hint=f"write NAME={path}, or find it in the path with {option('model_from_path')}",
        )
    return name


def _match_model_name(path: Path, pattern: str) -> str:
    flag, example = option("model_from_path", pattern), option("model_from_path", "runs/([^/]+)/")
    try:
        expression = re.compile(pattern)
    except re.error as error:
        hint = f"write one with a group around the model: {example}"
        raise UsageError(f"{flag} is no regular expression", found=str(error), hint=hint) from None
    named, groups = "model" in expression.groupindex, expression.groups
    if not named and groups != 1:
        hint = f"for example {example}; others may be (?:…)"
        raise UsageError(f"{flag} needs one group around the model", found=f"{groups} groups", hint=hint)
    match = expression.search(path.as_posix())
    name = match and match["model" if named else 1]
    if not name:
        hint = "the pattern is searched in the path as it was given, with folders"
        raise UsageError(f"{flag} finds no model in a path", found=str(path), hint=hint)
    return name


def select_values(
    parameter: str, requested: Sequence[str], available: Iterable[str], *, plural: str, context: str
) -> tuple[str, ...]:
    """Which of several filters, splits or the like to keep; never a guess.

    Parameters
    ----------
    parameter : {"filter", "split"}
        The rule that decides.
    asked : sequence of str
        What the rule says; ``*`` is all.
    available : iterable of str
        What there is, in the order of the export.
    what, where : str
        For the message: ``"filters"``, ``"task gsm8k"``.

    Raises
    ------
    UsageError
        If there are several and the rule does not pick among them.
    """
    values = tuple(dict.fromkeys(available))
    if ALL in requested:
        return values
    selected = tuple(name for name in values if name in requested)
    if selected or len(values) <= 1:
        return selected or values
    nearest_value = next((match for name in requested if (match := nearest(name, values))), None)
    raise UsageError(
        f"{context}: several {plural}, and which of them counts is for you to say",
        found=listing(values, 20)
        + (f"; {option(parameter)} names {listing(requested)}" if requested else ""),
        hint=f"did you mean {option(parameter, nearest_value)}?"
        if nearest_value
        else f"pick one: {option(parameter, values[0])}; or keep all: {option(parameter, ALL)}",
    )


def requested_metrics(requested: Sequence[str], tasks: Iterable[str]) -> dict[str, frozenset[str]]:
    """The metrics somebody wants of each task, by name or by ``TASK=NAME``; an empty set is all of them."""
    prefixes = {task: f"{task}=" for task in tasks}
    for_all_tasks = frozenset(text for text in requested if not text.startswith(tuple(prefixes.values())))
    return {
        task: frozenset(text.removeprefix(prefix) for text in requested if text.startswith(prefix))
        or for_all_tasks
        for task, prefix in prefixes.items()
    }


def require_known_values(
    parameter: str, requested: Sequence[str], available: Mapping[str, object] | Iterable[str]
) -> None:
    """Refuse a rule that names what is nowhere in the export.

    Raises
    ------
    UsageError
    """
    values = tuple(dict.fromkeys(available))
    for name in requested:
        if name != ALL:
            index_of(name, values, kind=parameter, parameter=parameter)


def refuse_unsupported_rules(rules: ReadOptions, format_name: str, *, supported: Sequence[str] = ()) -> None:
    """Refuse rules that mean nothing for a format, instead of ignoring them; all of none is no mistake.

    Raises
    ------
    UsageError
    """
    for parameter, requested in (("filter", rules.filter), ("split", rules.split)):
        values = [value for value in requested if value != ALL]
        if values and parameter not in supported:
            raise UsageError(
                f"{option(parameter, values[0])}: exports of {format_name} hold nothing to choose that way",
                found=f"the format {format_name}",
                hint=f"leave {option(parameter)} out",
            )


def select_variants(
    rows: pl.DataFrame, rules: ReadOptions, plurals: Mapping[str, str], *, context: str
) -> pl.DataFrame:
    """Keep the judges, references or the like that the rule `filter` names.

    Parameters
    ----------
    rows : DataFrame
    rules : ReadOptions
    kinds : mapping
        Columns that tell readings apart, with the plural they are called by in a message.
    where : str
        Format, for messages.

    Returns
    -------
    DataFrame
        With one reading; of several that were asked for, each is a metric of its own, ``score,judge``.

    Raises
    ------
    UsageError
        If there are several readings and no rule for them, or the rule names none of them.
    """
    values_by_column = {column: rows[column].drop_nulls().unique().sort().to_list() for column in plurals}
    if plurals:
        require_known_values(
            "filter", rules.filter, [name for names in values_by_column.values() for name in names]
        )
    for column, plural in plurals.items():
        selected = select_values(
            "filter", rules.filter, values_by_column[column], plural=plural, context=context
        )
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
    """Rows with those filters or splits that the rule picks among what each task has.

    Parameters
    ----------
    rows : DataFrame
    asked : sequence of str
        What the rule says.
    parameter : {"filter", "split"}
        The rule.
    what, where : str
        For messages: what there are several of, and what a task is called.
    of : str
        Column that names the task.
    column : str
        Column of what is picked among, where it is not called as the rule is.

    Raises
    ------
    UsageError
        If a task has several, and nothing picks among them; or if what the rule says is nowhere.
    """
    column = column or parameter
    require_known_values(parameter, requested, rows[column].unique(maintain_order=True))
    values_by_task = rows.group_by(task_column, maintain_order=True).agg(
        pl.col(column).unique(maintain_order=True)
    )
    selected = [
        (task, name)
        for task, names in values_by_task.iter_rows()
        for name in select_values(parameter, requested, names, plural=plural, context=f"{context} {task}")
    ]
    pairs = pl.DataFrame(selected, schema={task_column: pl.String, column: pl.String}, orient="row")
    return rows.join(pairs, on=[task_column, column], how="semi", maintain_order="left")
