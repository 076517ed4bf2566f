"""Tests of macro means over sampled tasks, in addition to those of dominance or instead of them (method §8).

A model that is better on similar tasks has a better macro mean. The larger of both p-values is used, so a
ranking never contradicts the macro means. Resampling alone is too liberal with few tasks. With four identical
models on eight tasks of 30 samples and task effects of .3 sd, a false claim was made in .08 of the tables.

With few tasks there are few distinct resamples. The proportion of crossings required for significance can be
smaller than the probability of the rarest resample, or too small to be counted in the last round. Dominance
itself cannot be tested then, so macro means are tested instead.
"""

from dataclasses import replace

import numpy as np

from riskrank.engine.dominance.inference import DIRECT, RELATIVE, ColumnClaims, Inference
from riskrank.engine.dominance.pair_samples import fewest_samples, pair_samples
from riskrank.engine.dominance.tests import COMBINED, REPLACED, DominanceTests, arrange_tests, family_pairs
from riskrank.engine.evidence.mean_differences import PairDifferences
from riskrank.engine.sampling.degrees_of_freedom import unexpanded_p_value
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats

# Claims that one model is better; absolute claims allow it to be worse.
_BETTER = (RELATIVE, DIRECT)


def add_task_mean_tests(
    column: ColumnClaims, tests: DominanceTests, inference: Inference, smallest: float
) -> DominanceTests:
    """Require that the models also differ significantly in their means over tasks.

    If dominance cannot become significant with so few tasks, the test of task means replaces that of
    dominance.

    Parameters
    ----------
    column : ColumnClaims
        Column with sampled tasks, and the pairs that form the family.
    tests : DominanceTests
        Tests of the dominance claim.
    inference : Inference
        Test settings. If the number of resamples is fixed, no claim is replaced.
    smallest : float
        Smallest observable probability of resamples.

    Returns
    -------
    DominanceTests
    """
    if tests.claim.kind not in _BETTER:
        return tests
    unattainable = tests.claim.kind == RELATIVE and inference.resamples == "auto"
    unattainable = unattainable and is_unattainable(column.scores, inference, tests.family, smallest)
    return combine_task_means(column, tests, inference, REPLACED if unattainable else COMBINED)


def is_unattainable(scores: ClusteredScores, inference: Inference, family: int, smallest: float) -> bool:
    """Return True if the tasks are too few for any p-value to reach the significance level.

    `family` is the number of tests in the family, and `smallest` the smallest observable probability of
    resamples.
    """
    level = inference.family.interval_level(family)
    return float(unexpanded_p_value(level, fewest_samples(pair_samples(scores)))) < smallest


def combine_task_means(
    column: ColumnClaims, tests: DominanceTests, inference: Inference, mode: str
) -> DominanceTests:
    """Combine the tests of a claim with tests of macro means, or replace them.

    The tests of macro means are those of "i has a larger macro mean than j".

    Parameters
    ----------
    column : ColumnClaims
        Column with sampled tasks, and the pairs that form the family.
    tests : DominanceTests
        Tests of the dominance claim.
    inference : Inference
        Test settings: level, correction, resamples and seed.
    mode : {"alongside", "instead"}
        "alongside" uses the larger of both p-values, "instead" that of the macro means alone.

    Returns
    -------
    DominanceTests
    """
    assert tests.p_value is not None
    scores = column.scores
    selected = family_pairs(scores.models, column.pairs)
    family = inference.claim_family(tests.claim, selected)
    means = PairDifferences.from_scores(scores).p_above()
    p_value = means[selected]
    # A claim that the means alone reject is decided, however few the resamples are.
    decided = ~family.significant(family.adjust_p_values(p_value))
    if mode == COMBINED:
        p_value = np.maximum(p_value, tests.p_value[selected])
    p_adjusted = family.adjust_p_values(p_value)
    error = np.zeros(len(p_value)) if tests.standard_error is None else tests.standard_error[selected]
    result = arrange_tests(
        column.estimates,
        tests.claim,
        selected,
        standard_error=error,
        p_value=p_value,
        p_adjusted=p_adjusted,
        dominates=family.significant(p_adjusted),
    )
    if mode == REPLACED:
        return replace(result, mean_test=mode)
    settled = np.ones_like(tests.decided)
    settled[selected] = tests.decided[selected] | decided
    counts = {name: getattr(tests, name) for name in ("crossings", "resamples", "resamples_needed")}
    if tests.p_low is not None and tests.p_high is not None:
        counts |= {"p_low": np.maximum(tests.p_low, means), "p_high": np.maximum(tests.p_high, means)}
    return replace(result, mean_test=mode, extrapolated=tests.extrapolated, decided=settled, **counts)


def sampled_task_means(scores: ClusteredScores) -> Floats:
    """Return the mean score of each model on each sampled task, shape (k, T)."""
    both = zip(scores.values, scores.clusters, strict=True)
    return np.array([np.bincount(cluster, value) / np.bincount(cluster) for value, cluster in both])
