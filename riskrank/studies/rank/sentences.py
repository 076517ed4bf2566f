"""How findings of a ranking are said (method §4, "What a verdict may say"): one table, a kind an entry."""

from collections.abc import Sequence

import numpy as np

from riskrank.engine.dominance.recommendation import Recommendation
from riskrank.engine.dominance.tests import INSTEAD
from riskrank.engine.family import Side
from riskrank.engine.sampling.design import FEW_SAMPLES
from riskrank.studies.findings import SHARED, Finding, Sentences
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.context import RankCase, Tail, differing, means_differ, strongest, worse_cases
from riskrank.studies.rank.leader import Leading
from riskrank.studies.suites import sentences
from riskrank.studies.targets import weighed
from riskrank.studies.wording import (
    all_metrics,
    all_others,
    counted,
    method_words,
    names,
    p_words,
    percent,
    rounded,
    so_many,
    told_apart,
    unseen,
)

# A model that lost so many more of its samples than another may have lost those it fails on: none is shipped
_FEW_LOST = 0.2


def _against_of(mean: MetricMeans, one: int, other: int) -> str:
    """One metric's means of two models: ``correct 97.5 % against 82.3 %``."""
    return f"{mean.name} {mean.against(one, other)}"


def _whose(one: Leading, case: RankCase) -> str:
    """The first, with those whose scores are the same."""
    same = [case.models[i] for i in (one.first, *one.identical)]
    return same[0] if len(same) == 1 else f"{names(same)} (same distribution of scores)"


def _first(finding: Finding, case: RankCase) -> str:
    one = case.leading[finding.on]
    return f"{_whose(one, case)} comes first on {case.score(one.column)}{_by(one)}."


def _on_the_rest(one: Leading, case: RankCase) -> str:
    """Samples that are left, where models lost more of them than others, and what was lost could decide."""
    lost = [each.lacks / each.total for each in case.table.scored]
    share = max(lost, default=0) - min(lost, default=0)
    if case.table.options.missing != "drop" or not share:
        return ""
    values = one.scores.values
    means = [float(own.mean()) for own in values]
    others = (mean for at, mean in enumerate(means) if at not in (one.first, *one.identical))
    spread = max(float(own.max()) for own in values) - min(float(own.min()) for own in values)
    ahead = (1 - share) * (means[one.first] - max(others)) > share * spread
    if share <= _FEW_LOST and ahead:
        return ""
    return f", on the {len(case.table.samples):,} samples that all models have"


def _shipped(finding: Finding, case: RankCase) -> str:
    """The first is ahead of all others; nothing is shipped on assumptions, nor on what is left."""
    one, same = case.leading[finding.on], [case.models[i] for i in finding.models]
    which = same[0] if len(same) == 1 else f"{' or '.join(same[:3])} (same distribution of scores)"
    better = f"significantly better {_ahead(one, case)}"
    rest = _on_the_rest(one, case)
    if rest or case.assuming:
        return f"{_whose(one, case)} is {better}{rest}."
    return f"Ship {which}: {better}."


def _trade(finding: Finding, case: RankCase) -> str:
    """Who is better in what, where nothing that was said decides between the first and a better mean."""
    one, (first, rival, *more) = case.leading[finding.on], finding.models
    also = f" ({counted(len(more), 'other model')} as well)" if more else ""
    means = [mean for mean in case.means if mean.name == one.column] or case.means
    held = one.contrasts
    if len(means) > 1 and held.better[rival].any() and not weighed(case.table):
        return _trade_of_metrics(one, case, also)
    if len(means) > 1 and held.worse[rival].any() and not held.better[rival].any():
        wins = _on_metrics(held.worse[rival], (first, rival), case)
        also += f"; {case.models[first]} is better on {wins}"
    tail, wants = Tail(one, case.table), f"{case.models[rival]} for who wants the mean"
    minds = f"{case.models[first]} for who minds risk"
    if tail.side(one, rival) > 0:
        minds = f"{case.models[first]} for who minds bad cases"
        minds += f" (the worst {tail.words} average {tail.against(first, rival)}{one.sizes(first, rival)})"
    if len(means) > 1:
        mean = one.found.effects[one.method].mean
        figures = " against ".join(told_apart(float(mean[rival]), float(mean[first]), rounded, 3))
        return f"A trade-off: {minds}, {wants} of {case.score(one.column)} ({figures}){also}."
    figures = f"{means[0].name} {means[0].against(rival, first)}{_sure_span(one, (rival, first), case)}"
    return f"A trade-off: {minds}, {wants} ({figures}){also}."


