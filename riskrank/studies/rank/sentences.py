"""Sentences for the findings of a ranking (method §4, "What a verdict may say")."""

from collections.abc import Sequence

import numpy as np

from riskrank.engine.dominance.recommendation import Recommendation
from riskrank.engine.dominance.tests import REPLACED
from riskrank.engine.family import Answer
from riskrank.engine.sampling.design import FEW_SAMPLES
from riskrank.studies.findings import SHARED_SENTENCES, Finding, Sentences
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.context import (
    ColumnTails,
    RankCase,
    describe_interval,
    has_uncertain_mean,
    means_differ,
    strongest_metrics,
    tail_warning,
)
from riskrank.studies.rank.leader import Leader
from riskrank.studies.suites import sentences
from riskrank.studies.targets import has_weights
from riskrank.studies.wording import (
    count_of_total,
    counted,
    detection_limit_sentence,
    distinct_pair,
    format_fixed,
    format_percent,
    higher_mean_phrase,
    join_names,
    method_words,
    metrics_phrase,
    others_phrase,
    p_value_phrase,
)

# Largest tolerated difference in missing shares. Above it, a model may lack the samples that it fails on.
_MAX_LOST = 0.2


def _compare_means(mean: MetricMeans, model: int, rival: int) -> str:
    """Format two models' means on a metric: ``correct 97.5 % against 82.3 %``."""
    return f"{mean.name} {mean.format_comparison(model, rival)}"


def _leader_names(leader: Leader, case: RankCase) -> str:
    """Return the names of the leader and of all models with identical scores."""
    same = [case.models[i] for i in (leader.first, *leader.identical)]
    return same[0] if len(same) == 1 else f"{join_names(same)} (same distribution of scores)"


def _first_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that names the model that comes first, without a statement on significance."""
    leader = case.leaders[finding.on]
    label = case.column_label(leader.column)
    return f"{_leader_names(leader, case)} comes first on {label}{_method_note(leader)}."


def _shared_sample_note(leader: Leader, case: RankCase) -> str:
    """Return a note on the compared samples if the excluded samples could change the order."""
    excluded = [counts.missing / counts.total for counts in case.table.scored]
    share = max(excluded, default=0) - min(excluded, default=0)
    if case.table.options.missing != "drop" or not share:
        return ""
    values = leader.scores.values
    means = [float(scores.mean()) for scores in values]
    rival_means = (mean for i, mean in enumerate(means) if i not in (leader.first, *leader.identical))
    spread = max(float(scores.max()) for scores in values) - min(float(scores.min()) for scores in values)
    is_robust = (1 - share) * (means[leader.first] - max(rival_means)) > share * spread
    if share <= _MAX_LOST and is_robust:
        return ""
    return f", on the {len(case.table.samples):,} samples that all models have"


def _ship_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that recommends the leader.

    The recommendation is qualified if the result depends on assumptions or on excluded samples.
    """
    leader, same = case.leaders[finding.on], [case.models[i] for i in finding.models]
    names_text = same[0] if len(same) == 1 else f"{' or '.join(same[:3])} (same distribution of scores)"
    result = f"significantly better {_describe_lead(leader, case)}"
    if uncertain := [i for i in leader.beaten if has_uncertain_mean(leader, i, case)]:
        label = case.column_label(leader.column)
        names_of_rivals = others_phrase([case.models[i] for i in leader.rivals])
        rival = f" to {case.models[uncertain[0]]}" if len(leader.rivals) > 1 else ""
        interval = describe_interval(leader, (leader.first, uncertain[0]), case, "{}")
        result = (
            f"ahead of {names_of_rivals} on {label} by {method_words(leader.method)}; "
            f"the mean difference{rival} itself is not significant ({interval})"
        )
    note = _shared_sample_note(leader, case)
    if note or case.assumption:
        return f"{_leader_names(leader, case)} is {result}{note}."
    return f"Ship {names_text}: {result}."


