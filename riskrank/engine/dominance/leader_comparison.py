"""One model held against all others: head to head, by its means and by its worst samples (method §4)."""

from dataclasses import dataclass

from riskrank.engine.dominance.column_tests import DominanceStudy, asymptotic_tests
from riskrank.engine.dominance.contrasts import Contrasts, contrasts
from riskrank.engine.dominance.inference import DIRECT, Claim, Inference, Question
from riskrank.engine.dominance.metric_tails import MetricTails
from riskrank.engine.dominance.resampled_tests import BootstrapTest
from riskrank.engine.dominance.tail_contrasts import TailContrasts, tail_contrasts
from riskrank.engine.dominance.task_mean_tests import with_task_means
from riskrank.engine.dominance.tests import BESIDE, DominanceTests
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.design import ClusteredScores


@dataclass(frozen=True)
class Ranked:
    """A column of scores that was ranked, and the table it is made of.

    Attributes
    ----------
    tables : ScoreTables
    name : str
        A metric, ``P(IC)`` or ``P(EC)``.
    scores : ClusteredScores
        The column.
    study : DominanceStudy
    order : {1, 2}
        Order of dominance ranked by.
    tails : MetricTails or None
        Worst samples on the metrics that a portfolio is made of; None of a metric alone, and where nothing
        is resampled.
    weighed : bool
        Whether somebody said how much each metric counts.
    """

    tables: ScoreTables
    name: str
    scores: ClusteredScores
    study: DominanceStudy
    order: int
    tails: MetricTails | None = None
    weighed: bool = False


@dataclass(frozen=True)
class Challenge:
    """One model held against all others.

    Attributes
    ----------
    model : int
    ahead, behind : tuple of int
        Models that are significantly ahead of it head to head, and those it is ahead of.
    undecided : tuple of int
        Models of which the resamples are too few to say either.
    contrasts : Contrasts
        Everybody's means against its own.
    better : tuple of int
        Models with a mean as good on every metric, and a significantly better one.
    tails : TailContrasts or None
        Everybody's worst samples against its own; None of one metric, and where nothing is resampled.
    milder : tuple of int
        Models of significantly milder worst samples on a metric, against which it has nothing to show.
    worse : tuple of int
        Models with a significantly worse mean on each of several metrics, and on none milder worst samples.
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
        """Models that speak against recommending this one."""
        return tuple(sorted({*self.ahead, *self.better, *self.milder}))


def challenge(ranked: Ranked, model: int, inference: Inference) -> Challenge:
    """Hold one model against all others, head to head and on the metrics themselves.

    Where one metric alone is ranked, a better mean of it is no evidence against a model that is
    significantly ahead on the metric's whole distribution: that is a trade-off of mean and tail.

    Parameters
    ----------
    ranked, inference
        As of :func:`recommend`.
    model : int

    Returns
    -------
    Challenge
    """
    others = [i for i in range(ranked.scores.models) if i != model]
    tests = head_to_head(ranked, model, inference)
    ahead = tuple(i for i in others if tests.dominates[i, model])
    behind = tuple(i for i in others if tests.dominates[model, i])
    undecided = tuple(i for i in others if not (tests.decided[i, model] and tests.decided[model, i]))
    held, tails, better, milder = _on_metrics(ranked, model, inference)
    worse = [i for i in held.worse_throughout.tolist() if tails is None or not tails.milder[i].any()]
    if len(ranked.tables.metrics) == 1:
        better, worse = [i for i in better if i not in behind], []
    return Challenge(model, ahead, behind, undecided, held, tuple(better), tails, tuple(milder), tuple(worse))


def beaten(ranked: Ranked, model: int, inference: Inference) -> bool:
    """Whether another has means as good throughout and a better one, or milder worst samples for nothing.

    Better means of significantly worse bad cases do not speak against it.
    """
    _, tails, better, milder = _on_metrics(ranked, model, inference)
    if tails is not None:
        better = [i for i in better if not tails.gains[i].any()]
    return bool(better or milder)


def _on_metrics(
    ranked: Ranked, model: int, inference: Inference
) -> tuple[Contrasts, TailContrasts | None, list[int], list[int]]:
    """Means and tails of all against one model's, and who is better by either."""
    held = contrasts(ranked.tables, model, inference.family)
    better = held.throughout.tolist()
    if ranked.tails is None:
        return held, None, better, []
    tails = tail_contrasts(ranked.tails, held, inference)
    return held, tails, better, tails.milder_for_nothing.tolist()


def head_to_head(ranked: Ranked, model: int, inference: Inference) -> DominanceTests:
    """Direct claims between one model and every other, both ways: a family of 2(k − 1).

    From the resamples that ranked the models, or from influence functions where those did. Of drawn tasks the
    macro means have to agree, as in the ranking.
    """
    others = [i for i in range(ranked.scores.models) if i != model]
    pairs = tuple(pair for i in others for pair in ((i, model), (model, i)))
    claim = Claim(ranked.order, DIRECT)
    question = Question(ranked.scores, (claim,), pairs)
    replicates = ranked.study.replicates
    if replicates is None:
        return asymptotic_tests(question, inference)[0]
    test = BootstrapTest(question, claim, inference)
    test.settle(replicates, last=True)
    found = test.result(replicates)
    if not ranked.scores.drawn_tasks:
        return found
    return with_task_means(question, found, inference, BESIDE)
