"""Portfolio scores as a long table, and their summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.portfolio.summary import Summary
from riskrank.report import numbers
from riskrank.report.view import Column, Line, Section, Table

SUMMARY_FIELDS = ("model", "n", "mean", "sd", "quantiles", "tvar")

_FIRST_ROWS = 10


def score_fields(draws: bool) -> tuple[str, ...]:
    """Columns of the long table; draws of a sample are told apart by their number."""
    return ("model", "sample", "draw", "metric", "score") if draws else ("model", "sample", "metric", "score")


def score_rows(
    scores: Sequence[NDArray[np.float64]],
    clusters: Sequence[NDArray[np.int64]],
    models: Sequence[str],
    samples: Sequence[str],
    *,
    draws: bool,
) -> list[dict[str, Any]]:
    """One row a score, by model and sample."""
    rows = []
    for model, column, cluster in zip(models, scores, clusters, strict=True):
        first = np.searchsorted(cluster, cluster)
        numbered = (np.arange(len(cluster)) - first + 1).tolist()
        for score, sample, draw in zip(column.tolist(), cluster.tolist(), numbered, strict=True):
            row = {"model": model, "sample": samples[sample], "metric": "portfolio", "score": score}
            rows.append(row | {"draw": draw} if draws else row)
    return rows


def score_view(rows: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> list[Section]:
    """The first rows, and how to get all of them."""
    columns = tuple(Column(name, "right" if name in ("score", "draw") else "left") for name in fields)
    shown = tuple(
        tuple(numbers.score(row[name]) if name == "score" else str(row[name]) for name in fields)
        for row in rows[:_FIRST_ROWS]
    )
    text = (
        f"the first {len(shown)} of {len(rows):,} scores. --output FILE.csv or FILE.parquet writes all, "
        "--format csv prints them, --summary shows a row a model."
    )
    return [Table("Portfolio scores", columns, shown, stub=2), Line(text, "Shown:")]


def summary_rows(summary: Summary, models: Sequence[str]) -> list[dict[str, Any]]:
    """One row a model; quantiles and TVaR by level."""
    labels = [f"{level:g}" for level in summary.levels]
    return [
        {
            "model": model,
            "n": summary.size[i].item(),
            "mean": summary.mean[i].item(),
            "sd": summary.sd[i].item(),
            "quantiles": dict(zip(labels, summary.quantiles[i].tolist(), strict=True)),
            "tvar": dict(zip(labels, summary.tail_values[i].tolist(), strict=True)),
        }
        for i, model in enumerate(models)
    ]


def summary_view(summary: Summary, models: Sequence[str]) -> list[Section]:
    """Models by mean, best first, with quantiles and tails."""
    levels = [f"{level:g}" for level in summary.levels]
    columns = (
        Column("model", "left"),
        Column("n"),
        Column("mean"),
        Column("sd"),
        *(Column(f"Q\n{level}") for level in levels),
        *(Column(f"TVaR\n{level}") for level in levels),
    )
    order = np.argsort(-summary.mean, kind="stable")
    rows = tuple(
        (
            models[i],
            str(summary.size[i]),
            *(numbers.score(value) for value in (summary.mean[i], summary.sd[i])),
            *(numbers.score(value) for value in summary.quantiles[i]),
            *(numbers.score(value) for value in summary.tail_values[i]),
        )
        for i in order
    )
    text = (
        "Q p is the score a share p of the samples does not exceed; TVaR p is the mean of the worst share p. "
        "Larger is better everywhere."
    )
    return [Table("Portfolio by model, best mean first", columns, rows), Line(text, "Reading:")]