def _higher_mean_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that names a model with a significantly better mean.

    Dominance does not separate this model from the others.
    """
    leader, (best, *rivals) = case.leaders[finding.on], finding.models
    mean, several = case.mean_of(finding.on), len(leader.rivals) > 1
    assert mean is not None
    word = "lower" if mean.lower_is_better else "higher"
    comparison = f"the {word} mean"
    interval = mean.format_interval(finding.figures["low"], finding.figures["high"])
    if several:
        names = join_names([case.models[i] for i in rivals], 3)
        comparison = f"a {word} mean than {names}"
        interval += f" against {case.models[rivals[0]]}" * (len(rivals) > 1)
    order = 1 if leader.tests is None else leader.tests.claim.order
    text = higher_mean_phrase(case.models[best], comparison, interval, order)
    return f"{text}. {_tie_sentence(finding, case)}" if several else f"{text}."


def _trade_off_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that describes the trade-off between the leader and a model whose mean is better."""
    leader, (first, rival, *more) = case.leaders[finding.on], finding.models
    suffix = f" ({counted(len(more), 'other model')} as well)" if more else ""
    means = [mean for mean in case.means if mean.name == leader.column] or case.means
    contrasts = leader.contrasts
    if len(means) > 1 and contrasts.better[rival].any() and not has_weights(case.table):
        return _metric_trade_off(leader, case, suffix)
    if len(means) > 1 and contrasts.worse[rival].any() and not contrasts.better[rival].any():
        wins = _list_metrics(contrasts.worse[rival], (first, rival), case)
        suffix += f"; {case.models[first]} is better on {wins}"
    tail, gain = ColumnTails(leader, case.table), f"or {case.models[rival]} for the better mean"
    risk = f"choose {case.models[first]} if you are risk-averse"
    if tail.tail_answer(leader, rival) > 0:
        risk = f"choose {case.models[first]} to avoid bad cases"
        tails = f"{tail.format_comparison(first, rival)}{leader.format_sizes(first, rival)}"
        risk += f" (the worst {tail.tail_label} average {tails})"
    if len(means) > 1:
        mean = leader.study.effects[leader.method].mean
        figures = " against ".join(distinct_pair(float(mean[rival]), float(mean[first]), format_fixed, 3))
        return f"A trade-off: {risk}, {gain} of {case.column_label(leader.column)} ({figures}){suffix}."
    note = _difference_note(leader, (rival, first), case)
    figures = f"{means[0].name} {means[0].format_comparison(rival, first)}{note}"
    return f"A trade-off: {risk}, {gain} ({figures}){suffix}."


def _difference_note(leader: Leader, pair: tuple[int, int], case: RankCase) -> str:
    """Format the interval of the difference, or the p-value if the interval includes 0."""
    if means_differ(leader, pair, case):
        return describe_interval(leader, pair, case, ", difference {}")
    rival = pair[0] if pair[1] == leader.first else pair[1]
    return "" if len(case.means) > 1 else f", {p_value_phrase(leader.contrasts.p_better(rival))}"


def _metric_trade_off(leader: Leader, case: RankCase, suffix: str) -> str:
    """Describe the trade-off between a leader by equal weights and a rival that is better on some metrics."""
    first, rival = leader.pair
    contrasts = leader.contrasts
    wins = _list_metrics(contrasts.worse[rival], leader.pair, case)
    losses = _list_metrics(contrasts.better[rival], leader.pair if wins else (rival, first), case)
    name, rival_name = case.models[first], case.models[rival]
    balance = f"{rival_name} is better on"
    if wins:
        balance = f"{name} is better than {rival_name} on {wins}, worse on"
    beats_all = len(leader.beaten) == len(leader.rivals)
    scope = f", significantly better {_describe_lead(leader, case)}" if beats_all else ""
    return (
        f"A trade-off: {name} comes first with equal weights{scope}; {balance} {losses}{suffix}. "
        f"{_weight_limits(leader, case)}."
    )


