"""Findings of a ranking, most severe first: the evidence for and against the leader."""

from collections.abc import Iterator

import numpy as np

from riskrank.engine.dominance.column_ranking import proportion_better
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.family import Answer
from riskrank.options.inference import RANDOM
from riskrank.studies.findings import (
    Finding,
    judge_findings,
    other_scope_findings,
    untested_finding,
    vote_findings,
)
from riskrank.studies.metric_means import pair_figures
from riskrank.studies.rank.context import (
    AGAINST,
    NOT_SHOWN,
    ColumnTails,
    RankCase,
    difference_interval,
    has_uncertain_mean,
    mean_difference,
    separated_by_mean,
    tail_warning,
)
from riskrank.studies.rank.leader import Leader
from riskrank.studies.sample_findings import detection_limit
from riskrank.studies.suites import sentences
from riskrank.studies.suites.section import SuiteAnalysis
from riskrank.studies.targets import column_units

# Relative difference of means below which only the order of summation differs.
_ROUNDING = 1e-12


def rank_findings(study: MethodStudy, case: RankCase) -> list[Finding]:
    """Return the findings of a ranking.

    Parameters
    ----------
    study : MethodStudy
    case : RankCase

    Returns
    -------
    list of Finding
        At least one.
    """
    if not case.leaders:
        name, order = next(iter(study.aggregations.items()))
        return [Finding("aggregated", tuple(order.order.tolist()), on=name)]
    if len(case.leaders) > 1:
        return [*_column_findings(case), *case.identical_models]
    leader = case.leader
    answer = _answer_finding(leader, case)
    findings = [
        answer,
        *vote_findings(case.table),
        *untested_finding(leader.tested),
        *_metric_tail_findings(leader, case),
    ]
    findings += _best_mean_findings(leader, answer, case)
    if case.suite is not None:
        findings += _task_findings(leader, case, case.suite)
        if leader.is_clear and case.suite.scope == RANDOM:
            findings.append(detection_limit(leader.scores.min_effective_size, leader.scores.unit_name))
    else:
        if case.judged is not None and (best := case.judged.best_alone) != leader.first:
            figures = {"judge_mean": case.judged.entry.models[best].judge_mean}
            figures["judge_against"] = case.judged.entry.models[leader.first].judge_mean
            interval = difference_interval(leader, (leader.first, best), case)
            all_figures = figures | interval | pair_figures(case.means, leader.first, best)
            findings.append(Finding("judge-alone", (best, leader.first), figures=all_figures))
        findings += judge_findings(case)
        findings += _gain_findings(leader, case)
    findings += [*case.identical_models, *_deciding_metric_findings(leader, case)]
    return [*findings, *_caveat_findings(leader, case)]


def _answer_finding(leader: Leader, case: RankCase) -> Finding:
    """Return the main finding: the leader is ahead, tied, in a trade-off, or contradicted."""
    if identical := case.identical_distributions:
        return identical[0]
    same = (leader.first, *leader.identical)
    if not leader.tested:
        return Finding("first", same, on=leader.column, figures=_lead_figures(leader, case))
    if leader.objection is not None:
        pair = (leader.first, leader.objection.rival)
        figures = pair_figures(case.means, *pair[::-1])
        if pair[1] in leader.objection.leader.better:
            figures["p_adjusted"] = leader.contrasts.p_better(pair[1])
        if (worse := tail_warning(leader, case.table.metrics)) is not None:
            figures |= worse.tail.figures(*pair, "tail_against")
        return Finding("contradicted", pair, on=leader.column, figures=figures, answer=Answer.CONTRADICTED)
    if leader.trade_offs:
        rival = leader.trade_offs[0]
        tails = ColumnTails(leader, case.table).figures(leader.first, rival, "tail_against")
        if len(case.means) == 1:
            tails["p_adjusted"] = leader.contrasts.p_better(rival)
        limits = [(case.means[m].name, multiples) for m, multiples in leader.leaders_by_weight.items()]
        tails |= {f"{name}.times": min(multiples.values()) for name, multiples in limits}
        pair, models = (leader.first, rival), (leader.first, *leader.trade_offs)
        figures = tails | difference_interval(leader, pair, case) | _mean_differences(*pair, case)
        return Finding("trade", models, on=leader.column, figures=figures, answer=Answer.SIGNIFICANT)
    if (separated := separated_by_mean(leader, case)) and not leader.is_clear:
        figures = mean_difference(leader, (separated[0], separated[1]), case)
        return Finding("higher-mean", separated, on=leader.column, figures=figures, answer=Answer.UNDECIDED)
    return Finding(
        "ahead" if leader.is_clear else "level",
        same if leader.is_clear else (*same, *leader.tied, *leader.undecided),
        on=leader.column,
        figures=_lead_figures(leader, case)
        | ({} if leader.is_clear else {"effective_size": leader.scores.min_effective_size}),
        answer=Answer.SIGNIFICANT if leader.is_clear else Answer.UNDECIDED,
    )


