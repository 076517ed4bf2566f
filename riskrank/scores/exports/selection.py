"""Which models, filters, splits and metrics of an export count: what only rules decide is never guessed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from riskrank.errors import InputError, UsageError, index_of, listing, nearest, option
from riskrank.options.reading import ReadOptions

ALL = "*"


def model_of(path: Path, logged: str | None, rules: ReadOptions, *, label: str | None = None) -> str:
    """The model of a file: by the rule for paths, else as the log says, else the label.

    Raises
    ------
    InputError
        If nothing names it.
    UsageError
        If the rule for paths does not fit the path.
    """
    if rules.model_from_path is not None:
        return _model_in(path, rules.model_from_path)
    name = (logged or label or "").strip()
    if not name:
        raise InputError(
            f"{path}: the file does not say which model it is of",
            found="no model name in it",
            hint=f"write NAME={path}, or find it in the path with {option('model_from_path')}",
        )
    return name


def _model_in(path: Path, pattern: str) -> str:
    asked, example = option("model_from_path", pattern), option("model_from_path", "runs/([^/]+)/")
    try:
        expression = re.compile(pattern)
    except re.error as error:
        hint = f"write one with a group around the model: {example}"
        raise UsageError(f"{asked} is no regular expression", found=str(error), hint=hint) from None
    named, groups = "model" in expression.groupindex, expression.groups
    if not named and groups != 1:
        hint = f"for example {example}; others may be (?:…)"
        raise UsageError(f"{asked} needs one group around the model", found=f"{groups} groups", hint=hint)
    match = expression.search(path.as_posix())
    name = match and match["model" if named else 1]
    if not name:
        hint = "the pattern is searched in the path as it was given, with folders"
        raise UsageError(f"{asked} finds no model in a path", found=str(path), hint=hint)
    return name


def choose(
    parameter: str, asked: Sequence[str], available: Iterable[str], *, what: str, where: str
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
    there = tuple(dict.fromkeys(available))
    if ALL in asked:
        return there
    kept = tuple(name for name in there if name in asked)
    if kept or len(there) <= 1:
        return kept or there
    close = next((found for name in asked if (found := nearest(name, there))), None)
    raise UsageError(
        f"{where}: several {what}, and which of them counts is for you to say",
        found=listing(there, 20) + (f"; {option(parameter)} names {listing(asked)}" if asked else ""),
        hint=f"did you mean {option(parameter, close)}?"
        if close
        else f"pick one: {option(parameter, there[0])}; or keep all: {option(parameter, ALL)}",
    )


def wanted_metrics(asked: Sequence[str], tasks: Iterable[str]) -> dict[str, frozenset[str]]:
    """The metrics somebody wants of each task, by name or by ``TASK=NAME``; an empty set is all of them."""
    prefixes = {task: f"{task}=" for task in tasks}
    plain = frozenset(text for text in asked if not text.startswith(tuple(prefixes.values())))
    return {
        task: frozenset(text.removeprefix(start) for text in asked if text.startswith(start)) or plain
        for task, start in prefixes.items()
    }


def check_used(parameter: str, asked: Sequence[str], available: Mapping[str, object] | Iterable[str]) -> None:
    """Refuse a rule that names what is nowhere in the export.

    Raises
    ------
    UsageError
    """
    there = tuple(dict.fromkeys(available))
    for name in asked:
        if name != ALL:
            index_of(name, there, kind=parameter, parameter=parameter)


def refuse_rules(rules: ReadOptions, name: str, *, uses: Sequence[str] = ()) -> None:
    """Refuse rules that mean nothing for a format, instead of ignoring them; all of none is no mistake.

    Raises
    ------
    UsageError
    """
    for parameter, asked in (("filter", rules.filter), ("split", rules.split)):
        named = [one for one in asked if one != ALL]
        if named and parameter not in uses:
            raise UsageError(
                f"{option(parameter, named[0])}: exports of {name} hold nothing to choose that way",
                found=f"the format {name}",
                hint=f"leave {option(parameter)} out",
            )


def keep_readings(
    rows: pl.DataFrame, rules: ReadOptions, kinds: Mapping[str, str], *, where: str
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
    there = {column: rows[column].drop_nulls().unique().sort().to_list() for column in kinds}
    if kinds:
        check_used("filter", rules.filter, [name for names in there.values() for name in names])
    for column, plural in kinds.items():
        kept = choose("filter", rules.filter, there[column], what=plural, where=where)
        rows = rows.filter(pl.col(column).is_in(kept)) if kept else rows
        if len(kept) > 1:
            rows = rows.with_columns(metric=pl.concat_str("metric", column, separator=","))
    return rows


def chosen_by_task(
    rows: pl.DataFrame,
    asked: Sequence[str],
    parameter: str,
    *,
    what: str,
    where: str,
    of: str = "task",
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
    check_used(parameter, asked, rows[column].unique(maintain_order=True))
    there = rows.group_by(of, maintain_order=True).agg(pl.col(column).unique(maintain_order=True))
    kept = [
        (task, name)
        for task, names in there.iter_rows()
        for name in choose(parameter, asked, names, what=what, where=f"{where} {task}")
    ]
    picked = pl.DataFrame(kept, schema={of: pl.String, column: pl.String}, orient="row")
    return rows.join(picked, on=[of, column], how="semi", maintain_order="left")
