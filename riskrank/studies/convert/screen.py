"""Terminal output of ``convert``: metrics of an export, or scores computed from verdicts."""

import numpy as np

from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.screens import MOST_ROWS, hidden_count_lines, rows_hint
from riskrank.render.view import Column, Line, ModelColumn, RowColumn, Section, build_table
from riskrank.studies.convert.study import ExportDocument, VoteDocument
from riskrank.studies.wording import counted, join_names


def build_sections(document: ExportDocument) -> list[Section]:
    """Return a summary of the converted scores by metric, and a hint on how to write all of them."""
    origin = document.provenance
    columns: list[RowColumn] = [
        (Column("metric", "left"), lambda total: total[0]),
        (Column("better", "left"), lambda total: document.directions.get(total[0], "–")),
        (Column("scores"), lambda total: f"{total[1]:,}"),
        (Column("without score"), lambda total: f"{total[2]:,}"),
    ]
    totals, models = [*document.totals()], join_names(list(origin.models), 6)
    read = f"{counted(len(origin.models), 'model')} ({models}) on {counted(origin.samples, 'sample')}."
    return [
        Line(read, "Read:"),
        build_table("", columns, totals[:MOST_ROWS]),
        *hidden_count_lines(len(totals) - MOST_ROWS, "metric"),
        Line(
            f"{rows_hint(f'all {len(document.rows):,} scores')}; every command can also read the export "
            f"directly with {option('from')}."
        ),
    ]


def votes_sections(document: VoteDocument) -> list[Section]:
    """Return a table of models by mean score, and a line that explains the scores."""
    scores = document.scores
    samples, votes, mean = scores.samples_per_model, scores.votes_per_model, scores.mean
    columns: list[ModelColumn] = [
        (Column("model", "left"), lambda i: scores.models[i]),
        (Column("samples"), lambda i: f"{samples[i]:,}"),
        (Column("verdicts"), lambda i: f"{votes[i]:,}"),
        (Column("mean\nscore"), lambda i: numbers.format_score(mean[i]) if samples[i] else "–"),
    ]
    order = np.argsort(-mean, kind="stable")  # models without a score come last
    table = build_table("Scores from verdicts by model, best mean first", columns, order)
    best = 2 * (len(scores.models) - 1)
    text = (
        f"on each sample, a model scores 2 for each model it beats and −2 for each model that beats it, at "
        f"most {best} in total. {rows_hint(f'all {len(document.rows):,} scores')}."
    )
    return [table, Line(text, "Reading:")]
