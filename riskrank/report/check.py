"""What a score table holds and what is wrong with it, as rows and in words.

The report comes from ``riskrank.scores.inspect``; it is passed in whole, so that this package and
``scores`` stay independent of each other.
"""

from __future__ import annotations

from typing import Any

from riskrank.errors import spell
from riskrank.report import numbers
from riskrank.report.view import Cell, Column, Line, Section, Table

FIELDS = (
    "metric",
    "direction",
    "declared",
    "transform",
    "scale",
    "n",
    "minimum",
    "maximum",
    "mean",
    "distinct",
    "tied_share",
    "missing",
    "outside_bounds",
    "constant",
)


def check_rows(report: Any) -> list[dict[str, Any]]:
    """One row a metric, in the units of the file."""
    return [
        {
            "metric": metric.spec.name,
            "direction": metric.spec.direction,
            "declared": metric.spec.declared,
            "transform": metric.spec.transform,
            "scale": metric.spec.scale,
            **{name: getattr(metric, name) for name in FIELDS[5:]},
        }
        for metric in report.metrics
    ]


def check_meta(report: Any) -> dict[str, Any]:
    """Models, pairing, repeats and problems, for ``meta``."""
    return {
        "table": {
            "rows": report.rows,
            "models": [
                {"model": model.name, "samples": model.samples, "only_here": model.only_here}
                for model in report.models
            ],
            "common_samples": report.common_samples,
            "paired": report.same_samples,
            "fewest_repeats": report.fewest_repeats,
            "most_repeats": report.most_repeats,
            "repeated_cells": report.repeated_cells,
        },
        "problems": [
            {
                "severity": problem.severity,
                "what": spell(problem.what, flags=True),
                "found": spell(problem.found, flags=True) or None,
                "hint": spell(problem.hint, flags=True) or None,
            }
            for problem in report.problems
        ],
    }


def check_view(report: Any) -> list[Section]:
    """What the table holds first, what is wrong with it last."""
    view: list[Section] = [
        Line(_holdings(report), "Table:"),
        Line(_pairing(report), "Samples:"),
        Line(_repeats(report), "Repeats:"),
        _metric_table(report),
    ]
    if not report.same_samples:
        view.append(_model_table(report))
    view += [_problem_line(problem) for problem in report.problems]
    if not report.problems:
        view.append(Line("none: every command can read this table.", "Problems:", "green"))
    return view


def _holdings(report: Any) -> str:
    return (
        f"{report.rows:,} rows, {len(report.models)} models, {report.samples:,} samples, "
        f"{len(report.metrics)} metrics."
    )


def _pairing(report: Any) -> str:
    if report.same_samples:
        return f"all models have the same {report.samples:,} samples (paired)."
    return f"{report.common_samples:,} of {report.samples:,} samples are common to all models."


def _repeats(report: Any) -> str:
    if report.most_repeats <= 1:
        return "one score a model, sample and metric."
    return (
        f"{report.fewest_repeats} to {report.most_repeats} scores a model, sample and metric; "
        f"{report.repeated_cells:,} cells hold several."
    )


def _metric_table(report: Any) -> Table:
    columns = (
        Column("metric", "left"),
        Column("better", "left"),
        Column("n"),
        Column("min"),
        Column("mean"),
        Column("max"),
        Column("distinct"),
        Column("ties"),
        Column("missing"),
    )
    rows = []
    for metric in report.metrics:
        values = (metric.minimum, metric.mean, metric.maximum)
        rows.append(
            (
                metric.spec.name,
                _better(metric.spec),
                f"{metric.n:,}",
                *("–" if value is None else numbers.score(value) for value in values),
                f"{metric.distinct:,}",
                f"{100 * metric.tied_share:.0f} %",
                Cell(f"{metric.missing:,}", "red" if metric.missing else ""),
            )
        )
    return Table("Metrics, in the units of the file", columns, tuple(rows))


def _better(spec: Any) -> str:
    """Direction as it applies to the numbers in the file: a negative logarithm turns it around."""
    lower = (spec.direction == "lower") != (spec.transform == "neg_log")
    return ("lower" if lower else "higher") + ("" if spec.declared else " (assumed)")


def _model_table(report: Any) -> Table:
    rows = tuple((model.name, f"{model.samples:,}", f"{model.only_here:,}") for model in report.models)
    columns = (Column("model", "left"), Column("samples"), Column("no other\nmodel has"))
    return Table("Samples by model", columns, rows)


def _problem_line(problem: Any) -> Line:
    parts = [problem.what]
    parts += [f"found: {problem.found}"] if problem.found else []
    parts += [f"hint: {problem.hint}"] if problem.hint else []
    parts = [spell(part, flags=True) for part in parts]
    label = "Error:" if problem.severity == "error" else "Warning:"
    return Line("\n".join(parts), label, "red" if problem.severity == "error" else "yellow")
