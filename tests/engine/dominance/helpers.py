"""Functions that combine the steps of a dominance test."""

import numpy as np

from riskrank.engine.dominance.bootstrap import Bootstrap, BootstrapColumn
from riskrank.engine.dominance.column_ranking import rank_column
from riskrank.engine.dominance.column_tests import study_columns
from riskrank.engine.dominance.inference import ColumnClaims
from riskrank.engine.dominance.influence import violation_influence
from riskrank.engine.dominance.resampled_tests import BootstrapTest
from riskrank.engine.dominance.violation import violation_matrices
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import workers_for


def violation_matrix(samples, *, order):
    """Return the violation ratios of all ordered pairs of models; scores may be unsorted."""
    return violation_matrices(
        [np.sort(np.asarray(sample, dtype=float)) for sample in samples], orders=(order,)
    )[0]


def violation_ratio(winner, loser, *, order):
    """Return the violation ratio of "winner dominates loser"."""
    return float(violation_matrix([winner, loser], order=order)[0, 1])


def replicate(scores, *, resamples, seed, thresholds=(0.5,), jobs=1, progress=None):
    """Resample one column for all pairs in both orders."""
    column = BootstrapColumn(scores, thresholds=tuple(thresholds))
    with workers_for(jobs) as workers:
        bootstrap = Bootstrap([column], seed=seed, workers=workers, progress=progress)
        (replicates,) = bootstrap.extend({0: resamples}).values()
    return replicates


def bootstrap_test(scores, replicates, claim, inference, *, pairs=None, estimates=None):
    """Run the default test with a fixed number of resamples."""
    column = ColumnClaims(scores, (claim,), pairs)
    if estimates:
        vars(column)["estimates"] = estimates
    test = BootstrapTest(column, claim, inference)
    test.update(replicates, last=True)
    return test.result(replicates)


def study_ranking(scores, claims, inference, *, by_wins=False, progress=None):
    """Rank one column of scores by every claim and by mean win rates."""
    (dominance,) = study_columns([ColumnClaims(scores, tuple(claims))], inference, progress=progress)
    return rank_column(scores, dominance, inference, by_wins=by_wins)


def influence_of(samples, *, order, clusters=None, paired=True):
    """Return the influences of unclustered samples."""
    return violation_influence(ClusteredScores.build(samples, clusters, paired=paired), order=order)
