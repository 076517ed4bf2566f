"""Findings of ``gsd`` and their sentences."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.family import Answer
from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.studies.findings import Finding, Sentences, same_distribution_sentence, untested_finding
from riskrank.studies.wording import counted, format_percent, join_names, others_phrase

_FOR_EVERY_UTILITY = "under every utility of the metrics"


@dataclass(frozen=True, eq=False)
class GsdCase:
    """Results from which the findings and their sentences are derived.

    Attributes
    ----------
    analysis : GsdAnalysis
        Analysis at the last threshold.
    models, criteria : sequence of str
        Names of the models and criteria.
    identical : bool
        True if all models have the same distribution of quality vectors.
    scope : str
        Phrase for the scope of the results, such as "in these samples".
    """

    analysis: GsdAnalysis
    models: Sequence[str]
    criteria: Sequence[str]
    identical: bool
    scope: str = "in these samples"

    @property
    def capitalised_scope(self) -> str:
        """The scope with a capital letter, to start a sentence."""
        return self.scope[0].upper() + self.scope[1:]


def gsd_findings(case: GsdCase) -> list[Finding]:
    """Return the findings: models that dominate all others, or else the front, and the significant pairs."""
    analysis, k = case.analysis, len(case.models)
    dominates = analysis.relation.dominates & ~np.eye(k, dtype=bool)
    best = np.flatnonzero(dominates.sum(axis=1) == k - 1).tolist()
    front = np.flatnonzero(analysis.front).tolist()
    kind = "same-distribution" if case.identical else "best" if best else "front"
    first = Finding(kind=kind, models=tuple(best or front))
    if not analysis.tests:
        return [first, *untested_finding(tested=False)]
    n_significant, n_pairs = int(analysis.significant.sum()), int(dominates.sum())
    fewest_relabellings = min((test.resamples for test in analysis.tests.values()), default=0)
    figures = {
        "relabellings": fewest_relabellings,
        "pairs": n_pairs,
        "significant": n_significant,
        "undecided": int(analysis.undecided.sum()),
        "level": analysis.family.interval_level(1),
    }
    answer = Answer.SIGNIFICANT if n_significant else Answer.UNDECIDED
    return [first, Finding(kind="pairs-shown", figures=figures, answer=answer)]


def _describe_best(finding: Finding, case: GsdCase) -> str:
    """Return the sentence about the models that dominate all others."""
    best = [case.models[i] for i in finding.models]
    rivals_text = others_phrase([model for model in case.models if model not in best] or best[1:])
    verb = _is_or_are(len(best))
    subject = f"{case.capitalised_scope} {join_names(best)} {verb}"
    return f"{subject} at least as good as {rivals_text}, {_FOR_EVERY_UTILITY}."


def _describe_front(finding: Finding, case: GsdCase) -> str:
    """Return the sentence about the models that no other model dominates."""
    front = join_names([case.models[i] for i in finding.models], 6).replace(" and ", " or ")
    no_best_text = (
        f"{case.capitalised_scope} no model is at least as good as all others, {_FOR_EVERY_UTILITY}"
    )
    return f"{no_best_text}; no model is better than {front} in this sense."


def _describe_significant_pairs(finding: Finding, case: GsdCase) -> str:
    """Return the sentence about how many cases of dominance are significant."""
    pairs, significant, undecided = (
        int(finding.figures[key]) for key in ("pairs", "significant", "undecided")
    )
    if not pairs:
        return f"No model dominates another {case.scope}."
    level_text = f"significant at {format_percent(case.analysis.family.interval_level(1))}"
    relabellings = int(finding.figures["relabellings"])
    undecided_text = f"; {undecided} undecided at {relabellings:,} relabellings" if undecided else ""
    significant_text = f"{significant} {_is_or_are(significant)}" if significant else "none is"
    pairs_text = f"Of {counted(pairs, 'pair')} with dominance {case.scope}"
    return f"{pairs_text}, {significant_text} {level_text}{undecided_text}."


def _is_or_are(count: int) -> str:
    """Return "is" or "are" to agree with a count."""
    return "is" if count == 1 else "are"


SENTENCES: Sentences[GsdCase] = Sentences(
    {
        "same-distribution": lambda _, case: same_distribution_sentence(
            case.models, join_names(case.criteria)
        ),
        "best": _describe_best,
        "front": _describe_front,
        "pairs-shown": _describe_significant_pairs,
    }
)
"""Sentence of each kind of finding."""
