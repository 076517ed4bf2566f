"""Entries of the document beside its rows: separated pairs, hidden risks, agreement of subsamples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from riskrank.engine.dominance.hidden_risk import NONE
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.tail_contrasts import TailContrasts
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.rank.leader import Leading
from riskrank.studies.targets import Units

if TYPE_CHECKING:
    from riskrank.engine.dominance.method_rankings import Stability


def separations(study: MethodStudy) -> Iterator[dict[str, Any]]:
    """Pairs of models that the tests of each method tell apart."""
    for metric, found in study.studies.items():
        for name, counted in found.separations.items():
            if f"{name}@{metric}" in study.rankings:
                yield {"method": f"{name}@{metric}"} | vars(counted)


def recommendations(
    leading: Mapping[str, Leading],
    models: Sequence[str],
    units: Mapping[str, Units],
    means: Sequence[MetricMeans],
) -> Iterator[dict[str, Any]]:
    """What the evidence says of the first model on every column."""

    def worse_tails(tails: TailContrasts) -> Iterator[dict[str, Any]]:
        """Every metric and model whose worst samples are significantly milder than the first's."""
        for i, m in np.argwhere(tails.milder).tolist():
            values = units[means[m].name].of(tails.tails[:, m])
            yield {
                "metric": means[m].name,
                "against": models[i],
                "level": tails.level,
                "tvar": values[tails.against].item(),
                "against_tvar": values[i].item(),
                "p_adjusted": tails.p_milder[i, m].item(),
            }

    for name, one in leading.items():
        found = one.recommendation
        if found is None:
            continue
        yield {
            "method": f"{one.method}@{name}",
            "leader": models[one.first],
            "holds": found.holds,
            "ahead_head_to_head": [models[i] for i in found.leader.ahead],
            "not_decided_head_to_head": [models[i] for i in found.leader.undecided],
            "better_on_every_metric": [models[i] for i in found.leader.better],
            "worse_on_every_metric": [models[i] for i in found.leader.worse],
            "milder_on_a_metric": [models[i] for i in found.leader.milder],
            "not_decided_on_a_metric": [models[i] for i in one.undecided_tails],
            "worse_tails": [*worse_tails(tails)] if (tails := found.leader.tails) else [],
            "recommendation": models[one.shipped[0]] if one.shipped else None,
            "trade": [models[i] for i in one.trade],
            "choice": None if found.alternative is None else models[found.alternative],
            "unbeaten": [models[i] for i in found.unbeaten],
            "deciding_metrics": [means[m].name for m in found.deciding],
            "first_by_metrics": None if found.first_by_metrics is None else models[found.first_by_metrics],
            "first_without": found.first_without
            and {models[out]: models[first] for out, first in found.first_without.items()},
        }


def hidden_risks(
    study: MethodStudy, models: Sequence[str], units: Mapping[str, Units]
) -> Iterator[dict[str, Any]]:
    """Models whose mean hides a worse tail, and those of which that is not shown or not decided."""
    for metric, found in study.studies.items():
        risks = found.hidden_risks
        if risks is None:
            continue
        mean, tail = units[metric].of(risks.mean), units[metric].of(risks.tail_mean)
        for i in np.flatnonzero(risks.status != NONE).tolist():
            other = int(risks.against[i])
            yield {
                "metric": metric,
                "model": models[i],
                "status": str(risks.status[i]),
                "mean": mean[i].item(),
                "tvar": tail[i].item(),
                "level": found.dominance.estimates.tail_level,
                "against": models[other],
                "against_mean": mean[other].item(),
                "against_tvar": tail[other].item(),
                "p_adjusted": risks.p_adjusted[i].item(),
                "decided": bool(risks.decided[i]),
            }


def agreement(found: Stability) -> Iterator[dict[str, Any]]:
    """Mean and spread of the agreement with the full-sample ranking."""
    mean, sd = found.mean, found.sd
    for m, method in enumerate(found.methods):
        for s, size in enumerate(found.sizes):
            yield {
                "method": method,
                "size": size,
                "kendall_tau_mean": float(mean[m, s]),
                "kendall_tau_sd": None if sd is None else float(sd[m, s]),
                "repeats": found.repeats,
            }
