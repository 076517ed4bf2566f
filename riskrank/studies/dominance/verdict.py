"""What pairwise dominance means for a decision, in a few sentences (method §4, "What a verdict may say")."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from riskrank.engine.dominance.claims import ABSOLUTE, DIRECT, Claim
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.dominance.win_rate import share_better
from riskrank.studies.dominance.case import DominanceCase
from riskrank.studies.dominance.columns import DominanceColumn
from riskrank.studies.judged.chapter import sentences as judge_worth
from riskrank.studies.metric_means import MetricMeans, best_of, better_elsewhere, worst_everywhere
from riskrank.studies.said import Said, assuming, fitting
from riskrank.studies.suites.words import between
from riskrank.studies.wording import all_metrics, all_others, names, percent

# Orders of dominance as a reader knows them: scores level by level, and every worst share of them.
ORDERS = {1: "in order 1", 2: "in order 2, which minds risk"}


def dominance_verdict(case: DominanceCase) -> Said:
    """Say who is ahead of whom, in which sense, and what speaks against it.

    Parameters
    ----------
    case : DominanceCase

    Returns
    -------
    Said
    """
    only = case.columns[0] if len(case.columns) == 1 else None
    if only is None:
        sentences = [*(_pairs(case) if len(case.models) == 2 else _fields(case))]
    else:
        sentences = [*(_pair(case, only) if len(case.models) == 2 else _field(case, only))]
        if case.suite is not None and not only.leading.identical.all():
            sentences[1:1] = between(case.suite, only.name, *only.standing[:2])
    sentences[1:1] = judge_worth(case.judged)
    if not case.inference.test:
        sentences.insert(1, "Nothing was tested, so nothing says how sure that is.")
    return fitting([assuming(case.means, case.judged) + sentences[0], *sentences[1:]])


def _ahead(case: DominanceCase) -> str:
    """What a claim that holds shows of a pair."""
    return "is significantly ahead of" if case.inference.test else "is, in these samples, ahead of"


def sense(claim: Claim) -> str:
    """In which sense a claim puts one ahead of the other."""
    if claim.kind == ABSOLUTE:
        return f"{ORDERS[claim.order]} (up to a ratio of {claim.boundary:g})"
    return ORDERS[claim.order] if claim.kind == DIRECT else f"{ORDERS[claim.order]} (relative to the field)"


def winner(tests: DominanceTests) -> int | None:
    """Of two models the one that is ahead."""
    return 0 if tests.dominates[0, 1] else 1 if tests.dominates[1, 0] else None


def _pair(case: DominanceCase, column: DominanceColumn) -> Iterator[str]:
    models, on, tested = case.models, case.score(column), case.inference.test
    both = f"{models[0]} and {models[1]}"
    if column.leading.identical[0, 1]:
        yield f"{both} have the same distribution of scores on {on}: nothing tells them apart."
        return
    first = {order: winner(tests) for order, tests in sorted(column.orders.items())}
    sides = {one for one in first.values() if one is not None}
    undecided = any(not tests.decided.all() for tests in column.orders.values())
    if not sides:
        if undecided:
            resamples = f"{column.study.resamples or 0:,} resamples"
            yield f"Not decided: {resamples} are too few to tell {both} apart on {on}."
        else:
            whole = ", taken as a whole" if case.means_differ(column, 0, 1) else ""
            yield f"{'No test' if tested else 'Nothing'} separates {both} on {on}{whole}."
        yield from _ends(case, column, 0)
        return
    leader = max(first.items(), key=lambda item: (item[1] is not None, item[0]))[1]
    assert leader is not None
    who = _who(case, column, first, leader)
    if case.mean_of(column) is None and all(_behind(mean, leader) for mean in case.means):
        yield _unclear(case, who)
    else:
        yield who
    yield from _but(case, column, leader)


def _who(case: DominanceCase, column: DominanceColumn, first: dict[int, int | None], i: int) -> str:
    """Who is ahead, in one order of dominance only or in all that were looked at."""
    models, tests = case.models, column.orders
    j = 1 - i
    text = f"{models[i]} {_ahead(case)} {models[j]} on {case.score(column)}"
    shown = [order for order, one in first.items() if one == i]
    if len(shown) == len(first) == 2 and column.leading.claim.kind == DIRECT:
        return f"{text}{_wholly(column, i)}."
    text = f"{text}, {' and '.join(sense(tests[order].claim) for order in shown)}"
    against = [ORDERS[order] for order, one in first.items() if one == j]
    if against:
        return f"{text}; {' and '.join(against)}, {models[j]} is ahead."
    left = [order for order, one in first.items() if one is None]
    if not left:
        return f"{text}."
    few = any(not tests[order].decided.all() for order in left)
    not_shown = "the resamples are too few to tell" if few else "no test separates them"
    if not case.inference.test:
        not_shown = "neither is ahead"
    return f"{text}; {' and '.join(ORDERS[order] for order in left)}, {not_shown}."


def _unclear(case: DominanceCase, who: str) -> str:
    """Who is ahead, where every metric's mean speaks against it: a combined score forgets how bad is bad."""
    bad = "worse" if len(case.models) == 2 else "the worst"
    every = all_metrics(len(case.means))
    return f"No clear answer: {who.rstrip('.')}, but in these samples its mean is {bad} on {every}."


