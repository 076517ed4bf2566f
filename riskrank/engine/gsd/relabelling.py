"""Relabelling (permutation) tests of generalized stochastic dominance ([GSD] §4.2; method §6).

Under the null hypothesis, the labels of two models are exchangeable. Therefore the observed optimum is
compared with the optima of relabelled data: the two labels are swapped within samples, or all vectors are
permuted. All relabellings are used if there are few of them, otherwise a random sample.

Relabelling changes only the objective of the linear program. Any known utility bounds every relabelled
optimum from above, and one matrix product computes all these bounds. A linear program is solved only for
relabellings whose bound reaches the observed value. :func:`null_optima` solves all of them, to plot the null
distribution.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, combinations, product
from math import comb, inf
from random import Random
from statistics import median
from time import monotonic
from typing import Any

import numpy as np

from riskrank.engine.family import Family
from riskrank.engine.gsd import relation
from riskrank.engine.gsd.preference_system import RESOLUTION, Threshold
from riskrank.engine.sampling.processes import Jobs, run_tasks
from riskrank.engine.special import bdtrc
from riskrank.engine.types import Floats

Progress = Callable[[int, int, str], None]

# Remaining seconds of work above which several processes are worthwhile.
_SECONDS_BEFORE_PARALLEL = 1.0


def run_pairs(
    function: Callable[[Any, Any], tuple[Any, int]],
    plan: Any,
    tasks: Sequence[Any],
    jobs: Jobs,
    progress: Progress | None,
    programs: Sequence[int] = (),
) -> Iterator[tuple[Any, int]]:
    """Apply a function to each task, and yield the results in the order of the tasks.

    The first tasks run in the current process, and their duration is used to estimate the remaining time. If
    that is long, the remaining tasks run in parallel. Each result is yielded together with the number of
    linear programs solved.

    Parameters
    ----------
    function : callable
        Maps the plan and a task to a result and the number of linear programs solved.
    plan : object
        Input shared by all tasks.
    tasks : sequence
        Picklable descriptions of the tasks.
    jobs : int or Workers
        Number of processes, or existing workers.
    progress : callable, optional
        Called with the work done, the total work and a description.
    programs : sequence of int, optional
        Expected number of linear programs per task, used as the unit of progress instead of tasks.
    """
    totals, solved, started = list(accumulate(programs or [1] * len(tasks), initial=0)), 0, monotonic()

    def results() -> Iterator[tuple[Any, int]]:
        """Yield each task's result and number of linear programs, in the order of the tasks."""
        next_task = 0
        # The first tasks show how long the others will take. A given executor is used from the start.
        while next_task < len(tasks) and isinstance(jobs, int):
            done, remaining = totals[next_task], totals[-1] - totals[next_task]
            if next_task and (monotonic() - started) * remaining > _SECONDS_BEFORE_PARALLEL * done:
                break
            yield function(plan, tasks[next_task])
            next_task += 1
        yield from run_tasks(function, plan, tasks[next_task:], jobs=jobs)

    for done, (result, n_programs) in zip(totals[1:], results(), strict=True):
        solved += n_programs
        if progress:
            progress(done, totals[-1], f"{solved:,} LPs")
        yield result, n_programs


# Relabellings that share a random stream.
_BLOCK = 1000


