"""Portfolio scores, the first of them, or their summary by model."""

from __future__ import annotations

import numpy as np

from riskrank.errors import option
from riskrank.shown import numbers
from riskrank.shown.all_rows import all_rows, unshown
from riskrank.shown.text_pictures import sparklines
from riskrank.shown.view import MOST_ROWS, Column, Line, Section, Table, asked_for, headed
from riskrank.studies.portfolio.study import PortfolioDocument, PortfolioSummaryDocument, summary_decimals
from riskrank.studies.rounding import rounded
from riskrank.studies.wording import percent

_FIRST_ROWS = 10
# Levels of a quantile function as wide as a sparkline.
_SPARK = np.arange(1, 21) / 20


def view(document: PortfolioDocument | PortfolioSummaryDocument) -> list[Section]:
    """The first rows and how to get all of them, or all models with their quantiles and tails."""
    if isinstance(document, PortfolioSummaryDocument):
        return _summary(document)
    columns = tuple(
        Column(name, "right" if name in ("score", "draw") else "left") for name in document.fields
    )
    shown = tuple(
        tuple(
            numbers.score(row.score) if name == "score" else str(getattr(row, name))
            for name in document.fields
        )
        for row in document.rows[:_FIRST_ROWS]
    )
    text = (
        f"the first {len(shown)} of {len(document.rows):,} scores. {all_rows('all')}, "
        f"{option('summary', True)} shows a row a model."
    )
    return [Table("Portfolio scores", columns, shown, stub=2), Line(text, "Shown:")]


def _summary(document: PortfolioSummaryDocument) -> list[Section]:
    """Models by mean with their worst cases; every quantile for who asks."""
    summary, models = document.found, document.provenance.models
    decimals, shown = summary_decimals(summary), summary.best_mean_first[:MOST_ROWS]
    level = summary.levels[0]
    columns = (
        *headed("model", right=("samples", "mean", f"worst {percent(level)}")),
        Column("from worst to best", "left", only="terminal"),
    )
    lines = sparklines(document.quantiles(_SPARK))
    rows = tuple(
        (
            models[i],
            f"{summary.size[i]:,}",
            rounded(float(summary.mean[i]), decimals),
            rounded(float(summary.tail_values[i, 0]), decimals),
            lines[i],
        )
        for i in shown
    )
    combined = "All metrics of a sample as one score from 0 to 1, larger is better; nothing was tested."
    return [
        Table("", columns, rows),
        *unshown(len(models) - len(shown), "model"),
        Line(combined),
        Line(option("explain", True), "Also:"),
        *asked_for(_quantiles(document)),
    ]


def _quantiles(document: PortfolioSummaryDocument) -> list[Section]:
    """Models by mean, best first, with quantiles and tails."""
    summary, models = document.found, document.provenance.models
    levels = [f"{level:g}" for level in summary.levels]
    heads = [*(f"Q\n{level}" for level in levels), *(f"TVaR\n{level}" for level in levels)]
    rows = tuple(
        (
            models[i],
            str(summary.size[i]),
            *map(
                numbers.score,
                (summary.mean[i], summary.sd[i], *summary.quantiles[i], *summary.tail_values[i]),
            ),
        )
        for i in summary.best_mean_first
    )
    text = (
        "Q p is the score a share p of the samples does not exceed; TVaR p is the mean of the worst share p. "
        "Larger is better everywhere."
    )
    return [
        Table(
            "Portfolio by model, best mean first", headed("model", right=("n", "mean", "sd", *heads)), rows
        ),
        Line(text, "Reading:"),
    ]
