"""What a ranking finds, the gravest first: whether the first may be shipped, and what speaks against it."""

from collections.abc import Iterator

import numpy as np

from riskrank.engine.dominance.column_ranking import share_better
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.family import Side
from riskrank.options.suites import RANDOM
from riskrank.studies.findings import Finding, judge_worth, other_scope, untested
from riskrank.studies.metric_means import means_of_two
from riskrank.studies.rank.context import AGAINST, NOT_SHOWN, RankCase, Tail, apart, ends_of, worse_cases
from riskrank.studies.rank.leader import Leading
from riskrank.studies.sample_findings import blind
from riskrank.studies.suites import sentences
from riskrank.studies.suites.section import SuiteChapter
from riskrank.studies.targets import units_of

# Means of the same numbers summed up in another order differ by less, relatively.
_ROUNDING = 1e-12


def rank_findings(study: MethodStudy, case: RankCase) -> list[Finding]:
    """Everything a reader should know of a ranking.

    Parameters
    ----------
    study : MethodStudy
    case : RankCase

    Returns
    -------
    list of Finding
        At least one.
    """
    if not case.leading:
        name, order = next(iter(study.aggregations.items()))
        return [Finding("aggregated", tuple(order.order.tolist()), on=name)]
    if len(case.leading) > 1:
        return [*_of_columns(case), *case.twins]
    one = case.lead
    answer = _answer(one, case)
    found = [answer, *untested(one.tested), *_worst_on_a_metric(one, case), *_best_mean(one, answer, case)]
    if case.suite is not None:
        found += _of_tasks(one, case, case.suite)
        if one.ahead and case.suite.scope == RANDOM:
            found.append(blind(one.scores.effective_size, one.scores.unit))
    else:
        if case.judged is not None and (best := case.judged.best_alone) != one.first:
            alone = {"judge_mean": case.judged.entry.models[best].judge_mean}
            alone["judge_against"] = case.judged.entry.models[one.first].judge_mean
            ends = ends_of(one, (one.first, best), case)
            figures = alone | ends | means_of_two(case.means, one.first, best)
            found.append(Finding("judge-alone", (best, one.first), figures=figures))
        found += judge_worth(case)
        found += _gain(one, case)
    return [*found, *case.twins, *_deciding(one, case), *_caveats(one, case)]


def _answer(one: Leading, case: RankCase) -> Finding:
    """Whether the first is ahead of the others, level with some, or spoken against."""
    if alike := case.same:
        return alike[0]
    same = (one.first, *one.identical)
    if not one.tested:
        return Finding("first", same, on=one.column, figures=_lead(one, case))
    if one.refuted is not None:
        pair = (one.first, one.refuted.rival)
        figures = means_of_two(case.means, *pair[::-1])
        if pair[1] in one.refuted.leader.better:
            figures["p_adjusted"] = one.contrasts.p_better(pair[1])
        if (worse := worse_cases(one, case.table.metrics)) is not None:
            figures |= worse.tail.figures(*pair, "tail_against")
        return Finding("refuted", pair, on=one.column, figures=figures, answer=Side.REFUTED)
    if one.trade:
        rival = one.trade[0]
        tails = Tail(one, case.table).figures(one.first, rival, "tail_against")
        if len(case.means) == 1:
            tails["p_adjusted"] = one.contrasts.p_better(rival)
        more = [(case.means[m].name, found) for m, found in one.first_with_more.items()]
        tails |= {f"{name}.times": min(found.values()) for name, found in more}
        figures = tails | ends_of(one, (one.first, rival), case) | _differences(one.first, rival, case)
        return Finding("trade", (one.first, *one.trade), on=one.column, figures=figures, answer=Side.SHOWN)
    return Finding(
        "ahead" if one.ahead else "level",
        same if one.ahead else (*same, *one.level, *one.undecided),
        on=one.column,
        figures=_lead(one, case) | ({} if one.ahead else {"worth": one.scores.effective_size}),
        answer=Side.SHOWN if one.ahead else Side.OPEN,
    )


def _deciding(one: Leading, case: RankCase) -> Iterator[Finding]:
    """The metric without which another would come first, on which the first is shown to be better than it."""
    found = one.recommendation
    if found is None or not one.ahead:
        return
    held = found.leader.contrasts
    shown = [(i, m) for m, i in (found.first_without_metric or {}).items() if held.worse[i, m]]
    if shown:
        other, m = max(shown, key=lambda at: float(held.strength[at]))
        mean, pair = case.means[m], (one.first, other)
        figures = {"mean": float(mean.mean[one.first]), "against": float(mean.mean[other])}
        yield Finding("metric-decides", pair, on=mean.name, figures=figures)


def _best_mean(one: Leading, told: Finding, case: RankCase) -> Iterator[Finding]:
    """The model that sorting by the mean would put first, where nobody has named it yet."""
    mean = one.found.effects[one.method].mean
    best = int(np.argmax(mean))
    larger = mean[best] - mean[one.first] > _ROUNDING * np.abs(mean).max()
    larger = larger and best not in Tail(one, case.table).risks  # which is told with its risk
    if larger and best not in told.models and one.refuted is None:
        units = units_of(one.column, case.table.metrics)
        figures = dict(zip(("mean", "against"), units.of(mean)[[best, one.first]].tolist(), strict=True))
        yield Finding("best-mean", (best, one.first), on=one.column, figures=figures)


def _lead(one: Leading, case: RankCase) -> dict[str, float]:
    """The lead of the first over the next in the mean of what is ranked, with its interval and p-value."""
    if not one.others:
        return {}
    following, tests = one.others[0], one.tests
    figures = apart(one, (one.first, following), case)
    if tests is not None and tests.p_adjusted is not None:
        figures["p_adjusted"] = float(tests.p_adjusted[one.first, following])
    return figures


