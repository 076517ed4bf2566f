"""How findings of pairwise dominance are said: one table, a kind an entry."""

import numpy as np

from riskrank.engine.dominance.inference import ABSOLUTE, DIRECT, Claim
from riskrank.studies.dominance.findings import DominanceCase, DominanceColumn, ahead_of_all, behind, winner
from riskrank.studies.findings import Finding, Sentences
from riskrank.studies.suites import sentences
from riskrank.studies.wording import all_metrics, all_others, names, percent

# Orders of dominance as a reader knows them: scores level by level, and every worst share of them.
ORDERS = {1: "in first order", 2: "in second order, which minds risk"}


def sense(claim: Claim) -> str:
    """In which sense a claim puts one ahead of the other."""
    if claim.kind == ABSOLUTE:
        return f"{ORDERS[claim.order]} (up to a ratio of {claim.boundary:g})"
    return ORDERS[claim.order] if claim.kind == DIRECT else f"{ORDERS[claim.order]} (relative to the field)"


def _significantly(case: DominanceCase) -> str:
    """What a claim that holds shows of a pair."""
    return "is significantly ahead of" if case.tested else "is, in these samples, ahead of"


def _not_decided(finding: Finding, case: DominanceCase) -> str:
    column, k = case.tests[finding.on], len(finding.models)
    whom = " and ".join(case.models) if k == 2 else f"the {k} models"
    apart = f"tell {whom} apart on {case.score(finding.on)}"
    return f"Not decided: {column.study.resamples or 0:,} resamples are too few to {apart}."


def _not_separated(finding: Finding, case: DominanceCase) -> str:
    whole = ", taken as a whole" if case.means_differ(case.tests[finding.on], 0, 1) else ""
    both, on = " and ".join(case.models), case.score(finding.on)
    return f"{'No test' if case.tested else 'Nothing'} separates {both} on {on}{whole}."


def _none_apart(finding: Finding, case: DominanceCase) -> str:
    none = "No test tells" if case.tested else "Nothing tells"
    where = f"on {case.score(finding.on)}, {sense(case.tests[finding.on].leading.claim)}"
    return f"{none} any of the {len(finding.models)} models from another {where}."


def _who(finding: Finding, case: DominanceCase) -> str:
    """Who is ahead, of two models in one order of dominance only or in all that were looked at."""
    i, *others = finding.models
    column, on = case.tests[finding.on], case.score(finding.on)
    whom = all_others([case.models[j] for j in others]) if len(case.models) > 2 else case.models[others[0]]
    text = f"{case.models[i]} {_significantly(case)} {whom} on {on}"
    if len(case.models) > 2:
        return f"{text}, {sense(column.leading.claim)}{_first_order(column, i)}"
    tests = dict(sorted(column.orders.items()))
    shown = [order for order in tests if winner(tests[order]) == i]
    if len(shown) == len(tests) == 2 and column.leading.claim.kind == DIRECT:
        wholly = column.study.estimates.ratios[0, i, 1 - i] == 0
        return f"{text}: its whole distribution is better" if wholly else text
    text = f"{text}, {' and '.join(sense(tests[order].claim) for order in shown)}"
    against = [ORDERS[order] for order in tests if winner(tests[order]) == 1 - i]
    if against:
        return f"{text}; {' and '.join(against)}, {whom} is ahead"
    left = [order for order in tests if winner(tests[order]) is None]
    if not left:
        return text
    few = any(not tests[order].decided.all() for order in left)
    not_shown = "the resamples are too few to tell" if few else "no test separates them"
    in_these = " and ".join(ORDERS[order] for order in left)
    return f"{text}; {in_these}, {not_shown if case.tested else 'neither is ahead'}"


def _first_order(column: DominanceColumn, i: int) -> str:
    """How far the lead over the others is one of the first order too."""
    first = column.orders.get(1)
    if first is None or column.leading.claim.order == 1:
        return ""
    count, others = int(first.dominates[i].sum()), len(first.dominates) - 1
    return f", and {ORDERS[1]}" if count == others else f" ({ORDERS[1]} of {count} of them)"


def _against_means(finding: Finding, case: DominanceCase) -> str:
    """Who is ahead, where every metric's mean speaks against it: a combined score forgets how bad is bad."""
    bad = "worse" if len(case.models) == 2 else "the worst"
    every = all_metrics(len(case.means))
    return f"No clear answer: {_who(finding, case)}, but in these samples its mean is {bad} on {every}."


