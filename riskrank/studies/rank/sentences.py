"""Sentences for the findings of a ranking (method §4, "What a verdict may say")."""

from collections.abc import Sequence

import numpy as np

from riskrank.engine.dominance.recommendation import Recommendation
from riskrank.engine.sampling.design import FEW_SAMPLES
from riskrank.studies import wording
from riskrank.studies.findings import Finding, Sentences, same_scores_sentence
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.leader import Leader, RankCase, describe_interval, strongest_metrics
from riskrank.studies.targets import has_weights

# Largest tolerated difference in missing shares. Above it, a model may lack the samples that it fails on.
_MAX_LOST = 0.2


def _compare_means(mean: MetricMeans, model: int, rival: int) -> str:
    """Format two models' means on a metric: ``correct 97.5 % against 82.3 %``."""
    return f"{mean.name} {mean.format_comparison(model, rival)}"


def _leader_names(leader: Leader, case: RankCase) -> str:
    """Return the names of the leader and of all models with identical scores."""
    same = [case.models[i] for i in (leader.first, *leader.identical)]
    return same[0] if len(same) == 1 else f"{wording.join_names(same)} (same distribution of scores)"


def _first_place_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that names the model that comes first, without a statement on significance."""
    leader = case.leaders[finding.on]
    label = case.column_label(leader.column)
    return f"{_leader_names(leader, case)} comes first on {label}{_method_note(leader)}."


def _shared_sample_note(leader: Leader, case: RankCase) -> str:
    """Return a note about the compared samples if the excluded ones could change the order, or else ""."""
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


def _recommendation_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that recommends the leader.

    The recommendation is qualified if the result depends on assumptions or on excluded samples.
    """
    leader, same = case.leaders[finding.on], [case.models[i] for i in finding.models]
    names_text = same[0] if len(same) == 1 else f"{' or '.join(same[:3])} (same distribution of scores)"
    result = f"significantly better {_describe_lead(leader, case)}"
    if uncertain := [i for i in leader.beaten if leader.has_uncertain_mean(i)]:
        label = case.column_label(leader.column)
        names_of_rivals = wording.others_phrase([case.models[i] for i in leader.rivals])
        rival = f" to {case.models[uncertain[0]]}" if len(leader.rivals) > 1 else ""
        interval = describe_interval(leader, (leader.first, uncertain[0]), case, "{}")
        result = (
            f"ahead of {names_of_rivals} on {label} by {wording.method_words(leader.method)}; "
            f"the mean difference{rival} itself is not significant ({interval})"
        )
    note, equals = _shared_sample_note(leader, case), ""
    if leader.less_certain:
        names = wording.join_names([case.models[i] for i in leader.less_certain], 3)
        equals = f" The same is not significant for {names}, with the same distribution of scores."
    if note or case.assumption:
        return f"{_leader_names(leader, case)} is {result}{note}.{equals}"
    return f"Ship {names_text}: {result}.{equals}"


def _higher_mean_sentence(finding: Finding, case: RankCase) -> str:
    """Return the sentence about a significantly better mean of a model that dominance does not separate."""
    leader, (best, *rivals) = case.leaders[finding.on], finding.models
    mean, several = case.mean_of(finding.on), len(leader.rivals) > 1
    assert mean is not None
    word = "lower" if mean.lower_is_better else "higher"
    comparison = f"the {word} mean"
    interval = mean.format_interval(finding.figures["low"], finding.figures["high"])
    if several:
        names = wording.join_names([case.models[i] for i in rivals], 3)
        comparison = f"a {word} mean than {names}"
        interval += f" against {case.models[rivals[0]]}" * (len(rivals) > 1)
    order = 1 if leader.tests is None else leader.tests.claim.order
    text = wording.higher_mean_phrase(case.models[best], comparison, interval, order)
    return f"{text}. {_tie_sentence(finding, case)}" if several else f"{text}."