def _weight_limits(leader: Leader, case: RankCase) -> str:
    """Return a description of the weights of single metrics from which another model leads."""
    pairs = [(case.means[m].name, min(times.values())) for m, times in leader.leaders_by_weight.items()]
    counts = [f"{name} is weighted {times:g} times as much" for name, times in pairs]
    if not counts:
        return "Other weights may change the first place (not tested)"
    return f"{case.models[leader.first]} stays first until {' or '.join(counts)} (not tested)"


def _list_metrics(mask: np.ndarray, pair: tuple[int, int], case: RankCase) -> str:
    """List the selected metrics with the means of both models.

    Parameters
    ----------
    mask : ndarray of bool, shape (m,)
        Metrics to list.
    pair : (int, int)
        The model that is better on these metrics, and its rival.
    case : RankCase
    """
    means = [_compare_means(case.means[m], *pair) for m in np.flatnonzero(mask)]
    return _join_metrics(means, len(case.means))


def _deciding_metric_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that names the metric that decides the first place.

    The sentence also names the model that would lead without this metric.
    """
    return f"Without {finding.on}, {case.models[finding.models[1]]} would come first (not tested)."


def _best_mean_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that names the model with the best mean, and compares it with the leader."""
    leader, (best, first) = case.leader, finding.models
    mean, on = case.mean_of(leader.column), case.column_label(leader.column)
    figures = "" if mean is None else f", {mean.format_comparison(best, first)} for {case.models[first]}"
    return f"{case.models[best]} has the best mean {'of ' if mean is None else ''}{on}{figures}."


def _tie_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that names the models that are tied with the leader."""
    leader = case.leaders[finding.on]
    scope = f" {case.suite.scope_text}" if case.suite is not None and leader.column in case.metrics else ""
    rivals = join_names([case.models[i] for i in leader.undecided], 2)
    undecided = f"; the comparison with {rivals} needs more resamples" if rivals else ""
    return f"{_describe_tie(leader, _leader_names(leader, case), case)}{undecided}{scope}."


def _describe_lead(leader: Leader, case: RankCase) -> str:
    """Describe the rivals that the leader beats on the ranked score column or on every metric's mean."""
    models, beaten, rivals = case.models, len(leader.beaten), len(leader.rivals)
    names = others_phrase([models[i] for i in leader.rivals])
    if beaten == rivals:
        return f"than {names} on {case.column_label(leader.column)}"
    worse = join_names([models[i] for i in leader.worse_on_all], 3)
    means = f"than {worse} on {metrics_phrase(len(case.means))}"
    if not beaten:
        return f"{means}, although dominance does not separate them on {case.column_label(leader.column)}"
    return f"than {beaten} of {rivals} other models on {case.column_label(leader.column)}, and {means}"


def _method_note(leader: Leader) -> str:
    """Return a note with the name of the method, or an empty string for the default method."""
    return "" if leader.method == "R-SSD" else f" by {leader.method}"


def _describe_tie(leader: Leader, name: str, case: RankCase) -> str:
    """Describe the leader and its tied rivals, and the rivals that it beats."""
    models, scope = (
        case.models,
        "" if leader.column in case.metrics else f" on {case.column_label(leader.column)}",
    )
    tests = f" by {test_name(leader)}" if _other_test_differs(leader, case) else ""
    beaten, rivals = len(leader.beaten), len(leader.rivals)
    wins = f"{beaten} of {rivals} others" if beaten > 1 else join_names([models[i] for i in leader.beaten])
    suffix = f"; {name} {'beat' if leader.identical else 'beats'} {wins}" if beaten else ""
    tied = [models[i] for i in leader.tied]
    if not tied:
        return f"{name} comes first{suffix.replace(f'; {name}', ' and')}" if suffix else f"{name} comes first"
    size = leader.scores.min_effective_size
    few = f"{size:,.0f} {leader.scores.unit_name} cannot separate" if size < FEW_SAMPLES else ""
    if not beaten and len(tied) > 1 and not leader.task_dependent:
        text = f"the other {rivals} models" if len(tied) == rivals else join_names(tied)
        verb, pronoun = ("come", "them") if leader.identical else ("comes", "it")
        limit = f"{few or 'the tests cannot separate'} {pronoun} from {text}"
        return f"No significant difference{tests}{scope}. {name} {verb} first, but {limit}"
    pair = "them" if leader.rivals_tied else f"{name} from the others"
    text = f"{name} or one of {len(tied)} others ({join_names(tied)})"
    text = join_names([name, *tied]).replace(" and ", " or ") if len(tied) < 3 else text
    if _depends_on_task(leader, case):
        return f"{text}: which is better depends on the task{scope}{suffix}"
    return f"{text}: {few or 'no test separates'} {pair}{tests}{scope}{suffix}"


