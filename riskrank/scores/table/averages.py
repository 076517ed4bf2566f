"""A table of models by metrics: one value each, averaged over the samples."""

import math
from dataclasses import dataclass

import numpy as np

from riskrank.scores.table.metrics import original_units
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.suite import NO_SUITE, Suite


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelAverages:
    """One value per model and metric.

    Attributes
    ----------
    oriented : ndarray of float64, shape (N, m)
        Averages of the transformed scores, larger is better; NaN where a score is missing.
    raw : ndarray of float64, shape (N, m)
        The same in original units, in the same order within a column or the opposite one: for ``neg_log``
        the geometric mean.
    larger_is_better : ndarray of bool, shape (m,)
        Whether larger values in original units are better.
    expected_scores, missing_scores : int
        Number of (model, sample, metric) scores that should be there, and of those that are not.
    first_missing : tuple of str, or None
        Model, sample (``""`` without samples, and where the model lacks the metric on all) and metric of the
        first of them.
    """

    oriented: np.ndarray
    raw: np.ndarray
    larger_is_better: np.ndarray
    expected_scores: int
    missing_scores: int
    first_missing: tuple[str, str, str] | None


def model_averages(table: ScoreTable) -> ModelAverages:
    """Average the scores of every model on every metric, of a suite weighted over its tasks.

    An average over fewer samples than the others have is not comparable with theirs, so it is missing as
    soon as one of its scores is. Metrics may have samples of their own: a score is expected on the samples
    on which some model has one for that metric (for an unpaired table, among the model's own samples).

    Parameters
    ----------
    table : ScoreTable
        Without draws; read with ``missing="keep"`` it may hold NaN.
    """
    values, sample = np.concatenate(table.values), np.concatenate(table.row_samples)
    model = np.repeat(np.arange(len(table.models)), [len(rows) for rows in table.values])
    known, expected = ~np.isnan(values), expected_scores(table)
    gap = expected & ~known
    oriented = values.copy() if len(values) == len(table.models) else _means(table, known)
    lacking = np.zeros_like(oriented, dtype=bool)
    np.logical_or.at(lacking, model, gap)
    oriented[lacking] = np.nan
    first = np.argwhere(gap)[:1]
    logarithm = np.array([spec.transform == "neg_log" for spec in table.metrics])
    upward = np.array([spec.direction == "higher" for spec in table.metrics])
    return ModelAverages(
        oriented=oriented,
        raw=original_units(oriented, table.metrics),
        larger_is_better=upward ^ logarithm,
        expected_scores=int(expected.sum()),
        missing_scores=int(gap.sum()),
        first_missing=_place(table, model, sample, known, *first[0]) if len(first) else None,
    )


def expected_scores(table: ScoreTable) -> np.ndarray:
    """Whether a score should be there, of the rows of all models by metric."""
    known, sample = ~np.isnan(np.concatenate(table.values)), np.concatenate(table.row_samples)
    expected = np.zeros((len(table.samples), known.shape[1]), dtype=bool)
    np.logical_or.at(expected, sample, known)
    expected[:, ~expected.any(axis=0)] = True  # a metric nobody has a score for
    return expected[sample]


def _means(table: ScoreTable, known: np.ndarray) -> np.ndarray:
    """Average with exact sums: models with the same scores in another order stay tied."""
    means = np.full((len(table.models), known.shape[1]), np.nan)
    ends = np.cumsum([len(rows) for rows in table.values])
    suite = table.suite if table.options.weighs_tasks else NO_SUITE
    for i, (rows, has) in enumerate(zip(table.values, np.split(known, ends[:-1]), strict=True)):
        for k in range(known.shape[1]):
            scores = rows[has[:, k], k]
            if not scores.size:
                continue
            mean = math.fsum(scores.tolist()) / scores.size
            if suite:
                mean = _macro_mean(scores, suite, suite.of_sample[table.row_samples[i][has[:, k]]])
            # Rounding must not make another price of one that stands beside every sample.
            means[i, k] = min(max(mean, scores.min()), scores.max())
    return means


def _macro_mean(scores: np.ndarray, suite: Suite, tasks: np.ndarray) -> float:
    """The weighted mean over the tasks that there are scores of."""
    there = np.unique(tasks).tolist()
    parts = [scores[tasks == task].tolist() for task in there]
    weights = [float(suite.weights[task]) for task in there]
    if not any(weights):
        return math.fsum(scores.tolist()) / scores.size
    weighed = [weight * math.fsum(own) / len(own) for weight, own in zip(weights, parts, strict=True)]
    return math.fsum(weighed) / math.fsum(weights)


def _place(
    table: ScoreTable, model: np.ndarray, sample: np.ndarray, known: np.ndarray, row: int, metric: int
) -> tuple[str, str, str]:
    """Model, sample and metric of a missing score; no sample where the model has none on any."""
    nowhere = not known[model == model[row], metric].any()
    name = "" if nowhere else table.samples[sample[row]]
    return table.models[model[row]], name, table.metrics[metric].name
