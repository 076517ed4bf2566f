"""Findings of pairwise dominance, most severe first (method §4, "What a verdict may say")."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.column_ranking import proportion_better
from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.dominance.inference import ABSOLUTE, DIRECT, Inference
from riskrank.engine.dominance.pair_curves import PairCurves, pair_curves, quantile_difference
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.family import Answer
from riskrank.studies.findings import Case, Finding, better_mean_findings, other_scope_findings
from riskrank.studies.metric_means import MetricMeans, TailMeans, pair_figures, worst_everywhere
from riskrank.studies.suites import sentences
from riskrank.studies.targets import Target, Units


@dataclass(frozen=True)
class DominanceColumn(Target):
    """Dominance tests of k models on one score column.

    Attributes
    ----------
    study : DominanceStudy
    differences : Differences
        Differences of means for all pairs, shape (k, k), larger is better.
    units : Units
    tail : TailMeans
    """

    study: DominanceStudy
    differences: Differences
    units: Units
    tail: TailMeans

    @property
    def primary(self) -> DominanceTests:
        """Tests of the highest order, direct ones if available."""
        return max(self.study.tests, key=lambda tests: (tests.claim.order, tests.claim.kind == DIRECT))

    @property
    def by_order(self) -> dict[int, DominanceTests]:
        """Tests of the same kind as the primary ones, by order of dominance."""
        kind = self.primary.claim.kind
        return {tests.claim.order: tests for tests in reversed(self.study.tests) if tests.claim.kind == kind}

    @property
    def ranking(self) -> list[int]:
        """Models sorted by their sum of violation ratios in the primary tests, best first."""
        ratios = self.study.estimates.ratios[self.primary.claim.order - 1]
        return np.argsort(ratios.sum(axis=1), kind="stable").tolist()

    def pair_curves(self, winner: int, loser: int, inference: Inference) -> PairCurves:
        """Return two models' quantile functions and, if resampled, a confidence band for their difference."""
        scores = self.scores
        ratios = self.study.estimates.ratios[:, winner, loser].tolist()
        weights = scores.weights[winner], scores.weights[loser]
        curves = pair_curves(scores.values[winner], scores.values[loser], ratios, weights=weights)
        if not inference.uses_resampling:
            return curves
        band = quantile_difference(
            scores,
            winner,
            loser,
            curves.levels,
            level=inference.family.interval_level(1),
            seed=inference.seed,
        )
        assert band.low is not None
        assert band.high is not None
        return replace(curves, band=(band.low, band.high))


@dataclass(frozen=True, kw_only=True)
class DominanceCase(Case):
    """Results from which the findings and sentences are derived: the tests on every score column."""

    results: dict[str, DominanceColumn]

    def answer(self, side: Answer) -> Answer | None:
        """Return `side` as the answer to a claim, or None if the claims were not tested."""
        return side if self.tested else None

    def compare_means(self, column: DominanceColumn, i: int, j: int) -> str:
        """Format two means with the interval of their difference.

        For example: ``777 against 785 for b (difference −23 to 6)``.
        """
        mean = self.mean_of(column.name)
        if mean is None:
            return ""
        means, interval = f"{mean.format_comparison(i, j)} for {self.models[j]}", self.interval(column, i, j)
        return f"{means} (difference {mean.format_interval(**interval)})" if interval else means

    def means_differ(self, column: DominanceColumn, i: int, j: int) -> bool:
        """Return True if the interval of the difference between two means excludes 0."""
        interval = self.interval(column, i, j)
        return (
            self.mean_of(column.name) is not None
            and bool(interval)
            and (interval["low"] > 0 or interval["high"] < 0)
        )

    def interval(self, column: DominanceColumn, i: int, j: int) -> dict[str, float]:
        """Return the interval of a mean difference as figures, or an empty dict for a combined score."""
        is_metric = column.units.label in self.metrics
        return column.units.interval_figures(column.differences, (i, j)) if is_metric else {}


