"""What a generalized stochastic dominance analysis means for a decision, in two sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.studies.wording import all_others, counted, names, percent


def gsd_verdict(
    analyses: Sequence[GsdAnalysis], models: Sequence[str], where: str = "in these samples"
) -> str:
    """Who is at least as good as all others at the largest threshold, or against whom nobody is."""
    analysis, k, there = analyses[-1], len(models), where[0].upper() + where[1:]
    dominates = analysis.relation.dominates & ~np.eye(k, dtype=bool)
    however = "however one values the metrics"
    best = [models[i] for i in np.flatnonzero(dominates.sum(axis=1) == k - 1).tolist()]
    if best:
        whom = all_others([model for model in models if model not in best] or best[1:])
        sentences = [f"{there} {names(best)} {_are(best)} at least as good as {whom}, {however}."]
    else:
        free = [models[i] for i in np.flatnonzero(analysis.front).tolist()]
        sentences = [
            f"{there} no model is at least as good as all others, {however}; "
            f"nobody is better than {names(free, 6).replace(' and ', ' or ')} in this sense."
        ]
    if analysis.tests:
        proven, at = int(analysis.significant.sum()), f"significant at {percent(analysis.family.level(1))}"
        count = int(dominates.sum())
        shown = f"{proven} {_are(proven)}" if proven else "none is"
        sentences.append(
            f"Of {counted(count, 'pair')} of models ordered so {where}, {shown} {at}{_left_open(analysis)}."
            if count
            else f"No two models are ordered so {where}."
        )
    else:
        sentences.append("Nothing was tested, so nothing says how sure that is.")
    return " ".join(sentences)


def _left_open(analysis: GsdAnalysis) -> str:
    """Pairs of which more relabellings might show it."""
    open_ = int(analysis.undecided.sum())
    fewest = min((test.resamples for test in analysis.tests.values()), default=0)
    return f"; {open_} not decided by {fewest:,} relabellings" if open_ else ""


def _are(what: Sequence[str] | int) -> str:
    return "is" if (what if isinstance(what, int) else len(what)) == 1 else "are"