def _trade_off_sentence(finding: Finding, case: RankCase) -> str:
    """Return the sentence about the trade-off between the leader and a model with a better mean."""
    leader, (first, rival, *more) = case.leaders[finding.on], finding.models
    suffix = f" ({wording.counted(len(more), 'other model')} as well)" if more else ""
    means = [mean for mean in case.means if mean.name == leader.column] or case.means
    contrasts = leader.contrasts
    if len(means) > 1 and contrasts.better[rival].any() and not has_weights(case.table):
        return _metric_trade_off(leader, case, suffix)
    if len(means) > 1 and contrasts.worse[rival].any() and not contrasts.better[rival].any():
        wins = _list_metrics(contrasts.worse[rival], (first, rival), case)
        suffix += f"; {case.models[first]} is better on {wins}"
    tail, gain = leader.tail, f"or {case.models[rival]} for the better mean"
    risk = f"choose {case.models[first]} if you are risk-averse"
    if tail.answer(rival) > 0:
        risk = f"choose {case.models[first]} to avoid bad cases"
        tails = f"{tail.format_comparison(first, rival)}{leader.format_sizes(first, rival)}"
        risk += f" (the worst {tail.tail_label} average {tails})"
    if len(means) > 1:
        mean = leader.study.effects[leader.method].mean
        scores = wording.distinct_pair(float(mean[rival]), float(mean[first]), wording.format_fixed, 3)
        figures = " against ".join(scores)
        return f"A trade-off: {risk}, {gain} of {case.column_label(leader.column)} ({figures}){suffix}."
    note = describe_interval(leader, (rival, first), case, ", difference {}")
    if not leader.means_differ(rival, first):
        note = "" if len(case.means) > 1 else f", {wording.p_value_phrase(contrasts.p_better(rival))}"
    figures = f"{means[0].name} {means[0].format_comparison(rival, first)}{note}"
    return f"A trade-off: {risk}, {gain} ({figures}){suffix}."


def _metric_trade_off(leader: Leader, case: RankCase, suffix: str) -> str:
    """Return sentences on a trade-off: the leader is first with equal weights, a rival on some metrics.

    `suffix` is appended to the first sentence.
    """
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
    pairs = [(case.means[m].name, min(times.values())) for m, times in leader.leaders_by_weight.items()]
    limits = [f"{metric} is weighted {times:g} times as much" for metric, times in pairs]
    weights = f"{name} stays first until {' or '.join(limits)}" if limits else ""
    return (
        f"A trade-off: {name} comes first with equal weights{scope}; {balance} {losses}{suffix}. "
        f"{weights or 'Other weights may change the first place'} (not tested)."
    )


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