def dominance_findings(case: DominanceCase) -> list[Finding]:
    """Return the findings: models that are ahead, the order of dominance, and contradicting evidence.

    Parameters
    ----------
    case : DominanceCase

    Returns
    -------
    list of Finding
        At least one.
    """
    is_pair, columns = len(case.models) == 2, list(case.results.values())
    findings = [*case.identical_distributions]
    if not findings and len(columns) > 1:
        findings = [Finding("pair-by-column" if is_pair else "field-by-column", _column_winners(case))]
    elif not findings:
        findings = [
            *(_pair_findings(case, columns[0]) if is_pair else _several_model_findings(case, columns[0]))
        ]
    if case.suite is not None and len(columns) == 1:
        findings += _task_findings(case, columns[0])
    return [*findings, *case.side_findings]


def pair_winner(tests: DominanceTests) -> int | None:
    """Return the model that dominates the other one of a pair, or None if neither does."""
    return 0 if tests.dominates[0, 1] else 1 if tests.dominates[1, 0] else None


def overall_winner(tests: DominanceTests) -> int | None:
    """Return the model that dominates all others, or None if there is none."""
    best = np.flatnonzero(tests.dominates.sum(axis=1) == len(tests.dominates) - 1)
    return int(best[0]) if best.size else None


def has_worse_mean(mean: MetricMeans, i: int) -> bool:
    """Return True if model `i` of a pair has the worse mean."""
    return bool(mean.mean[i] > mean.mean[1 - i] if mean.lower_is_better else mean.mean[i] < mean.mean[1 - i])


def _column_winners(case: DominanceCase) -> tuple[int, ...]:
    """Return the models that dominate all others on at least one score column."""
    find_winner = pair_winner if len(case.models) == 2 else overall_winner
    winners = [find_winner(column.primary) for column in case.results.values()]
    return tuple(dict.fromkeys(model for model in winners if model is not None))


def _task_findings(case: DominanceCase, column: DominanceColumn) -> Iterator[Finding]:
    """Yield the findings that compare the two best models by task, and in the other scope of a suite."""
    suite, pair = case.required_suite, (column.ranking[0], column.ranking[1])
    if sentences.task_sentence(suite, suite.columns[column.name], *pair):
        figures = sentences.task_counts(suite, suite.columns[column.name], *pair)
        yield Finding("by-task", pair, on=column.name, figures=figures)
    yield from other_scope_findings(case, column.name, pair)


def _pair_findings(case: DominanceCase, column: DominanceColumn) -> Iterator[Finding]:
    """Yield the findings for two models."""
    on, winners = (
        column.name,
        (pair_winner(tests) for _, tests in sorted(column.by_order.items(), reverse=True)),
    )
    leader = next((model for model in winners if model is not None), None)
    if leader is None:
        undecided = any(not tests.decided.all() for tests in column.by_order.values())
        yield _undecided_finding(case, column, "not-decided" if undecided else "not-separated", (0, 1))
        yield from _mean_findings(case, column, 0)
        yield from _tail_findings(case, column, 0, "untested-tail")
        return
    pair = leader, 1 - leader
    against = case.mean_of(on) is None and all(has_worse_mean(mean, leader) for mean in case.means)
    yield _ahead_finding(case, column, pair, against=against)
    share, tails = proportion_better(column.scores, 1 - leader, leader) or 0.0, column.study.estimates.tails
    often, milder = share > 0.5, bool(tails[leader] > tails[1 - leader])
    if often:
        kind, figures = "more-often", {"share": share}
        if milder and _is_tail_informative(case, column):
            kind, figures = "more-often-but-milder", figures | column.tail.figures(*pair)
        yield Finding(kind, pair, on=on, figures=figures)
    yield from _mean_findings(case, column, leader)
    if case.mean_of(on) is None:
        yield from better_mean_findings(case, on, leader)
    if not (often and milder):
        yield from _tail_findings(case, column, leader, "tail")


