"""Every Eval Ever: instances in ``<name>_samples.jsonl``, the aggregate beside them in ``<name>.json``."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from riskrank.scores.exports.collection import Gathering
from riskrank.scores.exports.fields import Record, as_score, broken
from riskrank.scores.exports.interface import within
from riskrank.scores.exports.row_reader import ExportFile, Rows, reads
from riskrank.scores.exports.selection import chosen_by_task, wanted_metrics
from riskrank.scores.files.json_objects import json_object
from riskrank.scores.files.signatures import first_bytes

_SUFFIX = "_samples.jsonl"
_WAYS = {"True": "lower", "False": "higher"}  # by lower_is_better
_REQUIRED = {"evaluation_name": str, "evaluation": dict, "sample_id": str | int | float, "model_id": object}


def recognises(path: Path) -> bool:
    """Whether a file holds rows of instances."""
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    if not name.endswith(".jsonl"):
        return False
    head = first_bytes(path)
    return b'"schema_version"' in head and (b'"evaluation_name"' in head or name.endswith(_SUFFIX))


def _is_of_instances(path: Path) -> bool:
    """Whether a file is no aggregate."""
    return path.suffix != ".json"


def _named(rows: pl.DataFrame, gathering: Gathering) -> pl.DataFrame:
    """Keep the filter that counts of each evaluation; of several results each is a metric of its own."""
    pairs = rows.select("task", "evaluation").unique(maintain_order=True).rows()
    wanted = wanted_metrics(gathering.rules.metric, [task for task, _ in pairs])
    needed = {task for task, evaluation in pairs if evaluation in wanted[task] or not wanted[task]}
    rows = rows.filter(pl.col("task").is_in(needed or wanted.keys()))
    rows = chosen_by_task(rows, gathering.rules.filter, "filter", what="filters", where="evaluation")
    several = (pl.col("result").n_unique().over("evaluation") > 1) & (pl.col("result") != "")
    metric = pl.when(several).then(pl.concat_str("evaluation", "result", separator=" ")).otherwise("metric")
    return rows.with_columns(metric=metric).drop("result")


@reads(recognises, uses=("filter",), prefers=_is_of_instances, then=_named)
def read(file: ExportFile) -> Rows:
    """Scores of instances.

    A metric is the evaluation's name, with the identifier of the result where an evaluation has several; a
    sample is ``task/sample_id``; further columns are ``evaluation``, ``task`` and ``filter``, which is what
    the evaluation's name holds behind a slash, if it is one.
    """
    found: list[dict[str, Any]] = []
    for row in file.lines() if _is_of_instances(file.path) else ():
        lacking = (name for name, kind in _REQUIRED.items() if not isinstance(row.get(name, ...), kind))
        if (missing := next(lacking, None)) is None:
            found.append(_row(file, row))
        elif file.gathering.rules.skip_bad:
            file.count(f"{file.path}: rows that lack what the schema requires, left out")
        else:
            raise broken(f"{row.place} lacks '{missing}'", f"keys {', '.join(list(row)[:8]) or 'none'}")
    if not found:
        raise broken(f"{file.path}: no rows in it", "no instances")
    _directions(file, found)
    yield from found


def _row(file: ExportFile, row: Record) -> dict[str, Any]:
    name, details = row["evaluation_name"], row.inner("metadata")
    logged = _logged(details.get("lm_eval_metrics"))
    task, slash, behind = name.rpartition("/")
    filtered = slash and details.get("filter") == behind
    if row.get("error"):
        file.count("rows with an error")
    task = task if filtered else name
    return {
        "model": file.model(row.text("model_id")),
        "sample": f"{task}/{row.name('sample_id')}",
        "metric": name,
        # A list is no scalar, which the converter wrote as 0.0.
        "score": logged if isinstance(logged, list) else row["evaluation"].get("score"),
        "evaluation": name,
        "task": task,
        "filter": behind if filtered else "none",
        "result": row.text("evaluation_result_id"),
        "asked": within(row, "input", "raw"),
        "answered": within(row, "output", "raw"),
    }


def _logged(text: object) -> object:
    """First of the metrics lm-eval logged, which is the one whose value the row carries."""
    metrics = json_object(text) if isinstance(text, str) else None
    return next(iter(metrics.values()), None) if metrics else None


def _directions(file: ExportFile, rows: Sequence[Mapping[str, Any]]) -> None:
    """Directions of the aggregate: of the result a row names, else of all of its name, if they agree."""
    if not file.path.name.endswith(_SUFFIX):
        return
    beside = file.path.with_name(file.path.name.removesuffix(_SUFFIX) + ".json")
    results = file.beside(beside).entries("evaluation_results")
    scored = [row for row in rows if isinstance(as_score(row["score"]), float)]
    short = []
    for (evaluation, result), number in Counter((row["evaluation"], row["result"]) for row in scored).items():
        key, named = ("evaluation_result_id", result) if result else ("evaluation_name", evaluation)
        fitting = [entry for entry in results if entry.get(key) == named]
        lower = {str(within(entry, "metric_config", "lower_is_better")) for entry in fitting}
        if len(lower) == 1 and (way := _WAYS.get(lower.pop())):
            file.direct(evaluation, way)
        counts = [within(entry, "score_details", "uncertainty", "num_samples") for entry in fitting]
        fewest = min((count for count in counts if isinstance(count, int)), default=0)
        if number < fewest:
            short.append(f"'{evaluation}' has {number:,} of {fewest:,}")
    if short:
        file.note(f"fewer samples than its aggregate: {', '.join(short)}")
