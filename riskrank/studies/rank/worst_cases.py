"""The first model's worst cases on single metrics, which a combined score hides, in the units of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.dominance.tail_contrasts import TailContrasts
from riskrank.engine.types import Booleans
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.studies.rank.leading import Leading
from riskrank.studies.tails import TailMeans, Worst
from riskrank.studies.units import units_of
from riskrank.studies.wording import names


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
    found = one.recommendation
    if found is None or found.leader.tails is None or found.hidden_tails is None:
        return None
    if found.holds:
        return _surest(one, found.leader.tails, one.others, found.hidden_tails, metrics)
    rivals = [i for i in (found.rival,) if i not in {*found.leader.better, *found.leader.ahead}]
    return _surest(one, found.leader.tails, rivals, found.leader.tails.milder, metrics)


def _surest(
    one: Leading, found: TailContrasts, rivals: Sequence[int], shown: Booleans, metrics: Sequence[MetricSpec]
) -> WorseCases | None:
    pairs = [(i, m) for i in rivals for m in np.flatnonzero(shown[i]).tolist()]
    if not pairs:
        return None
    i, m = min(pairs, key=lambda pair: found.p_milder[pair])
    labels = [units_of(spec.name, metrics).label for spec in metrics]
    also = tuple(labels[at] for at in np.flatnonzero(shown[i]).tolist() if at != m)
    worst = Worst.of(found.level, found.tails[:, m], found.resampled[:, :, m])
    tail = TailMeans(metrics[m].name, worst, metrics)
    return WorseCases(found.against, i, labels[m], also, tail, one.sizes(found.against, i))
