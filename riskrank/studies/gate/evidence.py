"""Compute the evidence for claims about two models, with a method per kind of claim."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil, inf

import numpy as np

from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.effect_sizes import tail_sample_size
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.pair_samples import pair_samples
from riskrank.engine.dominance.permuted_tails import permutation_test
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.evidence.bootstrap import ResampledDifference, bootstrap_evidence, samples_needed
from riskrank.engine.evidence.e_values import Bet, bet_evidence
from riskrank.engine.evidence.evidence import Evidence, combine_evidence
from riskrank.engine.evidence.mean_differences import has_few_samples, mean_evidence
from riskrank.engine.evidence.statistics import percentile_difference
from riskrank.engine.evidence.student import Student
from riskrank.engine.gates.replicates import Comparison, observed_difference, resampled_differences
from riskrank.engine.gates.side import LabelledPair
from riskrank.engine.sampling.design import (
    MIN_EXACT_SAMPLES,
    MIN_LABELS,
    MIN_SAMPLES,
    describe_sample_size,
    size_warnings,
)
from riskrank.engine.types import Floats
from riskrank.errors import InputError, option
from riskrank.studies.findings import group_warnings
from riskrank.studies.gate.claim import GateClaim

# Automatic number of resamples: how many should lie beyond each bound of an interval, and the minimum.
_TAIL_RESAMPLES = 25
_MIN_RESAMPLES = 2000

# Limit on samples times resamples per comparison for an automatic number above the minimum.
_MAX_WORK = 1e9


def claim_evidence(
    claims: Sequence[GateClaim],
    inference: Inference,
    models: Sequence[str],
    make_bet: Callable[[GateClaim], Bet] | None,
) -> tuple[Evidence, list[str]]:
    """Return the evidence for all claims, and warnings.

    Parameters
    ----------
    claims : sequence of GateClaim
    inference : Inference
    models : sequence of str
    make_bet : callable or None
        Function that returns the betting test of a claim; None to test by resampling.
    """
    if make_bet is not None:
        return bet_evidence([make_bet(claim) for claim in claims]), []
    if claims[0].column.means is not None:
        return _mean_evidence(claims), []
    for claim in claims:
        _require_samples(claim, models)
    tests = len(claims)
    parts: list[tuple[Sequence[int], Evidence]] = []
    advice = _sample_warnings(claims)
    for positions in _group_by_test(claims).values():
        members = [claims[position] for position in positions]
        if members[0].dominance is not None:
            evidence, warnings = _dominance_evidence(members, inference, tests)
            advice += warnings
        elif members[0].compares_means:
            evidence = mean_claim_evidence(members, inference)
        elif members[0].percentile is not None:
            evidence = _percentile_evidence(members, inference, tests)
        else:
            evidence = _tail_evidence(members, inference, tests)
        parts.append((positions, evidence))
    return combine_evidence(parts), advice


def _mean_evidence(claims: Sequence[GateClaim]) -> Evidence:
    """Return the evidence for claims about means if samples are not independent, such as folds."""
    columns = [(claim, claim.column.means) for claim in claims]
    pairs = [(claim, mean.differences, mean.effective_size) for claim, mean in columns if mean is not None]
    student = Student(
        *(
            np.array([getattr(mean, name)[claim.new, claim.old] for claim, mean, _ in pairs])
            for name in ("value", "error", "df")
        )
    )
    return student.evidence([claim.boundary for claim in claims], [size for *_, size in pairs])


def resample_count(inference: Inference, tests: int, samples: int) -> int:
    """Return the number of resamples needed for intervals adjusted for the given number of tests."""
    if inference.resamples != "auto":
        return int(inference.resamples)
    needed = int(np.ceil(2 * _TAIL_RESAMPLES / inference.family.interval_level(tests)))
    return max(_MIN_RESAMPLES, min(needed, int(_MAX_WORK / samples)))


def _group_by_test(claims: Sequence[GateClaim]) -> dict[object, list[int]]:
    """Group the positions of claims by computation: means, percentiles, tails, or dominance on one column."""
    groups: dict[object, list[int]] = {}
    for position, claim in enumerate(claims):
        dominance = claim.dominance and (id(claim.column.scores), claim.dominance)
        kind = claim.compares_means, claim.percentile is None, dominance
        groups.setdefault(kind, []).append(position)
    return groups


def mean_claim_evidence(claims: Sequence[GateClaim], inference: Inference) -> Evidence:
    """Return the evidence for claims about differences of means."""
    boundary = np.array([claim.boundary for claim in claims])
    counts = [claim.independent_samples for claim in claims]
    contrasts = [claim.mean_contrast for claim in claims]
    evidence = mean_evidence(contrasts, boundary, resamples=inference.resamples, seed=inference.seed)
    limits = [(0.0, inf)] * len(claims)
    for at, claim in enumerate(claims):
        if claim.scores.judged:
            pair = LabelledPair.from_scores(claim.scores, claim.new, claim.old)
            limits[at] = pair.irreducible_proportion(evidence.error[at] ** 2), pair.max_labels

    def needed(level: float) -> Floats:
        distance, (low, high) = evidence.estimate - boundary, evidence.interval(level)
        width = np.abs(evidence.estimate - np.where(distance > 0, low, high))
        parts = zip(distance, evidence.error, width, counts, limits, strict=True)
        return np.array(
            [samples_needed(far, error, level, half, n, *most) for far, error, half, n, most in parts]
        )

    return replace(evidence, samples=np.array(counts, dtype=np.float64), samples_needed=needed)


def _tail_evidence(claims: Sequence[GateClaim], inference: Inference, tests: int) -> Evidence:
    """Return the evidence for claims about differences of tail means, by resampling."""
    pairs = [(claim, claim.level) for claim in claims if claim.level is not None]
    comparisons = [Comparison.from_scores(c.scores, c.new, c.old, p, c.column.limits) for c, p in pairs]
    adverse = [comparison.with_adverse_sample() for comparison in comparisons]
    favourable = [
        comparison if claim.is_level else comparison.with_favourable_sample()
        for claim, comparison in zip(claims, comparisons, strict=True)
    ]
    resamples = resample_count(inference, tests, max(claim.independent_samples for claim in claims))
    variants = [*comparisons, *adverse, *favourable]
    replicates = resampled_differences(variants, resamples=resamples, seed=inference.seed)
    options = {"draws": resamples, "seed": inference.seed}
    results = []
    for i, (claim, comparison) in enumerate(zip(claims, comparisons, strict=True)):
        scores, pair = claim.scores, (claim.new, claim.old)
        size = int(tail_sample_size(pair_samples(scores, [pair])[pair], comparison.level))
        difference, samples = observed_difference(comparison), claim.independent_samples
        base = ResampledDifference(
            difference, claim.boundary, samples, effective_size=size, variance_floor=float(scores.judged)
        )
        test = permutation_test(scores, pair, comparison.level, claim.boundary, **options)
        plain, against, in_favour = replicates[i :: len(claims)]
        results.append(base.with_replicates(plain, against, in_favour, test))
    return bootstrap_evidence(results)


def _percentile_evidence(claims: Sequence[GateClaim], inference: Inference, tests: int) -> Evidence:
    """Return the evidence for claims about differences or ratios of percentiles, by resampling."""
    samples = max(claim.independent_samples for claim in claims)
    resamples = resample_count(inference, tests, samples)
    return bootstrap_evidence(
        [
            percentile_difference(
                claim.scores,
                (claim.new, claim.old),
                claim.percentile or 0.0,
                boundary=claim.boundary,
                logarithms=claim.column.units.sign if claim.column.units.relative else 0.0,
                resamples=resamples,
                seed=inference.seed,
            )
            for claim in claims
        ]
    )


def _dominance_evidence(
    claims: Sequence[GateClaim], inference: Inference, tests: int
) -> tuple[Evidence, tuple[str, ...]]:
    """Test dominance in both directions for the claimed pairs, and return evidence and warnings."""
    dominance = claims[0].dominance
    assert dominance is not None
    pairs = list(dict.fromkeys((claim.new, claim.old) for claim in claims))
    both = list(dict.fromkeys([*pairs, *((old, new) for new, old in pairs)]))
    # Test each direction at half the level of its claim; the correction of the whole family follows.
    strict = inference.family.scaled(0.5)
    if strict.correction != "none":
        strict = replace(inference.family.scaled(min(len(both) / (2 * tests), 1.0)), correction="bonferroni")
    halved = replace(inference, family=strict)
    study = study_dominance(claims[0].column.scores, [dominance], halved, pairs=both)
    return bootstrap_evidence([_dominance_result(claim, study.tests[0]) for claim in claims]), study.advice


def _dominance_result(claim: GateClaim, tests: DominanceTests) -> ResampledDifference:
    """Return the violation ratio, and the p-values for both directions, of a dominance claim."""
    new, old, dominance, scores = claim.new, claim.old, claim.dominance, claim.column.scores
    assert dominance is not None
    assert tests.p_value is not None
    assert tests.standard_error is not None
    return ResampledDifference(
        dominance.boundary - float(tests.ratios[new, old]),
        claim.boundary,
        scores.n_labelled or min(scores.cluster_counts[new], scores.cluster_counts[old]),
        float(tests.standard_error[new, old]),
        float(tests.p_value[new, old]),
        float(tests.p_value[old, new]),
        variance_floor=float(scores.judged),
    )


def _require_samples(claim: GateClaim, models: Sequence[str]) -> None:
    """Raise an error if a claim has too few independent samples to test."""
    scores = claim.scores
    if scores.strata.has_several_tasks:
        scores.strata.require_testable()
    if scores.strata.random:
        return
    if scores.judged and claim.level is not None:
        _require_tail_labels(claim, scores.n_labelled)
    pair = [claim.new, claim.old]
    exact = claim.compares_means and has_few_samples(scores, pair)
    required = MIN_EXACT_SAMPLES if exact else MIN_SAMPLES
    if int(scores.effective_sizes[pair].min()) < required:
        place = f" in {claim.column.group}" if claim.column.group else ""
        place += f" on the task {claim.column.task}" if claim.column.task else ""
        raise InputError(
            f"a gate needs at least {required} {scores.unit_name}{place}",
            found=f"{describe_sample_size(scores)} of {models[claim.new]} and {models[claim.old]} "
            f"on {claim.column.name}",
            hint="score more samples; fewer cannot separate a loss from chance",
        )


def _require_tail_labels(claim: GateClaim, labelled: int) -> None:
    """Raise an error if a tail contains too few human labels to calibrate a judge."""
    assert claim.level is not None
    if claim.level * labelled >= MIN_LABELS - 1e-9:
        return
    least = ceil(100 * MIN_LABELS / labelled) / 100
    raise InputError(
        f"{option('on', claim.statistic)} uses {claim.level * labelled:.2g} of {labelled:,} human scores",
        found=f"fewer than the {MIN_LABELS} that calibrate a judge in the tail",
        hint=f"have people score {ceil(MIN_LABELS / claim.level):,} samples"
        + (f", or claim {option('on', f'tvar@{least:g}')}" if least < 1 else ""),
    )


def _sample_warnings(claims: Sequence[GateClaim]) -> list[str]:
    """Return warnings about sample sizes, grouped by group of samples."""
    warnings: dict[str | None, list[str]] = {}
    for claim in claims:
        warnings.setdefault(claim.column.group, []).extend(_claim_warnings(claim))
    return group_warnings(warnings)


def _claim_warnings(claim: GateClaim) -> Iterator[str]:
    """Yield warnings about the sample size of one claim."""
    scores = claim.scores
    yield from size_warnings(claim.pair_scores, claim.effective_size).values()
    n = scores.n_labelled or min(scores.cluster_counts[claim.new], scores.cluster_counts[claim.old])
    if claim.level is not None and n * claim.level < 5:
        yield (
            f"{option('on', claim.statistic)} uses only {n * claim.level:.2g} of {n} {scores.unit_name}: "
            "fewer than 5 say little about a tail"
        )
