"""Sentences for the findings of pairwise dominance."""

import numpy as np

from riskrank.engine.dominance.inference import ABSOLUTE, DIRECT, Claim
from riskrank.studies.dominance.findings import (
    DominanceCase,
    DominanceColumn,
    has_worse_mean,
    overall_winner,
    pair_winner,
)
from riskrank.studies.findings import Finding, Sentences
from riskrank.studies.suites import sentences
from riskrank.studies.wording import (
    format_percent,
    higher_mean_phrase,
    join_names,
    metrics_phrase,
    others_phrase,
)

# Order 1 compares scores at every quantile, order 2 the mean of every worst share.
ORDERS = {1: "by first-order dominance", 2: "by risk-averse second-order dominance"}


def describe_order(claim: Claim) -> str:
    """Describe the order of dominance that a claim tests."""
    if claim.kind == ABSOLUTE:
        return f"{ORDERS[claim.order]} (up to a ratio of {claim.boundary:g})"
    return ORDERS[claim.order] if claim.kind == DIRECT else f"{ORDERS[claim.order]} (relative to all models)"


def _ahead_phrase(case: DominanceCase) -> str:
    """Return "is significantly ahead of" or, without tests, its untested version."""
    return "is significantly ahead of" if case.tested else "is, in these samples, ahead of"


def _not_decided_sentence(finding: Finding, case: DominanceCase) -> str:
    """Return a sentence stating that there are too few resamples to decide."""
    column, k = case.results[finding.on], len(finding.models)
    models = " and ".join(case.models) if k == 2 else f"the {k} models"
    separate = f"separate {models} on {case.column_label(finding.on)}"
    return f"Not decided: {column.study.resamples or 0:,} resamples are too few to {separate}."


def _not_separated_sentence(finding: Finding, case: DominanceCase) -> str:
    """Return a sentence stating that neither of two models dominates the other.

    If their means differ significantly, the sentence names the model with the better mean.
    """
    column, on, mean = case.results[finding.on], case.column_label(finding.on), case.mean_of(finding.on)
    if mean is not None and case.means_differ(column, 0, 1):
        i = 1 if has_worse_mean(mean, 0) else 0
        comparison = f"the {'lower' if mean.lower_is_better else 'higher'} mean"
        interval = mean.format_interval(**case.interval(column, i, 1 - i))
        phrase = higher_mean_phrase(case.models[i], comparison, interval, min(column.by_order))
        return f"{phrase}."
    return f"No {'significant ' * case.tested}dominance between {' and '.join(case.models)} on {on}."


def _none_separated_sentence(finding: Finding, case: DominanceCase) -> str:
    """Return a sentence stating that no model is ahead of any other."""
    scope = f"on {case.column_label(finding.on)}, {describe_order(case.results[finding.on].primary.claim)}"
    ahead = f"{'significantly ' * case.tested}ahead of another"
    return f"None of the {len(finding.models)} models is {ahead} {scope}."


def _ahead_clause(finding: Finding, case: DominanceCase) -> str:
    """Return a clause that describes the model that is ahead, and the orders in which it dominates."""
    i, *rivals = finding.models
    column, on = case.results[finding.on], case.column_label(finding.on)
    rival_names = (
        others_phrase([case.models[j] for j in rivals]) if len(case.models) > 2 else case.models[rivals[0]]
    )
    text = f"{case.models[i]} {_ahead_phrase(case)} {rival_names} on {on}"
    if len(case.models) > 2:
        return f"{text}, {describe_order(column.primary.claim)}{_first_order_note(column, i)}"
    tests = dict(sorted(column.by_order.items()))
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


def _first_order_note(column: DominanceColumn, i: int) -> str:
    """Return a note on how many rivals the leader also dominates in first order."""
    first = column.by_order.get(1)
    if first is None or column.primary.claim.order == 1:
        return ""
    count, rivals = int(first.dominates[i].sum()), len(first.dominates) - 1
    return f", and {ORDERS[1]}" if count == rivals else f" (ahead of {count} of them {ORDERS[1]})"


def _against_means_sentence(finding: Finding, case: DominanceCase) -> str:
    """Return a sentence that describes a model that is ahead although its mean is worse on every metric."""
    comparison = "worse" if len(case.models) == 2 else "the worst"
    metrics = metrics_phrase(len(case.means))
    mean = f"in these samples its mean is {comparison} on {metrics}"
    return f"No clear answer: {_ahead_clause(finding, case)}, but {mean}."


