"""What findings of a ranking and their sentences look things up in: bad cases, hidden risks, the evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.hidden_risk import RISK
from riskrank.engine.dominance.sign_tests import two_valued
from riskrank.engine.dominance.tail_contrasts import TailContrasts
from riskrank.engine.family import Side
from riskrank.engine.types import Booleans
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.findings import Case
from riskrank.studies.metric_means import (
    MetricMeans,
    TailMeans,
    bad_cases,
    spread_of,
    worst_everywhere,
    worst_of,
)
from riskrank.studies.rank.leader import Leading
from riskrank.studies.targets import units_of
from riskrank.studies.wording import all_metrics, names, ordinal


@dataclass(frozen=True)
class WorseCases:
    """One metric on which another model's worst cases are significantly milder than the first's.

    Attributes
    ----------
    first, rival : int
    metric : str
    also : tuple of str
        Other metrics on which that model's are milder as well.
    tail : TailMeans
    sizes : str
        How many samples both have, where that differs.
    """

    first: int
    rival: int
    metric: str
    also: tuple[str, ...]
    tail: TailMeans
    sizes: str = ""

    def words(self, models: Sequence[str]) -> str:
        """``worst 5 % on p average −41.2 against −3.9 of safe``."""
        average = f"average {self.tail.against(self.first, self.rival)}"
        also = f", and are worse on {names(self.also, 3)} as well" if self.also else ""
        return f"worst {self.tail.words} on {self.metric} {average} of {models[self.rival]}{self.sizes}{also}"

    @property
    def metrics(self) -> str:
        """All metrics on which that model's are milder."""
        return names((self.metric, *self.also), 4)

    @property
    def share(self) -> str:
        """Of what these are means."""
        return f"mean of the worst {self.tail.words} on {self.metric}"


def worse_cases(one: Leading, metrics: Sequence[MetricSpec]) -> WorseCases | None:
    """What a verdict has to say of the first's worst cases on a metric; None where there is nothing.

    Either they are what speaks against it, or the combined score and the metric's mean hide them.
    """
    found, tails = one.recommendation, one.metric_tails
    if found is None or tails is None or found.hidden_tails is None:
        return None
    if found.holds:
        return _surest(one, tails, one.others, found.hidden_tails, metrics)
    rivals = [i for i in (found.rival,) if i not in {*found.leader.better, *found.leader.ahead}]
    return _surest(one, tails, rivals, tails.milder, metrics)


def _surest(
    one: Leading, found: TailContrasts, rivals: Sequence[int], shown: Booleans, metrics: Sequence[MetricSpec]
) -> WorseCases | None:
    pairs = [(i, m) for i in rivals for m in np.flatnonzero(shown[i]).tolist()]
    if not pairs:
        return None
    i, m = min(pairs, key=lambda pair: found.p_milder[pair])
    labels = [units_of(spec.name, metrics).label for spec in metrics]
    also = tuple(labels[at] for at in np.flatnonzero(shown[i]).tolist() if at != m)
    worst = found.level, found.tails[:, m], spread_of(found.resampled[:, :, m])
    tail = TailMeans(metrics[m].name, worst, metrics)
    return WorseCases(found.against, i, labels[m], also, tail, one.sizes(found.against, i))


