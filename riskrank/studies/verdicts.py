"""What a result means for a decision, a sentence or two; rankings and dominance have their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.copa.choice import CopaRanking
from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.engine.portfolio.summary import Summary
from riskrank.engine.power.planning import PowerStudy
from riskrank.studies.objectives import ObjectiveTable
from riskrank.studies.rounding import decimals_of, rounded
from riskrank.studies.wording import names, percent, sizes_possible


def gsd_verdict(analyses: Sequence[GsdAnalysis], models: Sequence[str]) -> str:
    """Who is at least as good as all others at the largest threshold, or against whom nobody is."""
    analysis, k = analyses[-1], len(models)
    dominates = analysis.relation.dominates & ~np.eye(k, dtype=bool)
    however = "however one values the metrics"
    best = [models[i] for i in np.flatnonzero(dominates.sum(axis=1) == k - 1).tolist()]
    if best:
        whom = f"all {k - 1} others" if k > 2 else models[1 - models.index(best[0])]
        sentences = [f"In these samples {names(best)} {_are(best)} at least as good as {whom}, {however}."]
    else:
        free = [models[i] for i in np.flatnonzero(analysis.front).tolist()]
        sentences = [
            f"In these samples no model is at least as good as all others, {however}; "
            f"nobody is better than {names(free, 6)} in this sense."
        ]
    if analysis.tests:
        proven = int(analysis.significant.sum())
        sentences.append(
            f"Of {int(dominates.sum())} such orders of two models in these samples {proven} {_are(proven)} "
            f"significant at {percent(analysis.alpha)}."
        )
    else:
        sentences.append("Nothing was tested, so nothing says how sure that is.")
    return " ".join(sentences)


def copa_verdict(table: ObjectiveTable, ranking: CopaRanking) -> str:
    """Which model is chosen, in which sense it is the best, and where it is weak."""
    population, chosen = table.population, ranking.chosen
    able = int(population.feasible.sum())
    name = table.name(chosen)
    if able == 1:
        return f"Choose {name}: it is the only model that meets the constraints."
    weighted = np.asarray(table.weights) > 0
    ranks = np.where(weighted, population.u[chosen], -1.0)
    worst = int(np.argmax(ranks))
    if ranks[worst] <= 0:
        return f"Choose {name}: no model is better on any objective that has a weight."
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
    return f"{text}. Nothing says how sure that is: places are those of the values as given."


def aggregated_verdict(name: str, found: Aggregation, models: Sequence[str]) -> str:
    """Who comes first in an aggregated order."""
    order = [models[i] for i in found.order]
    doubt = "" if found.unique else ", though another order fits as well"
    return f"{order[0]} comes first by {name}, before {names(order[1:])}{doubt}; no test says how sure."


def power_verdict(study: PowerStudy, target: float) -> str:
    """How many samples it takes, or that no number does; of a pilot also what else is possible."""
    said = _required_size(study, target)
    possible = None if study.interval is None else sizes_possible(study.interval)
    return said if possible is None else f"{said} From this pilot anything from {possible} is possible."


def _required_size(study: PowerStudy, target: float) -> str:
    required = study.required
    what = "the pair" if len(study.plan.pairs) == 1 else f"all {len(study.plan.pairs)} pairs at once"
    if study.plan.unattainable:
        where = "even without noise" if study.plan.pilot is None else "in the pilot"
        return f"No number of samples shows {what}: {where} the claim does not hold."
    if required.size is None:
        return (
            f"More than {int(required.sizes[-1]):,} samples a model are needed to show {what} with a power "
            f"of {percent(target)}."
        )
    least = required.power >= required.target and required.size == required.sizes[0]
    size = f"{'At most' if least else 'About'} {required.size:,} samples a model"
    doubt = "" if required.confirmed or least else "; more simulations would make it surer"
    return f"{size} show {what} with a power of {percent(target)}{doubt}."


def summary_decimals(found: Summary) -> int:
    """Digits that the errors of the means leave."""
    return decimals_of(found.sd / np.sqrt(found.size))


def portfolio_verdict(found: Summary, models: Sequence[str]) -> str:
    """Who has the best mean, and who the best worst cases; rounded as the table is."""
    best, level = int(np.argmax(found.mean)), found.levels[0]
    safest = int(np.argmax(found.tail_values[:, 0]))
    decimals = summary_decimals(found)
    worst = f"the worst {percent(level)} average {rounded(float(found.tail_values[safest, 0]), decimals)}"
    text = f"{models[best]} has the largest mean, {rounded(float(found.mean[best]), decimals)}"
    if safest == best:
        return f"{text}, and the mildest bad cases: {worst}."
    return f"{text}; {models[safest]} has the mildest bad cases: {worst}."


def _are(what: Sequence[str] | int) -> str:
    return "is" if (what if isinstance(what, int) else len(what)) == 1 else "are"