def _depends_on_task(leader: Leader, case: RankCase) -> bool:
    """Return True if the leader beats a tied rival on some tasks and loses to it on others.

    Rivals that are behind only because of the default task weights count as tied.
    """
    if leader.task_dependent:
        return True
    marks = None if case.suite is None else case.suite.columns[leader.column].marks
    if marks is None or len(leader.tied) != 1:
        return False
    pair_marks = marks[leader.first, leader.tied[0]]
    return bool((pair_marks > 0).any() and (pair_marks < 0).any())


def test_name(leader: Leader) -> str:
    """Return the name of what was tested: dominance, or the macro mean if there are few random tasks."""
    if leader.tests is not None and leader.tests.mean_test == REPLACED:
        return "the macro mean"
    method = method_words(leader.method)
    return "dominance" if method == leader.method else method


def _other_test_differs(leader: Leader, case: RankCase) -> bool:
    """Return True if a tied model differs significantly from the leader in means, tasks or tails."""
    recommendation, tied = leader.recommendation, leader.tied
    contrasts = None if recommendation is None else recommendation.leader.contrasts
    means = contrasts is not None and bool((contrasts.better | contrasts.worse)[tied].any())
    marks = None if case.suite is None else case.suite.columns[leader.column].marks
    tasks = marks is not None and bool(marks[leader.first, tied].any())
    pair = leader.first, leader.rivals[0]
    return means_differ(leader, pair, case) or means or tasks or bool(leader.worse_tails)