@dataclass(frozen=True, kw_only=True)
class Relabelling:
    """Settings of relabelling (permutation) tests.

    Attributes
    ----------
    pairs : {"dominant", "all", "none"}
        Ordered pairs to test: those with dominance in the sample, all, or none.
    resampling : {"swap", "pooled"}
        Swap the two labels within samples, or permute all vectors of both models.
    resamples : int
        Number of random relabellings; if at most this many exist, all are used.
    stops_early : bool
        Whether the test of a pair stops early for futility (method §4, rule 2). It then stops once it has
        more extreme relabellings than 95 % of the pairs that are just significant at level α.
    seed : int
        Entropy of the random streams.
    family : Family
        Level and correction, for all k(k - 1) ordered pairs whether or not they are tested.
    contamination : bool
        Whether to compute how many contaminated samples each significant result tolerates.
    """

    pairs: str = "dominant"
    resampling: str = "swap"
    resamples: int = 1000
    stops_early: bool = False
    seed: int = 0
    family: Family = Family()
    contamination: bool = False

    def continues_after_first(self, extreme: int, n_evaluated: int, samples: int) -> bool:
        """Return True if a test needs more relabellings after its first batch.

        Parameters
        ----------
        extreme : int
            Number of evaluated relabellings at least as extreme as the observed labelling.
        n_evaluated : int
            Number of relabellings evaluated so far.
        samples : int
            Number of samples, s.
        """
        n_labellings = count_labellings(samples, self.resampling)
        if min(n_labellings, self.resamples) <= FIRST:
            return False
        evaluates_all = n_labellings <= self.resamples or not self.stops_early
        return evaluates_all or not is_futile(extreme, n_evaluated, self.family.interval_level(1))

    def unit_contributions(self, winner: Floats, loser: Floats) -> Floats:
        """Return the contribution of each resampling unit to the difference between two distributions.

        Parameters
        ----------
        winner, loser : ndarray, shape (s, d)
            Distribution of each sample over the d distinct quality vectors.

        Returns
        -------
        ndarray, shape (units, d)
        """
        units = winner - loser if self.resampling == "swap" else np.vstack([winner, loser])
        return units / len(winner)


def count_labellings(samples: int, resampling: str) -> int:
    """Return the number of ways to label the samples of two models, including the observed one.

    `resampling` is "swap" (labels are swapped within samples) or "pooled" (all vectors are permuted).
    """
    return 2**samples if resampling == "swap" else comb(2 * samples, samples)


def draw_relabellings(samples: int, relabelling: Relabelling) -> tuple[Floats, bool]:
    """Draw random relabellings, or enumerate all if there are few.

    Parameters
    ----------
    samples : int
        Number of samples, s.
    relabelling : Relabelling
        Kind and number of relabellings, and the seed.

    Returns
    -------
    signs : ndarray, shape (N, units)
        +1 if a unit is assigned to the first model, -1 if to the second. With swaps, the units are the
        samples. When pooled, they are the first model's samples followed by the second's.
    exact : bool
        True if these are all relabellings, except the observed one.
    """
    swap = relabelling.resampling == "swap"
    if count_labellings(samples, relabelling.resampling) <= relabelling.resamples:
        if swap:
            labellings = np.array(list(product((1.0, -1.0), repeat=samples)))
        else:
            chosen = list(combinations(range(2 * samples), samples))
            labellings = np.full((len(chosen), 2 * samples), -1.0)
            labellings[np.arange(len(chosen))[:, None], chosen] = 1.0
        return labellings[1:], True  # the first is the observed labelling
    starts = range(0, relabelling.resamples, _BLOCK)
    streams = np.random.SeedSequence(relabelling.seed).spawn(len(starts))
    blocks = []
    for start, stream in zip(starts, streams, strict=True):
        rng, count = np.random.default_rng(stream), min(_BLOCK, relabelling.resamples - start)
        if swap:
            blocks.append(rng.choice((1.0, -1.0), size=(count, samples)))
        else:
            blocks.append(rng.permuted(np.tile(np.repeat((1.0, -1.0), samples), (count, 1)), axis=1))
    return np.concatenate(blocks), False


# Interim looks at a test, and the probability below which it stops for futility.
FIRST, _FUTILITY_LEVEL = 1000, 0.05
_LOOKS = (200, FIRST)


