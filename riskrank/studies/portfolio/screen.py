"""Portfolio scores, the first of them, or their summary by model."""

from functools import partial

import numpy as np

from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.screens import MOST_ROWS, all_rows, offered, unshown
from riskrank.render.text_charts import sparklines
from riskrank.render.view import Column, Line, OfModel, OfRow, Section, by_row, each
from riskrank.studies.portfolio.study import (
    PortfolioDocument,
    PortfolioRow,
    PortfolioSummaryDocument,
)
from riskrank.studies.wording import percent, rounded

_FIRST_ROWS = 10
# Levels of a quantile function as wide as a sparkline.
_SPARK = np.arange(1, 21) / 20


def view(document: PortfolioDocument | PortfolioSummaryDocument) -> list[Section]:
    """The first rows and how to get all of them, or all models with their quantiles and tails."""
    if isinstance(document, PortfolioSummaryDocument):
        return _summary(document)
    columns: list[OfRow] = [
        (Column(name, "right" if name in ("score", "draw") else "left"), partial(_cell, name))
        for name in document.fields
    ]
    shown = document.rows[:_FIRST_ROWS]
    text = (
        f"the first {len(shown)} of {len(document.rows):,} scores. {all_rows('all')}, "
        f"{option('summary', True)} shows a row a model."
    )
    return [by_row("Portfolio scores", columns, shown, stub=2), Line(text, "Shown:")]


def _cell(name: str, row: PortfolioRow) -> str:
    return numbers.score(row.score) if name == "score" else str(getattr(row, name))


def _summary(document: PortfolioSummaryDocument) -> list[Section]:
    """Models by mean with their worst cases; every quantile for who asks."""
    summary, models = document.found, document.provenance.models
    decimals, shown = document.decimals, summary.best_mean_first[:MOST_ROWS]
    (level,), worst = document.worst.levels, document.worst.tail_values[:, 0]
    lines = sparklines(document.quantiles(_SPARK))
    columns: list[OfModel] = [
        (Column("model", "left"), lambda i: models[i]),
        (Column("samples"), lambda i: f"{summary.size[i]:,}"),
        (Column("mean"), lambda i: rounded(float(summary.mean[i]), decimals)),
        (Column(f"worst {percent(level)}"), lambda i: rounded(float(worst[i]), decimals)),
        (Column("from worst to best", "left", only="terminal"), lambda i: lines[i]),
    ]
    combined = "All metrics of a sample as one score from 0 to 1, larger is better; nothing was tested."
    return [
        by_row("", columns, shown),
        *unshown(len(models) - len(shown), "model"),
        Line(combined),
        *offered(_quantiles(document)),
    ]


def _quantiles(document: PortfolioSummaryDocument) -> list[Section]:
    """Models by mean, best first, with quantiles and tails."""
    summary, models = document.found, document.provenance.models
    columns: list[OfModel | None] = [
        (Column("model", "left"), lambda i: models[i]),
        (Column("n"), lambda i: str(summary.size[i])),
        (Column("mean"), lambda i: numbers.score(summary.mean[i])),
        (Column("sd"), lambda i: numbers.score(summary.sd[i])),
    ]
    for name, values in (("Q", summary.quantiles), ("TVaR", summary.tail_values)):
        heads = (f"{name}\n{level:g}" for level in summary.levels)
        columns += (each(head, of, numbers.score) for head, of in zip(heads, values.T, strict=True))
    text = (
        "Q p is the score a share p of the samples does not exceed; TVaR p is the mean of the worst share p. "
        "Larger is better everywhere."
    )
    return [
        by_row("Portfolio by model, best mean first", columns, summary.best_mean_first),
        Line(text, "Reading:"),
    ]