def _deciding_metric_findings(leader: Leader, case: RankCase) -> Iterator[Finding]:
    """Yield the finding that one metric decides the first place: without it, another model would lead."""
    recommendation = leader.recommendation
    if recommendation is None or not leader.is_clear:
        return
    contrasts, leaders = recommendation.leader.contrasts, recommendation.first_without_metric or {}
    deciding = [(i, m) for m, i in leaders.items() if contrasts.worse[i, m]]
    if deciding:
        rival, m = max(deciding, key=lambda at: float(contrasts.absolute_t[at]))
        mean, pair = case.means[m], (leader.first, rival)
        figures = {"mean": float(mean.mean[leader.first]), "against": float(mean.mean[rival])}
        yield Finding("metric-decides", pair, on=mean.name, figures=figures)


def _best_mean_findings(leader: Leader, answer: Finding, case: RankCase) -> Iterator[Finding]:
    """Yield the finding on the model with the best mean, unless an earlier finding names it."""
    mean = leader.study.effects[leader.method].mean
    best = int(np.argmax(mean))
    larger = mean[best] - mean[leader.first] > _ROUNDING * np.abs(mean).max()
    larger = larger and best not in ColumnTails(leader, case.table).hidden_risks  # another finding reports it
    if larger and best not in answer.models and leader.objection is None:
        units = column_units(leader.column, case.table.metrics)
        figures = dict(
            zip(("mean", "against"), units.to_file_units(mean)[[best, leader.first]].tolist(), strict=True)
        )
        yield Finding("best-mean", (best, leader.first), on=leader.column, figures=figures)


def _lead_figures(leader: Leader, case: RankCase) -> dict[str, float]:
    """Return the difference between the means of leader and runner-up, with interval and p-value.

    If dominance separates the leader from a rival, but their means do not, that rival comes first.
    """
    if not leader.rivals:
        return {}
    uncertain = (i for i in leader.beaten if has_uncertain_mean(leader, i, case))
    second, tests = next(uncertain, leader.rivals[0]), leader.tests
    figures = mean_difference(leader, (leader.first, second), case)
    if tests is not None and tests.p_adjusted is not None:
        figures["p_adjusted"] = float(tests.p_adjusted[leader.first, second])
    return figures


def _metric_tail_findings(leader: Leader, case: RankCase) -> Iterator[Finding]:
    """Yield the finding on the leader's tail risk on a metric, unless its recommendation rules it out."""
    warning = tail_warning(leader, case.table.metrics)
    if warning is not None and leader.objection is None:
        pair = (warning.first, warning.rival)
        figures = warning.tail.figures(*pair)
        yield Finding(
            "worse-tail-on-a-metric", pair, on=warning.metric, figures=figures, answer=Answer.SIGNIFICANT
        )
    elif leader.undecided_tails and not leader.undecided:
        rivals = tuple(leader.undecided_tails)
        yield Finding("undecided-tail", (leader.first, *rivals), answer=Answer.UNDECIDED)


def _task_findings(leader: Leader, case: RankCase, suite: SuiteAnalysis) -> Iterator[Finding]:
    """Yield the findings that compare leader and runner-up by task, and in the other scope of a suite."""
    column, uncontested = suite.columns[leader.column], leader.objection is None
    if not leader.rivals:
        return
    pair, metric = (leader.first, leader.rivals[0]), leader.column in case.metrics
    if uncontested and (metric or sentences.task_sentence(suite, column, *pair)):
        figures = sentences.task_counts(suite, column, *pair)
        if (mean := case.mean_of(leader.column)) is not None:
            figures |= pair_figures([mean], *pair) | difference_interval(leader, pair, case)
        yield Finding("by-task", pair, on=leader.column, figures=figures)
    yield from other_scope_findings(case, leader.column, leader.pair)
    if uncontested and not metric:
        yield from _gain_findings(leader, case)
    if column.scores.macro_means.max() > column.scores.macro_means[leader.first]:
        yield Finding("best-macro-mean", (column.by_mean[0], leader.first), on=leader.column)


