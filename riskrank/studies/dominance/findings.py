"""What pairwise dominance finds, the gravest first (method §4, "What a verdict may say")."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.column_ranking import share_better
from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.dominance.inference import ABSOLUTE, DIRECT, Inference
from riskrank.engine.dominance.pair_curves import PairCurves, pair_curves, quantile_difference
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.family import Side
from riskrank.studies.findings import Case, Finding, better_means, other_scope
from riskrank.studies.metric_means import MetricMeans, TailMeans, means_of_two, worst_everywhere
from riskrank.studies.suites import sentences
from riskrank.studies.targets import Target, Units


@dataclass(frozen=True)
class DominanceColumn(Target):
    """One column of scores and its tests.

    Attributes
    ----------
    study : DominanceStudy
    differences : Differences
        Of the means of all pairs, shape (k, k), larger is better.
    units : Units
    tail : TailMeans
    """

    study: DominanceStudy
    differences: Differences
    units: Units
    tail: TailMeans

    @property
    def leading(self) -> DominanceTests:
        """The claim a careful reader asks for: of the highest order, direct where it was tested."""
        return max(self.study.tests, key=lambda tests: (tests.claim.order, tests.claim.kind == DIRECT))

    @property
    def orders(self) -> dict[int, DominanceTests]:
        """The tests of each order that are of the leading kind, the first of several."""
        kind = self.leading.claim.kind
        return {tests.claim.order: tests for tests in reversed(self.study.tests) if tests.claim.kind == kind}

    @property
    def standing(self) -> list[int]:
        """Models by their ratios against all others in the leading order, the best first."""
        ratios = self.study.estimates.ratios[self.leading.claim.order - 1]
        return np.argsort(ratios.sum(axis=1), kind="stable").tolist()

    def pair_curves(self, winner: int, loser: int, inference: Inference) -> PairCurves:
        """Both models' quantile functions, with a band around their difference where there are resamples."""
        scores = self.scores
        ratios = self.study.estimates.ratios[:, winner, loser].tolist()
        weights = scores.weights[winner], scores.weights[loser]
        found = pair_curves(scores.values[winner], scores.values[loser], ratios, weights=weights)
        if not inference.resampled:
            return found
        band = quantile_difference(
            scores, winner, loser, found.levels, level=inference.family.level(1), seed=inference.seed
        )
        assert band.low is not None
        assert band.high is not None
        return replace(found, band=(band.low, band.high))


@dataclass(frozen=True, kw_only=True)
class DominanceCase(Case):
    """What sentences are made from: the tests of every column of scores."""

    tests: dict[str, DominanceColumn]

    def answered(self, side: Side) -> Side | None:
        """An answer, where anything was tested."""
        return side if self.tested else None

    def against(self, column: DominanceColumn, i: int, j: int) -> str:
        """Whose means, and where the difference lies: ``777 against 785 of b (difference −23 to 6)``."""
        mean = self.mean_of(column.name)
        if mean is None:
            return ""
        both, ends = f"{mean.against(i, j)} of {self.models[j]}", self._ends(column, i, j)
        return f"{both} (difference {mean.span(**ends)})" if ends else both

    def means_differ(self, column: DominanceColumn, i: int, j: int) -> bool:
        """Whether the interval told of two means leaves out 0."""
        ends = self._ends(column, i, j)
        return self.mean_of(column.name) is not None and bool(ends) and (ends["low"] > 0 or ends["high"] < 0)

    def _ends(self, column: DominanceColumn, i: int, j: int) -> dict[str, float]:
        known = column.units.label in self.metrics
        return column.units.span(column.differences, (i, j)) if known else {}


def dominance_findings(case: DominanceCase) -> list[Finding]:
    """Who is ahead of whom, in which sense, and what speaks against it.

    Parameters
    ----------
    case : DominanceCase

    Returns
    -------
    list of Finding
        At least one.
    """
    two, columns = len(case.models) == 2, list(case.tests.values())
    found = [*case.same]
    if not found and len(columns) > 1:
        found = [Finding("pair-by-column" if two else "field-by-column", _leaders(case))]
    elif not found:
        found = [*(_of_pair(case, columns[0]) if two else _of_field(case, columns[0]))]
    if case.suite is not None and len(columns) == 1:
        found += _of_tasks(case, columns[0])
    return [*found, *case.beside]


def winner(tests: DominanceTests) -> int | None:
    """Of two models the one that is ahead."""
    return 0 if tests.dominates[0, 1] else 1 if tests.dominates[1, 0] else None


def ahead_of_all(tests: DominanceTests) -> int | None:
    """The model that is ahead of every other, if one is."""
    best = np.flatnonzero(tests.dominates.sum(axis=1) == len(tests.dominates) - 1)
    return int(best[0]) if best.size else None


def behind(mean: MetricMeans, i: int) -> bool:
    """Whether the mean of one of two models is the worse one."""
    return bool(mean.mean[i] > mean.mean[1 - i] if mean.lower else mean.mean[i] < mean.mean[1 - i])