def _contradiction_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that describes the evidence against the leader, and the alternative to it."""
    leader, models = case.leaders[finding.on], case.models
    objection = leader.objection
    assert objection is not None
    name = models[leader.first]
    place = f"{name} comes first on {case.column_label(leader.column)}{_method_note(leader)}"
    rival = objection.rival
    rival_name = models[rival]
    if rival in objection.leader.better:
        scope = metrics_phrase(len(case.means)) if len(case.means) > 1 else "average"
        metrics = strongest_metrics(objection.leader.contrasts.absolute_t[rival], 2)
        parts = [_compare_means(case.means[m], rival, leader.first) for m in metrics]
        p_value = p_value_phrase(finding.figures["p_adjusted"])
        reason = f"but {rival_name} is better on {scope} ({', '.join(parts)}, {p_value})"
        if more_rivals := [models[i] for i in objection.leader.better if i != rival]:
            reason += f", as {'is' if len(more_rivals) == 1 else 'are'} {join_names(more_rivals)}"
        if leader.column not in case.metrics:
            reason += ": the combined score uses ranks, not the size of differences"
    elif rival in objection.leader.ahead:
        parts = [_compare_means(mean, rival, leader.first) for mean in case.means[:2]]
        reason = f"but {rival_name} is significantly ahead of it head to head ({', '.join(parts)})"
    else:
        worse = tail_warning(leader, case.table.metrics)
        assert worse is not None
        reason = f"but its {worse.describe(models)}"
    alternative = _alternative_sentence(leader, objection, case)
    return f"No recommendation: {place}, {reason}. {alternative}"


def _alternative_sentence(leader: Leader, advice: Recommendation, case: RankCase) -> str:
    """Return a sentence on the alternative to a contradicted leader, and the metrics that favour it."""
    if advice.choice is None:
        return "Every other model is beaten by another model."
    choice = case.models[advice.choice]
    if advice.tied is not None:
        tied = join_names([choice, case.models[advice.tied]])
        return f"No alternative stands out: {tied} share first place in the aggregated metric rankings."
    if advice.alternative is None:
        rivals = [i for i in advice.ahead_of_choice if i != advice.leader.model]
        rival_names = join_names([case.models[i] for i in rivals or advice.before_choice], 2)
        status = "is significantly behind {} head to head"
        if not rivals:
            earlier = [*advice.before_choice]
            significant = leader.tests is not None and leader.tests.dominates[earlier, advice.choice].any()
            inconclusive = f"ranks after {{}}, and {test_name(leader)} does not separate them"
            status = "ranks after {}, too" if significant else inconclusive
        return f"No alternative stands out: {choice} {status.format(rival_names)}."
    if len(advice.unbeaten) == 1:
        leader_name = case.models[advice.leader.model]
        exception = f", although {leader_name} is ahead of it head to head" if advice.ahead_of_choice else ""
        reason = "no other model is significantly better on one metric without being worse on another"
        reason = reason if len(case.means) > 1 else "no other model has a significantly better mean"
        return f"Consider {choice} instead: {reason}{exception}."
    if advice.passed_over:
        first = advice.passed_over[0]
        passed, rival = case.models[first.model], case.models[first.rival]
        metrics = join_names([case.means[m].name for m in first.metrics], 3)
        return (
            f"Consider {choice} instead: {passed} ranks before it in the aggregated metric rankings, "
            f"but {rival} is significantly better than {passed} on {metrics}, and worse on no metric."
        )
    remaining = join_names([case.models[i] for i in advice.unbeaten[1:]], 3)
    names = join_names([case.means[m].name for m in advice.deciding])
    suffix = f"; {names} decides" if len(advice.deciding) == 1 else f"; {names} decide" if names else ""
    by = "in the aggregated metric rankings" if len(case.means) > 1 else "in the ranking"
    return (
        f"Consider {choice} instead: among the unbeaten models it comes first {by}, before "
        f"{remaining}{suffix}."
    )


def _aggregation_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that names the first model in an aggregate order, which is not tested."""
    order = [case.models[i] for i in finding.models]
    note = "" if case.unique else " (another order fits equally well)"
    rivals = join_names(order[1:])
    return f"{order[0]} comes first by {finding.on}, before {rivals}{note}; this order was not tested."


def _metric_tail_sentence(_: Finding, case: RankCase) -> str:
    """Return a sentence that describes the leader's tail risk on a metric."""
    leader = case.leader
    warning = tail_warning(leader, case.table.metrics)
    assert warning is not None
    return f"Tail risk of {case.models[leader.first]}: its {warning.describe(case.models)}."


def _undecided_tail_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence stating that a tail comparison needs more resamples."""
    first, *models = (case.models[i] for i in finding.models)
    rivals = join_names(models, 2)
    claim = f"{first} has worse bad cases on a metric than {rivals}"
    return f"More resamples are needed to decide whether {claim}."


def _task_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that compares the leader with the runner-up task by task."""
    leader, suite, (first, second) = case.leaders[finding.on], case.required_suite, finding.models
    text = sentences.task_sentence(suite, suite.columns[leader.column], first, second)
    if text.startswith(("better", "worse")) and suite.tested:
        text = f"task by task {text}"
    if (mean := case.mean_of(leader.column)) is not None:
        span = describe_interval(leader, leader.pair, case)
        means = f"macro mean {mean.format_comparison(first, second)}{span}"
        text = "; ".join(filter(None, (means, text)))
    return f"Compared with {case.models[second]}: {text}."


