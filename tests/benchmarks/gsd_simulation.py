"""The simulation study of Jansen et al. (2023), section 5: seven simulated classifiers.

For every separation η and number of data sets s, prints the mean F-score of the dominance order found in
the sample and of the significant one, by GSD, GSD-δ, the all-test and the one-test. The paper leaves the
noise open; here it is an option. Significance is at 5 % over all ordered pairs: Bonferroni for the
dominance tests of the pairs dominant in the sample, Nemenyi's own correction for the rank tests.
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np

from riskrank.engine.family import adjust
from riskrank.engine.gsd.quality import quality_table
from riskrank.engine.gsd.rank_tests import criteria_tests
from riskrank.engine.gsd.relabelling import relabelling_tests
from riskrank.engine.gsd.relation import dominance_relation
from riskrank.engine.gsd.threshold import Threshold
from riskrank.engine.sampling.processes import run_tasks

LEVEL = 0.05
DELTAS = {"GSD": 0.0, "GSD-δ": 1e-5}
METHODS = (*DELTAS, "all-test", "one-test")
SAMPLE_METHODS = (*DELTAS, "mean ranks")

# Figure 1: each classifier's expected performance, below that of a parent, in units of η.
STEPS = {
    2: (1, (1, 2)),
    3: (1, (2, 1)),
    4: (2, (0.5, 0.5)),
    5: (2, (0.25, 1)),
    6: (3, (1, 0.25)),
    7: (3, (0.5, 0.5)),
}


def expectations(eta):
    theta = {1: np.ones(2)}
    for child, (parent, step) in STEPS.items():
        theta[child] = theta[parent] - eta * np.array(step)
    return np.array([theta[number] for number in sorted(theta)])


def true_order(theta):
    above = np.all(theta[:, None] >= theta[None], axis=2)
    return above & ~np.eye(len(theta), dtype=bool)


def f_score(found, truth):
    right = np.sum(found & truth)
    wrong = np.sum(found & ~truth) + np.sum(~found & truth)
    return 2 * right / (2 * right + wrong)


def dominance_orders(scores, delta, options, seed):
    """The order of the sample and the significant one."""
    table = quality_table(scores, ordinal=[False, False])
    threshold = Threshold(delta)
    order = dominance_relation(table, threshold=threshold).dominates & ~np.eye(7, dtype=bool)
    pairs = [tuple(pair) for pair in np.argwhere(order).tolist()]
    tests = relabelling_tests(table, pairs, threshold=threshold, resamples=options.resamples, seed=seed)
    p_values = np.ones((7, 7))
    for test in tests:
        p_values[test.winner, test.loser] = test.p_value
    family = ~np.eye(7, dtype=bool)
    significant = np.zeros((7, 7), dtype=bool)
    significant[family] = adjust(p_values[family], "bonferroni") <= LEVEL
    return order, significant


def one_run(options, task):
    """F-scores of the sample orders and of the significant orders."""
    eta, samples, run = task
    theta = expectations(eta)
    truth = true_order(theta)
    rng = np.random.default_rng([options.seed, run, samples])
    scores = theta[:, None] + options.noise * rng.normal(size=(7, samples, 2))
    scores = scores.round(6)
    ranks = criteria_tests(scores)
    orders, significant = zip(
        *(dominance_orders(scores, delta, options, run) for delta in DELTAS.values()), strict=True
    )
    by_ranks = np.all(ranks.mean_rank[:, :, None] < ranks.mean_rank[:, None, :], axis=0)
    in_sample = [f_score(order, truth) for order in (*orders, by_ranks)]
    tested = [f_score(order, truth) for order in (*significant, ranks.all_test(LEVEL), ranks.one_test(LEVEL))]
    return in_sample + tested


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--eta", type=float, nargs="+", default=[0.01, 0.05, 0.1], help="separations")
    parser.add_argument("--samples", type=int, nargs="+", default=[7, 10, 15, 18], help="data sets")
    parser.add_argument("--runs", type=int, default=25, help="runs a scenario")
    parser.add_argument("--noise", type=float, default=0.1, help="standard deviation of a score")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    start = time.perf_counter()
    tasks = list(product(options.eta, options.samples, range(options.runs)))
    scores = np.array(list(run_tasks(one_run, options, tasks, jobs=options.jobs)))
    scores = scores.reshape(len(options.eta), len(options.samples), options.runs, -1).mean(axis=2)
    print(f"mean F-scores of {options.runs} runs, noise {options.noise:g}, B = {options.resamples}")
    heads = "".join(f"{name:>11}" for name in (*SAMPLE_METHODS, *METHODS))
    print(f"{'':12}{'in the sample':>33}{'significant at 5 %':>44}\n{'η':>6}{'s':>6}{heads}")
    for (i, eta), (j, samples) in product(enumerate(options.eta), enumerate(options.samples)):
        print(f"{eta:>6g}{samples:>6}" + "".join(f"{score:>11.3f}" for score in scores[i, j]))
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    import gsd_simulation  # workers import what they run, and a program has no name to import it by

    gsd_simulation.main()