def _wholly(column: DominanceColumn, i: int) -> str:
    """Whether one of two models is at least as good at every level: an ε of 0 in order 1."""
    wholly = column.study.estimates.ratios[0, i, 1 - i] == 0
    return ": its whole distribution is better" if wholly else ""


def _but(case: DominanceCase, column: DominanceColumn, i: int) -> Iterator[str]:
    """What speaks against the one that is ahead: samples, means, and its worst cases beside the other's."""
    models, j = case.models, 1 - i
    mean, tail, milder = case.mean_of(column), column.tail, _milder(column, i)
    share = share_better(column.scores, j, i)
    often = share is not None and share > 0.5
    tells = tail.says_something and not (mean is not None and mean.share)
    worst = f"worst {tail.words} average {tail.against(i, j)}"
    if often:
        assert share is not None
        better = f"On {percent(share)} of the samples {models[j]} is better"
        yield f"{better}, but {models[i]}'s {worst} of {models[j]}." if tells and milder else f"{better}."
    if mean is not None:
        worse = "worse in these samples: " if _behind(mean, i) else ""
        yield f"{models[i]}'s mean is {worse}{case.against(column, i, j)}."
    else:
        yield from better_elsewhere(case.means, i, models)
    if tells and not (often and milder):
        yield f"In these samples {models[i]}'s {worst} of {models[j]}."


def _ends(case: DominanceCase, column: DominanceColumn, i: int) -> Iterator[str]:
    """Means and worst cases of two models that nothing separates."""
    models, mean, tail = case.models, case.mean_of(column), column.tail
    if mean is not None:
        yield f"{models[i]}'s mean is {case.against(column, i, 1 - i)}."
    if tail.says_something and not (mean is not None and mean.share):
        yield (
            f"In these samples the worst {tail.words} average {tail.against(i, 1 - i)}, which nobody tested."
        )


def _milder(column: DominanceColumn, i: int) -> bool:
    """Whether the worst cases of one of two models are milder in these samples."""
    tails = column.study.estimates.tails
    return bool(tails[i] > tails[1 - i])


def _behind(mean: MetricMeans, i: int) -> bool:
    """Whether the mean of one of two models is the worse one."""
    return bool(mean.mean[i] > mean.mean[1 - i] if mean.lower else mean.mean[i] < mean.mean[1 - i])


def ahead_of_all(tests: DominanceTests) -> list[int]:
    """Models that are ahead of every other."""
    return np.flatnonzero(tests.dominates.sum(axis=1) == len(tests.dominates) - 1).tolist()