def _no_model_ahead(finding: Finding, case: DominanceCase) -> str:
    word = "significantly ahead" if case.tested else "ahead, in these samples,"
    column, left = case.tests[finding.on], names([case.models[i] for i in finding.models], 6)
    how = sense(column.leading.claim)
    text = f"No model is {word} of all others on {case.score(finding.on)}, {how}"
    if not left:
        return f"{text}."
    first = column.orders.get(1) if column.leading.claim.order > 1 else None
    over = [] if first is None else np.flatnonzero(first.dominates[:, [*finding.models]].any(axis=1)).tolist()
    ahead = f"{names([case.models[i] for i in over], 3)} are ahead of some of these"
    if len(over) == 1:
        beaten = [case.models[j] for j in finding.models if first is not None and first.dominates[over[0], j]]
        ahead = f"{case.models[over[0]]} is ahead of {names(beaten, 3)}"
    more = f" ({ORDERS[1]}, {ahead})" if over else ""
    return f"{text}; in that order nobody is ahead of {left.replace(' and ', ' or ')}{more}."


def _more_often(finding: Finding, case: DominanceCase) -> str:
    other = case.models[finding.models[1]]
    return f"On {percent(finding.figures['share'])} of the samples {other} is better."


def _worst(finding: Finding, case: DominanceCase) -> str:
    tail, (i, j) = case.tests[finding.on].tail, finding.models
    return f"worst {tail.words} average {tail.against(i, j)}"


def _mean(finding: Finding, case: DominanceCase) -> str:
    (i, j), mean = finding.models, case.mean_of(finding.on)
    leads = any(winner(tests) == i for tests in case.tests[finding.on].orders.values())
    worse = "worse in these samples: " if leads and mean is not None and behind(mean, i) else ""
    return f"{case.models[i]}'s mean is {worse}{case.against(case.tests[finding.on], i, j)}."


def _tail(finding: Finding, case: DominanceCase) -> str:
    i, j = (case.models[m] for m in finding.models)
    return f"In these samples {i}'s {_worst(finding, case)} of {j}."


def _in_order_1(finding: Finding, case: DominanceCase) -> str:
    i, *above = (case.models[m] for m in finding.models)
    return f"But {ORDERS[1]}, {names(above)} {'is' if len(above) == 1 else 'are'} ahead of {i}."


def _by_column(_: Finding, case: DominanceCase) -> str:
    """On several columns: who is ahead of the other, or of all others, where."""
    two, models, where = len(case.models) == 2, case.models, dict[int | None, list[str]]()
    for name, column in case.tests.items():
        leader = winner(column.leading) if two else ahead_of_all(column.leading)
        where.setdefault(leader, []).append(case.score(name))
    left = names(where.pop(None, []), 6)
    parts = [
        f"{models[i]} {_significantly(case)} {models[1 - i] if two else 'all others'} on {names(on, 6)}"
        for i, on in where.items()
        if i is not None
    ]
    none = f"no model {_significantly(case)} {'the other' if two else 'all others'}"
    parts += [f"on {left} {none}"] * bool(left)
    told, how = "; ".join(parts), sense(next(iter(case.tests.values())).leading.claim)
    return f"{told if where else told[0].upper() + told[1:]}; all {how}."


def _by_task(finding: Finding, case: DominanceCase) -> str:
    (i, j), suite = finding.models, case.of_tasks
    told = sentences.task_sentence(suite, suite.columns[finding.on], i, j)
    return f"By task, {case.models[i]} against {case.models[j]}: {told}."


SENTENCES: Sentences[DominanceCase] = Sentences(
    {
        "not-decided": _not_decided,
        "not-separated": _not_separated,
        "none-apart": _none_apart,
        "ahead": lambda finding, case: f"{_who(finding, case)}.",
        "ahead-against-means": _against_means,
        "no-model-ahead-of-all": _no_model_ahead,
        "pair-by-column": _by_column,
        "field-by-column": _by_column,
        "by-task": _by_task,
        "more-often": _more_often,
        "more-often-but-milder": lambda finding, case: (
            f"{_more_often(finding, case)[:-1]}, but {case.models[finding.models[0]]}'s "
            f"{_worst(finding, case)} of {case.models[finding.models[1]]}."
        ),
        "mean": _mean,
        "tail": _tail,
        "untested-tail": lambda finding, case: (
            f"In these samples the {_worst(finding, case)}; this is not tested here."
        ),
        "ahead-in-order-1": _in_order_1,
    }
)
