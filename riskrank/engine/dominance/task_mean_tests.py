"""The tasks' means by Student's t and Johnson's, beside or instead of resamples of few tasks (method §8).

Whoever is better on tasks like these has the better macro mean on them: the larger p-value of both counts,
so that a ranking never says what macro means deny. Resamples of few tasks alone err too often: of four
identical models on eight tasks of 30, effects of tasks .3 sd, a resampled claim was false in .08 of tables.

Few tasks make few resamples. Where the share that rule 1 asks for lies below the rarest of them, or below
what the last round can count, dominance itself is beyond them. A ranking's claims are then about macro means.
"""

from dataclasses import replace

import numpy as np

from riskrank.engine.dominance.inference import DIRECT, RELATIVE, Inference, Question
from riskrank.engine.dominance.rank_guard import behind_pairs, least
from riskrank.engine.dominance.tests import BESIDE, INSTEAD, DominanceTests, decide, family_of
from riskrank.engine.evidence.student import weighted_mean
from riskrank.engine.sampling.degrees_of_freedom import expanded_share
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.types import Floats

# Claims that one model is better than another; those up to a threshold allow it to be worse.
_BETTER = (RELATIVE, DIRECT)


def tests_of_drawn_tasks(
    question: Question, tests: DominanceTests, inference: Inference, smallest: float
) -> DominanceTests:
    """Let tests of the tasks' means agree with a claim, or replace one that no resample could show.

    Parameters
    ----------
    question : Question
        A column whose tasks are drawn, and the family of each claim.
    tests : DominanceTests
    inference : Inference
        Where it names a number of resamples, no claim is replaced.
    smallest : float
        Smallest share of resamples that can be shown.

    Returns
    -------
    DominanceTests
    """
    if tests.claim.kind not in _BETTER:
        return tests
    blind = tests.claim.kind == RELATIVE and inference.resamples == "auto"
    blind = blind and is_blind(question.scores, inference, tests.family, smallest)
    return with_task_means(question, tests, inference, INSTEAD if blind else BESIDE)


def is_blind(scores: ClusteredScores, inference: Inference, family: int, smallest: float) -> bool:
    """Whether rule 1 asks for a share of resamples below the smallest one that there is."""
    level = inference.family.level(family)
    return float(expanded_share(level, least(behind_pairs(scores)))) < smallest


def with_task_means(
    question: Question, tests: DominanceTests, inference: Inference, how: str
) -> DominanceTests:
    """Tests of "the macro mean of i is above that of j" beside a claim's, or in their place.

    Parameters
    ----------
    question : Question
        A column whose tasks are drawn, and the family.
    tests : DominanceTests
        Of a claim that one model is better.
    inference : Inference
    how : {"beside", "instead"}
        Beside, the larger of both p-values counts.

    Returns
    -------
    DominanceTests
    """
    assert tests.p_value is not None
    scores, family = question.scores, inference.family
    wanted = family_of(scores.models, question.pairs)
    means = means_of_tasks(scores)
    p_value = weighted_mean(means[:, None] - means, scores.strata.weights).p_above()[wanted]
    # What the means alone deny is decided, however few the resamples are.
    decided = ~family.significant(family.adjusted(p_value))
    if how == BESIDE:
        p_value = np.maximum(p_value, tests.p_value[wanted])
    p_adjusted = family.adjusted(p_value)
    error = np.zeros(len(p_value)) if tests.standard_error is None else tests.standard_error[wanted]
    found = decide(
        question.estimates,
        tests.claim,
        wanted,
        standard_error=error,
        p_value=p_value,
        p_adjusted=p_adjusted,
        dominates=family.significant(p_adjusted),
    )
    if how == INSTEAD:
        return replace(found, of_means=how)
    known = np.ones_like(tests.decided)
    known[wanted] = tests.decided[wanted] | decided
    counts = {name: getattr(tests, name) for name in ("crossings", "resamples", "resamples_needed")}
    return replace(found, of_means=how, extrapolated=tests.extrapolated, decided=known, **counts)


def means_of_tasks(scores: ClusteredScores) -> Floats:
    """Mean of every model on every task that is drawn, shape (k, T)."""
    both = zip(scores.values, scores.clusters, strict=True)
    return np.array([np.bincount(cluster, value) / np.bincount(cluster) for value, cluster in both])