def _field(case: DominanceCase, column: DominanceColumn) -> Iterator[str]:
    tests, models, on = column.leading, case.models, case.score(column)
    k, how = len(models), sense(column.leading.claim)
    best, free = ahead_of_all(tests), [i for i in column.standing if not tests.dominates[:, i].any()]
    if best:
        also = _first_order(column, best[0])
        others = all_others([model for i, model in enumerate(models) if i != best[0]])
        who = f"{models[best[0]]} {_ahead(case)} {others} on {on}, {how}{also}"
        against = case.mean_of(column) is None and best[0] in worst_everywhere(case.means)
        yield _unclear(case, who) if against else f"{who}."
        yield from _doubts(case, column, best[0])
        return
    if not tests.dominates.any():
        none = "No test tells" if case.inference.test else "Nothing tells"
        yield (
            f"{none} any of the {k} models from another on {on}, {how}."
            if tests.decided.all()
            else f"Not decided: {column.study.resamples or 0:,} resamples are too few to tell the {k} models "
            f"apart on {on}."
        )
    else:
        word = "significantly ahead" if case.inference.test else "ahead, in these samples,"
        left = names([models[i] for i in free], 6)
        text = f"No model is {word} of all others on {on}, {how}"
        yield f"{text}; nobody is ahead of {left.replace(' and ', ' or ')}." if free else f"{text}."
    if free:
        yield from _doubts(case, column, free[0])


def _first_order(column: DominanceColumn, i: int) -> str:
    """How far the lead over the others is one of the first order too."""
    first = column.orders.get(1)
    if first is None or column.leading.claim.order == 1:
        return ""
    count, others = int(first.dominates[i].sum()), len(first.dominates) - 1
    return f", and {ORDERS[1]}" if count == others else f" ({ORDERS[1]} of {count} of them)"


def _doubts(case: DominanceCase, column: DominanceColumn, i: int) -> Iterator[str]:
    """What the first order and raw means say against a model that the tests favour."""
    models = case.models
    above = np.flatnonzero(column.orders.get(1, column.leading).dominates[:, i]).tolist()
    if above:
        verb = "is" if len(above) == 1 else "are"
        yield f"But {ORDERS[1]}, {names([models[j] for j in above])} {verb} ahead of {models[i]}."
    mean = case.mean_of(column)
    if mean is None:
        yield from better_elsewhere(case.means, i, models)
        return
    best = best_of(mean)
    if mean.of(best) != mean.of(i):
        yield f"In these samples {models[best]} has the best mean, {mean.against(best, i)}."


def _pairs(case: DominanceCase) -> Iterator[str]:
    """Of two models on several columns: who is ahead where, in the order a careful reader asks for."""
    models = case.models
    where: dict[int | None, list[str]] = {}
    for column in case.columns:
        where.setdefault(winner(column.leading), []).append(case.score(column))
    how = sense(case.columns[0].leading.claim)
    apart = [
        f"{models[i]} {_ahead(case)} {models[1 - i]} on {names(where[i], 6)}" for i in (0, 1) if i in where
    ]
    none = "no test separates them" if case.inference.test else "neither is ahead"
    if not apart:
        yield f"{none[0].upper()}{none[1:]} on any of {names(where[None], 6)}."
        return
    yield f"{'; '.join(apart)}, {how}" + (f"; on {names(where[None], 6)} {none}." if None in where else ".")


def _fields(case: DominanceCase) -> Iterator[str]:
    """Of many models on several columns: who is ahead of all others where."""
    where: dict[int, list[str]] = {}
    left = []
    for column in case.columns:
        best = ahead_of_all(column.leading)
        if best:
            where.setdefault(best[0], []).append(case.score(column))
        else:
            left.append(case.score(column))
    how, word = sense(case.columns[0].leading.claim), "significantly " if case.inference.test else ""
    parts = [f"{case.models[i]} is {word}ahead of all others on {names(on, 6)}" for i, on in where.items()]
    if not parts:
        yield f"On none of {names(left, 6)} is a model {word}ahead of all others, {how}."
        return
    yield f"{'; '.join(parts)}, {how}" + (f"; on {names(left, 6)} no model is." if left else ".")
