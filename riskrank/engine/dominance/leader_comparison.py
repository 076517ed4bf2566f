"""Comparison of one model with all others: direct dominance tests, means and tails (method §4)."""

from dataclasses import dataclass

from riskrank.engine.dominance.column_tests import DominanceStudy, asymptotic_tests
from riskrank.engine.dominance.contrasts import Contrasts, contrasts
from riskrank.engine.dominance.inference import DIRECT, Claim, Inference, Question
from riskrank.engine.dominance.metric_tails import MetricTails
from riskrank.engine.dominance.resampled_tests import BootstrapTest
from riskrank.engine.dominance.tail_contrasts import TailContrasts, tail_contrasts
from riskrank.engine.dominance.task_mean_tests import combine_task_means
from riskrank.engine.dominance.tests import COMBINED, DominanceTests
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.design import ClusteredScores


@dataclass(frozen=True)
class RankedColumn:
    """A ranked column of scores and the tables from which it was computed.

    Attributes
    ----------
    tables : ScoreTables
    name : str
        A metric, ``P(IC)`` or ``P(EC)``.
    scores : ClusteredScores
        Scores of the column.
    study : DominanceStudy
    order : {1, 2}
        Order of dominance used by the ranking.
    tails : MetricTails or None
        Tail means by metric of a portfolio; None for a single metric or without resampling.
    weighted : bool
        True if the user set metric weights.
    """

    tables: ScoreTables
    name: str
    scores: ClusteredScores
    study: DominanceStudy
    order: int
    tails: MetricTails | None = None
    weighted: bool = False


@dataclass(frozen=True)
class ModelComparison:
    """Comparison of a reference model with all others.

    Attributes
    ----------
    model : int
        Index of the reference model.
    ahead, behind : tuple of int
        Models that significantly dominate the reference, and models significantly dominated by it.
    undecided : tuple of int
        Models for which there are too few resamples to decide the claim in either direction.
    contrasts : Contrasts
        Differences in means from the reference.
    better : tuple of int
        Models whose mean is at least as good on every metric and significantly better on at least one.
    tails : TailContrasts or None
        Differences in tail means from the reference; None for a single metric or without resampling.
    milder : tuple of int
        Models that have a significantly better tail on some metric and over which the reference has no
        advantage.
    worse : tuple of int
        Models with significantly worse means on all of several metrics and no significantly better tail.
    """

    model: int
    ahead: tuple[int, ...]
    behind: tuple[int, ...]
    undecided: tuple[int, ...]
    contrasts: Contrasts
    better: tuple[int, ...]
    tails: TailContrasts | None = None
    milder: tuple[int, ...] = ()
    worse: tuple[int, ...] = ()

    @property
    def beaten_by(self) -> tuple[int, ...]:
        """Models that beat the reference, which is evidence against recommending it."""
        return tuple(sorted({*self.ahead, *self.better, *self.milder}))


def compare_model(ranked: RankedColumn, model: int, inference: Inference) -> ModelComparison:
    """Compare one model with all others, by direct dominance tests and on every metric.

    With a single metric, a better mean of another model does not count if the reference significantly
    dominates that model. This is a trade-off between mean and tail.

    Parameters
    ----------
    ranked, inference
        See :func:`riskrank.engine.dominance.recommendation.recommend`.
    model : int
        Index of the reference model.

    Returns
    -------
    ModelComparison
    """
    rivals = [i for i in range(ranked.scores.models) if i != model]
    tests = head_to_head_tests(ranked, model, inference)
    ahead = tuple(i for i in rivals if tests.dominates[i, model])
    behind = tuple(i for i in rivals if tests.dominates[model, i])
    undecided = tuple(i for i in rivals if not (tests.decided[i, model] and tests.decided[model, i]))
    means, tails, better, milder = _compare_on_metrics(ranked, model, inference)
    worse = [i for i in means.worse_throughout.tolist() if tails is None or not tails.milder[i].any()]
    if len(ranked.tables.metrics) == 1:
        better, worse = [i for i in better if i not in behind], []
    return ModelComparison(
        model, ahead, behind, undecided, means, tuple(better), tails, tuple(milder), tuple(worse)
    )


def is_beaten(ranked: RankedColumn, model: int, inference: Inference) -> bool:
    """Return True if another model beats this one on the metrics.

    A model beats another if its means are at least as good on every metric and significantly better on at
    least one. It also beats another if its tail is significantly better on some metric and the other has no
    advantage. A model with better means but a significantly worse tail does not count.
    """
    _, tails, better, milder = _compare_on_metrics(ranked, model, inference)
    if tails is not None:
        better = [i for i in better if not tails.advantages[i].any()]
    return bool(better or milder)


def _compare_on_metrics(
    ranked: RankedColumn, model: int, inference: Inference
) -> tuple[Contrasts, TailContrasts | None, list[int], list[int]]:
    """Return contrasts of means and tails with a reference, and the models that are better in each."""
    means = contrasts(ranked.tables, model, inference)
    better = means.better_throughout.tolist()
    if ranked.tails is None:
        return means, None, better, []
    tails = tail_contrasts(ranked.tails, means, inference)
    return means, tails, better, tails.milder_models.tolist()


def head_to_head_tests(ranked: RankedColumn, model: int, inference: Inference) -> DominanceTests:
    """Test direct claims between one model and every other model, in both directions.

    The family consists of 2(k − 1) claims.

    The tests reuse the ranking's resamples, or influence functions if the ranking was based on them. If tasks
    are sampled, the tests of the macro means must also be significant, as in the ranking.
    """
    rivals = [i for i in range(ranked.scores.models) if i != model]
    pairs = tuple(pair for i in rivals for pair in ((i, model), (model, i)))
    claim = Claim(ranked.order, DIRECT)
    question = Question(ranked.scores, (claim,), pairs)
    replicates = ranked.study.replicates
    if replicates is None:
        return asymptotic_tests(question, inference)[0]
    test = BootstrapTest(question, claim, inference)
    test.update(replicates, last=True)
    result = test.result(replicates)
    if not ranked.scores.n_random_tasks:
        return result
    return combine_task_means(question, result, inference, COMBINED)
