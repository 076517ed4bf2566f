"""Compare the verdicts of other packages and textbook tests on the same simulated tables.

Each rival is called as its documentation shows, with its defaults and its own correction for several pairs,
or Holm's if it has none. It returns whether "i is better than j" at a family-wise level of 0.05. Tests of
means and tests of dominance answer different questions, but both must find nothing for identical models.
"""

import importlib.util
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from calibration_cases import Case, same

from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.inference import Claim, Inference
from riskrank.engine.family import adjust
from riskrank.engine.sampling.design import ClusteredScores

ALPHA = 0.05


def _by_p_values(values, p_value, correct) -> np.ndarray:
    """Return verdicts of two-sided tests of all pairs: the better model wins if its test is significant."""
    k = len(values)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    raw = np.nan_to_num([p_value(values[i], values[j]) for i, j in pairs], nan=1.0)
    corrected = np.asarray(correct(raw))
    means = values.mean(axis=1)
    beats = np.zeros((k, k), dtype=bool)
    for (i, j), p in zip(pairs, corrected, strict=True):
        beats[i, j], beats[j, i] = (p <= ALPHA and means[i] > means[j]), (p <= ALPHA and means[j] > means[i])
    return beats


def _holm(p_values):
    return adjust(np.asarray(p_values), "holm")


def riskrank(order, values, seed):
    study = study_dominance(ClusteredScores.build(list(values)), (Claim(order),), Inference(seed=seed))
    return study.tests[0].dominates


def paired_t(values, seed):
    from scipy.stats import ttest_rel

    return _by_p_values(values, lambda a, b: ttest_rel(a, b).pvalue, _holm)


def wilcoxon(values, seed):
    from scipy.stats import wilcoxon as signed_rank

    def p_value(a, b):
        return signed_rank(a, b).pvalue if np.any(a != b) else 1.0

    return _by_p_values(values, p_value, _holm)


def evalsig(values, seed):
    import evalsig as package

    def run(scores, name):
        items = [package.ItemResult(str(at), float(score)) for at, score in enumerate(scores)]
        return package.RunFrame(name, name, "task", "score", items)

    def p_value(a, b):
        return package.compare(run(a, "a"), run(b, "b"), rng=seed).p_value

    return _by_p_values(values, p_value, lambda p_values: package.holm(p_values).p_adjusted)


def evalstats(values, seed):
    from evalstats import all_pairwise

    labels = [str(model) for model in range(len(values))]
    comparison = all_pairwise(values, labels, rng=np.random.default_rng(seed))
    beats = np.zeros((len(values),) * 2, dtype=bool)
    for (first, second), result in comparison.results.items():
        i, j = int(first), int(second)
        if result.p_value <= ALPHA:
            beats[i, j], beats[j, i] = result.point_diff > 0, result.point_diff < 0
    return beats


def truescore(values, seed):
    import truescore as package

    binary = np.isin(values, (0, 1)).all()

    def p_value(a, b):
        if binary:
            return package.mcnemar(a, b).p_value
        return package.paired_permutation(a, b, seed=seed).p_value

    return _by_p_values(values, p_value, package.holm)


def evalci(values, seed):
    import evalci as package
    import pandas

    k, n = values.shape
    frame = pandas.DataFrame(
        {
            "model": np.repeat([str(model) for model in range(k)], n),
            "item_id": np.tile(np.arange(n), k),
            "score": values.ravel(),
        }
    )
    comparisons = package.multi_compare(frame, random_state=seed)
    beats = np.zeros((k, k), dtype=bool)
    for row in comparisons.itertuples():
        if row.p_adj <= ALPHA:
            i, j = int(row.model_a), int(row.model_b)
            beats[i, j], beats[j, i] = row.delta > 0, row.delta < 0
    return beats


def deepsig(values, seed):
    from deepsig import multi_aso

    ratios = multi_aso([list(model) for model in values], show_progress=False, seed=seed)
    return (np.asarray(ratios) < 0.2) & ~np.eye(len(values), dtype=bool)


@dataclass(frozen=True)
class Rival:
    """Competing test, the package it needs, and its largest numbers of tables and models (None: no limit)."""

    name: str
    beats: Callable[[np.ndarray, int], np.ndarray]
    package: str
    tables: int | None = None
    most_models: int | None = None

    def answers(self, case: Case) -> bool:
        return self.most_models is None or case.k <= self.most_models

    @property
    def installed(self) -> bool:
        return importlib.util.find_spec(self.package) is not None


RIVALS = (
    Rival("riskrank, relative, order 1", partial(riskrank, 1), "riskrank"),
    Rival("riskrank, relative, order 2", partial(riskrank, 2), "riskrank"),
    Rival("paired t, Holm", paired_t, "scipy"),
    Rival("Wilcoxon signed rank, Holm", wilcoxon, "scipy"),
    Rival("evalsig, compare, Holm", evalsig, "evalsig"),
    Rival("evalstats, all_pairwise", evalstats, "evalstats", 40),
    Rival("truescore, paired permutation or McNemar, Holm", truescore, "truescore", 20),
    Rival("evalci, multi_compare", evalci, "evalci", 100),
    # Six seconds per pair. The threshold is recommended by its documentation.
    Rival("deepsig, multi_aso, ε_min < .2", deepsig, "deepsig", 20, most_models=2),
)
CASES = (
    same("normal", 2, 20),
    Case("normal", (0.8, 0.0), 20),
    same("normal", 5, 10),
    same("lognormal, σ = 2", 5, 50),
    same("normal", 5, 50, 0.9),
    same("0/1, 75 % ones", 5, 50),
    Case("0/1, 60 % ones", (0.15, 0.15, 0.0, 0.0), 200),
    Case("normal", (0.3, 0.3, 0.0, 0.0), 100, 0.7),
    Case("normal", (0.0,) * 4, 100, spread=(1.0, 1.0, 2.0, 2.0)),
)


def rival_task(task, seeds):
    """Return false wins, true wins, seconds and failures of a rival, one row per table."""
    name, case = task
    rival = next(rival for rival in RIVALS if rival.name == name)
    order = 2 if case.spread is not None else 1
    truth = case.better(order)
    outcomes = []
    for seed in seeds:
        stream, entropy = case.seed(seed).spawn(2)
        values = np.stack(case.draw(np.random.default_rng(stream)).values)
        start = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                beats = rival.beats(values, int(entropy.generate_state(1)[0] % 2**31))
        except Exception:  # any exception of another package counts as no answer
            outcomes.append([0, 0, round(time.process_time() - start, 4), 1])
            continue
        seconds = time.process_time() - start
        outcomes.append([int(np.sum(beats & ~truth)), int(np.sum(beats & truth)), round(seconds, 4), 0])
    return outcomes