def _sure_span(one: Leading, pair: tuple[int, int], case: RankCase) -> str:
    """The interval of a difference that a one-sided test shows, or its p-value where that leaves it open."""
    if means_differ(one, pair, case):
        return differing(one, pair, case, ", difference {}")
    other = pair[0] if pair[1] == one.first else pair[1]
    return "" if len(case.means) > 1 else f", one-sided {p_words(one.contrasts.p_better(other))}"


def _trade_of_metrics(one: Leading, case: RankCase, also: str) -> str:
    """The first by metrics that all count alike against one that is better on some of them."""
    first, rival = one.pair
    held = one.contrasts
    wins = _on_metrics(held.worse[rival], one.pair, case)
    losses = _on_metrics(held.better[rival], one.pair if wins else (rival, first), case)
    name, other = case.models[first], case.models[rival]
    mine = f"better than {other} on {wins}, worse on" if wins else f"yet {other} is better on"
    every = f", significantly better {_ahead(one, case)}" if len(one.beaten) == len(one.others) else ""
    return (
        f"A trade-off: {name} comes first if all metrics count alike{every}, {mine} {losses}{also}. "
        f"{_until(one, case)}."
    )


def _until(one: Leading, case: RankCase) -> str:
    """From which weights of single metrics on another comes first."""
    more = [(case.means[m].name, min(found.values())) for m, found in one.first_with_more.items()]
    counts = [f"{name} counts {times:g} times" for name, times in more]
    if not counts:
        return "Other weights may put another first (not tested)"
    return f"It stays first until {' or '.join(counts)} as much (not tested)"


def _on_metrics(shown: np.ndarray, pair: tuple[int, int], case: RankCase) -> str:
    """Metrics on which the first of two is better, with its means."""
    return _listed([_against_of(case.means[m], *pair) for m in np.flatnonzero(shown)], len(case.means))


def _metric_decides(finding: Finding, case: RankCase) -> str:
    """Which metric the first place hangs on, and who would have it otherwise."""
    return f"Without {finding.on} {case.models[finding.models[1]]} would be first (not tested)."


def _best_mean_of_all(finding: Finding, case: RankCase) -> str:
    one, (best, first) = case.lead, finding.models
    mean, on = case.mean_of(one.column), case.score(one.column)
    figures = "" if mean is None else f", {mean.against(best, first)} of {case.models[first]}"
    return f"{case.models[best]} has the best mean {'of ' if mean is None else ''}{on}{figures}."


def _level_with(finding: Finding, case: RankCase) -> str:
    one = case.leading[finding.on]
    where = f" {case.suite.scope_text}" if case.suite is not None and one.column in case.metrics else ""
    whom = names([case.models[i] for i in one.undecided], 2)
    undecided = f"; against {whom} the resamples are too few to tell" if whom else ""
    return f"{_level(one, _whose(one, case), case)}{undecided}{where}."


def _ahead(one: Leading, case: RankCase) -> str:
    """Of whom the first is ahead on the column ranked, and of whom by its means on every metric."""
    models, beaten, others = case.models, len(one.beaten), len(one.others)
    whom = all_others([models[i] for i in one.others])
    if beaten == others:
        return f"than {whom} on {case.score(one.column)}"
    means = f"than {names([models[i] for i in one.worse_throughout], 3)} on {all_metrics(len(case.means))}"
    if not beaten:
        return f"{means}, though dominance does not separate them on {case.score(one.column)}"
    return f"than {beaten} of {others} others on {case.score(one.column)}, and {means}"