def _tie_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence that names the models that are tied with the leader."""
    leader = case.leaders[finding.on]
    scope = f" {case.suite.scope_text}" if case.suite is not None and leader.column in case.metrics else ""
    rivals = wording.join_names([case.models[i] for i in leader.undecided], 2)
    undecided = f"; the comparison with {rivals} needs more resamples" if rivals else ""
    return f"{_describe_tie(leader, _leader_names(leader, case), case)}{undecided}{scope}."


def _describe_lead(leader: Leader, case: RankCase) -> str:
    """Return a phrase that starts with "than" and names the rivals that the leader beats."""
    models, beaten, rivals = case.models, len(leader.beaten), len(leader.rivals)
    names = wording.others_phrase([models[i] for i in leader.rivals])
    if beaten == rivals:
        return f"than {names} on {case.column_label(leader.column)}"
    worse = wording.join_names([models[i] for i in leader.worse_on_all], 3)
    means = f"than {worse} on {wording.metrics_phrase(len(case.means))}"
    if not beaten:
        return f"{means}, although dominance does not separate them on {case.column_label(leader.column)}"
    return f"than {beaten} of {rivals} other models on {case.column_label(leader.column)}, and {means}"


def _method_note(leader: Leader) -> str:
    """Return a note with the name of the method, or an empty string for the default method."""
    return "" if leader.method == "R-SSD" else f" by {leader.method}"


def _describe_tie(leader: Leader, name: str, case: RankCase) -> str:
    """Return a clause about the leader, called `name`, its tied rivals, and the rivals that it beats."""
    models = case.models
    scope = "" if leader.column in case.metrics else f" on {case.column_label(leader.column)}"
    tests = f" by {leader.test_name}" if _has_other_significant_test(leader, case) else ""
    beaten, rivals = len(leader.beaten), len(leader.rivals)
    wins = models[leader.beaten[0]] if beaten == 1 else f"{beaten} of {rivals} others"
    suffix = f"; {name} {'beat' if leader.identical else 'beats'} {wins}" if beaten else ""
    tied = [models[i] for i in leader.tied]
    if not tied:
        return f"{name} {'come' if leader.identical else 'comes'} first{suffix.replace(f'; {name}', ' and')}"
    size = leader.scores.min_effective_size
    few = f"{size:,.0f} {leader.scores.unit_name} cannot separate" if size < FEW_SAMPLES else ""
    if not beaten and len(tied) > 1 and not leader.task_dependent:
        text = f"the other {rivals} models" if len(tied) == rivals else wording.join_names(tied)
        verb, pronoun = ("rank", "them") if leader.identical else ("ranks", "it")
        limit = f"{few or 'the tests cannot separate'} {pronoun} from {text}"
        return f"No significant difference{tests}{scope}. {name} {verb} first, but {limit}"
    equal = leader.tests is None or not leader.tests.dominates[np.ix_(leader.tied, leader.tied)].any()
    pair = "them" if equal else f"{name} from the others"
    text = f"{name} or one of {len(tied)} others ({wording.join_names(tied)})"
    text = wording.join_names([name, *tied]).replace(" and ", " or ") if len(tied) < 3 else text
    if _has_task_dependent_winner(leader, case):
        return f"{text}: which is better depends on the task{scope}{suffix}"
    if few and not leader.identical:
        names = [name, *tied]
        return (
            wording.few_samples_sentence(names, f"{size:,.0f} {leader.scores.unit_name}", tests + scope)
            + suffix
        )
    return f"{text}: {few or 'no test separates'} {pair}{tests}{scope}{suffix}"


def _has_task_dependent_winner(leader: Leader, case: RankCase) -> bool:
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


def _has_other_significant_test(leader: Leader, case: RankCase) -> bool:
    """Return True if a tied model differs significantly from the leader in means, tasks or tails."""
    recommendation, tied = leader.recommendation, leader.tied
    contrasts = None if recommendation is None else recommendation.leader.contrasts
    means = contrasts is not None and bool((contrasts.better | contrasts.worse)[tied].any())
    marks = None if case.suite is None else case.suite.columns[leader.column].marks
    tasks = marks is not None and bool(marks[leader.first, tied].any())
    pair = leader.first, leader.rivals[0]
    return leader.means_differ(*pair) or means or tasks or bool(leader.worse_tails)


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
        scope = wording.metrics_phrase(len(case.means)) if len(case.means) > 1 else "average"
        metrics = strongest_metrics(objection.leader.contrasts.absolute_t[rival], 2)
        parts = [_compare_means(case.means[m], rival, leader.first) for m in metrics]
        p_value = wording.p_value_phrase(finding.figures["p_adjusted"])
        reason = f"but {rival_name} is better on {scope} ({', '.join(parts)}, {p_value})"
        if more_rivals := [models[i] for i in objection.leader.better if i != rival]:
            reason += f", as {'is' if len(more_rivals) == 1 else 'are'} {wording.join_names(more_rivals)}"
        if leader.column not in case.metrics:
            reason += ": the combined score uses ranks, not the size of differences"
    elif rival in objection.leader.ahead:
        parts = [_compare_means(mean, rival, leader.first) for mean in case.means[:2]]
        reason = f"but {rival_name} is significantly ahead of it head to head ({', '.join(parts)})"
    else:
        worse = leader.tail_warning
        assert worse is not None
        reason = f"but its {worse.describe(models)}"
    alternative = _alternative_sentence(leader, objection, case)
    return f"No recommendation: {place}, {reason}. {alternative}"


def _alternative_sentence(leader: Leader, advice: Recommendation, case: RankCase) -> str:
    """Return the sentence about the model to consider instead of a contradicted leader, and why."""
    if advice.choice is None:
        return "Every other model is beaten by another model."
    choice = case.models[advice.choice]
    if advice.tied is not None:
        tied = wording.join_names([choice, case.models[advice.tied]])
        return f"No alternative stands out: {tied} share first place in the ranking aggregated over metrics."
    if advice.alternative is None:
        rivals = [i for i in advice.ahead_of_choice if i != advice.leader.model]
        rival_names = wording.join_names([case.models[i] for i in rivals or advice.before_choice], 2)
        status = "is significantly behind {} head to head"
        if not rivals:
            earlier = [*advice.before_choice]
            significant = leader.tests is not None and leader.tests.dominates[earlier, advice.choice].any()
            inconclusive = f"ranks after {{}}, and {leader.test_name} does not separate them"
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
        metrics = wording.join_names([case.means[m].name for m in first.metrics], 3)
        return (
            f"Consider {choice} instead: {passed} ranks above it if the per-metric rankings are aggregated, "
            f"but {rival} is significantly better than {passed} on {metrics} and worse on no other metric."
        )
    remaining = wording.join_names([case.models[i] for i in advice.unbeaten[1:]], 3)
    names = wording.join_names([case.means[m].name for m in advice.deciding])
    suffix = f"; {names} decides" if len(advice.deciding) == 1 else f"; {names} decide" if names else ""
    by = "in the ranking aggregated over metrics" if len(case.means) > 1 else "in the ranking"
    return (
        f"Consider {choice} instead: among the unbeaten models it comes first {by}, before "
        f"{remaining}{suffix}."
    )


def _gain_sentence(finding: Finding, case: RankCase) -> str:
    """Return a sentence about the metrics on which the leader is better or worse than the runner-up."""
    leader, second = case.leader, finding.models[1]
    contrasts = leader.contrasts
    order = strongest_metrics(contrasts.absolute_t[second], len(case.means))
    better = [m for m in order if contrasts.worse[second, m]]
    worse = [m for m in order if contrasts.better[second, m]]
    first, rival = case.models[leader.first], case.models[second]
    if len(case.means) == 1:
        mean, equals = case.means[0], [leader.first, *leader.identical, *leader.less_certain]
        labels = [case.models[i] for i in equals]
        spans = [describe_interval(leader, (i, second), case, "{}") for i in equals]
        if len(set(spans)) > 1:
            spans = [f"{span} for {name}" for span, name in zip(spans, labels, strict=True)]
        span = f" (difference {', '.join(dict.fromkeys(spans[:3]))})" if all(spans) else ""
        means = mean.format_comparison(leader.first, second)
        return f"{wording.join_names(labels, 3)}'s mean {mean.name} is {means} for {rival}{span}."

    def sides(metrics: Sequence[int]) -> str:
        """List the given metrics with the means of both models."""
        means = [_compare_means(case.means[m], leader.first, second) for m in metrics]
        return _join_metrics(means, len(case.means))

    gains = f"better on {sides(better)}" if better else ""
    losses = f"worse on {sides(worse)}" if worse else ""
    # State the losses first if the leader is recommended.
    comparison = " but ".join(filter(None, (losses, gains) if leader.recommended_leader else (gains, losses)))
    text = f"{first} is {comparison}" if comparison else "no mean differs significantly"
    if not (comparison or leader.is_clear) and (counts := contrasts.worse.sum(axis=0)).any():
        metric = int(counts.argmax())
        models = [case.models[i] for i in np.flatnonzero(contrasts.worse[:, metric]).tolist()]
        names = wording.join_names(models, 3)
        text += f"; on {case.means[metric].name} {first} is better than {names}"
    lost = _describe_metrics_led_by_others(leader, case)
    if lost and leader.recommended_leader:
        start = f"{lost[0].upper()}{lost[1:]}" if lost.startswith("other models are") else lost
        return f"{start}; compared with {rival}, {text}."
    return f"Compared with {rival}, {'; '.join(filter(None, (text, lost)))}."


def _describe_metrics_led_by_others(leader: Leader, case: RankCase) -> str:
    """Describe the metrics on which a model other than the runner-up is best and beats the leader."""
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
    names = wording.join_names([case.means[m].name for m in metrics])
    means = _compare_means(mean, mean.best, leader.first)
    return f"other models are better on {names}, for example {winner} ({means})"


def _join_metrics(parts: Sequence[str], total: int) -> str:
    """Join one or two descriptions of metrics; for more, return their count of `total` and an example."""
    if len(parts) <= 2:
        return " and ".join(parts)
    return f"{wording.count_of_total(len(parts), total, 'metrics')}, for example {parts[0]}"


SENTENCES: Sentences[RankCase] = Sentences(
    {
        "first": _first_place_sentence,
        "contradicted": _contradiction_sentence,
        "ahead": _recommendation_sentence,
        "trade": _trade_off_sentence,
        "level": _tie_sentence,
        "higher-mean": _higher_mean_sentence,
        "detection-limit": lambda _, case: wording.detection_limit_sentence(
            case.leader.scores.min_effective_size, case.leader.scores.unit_name
        ),
        "metric-decides": "Without {on}, {1} would come first (not tested).",
        "best-mean": "{0} has the best mean {score}.",
        "aggregated": "{0} comes first by {on}, before {others}{note}; this order was not tested.",
        "worse-tail-on-a-metric": "Tail risk of {0}: its {tail}.",
        "undecided-tail": "More resamples are needed to decide whether {0} has worse bad cases on a metric "
        "than {rivals}.",
        "by-task": "Compared with {1}: {tasks}.",
        "best-macro-mean": "By the macro mean, {0} comes first.",
        "judge-alone": "The judge alone ranks {0} first, {judge_means}; calibrated on the labels, {1} has "
        "{means}.",
        "gain": _gain_sentence,
        "more-often": "{1} is better on {share} of the samples; {0} is the risk-averse choice.",
        "more-often-but-worse-tail": "{1} is better on {share} of the samples, but its worst {tail}.",
        "best-mean-hides-risk": "{0} has the best mean{score} but hides a tail risk: {tail} (one-sided {p}).",
        # One-sided, because intervals are two-sided.
        "hidden-risk": "Tail risk of {0}: {tail} (one-sided {p}).",
        "worse-tail": "{0} has worse bad cases: {tail}.",
        "tail-of-the-first": "{0} has {milder} bad cases: {tail}.",
        "first-without": "Without {0} in the table, {1} would come first{note}.",
        # The leader's sentence names models with the same scores.
        "same-scores": lambda finding, case: (
            ""
            if len(case.leaders) == 1 and case.leader.first in finding.models
            else same_scores_sentence([case.models[i] for i in finding.models])
        ),
        "first-by-metrics": "{0} comes first in the ranking aggregated over metrics, RA(R-SSD@M).",
        "first-on-each": "{0} comes first on each of {columns}.",
        "first-here-and-there": "No model comes first everywhere: {leaders}.",
        "by-column": "{states}.",
    },
    aside=("first-by-metrics",),
)
