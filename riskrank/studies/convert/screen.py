"""What was converted, in words: an export metric by metric, the scores made from votes model by model."""

import numpy as np

from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.screens import MOST_ROWS, all_rows, unshown
from riskrank.render.view import Column, Line, OfModel, OfRow, Section, by_row
from riskrank.studies.convert.study import ExportDocument, VoteDocument
from riskrank.studies.wording import counted, names


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


def votes_view(document: VoteDocument) -> list[Section]:
    """Models by mean score, and how to get the scores themselves."""
    scores = document.scores
    samples, votes, mean = scores.judged_samples, scores.votes, scores.mean
    columns: list[OfModel] = [
        (Column("model", "left"), lambda i: scores.models[i]),
        (Column("samples"), lambda i: f"{samples[i]:,}"),
        (Column("verdicts"), lambda i: f"{votes[i]:,}"),
        (Column("mean\nscore"), lambda i: numbers.score(mean[i]) if samples[i] else "–"),
    ]
    order = np.argsort(-mean, kind="stable")  # those without a score last
    table = by_row("Scores from verdicts by model, best mean first", columns, order)
    best = 2 * (len(scores.models) - 1)
    text = (
        f"a sample's score is 2 for each model beaten and −2 for each that was better, {best} at most. "
        f"{all_rows(f'all {len(document.rows):,} scores')}."
    )
    return [table, Line(text, "Reading:")]