def _by(one: Leading) -> str:
    """The method in words, where it is another than what is usual."""
    return "" if one.method == "R-SSD" else f" by {one.method}"


def _level(one: Leading, who: str, case: RankCase) -> str:
    """The first and those that no test puts behind it, with what it does beat."""
    models, on = case.models, "" if one.column in case.metrics else f" on {case.score(one.column)}"
    by = f" by {test_of(one)}" if _told_apart(one, case) else ""
    beaten, others = len(one.beaten), len(one.others)
    so_many = f"{beaten} of {others} others" if beaten > 1 else names([models[i] for i in one.beaten])
    beats = f"; {who} beats {so_many}" if beaten else ""
    level = [models[i] for i in one.level]
    if not level:
        return f"{who} comes first{beats.replace(f'; {who}', ' and')}" if beats else f"{who} comes first"
    few, size = "", one.scores.effective_size
    if size < FEW_SAMPLES:
        few = f"; {size:,.0f} {one.scores.unit} are too few to say more"
    if not beaten and len(level) > 1 and not one.turned:
        whom = f"any of the {others} others" if len(level) == others else names(level)
        return f"No test tells {who}, first in these samples, from {whom}{by}{on}{few}"
    them = "them" if one.level_among_themselves else f"{who} from them"
    whom = f"{who} or one of {len(level)} others ({names(level)})"
    whom = names([who, *level]).replace(" and ", " or ") if len(level) < 3 else whom
    if _by_task_alone(one, case):
        return f"{whom}: which is better depends on the task{on}{beats}"
    return f"{whom}: no test separates {them}{by}{on}{beats}{few}"


def _by_task_alone(one: Leading, case: RankCase) -> bool:
    """Whether the first is better than one that no test puts behind it on some tasks, and worse on others.

    So it is with those that nothing but the weights of the tasks puts behind it.
    """
    if one.turned:
        return True
    marks = None if case.suite is None else case.suite.columns[one.column].marks
    if marks is None or len(one.level) != 1:
        return False
    own = marks[one.first, one.level[0]]
    return bool((own > 0).any() and (own < 0).any())


def test_of(one: Leading) -> str:
    """What the ranking tests: of few drawn tasks their means."""
    if one.tests is not None and one.tests.of_means == INSTEAD:
        return "the macro mean"
    made = method_words(one.method)
    return "dominance" if made == one.method else made


def _told_apart(one: Leading, case: RankCase) -> bool:
    """Whether another test tells the first from a model that dominance does not: of means, tasks or tails."""
    found, level = one.recommendation, one.level
    held = None if found is None else found.leader.contrasts
    means = held is not None and bool((held.better | held.worse)[level].any())
    marks = None if case.suite is None else case.suite.columns[one.column].marks
    tasks = marks is not None and bool(marks[one.first, level].any())
    return means_differ(one, (one.first, one.others[0]), case) or means or tasks or bool(one.worse_tails)


def _refuted(finding: Finding, case: RankCase) -> str:
    """The first is not to be shipped: who speaks against it, and who stands instead."""
    one, models = case.leading[finding.on], case.models
    found = one.refuted
    assert found is not None
    leader = models[one.first]
    first = f"{leader} comes first on {case.score(one.column)}{_by(one)}"
    ahead = found.rival
    against = models[ahead]
    if ahead in found.leader.better:
        every = all_metrics(len(case.means)) if len(case.means) > 1 else "average"
        shown = strongest(found.leader.contrasts.strength[ahead], 2)
        parts = [_against_of(case.means[m], ahead, one.first) for m in shown]
        why = f"but {against} is better on {every} ({', '.join(parts)}, {_one_sided(finding)})"
        if others := [models[i] for i in found.leader.better if i != ahead]:
            why += f", as {'is' if len(others) == 1 else 'are'} {names(others)}"
        if one.column not in case.metrics:
            why += ": the combined score counts which score is better, not by how much"
    elif ahead in found.leader.ahead:
        parts = [_against_of(mean, ahead, one.first) for mean in case.means[:2]]
        why = f"but {against} is significantly ahead of it head to head ({', '.join(parts)})"
    else:
        worse = worse_cases(one, case.table.metrics)
        assert worse is not None
        why = f"but its {worse.words(models)}"
    return f"No model to ship on this evidence: {first}, {why}. {_instead(one, found, case)}"


