"""Scores made from a judge's verdicts, in words."""

from __future__ import annotations

import numpy as np

from riskrank.engine.portfolio.judge_votes import VoteScores
from riskrank.shown import numbers
from riskrank.shown.all_rows import all_rows
from riskrank.shown.view import Column, Line, Section, Table
from riskrank.studies.convert import VoteDocument


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
    judged = scores.judged > 0
    many = judged.sum(axis=0)
    mean = np.where(judged, scores.scores, 0.0).sum(axis=0) / np.maximum(many, 1)
    order = np.argsort(-np.where(many > 0, mean, -np.inf), kind="stable")
    table = Table(
        "Scores from verdicts by model, best mean first",
        (Column("model", "left"), Column("samples"), Column("verdicts"), Column("mean\nscore")),
        tuple(
            (
                scores.models[i],
                f"{many[i]:,}",
                f"{scores.judged[:, i].sum():,}",
                numbers.score(mean[i]) if many[i] else "–",
            )
            for i in order
        ),
    )
    best = 2 * (len(scores.models) - 1)
    text = (
        f"a sample's score is 2 for each model beaten and -2 for each that was better, {best} at most. "
        f"{all_rows(f'all {len(document.rows):,} scores')}."
    )
    return [table, Line(text, "Reading:")]
