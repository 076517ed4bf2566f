"""What the samples say of claims about two models, by the kind of the claim."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil

import numpy as np

from riskrank.engine.dominance.column_tests import study_dominance
from riskrank.engine.dominance.effect_sizes import samples_behind_tail
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.permuted_tails import second_opinion
from riskrank.engine.dominance.rank_guard import behind_pairs
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.evidence.bootstrap import ResampledDifference, of_replicates
from riskrank.engine.evidence.e_values import Bet, won_by_bets
from riskrank.engine.evidence.evidence import Evidence, together
from riskrank.engine.evidence.series import mean_in_order
from riskrank.engine.evidence.student import Student
from riskrank.engine.gates.replicates import difference, differences
from riskrank.engine.gates.worst_case_sample import Comparison
from riskrank.engine.sampling.design import FEWEST_LABELS, FEWEST_SAMPLES, found_samples, weak_sizes
from riskrank.errors import InputError, option
from riskrank.studies.gate.claim import GateClaim
from riskrank.studies.gate.derived_columns import evidence_of_costs
from riskrank.studies.sample_findings import warnings_of_groups

# Resamples of an automatic number that are expected beyond the end of an interval, and the least there are.
_BEYOND_AN_END = 25
_FEWEST_RESAMPLES = 2000

# Resampled samples an automatic number may cost for one comparison, above the least.
_WORK = 1e9


def evidence_of_claims(
    claims: Sequence[GateClaim],
    inference: Inference,
    models: Sequence[str],
    wager: Callable[[GateClaim], Bet] | None,
) -> tuple[Evidence, list[str]]:
    """What the samples say of each claim, and what a reader must know before believing it."""
    if wager is not None:
        return won_by_bets([wager(claim) for claim in claims]), []
    if claims[0].column.means is not None:
        return _of_means(claims), []
    for claim in claims:
        _require_samples(claim, models)
    resampled = sum(claim.column.costs is None for claim in claims)
    parts: list[tuple[Sequence[int], Evidence]] = []
    advice = _few_samples(claims)
    for places in _by_test(claims).values():
        members = [claims[place] for place in places]
        if members[0].column.costs is not None:
            evidence = evidence_of_costs(members, models)
        elif members[0].dominance is not None:
            evidence, warnings = _dominance(members, inference, resampled)
            advice += warnings
        else:
            evidence = _differences(members, inference, resampled)
        parts.append((places, evidence))
    return together(parts), advice


def _of_means(claims: Sequence[GateClaim]) -> Evidence:
    """Claims on means of folds, which are no independent samples."""
    columns = [(claim, claim.column.means) for claim in claims]
    pairs = [(claim, one.differences, one.worth) for claim, one in columns if one is not None]
    found = Student(
        *(
            np.array([getattr(one, name)[claim.new, claim.old] for claim, one, _ in pairs])
            for name in ("value", "error", "df")
        )
    )
    return found.evidence([claim.boundary for claim in claims], [worth for *_, worth in pairs])


def resamples_of(inference: Inference, family: int, samples: int) -> int:
    """Resamples of differences: enough to read the ends of all intervals from."""
    if inference.resamples != "auto":
        return int(inference.resamples)
    wanted = int(np.ceil(2 * _BEYOND_AN_END / inference.family.level(family)))
    return max(_FEWEST_RESAMPLES, min(wanted, int(_WORK / samples)))


def _by_test(claims: Sequence[GateClaim]) -> dict[object, list[int]]:
    """Group the places of claims that are computed together: differences, costs, dominance by column."""
    groups: dict[object, list[int]] = {}
    for place, claim in enumerate(claims):
        dominance = claim.dominance and (id(claim.column.scores), claim.dominance)
        groups.setdefault((claim.column.costs is None, dominance), []).append(place)
    return groups


def _differences(claims: Sequence[GateClaim], inference: Inference, family: int) -> Evidence:
    comparisons = [comparison_of(claim) for claim in claims]
    cautious = [one.against() for one in comparisons], [one.in_favour() for one in comparisons]
    resamples = resamples_of(inference, family, max(one.samples for one in comparisons))
    drawn = differences([*comparisons, *cautious[0], *cautious[1]], resamples=resamples, seed=inference.seed)
    deals = {"deals": resamples, "seed": inference.seed}
    k = len(claims)
    found = []
    for at, (claim, one) in enumerate(zip(claims, comparisons, strict=True)):
        scores, apart = claim.scores, claim.in_order
        behind = behind_pairs(scores, [(claim.new, claim.old)])[claim.new, claim.old]
        if one.level is not None:
            behind = int(samples_behind_tail(behind, one.level))
        bare = ResampledDifference(
            difference(one),
            claim.boundary,
            one.samples,
            behind=behind,
            modified=one.modified,
            kept=one.kept,
            most=one.most,
            ordered=None if apart is None else mean_in_order(apart),
        )
        second = second_opinion(scores, (claim.new, claim.old), one.level, claim.boundary, **deals)
        plain, against, in_favour = drawn[at::k]
        found.append(bare.counted(plain, against, in_favour, second))
    return of_replicates(found)


def comparison_of(claim: GateClaim) -> Comparison:
    """The two models of a claim on a difference."""
    column = claim.column
    one = Comparison.of(claim.scores, claim.new, claim.old, claim.level, column.limits, column.bounded)
    return replace(one, times=claim.times)


def _dominance(
    claims: Sequence[GateClaim], inference: Inference, family: int
) -> tuple[Evidence, tuple[str, ...]]:
    """Test dominance in both directions, of the pairs that are claimed and nobody else."""
    dominance = claims[0].dominance
    assert dominance is not None
    pairs = list(dict.fromkeys((claim.new, claim.old) for claim in claims))
    both = list(dict.fromkeys([*pairs, *((old, new) for new, old in pairs)]))
    # Each direction is tested at half of the claim's share of the level; the family's correction follows.
    strict = inference.family.at(0.5)
    if strict.correction != "none":
        strict = replace(inference.family.at(min(len(both) / (2 * family), 1.0)), correction="bonferroni")
    how = replace(inference, family=strict)
    study = study_dominance(claims[0].column.scores, [dominance], how, pairs=both)
    return of_replicates([_of_tests(claim, study.tests[0]) for claim in claims]), study.advice


def _of_tests(claim: GateClaim, tests: DominanceTests) -> ResampledDifference:
    new, old, dominance, scores = claim.new, claim.old, claim.dominance, claim.column.scores
    assert dominance is not None
    assert tests.p_value is not None
    assert tests.standard_error is not None
    return ResampledDifference(
        dominance.boundary - float(tests.ratios[new, old]),
        claim.boundary,
        scores.labelled or min(scores.cluster_counts[new], scores.cluster_counts[old]),
        float(tests.standard_error[new, old]),
        float(tests.p_value[new, old]),
        float(tests.p_value[old, new]),
        kept=float(scores.judged),
    )


def _require_samples(claim: GateClaim, models: Sequence[str]) -> None:
    scores = claim.scores
    if scores.strata.several:
        scores.strata.require_testable()
    if scores.strata.random:
        return
    if scores.judged and claim.level is not None:
        _require_tail(claim, scores.labelled)
    pair = [claim.new, claim.old]
    if int(scores.independent[pair].min()) < FEWEST_SAMPLES:
        where = f" in {claim.column.group}" if claim.column.group else ""
        where += f" on the task {claim.column.task}" if claim.column.task else ""
        raise InputError(
            f"a gate needs at least {FEWEST_SAMPLES} {scores.unit}{where}",
            found=f"{found_samples(scores)} of {models[claim.new]} and {models[claim.old]} "
            f"on {claim.column.name}",
            hint="score more samples; fewer cannot tell a loss from chance",
        )


def _require_tail(claim: GateClaim, labelled: int) -> None:
    """A corrected tail rests on the people's scores in it."""
    assert claim.level is not None
    if claim.level * labelled >= FEWEST_LABELS - 1e-9:
        return
    least = ceil(100 * FEWEST_LABELS / labelled) / 100
    raise InputError(
        f"{option('on', claim.statistic)} looks at {claim.level * labelled:.2g} of {labelled:,} human scores",
        found=f"fewer than {FEWEST_LABELS}, by which a judge's tail cannot be corrected",
        hint=f"have people score {ceil(FEWEST_LABELS / claim.level):,} samples"
        + (f", or claim {option('on', f'tvar@{least:g}')}" if least < 1 else ""),
    )


def _few_samples(claims: Sequence[GateClaim]) -> list[str]:
    found: dict[str | None, list[str]] = {}
    for claim in claims:
        found.setdefault(claim.column.group, []).extend(_few(claim))
    return warnings_of_groups(found)


def _few(claim: GateClaim) -> Iterator[str]:
    """What to warn of one claim's samples."""
    scores = claim.scores
    yield from weak_sizes(claim.pair_scores, claim.worth).values()
    n = scores.labelled or min(scores.cluster_counts[claim.new], scores.cluster_counts[claim.old])
    if claim.level is not None and n * claim.level < 5:
        yield (
            f"{option('on', claim.statistic)} looks at {n * claim.level:.2g} of {n} {scores.unit}: fewer "
            "than 5 tell little of a tail"
        )
