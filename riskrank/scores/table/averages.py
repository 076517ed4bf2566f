"""Average scores: one value per model and metric, averaged over samples."""

import math
from dataclasses import dataclass

import numpy as np

from riskrank.scores.table.metrics import to_original_units
from riskrank.scores.table.score_table import ScoreTable
from riskrank.scores.table.suite import NO_SUITE, Suite


@dataclass(frozen=True, kw_only=True, eq=False)
class ModelAverages:
    """Average score of each of N models on each of m metrics.

    Attributes
    ----------
    oriented : ndarray of float64, shape (N, m)
        Averages of the transformed scores, oriented so that larger is better. NaN if a score is missing.
    raw : ndarray of float64, shape (N, m)
        The same averages in original units. Within a column, they rank the models in the same or the reverse
        order. For ``neg_log``, they are geometric means.
    larger_is_better : ndarray of bool, shape (m,)
        True if larger values in original units are better.
    expected_scores, missing_scores : int
        Number of expected (model, sample, metric) scores, and number of those that are missing.
    first_missing : tuple of str, or None
        Model, sample and metric of the first missing score. The sample is ``""`` if the table has no
        samples or the model has no score on this metric at all.
    """

    oriented: np.ndarray
    raw: np.ndarray
    larger_is_better: np.ndarray
    expected_scores: int
    missing_scores: int
    first_missing: tuple[str, str, str] | None


def model_averages(table: ScoreTable) -> ModelAverages:
    """Average the scores of every model on every metric; the tasks of a suite are weighted.

    An average over fewer samples than other models have is not comparable. It is therefore NaN if any
    expected score is missing. Metrics may have different samples: a score is expected on every sample for
    which some model has a score on that metric. In an unpaired table, only the model's own samples count.

    Parameters
    ----------
    table : ScoreTable
        Table without repeats. It may contain NaN if it was read with ``missing="keep"``.
    """
    values, sample = np.concatenate(table.values), np.concatenate(table.row_samples)
    model = np.repeat(np.arange(len(table.models)), [len(rows) for rows in table.values])
    present, expected = ~np.isnan(values), expected_scores(table)
    missing = expected & ~present
    oriented = values.copy() if len(values) == len(table.models) else _model_means(table, present)
    incomplete = np.zeros_like(oriented, dtype=bool)
    np.logical_or.at(incomplete, model, missing)
    oriented[incomplete] = np.nan
    first = np.argwhere(missing)[:1]
    logarithm = np.array([spec.transform == "neg_log" for spec in table.metrics])
    higher = np.array([spec.direction == "higher" for spec in table.metrics])
    return ModelAverages(
        oriented=oriented,
        raw=to_original_units(oriented, table.metrics),
        larger_is_better=higher ^ logarithm,
        expected_scores=int(expected.sum()),
        missing_scores=int(missing.sum()),
        first_missing=_locate_score(table, model, sample, present, *first[0]) if len(first) else None,
    )


def expected_scores(table: ScoreTable) -> np.ndarray:
    """Return a mask of the expected scores, with shape (rows of all models, metrics)."""
    present, sample = ~np.isnan(np.concatenate(table.values)), np.concatenate(table.row_samples)
    expected = np.zeros((len(table.samples), present.shape[1]), dtype=bool)
    np.logical_or.at(expected, sample, present)
    expected[:, ~expected.any(axis=0)] = True  # metrics on which no model has scores
    return expected[sample]


def _model_means(table: ScoreTable, present: np.ndarray) -> np.ndarray:
    """Return the mean score of each model on each metric, with shape (models, metrics).

    Sums are exact, so that models with the same scores in different order remain tied.

    Parameters
    ----------
    table : ScoreTable
    present : ndarray of bool, shape (rows of all models, metrics)
        True if a row has a score.
    """
    means = np.full((len(table.models), present.shape[1]), np.nan)
    stops = np.cumsum([len(rows) for rows in table.values])
    suite = table.suite if table.options.weighs_tasks else NO_SUITE
    for i, (rows, mask) in enumerate(zip(table.values, np.split(present, stops[:-1]), strict=True)):
        for k in range(present.shape[1]):
            scores = rows[mask[:, k], k]
            if not scores.size:
                continue
            mean = math.fsum(scores.tolist()) / scores.size
            if suite:
                mean = _macro_mean(scores, suite, suite.of_sample[table.row_samples[i][mask[:, k]]])
            # Rounding must not change a constant that is repeated on every sample, such as a price.
            means[i, k] = min(max(mean, scores.min()), scores.max())
    return means


def _macro_mean(scores: np.ndarray, suite: Suite, tasks: np.ndarray) -> float:
    """Return the weighted mean of the task means, over the tasks with scores."""
    used = np.unique(tasks).tolist()
    parts = [scores[tasks == task].tolist() for task in used]
    weights = [float(suite.weights[task]) for task in used]
    if not any(weights):
        return math.fsum(scores.tolist()) / scores.size
    terms = [weight * math.fsum(part) / len(part) for weight, part in zip(weights, parts, strict=True)]
    return math.fsum(terms) / math.fsum(weights)


def _locate_score(
    table: ScoreTable, model: np.ndarray, sample: np.ndarray, present: np.ndarray, row: int, metric: int
) -> tuple[str, str, str]:
    """Return the model, sample and metric of a missing score.

    The sample is empty if the model has no score at all.
    """
    unscored = not present[model == model[row], metric].any()
    name = "" if unscored else table.samples[sample[row]]
    return table.models[model[row]], name, table.metrics[metric].name