def _judge_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that compares the leader by the judge alone with the calibrated leader."""
    assert case.judged is not None
    (best, first), mean, scored = finding.models, case.means[0], case.judged.entry.models
    judge_means = " against ".join(mean.format_value(scored[i].judge_mean) for i in finding.models)
    span = describe_interval(case.leader, (first, best), case)
    return (
        f"The judge alone ranks {case.models[best]} first, {judge_means}; calibrated on the labels, "
        f"{case.models[first]} has {mean.format_comparison(first, best)}{span}."
    )


def _gain_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence on the metrics on which the leader is better or worse than the runner-up."""
    leader, second = case.leader, finding.models[1]
    contrasts = leader.contrasts
    order = strongest_metrics(contrasts.absolute_t[second], len(case.means))
    better = [m for m in order if contrasts.worse[second, m]]
    worse = [m for m in order if contrasts.better[second, m]]
    first, rival = case.models[leader.first], case.models[second]
    if len(case.means) == 1:
        mean, span = case.means[0], describe_interval(leader, leader.pair, case)
        return (
            f"{first}'s mean {mean.name} is {mean.format_comparison(leader.first, second)} for {rival}{span}."
        )

    def sides(metrics: Sequence[int]) -> str:
        means = [_compare_means(case.means[m], leader.first, second) for m in metrics]
        return _join_metrics(means, len(case.means))

    gains = f"better on {sides(better)}" if better else ""
    losses = f"worse on {sides(worse)}" if worse else ""
    # State the losses first if the leader is recommended.
    comparison = " but ".join(filter(None, (losses, gains) if leader.recommended_leader else (gains, losses)))
    text = f"{first} is {comparison}" if comparison else "no mean differs significantly"
    if not (comparison or leader.is_clear) and (counts := contrasts.worse.sum(axis=0)).any():
        metric = int(counts.argmax())
        names = join_names([case.models[i] for i in np.flatnonzero(contrasts.worse[:, metric]).tolist()], 3)
        text += f"; on {case.means[metric].name} {first} is better than {names}"
    lost = _lost_metrics(leader, case)
    if lost and leader.recommended_leader:
        start = f"{lost[0].upper()}{lost[1:]}" if lost.startswith("other models are") else lost
        return f"{start}; compared with {rival}, {text}."
    return f"Compared with {rival}, {'; '.join(filter(None, (text, lost)))}."


def _lost_metrics(leader: Leader, case: RankCase) -> str:
    """Return a description of the metrics on which a third model is best and beats the leader."""
    contrasts, better = leader.contrasts, leader.contrasts.better
    best = [mean.best for mean in case.means]
    named = leader.rivals[0], *leader.trade_offs
    metrics = [m for m, i in enumerate(best) if better[i, m] and i not in named]
    if not metrics:
        return ""
    metric = max(metrics, key=lambda m: float(contrasts.absolute_t[best[m], m]))
    winner, mean = case.models[best[metric]], case.means[metric]
    if len(metrics) == 1:
        return f"{winner} is better on {mean.name}, {mean.format_comparison(mean.best, leader.first)}"
    names = join_names([case.means[m].name for m in metrics])
    means = _compare_means(mean, mean.best, leader.first)
    return f"other models are better on {names}, for example {winner} ({means})"


def _join_metrics(parts: Sequence[str], total: int) -> str:
    """Join up to two descriptions of metrics.

    If there are more, return their number instead.
    """
    if len(parts) <= 2:
        return " and ".join(parts)
    return f"{count_of_total(len(parts), total, 'metrics')}, for example {parts[0]}"


def _more_often_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that states on what percentage of the samples the runner-up is better."""
    (first, second), tail = finding.models, ColumnTails(case.leader, case.table)
    text = f"{case.models[second]} is better on {format_percent(finding.figures['share'])} of the samples"
    if finding.kind == "more-often":
        return f"{text}; {case.models[first]} is the risk-averse choice."
    return f"{text}, but its worst {tail.tail_label} average {tail.format_comparison(second, first)}."


def _hidden_risk_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that describes the hidden risk of a model."""
    leader, model = case.leader, finding.models[0]
    risk = ColumnTails(leader, case.table).describe_risk(model)
    text = f"Tail risk of {case.models[model]}"
    if finding.kind == "best-mean-hides-risk":
        score = "" if leader.column in case.metrics else " combined score"
        text = f"{case.models[model]} has the best mean{score} but hides a tail risk"
        risk = risk.replace(" of the combined score", "")  # the sentence already names the score
    # One-sided, because intervals are two-sided.
    return f"{text}: {risk} (one-sided {p_value_phrase(finding.figures['p_adjusted'])})."