class Tail(TailMeans):
    """Means of the worst share of each model's scores beside what is known of the first and of hidden risks.

    Parameters
    ----------
    one : Leading
    table : ScoreTable
    """

    def __init__(self, one: Leading, table: ScoreTable) -> None:
        super().__init__(one.column, worst_of(one.found.dominance), table.metrics)
        self._found, self._models, self._sizes = one.found, table.models, one.sizes
        self._means_say_all = two_valued(one.scores.values)

    @property
    def says_something(self) -> bool:
        """Whether the worst shares differ, are of bad cases, and say what means do not."""
        return super().says_something and not self._means_say_all

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

    def side(self, one: Leading, other: int | None = None) -> Side:
        """Whether another's worst cases are worse than the first model's; by default the next one's."""
        if not one.others or not self.says_something:
            return Side.OPEN
        return one.found.tail_answer(one.method, one.others[0] if other is None else other)[0]

    def risk(self, model: int) -> str:
        """A hidden risk in figures."""
        return self.average(model, self.rival(model))

    def average(self, model: int, other: int) -> str:
        """Two models' worst shares: ``the worst 5 % average −4.7 against −1.0 of b``."""
        figures, sizes = self.against(model, other), self._sizes(model, other)
        return f"the worst {self.words} average {figures} of {self._models[other]}{sizes}"

    def rival(self, model: int) -> int:
        """The model of milder bad cases that a hidden risk is held against."""
        found = self._found.hidden_risks
        assert found is not None
        return int(found.against[model])


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
            on = f"by {one.column}" if alone else "in the ranking"
            found[i] = f"worst on {all_metrics(len(means))}, yet {ordinal(int(places[i]))} {on}"
        elif i in tail.risks:
            mean, rival = "mean" if alone else "mean combined score", table.models[tail.rival(i)]
            found[i] = f"hidden risk: {mean} as good as {rival}'s, which ranks before it, worse bad cases"
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


AGAINST = "another model is ahead of the first head to head, on every metric, or in bad cases on one"
TRADED = "the first is ahead, and another model has the better mean"
AHEAD = "the first is significantly ahead of all others"
NOT_SHOWN = "the first is not shown to be ahead of all others"


@dataclass(frozen=True, kw_only=True)
class RankCase(Case):
    """What sentences are made from.

    Attributes
    ----------
    leading : dict of str to Leading
    unique : bool
        Whether an aggregated order is the only one that fits.
    """

    leading: Mapping[str, Leading]
    unique: bool = True

    @property
    def lead(self) -> Leading:
        """The first column of scores, mostly the only one."""
        return next(iter(self.leading.values()))

    @property
    def states(self) -> Mapping[str, list[str]]:
        """Columns of scores by what the evidence says of their first model, the gravest first."""
        found: dict[str, list[str]] = {AGAINST: [], TRADED: [], AHEAD: [], NOT_SHOWN: []}
        for name, one in self.leading.items():
            ahead = TRADED if one.trade else AHEAD
            found[AGAINST if one.refuted else ahead if one.ahead else NOT_SHOWN].append(self.score(name))
        return {state: columns for state, columns in found.items() if columns}


def apart(one: Leading, pair: tuple[int, int], case: RankCase) -> dict[str, float]:
    """Difference of the means of two models, of which one is the first, with its interval."""
    to_first, units = one.found.effects[one.method].mean_difference, units_of(one.column, case.table.metrics)
    # Differences of every model to the first, turned where the first stands first.
    if pair[0] == one.first:
        return units.figures(to_first.turned(), pair[1])
    return units.figures(to_first, pair[0])


def means_differ(one: Leading, pair: tuple[int, int], case: RankCase) -> bool:
    """Whether the interval told of the only metric's means leaves out 0."""
    found = apart(one, pair, case)
    return len(case.means) == 1 and "low" in found and (found["low"] > 0 or found["high"] < 0)


def ends_of(one: Leading, pair: tuple[int, int], case: RankCase) -> dict[str, float]:
    """Ends of that interval, where it is one of the first metric as the file has it."""
    if units_of(one.column, case.table.metrics).label != case.means[0].name:
        return {}
    return {name: value for name, value in apart(one, pair, case).items() if name != "difference"}


def differing(one: Leading, pair: tuple[int, int], case: RankCase, text: str = " (difference {})") -> str:
    """The same in words, where there is one."""
    ends = ends_of(one, pair, case)
    return text.format(case.means[0].span(**ends)) if ends else ""


def strongest(strength: np.ndarray, count: int) -> list[int]:
    """Numbers of the strongest, the strongest first."""
    return np.argsort(-np.abs(strength), kind="stable")[:count].tolist()