def _instead(one: Leading, found: Recommendation, case: RankCase) -> str:
    """The first by the metrics' own rankings among the models nobody beats, and which metric decides."""
    if found.choice is None:
        return "Every other model is beaten by some other in its turn."
    chosen = case.models[found.choice]
    if found.tied is not None:
        alike = names([chosen, case.models[found.tied]])
        return f"No other stands out: by the metrics' own rankings {alike} come first alike."
    if found.alternative is None:
        ahead = [i for i in found.ahead_of_choice if i != found.leader.model]
        whom = names([case.models[i] for i in ahead or found.before_choice], 2)
        how = "significantly behind {} head to head"
        if not ahead:
            held = [*found.before_choice]
            shown = one.tests is not None and one.tests.dominates[held, found.choice].any()
            apart = f"not told apart by {test_of(one)} from {{}}, ranked before it"
            how = "behind {} in the ranking, too" if shown else apart
        return f"No other stands out: {chosen} is {how.format(whom)}."
    if len(found.unbeaten) == 1:
        leader = case.models[found.leader.model]
        though = f", though {leader} is ahead of it head to head" if found.ahead_of_choice else ""
        none = "no other is significantly better on one metric without being worse on another"
        none = none if len(case.means) > 1 else "no other has a significantly better mean"
        return f"Look at {chosen} instead: {none}{though}."
    if found.passed_over:
        first = found.passed_over[0]
        before, better = case.models[first.model], case.models[first.rival]
        on = names([case.means[m].name for m in first.metrics], 3)
        return (
            f"Look at {chosen} instead: {before} comes before it by the metrics' own rankings, "
            f"but {better} is significantly better on {on}, and worse on none."
        )
    rest = names([case.models[i] for i in found.unbeaten[1:]], 3)
    decides = names([case.means[m].name for m in found.deciding])
    taste = f"; {decides} decides" if len(found.deciding) == 1 else f"; {decides} decide" if decides else ""
    by = "by the metrics' own rankings" if len(case.means) > 1 else "in the ranking"
    return (
        f"Look at {chosen} instead: of the models nobody beats throughout it comes first {by}, before "
        f"{rest}{taste}."
    )


def _aggregated(finding: Finding, case: RankCase) -> str:
    """Who comes first in an aggregated order, which no test is about."""
    order = [case.models[i] for i in finding.models]
    doubt = "" if case.unique else ", though another order fits as well"
    return f"{order[0]} comes first by {finding.on}, before {names(order[1:])}{doubt}; no test says how sure."


def _worst_on_a_metric(_: Finding, case: RankCase) -> str:
    one = case.lead
    found = worse_cases(one, case.table.metrics)
    assert found is not None
    return f"Mind the tail of {case.models[one.first]}: its {found.words(case.models)}."


def _undecided_tail(finding: Finding, case: RankCase) -> str:
    whom = names([case.models[i] for i in finding.models[1:]], 2)
    return f"Whether its bad cases on a metric are worse than those of {whom}, too few resamples tell."


