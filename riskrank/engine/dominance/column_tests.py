"""Dominance tests on columns of scores: estimates, rounds of resampling, and verdicts (method §3, §4)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from riskrank.engine.dominance.bootstrap import (
    Bootstrap,
    BootstrapColumn,
    Replicates,
    all_replicates,
    all_resamples,
)
from riskrank.engine.dominance.inference import FIRST_ROUND, RELATIVE, Claim, ColumnClaims, Inference
from riskrank.engine.dominance.influence import violation_influence
from riskrank.engine.dominance.pair_samples import fewest_samples, pair_samples
from riskrank.engine.dominance.ranking import ViolationEstimates
from riskrank.engine.dominance.resampled_tests import BootstrapTest, clt_test, paper_test
from riskrank.engine.dominance.task_mean_tests import add_task_mean_tests
from riskrank.engine.dominance.tests import (
    DominanceTests,
    Pairs,
    collect_advice,
    family_pairs,
    sample_dominance,
)
from riskrank.engine.sampling.design import ClusteredScores, require_testable
from riskrank.engine.sampling.processes import workers_for
from riskrank.engine.types import Booleans, Progress
from riskrank.errors import UsageError, option

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
        """Indices of the two models with the smallest mean second-order ratios, better one first."""
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
