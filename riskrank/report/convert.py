"""Scores made from a judge's verdicts as a long table, and what the judge left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from riskrank.engine.portfolio.judge_verdicts import VerdictScores
from riskrank.report import numbers
from riskrank.report.view import Column, Line, Section, Table

FIELDS = ("model", "sample", "metric", "score")


def verdict_rows(scores: VerdictScores, metric: str) -> list[dict[str, Any]]:
    """One row a model and sample that was judged."""
    columns = zip(scores.models, scores.scores.T.tolist(), (scores.judged > 0).T.tolist(), strict=True)
    return [
        {"model": model, "sample": sample, "metric": metric, "score": score}
        for model, column, judged in columns
        for sample, score, known in zip(scores.samples, column, judged, strict=True)
        if known
    ]


def verdict_counts(scores: VerdictScores, without_verdict: int) -> dict[str, Any]:
    """Counts for ``meta``."""
    return {
        "counts": scores.counts,
        "rows_without_verdict": without_verdict,
        "expected_pairs": scores.expected_pairs,
        "judged_pairs": scores.judged_pairs,
        "missing_pairs": scores.missing_pairs,
        "missing_scores": scores.missing_scores,
        "swapped_pairs": scores.swapped_pairs,
        "contradictory_pairs": scores.contradictory_pairs,
    }


def verdict_summary(scores: VerdictScores) -> str:
    """What was read, in a line."""
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in scores.counts.items())
    return (
        f"read {sum(scores.counts.values()):,} verdicts on {len(scores.models)} models and "
        f"{len(scores.samples):,} samples: {kinds}"
    )


def verdict_warnings(scores: VerdictScores, without_verdict: int) -> list[str]:
    """What is missing or contradictory, each with its consequence."""
    warnings = []
    if without_verdict:
        warnings.append(f"rows without a verdict, left out: {without_verdict:,}")
    if scores.missing_pairs:
        warnings.append(
            f"pairs of models on a sample without a verdict: {scores.missing_pairs:,} of "
            f"{scores.expected_pairs:,}; they count as ties"
        )
    if scores.missing_scores:
        warnings.append(
            f"scores missing, of models not judged on a sample at all: {scores.missing_scores:,} of "
            f"{scores.scores.size:,}; they were left out, so read the result with --missing drop"
        )
    if scores.contradictory_pairs:
        warnings.append(
            f"pairs judged in both orders with two different results: {scores.contradictory_pairs:,} of "
            f"{scores.swapped_pairs:,}; their mean counts"
        )
    return warnings


def verdict_view(scores: VerdictScores, rows: Sequence[Mapping[str, Any]]) -> list[Section]:
    """Models by mean score, and how to get the scores themselves."""
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
        f"--output FILE.csv or FILE.parquet writes all {len(rows):,} scores, --format csv prints them."
    )
    return [table, Line(text, "Reading:")]
