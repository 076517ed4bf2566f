"""Relabelling tests of generalized stochastic dominance ([GSD] §4.2; method §6).

Under the null hypothesis the labels of two models carry no information, so the observed optimum is
compared with those of relabelled data: by swapping the two labels within samples, or by dealing all
vectors out anew. Relabelling moves the objective of the linear program and nothing else. So any utility
met before bounds every relabelled optimum from above, one matrix product does it for all of them, and
only relabellings whose bound reaches the observed value need a program of their own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import inf
from random import Random
from statistics import median

from riskrank.engine.gsd.null_optima import FIRST, NullOptima, Relabelling, closed_early, relabellings
from riskrank.engine.gsd.parallel import Progress, spread
from riskrank.engine.gsd.preference_system import RESOLUTION, Threshold
from riskrank.engine.gsd.relation import (
    Comparison,
    DominanceRelation,
    Utilities,
    compare,
    relation_of,
    sample_masses,
)
from riskrank.engine.sampling.processes import Jobs


@dataclass(frozen=True)
class RelabellingTest:
    """A test of one ordered pair.

    Attributes
    ----------
    winner, loser : int
        The models: the optimum is that of the winner over the loser.
    optimum : float
        Observed least difference of expected utility.
    p_value : float
        (1 + #{relabelled at least as extreme}) / (N + 1); uncorrected.
    share_smaller : float
        Share of relabellings with a smaller optimum, as [GSD] Table 3 prints it.
    resamples : int
        Number of relabellings N; the observed labelling not counted.
    exact : bool
        Whether every labelling was looked at.
    contamination : tuple of float
        p-values if 0, 1, 2, ... samples may be arbitrary, up to the first above the level asked for;
        empty unless asked for.
    lps_solved : int
        Linear programs this direction needed beyond those of the pair.
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

    def extreme(self, p_value: float) -> int:
        """Relabellings at least as extreme behind a p-value."""
        return round(p_value * (self.resamples + 1)) - 1

    def survives(self, level: float) -> int | None:
        """Largest number of arbitrary samples with which the result holds; None if it never does."""
        held = [m for m, p in enumerate(self.contamination) if p <= level]
        return held[-1] if held else None


@dataclass(frozen=True)
class _Plan:
    """What every task needs."""

    utilities: Utilities
    how: Relabelling
    side: str

    @property
    def level(self) -> float:
        """Level at which a pair is closed, and survives contamination."""
        return self.how.family.level(1)


def relabelling_tests(
    utilities: Utilities,
    pairs: Sequence[tuple[int, int]],
    how: Relabelling = Relabelling(),
    *,
    side: str = "greater",
    jobs: Jobs = 1,
    progress: Progress | None = None,
) -> tuple[RelabellingTest, ...]:
    """Test ordered pairs of models.

    Parameters
    ----------
    utilities, jobs, progress
        As in `dominance_relation`.
    pairs : sequence of (int, int)
        Winner and loser of each test.
    how : Relabelling
        Its pairs are those given; only tests of "greater" are closed early.
    side : {"greater", "less"}
        Whether a large optimum speaks for the winner, or a small one against it (the front's tests).

    Returns
    -------
    tuple of RelabellingTest
        In the order of ``pairs``.

    Raises
    ------
    InputError
        If δ exceeds δ_max.
    NumericalError
        If a program cannot be solved for certain.
    """
    tasks = sorted({(min(pair), max(pair)) for pair in pairs})
    asked = [[pair for pair in pairs if set(pair) == set(task)] for task in tasks]
    plan = _Plan(utilities, how, side)
    tests = [one for tests, _ in spread(_test_pair, plan, asked, jobs, progress) for one in tests]
    found = {(one.winner, one.loser): one for one in tests}
    return tuple(found[pair] for pair in pairs)


def dominance_relation(
    utilities: Utilities,
    how: Relabelling = Relabelling(pairs="none"),
    *,
    jobs: Jobs = 1,
    progress: Progress | None = None,
) -> tuple[DominanceRelation, dict[tuple[int, int], RelabellingTest]]:
    """Find the relation of all models ([GSD] Definition 6), and test those of its ordered pairs asked for.

    Each pair is compared and tested at once, by its first relabellings; these tell what the others will take
    of pairs that they do not close. Pairs come in random order: the first ones tell how long all take.

    Parameters
    ----------
    utilities : Utilities
        By which models are compared.
    how : Relabelling
        How to test, and what; nothing by default.
    jobs : int or Workers
        Number of processes; the result does not depend on it.
    progress : callable, optional
        Called with work done, work in all, and how many linear programs that took.

    Returns
    -------
    DominanceRelation
    dict of (int, int) to RelabellingTest
        By winner and loser, in order.

    Raises
    ------
    InputError
        If δ exceeds δ_max; the message says the δ_max of all pairs.
    NumericalError
        If a program cannot be solved for certain.
    """
    table, threshold = utilities.table, utilities.threshold
    if threshold.delta:
        # A pair without room for δ is found before any test takes its time.
        free = Utilities(table, Threshold(on=threshold.on), utilities.system)
        threshold.resolve(dominance_relation(free, jobs=jobs)[0].delta_max)
    pairs = list(combinations(range(table.models), 2))
    Random(0).shuffle(pairs)
    plan = _Plan(utilities, how, "greater")
    first = replace(plan, how=replace(how, resamples=min(how.resamples, FIRST)))
    tests: dict[tuple[int, int], RelabellingTest] = {}
    compared: dict[tuple[int, int], Comparison] = {}
    further: list[tuple[int, tuple[RelabellingTest, ...]]] = []
    solved = 0
    counted = progress if how.resamples <= FIRST else None
    for (one, own), took in spread(_compare_and_test, first, pairs, jobs, counted):
        compared[pairs[len(compared)]] = one
        tests |= {(test.winner, test.loser): test for test in own}
        solved += took
        if programs := _foreseen(own, plan):
            further.append((programs, own))
        if progress and not counted:
            # What is foreseen of the pairs until here stands for all.
            whole = solved + sum(programs for programs, _ in further)
            progress(solved, whole * len(pairs) // len(compared) + 1, f"{solved:,} LPs")
    # The light half tells the pace; of the others the longest first, so that no process waits for another.
    middle = median(programs for programs, _ in further) if further else 0
    further.sort(key=lambda one: (one[0] > middle, -one[0]))
    asked = [[(test.winner, test.loser) for test in own] for _, own in further]
    for own, _ in spread(_test_pair, plan, asked, jobs, progress, [programs for programs, _ in further]):
        tests |= {(test.winner, test.loser): test for test in own}
    return relation_of(table.models, compared), dict(sorted(tests.items()))


def _foreseen(tests: Sequence[RelabellingTest], plan: _Plan) -> int:
    """Programs that all relabellings of a pair take, unless the first close it: two for each extreme one."""
    how, samples = plan.how, plan.utilities.table.samples
    if not any(how.goes_on(one.extreme(one.p_value), one.resamples, samples) for one in tests):
        return 0
    shares = [one.extreme(max(one.p_value, *one.contamination, 0)) / one.resamples for one in tests]
    return sum(round(2 * share * how.resamples) + 8 for share in shares)


def contamination_shift(arbitrary: int, samples: int) -> float:
    """How far arbitrary samples can move an optimum against its null distribution, 2m / (s - m).

    Parameters
    ----------
    arbitrary : int
        Number m of samples that may be arbitrary, less than s.
    samples : int
        Number s of samples.
    """
    return 2 * arbitrary / (samples - arbitrary)


def _compare_and_test(
    plan: _Plan, pair: tuple[int, int]
) -> tuple[tuple[Comparison, tuple[RelabellingTest, ...]], int]:
    """A pair compared, and the tests its dominance asks for."""
    compared = compare(plan.utilities, pair)
    tested = {"none": inf, "dominant": 0.0, "all": -inf}[plan.how.pairs]
    asked = [one for one, value in zip((pair, pair[::-1]), compared[0], strict=True) if value >= tested]
    tests, programs = _test_pair(plan, asked) if asked else ((), 0)
    return (compared, tests), compared[3] + programs


def _test_pair(plan: _Plan, directions: Sequence[tuple[int, int]]) -> tuple[tuple[RelabellingTest, ...], int]:
    """All tests asked for between two models, on one polytope and one pool of utilities."""
    table = plan.utilities.table
    polytope, _, _ = plan.utilities.polytope(directions[0])
    masses = {model: sample_masses(table, polytope.system, model) for model in directions[0]}
    labels = relabellings(table.samples, plan.how)
    # A list of all of them is in no random order.
    closes = plan.how.closing and plan.side == "greater" and not labels.exact
    closing = plan.level if closes else None
    observed = {
        (winner, loser): polytope.minimise((masses[winner] - masses[loser]).mean(axis=0))
        for winner, loser in sorted(set(directions))
    }
    tests = []
    for (winner, loser), optimum in observed.items():
        before = polytope.lps_solved
        parts = plan.how.parts(masses[winner], masses[loser])
        null, looked_at = closed_early(polytope, labels.signs, parts, optimum.value, closing)
        tests.append(
            RelabellingTest(
                winner=winner,
                loser=loser,
                optimum=optimum.value,
                p_value=_p_value(null, optimum.value, plan.side, looked_at),
                share_smaller=(looked_at - null.at_least(optimum.value)) / (looked_at + labels.exact),
                resamples=looked_at,
                exact=labels.exact,
                contamination=_contaminated(null, optimum.value, plan, looked_at),
                lps_solved=polytope.lps_solved - before + 1,
            )
        )
    return tuple(tests), sum(test.lps_solved for test in tests)


def _p_value(null: NullOptima, value: float, side: str, resamples: int) -> float:
    if side == "greater":
        return (1 + null.at_least(value)) / (resamples + 1)
    # Optima equal to the value, within the resolution, count as extreme on this side too.
    return (1 + resamples - null.at_least(value + 2 * RESOLUTION)) / (resamples + 1)


def _contaminated(null: NullOptima, value: float, plan: _Plan, resamples: int) -> tuple[float, ...]:
    if not plan.how.contamination:
        return ()
    toward, samples = -1.0 if plan.side == "greater" else 1.0, plan.utilities.table.samples
    p_values: list[float] = []
    for arbitrary in range(samples):
        shift = toward * contamination_shift(arbitrary, samples)
        p_values.append(_p_value(null, value + shift, plan.side, resamples))
        if p_values[-1] > plan.level:
            break
    return tuple(p_values)
