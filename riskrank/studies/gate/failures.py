"""Calls that gave no score: how many each model has, and a new model that has many more of them fails."""

from collections.abc import Sequence
from math import erfc, sqrt

import numpy as np

from riskrank.options.tiers import TIERS
from riskrank.scores.files.parsing import ABSENT
from riskrank.scores.table.score_counts import Scored
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.costs import PER_SUCCESS
from riskrank.studies.document import rows_of
from riskrank.studies.gate.claim import FAILED, NOT_WORSE, Statistic
from riskrank.studies.gate.document import GateRow
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.verdicts import FAIL

# Tiers of the claims by new model, old model and metric.
Claimed = dict[tuple[str, str, str], list[str | None]]


def claimed_metrics(rows: Sequence[GateRow], wanted: Sequence[Statistic]) -> Claimed:
    """Which models and metrics claims rest on; a cost per success rests on two metrics."""
    both = {one.label: one.metrics for one in wanted if one.name == PER_SUCCESS}
    found: Claimed = {}
    for row in rows:
        for metric in both[row.metric] if row.statistic == PER_SUCCESS else (row.metric,):
            found.setdefault((row.new, row.old, metric), []).append(row.tier)
    return found


def counted_scores(tables: Sequence[ScoreTable], claims: Claimed) -> list[Scored]:
    """Of every model and metric that claims are about, how many scores there are of how many."""
    claimed = dict.fromkeys((model, metric) for new, old, metric in claims for model in (old, new))
    found: dict[tuple[str, str], Scored] = {}
    for table in tables:
        found |= {(one.model, one.metric): one for one in table.scored}
        names = [metric.name for metric in table.metrics]
        names += table.suite.metrics
        for model, name in ((model, name) for model, name in claimed if name in names):
            every = len(table.values[table.index(model)])
            full = Scored(model=model, metric=name, scored=every, total=every, why={})
            found.setdefault((model, name), full)
    return [found[key] for key in sorted(claimed) if key in found]


def _failed(one: Scored | None, missing: str) -> tuple[float, int]:
    """The share of calls that gave no score, and of how many."""
    asked = 0 if one is None else one.total - (missing == "drop") * one.why.get(ABSENT, 0)
    return 1 - one.scored / asked if one and asked else 0.0, asked


def failures(
    claims: Claimed, counted: Sequence[Scored], settings: ClaimSettings, missing: str
) -> list[GateRow]:
    """A row for each new model and metric whose share of failures is higher than the old one's by too much.

    That is no claim of the family: what was called and did not answer is counted, and not estimated. A sample
    that a model was not asked for counts as failed only where what is missing is to count as anything.
    """
    of = {(one.model, one.metric): one for one in counted}
    found: list[GateRow] = []
    for (new, old, metric), tiers in claims.items():
        both = [_failed(of.get((model, metric)), missing) for model in (new, old)]
        more = both[0][0] - both[1][0]
        if more <= 0 or more < settings.most_failed - 1e-12:
            continue
        error = sqrt(sum(share * (1 - share) / asked for share, asked in both if asked))
        # Of two independent shares, by the normal approximation: told, and nothing is decided by it.
        p_value = erfc(more / error / sqrt(2)) if error else 0.0
        found += rows_of(
            GateRow,
            slice(None),
            claim=NOT_WORSE,
            new=new,
            old=old,
            metric=metric,
            statistic=FAILED,
            estimate=np.array([more]),
            margin=settings.most_failed,
            verdict=FAIL,
            p_value=p_value,
            p_adjusted=p_value,
            standard_error=error,
            samples=both[0][1],
            direction="lower",
            tier=min(tiers, key=lambda tier: -1 if tier is None else TIERS.index(tier)),
        )
    return found