def _leaders(case: DominanceCase) -> tuple[int, ...]:
    """Models that lead on some column: ahead of the other one, or of all."""
    leads = winner if len(case.models) == 2 else ahead_of_all
    found = [leads(column.leading) for column in case.tests.values()]
    return tuple(dict.fromkeys(model for model in found if model is not None))


def _of_tasks(case: DominanceCase, column: DominanceColumn) -> Iterator[Finding]:
    suite, pair = case.of_tasks, (column.standing[0], column.standing[1])
    if sentences.task_sentence(suite, suite.columns[column.name], *pair):
        figures = sentences.task_counts(suite, suite.columns[column.name], *pair)
        yield Finding("by-task", pair, on=column.name, figures=figures)
    yield from other_scope(case, column.name, pair)


def _of_pair(case: DominanceCase, column: DominanceColumn) -> Iterator[Finding]:
    on, first = column.name, (winner(tests) for _, tests in sorted(column.orders.items(), reverse=True))
    leader = next((one for one in first if one is not None), None)
    if leader is None:
        few = any(not tests.decided.all() for tests in column.orders.values())
        yield _open(case, column, "not-decided" if few else "not-separated", (0, 1))
        yield from _means(case, column, 0)
        yield from _tails(case, column, 0, "untested-tail")
        return
    pair = leader, 1 - leader
    against = case.mean_of(on) is None and all(behind(mean, leader) for mean in case.means)
    yield _ahead(case, column, pair, against=against)
    share, tails = share_better(column.scores, 1 - leader, leader) or 0.0, column.study.estimates.tails
    often, milder = share > 0.5, bool(tails[leader] > tails[1 - leader])
    if often:
        kind, figures = "more-often", {"share": share}
        if milder and _told(case, column):
            kind, figures = "more-often-but-milder", figures | column.tail.figures(*pair)
        yield Finding(kind, pair, on=on, figures=figures)
    yield from _means(case, column, leader)
    if case.mean_of(on) is None:
        yield from better_means(case, on, leader)
    if not (often and milder):
        yield from _tails(case, column, leader, "tail")


def _ahead(
    case: DominanceCase, column: DominanceColumn, models: tuple[int, ...], *, against: bool
) -> Finding:
    """Who is ahead; of a combined score that forgets how bad is bad, whether every mean speaks against it."""
    ratio = float(column.leading.ratios[models[0], models[1]])
    figures = {"violation_ratio": ratio, "order": column.leading.claim.order}
    if column.leading.claim.kind == ABSOLUTE:
        figures["threshold"] = column.leading.claim.boundary
    kind, answer = "ahead-against-means" if against else "ahead", case.answered(Side.SHOWN)
    return Finding(kind, models, on=column.name, figures=figures, answer=answer)


def _open(case: DominanceCase, column: DominanceColumn, kind: str, models: tuple[int, ...]) -> Finding:
    """That nobody is ahead, or how many resamples were too few to tell."""
    figures = {"resamples": column.study.resamples or 0} if kind == "not-decided" else {}
    return Finding(kind, models, on=column.name, figures=figures, answer=case.answered(Side.OPEN))


def _told(case: DominanceCase, column: DominanceColumn) -> bool:
    """Whether a worst share says more than the mean does: of shares it does not."""
    mean = case.mean_of(column.name)
    return column.tail.says_something and (mean is None or not mean.share)


def _means(case: DominanceCase, column: DominanceColumn, i: int) -> Iterator[Finding]:
    if (mean := case.mean_of(column.name)) is not None:
        figures = column.units.figures(column.differences, (i, 1 - i)) | means_of_two([mean], i, 1 - i)
        yield Finding("mean", (i, 1 - i), on=column.name, figures=figures)


def _tails(case: DominanceCase, column: DominanceColumn, i: int, kind: str) -> Iterator[Finding]:
    if _told(case, column):
        yield Finding(kind, (i, 1 - i), on=column.name, figures=column.tail.figures(i, 1 - i))


def _of_field(case: DominanceCase, column: DominanceColumn) -> Iterator[Finding]:
    tests, on, best = column.leading, column.name, ahead_of_all(column.leading)
    free = [i for i in column.standing if not tests.dominates[:, i].any()]
    if best is not None:
        others = tuple(i for i in range(len(case.models)) if i != best)
        against = case.mean_of(on) is None and best in worst_everywhere(case.means)
        yield _ahead(case, column, (best, *others), against=against)
        yield from _doubts(case, column, best)
        return
    kind, models = "no-model-ahead-of-all", tuple(free)
    if not tests.dominates.any():
        kind, models = "none-apart" if tests.decided.all() else "not-decided", (*range(len(case.models)),)
    yield _open(case, column, kind, models)
    if free:
        yield from _doubts(case, column, free[0])


def _doubts(case: DominanceCase, column: DominanceColumn, i: int) -> Iterator[Finding]:
    """What the first order and raw means say against a model that the tests favour."""
    above = np.flatnonzero(column.orders.get(1, column.leading).dominates[:, i]).tolist()
    if above:
        answer = case.answered(Side.SHOWN)
        yield Finding("ahead-in-order-1", (i, *above), on=column.name, answer=answer)
    yield from better_means(case, column.name, i)
