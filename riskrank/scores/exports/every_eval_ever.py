"""Every Eval Ever: instances in ``<name>_samples.jsonl`` and aggregates in ``<name>.json``."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.errors import listing
from riskrank.scores.exports import reader
from riskrank.scores.exports.selection import requested_metrics, select_by_task
from riskrank.scores.files.contents import first_bytes
from riskrank.scores.files.parsing import json_object

_SUFFIX = "_samples.jsonl"
_DIRECTIONS = {"True": "lower", "False": "higher"}  # keyed by lower_is_better
_REQUIRED = {"evaluation_name": str, "evaluation": dict, "sample_id": str | int | float, "model_id": object}


def recognises(path: Path) -> bool:
    """Return True if a file has scores of single instances in the Every Eval Ever format."""
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    if not name.endswith(".jsonl"):
        return False
    head = first_bytes(path)
    return b'"schema_version"' in head and (b'"evaluation_name"' in head or name.endswith(_SUFFIX))


def is_preferred(path: Path) -> bool:
    """Return True if an Every Eval Ever file has instances, and is preferred to files of aggregates."""
    return path.suffix != ".json"


def finish(rows: pl.DataFrame, collector: reader.RowCollector) -> pl.DataFrame:
    """Return the rows with the requested filter of each evaluation, and give the metrics distinct names.

    `collector` holds the options.
    """
    pairs = rows.select("task", "evaluation").unique(maintain_order=True).rows()
    requested = requested_metrics(collector.options.metric, [task for task, _ in pairs])
    needed = {task for task, evaluation in pairs if evaluation in requested[task] or not requested[task]}
    rows = rows.filter(pl.col("task").is_in(needed or requested.keys()))
    rows = select_by_task(rows, collector.options.filter, "filter", plural="filters", context="evaluation")
    several = (pl.col("result").n_unique().over("evaluation") > 1) & (pl.col("result") != "")
    metric = pl.when(several).then(pl.concat_str("evaluation", "result", separator=" ")).otherwise("metric")
    return rows.with_columns(metric=metric).drop("result")


def read(file: reader.ExportFile) -> reader.Rows:
    """Yield the instance scores in an Every Eval Ever file.

    A metric is named after its evaluation, followed by the identifier of the result if the evaluation has
    several results. A sample is ``task/sample_id``. Further columns are ``evaluation``, ``task`` and
    ``filter``; the filter is the part of the evaluation name after the slash.
    """
    rows: list[dict[str, Any]] = []
    for row in file.lines() if is_preferred(file.path) else ():
        missing = [name for name, kind in _REQUIRED.items() if not isinstance(row.get(name, ...), kind)]
        if not missing:
            rows.append(_parse_row(file, row))
        elif file.collector.options.skip_bad:
            file.count(f"{file.path}: ignored rows without fields that the schema requires")
        else:
            raise reader.export_error(f"{row.location} lacks '{missing[0]}'", f"keys {listing(row)}")
    if not rows:
        raise reader.export_error(f"{file.path}: the file has no rows", "no instances")
    _set_directions(file, rows)
    yield from rows


def _parse_row(file: reader.ExportFile, row: reader.Record) -> dict[str, Any]:
    """Return the score of the instance in a row, with its model, sample, metric and other columns."""
    name, details = row["evaluation_name"], row.get_record("metadata")
    metrics = details.get("lm_eval_metrics")
    # The converter writes 0.0 for a list, so the value of the first metric that lm-eval logged is used.
    logged = next(iter((json_object(metrics) or {}).values()), None) if isinstance(metrics, str) else None
    task, slash, suffix = name.rpartition("/")
    has_filter = slash and details.get("filter") == suffix
    if row.get("error"):
        file.count("rows with an error")
    task = task if has_filter else name
    return {
        "model": file.model_name(row.get_text("model_id")),
        "sample": f"{task}/{row.get_name('sample_id')}",
        "metric": name,
        "score": logged if isinstance(logged, list) else row["evaluation"].get("score"),
        "evaluation": name,
        "task": task,
        "filter": suffix if has_filter else "none",
        "result": row.get_text("evaluation_result_id"),
        "input_text": reader.get_nested(row, "input", "raw"),
        "output_text": reader.get_nested(row, "output", "raw"),
    }


def _set_directions(file: reader.ExportFile, rows: Sequence[Mapping[str, Any]]) -> None:
    """Record the direction of each metric, as stated in the aggregated results.

    Evaluations with missing samples are noted. Aggregated results are matched to rows by the identifier of
    the result, or by the name of the evaluation if rows have no identifier. If the aggregated results
    disagree, no direction is recorded.
    """
    if not file.path.name.endswith(_SUFFIX):
        return
    aggregate_path = file.path.with_name(file.path.name.removesuffix(_SUFFIX) + ".json")
    results = file.read_optional(aggregate_path).get_records("evaluation_results")
    scored = [row for row in rows if isinstance(reader.as_score(row["score"]), float)]
    shortfalls = []
    for (evaluation, result), number in Counter((row["evaluation"], row["result"]) for row in scored).items():
        key, value = ("evaluation_result_id", result) if result else ("evaluation_name", evaluation)
        matching = [entry for entry in results if entry.get(key) == value]
        lower = {str(reader.get_nested(entry, "metric_config", "lower_is_better")) for entry in matching}
        if len(lower) == 1 and (direction := _DIRECTIONS.get(lower.pop())):
            file.set_direction(evaluation, direction)
        path = ("score_details", "uncertainty", "num_samples")
        counts = [reader.get_nested(entry, *path) for entry in matching]
        fewest = min((count for count in counts if isinstance(count, int)), default=0)
        if number < fewest:
            shortfalls.append(f"'{evaluation}' has {number:,} of {fewest:,}")
    if shortfalls:
        file.note(f"fewer samples than in the aggregate: {', '.join(shortfalls)}")
