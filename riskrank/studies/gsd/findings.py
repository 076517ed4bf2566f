"""Findings of ``gsd``, and the sentences that report them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.family import Side
from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.studies.findings import Finding, Sentences, same_distribution, untested
from riskrank.studies.wording import all_others, counted, names, percent

_FOR_EVERY_UTILITY = "however one values the metrics"


@dataclass(frozen=True, eq=False)
class GsdCase:
    """Input of the findings and their sentences.

    Attributes
    ----------
    analysis : GsdAnalysis
        The analysis at the last threshold.
    models, criteria : sequence of str
        Names.
    identical : bool
        Whether all models have the same distribution of quality vectors.
    scope : str
        Phrase that names what the results refer to, such as "in these samples".
    """

    analysis: GsdAnalysis
    models: Sequence[str]
    criteria: Sequence[str]
    identical: bool
    scope: str = "in these samples"

    @property
    def capitalised_scope(self) -> str:
        """The scope, for the beginning of a sentence."""
        return self.scope[0].upper() + self.scope[1:]


def gsd_findings(case: GsdCase) -> list[Finding]:
    """Return the findings: the models that dominate all others, else the front, and the significant pairs."""
    analysis, k = case.analysis, len(case.models)
    dominates = analysis.relation.dominates & ~np.eye(k, dtype=bool)
    best = np.flatnonzero(dominates.sum(axis=1) == k - 1).tolist()
    front = np.flatnonzero(analysis.front).tolist()
    kind = "same-distribution" if case.identical else "best" if best else "front"
    first = Finding(kind=kind, models=tuple(best or front))
    if not analysis.tests:
        return [first, *untested(tested=False)]
    n_significant, n_pairs = int(analysis.significant.sum()), int(dominates.sum())
    fewest_relabellings = min((test.resamples for test in analysis.tests.values()), default=0)
    figures = {
        "relabellings": fewest_relabellings,
        "pairs": n_pairs,
        "shown": n_significant,
        "undecided": int(analysis.undecided.sum()),
        "level": analysis.family.level(1),
    }
    answer = Side.SHOWN if n_significant else Side.OPEN
    return [first, Finding(kind="pairs-shown", figures=figures, answer=answer)]


def _describe_best(finding: Finding, case: GsdCase) -> str:
    """Return the sentence about the models that dominate all others."""
    best = [case.models[i] for i in finding.models]
    rivals_text = all_others([model for model in case.models if model not in best] or best[1:])
    verb = _is_or_are(len(best))
    subject = f"{case.capitalised_scope} {names(best)} {verb}"
    return f"{subject} at least as good as {rivals_text}, {_FOR_EVERY_UTILITY}."


def _describe_front(finding: Finding, case: GsdCase) -> str:
    """Return the sentence about the models that no other model dominates."""
    front = names([case.models[i] for i in finding.models], 6).replace(" and ", " or ")
    no_best_text = (
        f"{case.capitalised_scope} no model is at least as good as all others, {_FOR_EVERY_UTILITY}"
    )
    return f"{no_best_text}; nobody is better than {front} in this sense."


def _describe_significant_pairs(finding: Finding, case: GsdCase) -> str:
    """Return the sentence about how many dominant pairs are significant."""
    pairs, significant, undecided = (int(finding.figures[key]) for key in ("pairs", "shown", "undecided"))
    if not pairs:
        return f"No two models are ordered so {case.scope}."
    level_text = f"significant at {percent(case.analysis.family.level(1))}"
    relabellings = int(finding.figures["relabellings"])
    undecided_text = f"; {undecided} not decided by {relabellings:,} relabellings" if undecided else ""
    significant_text = f"{significant} {_is_or_are(significant)}" if significant else "none is"
    pairs_text = f"Of {counted(pairs, 'pair')} of models ordered so {case.scope}"
    return f"{pairs_text}, {significant_text} {level_text}{undecided_text}."


def _is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


SENTENCES: Sentences[GsdCase] = Sentences(
    {
        "same-distribution": lambda _, case: same_distribution(case.models, names(case.criteria)),
        "best": _describe_best,
        "front": _describe_front,
        "pairs-shown": _describe_significant_pairs,
    }
)
"""How each kind of finding is said."""