def _tail_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that compares the tail means of two models."""
    model, rival = finding.models
    milder = finding.kind == "tail-of-the-first" and finding.answer == Answer.SIGNIFICANT
    average = ColumnTails(case.leader, case.table).describe(model, rival)
    return f"{case.models[model]} has {'milder' if milder else 'worse'} bad cases: {average}."


def _same_scores_sentence(finding: Finding, case: RankCase) -> str:
    """Return the sentence that names models with identical scores.

    The sentence is empty if the models are named with the leader.
    """
    includes_leader = len(case.leaders) == 1 and case.leader.first in finding.models  # named with the leader
    return "" if includes_leader else SHARED_SENTENCES["same-scores"](finding, case)


def _first_without_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that names the model that would lead if another model were not in the table."""
    advice, (excluded, new_leader) = (case.leader.recommendation, (case.models[i] for i in finding.models))
    assert advice is not None
    more = len(advice.first_without or ()) - 1
    note = f" (also without {counted(more, 'other model')})" if more else ""
    return f"Without {excluded} in the table, {new_leader} would come first{note}."


def _column_names(case: RankCase, first: int | None = None) -> list[str]:
    """Return the names of all score columns, or only of those that the model `first` leads."""
    return [case.column_label(name) for name, leader in case.leaders.items() if first in (None, leader.first)]


def _split_lead_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that names the leader of each score column."""
    parts = [f"{case.models[i]} on {join_names(_column_names(case, i))}" for i in finding.models]
    return f"No model comes first everywhere: {join_names(parts, 6)}."


def _column_sentence(_: Finding, case: RankCase) -> str:
    """Return a sentence that describes the evidence about the leaders of several score columns."""
    states = case.columns_by_state.items()
    text = "; ".join(f"on {join_names(columns, 6)} {state}" for state, columns in states)
    return f"{text[0].upper()}{text[1:]}."


SENTENCES: Sentences[RankCase] = Sentences(
    {
        "first": _first_sentence,
        "contradicted": _contradiction_sentence,
        "ahead": _ship_sentence,
        "trade": _trade_off_sentence,
        "level": _tie_sentence,
        "higher-mean": _higher_mean_sentence,
        "detection-limit": lambda _, case: detection_limit_sentence(
            case.leader.scores.min_effective_size, case.leader.scores.unit_name
        ),
        "metric-decides": _deciding_metric_sentence,
        "best-mean": _best_mean_sentence,
        "aggregated": _aggregation_sentence,
        "worse-tail-on-a-metric": _metric_tail_sentence,
        "undecided-tail": _undecided_tail_sentence,
        "by-task": _task_sentence,
        "best-macro-mean": lambda finding, case: (
            f"By the macro mean, {case.models[finding.models[0]]} comes first."
        ),
        "judge-alone": _judge_sentence,
        "gain": _gain_sentence,
        "more-often": _more_often_sentence,
        "more-often-but-worse-tail": _more_often_sentence,
        "best-mean-hides-risk": _hidden_risk_sentence,
        "hidden-risk": _hidden_risk_sentence,
        "worse-tail": _tail_sentence,
        "tail-of-the-first": _tail_sentence,
        "first-without": _first_without_sentence,
        "same-scores": _same_scores_sentence,
        "first-by-metrics": lambda finding, case: (
            f"{case.models[finding.models[0]]} comes first in the aggregated metric rankings, RA(R-SSD@M)."
        ),
        "first-on-each": lambda finding, case: (
            f"{case.models[finding.models[0]]} comes first on each of {join_names(_column_names(case), 6)}."
        ),
        "first-here-and-there": _split_lead_sentence,
        "by-column": _column_sentence,
    },
    aside=("first-by-metrics",),
)