def is_futile(extreme: int, n_evaluated: int, level: float) -> bool:
    """Return True if a test can stop because it is unlikely to become significant.

    So many extreme relabellings would be rare if the pair were significant.

    Parameters
    ----------
    extreme : int
        Number of evaluated relabellings at least as extreme as the observed labelling.
    n_evaluated : int
        Number of relabellings evaluated so far.
    level : float
        Significance level α of the test.
    """
    return bool(bdtrc(extreme - 1, n_evaluated, level) < _FUTILITY_LEVEL)


class NullOptima:
    """Optima of relabelled data, computed from successively tightened bounds and linear programs.

    Parameters
    ----------
    polytope : UtilityPolytope
        The feasible utilities, which relabelling does not change.
    signs : ndarray, shape (N, units)
        The relabellings.
    contributions : ndarray, shape (units, d)
        Contribution of each unit to the objective when its sign is +1.
    """

    def __init__(self, polytope: relation.UtilityPolytope, signs: Floats, contributions: Floats) -> None:
        """Bound the optima by the utilities that are already known."""
        self._polytope = polytope
        self._signs = signs
        self._contributions = contributions
        self._upper_bounds = np.full(len(signs), np.inf)
        for utility in polytope.utilities:
            np.minimum(self._upper_bounds, signs @ (contributions @ utility), out=self._upper_bounds)
        self._is_solved = np.zeros(len(signs), dtype=bool)

    def count_at_least(self, value: float) -> int:
        """Return the number of relabellings whose optimum is at least `value`, ties included."""
        needed = value - RESOLUTION
        for b in range(len(self._signs)):
            if self._upper_bounds[b] >= needed and not self._is_solved[b]:
                self._solve(b)
        return int(np.sum(self._upper_bounds >= needed))

    def solve_all(self) -> Floats:
        """Return the exact optimum of every relabelling, shape (N,)."""
        self.count_at_least(-np.inf)
        return self._upper_bounds.copy()

    def _solve(self, b: int) -> None:
        """Solve the linear program of relabelling number `b`, and tighten other bounds by its solution."""
        optimum = self._polytope.minimise(self._signs[b] @ self._contributions)
        expected = self._signs @ (self._contributions @ optimum.utility)
        np.minimum(self._upper_bounds, expected, out=self._upper_bounds, where=~self._is_solved)
        self._upper_bounds[b] = optimum.value
        self._is_solved[b] = True


def solve_until_futile(
    polytope: relation.UtilityPolytope,
    signs: Floats,
    contributions: Floats,
    value: float,
    level: float | None,
) -> tuple[NullOptima, int]:
    """Evaluate relabellings until a significant result has become unlikely, or until all are evaluated.

    Parameters
    ----------
    polytope : UtilityPolytope
        Set of feasible utilities.
    signs : ndarray, shape (N, units)
        The relabellings.
    contributions : ndarray, shape (units, d)
        Contribution of each unit to the objective if its sign is +1.
    value : float
        Observed optimum.
    level : float or None
        Significance level used to judge futility; None to evaluate all relabellings.

    Returns
    -------
    null : NullOptima
    count : int
        Number of relabellings used.
    """
    for count in _LOOKS:
        if level is not None and count < len(signs):
            null = NullOptima(polytope, signs[:count], contributions)
            if is_futile(null.count_at_least(value), count, level):
                return null, count
    return NullOptima(polytope, signs, contributions), len(signs)


