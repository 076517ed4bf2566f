"""What a reader of a leaderboard would walk into: tails, and a first place that hangs on others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.engine.dominance.win_rate import share_better
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.metric_means import MetricMeans, worst_everywhere
from riskrank.studies.rank.leading import Leading
from riskrank.studies.rank.worst_cases import worse_cases
from riskrank.studies.tails import TailMeans, bad_cases, worst_of
from riskrank.studies.wording import counted, names, ordinal, percent


def catches(one: Leading, table: ScoreTable, means: Sequence[MetricMeans]) -> Iterator[str]:
    """Sentences on what the ranking does not show, the gravest first."""
    models = table.models
    tail, of = Tail(one, table), "" if one.column in {mean.name for mean in means} else " combined score"
    often = [*_more_often(one, table, tail)]
    yield from often
    best = next((i for i in tail.risks if i != one.first and tail.place_by_mean(i) == 1), None)
    if best is not None:
        against = tail.risk(best).replace(" of the combined score", "")  # which is said already
        yield f"{models[best]} has the best mean{of} and hides a risk: {against}."
    if worse_cases(one, table.metrics) is not None:
        pass  # is told in the units of a metric, which say more than those of a combined score
    elif one.first in tail.risks:
        yield f"Mind the tail of {models[one.first]}: {tail.risk(one.first)}."
    elif one.worse_tails and one.worse_tails[0].worse != best:
        worse, better = one.worse_tails[0].worse, one.worse_tails[0].better
        yield (
            f"The bad cases of {models[worse]} are worse: the worst {tail.words} average "
            f"{tail.against(worse, better)} of {models[better]}."
        )
    elif not often and tail.side(one) and best != one.others[0]:
        manner = "milder" if tail.side(one) > 0 else "worse"
        yield (
            f"The bad cases of {models[one.first]} are {manner}: the worst {tail.words} average "
            f"{tail.against(one.first, one.others[0])} of {models[one.others[0]]}."
        )
    found = one.recommendation
    if found is None or not found.holds:
        return
    if found.first_without:
        out, instead = next(iter(found.first_without.items()))
        more = len(found.first_without) - 1
        others = f" (so without {counted(more, 'other model')})" if more else ""
        yield f"Without {models[out]} in the table {models[instead]} would come first{others}."
    if len(means) > 1 and one.column not in {mean.name for mean in means}:
        by = found.first_by_metrics
        if by != one.first:
            yield f"By the metrics' own rankings together {models[by]} comes first."


def _more_often(one: Leading, table: ScoreTable, tail: Tail) -> Iterator[str]:
    """The next is better on most samples, though the second order puts the first ahead of it.

    The second order alone is no better distribution throughout (method §4, "What a verdict may say").
    """
    tests = one.found.tests_of(one.method)
    if tests is None or tests.claim.order == 1 or not one.beaten or one.beaten[0] != one.others[0]:
        return
    share = share_better(one.scores, one.beaten[0], one.first)
    if share is None or share <= 0.5:
        return
    first, following = table.models[one.first], table.models[one.beaten[0]]
    often = f"On {percent(share)} of the samples {following} is better"
    if tail.side(one) > 0:
        worst = f"its worst {tail.words} average {tail.against(one.beaten[0], one.first)}"
        yield f"{often}, but {worst}."
    else:
        yield f"{often}: {first} is for who minds risk."


class Tail(TailMeans):
    """Means of the worst share of each model's scores beside what is known of the first and of hidden risks.

    Parameters
    ----------
    one : Leading
    table : ScoreTable
    """

    def __init__(self, one: Leading, table: ScoreTable) -> None:
        super().__init__(one.column, worst_of(one.found.dominance), table.metrics)
        self._found, self._models = one.found, table.models

    @property
    def risks(self) -> list[int]:
        """Models whose mean hides a worse tail, the largest mean first."""
        found = self._found.hidden_risks
        if found is None or not bad_cases(self.level):
            return []
        order = np.argsort(-found.mean, kind="stable").tolist()
        return [i for i in order if found.status[i] == RISK]

    def place_by_mean(self, model: int) -> int:
        """Place by the mean alone."""
        found = self._found.hidden_risks
        return 0 if found is None else int(found.place[model])

    def side(self, one: Leading) -> int:
        """1 if the first model's worst cases are significantly milder than the next one's, −1 if worse."""
        if not one.others or not self.says_something:
            return 0
        following, effects = one.others[0], one.found.effects[one.method]
        low, high = effects.tail_difference.low, effects.tail_difference.high
        if low is None or high is None:
            return 0
        return int(high[following] < 0) - int(low[following] > 0)

    def risk(self, model: int) -> str:
        """A hidden risk in figures."""
        found = self._found.hidden_risks
        assert found is not None
        figures = self.against(model, int(found.against[model]))
        return f"the worst {self.words} average {figures} of {self.rival(model)}"

    def rival(self, model: int) -> str:
        """The model of milder bad cases that a hidden risk is held against."""
        found = self._found.hidden_risks
        assert found is not None
        return self._models[int(found.against[model])]


def marks(one: Leading, table: ScoreTable, means: Sequence[MetricMeans]) -> Mapping[int, str]:
    """Models to look at twice, and why, in the order of the ranking."""
    tail, found = Tail(one, table), dict[int, str]()
    alone = one.column in {mean.name for mean in means}
    worse = {each.worse: table.models[each.better] for each in reversed(one.worse_tails)}
    places = one.ranking.rank
    worst = worst_everywhere(means) if len(means) > 1 else []
    on_metric = worse_cases(one, table.metrics)
    for i in one.ranking.order.tolist():
        if i in worst and places[i] < len(table.models):
            many = "both" if len(means) == 2 else f"all {len(means)}"
            on = f"by {one.column}" if alone else "in the ranking"
            found[i] = f"worst on {many} metrics, yet {ordinal(int(places[i]))} {on}"
        elif i in tail.risks:
            mean = "mean" if alone else "mean combined score"
            found[i] = f"hidden risk: {mean} as good as {tail.rival(i)}'s, worse bad cases"
        elif on_metric is not None and i == one.first:
            found[i] = f"worse bad cases on {on_metric.metrics} than {table.models[on_metric.rival]}"
        elif i in worse:
            found[i] = f"worse bad cases than {worse[i]}"
    return found


def listed(found: Mapping[int, str], models: Sequence[str], most: int) -> list[str]:
    """The first few marks as lines, and how many more there are."""
    lines = [f"{models[i]}: {why}" for i, why in [*found.items()][:most]]
    rest = [models[i] for i in [*found][most:]]
    return [*lines, f"also marked: {names(rest, len(rest))}"] if rest else lines
