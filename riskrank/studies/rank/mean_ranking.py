"""Models by their means on a metric, with the tests of all pairs, and what is said of that."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.ranking import Ranking, rank_by_ratio
from riskrank.engine.evidence.shared_tasks import (
    FEWEST_SHARED,
    groups_apart,
    order_of_wins,
    wins_in_a_circle,
)
from riskrank.engine.family import Family, Side
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, listing, option
from riskrank.options.flags import among_commas
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.detectable_difference import visible_sentence
from riskrank.studies.findings import Finding, Sentences, untested
from riskrank.studies.means_only import CountedAs, MeanColumn, visible_of
from riskrank.studies.metric_means import MetricMeans, doubtful, means_of_two
from riskrank.studies.wording import all_others, names


@dataclass(frozen=True, eq=False)
class MeanRanking:
    """Models by their means on a metric.

    Attributes
    ----------
    column : MeanColumn
    samples : Integers or None
        Samples that both models of each pair have, shape (k, k); None where all models have all.
    means : MetricMeans
        As the file has them.
    ranking : Ranking
    p_adjusted : ndarray, shape (k, k), or None
        Of "the mean of i lies above that of j"; None where nothing was tested.
    low, high : ndarray, shape (k,), or None
        Intervals of the differences to the first, larger is better; they hold together for all pairs.
    visible : float or None
        The smallest difference these could have shown.
    """

    column: MeanColumn
    samples: Integers | None
    means: MetricMeans
    ranking: Ranking
    p_adjusted: Floats | None
    low: Floats | None
    high: Floats | None
    visible: float | None

    def lead(self, first: int, following: int) -> dict[str, float]:
        """The means of two, and their difference with its interval, as the sentence on them has these."""
        sign = -1.0 if self.means.lower and self.column.statistic == "mean" else 1.0  # as the file has them
        figures = {
            "difference": sign * float(self.column.told(self.column.differences.value)[first, following])
        }
        if self.low is not None and self.high is not None:
            ends = sorted(-sign * float(end[following]) for end in (self.low, self.high))
            figures |= dict(zip(("low", "high"), ends, strict=True))
        if self.samples is not None:
            figures["shared"] = int(self.samples[first, following])
        return figures | means_of_two([self.means], first, following)

    @property
    def what(self) -> str:
        """What models are ranked by, in words: ``mean accuracy``."""
        return f"{self.column.statistic.replace('-', ' ')} {self.column.name}"

    @property
    def several(self) -> str:
        """The same of several models: ``means of accuracy``."""
        words = "means" if self.column.statistic == "mean" else "costs per success"
        return f"{words} of {self.column.name}"

    @property
    def gaps(self) -> Floats:
        """Differences to the first, larger is better, shape (k,)."""
        return self.column.told(self.column.differences.value[:, self.first])

    @property
    def first(self) -> int:
        """The model with the best mean."""
        return int(self.ranking.order[0])

    def beaten(self, family: Family) -> list[int]:
        """Models shown to have a lower mean than the first, in their order."""
        if self.p_adjusted is None:
            return []
        shown = family.significant(self.p_adjusted[self.first])
        return [i for i in self.ranking.order[1:].tolist() if shown[i]]

    @property
    def not_compared(self) -> list[int]:
        """Models that share too few samples with the first."""
        return [i for i in self.ranking.order[1:].tolist() if not self.column.compared[self.first, i]]


def require_order(table: ScoreTable, column: MeanColumn, family: Family) -> None:
    """Refuse models that nothing compares, and wins that lead back to where they start (method §16).

    Raises
    ------
    InputError
        With the groups, or with the pairs of the circle.
    """
    groups = [[table.models[i] for i in group] for group in groups_apart(column.compared)]
    if len(groups) > 1:
        raise InputError(
            f"models that share fewer than {FEWEST_SHARED} samples with any other group have no common order",
            found=f"{len(groups)} groups: {'; '.join(listing(group, 4) for group in groups[:4])}",
            hint="rank one of them" + (f": {option('models', ','.join(groups[0]))}" if groups[0][1:] else ""),
            ways=[
                (option("models", ",".join(map(among_commas, group))), {"models": tuple(group)})
                for group in groups
                if group[1:]
            ],
        )
    circle = wins_in_a_circle(family.significant(column.p_pairs(family)))
    if circle:
        wins = [f"{table.models[i]} is shown to be better than {table.models[j]}" for i, j in circle]
        raise InputError(
            f"there is no common order by the mean of {column.name}: wins lead back to where they start",
            found=listing(wins, 6),
            hint="compare two: " + option("models", among_commas(table.models[i] for i in circle[0])),
        )


def ranked_by_mean(
    table: ScoreTable, at: int, column: MeanColumn, means: MetricMeans, family: Family, *, tested: bool
) -> MeanRanking:
    """Order models by their means, of samples of their own by least squares, and test all pairs.

    Raises
    ------
    InputError
        If they have no common order.
    """
    require_order(table, column, family)
    samples = table.noise.counts(at) if table.noise is not None and table.noise.shared else None
    k, pairs = len(column.means), int(column.compared.sum()) // 2
    p_adjusted = column.p_pairs(family) if tested else None
    shown: Booleans = np.zeros((k, k), dtype=bool) if p_adjusted is None else family.significant(p_adjusted)
    score = -column.means
    if samples is not None:
        score = np.argsort(order_of_wins(shown, column.means)).astype(np.float64)
    ranking = replace(rank_by_ratio(shown, score, tested=tested), score=column.means)
    if not tested:
        return MeanRanking(column, samples, means, ranking, None, None, None, None)
    first = int(ranking.order[0])
    low, high = (column.told(end[:, first]) for end in column.differences.interval(family.level(pairs)))
    visible = visible_of(column, pairs, family)
    return MeanRanking(column, samples, means, ranking, p_adjusted, low, high, visible)


@dataclass(frozen=True, eq=False)
class MeanCase:
    """What sentences on a ranking by means are made of."""

    models: Sequence[str]
    rankings: Sequence[MeanRanking]
    family: Family
    why: CountedAs

    def of(self, metric: str) -> MeanRanking:
        """The ranking by a metric."""
        return next(one for one in self.rankings if one.column.name == metric)


def mean_findings(case: MeanCase) -> Iterator[Finding]:
    """The first on each metric, what it gains, what the rows count as, and what could have been seen."""
    for one in case.rankings:
        beaten, apart, on = one.beaten(case.family), one.not_compared, one.column.name
        compared = named = tuple(i for i in one.ranking.order.tolist() if i not in apart)
        kind, answer, figures = "first", None, one.lead(*compared[:2])
        if one.p_adjusted is not None and len(beaten) == len(compared) - 1:
            kind, answer = "ahead-of-those-compared" if apart else "ahead", Side.SHOWN
        elif one.p_adjusted is not None:
            kind, answer, named = "level", Side.OPEN, tuple(i for i in compared if i not in beaten)
        yield Finding(kind, named, on=on, figures=figures, answer=answer)
        if len(case.rankings) == 1:
            yield Finding("gain", compared[:2], on=on, figures=figures)
        if apart:
            fewest = {"fewest": FEWEST_SHARED}
            yield Finding("not-compared", (one.first, *apart), on=on, figures=fewest)
    yield from untested(case.rankings[0].p_adjusted is not None)
    yield Finding("counted-as", figures={**case.why.figures, "worth": case.rankings[0].column.worth})
    if len(case.rankings) == 1 and case.rankings[0].visible is not None:
        yield Finding("visible", figures={"difference": case.rankings[0].visible})


def _ahead(finding: Finding, case: MeanCase) -> str:
    what, (first, *others) = case.of(finding.on).what, (case.models[i] for i in finding.models)
    if doubtful([one.means for one in case.rankings]):
        return f"{first} has a significantly better {what} than {all_others(others)}."
    return f"Ship {first}: its {what} is significantly better than that of {all_others(others)}."


def _ahead_of_some(finding: Finding, case: MeanCase) -> str:
    first, *others = (case.models[i] for i in finding.models)
    better = f"{first} has a significantly better {case.of(finding.on).what} than {names(others)}"
    return f"{better}, and was not compared with all others: nobody is to ship from this alone."


def _not_compared(finding: Finding, case: MeanCase) -> str:
    first, *others = (case.models[i] for i in finding.models)
    return (
        f"{first} is not compared with {listing(others, 4)}: they share fewer than {FEWEST_SHARED} samples."
    )


def _level(finding: Finding, case: MeanCase) -> str:
    level, one = [case.models[i] for i in finding.models], case.of(finding.on)
    beats = len(one.beaten(case.family))
    k = len(level) + beats
    beaten = f"; {level[0]}'s is shown to be better than {beats} of {k - 1} others'" if beats else ""
    if len(level) == k and k > 2:
        return (
            f"No test tells {level[0]}, first in these samples by its {one.what}, from any of the "
            f"{k - 1} others."
        )
    whom = names(level).replace(" and ", " or ")
    return f"{whom}: no test separates their {one.several}{beaten}."


def _first(finding: Finding, case: MeanCase) -> str:
    return f"{case.models[finding.models[0]]} has the best {case.of(finding.on).what}."


def _gain(finding: Finding, case: MeanCase) -> str:
    one, (first, following) = case.of(finding.on), finding.models
    span, figures = "", finding.figures
    if "low" in figures:
        told = one.means.span(figures["low"], figures["high"])
        by_share = f" ({case.models[following]}'s is more by a share of {told})"
        span = f" (difference {told})" if one.column.statistic == "mean" else by_share
    shared = one.samples
    if shared is not None and shared[first, following] < max(
        shared[first, first], shared[following, following]
    ):
        gap = float(one.column.differences.value[first, following])
        way, other = "better" if gap >= 0 else "worse", case.models[following]
        return (
            f"On the {shared[first, following]:,} samples both have, the mean {finding.on} of "
            f"{case.models[first]} is {one.means.gap(abs(gap))} {way} than that of {other}{span}."
        )
    against = one.means.against(first, following)
    return f"{case.models[first]}'s {one.what} is {against} of {case.models[following]}{span}."


SENTENCES: Sentences[MeanCase] = Sentences(
    {
        "ahead": _ahead,
        "ahead-of-those-compared": _ahead_of_some,
        "not-compared": _not_compared,
        "level": _level,
        "first": _first,
        "gain": _gain,
        "counted-as": lambda _, case: case.why.sentence,
        "visible": lambda finding, case: visible_sentence(
            finding.figures["difference"], case.rankings[0].means.share
        ),
    }
)
"""How each kind of finding on a ranking by means is said."""
