"""Columns of scores tested: estimates, resamples in rounds, and verdicts on every claim (method §3, §4)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from riskrank.engine.dominance.bootstrap import Bootstrap
from riskrank.engine.dominance.inference import FIRST_ROUND, RELATIVE, Claim, Inference, Question
from riskrank.engine.dominance.influence import influence_of_violation
from riskrank.engine.dominance.rank_guard import behind_pairs, least
from riskrank.engine.dominance.ranking import ViolationEstimates
from riskrank.engine.dominance.replicates import BootstrapColumn, Replicates, enumerable, enumerated
from riskrank.engine.dominance.resampled_tests import BootstrapTest, clt_test, paper_test
from riskrank.engine.dominance.task_mean_tests import tests_of_drawn_tasks
from riskrank.engine.dominance.tests import DominanceTests, Pairs, advice_on, compare, family_of
from riskrank.engine.sampling.design import ClusteredScores, require_testable
from riskrank.engine.types import Booleans
from riskrank.errors import UsageError, option

__all__ = ["Inference"]


@dataclass(frozen=True)
class DominanceStudy:
    """Verdicts of every claim on one column of scores.

    Attributes
    ----------
    estimates : ViolationEstimates
    replicates : Replicates or None
        None where nothing was resampled.
    tests : tuple of DominanceTests
        One a claim.
    advice : tuple of str
        What a reader must know before believing the verdicts.
    """

    estimates: ViolationEstimates
    replicates: Replicates | None
    tests: tuple[DominanceTests, ...]
    advice: tuple[str, ...]

    @property
    def resamples(self) -> int | None:
        """Resamples drawn in all rounds together; None where nothing was resampled."""
        return None if self.replicates is None else self.replicates.count

    @property
    def leading_pair(self) -> tuple[int, int]:
        """The first two models by their mean ratio of the second order, the better of the pair first."""
        ratios = self.estimates.ratios[1]
        i, j = np.argsort(ratios.sum(axis=1), kind="stable")[:2].tolist()
        return (i, j) if ratios[i, j] <= ratios[j, i] else (j, i)


@dataclass(frozen=True)
class First:
    """Who comes first on a column of scores.

    Attributes
    ----------
    model : int
    order : int or None
        Of the dominance that ranks it first; None where something else does.
    pair : (int, int)
        The model that words and pictures speak of, and the one they hold it against.
    ahead : ndarray of bool, shape (k, k), or None
        Who is better than whom by the tests that rank; None where none were made.
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
    progress: Callable[[int, int], None] | None = None,
) -> DominanceStudy:
    """Estimate, resample and test.

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores.
    claims : sequence of Claim
        What to test.
    inference : Inference
        How to test it.
    pairs : sequence of (int, int), optional
        Ordered pairs (winner, loser) that make up the family of each claim; by default all k(k - 1).
    progress : callable, optional
        Called with the number of finished resamples and of those planned so far.

    Returns
    -------
    DominanceStudy

    Raises
    ------
    InputError
        If a test is asked for on fewer than 10 samples.
    """
    question = Question(scores, tuple(claims), None if pairs is None else tuple(pairs))
    return study_columns([question], inference, progress=progress)[0]


