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
from riskrank.studies.wording import names, number, percent, sizes_possible, unseen


def gsd_verdict(analyses: Sequence[GsdAnalysis], models: Sequence[str], samples: int) -> str:
    """Who dominates all others at the largest threshold, or who is dominated by nobody."""
    analysis = analyses[-1]
    dominates = analysis.relation.dominates
    where = f"At {analysis.threshold}"
    best = [models[i] for i in np.flatnonzero(dominates.sum(axis=1) == len(models) - 1).tolist()]
    if best:
        sentences = [f"{where}, {names(best)} dominates all others, whatever utility respects the metrics."]
    else:
        free = [models[i] for i in np.flatnonzero(analysis.front).tolist()]
        sentences = [f"{where}, nobody dominates all others; {names(free, 6)} {_are(free)} in the front."]
    if analysis.tests:
        proven = int(analysis.significant.sum())
        sentences.append(
            f"Of {int(dominates.sum())} dominances in these samples {proven} {_are(proven)} significant "
            f"at {percent(analysis.alpha)}."
        )
    return " ".join([*sentences, unseen(samples)])


def copa_verdict(table: ObjectiveTable, ranking: CopaRanking) -> str:
    """Which model is chosen, by what margin, and where it is weak."""
    population, chosen = table.population, ranking.chosen
    able = int(population.feasible.sum())
    if able == 1:
        return f"Choose {table.name(chosen)}: it is the only model that meets the constraints."
    p = "∞" if np.isinf(ranking.p) else f"{ranking.p:g}"
    text = f"Choose {table.name(chosen)}: its norm of ranks at p = {p} is the smallest of {able:,} models"
    second = ranking.order[1]
    if ranking.tie[second] != ranking.tie[chosen]:
        following = f"next {table.name(second)} with {number(ranking.norm[second])}"
        text += f" ({number(ranking.norm[chosen])}, {following})"
    weighted = np.asarray(table.weights) > 0
    ranks = np.where(weighted, population.u[chosen], -1.0)
    worst = int(np.argmax(ranks))
    if ranks[worst] <= 0:
        return f"{text}. No model is better on any objective that has a weight."
    share = percent(float(population.u[chosen, worst]))
    return (
        f"{text}. It is weakest on {population.metrics[worst]}, where {share} of the other models do better."
    )


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


def portfolio_verdict(found: Summary, models: Sequence[str]) -> str:
    """Who has the best mean, and who the best tail."""
    best, level = int(np.argmax(found.mean)), found.levels[0]
    safest = int(np.argmax(found.tail_values[:, 0]))
    text = f"{models[best]} has the largest mean, {number(found.mean[best])}"
    tail = f"the mean of the worst {percent(level)}, {number(found.tail_values[safest, 0])}"
    same = (
        f", and the best tail: {tail}."
        if safest == best
        else f"; {models[safest]} has the best tail: {tail}."
    )
    return text + same


def _are(what: Sequence[str] | int) -> str:
    return "is" if (what if isinstance(what, int) else len(what)) == 1 else "are"
