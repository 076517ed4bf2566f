"""Claims about two models, and how they are decided as one family."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import stdtrit

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.evidence.e_values import Bet, e_values
from riskrank.engine.evidence.evidence import Evidence, either_way
from riskrank.engine.evidence.student import POWER
from riskrank.engine.family import Answers, Family
from riskrank.engine.types import Booleans, Floats
from riskrank.options.tiers import CRITICAL, TIERS
from riskrank.studies.document import rows_from
from riskrank.studies.gate.claim import MACRO, MEAN, GateClaim
from riskrank.studies.gate.document import GateRow
from riskrank.studies.gate.evidence import evidence_of_claims

# Means of the same difference on every sample vary by so much of it.
_ROUNDING = 1e-9


def decide(
    claims: Sequence[GateClaim],
    inference: Inference,
    models: Sequence[str],
    *,
    wager: Callable[[GateClaim], Bet] | None = None,
    at_best: Sequence[GateClaim] | None = None,
) -> tuple[list[GateRow], list[str]]:
    """Decide claims as one family.

    Parameters
    ----------
    claims : sequence of GateClaim
    inference : Inference
        With the level and the correction of the whole family.
    models : sequence of str
    wager : callable, optional
        ResampledDifference that may be looked at again, in the place of resamples.
    at_best : sequence of GateClaim, optional
        The same claims where what is missing is at the best there can be; then they are at the worst, and
        decided whatever it is.

    Returns
    -------
    rows : list of GateRow
        One a claim.
    advice : list of str
        What a reader must know before believing the answers.

    Raises
    ------
    InputError
        If two models share fewer than 10 samples.
    """
    evidence_of = partial(evidence_of_claims, inference=inference, models=models, wager=wager)
    family, tiers = replace(inference.family, sides=2), [claim.tier for claim in claims]
    answer = family.answer
    if any(tiers):
        answer = partial(family.serial, tier=np.array([TIERS.index(one or CRITICAL) for one in tiers]))
    evidence, possible, advice = _whatever_is_missing(claims, at_best, evidence_of)
    answers, e_of = answer(evidence), e_values(evidence)
    shares = np.array([claim.share is not None for claim in claims])
    if shares.any():
        plain = [replace(claim, share=None) for claim in claims]
        evidence, possible, _ = _whatever_is_missing(plain, at_best, evidence_of)
        answers = _with_ends(answers, answer(evidence), evidence.boundary, shares)
    ends = (one.ends(*both) for one, *both in zip(claims, answers.low, answers.high, strict=True))
    # From where to where the estimates may lie by what is missing.
    pairs = [None] * len(claims) if possible is None else zip(*possible, strict=True)
    spans = (both and sorted(map(one.in_units, both)) for one, both in zip(claims, pairs, strict=True))
    parts = zip(claims, range(len(claims)), ends, spans, e_of, strict=True)
    records = ((models, evidence, answers, *own) for own in parts)
    rows = rows_from(GateRow, "models evidence answers claim at ends span e_values", records)
    return rows, list(dict.fromkeys(advice))


def _whatever_is_missing(
    claims: Sequence[GateClaim],
    at_best: Sequence[GateClaim] | None,
    evidence_of: Callable[[Sequence[GateClaim]], tuple[Evidence, list[str]]],
) -> tuple[Evidence, tuple[Floats, Floats] | None, list[str]]:
    """What the samples say, from where to where estimates may lie by what is missing, and advice."""
    if at_best is None:
        evidence, advice = evidence_of(claims)
        return evidence, None, advice
    pairs = [*zip(claims, at_best, strict=True)]
    against, advice = evidence_of([worst.with_scores_of(best, worst.old) for worst, best in pairs])
    in_favour, more = evidence_of([worst.with_scores_of(best, worst.new) for worst, best in pairs])
    return either_way(against, in_favour), (against.estimate, in_favour.estimate), advice + more


def _with_ends(answers: Answers, plain: Answers, boundary: Floats, shares: Booleans) -> Answers:
    """Answers with the intervals of plain differences, which margins of a share end where they decide."""
    low = np.where(answers.shown, np.maximum(plain.low, boundary), np.minimum(plain.low, boundary))
    high = np.where(answers.refuted, np.minimum(plain.high, boundary), np.maximum(plain.high, boundary))
    return replace(answers, low=np.where(shares, low, plain.low), high=np.where(shares, high, plain.high))


def visible(rows: Sequence[GateRow], claims: Sequence[GateClaim], family: Family) -> dict[str, float]:
    """By metric how far from its margin a mean has to lie to be decided, four times out of five.

    The interval of a claim reaches as far as its tests do; one that is open on both sides tells nothing, nor
    does a mean that does not vary.
    """
    found: dict[str, float] = {}
    for row, claim in zip(rows, claims, strict=True):
        if row.statistic not in (MEAN, MACRO) or row.standard_error <= _ROUNDING * abs(row.estimate):
            continue
        if claim.column.means is not None:
            apart = claim.column.means.differences.visible(family.level(len(rows)))
            away = float(apart[claim.new, claim.old])
        else:
            worse = row.low if row.direction == "higher" else row.high
            if worse is None:
                continue
            away = abs(row.estimate - worse) + row.standard_error * float(
                stdtrit(max(row.samples - 1, 1), POWER)
            )
        found[row.metric] = max(found.get(row.metric, 0.0), away)
    return found
