"""Compute the outcomes of one simulated table: false and true wins, rank sets, intervals, hidden risks.

Each seed gives one table. All claims and both orders are tested on it, with default settings. The functions
can be imported by name, so worker processes can run them.
"""

import time

import numpy as np
from calibration_boundaries import boundaries, rejections

from riskrank.engine.dominance.column_ranking import rank_column
from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.effect_sizes import mean_differences
from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.dominance.ranking import rank_sets
from riskrank.engine.family import Family

CLAIMS = (Claim(1), Claim(2), Claim(1, "direct"), Claim(2, "direct"))
CLAIM_NAMES = ("relative, order 1", "relative, order 2", "direct, order 1", "direct, order 2")

# Columns of an outcome: false wins and true wins of the four claims, then one number each.
FALSE, DETECTED = slice(0, 4), slice(4, 8)
SETS_FIRST, SETS_SECOND, HIDDEN, COVERED, SECONDS, RESAMPLES = range(8, 14)


def table_task(case, seeds):
    """Return the outcomes of the tables of a case, shape (len(seeds), 14)."""
    return [_outcome(case, seed) for seed in seeds]


def _outcome(case, seed: int) -> list[float]:
    stream, entropy = case.seed(seed).spawn(2)
    scores = case.draw(np.random.default_rng(stream))
    start = time.process_time()
    inference = Inference(seed=int(entropy.generate_state(1)[0]))
    study = rank_column(scores, study_dominance(scores, CLAIMS, inference), inference)
    seconds = time.process_time() - start
    false, detected, sets_hold = [], [], []
    for claim, tests in zip(CLAIMS, study.dominance.tests, strict=True):
        truth = case.better(claim.order)
        false.append(int(np.sum(tests.dominates & ~truth)))
        detected.append(int(np.sum(tests.dominates & truth)))
        if claim.kind == "relative":
            sets_hold.append(_rank_sets_hold(tests.dominates, truth))
    # Fixed models, because the leader would depend on the data.
    difference = mean_differences(scores.select_models([0, case.k - 1]), inference)
    true = case.strength[0] - case.strength[-1]
    covered = difference.low[0, 1] <= true <= difference.high[0, 1]
    hidden = np.any(study.hidden_risks.status == RISK)
    return [
        *false,
        *detected,
        *sets_hold,
        int(hidden),
        int(covered),
        round(seconds, 4),
        study.dominance.resamples,
    ]


def _rank_sets_hold(beats, better) -> int:
    """Return whether every rank set contains all possible ranks of its model; ties have any order."""
    sets = rank_sets(beats)
    first, last = 1 + better.sum(axis=0), len(better) - better.sum(axis=1)
    return int(np.all(sets.low <= first) and np.all(sets.high >= last))


def disaster_task(case, seeds):
    """Return whether the first of two equally good models is significantly better."""
    outcomes = []
    for seed in seeds:
        stream, entropy = np.random.SeedSequence([seed, *case.key.encode()]).spawn(2)
        scores = case.draw(np.random.default_rng(stream))
        inference = Inference(
            seed=int(entropy.generate_state(1)[0]), family=Family(correction="none", sides=1)
        )
        claim = Claim(case.order, "direct")
        tests = study_dominance(scores, (claim,), inference, pairs=[(0, 1)]).tests[0]
        outcomes.append([int(tests.dominates[0, 1])])
    return outcomes


def boundary_task(case, seeds):
    """Return whether a claim at its boundary is rejected: bootstrap and asymptotic, one row per table."""
    name, n = case
    boundary = next(candidate for candidate in boundaries(n) if candidate.name == name)
    return [
        rejections(boundary, seed, resamples=1000)[:, :, 0].ravel().astype(int).tolist() for seed in seeds
    ]