def null_optima(utilities: relation.Utilities, winner: int, loser: int, relabelling: Relabelling) -> Floats:
    """Return the null distribution of a pair's test: the optimum of every relabelling.

    Parameters
    ----------
    utilities : Utilities
        Utility functions by which models are compared.
    winner, loser : int
        Models of the ordered pair.
    relabelling : Relabelling
        The same settings as in :func:`riskrank.engine.gsd.relabelling.run_relabelling_tests`.

    Returns
    -------
    ndarray, shape (N,)

    Raises
    ------
    InputError
        If the regularization δ of the utilities exceeds its largest admissible value.
    NumericalError
        If a linear program cannot be solved reliably.
    """
    table = utilities.table
    polytope, _, _ = utilities.polytope((winner, loser))
    masses = [relation.sample_distributions(table, polytope.system, model) for model in (winner, loser)]
    signs, _ = draw_relabellings(table.samples, relabelling)
    return NullOptima(polytope, signs, relabelling.unit_contributions(*masses)).solve_all()


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

    @property
    def is_uncontradicted(self) -> bool:
        """True if no random relabelling is as extreme as the observed labels."""
        return not self.exact and self.p_value * (self.resamples + 1) < 1.5

    def count_extreme(self, p_value: float) -> int:
        """Return the number of extreme relabellings that corresponds to a p-value of this test.

        Extreme relabellings have an optimum at least as extreme as the observed one.
        """
        return round(p_value * (self.resamples + 1)) - 1

    def tolerated_samples(self, level: float) -> int | None:
        """Return the largest number of contaminated samples at which the test is still significant.

        The result is None if the test is not significant without contamination.
        """
        tolerated = [m for m, p in enumerate(self.contamination) if p <= level]
        return tolerated[-1] if tolerated else None


@dataclass(frozen=True)
class _TestPlan:
    """Settings of relabelling tests that are shared by all tasks.

    Attributes
    ----------
    utilities : Utilities
        Utility functions by which models are compared.
    relabelling : Relabelling
        Kind and number of relabellings.
    side : {"greater", "less"}
        "greater" if a large optimum is evidence for dominance; "less" if a small one is evidence against it.
    """

    utilities: relation.Utilities
    relabelling: Relabelling
    side: str

    @property
    def level(self) -> float:
        """Significance level α of a single test, at which futility and contamination are judged."""
        return self.relabelling.family.interval_level(1)


def run_relabelling_tests(
    utilities: relation.Utilities,
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
        The statistic is the optimum of the linear program. With "greater", a large one is evidence that the
        winner dominates; with "less", a small one is evidence that it does not (front tests).

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
    utilities: relation.Utilities,
    relabelling: Relabelling = Relabelling(pairs="none"),
    *,
    jobs: Jobs = 1,
    progress: Progress | None = None,
) -> tuple[relation.DominanceRelation, dict[tuple[int, int], RelabellingTest]]:
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
        unconstrained = relation.Utilities(table, Threshold(slack_on=threshold.slack_on), utilities.system)
        threshold.resolve(dominance_relation(unconstrained, jobs=jobs)[0].delta_max)
    pairs = list(combinations(range(table.models), 2))
    Random(0).shuffle(pairs)
    plan = _TestPlan(utilities, relabelling, "greater")
    first = replace(plan, relabelling=replace(relabelling, resamples=min(relabelling.resamples, FIRST)))
    tests: dict[tuple[int, int], RelabellingTest] = {}
    compared: dict[tuple[int, int], relation.PairComparison] = {}
    unfinished: list[tuple[int, tuple[RelabellingTest, ...]]] = []
    solved = 0
    first_progress = progress if relabelling.resamples <= FIRST else None
    for (comparison, pair_tests), count in run_pairs(_compare_and_test, first, pairs, jobs, first_progress):
        compared[pairs[len(compared)]] = comparison
        tests |= {(test.winner, test.loser): test for test in pair_tests}
        solved += count
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
    return relation.build_relation(table.models, compared), dict(sorted(tests.items()))


def _expected_programs(tests: Sequence[RelabellingTest], plan: _TestPlan) -> int:
    """Predict the number of linear programs that the remaining relabellings of a pair need.

    Each extreme relabelling is expected to need two programs. `tests` holds the results of the pair after its
    first batch, and `plan` the settings of the complete tests.
    """
    relabelling, samples = plan.relabelling, plan.utilities.table.samples
    continues = relabelling.continues_after_first
    if not any(continues(test.count_extreme(test.p_value), test.resamples, samples) for test in tests):
        return 0
    p_values = [max(test.p_value, *test.contamination, 0) for test in tests]
    shares = [test.count_extreme(p) / test.resamples for test, p in zip(tests, p_values, strict=True)]
    return sum(round(2 * share * relabelling.resamples) + 8 for share in shares)