def _no_winner_sentence(finding: Finding, case: DominanceCase) -> str:
    """Return a sentence stating that no model is ahead of all others and naming the unbeaten models."""
    word = "significantly ahead" if case.tested else "ahead, in these samples,"
    column, unbeaten = case.results[finding.on], join_names([case.models[i] for i in finding.models], 6)
    order = describe_order(column.primary.claim)
    text = f"No model is {word} of all others on {case.column_label(finding.on)}, {order}"
    if not unbeaten:
        return f"{text}."
    first = column.by_order.get(1) if column.primary.claim.order > 1 else None
    best = [] if first is None else np.flatnonzero(first.dominates[:, [*finding.models]].any(axis=1)).tolist()
    ahead_text = f"{join_names([case.models[i] for i in best], 3)} are ahead of some of these"
    if len(best) == 1:
        beaten = [case.models[j] for j in finding.models if first is not None and first.dominates[best[0], j]]
        ahead_text = f"{case.models[best[0]]} is ahead of {join_names(beaten, 3)}"
    suffix = f" ({ORDERS[1]}, {ahead_text})" if best else ""
    return f"{text}; no model is ahead of {unbeaten.replace(' and ', ' or ')}{suffix}."


def _more_often_sentence(finding: Finding, case: DominanceCase) -> str:
    """Return a sentence that states on what percentage of the samples the rival is better."""
    rival = case.models[finding.models[1]]
    return f"{rival} is better on {format_percent(finding.figures['share'])} of the samples."


def _compare_tails(finding: Finding, case: DominanceCase) -> str:
    """Return text that compares the tail means of two models."""
    tail, (i, j) = case.results[finding.on].tail, finding.models
    return f"worst {tail.tail_label} average {tail.format_comparison(i, j)}"


def _mean_sentence(finding: Finding, case: DominanceCase) -> str:
    """Return a sentence that compares the means of two models."""
    (i, j), mean = finding.models, case.mean_of(finding.on)
    is_ahead = any(pair_winner(tests) == i for tests in case.results[finding.on].by_order.values())
    worse = "worse in these samples: " if is_ahead and mean is not None and has_worse_mean(mean, i) else ""
    column = case.results[finding.on]
    uncertain = is_ahead and case.interval(column, i, j) and not case.means_differ(column, i, j)
    note = "; the mean difference itself is not significant" if uncertain else ""
    return f"{case.models[i]}'s mean is {worse}{case.compare_means(column, i, j)}{note}."


def _tail_sentence(finding: Finding, case: DominanceCase) -> str:
    """Return a sentence that compares the tail means of two models."""
    i, j = (case.models[m] for m in finding.models)
    return f"In these samples {i}'s {_compare_tails(finding, case)} for {j}."


def _first_order_sentence(finding: Finding, case: DominanceCase) -> str:
    """Return a sentence that names the models that are ahead of the leader in first order."""
    i, *above = (case.models[m] for m in finding.models)
    return f"But {ORDERS[1]}, {join_names(above)} {'is' if len(above) == 1 else 'are'} ahead of {i}."


def _column_sentence(_: Finding, case: DominanceCase) -> str:
    """Return a sentence that names the winner on each of several score columns."""
    is_pair, models, columns_by_winner = len(case.models) == 2, case.models, dict[int | None, list[str]]()
    for name, column in case.results.items():
        leader = pair_winner(column.primary) if is_pair else overall_winner(column.primary)
        columns_by_winner.setdefault(leader, []).append(case.column_label(name))
    undecided, ahead = join_names(columns_by_winner.pop(None, []), 6), _ahead_phrase(case)
    parts = [
        f"{models[i]} {ahead} {models[1 - i] if is_pair else 'all others'} on {join_names(on, 6)}"
        for i, on in columns_by_winner.items()
        if i is not None
    ]
    no_winner = f"no model {ahead} {'the other' if is_pair else 'all others'}"
    parts += [f"on {undecided} {no_winner}"] * bool(undecided)
    text, order = "; ".join(parts), describe_order(next(iter(case.results.values())).primary.claim)
    return f"{text if columns_by_winner else text[0].upper() + text[1:]}; all {order}."


def _task_sentence(finding: Finding, case: DominanceCase) -> str:
    """Return a sentence that compares the two best models by task."""
    (i, j), suite = finding.models, case.required_suite
    comparison = sentences.task_sentence(suite, suite.columns[finding.on], i, j)
    return f"By task, {case.models[i]} against {case.models[j]}: {comparison}."


SENTENCES: Sentences[DominanceCase] = Sentences(
    {
        "not-decided": _not_decided_sentence,
        "not-separated": _not_separated_sentence,
        "none-apart": _none_separated_sentence,
        "ahead": lambda finding, case: f"{_ahead_clause(finding, case)}.",
        "ahead-against-means": _against_means_sentence,
        "no-model-ahead-of-all": _no_winner_sentence,
        "pair-by-column": _column_sentence,
        "field-by-column": _column_sentence,
        "by-task": _task_sentence,
        "more-often": _more_often_sentence,
        "more-often-but-milder": lambda finding, case: (
            f"{_more_often_sentence(finding, case)[:-1]}, but {case.models[finding.models[0]]}'s "
            f"{_compare_tails(finding, case)} for {case.models[finding.models[1]]}."
        ),
        "mean": _mean_sentence,
        "tail": _tail_sentence,
        "untested-tail": lambda finding, case: (
            f"In these samples the {_compare_tails(finding, case)}; this difference was not tested."
        ),
        "ahead-in-order-1": _first_order_sentence,
    }
)