def study_columns(
    questions: Sequence[Question],
    inference: Inference,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[DominanceStudy]:
    """Estimate, resample and test several columns of scores, in one pool of processes.

    Parameters
    ----------
    questions : sequence of Question
        A column is resampled, with the same streams as all others, until its own claims are closed.
    inference, progress
        As in :func:`study_dominance`.

    Returns
    -------
    list of DominanceStudy
        One a question.

    Raises
    ------
    InputError
        If a test is asked for on fewer than 10 samples.
    """
    if inference.test:
        for question in questions:
            require_testable(question.scores)
    if inference.resampled:
        return _resampled(questions, inference, progress)
    studies = []
    for question in questions:
        tests: tuple[DominanceTests, ...]
        advice: tuple[str, ...] = ()
        if inference.test:
            tests = asymptotic_tests(question, inference)
            advice = advice_on(question.scores, inference, tests)
        else:
            tests = tuple(compare(question.estimates, claim) for claim in question.claims)
        studies.append(DominanceStudy(question.estimates, None, tests, advice))
    return studies


def _resampled(
    questions: Sequence[Question], inference: Inference, progress: Callable[[int, int], None] | None
) -> list[DominanceStudy]:
    """Round after round, until every claim of every column is closed."""
    # Of the paper's own algorithm nothing is tested round by round.
    tests = [
        [BootstrapTest(question, claim, inference) for claim in question.claims if not inference.paper_exact]
        for question in questions
    ]
    rounds = [_rounds(question, inference) for question in questions]
    columns = [_column(question) for question in questions]
    replicates: dict[int, Replicates] = {}
    limit = inference.work_limit if inference.resamples == "auto" and not inference.paper_exact else 0.0
    for at, column in enumerate(columns):
        # Where there are few enough all are looked at.
        multisets = enumerable(column, limit)
        if multisets is not None:
            replicates[at], rounds[at] = enumerated(column, multisets), ()
            for test in tests[at]:
                test.settle(replicates[at], last=True)
    with Bootstrap(columns, seed=inference.seed, jobs=inference.jobs, progress=progress) as bootstrap:
        for number in range(max(map(len, rounds), default=0)):
            totals = {
                at: totals[number]
                for at, totals in enumerate(rounds)
                if number < len(totals) and (number == 0 or not all(test.closed for test in tests[at]))
            }
            if not totals:
                break
            for at, drawn in bootstrap.extend(totals).items():
                replicates[at] = drawn
                for test in tests[at]:
                    test.settle(drawn, last=number == len(rounds[at]) - 1)
    studies = []
    for at, question in enumerate(questions):
        found = question.estimates
        if inference.paper_exact:
            level = inference.family.level(1)
            results = tuple(
                paper_test(found, replicates[at], claim, level=level) for claim in question.claims
            )
        else:
            results = tuple(test.result(replicates[at]) for test in tests[at])
            if question.scores.drawn_tasks:
                smallest = replicates[at].smallest_share(_rounds(question, inference)[-1])
                drawn_tasks = partial(tests_of_drawn_tasks, inference=inference, smallest=smallest)
                results = tuple(drawn_tasks(question, one) for one in results)
        advice = advice_on(question.scores, inference, results)
        studies.append(DominanceStudy(found, replicates[at], results, advice))
    return studies


def _rounds(question: Question, inference: Inference) -> tuple[int, ...]:
    """Totals of resamples after each round of one column; without claims there is one round."""
    if not question.claims:
        return (FIRST_ROUND if inference.resamples == "auto" else int(inference.resamples),)
    scores = question.scores
    family = family_of(scores.models, question.pairs)
    fewest = least(behind_pairs(scores)[family])
    return inference.rounds(len(family[0]), _column(question).comparisons, fewest)


def _column(question: Question) -> BootstrapColumn:
    """What the tests of a question need of its resamples."""
    scores, claims = question.scores, question.claims
    some = question.pairs is not None and all(claim.kind != RELATIVE for claim in claims)
    return BootstrapColumn(
        scores,
        orders=tuple(sorted({claim.order for claim in claims})),
        # A ranking's leader is held against the others head to head (½), from the same resamples.
        thresholds=tuple(sorted({0.5} | {claim.boundary for claim in claims if claim.kind != RELATIVE})),
        # Win rates alone look at no pair.
        pairs=(question.pairs if some else None) if claims else (),
    )


def asymptotic_tests(question: Question, inference: Inference) -> tuple[DominanceTests, ...]:
    """Test a question's claims from influence functions, without resampling (method §4, "CLT")."""
    scores = question.scores
    if scores.drawn_tasks:
        raise UsageError(
            f"{option('variance', 'clt')} says nothing of tasks like these",
            found=f"{scores.drawn_tasks} tasks, too few for a limit theorem",
            hint=f"leave it out, or speak of these tasks only: {option('tasks', 'fixed')}",
        )
    orders = {claim.order for claim in question.claims}
    influences = {order: influence_of_violation(scores, order=order) for order in orders}
    family, pairs = inference.family, question.pairs
    return tuple(
        clt_test(question.estimates, influences[claim.order], claim, family=family, pairs=pairs)
        for claim in question.claims
    )
