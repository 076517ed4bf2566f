"""Time generalized stochastic dominance: the UCI study, mixed scales, and building every row instead.

Prints linear programs solved, rows generated, time per program, and the speed-up over the program with
all rows of R1 and R2 where that one can be built at all.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import highspy
import numpy as np

from riskrank.engine.gsd.polytope import UtilityPolytope
from riskrank.engine.gsd.preference_system import preference_system
from riskrank.engine.gsd.quality import quality_table
from riskrank.engine.gsd.relabelling import relabelling_tests
from riskrank.engine.gsd.relation import dominance_relation, sample_masses
from riskrank.engine.gsd.threshold import Threshold

UCI = Path(__file__).parents[2] / "sample_data" / "uci.csv"
MIXED = [False, True, True]
SMALL_DELTA = Threshold(1e-5)


def uci_table():
    with UCI.open(newline="") as file:
        rows = list(csv.DictReader(file))
    models, samples = (sorted({row[key] for row in rows}) for key in ("model", "sample"))
    metrics = ["auc", "acc", "brier"]
    scores = np.empty((len(models), len(samples), 3))
    for row in rows:
        sign = -1 if row["metric"] == "brier" else 1
        cell = models.index(row["model"]), samples.index(row["sample"]), metrics.index(row["metric"])
        scores[cell] = sign * float(row["score"])
    return quality_table(scores, ordinal=[False] * 3, bounds=[[0, 1], [0, 1], [-1, 0]])


def mixed_scores(rng, models, samples, shift):
    """One cardinal criterion of six decimals and two ordinal ones of eleven quantile levels."""
    common = 0.8 * rng.normal(size=(1, samples, 1))
    own = 0.8 * rng.normal(size=(models, samples, 3)) + 0.4 * rng.normal(size=(models, samples, 1))
    latent = common + own - shift * np.arange(models)[:, None, None]
    scores = np.empty_like(latent)
    scores[..., 0] = (1 / (1 + np.exp(-latent[..., 0]))).round(6)
    for j in (1, 2):
        edges = np.quantile(latent[..., j], np.arange(11) / 10)
        scores[..., j] = np.searchsorted(edges, latent[..., j], side="right")
    return scores


def fastest(call, runs):
    seconds, answer = np.inf, None
    for _ in range(runs):
        start = time.perf_counter()
        answer = call()
        seconds = min(seconds, time.perf_counter() - start)
    return seconds, answer


def study(table, resamples, jobs):
    """Both optima of every pair, and tests of the dominant ones."""
    relation = dominance_relation(table, threshold=SMALL_DELTA, jobs=jobs)
    dominant = relation.dominates & ~np.eye(table.models, dtype=bool)
    pairs = [tuple(pair) for pair in np.argwhere(dominant).tolist()]
    tests = relabelling_tests(table, pairs, threshold=SMALL_DELTA, resamples=resamples, jobs=jobs)
    return relation, tests


def print_study(name, table, resamples, promised, options):
    seconds, (relation, tests) = fastest(lambda: study(table, resamples, options.jobs), options.runs)
    solved = relation.lps_solved + sum(test.lps_solved for test in tests)
    asked = len(tests) * resamples
    print(
        f"{name:40}{len(tests):>7}{asked:>10}{solved:>8}{relation.rows_generated:>8}"
        f"{1000 * seconds / solved:>10.1f}{seconds:>9.1f}{promised:>10}"
    )


def bench_studies(options):
    print(f"studies at δ = 1e-5, {options.jobs} processes; LPs include both optima and δ_max of all pairs")
    print(
        f"{'data':40}{'tests':>7}{'resamples':>10}{'LPs':>8}{'rows':>8}{'ms an LP':>10}"
        f"{'seconds':>9}{'promised':>10}"
    )
    uci = uci_table()
    print_study("UCI, 8 models x 16 samples, B = 1,000", uci, 1000, 20, options)
    print_study("UCI, 8 models x 16 samples, B = 10,000", uci, 10_000, 60, options)
    seven = quality_table(mixed_scores(np.random.default_rng(0), 7, 80, 0.25), ordinal=MIXED)
    print_study("mixed, 7 models x 80 samples, B = 1,000", seven, 1000, 240, options)


def bench_pair(options):
    print(
        "\nmixed scales, two models x 80 samples, one process; both directions of three data sets; "
        "the promise is for the direction one would test"
    )
    print(
        f"{'δ':>6}{'vectors':>9}{'covers':>8}{'build s':>9}{'optima s':>9}{'promised':>9}"
        f"{'direction':>11}{'optimum':>10}{'p':>8}{'LPs':>6}{'rows':>7}{'ms an LP':>10}"
        f"{'test s':>8}{'promised':>9}"
    )
    for shift in (0.4, 0.8, 1.2):
        table = quality_table(mixed_scores(np.random.default_rng(1), 2, 80, shift), ordinal=MIXED)
        build, system = fastest(lambda table=table: preference_system(table), options.runs)
        for threshold in (Threshold(), SMALL_DELTA):
            once, relation = fastest(
                lambda table=table, threshold=threshold: dominance_relation(table, threshold=threshold),
                options.runs,
            )
            for pair in ((0, 1), (1, 0)):
                start = time.perf_counter()
                (test,) = relabelling_tests(table, [pair], threshold=threshold)
                seconds = time.perf_counter() - start
                print(
                    f"{threshold.delta:>6.0e}{system.size:>9}"
                    f"{len(system.improvements) + len(system.exchanges):>8}{build:>9.2f}{once:>9.2f}{6:>9}"
                    f"{f'{pair[0] + 1} over {pair[1] + 1}':>11}{test.optimum:>10.4f}{test.p_value:>8.3f}"
                    f"{test.lps_solved:>6}{relation.rows_generated:>7}"
                    f"{1000 * seconds / test.lps_solved:>10.1f}{seconds:>8.1f}{20:>9}"
                )


def all_rows(vectors, ordinal):
    """Every strict pair of R1 and R2 as index rows (x, y, x', y'), R1 with x' = y'."""
    above = np.all(vectors[:, None] >= vectors[None], axis=2) & ~np.eye(len(vectors), dtype=bool)
    better, worse = np.nonzero(above)
    x, y = vectors[better], vectors[worse]
    keys = np.hstack([x[:, ~ordinal] - y[:, ~ordinal], x[:, ordinal], -y[:, ordinal]])
    rows = [np.stack([better, worse, better, better], axis=1)]
    for p, key in enumerate(keys):
        q = np.flatnonzero(np.all(key >= keys, axis=1))
        q = q[q != p]
        rows.append(
            np.stack([np.full(len(q), better[p]), np.full(len(q), worse[p]), better[q], worse[q]], axis=1)
        )
    return np.concatenate(rows)


def solve_all_rows(system, ordinal, objective):
    """Minimum over all rows at δ = 0, built and solved at once, and the number of rows."""
    from scipy.sparse import csr_array

    rows = all_rows(system.vectors, ordinal)
    m, d = len(rows), system.size
    signs = np.tile([1.0, -1.0, -1.0, 1.0], m)
    matrix = csr_array((signs, rows.ravel(), np.arange(m + 1) * 4), shape=(m, d))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    lower, upper = np.zeros(d), np.ones(d)
    upper[0], lower[-1] = 0.0, 1.0
    solver.addVars(d, lower, upper)
    solver.changeColsCost(d, np.arange(d, dtype=np.int32), objective)
    indices, starts = matrix.indices.astype(np.int32), matrix.indptr[:-1].astype(np.int32)
    solver.addRows(m, np.zeros(m), np.full(m, highspy.kHighsInf), matrix.nnz, starts, indices, matrix.data)
    solver.run()
    return solver.getInfo().objective_function_value, m


def solve_by_covers(table, objective_of):
    system = preference_system(table)
    polytope = UtilityPolytope(system)
    return polytope.minimise(objective_of(system)).value, len(system.improvements) + polytope.rows_generated


def bench_all_rows(options):
    print("\none optimum at δ = 0 from scratch, beside the program with every row of R1 and R2")
    print(
        f"{'samples':>8}{'vectors':>9}{'all rows':>11}{'seconds':>9}{'our rows':>10}{'seconds':>9}"
        f"{'speed-up':>10}"
    )
    for samples in options.full:
        scores = mixed_scores(np.random.default_rng(2), 2, samples, 0.5)
        table = quality_table(scores, ordinal=MIXED)

        def objective_of(system, table=table):
            return np.subtract(*(sample_masses(table, system, model).mean(axis=0) for model in (0, 1)))

        ours, (value, rows) = fastest(
            lambda table=table, objective_of=objective_of: solve_by_covers(table, objective_of), options.runs
        )
        system = preference_system(table)
        theirs, (expected, every) = fastest(
            lambda system=system, objective_of=objective_of: solve_all_rows(
                system, np.array(MIXED), objective_of(system)
            ),
            1,
        )
        if abs(value - expected) > 1e-7:
            raise SystemExit(f"optima differ: {value} and {expected}")
        print(
            f"{samples:>8}{system.size:>9}{every:>11}{theirs:>9.2f}{rows:>10}{ours:>9.3f}"
            f"{theirs / ours:>10.0f}",
            flush=True,
        )


def warm_up():
    """Import what the first program would import."""
    dominance_relation(quality_table(mixed_scores(np.random.default_rng(0), 2, 5, 0.5), ordinal=MIXED))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1, help="runs of which the fastest counts")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument(
        "--full", type=int, nargs="*", default=[10, 15, 20, 30], help="samples of the programs with all rows"
    )
    options = parser.parse_args()
    warm_up()
    bench_all_rows(options)
    bench_pair(options)
    bench_studies(options)


if __name__ == "__main__":
    main()
