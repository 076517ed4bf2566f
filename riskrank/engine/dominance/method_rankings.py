"""Several ranking methods side by side, on portfolios and over metrics, and how far they agree.

Source: [RAB] section 5, Tables 2 to 5: each test on a portfolio, and aggregated over the metrics.

How much of a ranking remains with fewer samples ([RAB] Fig. 2).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.aggregation.agreement import kendall_tau
from riskrank.engine.aggregation.rank_aggregation import Aggregation, aggregate_rankings
from riskrank.engine.dominance.column_ranking import RankStudy, rank_column
from riskrank.engine.dominance.column_tests import study_columns
from riskrank.engine.dominance.inference import Claim, Inference, Question
from riskrank.engine.dominance.methods import MEAN_RISK, METRICS, Method
from riskrank.engine.dominance.ranking import Ranking
from riskrank.engine.portfolio.risks import risk_columns
from riskrank.engine.portfolio.score_tables import ScoreTables
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import run_tasks
from riskrank.engine.types import Floats, Integers
from riskrank.errors import UsageError


@dataclass(frozen=True)
class MethodStudy:
    """Rankings by several methods.

    Attributes
    ----------
    columns : dict of str to ClusteredScores
        Every column of scores that was looked at, by the same names.
    studies : dict of str to RankStudy
        The study of every column that was tested: ``P(IC)``, ``P(EC)``, metrics.
    rankings : dict of str to Ranking
        By full method name, in the order asked for.
    aggregations : dict of str to Aggregation
        How aggregated rankings were found.
    agreement : ndarray, shape (m, m)
        Kendall's tau between the methods' orders, ties in rank settled by the score.
    """

    columns: dict[str, ClusteredScores]
    studies: dict[str, RankStudy]
    rankings: dict[str, Ranking]
    aggregations: dict[str, Aggregation]
    agreement: Floats


def study_methods(
    tables: ScoreTables,
    methods: Sequence[Method],
    inference: Inference,
    *,
    names: Sequence[str],
    aggregator: str = "kemeny",
    by_wins: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> MethodStudy:
    """Rank the models by every method, with one bootstrap a column.

    Parameters
    ----------
    tables : ScoreTables
        k models' scores under all metrics.
    methods : sequence of Method
        What to rank by.
    inference : Inference
        How to test.
    names : sequence of k str
        Models, for a choice among equally good aggregations.
    aggregator : {"kemeny", "footrule", "pearson", "borda"}
        Distance of rank aggregation.
    by_wins : bool
        Whether relative claims rank by number of significant wins, as [RAB] does, instead of by ratio.
    progress : callable, optional
        Called with the number of finished resamples of all columns and their total.

    Returns
    -------
    MethodStudy

    Raises
    ------
    InputError
        If a test is asked for on fewer than 10 samples.
    """
    methods = list(dict.fromkeys(methods))
    columns = {name: tables.column(name) for name in columns_needed(methods, tables.metrics)}
    claims = {name: _claims_on(name, methods, tables.metrics) for name in columns}
    questions = {
        name: Question(scores, tuple(asked))
        for name, scores in columns.items()
        if (asked := claims[name]) is not None
    }
    tested = study_columns([*questions.values()], inference, progress=progress)
    studies = {
        name: rank_column(columns[name], dominance, inference, by_wins=by_wins)
        for name, dominance in zip(questions, tested, strict=True)
    }
    rankings, aggregations = {}, {}
    for method in methods:
        if not method.aggregated:
            rankings[method.name] = studies[method.scope].rankings[method.statistic]
            continue
        lists, weights = _lists_of(method, tables, columns, studies)
        found = aggregate_rankings(lists, method=aggregator, weights=weights, names=names)
        aggregations[method.name] = found
        # The score of an aggregation is the weighted mean rank.
        mean_rank = weights @ lists / weights.sum()
        rankings[method.name] = Ranking(rank=found.ranks, score=mean_rank, order=found.order)
    agreement = kendall_tau(np.array([ranking.places for ranking in rankings.values()]))
    return MethodStudy(columns, studies, rankings, aggregations, agreement)


def columns_needed(methods: Sequence[Method], metrics: Sequence[str]) -> list[str]:
    """Names of the columns of scores that methods look at, each once."""
    needed: list[str] = []
    for method in methods:
        needed += metrics if method.scope == METRICS else [method.scope]
    return list(dict.fromkeys(needed))


def _claims_on(column: str, methods: Sequence[Method], metrics: Sequence[str]) -> list[Claim] | None:
    """Claims to test on a column; None if nothing but mean-risk models looks at it."""
    asked = [
        method
        for method in methods
        if method.statistic != MEAN_RISK
        and (method.scope == column or (method.scope == METRICS and column in metrics))
    ]
    if not asked:
        return None
    return list(dict.fromkeys(method.claim for method in asked if method.claim is not None))


def _lists_of(
    method: Method,
    tables: ScoreTables,
    columns: Mapping[str, ClusteredScores],
    studies: Mapping[str, RankStudy],
) -> tuple[Integers, Floats]:
    """Rankings an aggregated method aggregates, shape (l, k), and their weights."""
    over = tables.metrics if method.scope == METRICS else (method.scope,)
    shares = tables.weights if method.scope == METRICS else np.ones(1)
    # Risks of [RAB] Table 1 that are consistent with second-order dominance, at the default levels.
    consistent = [column for column in risk_columns() if column.risk.ssd_consistent]
    lists: list[Integers] = []
    for column in over:
        if method.statistic == MEAN_RISK:
            from riskrank.engine.portfolio.mean_risk import mean_risk  # most rankings have no such method

            scores = columns[column]
            found = mean_risk(scores.values, consistent, weights=scores.weights)
            lists += list(found.rank.T)
        else:
            lists.append(studies[column].rankings[method.statistic].rank)
    # A metric brings as many lists as any other; aggregation looks at the ratios of their weights only.
    return np.array(lists), np.repeat(shares, len(lists) // len(over))


@dataclass(frozen=True)
class Stability:
    """Agreement of rankings on random subsamples with those on all samples.

    Attributes
    ----------
    methods : tuple of m str
    sizes : tuple of s int
        Samples a subsample, increasing.
    tau : ndarray, shape (m, s, r)
        Kendall's tau of each repetition to the full-sample ranking, ties in rank settled by the score.
    """

    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    tau: Floats

    @property
    def repeats(self) -> int:
        """Subsamples a size."""
        return self.tau.shape[2]

    @property
    def mean(self) -> Floats:
        """Mean tau over the subsamples, shape (m, s)."""
        return np.array([[found.mean() for found in by_size] for by_size in self.tau])

    @property
    def sd(self) -> Floats | None:
        """Standard deviation of tau over the subsamples, shape (m, s); None of a single one."""
        if self.repeats < 2:
            return None
        return np.array([[found.std(ddof=1) for found in by_size] for by_size in self.tau])

    @property
    def steadiest_first(self) -> Integers:
        """Methods by their mean tau over all sizes, the steadiest first, shape (m,)."""
        return np.argsort(-self.mean.mean(axis=1), kind="stable")


def stability(
    tables: ScoreTables,
    methods: Sequence[Method],
    inference: Inference,
    full: MethodStudy,
    *,
    names: Sequence[str],
    sizes: Sequence[int],
    repeats: int = 5,
    aggregator: str = "kemeny",
    by_wins: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Stability:
    """Repeat every method, portfolio and tests included, on random parts of the samples.

    Parameters
    ----------
    tables, methods, inference, names, aggregator, by_wins
        As in :func:`riskrank.engine.dominance.method_rankings.study_methods`.
    full : MethodStudy
        The same methods on all samples.
    sizes : sequence of int
        Samples a subsample, drawn without replacement.
    repeats : int
        Subsamples a size.
    progress : callable, optional
        Called with the number of finished repetitions and their total.

    Returns
    -------
    Stability
        Identical for any number of jobs.

    Raises
    ------
    UsageError
        If a subsample is larger than the data or too small for a test.
    """
    wanted = tuple(sorted(set(sizes)))
    fewest = max(10 if inference.test else 2, tables.fewest_samples)
    for size in wanted:
        if not fewest <= size <= tables.samples:
            raise UsageError(
                f"a subsample of {size} samples cannot be drawn",
                found=f"{tables.samples} samples, and methods that need at least {fewest}",
                hint=f"choose sizes from {fewest} to {tables.samples}",
            )
    if repeats < 1:
        raise UsageError("a subsample must be drawn at least once", found=str(repeats), hint="5 is usual")
    quiet = replace(inference, jobs=1)
    shared = (tables, tuple(dict.fromkeys(methods)), quiet, tuple(names), aggregator, by_wins)
    tasks = [
        (size, stream)
        for size in wanted
        for stream in np.random.SeedSequence([inference.seed, size]).spawn(repeats)
    ]
    reference = [ranking.places for ranking in full.rankings.values()]
    tau = []
    for found in run_tasks(_orders_of_subsample, shared, tasks, jobs=inference.jobs):
        tau.append([kendall_tau(np.stack(pair))[0, 1] for pair in zip(reference, found, strict=True)])
        if progress is not None:
            progress(len(tau), len(tasks))
    shape = (len(wanted), repeats, len(reference))
    return Stability(tuple(full.rankings), wanted, np.array(tau).reshape(shape).transpose(2, 0, 1))


def _orders_of_subsample(
    shared: tuple[ScoreTables, tuple[Method, ...], Inference, tuple[str, ...], str, bool],
    task: tuple[int, np.random.SeedSequence],
) -> list[Integers]:
    tables, methods, inference, names, aggregator, by_wins = shared
    size, stream = task
    chosen, entropy = stream.spawn(2)
    part = tables.subsample(size, np.random.default_rng(chosen))
    seeded = replace(inference, seed=int(entropy.generate_state(1)[0]))
    study = study_methods(part, methods, seeded, names=names, aggregator=aggregator, by_wins=by_wins)
    return [ranking.places for ranking in study.rankings.values()]
