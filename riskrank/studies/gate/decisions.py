"""Test all claims of a gate as one family."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from riskrank.engine.dominance.inference import Inference
from riskrank.engine.evidence.e_values import Bet, e_values
from riskrank.engine.evidence.evidence import Evidence, worst_case_evidence
from riskrank.engine.evidence.mean_differences import is_binary
from riskrank.engine.evidence.student import POWER
from riskrank.engine.family import Answers
from riskrank.engine.special import stdtrit
from riskrank.engine.types import Booleans, Floats
from riskrank.options.inference import CRITICAL, TIERS
from riskrank.studies.document import rows_from_records
from riskrank.studies.gate.claim import NOT_WORSE, GateClaim
from riskrank.studies.gate.document import GateRow
from riskrank.studies.gate.evidence import claim_evidence
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.verdicts import FAIL, PASS
from riskrank.studies.settings import family_from_settings
from riskrank.studies.statistics import MACRO, MEAN

# Proportion of worst scores that is compared beside means, and the smallest number of samples in it.
TAIL_LEVEL, MIN_TAIL_SAMPLES = 0.05, 5

# Relative rounding error of the mean of a constant difference.
_ROUNDING = 1e-9


def decide(
    claims: Sequence[GateClaim],
    inference: Inference,
    models: Sequence[str],
    *,
    make_bet: Callable[[GateClaim], Bet] | None = None,
    best_case: Sequence[GateClaim] | None = None,
) -> tuple[list[GateRow], list[str]]:
    """Test claims as one family and return their verdicts.

    Parameters
    ----------
    claims : sequence of GateClaim
        Claims with every missing score at its worst value, if `best_case` is given.
    inference : Inference
        Resampling, significance level and correction.
    models : sequence of str
    make_bet : callable, optional
        Function that returns the betting test of a claim, for anytime-valid answers. By default, claims are
        tested by resampling.
    best_case : sequence of GateClaim, optional
        The same claims with every missing score at its best value. A claim is then decided only if all values
        in between give the same answer.

    Returns
    -------
    rows : list of GateRow
        One row per claim.
    advice : list of str
        Warnings about the evidence.

    Raises
    ------
    InputError
        If two models share fewer than 10 samples, or 6 if only means are compared.
    """
    compute_evidence = partial(claim_evidence, inference=inference, models=models, make_bet=make_bet)
    family, tiers = replace(inference.family, sides=2), [claim.tier for claim in claims]
    answer = family.answer
    if any(tiers):
        answer = partial(family.answer_in_tiers, tier=np.array([TIERS.index(t or CRITICAL) for t in tiers]))
    evidence, possible, advice = _bounded_evidence(claims, best_case, compute_evidence)
    answers, e_pairs = answer(evidence), e_values(evidence)
    relative = np.array([claim.share is not None for claim in claims])
    if relative.any():
        # Decide by scaled differences, and report ratios. Without its rare huge costs, a ratio of sums and
        # its error are both too small, so claims about it must also hold for logarithms.
        claims, best_case = _reported_claims(claims, best_case)
        scaled = evidence
        evidence, possible, _ = _bounded_evidence(claims, best_case, compute_evidence)
        ratios = relative & np.array([claim.statistic.startswith("sum(") for claim in claims])
        answers = answer(scaled.with_larger_p_values(evidence, ratios))
        answers = _with_reported_intervals(answers, answer(evidence), evidence.boundary, relative)
    limits = zip(claims, answers.low, answers.high, strict=True)
    intervals = (claim.interval_to_file_units(low, high) for claim, low, high in limits)
    # Range of each estimate over all values of the missing scores.
    pairs = zip(claims, zip(*possible, strict=True) if possible else [None] * len(claims), strict=True)
    spans = (both and sorted(map(claim.to_file_units, both)) for claim, both in pairs)
    records = (
        (models, evidence, answers, *record)
        for record in zip(claims, range(len(claims)), intervals, spans, e_pairs, strict=True)
    )
    rows = rows_from_records(GateRow, "models evidence answers claim i interval span e_values", records)
    return rows, list(dict.fromkeys(advice))


def find_worse_tails(
    claims: Sequence[GateClaim], rows: Sequence[GateRow], inference: Inference, models: Sequence[str]
) -> list[GateRow]:
    """Return rows on significantly worse tail means of models whose means pass without a significant loss.

    The tail is the worst 5 % of the scores of all samples, weighted by task. It needs at least 5 samples.
    """
    passed = [
        claim for claim, row in zip(claims, rows, strict=True) if row.verdict == PASS and row.effect_sign >= 0
    ]
    claimed = {claim.column.name for claim in claims if claim.level is not None}
    tails = [
        replace(
            claim, kind=NOT_WORSE, statistic=f"tvar@{TAIL_LEVEL:g}", level=TAIL_LEVEL, margin=0.0, share=None
        )
        for claim in passed
        if claim.statistic in (MEAN, MACRO)
        and claim.scores.unit_name != "tasks"
        and claim.column.name not in claimed
        and not claim.is_level
        and not claim.subset
        and not claim.column.units.relative
        and claim.effective_size * TAIL_LEVEL >= MIN_TAIL_SAMPLES
        and not is_binary(claim.pair_scores.values)
    ]
    found = decide(tails, inference, models)[0] if tails else []
    return [row for row in found if row.verdict == FAIL]


def _bounded_evidence(
    claims: Sequence[GateClaim],
    best_case: Sequence[GateClaim] | None,
    compute_evidence: Callable[[Sequence[GateClaim]], tuple[Evidence, list[str]]],
) -> tuple[Evidence, tuple[Floats, Floats] | None, list[str]]:
    """Return the evidence, the limits of each estimate, and warnings.

    With `best_case`, the limits cover all possible values of the missing scores. Otherwise they are None.
    """
    if best_case is None:
        evidence, advice = compute_evidence(claims)
        return evidence, None, advice
    # If large scores are bad for the claim, the worst scores of the metric are the best ones for the claim.
    pairs = [
        (best, worst) if worst.opposes_metric else (worst, best)
        for worst, best in zip(claims, best_case, strict=True)
    ]
    against, advice = compute_evidence([worst.with_scores_from(best, worst.old) for worst, best in pairs])
    in_favour, more = compute_evidence([worst.with_scores_from(best, worst.new) for worst, best in pairs])
    return worst_case_evidence(against, in_favour), (against.estimate, in_favour.estimate), advice + more


def _reported_claims(
    claims: Sequence[GateClaim], best_case: Sequence[GateClaim] | None
) -> tuple[list[GateClaim], list[GateClaim] | None]:
    """Return the claims whose estimates and intervals are reported, with missing scores as in the inputs.

    Claims with a relative margin become claims about ratios, or about differences if a mean is not positive.
    """
    reported = []
    for cases in zip(claims, *([best_case] if best_case else []), strict=True):
        ratios = [claim if claim.share is None else claim.as_ratio() for claim in cases]
        reported.append([replace(claim, share=None) for claim in cases] if None in ratios else ratios)
    worst, *best = map(list, zip(*reported, strict=True))
    return worst, best[0] if best else None


def _with_reported_intervals(
    answers: Answers, reported: Answers, boundary: Floats, relative: Booleans
) -> Answers:
    """Return the answers with the intervals of the reported claims.

    For a relative margin, the interval of a decided claim is clipped at the margin, `boundary`. That of an
    undecided claim is extended to it.
    """
    low, high = reported.low, reported.high
    clipped_low = np.where(answers.significant, np.maximum(low, boundary), np.minimum(low, boundary))
    clipped_high = np.where(answers.contradicted, np.minimum(high, boundary), np.maximum(high, boundary))
    low, high = np.where(relative, clipped_low, low), np.where(relative, clipped_high, high)
    return replace(answers, low=low, high=high)


def detectable_distances(
    rows: Sequence[GateRow], claims: Sequence[GateClaim], settings: ClaimSettings
) -> dict[str, float]:
    """Return the minimum detectable distance from the margin by metric (power 80 %).

    It is half the width of the claim's interval plus the standard error times Student's t quantile at the
    power. Claims that are anytime-valid, or have one-sided intervals or zero variance, are skipped.
    """
    by_metric: dict[str, float] = {}
    level = family_from_settings(settings).interval_level(len(rows))
    for row, claim in () if settings.anytime else zip(rows, claims, strict=True):
        if row.statistic not in (MEAN, MACRO) or row.standard_error <= _ROUNDING * abs(row.estimate):
            continue
        if claim.column.means is not None:
            distances = claim.column.means.differences.detectable_difference(level)
            distance = float(distances[claim.new, claim.old])
        else:
            limit = row.low if row.direction == "higher" else row.high
            if limit is None:
                continue
            quantile = float(stdtrit(max(row.samples - 1, 1), POWER))
            distance = abs(row.estimate - limit) + row.standard_error * quantile
        by_metric[row.metric] = max(by_metric.get(row.metric, 0.0), distance)
    return by_metric
