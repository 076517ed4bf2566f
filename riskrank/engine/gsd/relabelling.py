"""Relabelling (permutation) tests of generalized stochastic dominance ([GSD] §4.2; method §6).

Under the null hypothesis, the labels of two models are exchangeable. Therefore the observed optimum is
compared with the optima of relabelled data: the two labels are swapped within samples, or all vectors are
permuted. Relabelling changes only the objective of the linear program. Any known utility bounds every
relabelled optimum from above, and one matrix product computes all these bounds. A linear program is solved
only for relabellings whose bound reaches the observed value.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf
from random import Random
from statistics import median

from riskrank.engine.gsd.null_optima import (
    FIRST,
    NullOptima,
    Relabelling,
    draw_relabellings,
    solve_until_futile,
)
from riskrank.engine.gsd.parallel import Progress, run_pairs
from riskrank.engine.gsd.preference_system import RESOLUTION, Threshold
from riskrank.engine.gsd.relation import (
    DominanceRelation,
    PairComparison,
    Utilities,
    build_relation,
    compare_pair,
    sample_distributions,
)
from riskrank.engine.sampling.processes import Jobs


@dataclass(frozen=True)
class RelabellingTest:
    """Test of one ordered pair.

    Attributes
    ----------
    winner, loser : int
        Models of the ordered pair.
    optimum : float
        Observed optimum: smallest difference in expected utility, winner minus loser.
    p_value : float
        Unadjusted p-value, (1 + #{relabellings at least as extreme}) / (N + 1).
    share_smaller : float
        Proportion of relabellings with a smaller optimum, as in [GSD] Table 3.
    resamples : int
        Number of relabellings N, without the observed labelling.
    exact : bool
        Whether all labellings were evaluated.
    contamination : tuple of float
        p-values if 0, 1, 2, ... samples are contaminated arbitrarily, up to the first above the level. Empty
        unless requested.
    lps_solved : int
        Number of linear programs solved for this direction, without those for the pair.
    """

    winner: int
    loser: int
    optimum: float
    p_value: float
    share_smaller: float
    resamples: int
    exact: bool
    contamination: tuple[float, ...]
    lps_solved: int

    def count_extreme(self, p_value: float) -> int:
        """Return the number of relabellings at least as extreme as observed, computed from a p-value."""
        return round(p_value * (self.resamples + 1)) - 1

    def tolerated_samples(self, level: float) -> int | None:
        """Return the largest number of contaminated samples at which the test is significant, or None."""
        tolerated = [m for m, p in enumerate(self.contamination) if p <= level]
        return tolerated[-1] if tolerated else None


@dataclass(frozen=True)
class _TestPlan:
    """Input shared by all tasks."""

    utilities: Utilities
    relabelling: Relabelling
    side: str

    @property
    def level(self) -> float:
        """Significance level at which futility and contamination are judged."""
        return self.relabelling.family.interval_level(1)


def run_relabelling_tests(
    utilities: Utilities,
    pairs: Sequence[tuple[int, int]],
    relabelling: Relabelling = Relabelling(),
    *,
    side: str = "greater",
    jobs: Jobs = 1,
    progress: Progress | None = None,
) -> tuple[RelabellingTest, ...]:
    """Run relabelling tests for ordered pairs of models.

    Parameters
    ----------
    utilities, jobs, progress
        As in `dominance_relation`.
    pairs : sequence of (int, int)
        Winner and loser of each test.
    relabelling : Relabelling
        Settings of the tests; its ``pairs`` is ignored. Only tests of side "greater" stop early.
    side : {"greater", "less"}
        "greater" if a large optimum is evidence for dominance; "less" if a small one is evidence against it
        (front tests).

    Returns
    -------
    tuple of RelabellingTest
        In the order of ``pairs``.

    Raises
    ------
    InputError
        If δ exceeds δ_max.
    NumericalError
        If a linear program cannot be solved reliably.
    """
    tasks = sorted({(min(pair), max(pair)) for pair in pairs})
    directions = [[pair for pair in pairs if set(pair) == set(task)] for task in tasks]
    plan = _TestPlan(utilities, relabelling, side)
    tests = [test for tests, _ in run_pairs(_test_pair, plan, directions, jobs, progress) for test in tests]
    test_of_pair = {(test.winner, test.loser): test for test in tests}
    return tuple(test_of_pair[pair] for pair in pairs)


def dominance_relation(
    utilities: Utilities,
    relabelling: Relabelling = Relabelling(pairs="none"),
    *,
    jobs: Jobs = 1,
    progress: Progress | None = None,
) -> tuple[DominanceRelation, dict[tuple[int, int], RelabellingTest]]:
    """Compute the dominance relation of all models ([GSD] Definition 6), and test ordered pairs.

    Each pair is compared, and tested with a first batch of relabellings. The batch predicts the cost of the
    remaining relabellings, for tests that do not stop early. Pairs are processed in random order, so that the
    first pairs predict the total time.

    Parameters
    ----------
    utilities : Utilities
        The utilities by which models are compared.
    relabelling : Relabelling
        Settings of the tests, and the pairs to test; no tests by default.
    jobs : int or Workers
        Number of processes; the result does not depend on it.
    progress : callable, optional
        Called with the work done, the total work and the number of linear programs solved.

    Returns
    -------
    relation : DominanceRelation
    tests : dict of (int, int) to RelabellingTest
        Tests by winner and loser, in order.

    Raises
    ------
    InputError
        If δ exceeds δ_max; the message gives the δ_max of all pairs.
    NumericalError
        If a linear program cannot be solved reliably.
    """
    table, threshold = utilities.table, utilities.threshold
    if threshold.delta:
        # Detect a pair for which δ is too large before spending time on tests.
        unconstrained = Utilities(table, Threshold(slack_on=threshold.slack_on), utilities.system)
        threshold.resolve(dominance_relation(unconstrained, jobs=jobs)[0].delta_max)
    pairs = list(combinations(range(table.models), 2))
    Random(0).shuffle(pairs)
    plan = _TestPlan(utilities, relabelling, "greater")
    first = replace(plan, relabelling=replace(relabelling, resamples=min(relabelling.resamples, FIRST)))
    tests: dict[tuple[int, int], RelabellingTest] = {}
    compared: dict[tuple[int, int], PairComparison] = {}
    unfinished: list[tuple[int, tuple[RelabellingTest, ...]]] = []
    solved = 0
    first_progress = progress if relabelling.resamples <= FIRST else None
    for (comparison, pair_tests), n_programs in run_pairs(
        _compare_and_test, first, pairs, jobs, first_progress
    ):
        compared[pairs[len(compared)]] = comparison
        tests |= {(test.winner, test.loser): test for test in pair_tests}
        solved += n_programs
        if programs := _expected_programs(pair_tests, plan):
            unfinished.append((programs, pair_tests))
        if progress and not first_progress:
            # Extrapolate from the pairs processed so far.
            projected = solved + sum(programs for programs, _ in unfinished)
            progress(solved, projected * len(pairs) // len(compared) + 1, f"{solved:,} LPs")
    # The shorter half comes first, to estimate the speed. The rest follows, longest first, to balance load.
    middle = median(programs for programs, _ in unfinished) if unfinished else 0
    unfinished.sort(key=lambda comparison: (comparison[0] > middle, -comparison[0]))
    directions = [[(test.winner, test.loser) for test in pair_tests] for _, pair_tests in unfinished]
    for pair_tests, _ in run_pairs(
        _test_pair, plan, directions, jobs, progress, [programs for programs, _ in unfinished]
    ):
        tests |= {(test.winner, test.loser): test for test in pair_tests}
    return build_relation(table.models, compared), dict(sorted(tests.items()))


def _expected_programs(tests: Sequence[RelabellingTest], plan: _TestPlan) -> int:
    """Return the expected number of linear programs for a pair's remaining relabellings.

    Each extreme relabelling is expected to take two programs.
    """
    relabelling, samples = plan.relabelling, plan.utilities.table.samples
    if not any(
        relabelling.continues_after_first(test.count_extreme(test.p_value), test.resamples, samples)
        for test in tests
    ):
        return 0
    shares = [
        test.count_extreme(max(test.p_value, *test.contamination, 0)) / test.resamples for test in tests
    ]
    return sum(round(2 * share * relabelling.resamples) + 8 for share in shares)


def contamination_shift(arbitrary: int, samples: int) -> float:
    """Return 2m / (s - m), the largest shift of an optimum relative to its null distribution.

    Parameters
    ----------
    arbitrary : int
        Number m of arbitrarily contaminated samples, less than s.
    samples : int
        Number s of samples.
    """
    return 2 * arbitrary / (samples - arbitrary)


def _compare_and_test(
    plan: _TestPlan, pair: tuple[int, int]
) -> tuple[tuple[PairComparison, tuple[RelabellingTest, ...]], int]:
    """Compare a pair of models, and run the requested tests for the directions with dominance.

    Returns
    -------
    (comparison, tests) : (PairComparison, tuple of RelabellingTest)
    programs : int
        Number of linear programs solved.
    """
    comparison = compare_pair(plan.utilities, pair)
    least_tested = {"none": inf, "dominant": 0.0, "all": -inf}[plan.relabelling.pairs]
    directions = [
        direction
        for direction, optimum in zip((pair, pair[::-1]), comparison[0], strict=True)
        if optimum >= least_tested
    ]
    tests, programs = _test_pair(plan, directions) if directions else ((), 0)
    return (comparison, tests), comparison[3] + programs


def _test_pair(
    plan: _TestPlan, directions: Sequence[tuple[int, int]]
) -> tuple[tuple[RelabellingTest, ...], int]:
    """Run the tests of the given directions of a pair on one polytope, reusing its utilities."""
    table = plan.utilities.table
    polytope, _, _ = plan.utilities.polytope(directions[0])
    masses = {model: sample_distributions(table, polytope.system, model) for model in directions[0]}
    labels = draw_relabellings(table.samples, plan.relabelling)
    # The complete list of relabellings is not in random order, so its start is not a random sample.
    stops_early = plan.relabelling.stops_early and plan.side == "greater" and not labels.exact
    futility_level = plan.level if stops_early else None
    observed = {
        (winner, loser): polytope.minimise((masses[winner] - masses[loser]).mean(axis=0))
        for winner, loser in sorted(set(directions))
    }
    tests = []
    for (winner, loser), optimum in observed.items():
        solved_before = polytope.lps_solved
        contributions = plan.relabelling.unit_contributions(masses[winner], masses[loser])
        null, n_used = solve_until_futile(
            polytope, labels.signs, contributions, optimum.value, futility_level
        )
        tests.append(
            RelabellingTest(
                winner=winner,
                loser=loser,
                optimum=optimum.value,
                p_value=_p_value(null, optimum.value, plan.side, n_used),
                share_smaller=(n_used - null.count_at_least(optimum.value)) / (n_used + labels.exact),
                resamples=n_used,
                exact=labels.exact,
                contamination=_contaminated_p_values(null, optimum.value, plan, n_used),
                lps_solved=polytope.lps_solved - solved_before + 1,
            )
        )
    return tuple(tests), sum(test.lps_solved for test in tests)


def _p_value(null: NullOptima, value: float, side: str, resamples: int) -> float:
    """Return the p-value of an observed optimum; `side` is "greater" or "less"."""
    if side == "greater":
        return (1 + null.count_at_least(value)) / (resamples + 1)
    # Optima equal to the value, within the resolution, count as extreme on this side too.
    return (1 + resamples - null.count_at_least(value + 2 * RESOLUTION)) / (resamples + 1)


def _contaminated_p_values(
    null: NullOptima, value: float, plan: _TestPlan, resamples: int
) -> tuple[float, ...]:
    """Return the p-values with 0, 1, 2, ... contaminated samples, up to the first above the level."""
    if not plan.relabelling.contamination:
        return ()
    direction, samples = -1.0 if plan.side == "greater" else 1.0, plan.utilities.table.samples
    p_values: list[float] = []
    for arbitrary in range(samples):
        shift = direction * contamination_shift(arbitrary, samples)
        p_values.append(_p_value(null, value + shift, plan.side, resamples))
        if p_values[-1] > plan.level:
            break
    return tuple(p_values)
