"""Simulate judge scores calibrated on a few human labels: coverage and widths of intervals, error rates.

Two models have the same distribution of human labels on a five-point scale. The judge is accurate, good,
useless, or biased differently for both models; in one case the models find the same samples difficult. Used
by ``make calibrate``.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from riskrank.engine.dominance.column_tests import DominanceStudy, study_dominance
from riskrank.engine.dominance.effect_sizes import tail_sample_size
from riskrank.engine.dominance.inference import DIRECT, Claim, Inference
from riskrank.engine.dominance.pair_samples import fewest_samples, pair_samples
from riskrank.engine.judges import Correction, tune_for_differences
from riskrank.engine.sampling.degrees_of_freedom import Dof, SampleSize, expanded_interval
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import TaskDesign
from riskrank.studies.gate.claim import NOT_WORSE, GateClaim
from riskrank.studies.gate.columns import ScoreColumn
from riskrank.studies.gate.decisions import decide
from riskrank.studies.gate.verdicts import FAIL, PASS
from riskrank.studies.targets import Units

SAMPLES = 2000
CENTRE = 3.3
CLAIMS = (Claim(1, DIRECT), Claim(2, DIRECT))

# Noise of the judge (None: no signal), its bias for either model, and the share of the variance of human
# labels that both models have in common.
JUDGES = {
    "close": (0.4, (0.0, 0.0), 0.6),
    "good": (0.9, (0.0, 0.0), 0.6),
    "useless": (None, (0.0, 0.0), 0.6),
    "biased by model": (0.6, (0.5, -0.3), 0.6),
    "like models'": (0.9, (0.0, 0.0), 0.9),
}


@dataclass(frozen=True)
class JudgeCase:
    """Case with a kind of judge and the number of samples with human labels."""

    judge: str
    labelled: int

    @property
    def name(self) -> str:
        """Description of the case, which is also its key in the store of results."""
        return f"{self.judge} judge, {self.labelled} labels of {SAMPLES:,}"

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw human labels and judge scores of all N samples, each of shape (2, N)."""
        noise, bias, shared = JUDGES[self.judge]
        common = np.sqrt(shared) * rng.normal(size=SAMPLES)
        people = _rated(CENTRE + common + np.sqrt(1 - shared) * rng.normal(size=(2, SAMPLES)))
        ratings = people + rng.normal(0, noise, people.shape) if noise else rng.normal(3, 1, people.shape)
        return people, _rated(ratings + np.array(bias)[:, None])


JUDGE_CASES = tuple(JudgeCase(judge, labelled) for labelled in (50, 300) for judge in JUDGES)


def true_mean() -> float:
    """Return the mean of the human labels: normal scores, rounded to 1, …, 5."""
    normal = NormalDist(CENTRE, 1)
    return 1 + sum(1 - normal.cdf(edge) for edge in (1.5, 2.5, 3.5, 4.5))


def _rated(values: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(values), 1, 5)


def corrected(corrections: Sequence[Correction]) -> ClusteredScores:
    """Return the column of scores that combines the corrections of several models."""
    n, total = corrections[0].n_labelled, len(corrections[0].judge)
    rows = [correction.weighted_rows() for correction in corrections]
    samples = np.concatenate((np.arange(n), np.arange(total)))
    strata = [(samples >= n).astype(np.int64)] * len(rows)
    weights, signed = np.array([n, total - n]) / total, tuple(row[1] for row in rows)
    design = TaskDesign(("labelled", "others"), weights, tuple(strata), signed=signed)
    return ClusteredScores.build([row[0] for row in rows], [samples] * len(rows), tasks=design)


def judge_rows(case: JudgeCase, seeds: Sequence[int]) -> list[list[float]]:
    """Return coverage and relative widths of intervals, false wins, and gate verdicts for each table."""
    outcomes = []
    for seed in seeds:
        rng = np.random.default_rng([seed, zlib.crc32(case.name.encode())])
        people, judge = case.draw(rng)
        labels = people[:, : case.labelled]
        both = tune_for_differences([Correction.fit(*scores) for scores in zip(labels, judge, strict=True)])
        scores = corrected(both)
        # The same labels with an uninformative judge.
        alone = corrected([Correction.fit(correction.human, np.full(SAMPLES, 3.0)) for correction in both])
        study, other = (
            study_dominance(column, CLAIMS, Inference(resamples=1000, seed=seed))
            for column in (scores, alone)
        )
        mean_interval = _mean_interval(study, both[0])
        means, tails = _intervals(study, scores)
        _, tails_alone = _intervals(other, alone)
        plain = ClusteredScores.build(list(labels))
        plain_means, _ = _intervals(
            study_dominance(plain, CLAIMS, Inference(resamples=1000, seed=seed)), plain
        )
        answers = _gate(scores, seed)
        outcomes.append(
            [
                float(mean_interval[0] <= true_mean() <= mean_interval[1]),
                float(means[0] <= 0 <= means[1]),
                float(tails[0] <= 0 <= tails[1]),
                (means[1] - means[0]) / (plain_means[1] - plain_means[0]),
                (tails[1] - tails[0]) / (tails_alone[1] - tails_alone[0]),
                *(float(tests.dominates.any()) for tests in study.tests),
                *answers,
            ]
        )
    return outcomes


def _mean_interval(study: DominanceStudy, correction: Correction) -> tuple[float, float]:
    """Return the interval of a model's mean from the resamples of a study."""
    assert study.replicates is not None
    errors, unlabelled = correction.parts
    variances = np.array([errors.var(ddof=1) / errors.size, unlabelled.var(ddof=1) / unlabelled.size])
    counts = np.array([errors.size, unlabelled.size])
    total = variances.sum()
    df = total**2 / (variances**2 / (counts - 1)).sum() - 1
    seen = (variances * (counts - 1) / counts).sum() / total * df / (df + 1)
    behind = Dof(np.array(df), np.array(seen))
    low, high = expanded_interval(study.replicates.means[:, 0], behind)
    return float(low), float(high)


def _intervals(
    study: DominanceStudy, scores: ClusteredScores
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the intervals of the first model's lead in means and in tail means."""
    replicates = study.replicates
    assert replicates is not None
    behind = fewest_samples(pair_samples(scores, [(0, 1)])[np.array([0]), np.array([1])])
    tail: SampleSize = int(tail_sample_size(behind, replicates.tail_level))
    intervals = []
    for resampled, samples in ((replicates.means, behind), (replicates.tails, tail)):
        low, high = expanded_interval(resampled[:, 0] - resampled[:, 1], samples)
        intervals.append((float(low), float(high)))
    return intervals[0], intervals[1]


def _gate(scores: ClusteredScores, seed: int) -> list[float]:
    """Return whether a gate on the mean passes, and whether it fails, for two equal models."""
    column = ScoreColumn("people", scores, Units(1.0, ""), (1.0, 5.0))
    rows, _ = decide([GateClaim(NOT_WORSE, 0, 1, column, "mean")], Inference(resamples=1000, seed=seed), "ab")
    return [float(rows[0].verdict == PASS), float(rows[0].verdict == FAIL)]
