"""The main job on one column of scores: estimates, tests, rankings, all from one bootstrap.

Source: [RAB] section 5 (the methods of its Table 2); method §3 to §5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from riskrank.engine.dominance.bootstrap import Replicates, replicate_columns
from riskrank.engine.dominance.influence import influence_of_violation
from riskrank.engine.dominance.ranking import Ranking, hidden_risks, rank_by_score, rank_by_wins
from riskrank.engine.dominance.tail import FEWEST_FOR_A_TAIL
from riskrank.engine.dominance.tests import (
    Claim,
    DominanceTests,
    ViolationEstimates,
    bootstrap_test,
    clt_test,
    compare,
    estimate,
    paper_test,
)
from riskrank.engine.dominance.violation import one_versus_all
from riskrank.engine.dominance.win_rate import beaten_on_sample, best_on_sample, model_win_rate
from riskrank.engine.sampling.design import FEW_SAMPLES, ClusteredScores, require_testable
from riskrank.engine.sampling.processes import Jobs

Floats = NDArray[np.float64]

MODEL_WIN_RATE = "MWR"
SAMPLE_WIN_RATE = "MWR(sample)"
PAIRWISE_WIN_RATE = "MWR(pairwise)"


@dataclass(frozen=True)
class Inference:
    """How to test.

    Attributes
    ----------
    resamples : int
        Bootstrap resamples, B.
    alpha : float
        Level of one family of tests.
    correction : str
        See :func:`riskrank.engine.sampling.multiplicity.adjust`.
    seed : int
        Entropy of the random streams.
    jobs : int or Workers
        Processes.
    test : bool
        Without a test there is no resampling and verdicts are those of the sample.
    paper_exact : bool
        Reject as [RAB] Algorithm 1 prints it.
    variance : {"bootstrap", "clt"}
        Standard errors and p-values from resampling, or from influence functions.
    """

    resamples: int = 1000
    alpha: float = 0.05
    correction: str = "bonferroni"
    seed: int = 0
    jobs: Jobs = 1
    test: bool = True
    paper_exact: bool = False
    variance: str = "bootstrap"

    @property
    def resampled(self) -> bool:
        """Whether anything is resampled."""
        return self.test and self.variance == "bootstrap"


@dataclass(frozen=True)
class DominanceStudy:
    """Verdicts of every claim on one column of scores.

    Attributes
    ----------
    estimates : ViolationEstimates
    replicates : Replicates or None
        None where nothing was resampled.
    tests : tuple of DominanceTests
        One a claim.
    advice : tuple of str
        What a reader must know before believing the verdicts.
    """

    estimates: ViolationEstimates
    replicates: Replicates | None
    tests: tuple[DominanceTests, ...]
    advice: tuple[str, ...]


@dataclass(frozen=True)
class RankStudy:
    """Rankings of one column of scores by several methods.

    Attributes
    ----------
    dominance : DominanceStudy
    rankings : dict of str to Ranking
        By method name without its ``@`` part, e.g. ``R-SSD``, ``FSD(0.25)``, ``MWR``.
    hidden_risks : ndarray of int
        Models whose R-SSD rank is clearly worse than their win-rate rank, widest gap first.
    """

    dominance: DominanceStudy
    rankings: dict[str, Ranking]
    hidden_risks: NDArray[np.int64]


def study_dominance(
    scores: ClusteredScores,
    claims: Sequence[Claim],
    inference: Inference,
    *,
    progress: Callable[[int, int], None] | None = None,
    replicates: Replicates | None = None,
) -> DominanceStudy:
    """Estimate, resample and test.

    Parameters
    ----------
    scores : ClusteredScores
        k models' scores.
    claims : sequence of Claim
        What to test.
    inference : Inference
        How to test it.
    progress : callable, optional
        Called with the number of finished resamples and their total.
    replicates : Replicates, optional
        Resamples of these scores, where they are there already.

    Returns
    -------
    DominanceStudy

    Raises
    ------
    InputError
        If a test is asked for on fewer than 10 samples.
    """
    estimates = estimate(scores)
    if not inference.test:
        return DominanceStudy(estimates, None, tuple(compare(estimates, claim) for claim in claims), ())
    require_testable(scores)
    if not inference.resampled:
        tests = _asymptotic_tests(scores, estimates, claims, inference)
        return DominanceStudy(estimates, None, tests, _advice(scores, inference, tests))
    if replicates is None:
        (replicates,) = resample([scores], inference, progress=progress)
    tests = tuple(_test(estimates, replicates, claim, inference) for claim in claims)
    return DominanceStudy(estimates, replicates, tests, _advice(scores, inference, tests))


def resample(
    columns: Sequence[ClusteredScores],
    inference: Inference,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[Replicates]:
    """Resample columns of scores with everything a ranking needs.

    Parameters
    ----------
    columns : sequence of ClusteredScores
    inference : Inference
    progress : callable, optional
        Called with the number of finished resamples of all columns and their total.
    """
    return replicate_columns(
        [(scores, win_statistics(scores)) for scores in columns],
        resamples=inference.resamples,
        seed=inference.seed,
        jobs=inference.jobs,
        progress=progress,
    )


def study_ranking(
    scores: ClusteredScores,
    claims: Sequence[Claim],
    inference: Inference,
    *,
    progress: Callable[[int, int], None] | None = None,
    replicates: Replicates | None = None,
) -> RankStudy:
    """Rank the models by every claim and by mean win rates.

    Parameters
    ----------
    scores, claims, inference, progress, replicates
        As in :func:`study_dominance`.

    Returns
    -------
    RankStudy
        Sample-level win rates are there only for paired designs.

    Raises
    ------
    InputError
        If a test is asked for on fewer than 10 samples.
    """
    per_sample = win_statistics(scores)
    dominance = study_dominance(scores, claims, inference, progress=progress, replicates=replicates)
    confidence = 1 - inference.alpha
    rankings = {
        method_name(tests.claim): _ranking(tests, dominance.replicates, inference)
        for tests in dominance.tests
    }
    replicates = dominance.replicates
    rankings[MODEL_WIN_RATE] = rank_by_score(
        model_win_rate(dominance.estimates.means),
        replicates=None if replicates is None else model_win_rate(replicates.means),
        confidence=confidence,
    )
    if per_sample is not None:
        for number, name in enumerate((SAMPLE_WIN_RATE, PAIRWISE_WIN_RATE)):
            rankings[name] = rank_by_score(
                per_sample[number].mean(axis=1),
                replicates=None if replicates is None else replicates.rates[:, number],
                confidence=confidence,
            )
    relative = rankings.get(method_name(Claim(2)))
    risks = np.empty(0, dtype=np.int64)
    if relative is not None:
        risks = hidden_risks(relative.rank, rankings[MODEL_WIN_RATE].rank)
    return RankStudy(dominance, rankings, risks)


def method_name(claim: Claim) -> str:
    """Name of a claim's ranking as [RAB] writes it: ``R-SSD``, ``FSD(0.25)``."""
    order = "FSD" if claim.order == 1 else "SSD"
    return f"R-{order}" if claim.threshold is None else f"{order}({claim.threshold:g})"


