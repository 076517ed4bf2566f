"""Scores made from a judge's votes, in words."""

import numpy as np

from riskrank.engine.portfolio.judge_votes import VoteScores
from riskrank.shown import numbers
from riskrank.shown.screens import all_rows
from riskrank.shown.view import Column, Line, OfModel, Section, by_row
from riskrank.studies.convert.study import VoteDocument


def summary(scores: VoteScores) -> str:
    """What was read, in a line."""
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in scores.counts.items())
    return (
        f"read {sum(scores.counts.values()):,} verdicts on {len(scores.models)} models and "
        f"{len(scores.samples):,} samples: {kinds}"
    )


def view(document: VoteDocument) -> list[Section]:
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
