"""A converted export in words: what it holds, metric by metric and model by model."""

from __future__ import annotations

from riskrank.errors import option
from riskrank.shown import numbers
from riskrank.shown.all_rows import all_rows, unshown
from riskrank.shown.view import MOST_ROWS, Column, Line, OfRow, Section, Table, asked_for, by_row
from riskrank.studies.convert.study import ExportDocument
from riskrank.studies.wording import counted, names


def summary(document: ExportDocument) -> str:
    """What was read, in a line."""
    origin = document.provenance
    return (
        f"read {len(document.rows):,} scores of {len(origin.models)} model{_s(len(origin.models))} on "
        f"{origin.samples:,} sample{_s(origin.samples)} and {len(origin.metrics)} "
        f"metric{_s(len(origin.metrics))} from {len(origin.inputs):,} file{_s(len(origin.inputs))}"
    )


def view(document: ExportDocument) -> list[Section]:
    """What was read and how to get the scores themselves; means by metric and model for who asks."""
    origin = document.provenance
    rows = tuple(
        (name, document.directions.get(name, "–"), f"{count:,}", f"{missing:,}")
        for name, count, missing in document.totals()
    )
    heads = (Column("metric", "left"), Column("better", "left"), Column("scores"), Column("without score"))
    models = names(list(origin.models), 6)
    return [
        Line(
            f"{counted(len(origin.models), 'model')} ({models}) on {counted(origin.samples, 'sample')}.",
            "Read:",
        ),
        Table("", heads, rows[:MOST_ROWS]),
        *unshown(len(rows) - MOST_ROWS, "metric"),
        Line(
            f"{all_rows(f'all {len(document.rows):,} scores')}; every command reads the export itself "
            f"with {option('from')}."
        ),
        Line(option("explain", True), "Also:"),
        *asked_for([_means(document)]),
    ]


def _means(document: ExportDocument) -> Table:
    """Means by metric and model."""
    columns: list[OfRow] = [
        (Column("metric", "left"), lambda row: row["metric"]),
        (Column("model", "left"), lambda row: row["model"]),
        (Column("better", "left"), lambda row: document.directions.get(row["metric"], "–")),
        (Column("samples"), lambda row: f"{row['samples']:,}"),
        (Column("rows"), lambda row: f"{row['rows']:,}"),
        (Column("without\nscore", name="without score"), lambda row: f"{row['missing']:,}"),
        (
            Column("mean\nof rows", name="mean of rows"),
            lambda row: "–" if row["mean"] is None else numbers.score(row["mean"]),
        ),
    ]
    return by_row("Scores of the export by metric and model", columns, document.means())


def _s(count: int) -> str:
    return "" if count == 1 else "s"
