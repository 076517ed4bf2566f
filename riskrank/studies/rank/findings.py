"""Findings of a ranking, most severe first, and its key figures: the evidence for and against the leader."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from riskrank.engine.dominance.column_ranking import mean_over_samples, proportion_better, sample_weights
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.family import Answer
from riskrank.errors import counted
from riskrank.options.inference import RANDOM
from riskrank.studies.document import Quote
from riskrank.studies.findings import (
    Finding,
    detection_limit,
    judge_findings,
    other_scope_findings,
    seed_findings,
    untested_findings,
    vote_findings,
)
from riskrank.studies.metric_means import pair_figures
from riskrank.studies.rank.leader import (
    AGAINST,
    NOT_SHOWN,
    Leader,
    RankCase,
    describe_interval,
    strongest_metrics,
)
from riskrank.studies.suites.section import SuiteAnalysis, task_counts, task_sentence
from riskrank.studies.wording import format_fixed, format_percent, join_names, p_value_phrase

# Relative difference of means below which only the order of summation differs.
_ROUNDING = 1e-12


def rank_findings(study: MethodStudy, case: RankCase) -> list[Finding]:
    """Return the findings of a ranking; there is at least one.

    Parameters
    ----------
    study : MethodStudy
        Rankings by all methods.
    case : RankCase
        Leaders and their evidence.
    """
    if not case.leaders:
        name, order = next(iter(study.aggregations.items()))
        unique = all(order.unique for order in study.aggregations.values())
        words = {"note": "" if unique else " (another order fits equally well)"}
        return [Finding("aggregated", tuple(order.order.tolist()), on=name, words=words)]
    if len(case.leaders) > 1:
        return [*_column_findings(case), *case.identical_models]
    leader = case.leader
    answer = _answer_finding(leader, case)
    findings = [answer, *vote_findings(case.table), *untested_findings(leader.tested)]
    findings += [*_metric_tail_findings(leader, case)]
    findings += _best_mean_findings(leader, answer, case)
    # On a suite without a clear leader, the other scope takes the lines of this sentence.
    findings += _seed_findings(leader, case) if case.suite is None or leader.is_clear else ()
    if case.suite is not None:
        findings += _task_findings(leader, case, case.suite)
        if leader.is_clear and case.suite.scope == RANDOM:
            findings.append(detection_limit(leader.scores.min_effective_size, leader.scores.unit_name))
    else:
        findings += [*_judge_findings(leader, case), *judge_findings(case)]
        findings += _mean_difference_findings(leader, case)
    findings += [*case.identical_models, *_deciding_metric_findings(leader, case)]
    return [*findings, *_caveat_findings(leader, case)]


def _seed_findings(leader: Leader, case: RankCase) -> Iterator[Finding]:
    """Yield a finding if another random seed may change the result of a test of the leader."""
    if leader.tests is None or leader.undecided:
        return
    needed = leader.tests.safe_resamples(case.family.alpha)
    pairs = [*product((leader.first, *leader.identical), leader.rivals)]
    close = {pair: float(needed[pair]) for pair in pairs}
    yield from seed_findings(close, leader.column)
    if len(case.table.metrics) == 1 and not any(close.values()):
        means = {pair: leader.study.compared[pair[0]].mean_difference.safe_resamples for pair in pairs}
        close = {pair: float(needed[pair[1]]) for pair, needed in means.items() if needed is not None}
        yield from seed_findings(close, leader.column, means=True)


def _judge_findings(leader: Leader, case: RankCase) -> Iterator[Finding]:
    """Yield a finding if the uncalibrated judge would rank another model first."""
    if case.judged is None or (best := case.judged.best_alone) == leader.first:
        return
    pair, mean = (leader.first, best), case.means[0]
    alone = [case.judged.entry.models[i].judge_mean for i in (best, leader.first)]
    figures = dict(zip(("judge_mean", "judge_against"), alone, strict=True))
    figures |= leader.mean_interval(*pair) | pair_figures(case.means, *pair)
    words = {
        "judge_means": " against ".join(map(mean.format_value, alone)),
        "means": mean.format_comparison(*pair) + describe_interval(leader, pair, case),
    }
    yield Finding("judge-alone", (best, leader.first), figures=figures, words=words)


def _answer_finding(leader: Leader, case: RankCase) -> Finding:
    """Return the main finding about the leader: it is ahead, tied, in a trade-off, or contradicted."""
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
        if (worse := leader.tail_warning) is not None:
            figures |= worse.tail.figures(*pair, "tail_against")
        return Finding("contradicted", pair, on=leader.column, figures=figures, answer=Answer.CONTRADICTED)
    if leader.trade_offs:
        rival = leader.trade_offs[0]
        tails = leader.tail.figures(leader.first, rival, "tail_against")
        if len(case.means) == 1:
            tails["p_adjusted"] = leader.contrasts.p_better(rival)
        limits = [(case.means[m].name, multiples) for m, multiples in leader.leaders_by_weight.items()]
        tails |= {f"{name}.times": min(multiples.values()) for name, multiples in limits}
        pair, models = (leader.first, rival), (leader.first, *leader.trade_offs)
        figures = tails | leader.mean_interval(*pair) | _mean_differences(*pair, case)
        return Finding("trade", models, on=leader.column, figures=figures, answer=Answer.SIGNIFICANT)
    if (separated := leader.separated_by_mean) and not leader.is_clear:
        figures = leader.mean_difference(separated[0], separated[1])
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
    """Yield a finding if a single metric decides the first place: without it, another model would lead."""
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
    """Yield a finding about the model with the best mean, unless the main finding `answer` names it."""
    mean = leader.study.effects[leader.method].mean
    best = int(np.argmax(mean))
    larger = mean[best] - mean[leader.first] > _ROUNDING * np.abs(mean).max()
    larger = larger and best not in leader.tail.hidden_risks  # another finding reports it
    if larger and best not in answer.models and leader.objection is None:
        means = leader.units.to_file_units(mean)[[best, leader.first]]
        figures = dict(zip(("mean", "against"), means.tolist(), strict=True))
        score = f"of {case.column_label(leader.column)}"
        if (raw := case.mean_of(leader.column)) is not None:
            against = f"{raw.format_comparison(best, leader.first)} for {case.models[leader.first]}"
            score = f"{case.column_label(leader.column)}, {against}"
        pair, words = (best, leader.first), {"score": score}
        yield Finding("best-mean", pair, on=leader.column, figures=figures, words=words)


def _lead_figures(leader: Leader, case: RankCase) -> dict[str, float]:
    """Return the leader's mean difference from the runner-up, its interval and p-value, by name.

    The runner-up is replaced by a model that the leader beats by dominance, but not significantly in the
    mean.
    """
    if not leader.rivals:
        return {}
    uncertain = (i for i in leader.beaten if leader.has_uncertain_mean(i))
    second, tests = next(uncertain, leader.rivals[0]), leader.tests
    figures = leader.mean_difference(leader.first, second)
    if tests is not None and tests.p_adjusted is not None:
        figures["p_adjusted"] = float(tests.p_adjusted[leader.first, second])
    return figures


def _metric_tail_findings(leader: Leader, case: RankCase) -> Iterator[Finding]:
    """Yield a finding if another model's tail on some metric is milder than the leader's.

    It is skipped if it already contradicts the leader. If the tests are undecided, the finding says so.
    """
    warning = leader.tail_warning
    if warning is not None and leader.objection is None:
        pair, words = (warning.first, warning.rival), {"tail": warning.describe(case.models)}
        kind, figures = "worse-tail-on-a-metric", warning.tail.figures(*pair)
        yield Finding(kind, pair, warning.metric, figures, Answer.SIGNIFICANT, words)
    elif leader.undecided_tails and not leader.undecided:
        models = leader.first, *leader.undecided_tails
        words = {"rivals": join_names([case.models[i] for i in leader.undecided_tails], 2)}
        yield Finding("undecided-tail", models, answer=Answer.UNDECIDED, words=words)


def _task_findings(leader: Leader, case: RankCase, suite: SuiteAnalysis) -> Iterator[Finding]:
    """Yield findings that compare leader and runner-up task by task, for fixed and for random tasks."""
    column, uncontested = suite.columns[leader.column], leader.objection is None
    if not leader.rivals:
        return
    pair, mean = (leader.first, leader.rivals[0]), case.mean_of(leader.column)
    text = task_sentence(suite, column, *pair)
    if uncontested and (mean is not None or text):
        figures = task_counts(suite, column, *pair)
        if text.startswith(("better", "worse")) and suite.tested:
            text = f"task by task {text}"
        if mean is not None:
            figures |= pair_figures([mean], *pair) | leader.mean_interval(*pair)
            means = mean.format_comparison(*pair) + describe_interval(leader, leader.pair, case)
            text = "; ".join(filter(None, (f"macro mean {means}", text)))
        yield Finding("by-task", pair, on=leader.column, figures=figures, words={"tasks": text})
    yield from other_scope_findings(case, leader.column, leader.pair)
    if uncontested and mean is None:
        yield from _mean_difference_findings(leader, case)
    if column.scores.macro_means.max() > column.scores.macro_means[leader.first]:
        yield Finding("best-macro-mean", (column.by_mean[0], leader.first), on=leader.column)


def _mean_difference_findings(leader: Leader, case: RankCase) -> Iterator[Finding]:
    """Yield a finding with the mean differences of leader and runner-up, in the units of the input file."""
    recommendation = leader.recommendation
    if recommendation is not None and recommendation.confirmed and leader.rivals and not leader.trade_offs:
        pair = leader.first, leader.rivals[0]
        interval = leader.mean_interval(*pair)
        figures = interval | _mean_differences(*pair, case)
        for i in (*leader.identical, *leader.less_certain):
            limits = leader.mean_interval(i, pair[1]).items() - interval.items()
            figures |= {f"{name} for {case.models[i]}": limit for name, limit in sorted(limits)}
        yield Finding("gain", pair, figures=figures)


def _mean_differences(first: int, second: int, case: RankCase) -> dict[str, float]:
    """Return the means of models `first` and `second` and their differences by name.

    All numbers are in the units of the input file.
    """
    differences = {mean.name: float(mean.mean[first] - mean.mean[second]) for mean in case.means}
    return differences | pair_figures(case.means, first, second)


def _caveat_findings(leader: Leader, case: RankCase) -> Iterator[Finding]:
    """Yield caveats about the leader: tail risks, and a first place that depends on the other models."""
    tail, risks, on = leader.tail, leader.study.hidden_risks, leader.column
    often = [*_win_share_findings(leader)]
    yield from often
    hidden = [i for i in tail.hidden_risks if i != leader.first]
    best = next((i for i in hidden if risks is not None and risks.rank_by_mean[i] == 1), None)
    if best is not None and best not in leader.trade_offs:
        yield _risk_finding("best-mean-hides-risk", best, leader, case)
    rival = leader.rival if leader.objection or not leader.rivals else leader.rivals[0]
    if leader.tail_warning is not None:
        pass  # reported in the units of a metric, which are clearer than a combined score
    elif leader.first in tail.hidden_risks:
        yield _risk_finding("hidden-risk", leader.first, leader, case)
    elif leader.worse_tails and leader.worse_tails[0].worse != best:
        worst = leader.worse_tails[0]
        pair, words = (worst.worse, worst.better), {"tail": tail.describe(worst.worse, worst.better)}
        figures = {"p_adjusted": worst.p_adjusted, **tail.figures(*pair)}
        yield Finding("worse-tail", pair, on, figures, Answer.SIGNIFICANT, words)
    elif not often and (side := tail.answer(rival)) and best != rival:
        pair, words = (leader.first, rival), {"tail": tail.describe(leader.first, rival)}
        words["milder"] = "milder" if side == Answer.SIGNIFICANT else "worse"
        yield Finding("tail-of-the-first", pair, on, tail.figures(*pair), side, words)
    if (recommendation := leader.recommendation) is None or not recommendation.confirmed:
        return
    same = leader.study.dominance.estimates.identical[leader.first]
    if without := {i: j for i, j in (recommendation.first_without or {}).items() if not same[j]}:
        more = len(without) - 1
        words = {"note": f" (also without {counted(more, 'other model')})" if more else ""}
        yield Finding("first-without", next(iter(without.items())), words=words)
    several = len(case.means) > 1 and on not in case.metrics
    if several and recommendation.first_by_metrics not in (leader.first, None):
        yield Finding("first-by-metrics", (recommendation.first_by_metrics,))


def _risk_finding(kind: str, model: int, leader: Leader, case: RankCase) -> Finding:
    """Return a finding about a model whose good mean hides a worse tail than another model's.

    `kind` is the kind of finding, such as "hidden-risk", and `model` an index.
    """
    risks, pair = leader.study.hidden_risks, (model, leader.tail.milder_rival(model))
    assert risks is not None
    p_value, text = float(risks.p_adjusted[model]), leader.tail.describe(*pair)
    if kind == "best-mean-hides-risk":
        text = text.replace(" of the combined score", "")  # the sentence already names the score
    score = "" if leader.column in case.metrics else " combined score"
    words = {"tail": text, "p": p_value_phrase(p_value), "score": score}
    figures = {"p_adjusted": p_value, **leader.tail.figures(*pair)}
    return Finding(kind, (model,), leader.column, figures, Answer.SIGNIFICANT, words)


def _win_share_findings(leader: Leader) -> Iterator[Finding]:
    """Yield a finding if the runner-up is dominated in second order, but better on most samples.

    Second-order dominance alone does not mean a better distribution throughout (method §4).
    """
    tests, tail = leader.tests, leader.tail
    if tests is None or tests.claim.order == 1 or not leader.beaten or leader.beaten[0] != leader.rivals[0]:
        return
    first, second = leader.first, leader.beaten[0]
    share = proportion_better(leader.scores, second, first)
    if share is not None and share > 0.5:
        kind, figures, words = "more-often", {"share": share}, {"share": format_percent(share)}
        if tail.answer(second) > 0:
            kind, figures = "more-often-but-worse-tail", figures | tail.figures(first, second)
            words["tail"] = f"{tail.tail_label} average {tail.format_comparison(second, first)}"
        yield Finding(kind, (first, second), on=leader.column, figures=figures, words=words)


def _column_findings(case: RankCase) -> Iterator[Finding]:
    """Yield findings for several ranked scores: the leader on each, and how certain it is."""
    labels = dict[int, list[str]]()
    for name, leader in case.leaders.items():
        labels.setdefault(leader.first, []).append(case.column_label(name))
    leaders = [f"{case.models[i]} on {join_names(names)}" for i, names in labels.items()]
    kind = "first-on-each" if len(labels) == 1 else "first-here-and-there"
    words = {"columns": join_names(next(iter(labels.values())), 6), "leaders": join_names(leaders, 6)}
    yield from case.identical_distributions or [Finding(kind, tuple(labels), words=words)]
    if not case.tested:
        yield from untested_findings(tested=False)
        return
    answers = {AGAINST: Answer.CONTRADICTED, NOT_SHOWN: Answer.UNDECIDED}
    states = case.columns_by_state
    text = "; ".join(f"on {join_names(names, 6)} {state}" for state, names in states.items())
    words = {"states": text[0].upper() + text[1:]}
    answer = answers.get(next(iter(states)), Answer.SIGNIFICANT)
    yield Finding("by-column", answer=answer, words=words)


def rank_quotes(case: RankCase) -> tuple[Quote, ...]:
    """Return at most three key figures of a ranking.

    They are about the recommended model and the model with which it is compared. Without a recommendation,
    they are about the difference of two models. The result is empty if several scores are ranked.
    """
    if len(case.leaders) != 1 or not case.leader.rivals:
        return ()
    leader, figures = case.leader, []
    for mean in (case.means[m] for m in _clearest_metrics(leader, case)):
        label = f"{mean.name}{' (lower is better)' if mean.lower_is_better else ''}, mean"
        span = describe_interval(leader, leader.pair, case) if len(case.means) == 1 else ""
        figures.append(_pair_quote(leader.pair, mean.format_comparison(*leader.pair), label, case, span))
    figures += _tail_quotes(leader, case)
    if leader.objection is not None and leader.tail_warning is not None:
        figures.reverse()  # the tails decide, so they come first
    return (*figures, *_count_quotes(leader, case))


def _pair_quote(pair: tuple[int, int], figures: str, label: str, case: RankCase, suffix: str = "") -> Quote:
    """Return a key figure about two models, with a label that names both and ends with `suffix`."""
    model, rival = (case.models[i] for i in pair)
    return Quote(figures, f"{label} of {model} and {rival}{suffix}")


def _clearest_metrics(leader: Leader, case: RankCase) -> list[int]:
    """Return the index of the metric on which leader and rival differ most significantly, in a list.

    With several metrics, the list has only significant differences. A trade-off has one metric per model.
    """
    if leader.recommendation is None:
        return [0]
    contrasts, rival = leader.contrasts, leader.rival  # contrasts with the leader
    strength = contrasts.absolute_t[rival]
    if _is_metric_trade_off(leader, case):
        sides = contrasts.worse[rival], contrasts.better[rival]
        return [strongest_metrics(strength * side, 1)[0] for side in sides if side.any()]
    significant = contrasts.worse[rival] | contrasts.better[rival]
    return [m for m in strongest_metrics(strength, 1) if len(case.means) == 1 or significant[m]]


def _is_metric_trade_off(leader: Leader, case: RankCase) -> bool:
    """Return True if the leader comes first only because metrics are weighted equally."""
    return bool(leader.trade_offs) and len(case.means) > 1 and not leader.weighted


def _tail_quotes(leader: Leader, case: RankCase) -> Iterator[Quote]:
    """Yield the tail means of both models if they differ significantly.

    For binary scores, yield the win rate instead.
    """
    on_metric = leader.tail_warning
    if on_metric is not None:
        pair = leader.pair if leader.objection else (on_metric.first, on_metric.rival)
        yield _pair_quote(pair, on_metric.tail.format_comparison(*pair), on_metric.label, case)
        return
    if len(case.means) > 1:
        return  # combined scores have no unit to quote
    tail, (model, rival), mean = leader.tail, leader.pair, case.means[0]
    if not mean.is_proportion and tail.answer(leader.rival):
        better = f" ({'lower' if mean.lower_is_better else 'higher'} is better)"
        label = f"mean of the worst {tail.tail_label}"
        yield _pair_quote(leader.pair, tail.format_comparison(*leader.pair), label, case, better)
    elif mean.is_proportion and leader.scores.paired:
        means, weights = leader.scores.sample_means(), sample_weights(leader.scores)
        scores, rival_scores = means[model], means[rival]
        sides = scores > rival_scores, scores < rival_scores
        shares = (float(mean_over_samples(better, weights)) for better in sides)
        wins, losses = (f"{format_fixed(100 * share, 1)} %" for share in shares)
        label = f"of the samples favour {case.models[model]} over {case.models[rival]}"
        yield Quote(wins, f"{label}; {losses} favour {case.models[rival]}")


def _count_quotes(leader: Leader, case: RankCase) -> Iterator[Quote]:
    """Yield the numbers of models that are significantly behind the leader, tied, or contradict it."""
    first, total, beaten = case.models[leader.first], len(leader.rivals), len(leader.beaten)
    if not leader.tested or _is_metric_trade_off(leader, case):  # the count depends on the weights
        return
    if leader.objection is not None:
        text = f"other models contradict the first place of {first}"
        yield Quote(f"{len(leader.objection.leader.beaten_by)} of {total}", text)
    elif leader.recommended or leader.trade_offs or not leader.random_labels:
        condition = "" if leader.random_labels else ", if the labels are a random sample"
        yield Quote(f"{beaten} of {total}", f"other models significantly behind {first}{condition}")
    else:
        text = f"other models not significantly behind {first} by {leader.test_name}"
        yield Quote(f"{total - beaten} of {total}", text)
