"""Terminal output of ``portfolio``: the first scores, or a summary by model."""

import numpy as np

from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.screens import MOST_ROWS, follow_up_sections, hidden_count_lines, rows_hint
from riskrank.render.text_charts import sparklines
from riskrank.render.view import Column, Line, ModelColumn, RowColumn, Section, build_table, value_column
from riskrank.studies.portfolio.study import PortfolioDocument, PortfolioSummaryDocument
from riskrank.studies.wording import format_fixed, format_percent

_FIRST_ROWS = 10
# Probabilities of the quantiles in a sparkline.
_SPARK = np.arange(1, 21) / 20


def build_sections(document: PortfolioDocument | PortfolioSummaryDocument) -> list[Section]:
    """Return a table of the first scores with a hint on how to get all, or a summary by model."""
    if isinstance(document, PortfolioSummaryDocument):
        return _summary_sections(document)
    texts = dict.fromkeys(document.fields, str) | {"score": numbers.format_score}
    columns: list[RowColumn] = [
        (
            Column(name, "right" if name in ("score", "draw") else "left"),
            lambda row, name=name: texts[name](getattr(row, name)),  # type: ignore[misc]
        )
        for name in document.fields
    ]
    rows = document.rows[:_FIRST_ROWS]
    text = (
        f"the first {len(rows)} of {len(document.rows):,} scores. {rows_hint('all')}, "
        f"{option('summary', True)} shows one row per model."
    )
    return [build_table("Portfolio scores", columns, rows, stub=2), Line(text, "Shown:")]


def _summary_sections(document: PortfolioSummaryDocument) -> list[Section]:
    """Return a table of means and tail means by model, followed by a table of quantiles as details."""
    summary, models = document.summary, document.provenance.models
    decimals, listed = document.decimals, summary.best_mean_first[:MOST_ROWS]
    (level,), worst = document.worst.levels, document.worst.tail_values[:, 0]
    lines = sparklines(document.quantiles(_SPARK))
    columns: list[ModelColumn] = [
        (Column("model", "left"), lambda i: models[i]),
        (Column("samples"), lambda i: f"{summary.size[i]:,}"),
        (Column("mean"), lambda i: format_fixed(float(summary.mean[i]), decimals)),
        (Column(f"worst {format_percent(level)}"), lambda i: format_fixed(float(worst[i]), decimals)),
        (Column("from worst to best", "left", medium="terminal"), lambda i: lines[i]),
    ]
    combined = "One combined score per sample, from 0 to 1; larger is better. Nothing was tested."
    return [
        build_table("", columns, listed),
        *hidden_count_lines(len(models) - len(listed), "model"),
        Line(combined),
        *follow_up_sections(_quantile_sections(document)),
    ]


def _quantile_sections(document: PortfolioSummaryDocument) -> list[Section]:
    """Return a table of quantiles and tail means by model, best mean first, and an explanation."""
    summary, models = document.summary, document.provenance.models
    columns: list[ModelColumn | None] = [
        (Column("model", "left"), lambda i: models[i]),
        (Column("n"), lambda i: str(summary.size[i])),
        (Column("mean"), lambda i: numbers.format_score(summary.mean[i])),
        (Column("sd"), lambda i: numbers.format_score(summary.sd[i])),
    ]
    for name, values in (("Q", summary.quantiles), ("TVaR", summary.tail_values)):
        heads = (f"{name}\n{level:g}" for level in summary.levels)
        for head, column in zip(heads, values.T, strict=True):
            columns.append(value_column(head, column, numbers.format_score))
    text = (
        "Q p: quantile of the scores at level p; TVaR p: mean of the worst share p of the scores. "
        "Larger is always better."
    )
    return [
        build_table("Portfolio by model, best mean first", columns, summary.best_mean_first),
        Line(text, "Reading:"),
    ]
