"""Findings of pairwise dominance and their sentences (method §4, "What a verdict may say")."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.column_ranking import proportion_better
from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.dominance.inference import ABSOLUTE, DIRECT, Claim, Inference
from riskrank.engine.dominance.influence import PairCurves, pair_curves, quantile_difference
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.family import Answer
from riskrank.studies import wording
from riskrank.studies.findings import (
    Case,
    Finding,
    Sentences,
    better_mean_findings,
    other_scope_findings,
    seed_findings,
)
from riskrank.studies.metric_means import MetricMeans, TailMeans, pair_figures, worst_everywhere
from riskrank.studies.suites.section import task_counts, task_sentence
from riskrank.studies.targets import Target, Units


@dataclass(frozen=True)
class DominanceColumn(Target):
    """Dominance tests of k models on one metric or combined score.

    Attributes
    ----------
    study : DominanceStudy
        Violation ratios and tests of all pairs.
    differences : Differences
        Differences of means for all pairs, shape (k, k), larger is better.
    units : Units
        Units of measurement of the scores.
    tail : TailMeans
        Tail means of all models.
    """

    study: DominanceStudy
    differences: Differences
    units: Units
    tail: TailMeans

    @property
    def primary(self) -> DominanceTests:
        """Tests of the highest order of dominance; direct tests are preferred."""
        return max(self.study.tests, key=lambda tests: (tests.claim.order, tests.claim.kind == DIRECT))

    @property
    def tests_by_order(self) -> dict[int, DominanceTests]:
        """Tests of the same kind as the primary ones, by order of dominance (1 or 2)."""
        kind = self.primary.claim.kind
        return {tests.claim.order: tests for tests in reversed(self.study.tests) if tests.claim.kind == kind}

    @property
    def ranking(self) -> list[int]:
        """Indices of the models sorted by their sum of violation ratios in the primary tests, best first."""
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
        level, seed = inference.family.interval_level(1), inference.seed
        band = quantile_difference(scores, winner, loser, curves.levels, level=level, seed=seed)
        assert band.low is not None
        assert band.high is not None
        return replace(curves, band=(band.low, band.high))


@dataclass(frozen=True, kw_only=True)
class DominanceCase(Case):
    """Results from which the findings and sentences are derived: the tests on every metric or score."""

    results: dict[str, DominanceColumn]

    def answer(self, side: Answer) -> Answer | None:
        """Return the test result `side`, or None if nothing was tested."""
        return side if self.tested else None

    def compare_means(self, column: DominanceColumn, i: int, j: int) -> str:
        """Format the means of models `i` and `j` with the interval of their difference.

        For example: ``777 against 785 for b (difference −23 to 6)``.
        """
        mean = self.mean_of(column.name)
        if mean is None:
            return ""
        means, interval = f"{mean.format_comparison(i, j)} for {self.models[j]}", self.interval(column, i, j)
        return f"{means} (difference {mean.format_interval(**interval)})" if interval else means

    def means_differ(self, column: DominanceColumn, i: int, j: int) -> bool:
        """Return True if the interval of the mean difference between models `i` and `j` excludes 0."""
        interval = self.interval(column, i, j)
        differs = bool(interval) and (interval["low"] > 0 or interval["high"] < 0)
        return differs and self.mean_of(column.name) is not None

    def interval(self, column: DominanceColumn, i: int, j: int) -> dict[str, float]:
        """Return the interval limits ``low`` and ``high`` of the mean difference `i` − `j`.

        The dictionary is empty for a combined score.
        """
        is_metric = column.units.label in self.metrics
        return column.units.interval_figures(column.differences, (i, j)) if is_metric else {}


def dominance_findings(case: DominanceCase) -> list[Finding]:
    """Return the findings: models that dominate others, the order of dominance, and contradicting evidence.

    There is at least one finding.
    """
    is_pair, columns = len(case.models) == 2, list(case.results.values())
    findings = [*case.identical_distributions]
    if not findings and len(columns) > 1:
        winners = ((pair_winner if is_pair else overall_winner)(column.primary) for column in columns)
        models = tuple(dict.fromkeys(model for model in winners if model is not None))
        findings = [Finding("pair-by-column" if is_pair else "field-by-column", models)]
    elif not findings:
        findings += (_pair_findings if is_pair else _several_model_findings)(case, columns[0])
        findings += _seed_findings(case, columns[0])
    if case.suite is not None and len(columns) == 1:
        findings += _task_findings(case, columns[0])
    return [*findings, *case.side_findings]


def _seed_findings(case: DominanceCase, column: DominanceColumn) -> Iterator[Finding]:
    """Yield a finding if another random seed may change an answer that the verdict reports."""
    tests, on = column.tests_by_order.values(), column.name
    if not all(result.decided.all() for result in tests):
        return
    needed = np.max([result.safe_resamples(case.family.alpha) for result in tests], axis=0)
    needed = np.maximum(needed, needed.T)
    leading = [column.ranking[0], *np.flatnonzero(~column.primary.dominates.any(axis=0)).tolist()]
    close = {(j, i): float(needed[i, j]) for j in leading for i in range(len(needed)) if i != j}
    yield from seed_findings(close, on)
    means = column.differences.safe_resamples
    if len(needed) == 2 and not any(close.values()) and means is not None and case.mean_of(on) is not None:
        pair = column.ranking[0], column.ranking[1]
        yield from seed_findings({pair: float(means[pair])}, on, means=True)


def pair_winner(tests: DominanceTests) -> int | None:
    """Return the index of the model that dominates the other one, or None if neither does."""
    return 0 if tests.dominates[0, 1] else 1 if tests.dominates[1, 0] else None


def overall_winner(tests: DominanceTests) -> int | None:
    """Return the index of the model that dominates all others, or None if there is none."""
    best = np.flatnonzero(tests.dominates.sum(axis=1) == len(tests.dominates) - 1)
    return int(best[0]) if best.size else None


def has_worse_mean(mean: MetricMeans, i: int) -> bool:
    """Return True if model `i` of a pair has the worse mean."""
    return bool(mean.mean[i] > mean.mean[1 - i] if mean.lower_is_better else mean.mean[i] < mean.mean[1 - i])


def _task_findings(case: DominanceCase, column: DominanceColumn) -> Iterator[Finding]:
    """Yield findings that compare the two best models task by task, for fixed and for random tasks."""
    suite, pair = case.required_suite, (column.ranking[0], column.ranking[1])
    if text := task_sentence(suite, suite.columns[column.name], *pair):
        figures = task_counts(suite, suite.columns[column.name], *pair)
        yield Finding("by-task", pair, on=column.name, figures=figures, words={"tasks": text})
    yield from other_scope_findings(case, column.name, pair)


def _pair_findings(case: DominanceCase, column: DominanceColumn) -> Iterator[Finding]:
    """Yield the findings about a comparison of two models on one metric or combined score."""
    on = column.name
    winners = (pair_winner(tests) for _, tests in sorted(column.tests_by_order.items(), reverse=True))
    leader = next((model for model in winners if model is not None), None)
    if leader is None:
        undecided = any(not tests.decided.all() for tests in column.tests_by_order.values())
        yield _undecided_finding(case, column, "not-decided" if undecided else "not-separated", (0, 1))
        yield from _mean_findings(case, column, 0)
        yield from _tail_findings(case, column, 0, "untested-tail")
        return
    pair = leader, 1 - leader
    against = case.mean_of(on) is None and all(has_worse_mean(mean, leader) for mean in case.means)
    yield _ahead_finding(case, column, pair, has_worse_means=against)
    share, tails = proportion_better(column.scores, 1 - leader, leader) or 0.0, column.study.estimates.tails
    often, milder = share > 0.5, bool(tails[leader] > tails[1 - leader])
    if often:
        kind, figures, words = "more-often", {"share": share}, {"share": wording.format_percent(share)}
        if milder and _is_tail_informative(case, column):
            kind, figures = "more-often-but-milder", figures | column.tail.figures(*pair)
            words["tails"] = _compare_tails(column, pair)
        yield Finding(kind, pair, on=on, figures=figures, words=words)
    yield from _mean_findings(case, column, leader)
    if case.mean_of(on) is None:
        yield from better_mean_findings(case, on, leader)
    if not (often and milder):
        yield from _tail_findings(case, column, leader, "tail")


def _ahead_finding(
    case: DominanceCase, column: DominanceColumn, models: tuple[int, ...], *, has_worse_means: bool
) -> Finding:
    """Return the finding that the first of the given models is ahead of the others.

    `has_worse_means` is True if its mean is worse on every metric. This is possible because a combined score
    ignores the size of differences.
    """
    ratio = float(column.primary.ratios[models[0], models[1]])
    figures = {"violation_ratio": ratio, "order": column.primary.claim.order}
    if column.primary.claim.kind == ABSOLUTE:
        figures["threshold"] = column.primary.claim.boundary
    kind, answer = "ahead-against-means" if has_worse_means else "ahead", case.answer(Answer.SIGNIFICANT)
    return Finding(kind, models, on=column.name, figures=figures, answer=answer)


def _undecided_finding(
    case: DominanceCase, column: DominanceColumn, kind: str, models: tuple[int, ...]
) -> Finding:
    """Return the finding that no model is ahead, or that there are too few resamples to decide.

    `kind` is the kind of finding, and `models` the models that are not separated.
    """
    resamples, k = column.study.resamples or 0, len(models)
    figures: dict[str, float] = {"resamples": resamples} if kind == "not-decided" else {}
    if kind == "not-separated" and case.means_differ(column, *models):
        i = has_worse_mean(case.means[case.metrics.index(column.name)], 0)
        figures = case.interval(column, int(i), 1 - int(i))
    words = {
        "models": " and ".join(case.models) if k == 2 else f"the {k} models",
        "resamples": f"{resamples:,}",
        "ahead": f"{'significantly ' * case.tested}ahead",
        "order": describe_order(column.primary.claim),
    }
    answer = case.answer(Answer.UNDECIDED)
    return Finding(kind, models, on=column.name, figures=figures, answer=answer, words=words)


def _is_tail_informative(case: DominanceCase, column: DominanceColumn) -> bool:
    """Return True if tail means add information to the means, which they do not for binary scores."""
    mean = case.mean_of(column.name)
    return column.tail.is_informative and (mean is None or not mean.is_proportion)


def _mean_findings(case: DominanceCase, column: DominanceColumn, i: int) -> Iterator[Finding]:
    """Yield a finding about the means of two models, model `i` first; none for a combined score."""
    if (mean := case.mean_of(column.name)) is not None:
        pair = i, 1 - i
        is_ahead = any(pair_winner(tests) == i for tests in column.tests_by_order.values())
        uncertain = is_ahead and case.interval(column, *pair) and not case.means_differ(column, *pair)
        words = {
            "worse": "worse in these samples: " if is_ahead and has_worse_mean(mean, i) else "",
            "means": case.compare_means(column, *pair),
            "note": "; the mean difference itself is not significant" if uncertain else "",
        }
        figures = column.units.figures(column.differences, pair) | pair_figures([mean], *pair)
        yield Finding("mean", pair, on=column.name, figures=figures, words=words)


def _tail_findings(case: DominanceCase, column: DominanceColumn, i: int, kind: str) -> Iterator[Finding]:
    """Yield a finding about the tail means of two models, model `i` first, if they are informative.

    `kind` is the kind of the finding.
    """
    if _is_tail_informative(case, column):
        pair, words = (i, 1 - i), {"tails": _compare_tails(column, (i, 1 - i))}
        yield Finding(kind, pair, on=column.name, figures=column.tail.figures(*pair), words=words)


def _compare_tails(column: DominanceColumn, pair: tuple[int, int]) -> str:
    """Return a phrase with the tail means of two models: ``worst 5 % average −4.7 against −1.0``."""
    return f"worst {column.tail.tail_label} average {column.tail.format_comparison(*pair)}"


def _several_model_findings(case: DominanceCase, column: DominanceColumn) -> Iterator[Finding]:
    """Yield the findings about more than two models on one metric or combined score."""
    tests, on, best = column.primary, column.name, overall_winner(column.primary)
    unbeaten = [i for i in column.ranking if not tests.dominates[:, i].any()]
    if best is not None:
        rivals = tuple(i for i in range(len(case.models)) if i != best)
        against = case.mean_of(on) is None and best in worst_everywhere(case.means)
        yield _ahead_finding(case, column, (best, *rivals), has_worse_means=against)
        yield from _contradicting_findings(case, column, best)
        return
    kind, models = "no-model-ahead-of-all", tuple(unbeaten)
    if not tests.dominates.any():
        kind, models = "none-apart" if tests.decided.all() else "not-decided", (*range(len(case.models)),)
    yield _undecided_finding(case, column, kind, models)
    if unbeaten:
        yield from _contradicting_findings(case, column, unbeaten[0])


def _contradicting_findings(case: DominanceCase, column: DominanceColumn, i: int) -> Iterator[Finding]:
    """Yield the findings from first-order tests and raw means that contradict the leading model `i`."""
    above = np.flatnonzero(column.tests_by_order.get(1, column.primary).dominates[:, i]).tolist()
    if above:
        answer, words = case.answer(Answer.SIGNIFICANT), {"are": "is" if len(above) == 1 else "are"}
        yield Finding("ahead-in-order-1", (i, *above), on=column.name, answer=answer, words=words)
    yield from better_mean_findings(case, column.name, i)


# Order 1 compares scores at every quantile, order 2 the mean of every worst share.
ORDERS = {1: "by first-order dominance", 2: "by risk-averse second-order dominance"}


def describe_order(claim: Claim) -> str:
    """Describe the order of dominance that is tested, such as "by first-order dominance"."""
    if claim.kind == ABSOLUTE:
        return f"{ORDERS[claim.order]} (up to a ratio of {claim.boundary:g})"
    return ORDERS[claim.order] if claim.kind == DIRECT else f"{ORDERS[claim.order]} (relative to all models)"


def _ahead_phrase(case: DominanceCase) -> str:
    """Return "is significantly ahead of", or "is, in these samples, ahead of" without tests."""
    return "is significantly ahead of" if case.tested else "is, in these samples, ahead of"


def _not_separated_sentence(finding: Finding, case: DominanceCase) -> str:
    """Return a sentence stating that neither of two models dominates the other.

    If their means differ significantly, the sentence names the model with the better mean.
    """
    column, on, mean = case.results[finding.on], case.column_label(finding.on), case.mean_of(finding.on)
    if mean is not None and case.means_differ(column, 0, 1):
        i = 1 if has_worse_mean(mean, 0) else 0
        comparison = f"the {'lower' if mean.lower_is_better else 'higher'} mean"
        interval = mean.format_interval(**case.interval(column, i, 1 - i))
        phrase = wording.higher_mean_phrase(case.models[i], comparison, interval, min(column.tests_by_order))
        return f"{phrase}."
    return f"No {'significant ' * case.tested}dominance between {' and '.join(case.models)} on {on}."


def _ahead_clause(finding: Finding, case: DominanceCase) -> str:
    """Return a clause that names the model that is ahead, and the orders in which it dominates."""
    i, *rivals = finding.models
    column, on = case.results[finding.on], case.column_label(finding.on)
    rival_names = (
        wording.others_phrase([case.models[j] for j in rivals])
        if len(case.models) > 2
        else case.models[rivals[0]]
    )
    text = f"{case.models[i]} {_ahead_phrase(case)} {rival_names} on {on}"
    if len(case.models) > 2:
        text, first = f"{text}, {describe_order(column.primary.claim)}", column.tests_by_order.get(1)
        if first is None or column.primary.claim.order == 1:
            return text
        count = int(first.dominates[i].sum())
        return (
            f"{text}, and {ORDERS[1]}"
            if count == len(rivals)
            else f"{text} (ahead of {count} of them {ORDERS[1]})"
        )
    tests = dict(sorted(column.tests_by_order.items()))
    orders = [order for order in tests if pair_winner(tests[order]) == i]
    if len(orders) == len(tests) == 2 and column.primary.claim.kind == DIRECT:
        dominates = column.study.estimates.ratios[0, i, 1 - i] == 0
        return f"{text}: it is better at every quantile" if dominates else text
    text = f"{text}, {' and '.join(describe_order(tests[order].claim) for order in orders)}"
    opposite = [ORDERS[order] for order in tests if pair_winner(tests[order]) == 1 - i]
    if opposite:
        return f"{text}; {' and '.join(opposite)}, {rival_names} is ahead"
    open_orders = [order for order in tests if pair_winner(tests[order]) is None]
    if not open_orders:
        return text
    undecided = any(not tests[order].decided.all() for order in open_orders)
    reason = "more resamples are needed" if undecided else "no test separates them"
    order_text = " and ".join(ORDERS[order] for order in open_orders)
    return f"{text}; {order_text}, {reason if case.tested else 'neither is ahead'}"


def _no_winner_sentence(finding: Finding, case: DominanceCase) -> str:
    """Return a sentence stating that no model is ahead of all others and naming the unbeaten models."""
    word = "significantly ahead" if case.tested else "ahead, in these samples,"
    column, unbeaten = (
        case.results[finding.on],
        wording.join_names([case.models[i] for i in finding.models], 6),
    )
    order = describe_order(column.primary.claim)
    text = f"No model is {word} of all others on {case.column_label(finding.on)}, {order}"
    if not unbeaten:
        return f"{text}."
    first = column.tests_by_order.get(1) if column.primary.claim.order > 1 else None
    best = [] if first is None else np.flatnonzero(first.dominates[:, [*finding.models]].any(axis=1)).tolist()
    ahead_text = f"{wording.join_names([case.models[i] for i in best], 3)} are ahead of some of these models"
    if len(best) == 1:
        beaten = [case.models[j] for j in finding.models if first is not None and first.dominates[best[0], j]]
        ahead_text = f"{case.models[best[0]]} is ahead of {wording.join_names(beaten, 3)}"
    suffix = f" ({ORDERS[1]}, {ahead_text})" if best else ""
    return f"{text}; no model is ahead of {unbeaten.replace(' and ', ' or ')}{suffix}."


def _column_sentence(_: Finding, case: DominanceCase) -> str:
    """Return a sentence that names the winner on each of several metrics or scores."""
    is_pair, models, columns_by_winner = len(case.models) == 2, case.models, dict[int | None, list[str]]()
    for name, column in case.results.items():
        leader = pair_winner(column.primary) if is_pair else overall_winner(column.primary)
        columns_by_winner.setdefault(leader, []).append(case.column_label(name))
    undecided, ahead = wording.join_names(columns_by_winner.pop(None, []), 6), _ahead_phrase(case)
    parts = [
        f"{models[i]} {ahead} {models[1 - i] if is_pair else 'all others'} on {wording.join_names(on, 6)}"
        for i, on in columns_by_winner.items()
        if i is not None
    ]
    no_winner = f"no model {ahead} {'the other' if is_pair else 'all others'}"
    parts += [f"on {undecided} {no_winner}"] * bool(undecided)
    text, order = "; ".join(parts), describe_order(next(iter(case.results.values())).primary.claim)
    return f"{text if columns_by_winner else text[0].upper() + text[1:]}; all {order}."


SENTENCES: Sentences[DominanceCase] = Sentences(
    {
        "not-decided": "Not decided: {resamples} resamples are too few to separate {models} on {label}.",
        "not-separated": _not_separated_sentence,
        "none-apart": "None of {models} is {ahead} of another on {label}, {order}.",
        "ahead": lambda finding, case: f"{_ahead_clause(finding, case)}.",
        "ahead-against-means": lambda finding, case: (
            f"No clear answer: {_ahead_clause(finding, case)}, but in these samples its mean is "
            + ("worse" if len(case.models) == 2 else "the worst")
            + f" on {wording.metrics_phrase(len(case.means))}."
        ),
        "no-model-ahead-of-all": _no_winner_sentence,
        "pair-by-column": _column_sentence,
        "field-by-column": _column_sentence,
        "by-task": "By task, {0} against {1}: {tasks}.",
        "more-often": "{1} is better on {share} of the samples.",
        "more-often-but-milder": "{1} is better on {share} of the samples, but {0}'s {tails} for {1}.",
        "mean": "{0}'s mean is {worse}{means}{note}.",
        "tail": "In these samples {0}'s {tails} for {1}.",
        "untested-tail": "In these samples the {tails}; this difference was not tested.",
        "ahead-in-order-1": "But by first-order dominance, {others} {are} ahead of {0}.",
    }
)