def _by_task(finding: Finding, case: RankCase) -> str:
    """What the tasks say of the first against the next."""
    one, suite, (first, following) = case.leading[finding.on], case.of_tasks, finding.models
    told = sentences.task_sentence(suite, suite.columns[one.column], first, following)
    if told.startswith(("better", "worse")) and suite.tested:
        told = f"task by task {told}"
    if (mean := case.mean_of(one.column)) is not None:
        span = differing(one, one.pair, case)
        means = f"macro mean {mean.against(first, following)}{span}"
        told = "; ".join(filter(None, (means, told)))
    return f"Against {case.models[following]}: {told}."


def _judge_alone(finding: Finding, case: RankCase) -> str:
    assert case.judged is not None
    (best, first), mean, scored = finding.models, case.means[0], case.judged.entry.models
    alone = " against ".join(mean.said(scored[i].judge_mean) for i in finding.models)
    span = differing(case.lead, (first, best), case)
    return (
        f"The judge alone would put {case.models[best]} first, {alone}; corrected by the labels "
        f"{case.models[first]} has {mean.against(first, best)}{span}."
    )


def _gain(finding: Finding, case: RankCase) -> str:
    """What the first gains over the next and gives up, in the units of the metrics."""
    one, following = case.lead, finding.models[1]
    held = one.contrasts
    order = strongest(held.strength[following], len(case.means))
    better = [m for m in order if held.worse[following, m]]
    worse = [m for m in order if held.better[following, m]]
    first, next_one = case.models[one.first], case.models[following]
    if len(case.means) == 1:
        mean, span = case.means[0], differing(one, one.pair, case)
        return f"{first}'s mean {mean.name} is {mean.against(one.first, following)} of {next_one}{span}."

    def sides(which: Sequence[int]) -> str:
        return _listed([_against_of(case.means[m], one.first, following) for m in which], len(case.means))

    gains = f"better on {sides(better)}" if better else ""
    losses = f"worse on {sides(worse)}" if worse else ""
    # What speaks against a shipment comes before what speaks for it.
    told = " but ".join(filter(None, (losses, gains) if one.shipped else (gains, losses)))
    against = f"{first} is {told}" if told else "no metric's mean differs significantly"
    if not (told or one.ahead) and (shown := held.worse.sum(axis=0)).any():
        most = int(shown.argmax())
        whom = names([case.models[i] for i in np.flatnonzero(held.worse[:, most]).tolist()], 3)
        against += f"; on {case.means[most].name} {first} is better than {whom}"
    lost = _given_up(one, case)
    if lost and one.shipped:
        start = f"{lost[0].upper()}{lost[1:]}" if lost.startswith("others are") else lost
        return f"{start}; against {next_one}, {against}."
    return f"Against {next_one}, {'; '.join(filter(None, (against, lost)))}."


def _given_up(one: Leading, case: RankCase) -> str:
    """Metrics on which another than the next has the best mean, significantly better than the first's."""
    held, better = one.contrasts, one.contrasts.better
    best = [mean.best for mean in case.means]
    lost = [m for m, i in enumerate(best) if better[i, m] and i not in (one.others[0], *one.trade)]
    if not lost:
        return ""
    most = max(lost, key=lambda m: float(held.strength[best[m], m]))
    who, mean = case.models[best[most]], case.means[most]
    if len(lost) == 1:
        return f"{who} is better on {mean.name}, {mean.against(mean.best, one.first)}"
    where = names([case.means[m].name for m in lost])
    return f"others are better on {where}, such as {who} ({_against_of(mean, mean.best, one.first)})"


def _listed(parts: Sequence[str], of: int) -> str:
    """Two metrics with their means; more are counted."""
    if len(parts) <= 2:
        return " and ".join(parts)
    return f"{so_many(len(parts), of, 'metrics')}, such as {parts[0]}"


def _more_often(finding: Finding, case: RankCase) -> str:
    (first, following), tail = finding.models, Tail(case.lead, case.table)
    often = f"On {percent(finding.figures['share'])} of the samples {case.models[following]} is better"
    if finding.kind == "more-often":
        return f"{often}: {case.models[first]} is for who minds risk."
    return f"{often}, but its worst {tail.words} average {tail.against(following, first)}."


