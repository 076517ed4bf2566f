"""A converted export in words: what it holds, metric by metric and model by model."""

from riskrank.errors import option
from riskrank.shown.screens import MOST_ROWS, all_rows, unshown
from riskrank.shown.view import Column, Line, OfRow, Section, by_row
from riskrank.studies.convert.study import ExportDocument
from riskrank.studies.wording import counted, names


def summary(document: ExportDocument) -> str:
    """What was read, in a line."""
    origin = document.provenance
    files = counted(len(origin.inputs), "file")
    on = f"{counted(origin.samples, 'sample')} and {counted(len(origin.metrics), 'metric')}"
    return (
        f"read {len(document.rows):,} scores of {counted(len(origin.models), 'model')} on {on} from {files}"
    )


def view(document: ExportDocument) -> list[Section]:
    """What was read and how to get the scores themselves."""
    origin = document.provenance
    columns: list[OfRow] = [
        (Column("metric", "left"), lambda total: total[0]),
        (Column("better", "left"), lambda total: document.directions.get(total[0], "–")),
        (Column("scores"), lambda total: f"{total[1]:,}"),
        (Column("without score"), lambda total: f"{total[2]:,}"),
    ]
    totals, models = [*document.totals()], names(list(origin.models), 6)
    read = f"{counted(len(origin.models), 'model')} ({models}) on {counted(origin.samples, 'sample')}."
    return [
        Line(read, "Read:"),
        by_row("", columns, totals[:MOST_ROWS]),
        *unshown(len(totals) - MOST_ROWS, "metric"),
        Line(
            f"{all_rows(f'all {len(document.rows):,} scores')}; every command reads the export itself "
            f"with {option('from')}."
        ),
    ]