def _gain_findings(leader: Leader, case: RankCase) -> Iterator[Finding]:
    """Yield the finding on the mean differences of leader and runner-up, in the units of the file."""
    recommendation = leader.recommendation
    if recommendation is not None and recommendation.confirmed and leader.rivals and not leader.trade_offs:
        pair = leader.first, leader.rivals[0]
        figures = difference_interval(leader, pair, case) | _mean_differences(*pair, case)
        yield Finding("gain", pair, figures=figures)


def _mean_differences(first: int, second: int, case: RankCase) -> dict[str, float]:
    """Return the means of two models and their differences, in the units of the file."""
    differences = {mean.name: float(mean.mean[first] - mean.mean[second]) for mean in case.means}
    return differences | pair_figures(case.means, first, second)


def _caveat_findings(leader: Leader, case: RankCase) -> Iterator[Finding]:
    """Yield caveats: tail risks, and leads that depend on which other models are in the table."""
    tail = ColumnTails(leader, case.table)
    often = [*_more_often_findings(leader, tail)]
    yield from often
    best = next((i for i in tail.hidden_risks if i != leader.first and tail.rank_by_mean(i) == 1), None)
    if best is not None and best not in leader.trade_offs:
        yield _risk_finding("best-mean-hides-risk", best, leader, tail)
    rival = leader.rival if leader.objection or not leader.rivals else leader.rivals[0]
    if tail_warning(leader, case.table.metrics) is not None:
        pass  # reported in the units of a metric, which are clearer than a combined score
    elif leader.first in tail.hidden_risks:
        yield _risk_finding("hidden-risk", leader.first, leader, tail)
    elif leader.worse_tails and leader.worse_tails[0].worse != best:
        worst = leader.worse_tails[0]
        pair = worst.worse, worst.better
        figures = {"p_adjusted": worst.p_adjusted, **tail.figures(*pair)}
        yield Finding("worse-tail", pair, on=leader.column, figures=figures, answer=Answer.SIGNIFICANT)
    elif not often and (side := tail.tail_answer(leader, rival)) and best != rival:
        pair, figures = (leader.first, rival), tail.figures(leader.first, rival)
        yield Finding("tail-of-the-first", pair, on=leader.column, figures=figures, answer=side)
    if (recommendation := leader.recommendation) is None or not recommendation.confirmed:
        return
    if recommendation.first_without:
        yield Finding("first-without", next(iter(recommendation.first_without.items())))
    several = len(case.means) > 1 and leader.column not in case.metrics
    if several and recommendation.first_by_metrics not in (leader.first, None):
        yield Finding("first-by-metrics", (recommendation.first_by_metrics,))


def _risk_finding(kind: str, model: int, leader: Leader, tail: ColumnTails) -> Finding:
    """Return the finding on a hidden risk, compared with a model that has a milder tail."""
    risks = leader.study.hidden_risks
    assert risks is not None
    figures = {"p_adjusted": float(risks.p_adjusted[model]), **tail.figures(model, tail.milder_rival(model))}
    return Finding(kind, (model,), on=leader.column, figures=figures, answer=Answer.SIGNIFICANT)


def _more_often_findings(leader: Leader, tail: ColumnTails) -> Iterator[Finding]:
    """Yield a finding if the runner-up is better on most samples but second-order dominated.

    Second-order dominance alone does not mean a better distribution throughout
    (method §4, "What a verdict may say").
    """
    tests = leader.tests
    if tests is None or tests.claim.order == 1 or not leader.beaten or leader.beaten[0] != leader.rivals[0]:
        return
    share = proportion_better(leader.scores, leader.beaten[0], leader.first)
    if share is not None and share > 0.5:
        kind = "more-often-but-worse-tail" if tail.tail_answer(leader) > 0 else "more-often"
        pair, figures = (leader.first, leader.beaten[0]), {"share": share}
        if kind == "more-often-but-worse-tail":
            figures |= tail.figures(*pair)
        yield Finding(kind, pair, on=leader.column, figures=figures)


def _column_findings(case: RankCase) -> Iterator[Finding]:
    """Yield the finding on the leaders of several score columns and their certainty."""
    firsts = tuple(dict.fromkeys(leader.first for leader in case.leaders.values()))
    kind = "first-on-each" if len(firsts) == 1 else "first-here-and-there"
    yield from case.identical_distributions or [Finding(kind, firsts)]
    if not case.tested:
        yield from untested_finding(tested=False)
        return
    answers = {AGAINST: Answer.CONTRADICTED, NOT_SHOWN: Answer.UNDECIDED}
    yield Finding("by-column", answer=answers.get(next(iter(case.columns_by_state)), Answer.SIGNIFICANT))