def contamination_shift(arbitrary: int, samples: int) -> float:
    """Return the largest shift of an optimum by contaminated samples, relative to its null distribution.

    With m of s samples contaminated, it is 2m / (s - m).

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
) -> tuple[tuple[relation.PairComparison, tuple[RelabellingTest, ...]], int]:
    """Compare two models in both directions, and test the directions in which one dominates.

    Returns
    -------
    (comparison, tests) : (PairComparison, tuple of RelabellingTest)
    programs : int
        Number of linear programs solved.
    """
    comparison = relation.compare_pair(plan.utilities, pair)
    least_tested = {"none": inf, "dominant": 0.0, "all": -inf}[plan.relabelling.pairs]
    both = zip((pair, pair[::-1]), comparison[0], strict=True)
    directions = [direction for direction, optimum in both if optimum >= least_tested]
    tests, programs = _test_pair(plan, directions) if directions else ((), 0)
    return (comparison, tests), comparison[3] + programs


def _test_pair(
    plan: _TestPlan, directions: Sequence[tuple[int, int]]
) -> tuple[tuple[RelabellingTest, ...], int]:
    """Run the tests of one or both directions of a pair of models, (winner, loser).

    The tests share one polytope and reuse its utilities. Also return the number of linear programs solved.
    """
    table = plan.utilities.table
    polytope, _, _ = plan.utilities.polytope(directions[0])
    masses = {model: relation.sample_distributions(table, polytope.system, model) for model in directions[0]}
    signs, exact = draw_relabellings(table.samples, plan.relabelling)
    # The complete list of relabellings is not in random order, so its start is not a random sample.
    stops_early = plan.relabelling.stops_early and plan.side == "greater" and not exact
    futility_level = plan.level if stops_early else None
    observed = {
        (winner, loser): polytope.minimise((masses[winner] - masses[loser]).mean(axis=0))
        for winner, loser in sorted(set(directions))
    }
    tests = []
    for (winner, loser), optimum in observed.items():
        solved_before = polytope.lps_solved
        contributions = plan.relabelling.unit_contributions(masses[winner], masses[loser])
        null, n_used = solve_until_futile(polytope, signs, contributions, optimum.value, futility_level)
        tests.append(
            RelabellingTest(
                winner=winner,
                loser=loser,
                optimum=optimum.value,
                p_value=_p_value(null, optimum.value, plan.side, n_used),
                share_smaller=(n_used - null.count_at_least(optimum.value)) / (n_used + exact),
                resamples=n_used,
                exact=exact,
                contamination=_contaminated_p_values(null, optimum.value, plan, n_used),
                lps_solved=polytope.lps_solved - solved_before + 1,
            )
        )
    return tuple(tests), sum(test.lps_solved for test in tests)


def _p_value(null: NullOptima, value: float, side: str, resamples: int) -> float:
    """Return the p-value of an observed optimum `value`, given the optima of relabelled data (`null`).

    It is the proportion of optima that are at least (`side` "greater") or at most ("less") the observed one.
    `resamples` is the number of relabellings.
    """
    if side == "greater":
        return (1 + null.count_at_least(value)) / (resamples + 1)
    # Optima equal to the value, within the resolution, count as extreme on this side too.
    return (1 + resamples - null.count_at_least(value + 2 * RESOLUTION)) / (resamples + 1)


def _contaminated_p_values(
    null: NullOptima, value: float, plan: _TestPlan, resamples: int
) -> tuple[float, ...]:
    """Return the p-values if 0, 1, 2, ... samples are contaminated, up to the first one above α.

    `value` is the observed optimum, `null` holds the optima of relabelled data, and `resamples` is their
    number. The result is empty unless the plan requests contamination.
    """
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
