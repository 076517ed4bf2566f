"""Dominance tests on columns of scores: estimates, rounds of resampling, and verdicts (method §3, §4).

Over sampled tasks, macro means are tested in addition to dominance or instead of it (method §8). A model that
is better on similar tasks has a better macro mean. The larger of both p-values is used, so a ranking never
contradicts the macro means. Resampling alone is too liberal with few tasks. With four identical models on
eight tasks of 30 samples and task effects of .3 sd, a false claim was made in .08 of the tables.

With few tasks there are few distinct resamples. The proportion of crossings required for significance can be
smaller than the probability of the rarest resample, or too small to be counted in the last round. Dominance
itself cannot be tested then, so macro means are tested instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from riskrank.engine.dominance.bootstrap import (
    Bootstrap,
    BootstrapColumn,
    Replicates,
    all_replicates,
    all_resamples,
)
from riskrank.engine.dominance.inference import DIRECT, FIRST_ROUND, RELATIVE, Claim, ColumnClaims, Inference
from riskrank.engine.dominance.influence import violation_influence
from riskrank.engine.dominance.pair_samples import fewest_samples, pair_samples
from riskrank.engine.dominance.ranking import ViolationEstimates
from riskrank.engine.dominance.resampled_tests import BootstrapTest, clt_test, paper_test
from riskrank.engine.dominance.tests import (
    COMBINED,
    REPLACED,
    DominanceTests,
    Pairs,
    arrange_tests,
    collect_advice,
    family_pairs,
    sample_dominance,
)
from riskrank.engine.evidence.mean_differences import PairDifferences
from riskrank.engine.sampling.degrees_of_freedom import unexpanded_p_value
from riskrank.engine.sampling.design import ClusteredScores, require_testable
from riskrank.engine.sampling.processes import workers_for
from riskrank.engine.types import Booleans, Floats, Progress
from riskrank.errors import UsageError, option

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


__all__ = ["Inference"]


@dataclass(frozen=True)
class DominanceStudy:
    """Verdicts on all claims about one column of scores.

    Attributes
    ----------
    estimates : ViolationEstimates
        Violation ratios and means in the sample.
    replicates : Replicates or None
        None without resampling.
    tests : tuple of DominanceTests
        One per claim.
    advice : tuple of str
        Warnings about the verdicts.
    """

    estimates: ViolationEstimates
    replicates: Replicates | None
    tests: tuple[DominanceTests, ...]
    advice: tuple[str, ...]

    @property
    def resamples(self) -> int | None:
        """Total number of resamples over all rounds; None without resampling."""
        return None if self.replicates is None else self.replicates.count

    @property
    def leading_pair(self) -> tuple[int, int]:
        """Indices of the two models with the smallest mean violation ratios of order 2, smallest first."""
        ratios = self.estimates.ratios[1]
        i, j = np.argsort(ratios.sum(axis=1), kind="stable")[:2].tolist()
        return (i, j) if ratios[i, j] <= ratios[j, i] else (j, i)


@dataclass(frozen=True)
class TopModel:
    """Top-ranked model on a column of scores.

    Attributes
    ----------
    model : int
        Index of the model.
    order : int or None
        Order of dominance used by the ranking; None for other rankings.
    pair : (int, int)
        The model that texts and figures describe, and the model with which it is compared.
    ahead : ndarray of bool, shape (k, k), or None
        Significant wins in the tests behind the ranking; None without tests.
    """

    model: int
    order: int | None
    pair: tuple[int, int]
    ahead: Booleans | None = field(default=None, compare=False)


def study_dominance(
    scores: ClusteredScores,
    claims: Sequence[Claim],
    inference: Inference,
    *,
    pairs: Pairs | None = None,
    progress: Progress | None = None,
) -> DominanceStudy:
    """Estimate violation ratios, resample the scores, and test the claims.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    claims : sequence of Claim
        Claims of dominance to test.
    inference : Inference
        Test settings.
    pairs : sequence of (int, int), optional
        Ordered pairs (winner, loser) that form the family of each claim; by default all k(k - 1).
    progress : callable, optional
        Called with the number of completed resamples and the number planned so far.

    Returns
    -------
    DominanceStudy

    Raises
    ------
    InputError
        If a test is requested on fewer than 10 samples.
    """
    column = ColumnClaims(scores, tuple(claims), None if pairs is None else tuple(pairs))
    return study_columns([column], inference, progress=progress)[0]


def study_columns(
    columns: Sequence[ColumnClaims], inference: Inference, *, progress: Progress | None = None
) -> list[DominanceStudy]:
    """Estimate, resample and test several columns of scores with one pool of worker processes.

    Parameters
    ----------
    columns : sequence of ColumnClaims
        Scores and claims of each column. All columns use the same random streams. Each column is resampled
        until all its claims are decided.
    inference, progress
        See :func:`study_dominance`.

    Returns
    -------
    list of DominanceStudy
        One per column.

    Raises
    ------
    InputError
        If a test is requested on fewer than 10 samples.
    """
    if inference.test:
        for column in columns:
            require_testable(column.scores, optional=True)
    if inference.uses_resampling:
        return _test_in_rounds(columns, inference, progress)
    studies = []
    for column in columns:
        tests: tuple[DominanceTests, ...]
        advice: tuple[str, ...] = ()
        if inference.test:
            tests = asymptotic_tests(column, inference)
            advice = collect_advice(column.scores, inference, tests)
        else:
            tests = tuple(sample_dominance(column.estimates, claim) for claim in column.claims)
        studies.append(DominanceStudy(column.estimates, None, tests, advice))
    return studies


def _test_in_rounds(
    columns: Sequence[ColumnClaims], inference: Inference, progress: Progress | None
) -> list[DominanceStudy]:
    """Add resamples in rounds until all claims on all columns are decided or no round is left.

    There is one study per column. `progress` is called with the number of completed resamples and the
    number planned so far.
    """
    # The paper's algorithm is not tested in rounds.
    tests = [
        [BootstrapTest(column, claim, inference) for claim in column.claims if not inference.paper_exact]
        for column in columns
    ]
    rounds = [_round_totals(column, inference) for column in columns]
    prepared = [_bootstrap_column(column) for column in columns]
    replicates: dict[int, Replicates] = {}
    limit = inference.work_limit if inference.resamples == "auto" and not inference.paper_exact else 0.0
    for at, bootstrap_column in enumerate(prepared):
        # If there are only a few possible resamples, all are enumerated.
        multisets = all_resamples(bootstrap_column, limit)
        if multisets is not None:
            replicates[at], rounds[at] = all_replicates(bootstrap_column, multisets), ()
            for test in tests[at]:
                test.update(replicates[at], last=True)
    with workers_for(inference.jobs) as workers:
        bootstrap = Bootstrap(prepared, seed=inference.seed, workers=workers, progress=progress)
        for number in range(max(map(len, rounds), default=0)):
            totals = {
                at: totals[number]
                for at, totals in enumerate(rounds)
                if number < len(totals) and (number == 0 or not all(test.all_decided for test in tests[at]))
            }
            if not totals:
                break
            for at, resampled in bootstrap.extend(totals).items():
                replicates[at] = resampled
                for test in tests[at]:
                    test.update(resampled, last=number == len(rounds[at]) - 1)
    studies = []
    for at, column in enumerate(columns):
        estimates, resampled = column.estimates, replicates[at]
        if inference.paper_exact:
            level = inference.family.interval_level(1)
            results = tuple(paper_test(estimates, resampled, claim, level=level) for claim in column.claims)
        else:
            results = tuple(test.result(resampled) for test in tests[at])
            if column.scores.n_random_tasks:
                smallest = resampled.smallest_probability(_round_totals(column, inference)[-1])
                add_means = partial(add_task_mean_tests, inference=inference, smallest=smallest)
                results = tuple(add_means(column, result) for result in results)
        advice = collect_advice(column.scores, inference, results)
        studies.append(DominanceStudy(estimates, resampled, results, advice))
    return studies


def _round_totals(column: ColumnClaims, inference: Inference) -> tuple[int, ...]:
    """Return the cumulative number of resamples after each round of sequential tests of a column.

    There is one round if no claim is tested.
    """
    if not column.claims:
        return (FIRST_ROUND if inference.resamples == "auto" else int(inference.resamples),)
    scores = column.scores
    family = family_pairs(scores.models, column.pairs)
    fewest = fewest_samples(pair_samples(scores)[family])
    return inference.round_totals(len(family[0]), _bootstrap_column(column).comparisons, fewest)


def _bootstrap_column(column: ColumnClaims) -> BootstrapColumn:
    """Combine the scores of a column with the list of bootstrap statistics that its tests need."""
    scores, claims = column.scores, column.claims
    some = column.pairs is not None and all(claim.kind != RELATIVE for claim in claims)
    return BootstrapColumn(
        scores,
        orders=tuple(sorted({claim.order for claim in claims})),
        # The threshold ½ is needed for the head-to-head comparisons with the leader of a ranking.
        thresholds=tuple(sorted({0.5} | {claim.boundary for claim in claims if claim.kind != RELATIVE})),
        # Without claims, no pairs are compared, because win rates do not need them.
        pairs=(column.pairs if some else None) if claims else (),
    )


def asymptotic_tests(column: ColumnClaims, inference: Inference) -> tuple[DominanceTests, ...]:
    """Test the claims on a column with influence functions instead of resampling (method §4, "CLT").

    The result has one test per claim of the column.

    Raises
    ------
    UsageError
        If tasks are sampled.
    """
    scores = column.scores
    if scores.n_random_tasks:
        problem = f"{option('variance', 'clt')} cannot be used to generalise to other tasks"
        detail = f"{scores.n_random_tasks} tasks, too few for the central limit theorem"
        hint = (
            f"leave out {option('variance')}, or limit the claims to these tasks: {option('tasks', 'fixed')}"
        )
        raise UsageError(problem, found=detail, hint=hint)
    orders = {claim.order for claim in column.claims}
    influences = {order: violation_influence(scores, order=order) for order in orders}
    return tuple(
        clt_test(column.estimates, influences[claim.order], claim, inference=inference, pairs=column.pairs)
        for claim in column.claims
    )
