"""Figures that somebody who was asked quotes: what the first reaches, how bad it gets, how sure that is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.dominance.win_rate import mean_over
from riskrank.studies.document import Quote
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.case import Case
from riskrank.studies.rank.catches import Tail
from riskrank.studies.rank.gains import span_of, strongest
from riskrank.studies.rank.leading import Leading
from riskrank.studies.rank.worst_cases import worse_cases
from riskrank.studies.wording import counted, percent


def quoted(case: Case) -> tuple[Quote, ...]:
    """Three figures at most on the first model of a ranking; none where several columns have one each.

    Parameters
    ----------
    case : Case

    Returns
    -------
    tuple of Quote
    """
    if len(case.leading) != 1:
        return ()
    one = next(iter(case.leading.values()))
    if not one.others:
        return ()
    against = one.others[0]
    if one.recommendation is not None and not one.recommendation.holds:
        against = one.recommendation.rival
    return (_mean(one, against, case), *_bad_cases(one, against, case), *_sure(one, case))


def _mean(one: Leading, against: int, case: Case) -> Quote:
    """The mean of the metric on which the two differ most surely."""
    mean = case.means[_clearest(one, against, case)]
    span = span_of(one, against, case) if len(case.means) == 1 else ""
    return Quote(
        mean.of(one.first),
        f"mean {mean.name} of {case.models[one.first]}; {mean.of(against)} of {case.models[against]}{span}",
    )


def _clearest(one: Leading, against: int, case: Case) -> int:
    if one.recommendation is None:
        return 0
    held = one.recommendation.leader.contrasts
    with np.errstate(divide="ignore", invalid="ignore"):
        strength = np.nan_to_num(np.abs(held.difference[against] / held.error[against]), posinf=1e300)
    return strongest(strength, 1)[0]


def _bad_cases(one: Leading, against: int, case: Case) -> Iterator[Quote]:
    """The worst share of both; of scores 0 and 1, which have no tail, how often the first is better."""
    on_metric = worse_cases(one, case.table.metrics)
    if on_metric is not None:
        own, rest = on_metric.tail.of(one.first), on_metric.beside(case.models)
        yield Quote(own, rest)
        return
    tail, first, other = Tail(one, case.table), case.models[one.first], case.models[against]
    if not _shares(one, case.means):
        if tail.says_something:
            worst = f"mean of the worst {tail.words} of {first}; {tail.of(against)} of {other}"
            yield Quote(tail.of(one.first), worst)
        return
    if one.scores.paired:
        means, weights = one.scores.sample_means(), one.scores.sample_weights()
        mine, its = means[one.first], means[against]
        wins, losses = (percent(float(mean_over(apart, weights))) for apart in (mine > its, mine < its))
        yield Quote(wins, f"of the samples {first} is better on than {other}, and worse on {losses}")


def _shares(one: Leading, means: Sequence[MetricMeans]) -> bool:
    return any(mean.share and mean.name == one.column for mean in means)


def _sure(one: Leading, case: Case) -> Iterator[Quote]:
    """How many models the tests put behind the first, or who speaks against it."""
    first, found = case.models[one.first], one.recommendation
    if not case.inference.test or one.found.tests_of(one.method) is None:
        return
    if found is not None and not found.holds:
        against = len(found.leader.beaten_by)
        yield Quote(
            counted(against, "model"),
            f"significantly ahead of {first}, head to head, on every metric, or in bad cases on one",
        )
        return
    yield Quote(f"{len(one.beaten)} of {len(one.others)}", f"others significantly behind {first}")
