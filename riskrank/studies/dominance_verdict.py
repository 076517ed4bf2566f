"""What pairwise dominance means for a decision, in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.dominance.claims import ABSOLUTE, DIRECT, Claim
from riskrank.engine.dominance.column import DominanceStudy
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.studies.wording import claim_words, names, not_decided, unseen_in

ORDINALS = {1: "first", 2: "second"}


def dominance_verdict(
    columns: Sequence[tuple[str, DominanceStudy]],
    models: Sequence[str],
    inference: Inference,
    scores: ClusteredScores,
) -> str:
    """Say how many pairs are told apart, who is ahead of all, and whom nobody is ahead of.

    Parameters
    ----------
    columns : sequence of (str, DominanceStudy)
    models : sequence of str
    inference : Inference
    scores : ClusteredScores
        Of one column: they all have the same samples.
    """
    sentences = [_of_column(name, study, models, inference) for name, study in columns]
    return " ".join([*sentences, unseen_in(scores)])


def _of_column(name: str, study: DominanceStudy, models: Sequence[str], inference: Inference) -> str:
    tests = _leading(study)
    kind = {DIRECT: "directly", ABSOLUTE: f"at a ratio below {tests.claim.boundary:g}"}
    how = f"in {ORDINALS[tests.claim.order]} order {kind.get(tests.claim.kind, 'relative to the field')}"
    dominates = tests.dominates
    sure = _shown(tests.claim, tested=inference.test)
    k = len(models)
    if k == 2:
        return _of_pair(name, study, tests, models, how, sure)
    apart = int(np.triu(dominates | dominates.T, 1).sum())
    pairs = k * (k - 1) // 2
    if not apart:
        nothing = (
            "nothing can be told apart" if inference.test else "nobody is ahead of anybody in these samples"
        )
        parts = [f"On {name}, {nothing} {how}: 0 of {pairs} pairs."]
        return " ".join([*parts, *_open_claims(study, tests)])
    told = "significantly told apart" if inference.test else "ordered in these samples"
    parts = [f"On {name}, {apart} of {pairs} pairs {'is' if apart == 1 else 'are'} {told} {how}."]
    best = [i for i in range(k) if dominates[i].sum() == k - 1]
    if best:
        full = tests.claim.kind == DIRECT and not np.delete(tests.ratios[best[0]], best[0]).any()
        parts.append(
            f"{names([models[i] for i in best])} {sure} all others{', and dominates them' if full else ''}."
        )
    else:
        free = [models[i] for i in _by_ratio(tests) if not dominates[:, i].any()]
        other = "model" if len(free) > 1 else "other model"
        left = f"no {other} {sure} {names(free, 6)}"
        if len(free) > 6:
            left = f"{len(free)} of {k} models have nobody above them"
        parts.append(f"Nobody {sure} all others; {left}." if free else "")
    return " ".join(part for part in [*parts, *_open_claims(study, tests)] if part)


def _shown(claim: Claim, *, tested: bool) -> str:
    """The verb for what a claim that holds shows of a pair; dominance itself is a violation ratio of 0."""
    if claim.kind == ABSOLUTE:
        return "significantly almost dominates" if tested else "almost dominates in these samples"
    return "is significantly ahead of" if tested else "is ahead of, in these samples,"


def _open_claims(study: DominanceStudy, tests: DominanceTests) -> Iterator[str]:
    undecided = int(np.count_nonzero(~tests.decided))
    if undecided:
        yield f"{not_decided(undecided, tests.family, study.resamples or 0, claim_words(tests.claim))}."


def _of_pair(
    name: str, study: DominanceStudy, tests: DominanceTests, models: Sequence[str], how: str, sure: str
) -> str:
    for i, j in ((0, 1), (1, 0)):
        if tests.dominates[i, j]:
            doubt = "" if tests.p_adjusted is None else f", adjusted p = {tests.p_adjusted[i, j]:.2g}"
            full = ": it dominates" if tests.claim.kind == DIRECT and tests.ratios[i, j] == 0 else ""
            ratio = f"violation ratio {tests.ratios[i, j]:.3g}{full}{doubt}"
            worse = study.estimates.means[i] < study.estimates.means[j]
            mean = ", though its mean is worse in these samples" if worse else ""
            return f"On {name}, {models[i]} {sure} {models[j]} {how} ({ratio}){mean}."
    if tests.identical[0, 1]:
        return f"On {name}, {models[0]} and {models[1]} have identical scores."
    if not tests.decided.all():
        resamples = f"{study.resamples or 0:,} resamples"
        return f"On {name}, {models[0]} against {models[1]} is not decided at {resamples}."
    return f"On {name}, {models[0]} and {models[1]} cannot be told apart {how}."


def _leading(study: DominanceStudy) -> DominanceTests:
    """The claim a careful reader asks for: of the highest order, direct where it was tested."""
    return max(study.tests, key=lambda tests: (tests.claim.order, tests.claim.kind == DIRECT))


def _by_ratio(tests: DominanceTests) -> list[int]:
    return np.argsort(tests.ratios.sum(axis=1), kind="stable").tolist()
