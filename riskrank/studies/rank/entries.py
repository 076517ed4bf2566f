"""Entries of a ranking's ``meta``: significant pairs, recommendations, hidden risks and stability."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from riskrank.engine.dominance.hidden_risk import NONE
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.tail_contrasts import TailContrasts
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.leader import Leader
from riskrank.studies.targets import Units

if TYPE_CHECKING:
    from riskrank.engine.dominance.method_rankings import Stability


def separations(study: MethodStudy) -> Iterator[dict[str, Any]]:
    """Yield the number of significantly different pairs of models for each method."""
    for metric, column in study.studies.items():
        for name, separation in column.separations.items():
            if f"{name}@{metric}" in study.rankings:
                yield {"method": f"{name}@{metric}"} | vars(separation)


def recommendations(
    leaders: Mapping[str, Leader],
    models: Sequence[str],
    units: Mapping[str, Units],
    means: Sequence[MetricMeans],
) -> Iterator[dict[str, Any]]:
    """Yield the evidence about the leader of every score column."""

    def worse_tails(tails: TailContrasts) -> Iterator[dict[str, Any]]:
        """Yield every metric and model with significantly milder worst scores than the leader."""
        for i, m in np.argwhere(tails.milder).tolist():
            values = units[means[m].name].to_file_units(tails.tails[:, m])
            yield {
                "metric": means[m].name,
                "against": models[i],
                "level": tails.level,
                "tvar": values[tails.reference].item(),
                "against_tvar": values[i].item(),
                "p_adjusted": tails.p_milder[i, m].item(),
            }

    for name, leader in leaders.items():
        recommendation = leader.recommendation
        if recommendation is None:
            continue
        yield {
            "method": f"{leader.method}@{name}",
            "leader": models[leader.first],
            "holds": recommendation.confirmed,
            "ahead_head_to_head": [models[i] for i in recommendation.leader.ahead],
            "not_decided_head_to_head": [models[i] for i in recommendation.leader.undecided],
            "better_on_every_metric": [models[i] for i in recommendation.leader.better],
            "worse_on_every_metric": [models[i] for i in recommendation.leader.worse],
            "milder_on_a_metric": [models[i] for i in recommendation.leader.milder],
            "not_decided_on_a_metric": [models[i] for i in leader.undecided_tails],
            "worse_tails": [*worse_tails(tails)] if (tails := recommendation.leader.tails) else [],
            "recommendation": models[leader.recommended_leader[0]] if leader.recommended_leader else None,
            "trade": [models[i] for i in leader.trade_offs],
            "choice": None if recommendation.alternative is None else models[recommendation.alternative],
            "unbeaten": [models[i] for i in recommendation.unbeaten],
            "deciding_metrics": [means[m].name for m in recommendation.deciding],
            "first_by_metrics": None
            if recommendation.first_by_metrics is None
            else models[recommendation.first_by_metrics],
            "first_without": recommendation.first_without
            and {models[excluded]: models[first] for excluded, first in recommendation.first_without.items()},
        }


def hidden_risks(
    study: MethodStudy, models: Sequence[str], units: Mapping[str, Units]
) -> Iterator[dict[str, Any]]:
    """Yield the models whose tail is worse than their mean suggests, and the result of the test."""
    for metric, column in study.studies.items():
        risks = column.hidden_risks
        if risks is None:
            continue
        mean, tail = units[metric].to_file_units(risks.mean), units[metric].to_file_units(risks.tail_mean)
        for i in np.flatnonzero(risks.status != NONE).tolist():
            rival = int(risks.against[i])
            yield {
                "metric": metric,
                "model": models[i],
                "status": str(risks.status[i]),
                "mean": mean[i].item(),
                "tvar": tail[i].item(),
                "level": column.dominance.estimates.tail_level,
                "against": models[rival],
                "against_mean": mean[rival].item(),
                "against_tvar": tail[rival].item(),
                "p_adjusted": risks.p_adjusted[i].item(),
                "decided": bool(risks.decided[i]),
            }


def agreement(stability: Stability) -> Iterator[dict[str, Any]]:
    """Yield the mean and standard deviation of Kendall's tau between subsample and full-sample rankings."""
    mean, sd = stability.mean, stability.sd
    for m, method in enumerate(stability.methods):
        for s, size in enumerate(stability.sizes):
            yield {
                "method": method,
                "size": size,
                "kendall_tau_mean": float(mean[m, s]),
                "kendall_tau_sd": float(sd[m, s]),
                "repeats": stability.repeats,
            }
