"""Tables of the metrics of a gate, baselines written from them, and prices of models."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from typing import BinaryIO

import numpy as np
import polars as pl

from riskrank.engine.types import Names
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.options.baseline import BASELINE, GateReading, blessing_options
from riskrank.options.reading import ReadOptions
from riskrank.options.values import contradict
from riskrank.scores.files import parsing
from riskrank.scores.files.guards import reject_too_many
from riskrank.scores.files.source import Paths
from riskrank.scores.table.baseline import (
    FILTER_OPTIONS,
    KEY,
    SCHEMA,
    SCHEMA_VERSION,
    frame_digest,
    read_baseline,
)
from riskrank.scores.table.metrics import resolve_metrics
from riskrank.scores.table.overlap import compare_with_baseline
from riskrank.scores.table.reading import read_frame, verify_on_scores
from riskrank.scores.table.score_table import ScoreTable, checked_table, require_testable_table
from riskrank.scores.table.scores import Scores, select
from riskrank.version import __version__


def read_selected(
    paths: Paths, options: ReadOptions, stdin: BinaryIO | None = None, *, baseline: str | None = None
) -> Scores:
    """Read the requested models and metrics, and those of a baseline, without checking them.

    Parameters
    ----------
    paths, options, stdin
        See `read_scores`.
    baseline : str, optional
        Path of the baseline.
    """
    saved = None if baseline is None else read_baseline(baseline, options.max_bytes)
    if saved is not None and options.corrects_judge:
        contradict(option("judge", options.judge), option("baseline", saved.path))
    scores = read_frame(paths, options, stdin, baseline=saved, check=require_testable_table)
    models = scores.options.models
    if saved is not None and models and BASELINE not in models:
        scores = scores.with_options(models=(*models, BASELINE))
    return select(scores)


def tables_by_metric(scores: Scores, *, choose: Callable[[Names], Names]) -> tuple[ScoreTable, ...]:
    """Return tables of some metrics, each with the samples that were scored on the metric.

    Parameters
    ----------
    scores : Scores
        Result of `read_selected`.
    choose : callable
        Selects from the available metrics. The other metrics are not checked.

    Returns
    -------
    tuple of ScoreTable
        One table of all metrics if they share their samples; otherwise one per metric, with the same models.
    """
    options = scores.notes.resolved
    if options.corrects_judge:
        choose((str(options.human),))
        from riskrank.scores.table.judge_calibration import calibrate_judge

        return (calibrate_judge(checked_table(scores), options),)
    names = tuple(choose(scores.metrics))
    reject_too_many(scores.file_names(), "metric", names)
    if options.missing == "auto" and scores.has_role("noise"):  # a level may lack some samples
        options, scores = replace(options, missing="error"), scores.with_options(missing="error")
    scores = compare_with_baseline(scores, names)

    def build(*metrics: str) -> ScoreTable:
        return replace(checked_table(scores.with_options(metric=metrics)), options=options)

    try:
        return (build(*names),)
    except InputError as error:
        if len(names) < 2:
            raise verify_on_scores(error, scores, checked_table) from None
        tables = tuple(map(build, names))
        if any(table.models != tables[0].models for table in tables):
            raise
        return tables


def require_parquet_name(path: str) -> None:
    """Check that a path ends in .parquet or .pq.

    Raises
    ------
    UsageError
        If it does not.
    """
    if not path.lower().endswith((".parquet", ".pq")):
        raise UsageError(
            f"{option('bless', path)}: a baseline must be a Parquet file",
            found="the name does not end in .parquet",
            hint=option("bless", f"{path.rpartition('.')[0] or path}.parquet"),
        )


def read_model(paths: Paths, reading: GateReading, stdin: BinaryIO | None = None) -> tuple[Scores, str]:
    """Read the scores of the single model to be saved as a baseline.

    Returns
    -------
    scores : Scores
    model : str
        Name of the model.

    Raises
    ------
    UsageError
        If the files contain several models.
    InputError
        If the scores could not be used in a gate.
    """
    scores = read_selected(paths, blessing_options(reading), stdin)
    models = [name for name in scores.models if name != BASELINE or scores.notes.baseline is None]
    if len(models) != 1:
        raise UsageError(
            f"{option('bless')} saves the scores of exactly one model",
            found=f"{len(models)} models: {listing(models)}",
            hint=f"select one model: {option('models', models[0])}",
        )
    # Only scores that a gate could use become a baseline.
    tables_by_metric(scores, choose=lambda names: names)
    return scores, models[0]


def baseline_bytes(scores: Scores, model: str) -> bytes:
    """Return the contents of the baseline file for a model.

    The file contains the scores as read, before any samples or metrics are excluded.

    Parameters
    ----------
    scores : Scores
    model : str
        Name of the model.
    """
    specs, _ = resolve_metrics(scores)
    rows = scores.filter(pl.col("model") == model)
    directions = {spec.name: spec.direction for spec in specs if spec.declared}
    frame = _baseline_rows(rows, directions)
    present = set(frame["metric"].unique())
    metrics = {
        s.name: {"direction": directions.get(s.name), "transform": s.transform, "bounds": s.bounds}
        for s in specs
        if s.name in present
    }
    old_files = () if scores.notes.baseline is None else (scores.notes.baseline.input_file(),)
    metadata = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "version": __version__,
        "model": model,
        "metrics": metrics,
        "samples": len(rows.samples),
        "has_samples": scores.notes.has_samples,
        # Readers of exports always use the same name.
        "sample_column": "" if scores.options.from_ else scores.notes.files[0].roles.sample or "",
        "rules": {name: [*getattr(scores.options, name)] for name in FILTER_OPTIONS},
        "inputs": [
            {"path": file.path, "sha256": file.sha256, "rows": file.rows}
            for file in scores.notes.inputs
            if file not in old_files
        ],
        "sha256": frame_digest(frame),
    }
    data = io.BytesIO()
    frame.write_parquet(data, statistics=False, metadata={KEY: json.dumps(metadata, ensure_ascii=False)})
    return data.getvalue()


def _baseline_rows(scores: Scores, directions: dict[str, str]) -> pl.DataFrame:
    """Return a long table with standard column names, in an order that does not depend on the input."""
    frame = scores.frame
    if scores.notes.samples_renamed:
        # Restore the sample names within each task, which the new scores will use.
        names = _name_within_task() if scores.notes.has_samples else pl.lit("")
        frame = frame.with_columns(sample=names)
    columns = [name for name in ("model", "sample", "task", "metric", "draw") if scores.has_role(name)]
    texts = [pl.col(name).cast(pl.String) for name in columns if name != "draw"]
    score = pl.col("score")
    if scores.has_role("state"):
        score = pl.when(pl.col("state") == parsing.MISSING).then(None).otherwise(score)
    long = frame.select(*texts, score.alias("score"), *(["draw"] if "draw" in columns else []))
    keys = [name for name in columns if name != "draw"]
    if "draw" in columns:
        # Without repeats, the run numbers carry no information.
        repeated = long.select(keys).is_duplicated().any()
        number = pl.col("draw").to_physical().cast(pl.String)
        long = long.with_columns(draw=number) if repeated else long.drop("draw")
    direction = pl.col("metric").replace_strict(
        [*directions], [*directions.values()], default=None, return_dtype=pl.String
    )
    return long.with_columns(direction=direction).sort(*keys, *(set(long.columns) & {"draw"}), "score")


def _name_within_task() -> pl.Expr:
    """Return an expression for the sample name without the task prefix that `as_one_name` added."""
    task = parsing.escape_plus(pl.col("task").cast(pl.String))
    behind = pl.col("sample").cast(pl.String).str.slice(task.str.len_chars() + 1)
    return behind.str.replace_all("\\+", "+", literal=True).str.replace_all("\\\\", "\\", literal=True)


def read_prices(path: str, limit: int | None = None) -> dict[str, float]:
    """Read the price of every model from a file.

    Raises
    ------
    InputError
        If the file does not have exactly one price column, or a price is missing, negative or duplicated.
    """
    options = ReadOptions(wide=True, sample_optional=True, min_models=1, max_bytes=limit)
    scores = read_frame([path], options)
    metrics = scores.metrics
    if len(metrics) != 1:
        raise InputError(
            f"{option('price', path)}: a price file needs one model column and one price column",
            found=f"numeric columns: {listing(metrics)}",
            hint="keep one numeric column, such as model,price",
        )
    models = scores.frame["model"].cast(str).to_list()
    prices = dict(zip(models, scores.values.tolist(), strict=True))
    invalid = [model for model, price in prices.items() if not (np.isfinite(price) and price >= 0)]
    invalid += [model for model in prices if models.count(model) > 1]
    if invalid:
        texts = scores.notes.files[0].source.load(metrics)[metrics[0]].gather(scores.frame["row"])
        raise InputError(
            f"{option('price', path)}: the price of {invalid[0]} is invalid or repeated",
            found=listing(str(texts[at]) for at, model in enumerate(models) if model == invalid[0]),
            hint="write one price of at least 0 per model",
        )
    return prices
