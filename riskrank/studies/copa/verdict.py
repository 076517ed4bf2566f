"""Which model COPA chooses, in which sense it is the best, and where it is weak."""

from __future__ import annotations

import numpy as np

from riskrank.engine.copa.choice import CopaRanking
from riskrank.studies.objectives import ObjectiveTable
from riskrank.studies.wording import percent


def copa_verdict(table: ObjectiveTable, ranking: CopaRanking) -> str:
    """Which model is chosen, in which sense it is the best, and where it is weak."""
    return (
        f"{_chosen(table, ranking)}. Nothing says how sure that is: places are those of the values as given."
    )


def _chosen(table: ObjectiveTable, ranking: CopaRanking) -> str:
    population, chosen = table.population, ranking.chosen
    able = int(population.feasible.sum())
    name = table.name(chosen)
    if able == 1:
        return f"Choose {name}: it is the only model that meets the constraints"
    weighted = np.asarray(table.weights) > 0
    ranks = np.where(weighted, population.u[chosen], -1.0)
    worst = int(np.argmax(ranks))
    if ranks[worst] <= 0:
        return f"Choose {name}: no model is better on any objective that has a weight"
    share = percent(float(population.u[chosen, worst]))
    weak = f"on {population.metrics[worst]}, {share} of the other models do better"
    equal = "" if np.ptp(np.asarray(table.weights)) < 1e-12 else " by these weights"
    if np.isinf(ranking.p):
        text = f"Choose {name}: of {able:,} models its weakest objective is the least weak{equal} ({weak})"
    else:
        places = "its mean place" if ranking.p == 1 else f"its place by all objectives (p = {ranking.p:g})"
        text = f"Choose {name}: {places} is the best of {able:,} models{equal}; it is weakest {weak}"
    second = ranking.order[1]
    if ranking.tie[second] == ranking.tie[chosen]:
        text += f"; {table.name(second)} is as good, and ties are broken by smaller p"
    return text