def _ahead_finding(
    case: DominanceCase, column: DominanceColumn, models: tuple[int, ...], *, against: bool
) -> Finding:
    """Return the finding that the first model is ahead of the others.

    `against` is True if its mean is worse on every metric. This is possible because a combined score ignores
    the size of differences.
    """
    ratio = float(column.primary.ratios[models[0], models[1]])
    figures = {"violation_ratio": ratio, "order": column.primary.claim.order}
    if column.primary.claim.kind == ABSOLUTE:
        figures["threshold"] = column.primary.claim.boundary
    kind, answer = "ahead-against-means" if against else "ahead", case.answer(Answer.SIGNIFICANT)
    return Finding(kind, models, on=column.name, figures=figures, answer=answer)


def _undecided_finding(
    case: DominanceCase, column: DominanceColumn, kind: str, models: tuple[int, ...]
) -> Finding:
    """Return the finding that no model is ahead, or that there are too few resamples to decide."""
    figures: dict[str, float] = {"resamples": column.study.resamples or 0} if kind == "not-decided" else {}
    if kind == "not-separated" and case.means_differ(column, *models):
        i = has_worse_mean(case.means[case.metrics.index(column.name)], 0)
        figures = case.interval(column, int(i), 1 - int(i))
    return Finding(kind, models, on=column.name, figures=figures, answer=case.answer(Answer.UNDECIDED))


def _is_tail_informative(case: DominanceCase, column: DominanceColumn) -> bool:
    """Return True if tail means add information to the means, which they do not for binary scores."""
    mean = case.mean_of(column.name)
    return column.tail.is_informative and (mean is None or not mean.is_proportion)


def _mean_findings(case: DominanceCase, column: DominanceColumn, i: int) -> Iterator[Finding]:
    """Yield the finding on the means of two models.

    Nothing is yielded for a combined score, which has no raw mean.
    """
    if (mean := case.mean_of(column.name)) is not None:
        figures = column.units.figures(column.differences, (i, 1 - i)) | pair_figures([mean], i, 1 - i)
        yield Finding("mean", (i, 1 - i), on=column.name, figures=figures)


def _tail_findings(case: DominanceCase, column: DominanceColumn, i: int, kind: str) -> Iterator[Finding]:
    """Yield the finding on the tail means of two models, if informative."""
    if _is_tail_informative(case, column):
        yield Finding(kind, (i, 1 - i), on=column.name, figures=column.tail.figures(i, 1 - i))


def _several_model_findings(case: DominanceCase, column: DominanceColumn) -> Iterator[Finding]:
    """Yield the findings for more than two models."""
    tests, on, best = column.primary, column.name, overall_winner(column.primary)
    unbeaten = [i for i in column.ranking if not tests.dominates[:, i].any()]
    if best is not None:
        rivals = tuple(i for i in range(len(case.models)) if i != best)
        against = case.mean_of(on) is None and best in worst_everywhere(case.means)
        yield _ahead_finding(case, column, (best, *rivals), against=against)
        yield from _counter_findings(case, column, best)
        return
    kind, models = "no-model-ahead-of-all", tuple(unbeaten)
    if not tests.dominates.any():
        kind, models = "none-apart" if tests.decided.all() else "not-decided", (*range(len(case.models)),)
    yield _undecided_finding(case, column, kind, models)
    if unbeaten:
        yield from _counter_findings(case, column, unbeaten[0])


def _counter_findings(case: DominanceCase, column: DominanceColumn, i: int) -> Iterator[Finding]:
    """Yield first-order tests and raw means that contradict model `i`, which leads in the primary tests."""
    above = np.flatnonzero(column.by_order.get(1, column.primary).dominates[:, i]).tolist()
    if above:
        answer = case.answer(Answer.SIGNIFICANT)
        yield Finding("ahead-in-order-1", (i, *above), on=column.name, answer=answer)
    yield from better_mean_findings(case, column.name, i)
