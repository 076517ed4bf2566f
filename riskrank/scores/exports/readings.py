"""Several readings of one score: a rule keeps the one that counts, and what repeats is numbered."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from riskrank.errors import listing
from riskrank.scores.exports.fields import broken
from riskrank.scores.exports.gathering import check_used, choose, tidy
from riskrank.scores.exports.interface import Export, ExportRules


def keep_readings(export: Export, rules: ExportRules, kinds: Mapping[str, str], *, where: str) -> Export:
    """Keep the judges, references or the like that the rule `filters` names.

    Parameters
    ----------
    export : Export
    rules : ExportRules
    kinds : mapping
        Columns that tell readings apart, with the plural they are called by in a message.
    where : str
        Format, for messages.

    Returns
    -------
    Export
        With one reading; of several that were asked for, each is a metric of its own, ``score,judge``.

    Raises
    ------
    UsageError
        If there are several readings and no rule for them, or the rule names none of them.
    """
    rows = export.rows
    there = {column: rows[column].drop_nulls().unique().sort().to_list() for column in kinds}
    check_used("filter", rules.filters, [name for names in there.values() for name in names])
    for column, plural in kinds.items():
        kept = choose("filter", rules.filters, there[column], what=plural, where=where)
        if not there[column]:
            continue
        rows = rows.filter(pl.col(column).is_in(kept))
        if len(kept) > 1:
            rows = rows.with_columns(metric=pl.concat_str("metric", column, separator=","))
    directions = {
        metric: export.directions[plain]
        for metric in rows["metric"].unique().sort()
        for plain in export.directions
        if metric == plain or metric.startswith(f"{plain},")
    }
    return replace(export, rows=rows, directions=directions)


def chosen_by_task(
    rows: pl.DataFrame, asked: Sequence[str], parameter: str, *, of: str, what: str, where: str
) -> pl.DataFrame:
    """Rows with those filters or splits that the rule picks among what each task has.

    Parameters
    ----------
    rows : DataFrame
    asked : sequence of str
        What the rule says.
    parameter : {"filter", "split"}
        The rule, which is the name of the column too.
    of : str
        Column that names the task.
    what, where : str
        For messages: what there are several of, and what a task is called.

    Raises
    ------
    UsageError
        If a task has several, and nothing picks among them.
    """
    there: dict[str, list[str]] = {}
    for task, name in rows.select(of, parameter).unique(maintain_order=True).iter_rows():
        there.setdefault(task, []).append(name)
    kept = [
        (task, name)
        for task, names in there.items()
        for name in choose(parameter, asked, names, what=what, where=f"{where} {task}")
    ]
    picked = pl.DataFrame(kept, schema={of: pl.String, parameter: pl.String}, orient="row")
    return rows.join(picked, on=[of, parameter], how="semi", maintain_order="left")


def finish(export: Export) -> Export:
    """Number repeats, and leave out metrics without a single score.

    Returns
    -------
    Export
        ``draw`` numbers the scores a model has for one sample and metric, in the order of the files.

    Raises
    ------
    InputError
        If no metric has a score.
    """
    scored = export.rows.filter(pl.col("score").is_not_null())["metric"].unique()
    rows = export.rows.filter(pl.col("metric").is_in(scored.implode()))
    empty = [name for name in export.rows["metric"].unique(maintain_order=True) if name not in scored]
    if rows.is_empty():
        raise broken(
            f"{listing((entry.path for entry in export.inputs), 3)}: no sample has a score",
            listing(export.notes, 3),
        )
    draw = pl.int_range(1, pl.len() + 1).over("model", "sample", "metric").cast(pl.String)
    return replace(
        export,
        rows=tidy(rows.with_columns(draw=draw)),
        directions={metric: way for metric, way in export.directions.items() if metric in scored},
        notes=(*export.notes, *(f"{metric}: no sample has a score, left out" for metric in empty)),
    )