def _worst_on_a_metric(one: Leading, case: RankCase) -> Iterator[Finding]:
    """What to mind of a model that is recommended nevertheless, having something to show elsewhere."""
    found = worse_cases(one, case.table.metrics)
    if found is not None and one.refuted is None:
        pair = (found.first, found.rival)
        figures = found.tail.figures(*pair)
        yield Finding("worse-tail-on-a-metric", pair, on=found.metric, figures=figures, answer=Side.SHOWN)
    elif one.undecided_tails and not one.undecided:
        others = tuple(one.undecided_tails)
        yield Finding("undecided-tail", (one.first, *others), answer=Side.OPEN)


def _of_tasks(one: Leading, case: RankCase, suite: SuiteChapter) -> Iterator[Finding]:
    """What the tasks say of the first against the next, and the answer to the question not asked."""
    column, held = suite.columns[one.column], one.refuted is None
    if not one.others:
        return
    pair, metric = (one.first, one.others[0]), one.column in case.metrics
    if held and (metric or sentences.task_sentence(suite, column, *pair)):
        figures = sentences.task_counts(suite, column, *pair)
        if (mean := case.mean_of(one.column)) is not None:
            figures |= means_of_two([mean], *pair) | ends_of(one, pair, case)
        yield Finding("by-task", pair, on=one.column, figures=figures)
    yield from other_scope(case, one.column, one.pair)
    if held and not metric:
        yield from _gain(one, case)
    if column.scores.macro.max() > column.scores.macro[one.first]:
        yield Finding("best-macro-mean", (column.by_mean[0], one.first), on=one.column)


def _gain(one: Leading, case: RankCase) -> Iterator[Finding]:
    """What the first gains over the next and gives up: differences of means as the file has them."""
    found = one.recommendation
    if found is not None and found.holds and one.others and not one.trade:
        pair = one.first, one.others[0]
        yield Finding("gain", pair, figures=ends_of(one, pair, case) | _differences(*pair, case))


def _differences(one: int, other: int, case: RankCase) -> dict[str, float]:
    """Differences of means as the file has them, and the means."""
    found = {mean.name: float(mean.mean[one] - mean.mean[other]) for mean in case.means}
    return found | means_of_two(case.means, one, other)


def _caveats(one: Leading, case: RankCase) -> Iterator[Finding]:
    """What the ranking does not show: tails, and a first place that hangs on others."""
    tail = Tail(one, case.table)
    often = [*_more_often(one, tail)]
    yield from often
    best = next((i for i in tail.risks if i != one.first and tail.place_by_mean(i) == 1), None)
    if best is not None and best not in one.trade:
        yield _risk("best-mean-hides-risk", best, one, tail)
    other = one.other if one.refuted or not one.others else one.others[0]
    if worse_cases(one, case.table.metrics) is not None:
        pass  # is told in the units of a metric, which say more than those of a combined score
    elif one.first in tail.risks:
        yield _risk("hidden-risk", one.first, one, tail)
    elif one.worse_tails and one.worse_tails[0].worse != best:
        worst = one.worse_tails[0]
        pair = worst.worse, worst.better
        figures = {"p_adjusted": worst.p_adjusted, **tail.figures(*pair)}
        yield Finding("worse-tail", pair, on=one.column, figures=figures, answer=Side.SHOWN)
    elif not often and (side := tail.side(one, other)) and best != other:
        pair, figures = (one.first, other), tail.figures(one.first, other)
        yield Finding("tail-of-the-first", pair, on=one.column, figures=figures, answer=side)
    if (found := one.recommendation) is None or not found.holds:
        return
    if found.first_without:
        yield Finding("first-without", next(iter(found.first_without.items())))
    several = len(case.means) > 1 and one.column not in case.metrics
    if several and found.first_by_metrics not in (one.first, None):
        yield Finding("first-by-metrics", (found.first_by_metrics,))


def _risk(kind: str, model: int, one: Leading, tail: Tail) -> Finding:
    """A hidden risk, against the model that it is held against."""
    risks = one.found.hidden_risks
    assert risks is not None
    figures = {"p_adjusted": float(risks.p_adjusted[model]), **tail.figures(model, tail.rival(model))}
    return Finding(kind, (model,), on=one.column, figures=figures, answer=Side.SHOWN)


def _more_often(one: Leading, tail: Tail) -> Iterator[Finding]:
    """The next is better on most samples, though the second order puts the first ahead of it.

    The second order alone is no better distribution throughout (method §4, "What a verdict may say").
    """
    tests = one.tests
    if tests is None or tests.claim.order == 1 or not one.beaten or one.beaten[0] != one.others[0]:
        return
    share = share_better(one.scores, one.beaten[0], one.first)
    if share is not None and share > 0.5:
        kind = "more-often-but-worse-tail" if tail.side(one) > 0 else "more-often"
        pair, figures = (one.first, one.beaten[0]), {"share": share}
        if kind == "more-often-but-worse-tail":
            figures |= tail.figures(*pair)
        yield Finding(kind, pair, on=one.column, figures=figures)


def _of_columns(case: RankCase) -> Iterator[Finding]:
    """Of several columns: who leads where, and where that is sure."""
    firsts = tuple(dict.fromkeys(one.first for one in case.leading.values()))
    kind = "first-on-each" if len(firsts) == 1 else "first-here-and-there"
    yield from case.same or [Finding(kind, firsts)]
    if not case.tested:
        yield from untested(tested=False)
        return
    answers = {AGAINST: Side.REFUTED, NOT_SHOWN: Side.OPEN}
    yield Finding("by-column", answer=answers.get(next(iter(case.states)), Side.SHOWN))