def _one_sided(finding: Finding) -> str:
    """The p-value of a guard, whose level is one-sided, as those of intervals is not."""
    return f"one-sided {p_words(finding.figures['p_adjusted'])}"


def _hidden(finding: Finding, case: RankCase) -> str:
    one, model = case.lead, finding.models[0]
    risk, told = Tail(one, case.table).risk(model), f"Mind the tail of {case.models[model]}"
    if finding.kind == "best-mean-hides-risk":
        score = "" if one.column in case.metrics else " combined score"
        told = f"{case.models[model]} has the best mean{score} and hides a risk"
        risk = risk.replace(" of the combined score", "")  # which is said already
    return f"{told}: {risk} ({_one_sided(finding)})."


def _tail(finding: Finding, case: RankCase) -> str:
    model, other = finding.models
    milder = finding.kind == "tail-of-the-first" and finding.answer == Side.SHOWN
    average = Tail(case.lead, case.table).average(model, other)
    return f"The bad cases of {case.models[model]} are {'milder' if milder else 'worse'}: {average}."


def _same_scores(finding: Finding, case: RankCase) -> str:
    of_the_first = len(case.leading) == 1 and case.lead.first in finding.models  # which is said with it
    return "" if of_the_first else SHARED["same-scores"](finding, case)


def _first_without(finding: Finding, case: RankCase) -> str:
    found, (out, instead) = case.lead.recommendation, (case.models[i] for i in finding.models)
    assert found is not None
    more = len(found.first_without or ()) - 1
    others = f" (so without {counted(more, 'other model')})" if more else ""
    return f"Without {out} in the table {instead} would come first{others}."


def _columns(case: RankCase, first: int | None = None) -> list[str]:
    """Columns of scores, or those on which a model comes first."""
    return [case.score(name) for name, one in case.leading.items() if first in (None, one.first)]


def _here_and_there(finding: Finding, case: RankCase) -> str:
    parts = [f"{case.models[i]} on {names(_columns(case, i))}" for i in finding.models]
    return f"No model comes first everywhere: {names(parts, 6)}."


def _by_column(_: Finding, case: RankCase) -> str:
    """Of several columns: on which the first is sure, and on which something speaks against it."""
    told = "; ".join(f"on {names(columns, 6)} {state}" for state, columns in case.states.items())
    return f"{told[0].upper()}{told[1:]}."


SENTENCES: Sentences[RankCase] = Sentences(
    {
        "first": _first,
        "refuted": _refuted,
        "ahead": _shipped,
        "trade": _trade,
        "level": _level_with,
        "blind-to": lambda _, case: unseen(case.lead.scores.effective_size, case.lead.scores.unit),
        "metric-decides": _metric_decides,
        "best-mean": _best_mean_of_all,
        "aggregated": _aggregated,
        "worse-tail-on-a-metric": _worst_on_a_metric,
        "undecided-tail": _undecided_tail,
        "by-task": _by_task,
        "best-macro-mean": lambda finding, case: (
            f"By the macro mean {case.models[finding.models[0]]} comes first."
        ),
        "judge-alone": _judge_alone,
        "gain": _gain,
        "more-often": _more_often,
        "more-often-but-worse-tail": _more_often,
        "best-mean-hides-risk": _hidden,
        "hidden-risk": _hidden,
        "worse-tail": _tail,
        "tail-of-the-first": _tail,
        "first-without": _first_without,
        "same-scores": _same_scores,
        "first-by-metrics": lambda finding, case: (
            f"By the metrics' own rankings, RA(R-SSD@M), {case.models[finding.models[0]]} comes first."
        ),
        "first-on-each": lambda finding, case: (
            f"{case.models[finding.models[0]]} comes first on each of {names(_columns(case), 6)}."
        ),
        "first-here-and-there": _here_and_there,
        "by-column": _by_column,
    },
    aside=("first-by-metrics",),
)
