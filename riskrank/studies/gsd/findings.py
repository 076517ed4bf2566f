"""What a generalized stochastic dominance analysis finds, and how each kind of finding is said."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.family import Side
from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.studies.findings import Finding, Sentences, same_distribution, untested
from riskrank.studies.wording import all_others, counted, names, percent

_HOWEVER = "however one values the metrics"


@dataclass(frozen=True, eq=False)
class GsdCase:
    """What sentences are made from: the analysis at the largest threshold, and what it is about."""

    analysis: GsdAnalysis
    models: Sequence[str]
    criteria: Sequence[str]
    alike: bool
    where: str = "in these samples"

    @property
    def there(self) -> str:
        """Where, at the beginning of a sentence."""
        return self.where[0].upper() + self.where[1:]


def gsd_findings(case: GsdCase) -> list[Finding]:
    """Who is at least as good as all others, or against whom nobody is; and how sure that is."""
    analysis, k = case.analysis, len(case.models)
    dominates = analysis.relation.dominates & ~np.eye(k, dtype=bool)
    best = np.flatnonzero(dominates.sum(axis=1) == k - 1).tolist()
    free = np.flatnonzero(analysis.front).tolist()
    kind = "same-distribution" if case.alike else "best" if best else "front"
    first = Finding(kind=kind, models=tuple(best or free))
    if not analysis.tests:
        return [first, *untested(tested=False)]
    shown, pairs = int(analysis.significant.sum()), int(dominates.sum())
    fewest = min((test.resamples for test in analysis.tests.values()), default=0)
    figures = {
        "relabellings": fewest,
        "pairs": pairs,
        "shown": shown,
        "undecided": int(analysis.undecided.sum()),
        "level": analysis.family.level(1),
    }
    answer = Side.SHOWN if shown else Side.OPEN
    return [first, Finding(kind="pairs-shown", figures=figures, answer=answer)]


def _best(finding: Finding, case: GsdCase) -> str:
    best = [case.models[i] for i in finding.models]
    whom = all_others([model for model in case.models if model not in best] or best[1:])
    return f"{case.there} {names(best)} {_are(len(best))} at least as good as {whom}, {_HOWEVER}."


def _front(finding: Finding, case: GsdCase) -> str:
    free = names([case.models[i] for i in finding.models], 6).replace(" and ", " or ")
    none = f"{case.there} no model is at least as good as all others, {_HOWEVER}"
    return f"{none}; nobody is better than {free} in this sense."


def _pairs_shown(finding: Finding, case: GsdCase) -> str:
    """How many of the pairs that are ordered so are shown to be."""
    pairs, proven, undecided = (int(finding.figures[key]) for key in ("pairs", "shown", "undecided"))
    if not pairs:
        return f"No two models are ordered so {case.where}."
    at = f"significant at {percent(case.analysis.family.level(1))}"
    relabellings = int(finding.figures["relabellings"])
    left = f"; {undecided} not decided by {relabellings:,} relabellings" if undecided else ""
    shown = f"{proven} {_are(proven)}" if proven else "none is"
    return f"Of {counted(pairs, 'pair')} of models ordered so {case.where}, {shown} {at}{left}."


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


SENTENCES: Sentences[GsdCase] = Sentences(
    {
        "same-distribution": lambda _, case: same_distribution(case.models, names(case.criteria)),
        "best": _best,
        "front": _front,
        "pairs-shown": _pairs_shown,
    }
)
"""How each kind of finding is said."""