def _test(
    estimates: ViolationEstimates, replicates: Replicates, claim: Claim, inference: Inference
) -> DominanceTests:
    if inference.paper_exact:
        return paper_test(estimates, replicates, claim, alpha=inference.alpha)
    return bootstrap_test(
        estimates, replicates, claim, alpha=inference.alpha, correction=inference.correction
    )


def _asymptotic_tests(
    scores: ClusteredScores, estimates: ViolationEstimates, claims: Sequence[Claim], inference: Inference
) -> tuple[DominanceTests, ...]:
    influences = {
        order: influence_of_violation(
            scores.values, order=order, clusters=scores.clusters, paired=scores.paired
        )
        for order in {claim.order for claim in claims}
    }
    return tuple(
        clt_test(
            estimates,
            influences[claim.order],
            claim,
            alpha=inference.alpha,
            correction=inference.correction,
        )
        for claim in claims
    )


def _ranking(tests: DominanceTests, replicates: Replicates | None, inference: Inference) -> Ranking:
    claim = tests.claim
    ratios = None if replicates is None else replicates.ratios[:, claim.order - 1]
    wins = None
    if ratios is not None and claim.threshold is not None:
        beaten = claim.statistic(ratios) < claim.boundary
        wins = beaten.sum(axis=-1)
    return rank_by_wins(
        tests.dominates,
        one_versus_all(tests.ratios),
        tested=tests.p_value is not None,
        score_replicates=None if ratios is None else one_versus_all(ratios),
        win_replicates=wins,
        confidence=1 - inference.alpha,
    )


def win_statistics(scores: ClusteredScores) -> Floats | None:
    """Sample-level wins, shape (2, k, n): at least the best of the others, and share beaten.

    None for unpaired models, which do not meet on a sample.
    """
    if not scores.paired:
        return None
    means = np.stack(scores.sample_means())
    return np.stack([best_on_sample(means), beaten_on_sample(means)])


def _advice(
    scores: ClusteredScores, inference: Inference, tests: Sequence[DominanceTests]
) -> tuple[str, ...]:
    advice = []
    n = scores.effective_size
    if n < FEW_SAMPLES:
        advice.append(f"only {n} samples: verdicts below {FEW_SAMPLES} samples are fragile")
    if inference.paper_exact:
        advice.append(
            "--paper-exact divides the bootstrap standard error by √n once more, as the paper prints it: "
            "at a nominal 5 % this rejects true null hypotheses about half of the time"
        )
        return tuple(advice)
    rests = any(np.any(found.dominates & found.extrapolated) for found in tests)
    pairs = scores.models * (scores.models - 1)
    strictest = inference.alpha / (1 if inference.correction == "none" else pairs)
    if (
        inference.resampled
        and inference.resamples < FEWEST_FOR_A_TAIL
        and (strictest < 1 / (inference.resamples + 1))
    ):
        advice.append(
            f"{inference.resamples} resamples are too few to continue a tail and cannot show p-values below "
            f"{strictest:.2g}: little can be significant; use --resamples {FEWEST_FOR_A_TAIL} or more"
        )
    elif rests and strictest < 1 / (inference.resamples + 1):
        advice.append(
            f"some verdicts rest on an extrapolated tail: {inference.resamples} resamples cannot show "
            f"p-values below {strictest:.2g}; --resamples {_resamples_for(strictest)} would count them"
        )
    return tuple(advice)


def _resamples_for(level: float) -> int:
    """A round number of resamples whose smallest p-value lies below the level."""
    needed = 1 / level
    unit = 10 ** max(int(np.floor(np.log10(needed))), 0)
    return int(np.ceil(needed / unit + 1e-9) * unit)
