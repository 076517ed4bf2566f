"""A converted export in words: what it holds, metric by metric and model by model."""

from __future__ import annotations

from riskrank.errors import option
from riskrank.shown import numbers
from riskrank.shown.all_rows import all_rows
from riskrank.shown.view import Column, Line, Section, Table
from riskrank.studies.convert import ExportDocument


def summary(document: ExportDocument) -> str:
    """What was read, in a line."""
    origin = document.provenance
    return (
        f"read {len(document.rows):,} scores of {len(origin.models)} model{_s(len(origin.models))} on "
        f"{origin.samples:,} sample{_s(origin.samples)} and {len(origin.metrics)} "
        f"metric{_s(len(origin.metrics))} from {len(origin.inputs):,} file{_s(len(origin.inputs))}"
    )


def view(document: ExportDocument) -> list[Section]:
    """Means by metric and model, and how to get the scores themselves."""
    table = Table(
        "Scores of the export by metric and model",
        (
            Column("metric", "left"),
            Column("model", "left"),
            Column("better", "left"),
            Column("samples"),
            Column("rows"),
            Column("without\nscore", name="without score"),
            Column("mean\nof rows", name="mean of rows"),
        ),
        tuple(
            (
                row.metric,
                row.model,
                document.directions.get(row.metric, "–"),
                f"{row.samples:,}",
                f"{row.rows:,}",
                f"{row.missing:,}",
                "–" if row.mean is None else numbers.score(row.mean),
            )
            for row in document.means()
        ),
        stub=2,
    )
    text = (
        f"{all_rows(f'all {len(document.rows):,} scores')}; every command reads the export itself "
        f"with {option('from')}."
    )
    return [table, Line(text, "Reading:")]


def _s(count: int) -> str:
    return "" if count == 1 else "s"
