"""Scores of one model as a baseline, which later runs are compared with."""

import io
import json
from typing import BinaryIO

import polars as pl

from riskrank.errors import UsageError, listing, option
from riskrank.options.baseline import BASELINE, GateReading, for_blessing
from riskrank.scores.files import parsing
from riskrank.scores.files.source import Paths
from riskrank.scores.table.baseline import KEY, RULES, SCHEMA, SCHEMA_VERSION, digest_of
from riskrank.scores.table.metric_tables import metrics_apart, read_selected
from riskrank.scores.table.metrics import resolve_metrics
from riskrank.scores.table.scores import Scores
from riskrank.version import __version__


def require_name(path: str) -> None:
    """Refuse a name that would tell readers something else than Parquet.

    Raises
    ------
    UsageError
    """
    if not path.lower().endswith((".parquet", ".pq")):
        raise UsageError(
            f"{option('bless', path)}: a baseline is a Parquet file",
            found="a name that does not end in .parquet",
            hint=option("bless", f"{path.rpartition('.')[0] or path}.parquet"),
        )


def read_only_model(paths: Paths, reading: GateReading, stdin: BinaryIO | None = None) -> tuple[Scores, str]:
    """The scores of the model that can be blessed, where nobody names it.

    Raises
    ------
    UsageError
        If there are several.
    InputError
        If a gate could not use them.
    """
    scores = read_selected(paths, for_blessing(reading), stdin)
    models = [name for name in scores.models if name != BASELINE or scores.notes.baseline is None]
    if len(models) != 1:
        raise UsageError(
            f"{option('bless')} keeps the scores of one model",
            found=f"{len(models)} models: {listing(models)}",
            hint=f"name it: {option('models', models[0])}",
        )
    # What could not be gated is not blessed either.
    metrics_apart(scores, wanted=lambda names: names)
    return scores, models[0]


def blessed(scores: Scores, model: str) -> bytes:
    """The scores of a model as the bytes of a baseline: as they were read, before anything is left out.

    Parameters
    ----------
    scores : Scores
    model : str
    """
    specs, _ = resolve_metrics(scores)
    own = scores.only(pl.col("model") == model)
    ways = {spec.name: spec.direction for spec in specs if spec.declared}
    frame = _table(own, ways)
    there = set(frame["metric"].unique())
    metrics = {
        one.name: {"direction": ways.get(one.name), "transform": one.transform, "bounds": one.bounds}
        for one in specs
        if one.name in there
    }
    before = () if scores.notes.baseline is None else (scores.notes.baseline.input_file(),)
    told = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "version": __version__,
        "model": model,
        "metrics": metrics,
        "samples": len(own.samples),
        "has_samples": scores.notes.has_samples,
        # Exports are read by readers that name it alike.
        "sample_column": "" if scores.options.from_ else scores.notes.files[0].roles.sample or "",
        "rules": {name: [*getattr(scores.options, name)] for name in RULES},
        "inputs": [
            {"path": one.path, "sha256": one.sha256, "rows": one.rows}
            for one in scores.notes.inputs
            if one not in before
        ],
        "sha256": digest_of(frame),
    }
    data = io.BytesIO()
    frame.write_parquet(data, statistics=False, metadata={KEY: json.dumps(told, ensure_ascii=False)})
    return data.getvalue()


def _table(scores: Scores, directions: dict[str, str]) -> pl.DataFrame:
    """A long table with the columns any command reads, in an order that no file's order changes."""
    frame = scores.frame
    if scores.notes.told_apart:
        # Samples go by their own names in every task again, as the new scores will.
        own = _without_task() if scores.notes.has_samples else pl.lit("")
        frame = frame.with_columns(sample=own)
    columns = [name for name in ("model", "sample", "task", "metric", "draw") if scores.has(name)]
    texts = [pl.col(name).cast(pl.String) for name in columns if name != "draw"]
    score = pl.col("score")
    if scores.has("state"):
        score = pl.when(pl.col("state") == parsing.MISSING).then(None).otherwise(score)
    long = frame.select(*texts, score.alias("score"), *(["draw"] if "draw" in columns else []))
    cell = [name for name in columns if name != "draw"]
    if "draw" in columns:
        # Runs that no sample repeats tell nothing.
        several = long.select(cell).is_duplicated().any()
        number = pl.col("draw").to_physical().cast(pl.String)
        long = long.with_columns(draw=number) if several else long.drop("draw")
    direction = pl.col("metric").replace_strict(
        [*directions], [*directions.values()], default=None, return_dtype=pl.String
    )
    return long.with_columns(direction=direction).sort(*cell, *(set(long.columns) & {"draw"}), "score")


def _without_task() -> pl.Expr:
    """What stands behind the task in the name of a sample that both make, `as_one_name`."""
    task = parsing.escaped(pl.col("task").cast(pl.String))
    behind = pl.col("sample").cast(pl.String).str.slice(task.str.len_chars() + 1)
    return behind.str.replace_all("\\+", "+", literal=True).str.replace_all("\\\\", "\\", literal=True)
