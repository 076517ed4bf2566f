"""Compute the evidence for claims about two models, with a method per kind of claim."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import ceil, inf

import numpy as np

from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.effect_sizes import tail_sample_size
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.pair_samples import pair_samples
from riskrank.engine.dominance.sign_flips import permutation_test
from riskrank.engine.evidence.bootstrap import ResampledDifference, bootstrap_evidence, samples_needed
from riskrank.engine.evidence.e_values import Bet, bet_evidence
from riskrank.engine.evidence.evidence import Evidence, combine_evidence
from riskrank.engine.evidence.mean_differences import has_few_samples, mean_evidence
from riskrank.engine.evidence.statistics import percentile_difference
from riskrank.engine.evidence.student import Student
from riskrank.engine.gates import Comparison, LabelledPair, observed_difference, resampled_differences
from riskrank.engine.sampling import design
from riskrank.engine.types import Floats
from riskrank.errors import InputError, option
from riskrank.studies.findings import group_warnings
from riskrank.studies.gate.claim import GateClaim

# Automatic number of resamples: how many to expect beyond each limit of an interval, and the minimum.
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
    """Return the estimates, standard errors and p-values for all claims, and a list of warnings.

    Parameters
    ----------
    claims : sequence of GateClaim
    inference : Inference
    models : sequence of str
        Model names for error messages.
    make_bet : callable or None
        Function that returns the betting test of a claim; None to test by resampling.
    """
    if make_bet is not None:
        return bet_evidence([make_bet(claim) for claim in claims]), []
    if claims[0].column.means is not None:
        return _fold_evidence(claims), []
    for claim in claims:
        _require_samples(claim, models)
    tests = len(claims)
    parts: list[tuple[Sequence[int], Evidence]] = []
    advice = _sample_warnings(claims)
    by_method: dict[object, list[int]] = {}
    for position, claim in enumerate(claims):
        # Dominance claims on one column share their resamples.
        dominance = claim.dominance and (id(claim.column.scores), claim.dominance)
        by_method.setdefault((claim.compares_means, claim.percentile is None, dominance), []).append(position)
    for positions in by_method.values():
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


def _fold_evidence(claims: Sequence[GateClaim]) -> Evidence:
    """Return the evidence for claims about means of dependent samples, such as folds."""
    columns = [(claim, means) for claim in claims if (means := claim.column.means) is not None]
    student = Student(
        *(
            np.array([getattr(means.differences, name)[claim.new, claim.old] for claim, means in columns])
            for name in ("value", "error", "df")
        )
    )
    return student.evidence([claim.boundary for claim in claims], [m.effective_size for _, m in columns])


def resample_count(inference: Inference, tests: int, samples: int) -> int:
    """Return the requested number of resamples, or enough for intervals adjusted for several tests.

    Parameters
    ----------
    inference : Inference
    tests : int
        Number of simultaneous tests.
    samples : int
        Number of samples per model, which limits the automatic number of resamples.
    """
    if inference.resamples != "auto":
        return int(inference.resamples)
    needed = int(np.ceil(2 * _TAIL_RESAMPLES / inference.family.interval_level(tests)))
    return max(_MIN_RESAMPLES, min(needed, int(_MAX_WORK / samples)))


def mean_claim_evidence(claims: Sequence[GateClaim], inference: Inference) -> Evidence:
    """Return the evidence for claims about differences of means.

    It includes the number of samples that would decide each claim.
    """
    boundary = np.array([claim.boundary for claim in claims])
    counts = [claim.independent_samples for claim in claims]
    contrasts = [claim.mean_contrast for claim in claims]
    evidence = mean_evidence(contrasts, boundary, resamples=inference.resamples, seed=inference.seed)
    limits = [(0.0, inf)] * len(claims)
    for i, claim in enumerate(claims):
        if claim.scores.judged:
            pair = LabelledPair.from_scores(claim.scores, claim.new, claim.old)
            limits[i] = pair.irreducible_proportion(evidence.error[i] ** 2), pair.max_labels

    def required_samples(level: float) -> Floats:
        """Return the number of samples that would decide each claim at a significance level."""
        distance, (low, high) = evidence.estimate - boundary, evidence.interval(level)
        width = np.abs(evidence.estimate - np.where(distance > 0, low, high))
        parts = zip(distance, evidence.error, width, counts, limits, strict=True)
        return np.array([samples_needed(gap, se, level, half, n, *most) for gap, se, half, n, most in parts])

    return replace(evidence, samples=np.array(counts, dtype=np.float64), samples_needed=required_samples)


def _tail_evidence(claims: Sequence[GateClaim], inference: Inference, tests: int) -> Evidence:
    """Return the bootstrap evidence for claims about tail means.

    `tests` is the number of simultaneous tests in the gate.
    """
    comparisons = [
        Comparison.from_scores(claim.scores, claim.new, claim.old, claim.level or 0.0, claim.column.limits[0])
        for claim in claims
    ]
    adverse = [comparison.with_adverse_sample() for comparison in comparisons]
    favourable = [
        comparison if claim.is_level else comparison.with_favourable_sample()
        for claim, comparison in zip(claims, comparisons, strict=True)
    ]
    resamples = resample_count(inference, tests, max(claim.independent_samples for claim in claims))
    variants = [*comparisons, *adverse, *favourable]
    replicates = resampled_differences(variants, resamples=resamples, seed=inference.seed)
    options, results = {"draws": resamples, "seed": inference.seed}, []
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
    """Return the bootstrap evidence for claims about differences or ratios of percentiles.

    `tests` is the number of simultaneous tests in the gate.
    """
    samples = max(claim.independent_samples for claim in claims)
    options = {"resamples": resample_count(inference, tests, samples), "seed": inference.seed}
    results = []
    for claim in claims:
        pair, boundary, units = (claim.new, claim.old), claim.boundary, claim.column.units
        sign, share = units.sign if units.relative else 0.0, claim.percentile or 0.0
        result = percentile_difference(
            claim.scores, pair, share, boundary=boundary, logarithms=sign, alone=claim.is_level, **options
        )
        results.append(result)
    return bootstrap_evidence(results)


def _dominance_evidence(
    claims: Sequence[GateClaim], inference: Inference, tests: int
) -> tuple[Evidence, tuple[str, ...]]:
    """Test stochastic dominance in both directions for each claimed pair of models.

    `tests` is the number of simultaneous tests in the gate. Returns the evidence and warnings.
    """
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
    result = study.tests[0]
    p_value, standard_error, limits = result.p_value, result.standard_error, (result.p_low, result.p_high)
    assert p_value is not None
    assert standard_error is not None
    differences = [
        ResampledDifference(
            dominance.boundary - float(result.ratios[claim.new, claim.old]),
            claim.boundary,
            claim.independent_samples,
            float(standard_error[claim.new, claim.old]),
            float(p_value[claim.new, claim.old]),
            float(p_value[claim.old, claim.new]),
            variance_floor=float(claim.scores.judged),
            mc_bounds=np.array(
                [
                    [limit[pair] if limit is not None else p_value[pair] for limit in limits]
                    for pair in ((claim.new, claim.old), (claim.old, claim.new))
                ]
            ),
        )
        for claim in claims
    ]
    return replace(bootstrap_evidence(differences), resamples=study.resamples or 0), study.advice


def _require_samples(claim: GateClaim, models: Sequence[str]) -> None:
    """Raise an error if a claim has too few independent samples, or too few labels in a tail."""
    scores = claim.scores
    if scores.strata.has_several_tasks:
        scores.strata.require_testable()
    if scores.strata.random:
        return
    labels, level = scores.n_labelled, claim.level
    if scores.judged and level is not None and level * labels < design.MIN_LABELS - 1e-9:
        smallest = ceil(100 * design.MIN_LABELS / labels) / 100
        raise InputError(
            f"{option('on', claim.statistic)} uses {level * labels:.2g} of {labels:,} human scores",
            found=f"fewer than the {design.MIN_LABELS} needed to calibrate a judge in the tail",
            hint=f"have people score {ceil(design.MIN_LABELS / level):,} samples"
            + (f", or claim {option('on', f'tvar@{smallest:g}')}" if smallest < 1 else ""),
        )
    pair = [claim.new, claim.old]
    exact = claim.compares_means and has_few_samples(scores, pair)
    required = design.MIN_EXACT_SAMPLES if exact else design.MIN_SAMPLES
    if int(scores.effective_sizes[pair].min()) < required:
        subset = f" in {claim.column.group}" if claim.column.group else ""
        subset += f" on the task {claim.column.task}" if claim.column.task else ""
        tasks = f"; if each cluster is a task of its own, name their column: {option('task', 'COL')}"
        raise InputError(
            f"a gate needs at least {required} {scores.unit_name}{subset}",
            found=f"{design.describe_sample_size(scores)} of {models[claim.new]} and {models[claim.old]} "
            f"on {claim.column.name}",
            hint="score more samples; fewer cannot separate a loss from chance"
            + tasks * scores.unit_name.startswith("clusters"),
        )


def _sample_warnings(claims: Sequence[GateClaim]) -> list[str]:
    """Return warnings about small samples in claims. Equal warnings for several groups are merged."""
    by_group: dict[str | None, list[str]] = {}
    for claim in claims:
        warnings = by_group.setdefault(claim.column.group, [])
        warnings += design.size_warnings(claim.pair_scores, claim.effective_size).values()
        n, level = claim.independent_samples, claim.level
        if level is not None and n * level < 5:
            warnings.append(
                f"{option('on', claim.statistic)} uses only {n * level:.2g} of {n} {claim.scores.unit_name}: "
                "fewer than 5 are too few to estimate a tail"
            )
    return group_warnings(by_group)
