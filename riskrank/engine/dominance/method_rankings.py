"""Rankings by several methods, on portfolios and aggregated over metrics, and the agreement among them.

A method is named as in [RAB] by a statistic and its scope, the column of scores on which it is computed. For
example, ``R-SSD@P(IC)`` is a statistic on a portfolio. ``RA(R-SSD@M)`` aggregates the rankings by all
metrics. ``RA(MRM@P(IC))`` aggregates the rankings of all consistent mean-risk models on a portfolio.

Source: [RAB] section 5, Tables 2 to 5. The assessment of stability on smaller samples follows [RAB] Fig. 2.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation, aggregate_rankings, kendall_tau
from riskrank.engine.dominance.column_ranking import (
    MODEL_WIN_RATE,
    PAIRWISE_WIN_RATE,
    SAMPLE_WIN_RATE,
    RankStudy,
    rank_column,
)
from riskrank.engine.dominance.column_tests import study_columns
from riskrank.engine.dominance.inference import ABSOLUTE, RELATIVE, Claim, ColumnClaims, Inference
from riskrank.engine.dominance.ranking import Ranking
from riskrank.engine.portfolio.risks import risk_columns
from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT, ScoreTables
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.processes import run_tasks
from riskrank.engine.types import Floats, Integers, Progress
from riskrank.errors import UsageError, did_you_mean, listing, option

MEAN_RISK = "MRM"
METRICS = "M"
WIN_RATES = (MODEL_WIN_RATE, SAMPLE_WIN_RATE, PAIRWISE_WIN_RATE)

_DOMINANCE = re.compile(r"(R-)?([FS])SD(?:\(([0-9.eE+-]+)\))?")
_AGGREGATED = re.compile(r"RA\((.+)@(.+)\)")


@dataclass(frozen=True)
class Method:
    """A ranking method: a statistic and its scope.

    Attributes
    ----------
    statistic : str
        ``R-FSD``, ``R-SSD``, ``FSD(τ)``, ``SSD(τ)``, the name of a win rate, or ``MRM`` (mean-risk models).
    scope : str
        ``P(IC)`` or ``P(EC)`` for a portfolio, ``M`` for an aggregation over all metrics, or the name of a
        metric.
    claim : Claim or None
        Claim tested by a dominance statistic; None for other statistics.
    """

    statistic: str
    scope: str
    claim: Claim | None = None

    @property
    def aggregated(self) -> bool:
        """True if the method aggregates several rankings into one."""
        return self.scope == METRICS or self.statistic == MEAN_RISK

    @property
    def name(self) -> str:
        """Full name of the method in the notation of [RAB], such as ``R-SSD@P(IC)``."""
        plain = f"{self.statistic}@{self.scope}"
        return f"RA({plain})" if self.aggregated else plain


def methods_for_scope(
    scope: str, claims: Sequence[Claim], *, paired: bool, mean_risk: bool = False
) -> list[Method]:
    """Return all methods for one scope: tests of all claims, win rates and, if requested, mean-risk models.

    `scope` is a portfolio, ``M`` (all metrics) or a metric. Some win rates are only defined for paired
    samples.
    """
    methods = [Method(claim.method, scope, claim) for claim in claims]
    methods += [Method(rate, scope) for rate in WIN_RATES if paired or rate == MODEL_WIN_RATE]
    return methods + ([Method(MEAN_RISK, scope)] if mean_risk else [])


def parse_method(text: str, *, default_scope: str, metrics: Sequence[str] = ()) -> Method:
    """Parse the name of a ranking method (`text`), such as ``R-SSD@P(IC)``.

    A scope is a portfolio, ``M`` (all metrics) or one of `metrics`. A name without a scope gets
    `default_scope`.

    Raises
    ------
    UsageError
        If there is no method of that name.
    """
    aggregated = _AGGREGATED.fullmatch(text)
    if aggregated:
        statistic, scope = aggregated.groups()
    else:
        statistic, _, scope = text.partition("@")
    method = Method(statistic, scope or default_scope)
    if method.scope not in (INDEPENDENT, EMPIRICAL, METRICS, *metrics):
        raise _unknown_method(text)
    if statistic not in (*WIN_RATES, MEAN_RISK):
        dominance = _DOMINANCE.fullmatch(statistic)
        if dominance is None or bool(dominance[1]) != (dominance[3] is None):
            raise _unknown_method(text)
        try:
            threshold = None if dominance[3] is None else float(dominance[3])
        except ValueError:
            raise _unknown_method(text) from None
        kind = RELATIVE if threshold is None else ABSOLUTE
        claim = Claim(1 if dominance[2] == "F" else 2, kind, threshold)
        method = Method(claim.method, method.scope, claim)
    if bool(aggregated) != method.aggregated and scope:
        raise _unknown_method(text)
    return method


def _unknown_method(text: str) -> UsageError:
    """Return an error for an unknown method name, with a suggestion."""
    examples = ["R-FSD@P(IC)", "R-SSD@P(IC)", "FSD(0.25)@P(IC)", "SSD(0.25)@P(IC)", "R-SSD@P(EC)"]
    examples += ["MWR@P(IC)", "RA(R-SSD@M)", "RA(MWR@M)", "RA(MRM@P(IC))", "RA(MRM@M)"]
    hint = did_you_mean(text, examples, fallback=f"methods: {listing(examples, most=len(examples))}")
    return UsageError(f"{option('method', text)} is not a known method", found=text, hint=hint)


@dataclass(frozen=True)
class MethodStudy:
    """Rankings by several methods.

    Attributes
    ----------
    columns : dict of str to ClusteredScores
        All columns of scores used by the methods, by name.
    studies : dict of str to RankStudy
        Study of each tested column, by name: ``P(IC)``, ``P(EC)``, or a metric.
    rankings : dict of str to Ranking
        Ranking by full method name, in the requested order.
    aggregations : dict of str to Aggregation
        Rank aggregation for each method that aggregates rankings.
    agreement : ndarray, shape (m, m)
        Kendall's tau between the methods' orderings; scores break ties in rank.
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
    progress: Progress | None = None,
) -> MethodStudy:
    """Rank the models by every method, using one bootstrap per column.

    Parameters
    ----------
    tables : ScoreTables
        Scores of k models on all metrics.
    methods : sequence of Method
        Ranking methods, each with the column of scores that it uses.
    inference : Inference
        Test settings.
    names : sequence of k str
        Model names, used to break ties between equally good aggregations.
    aggregator : {"kemeny", "footrule", "pearson", "borda"}
        Method of rank aggregation.
    by_wins : bool
        Rank the models by their number of significant relative wins, as [RAB] does, instead of by their
        ratios.
    progress : callable, optional
        Called with the number of completed resamples over all columns, and the number planned.

    Returns
    -------
    MethodStudy

    Raises
    ------
    InputError
        If a test is requested on fewer than 10 samples.
    """
    methods = list(dict.fromkeys(methods))
    columns = {name: tables.clustered_column(name) for name in required_columns(methods, tables.metrics)}
    tested_columns = {}
    for name, scores in columns.items():
        scopes = (name, METRICS) if name in tables.metrics else (name,)
        tested_methods = [m for m in methods if m.statistic != MEAN_RISK and m.scope in scopes]
        if tested_methods:  # columns of mean-risk models alone need no tests
            claims = dict.fromkeys(method.claim for method in tested_methods if method.claim is not None)
            tested_columns[name] = ColumnClaims(scores, tuple(claims))
    tested = study_columns([*tested_columns.values()], inference, progress=progress)
    studies = {
        name: rank_column(columns[name], dominance, inference, by_wins=by_wins)
        for name, dominance in zip(tested_columns, tested, strict=True)
    }
    rankings, aggregations = {}, {}
    for method in methods:
        if not method.aggregated:
            rankings[method.name] = studies[method.scope].rankings[method.statistic]
            continue
        lists, weights = _rankings_to_aggregate(method, tables, columns, studies)
        aggregation = aggregate_rankings(lists, method=aggregator, weights=weights, names=names)
        aggregations[method.name] = aggregation
        mean_rank = weights @ lists / weights.sum()
        rankings[method.name] = Ranking(rank=aggregation.ranks, score=mean_rank, order=aggregation.order)
    agreement = kendall_tau(np.array([ranking.positions for ranking in rankings.values()]))
    return MethodStudy(columns, studies, rankings, aggregations, agreement)


def required_columns(methods: Sequence[Method], metrics: Sequence[str]) -> list[str]:
    """Return the names of the score columns that the methods need, without duplicates."""
    scopes = (metrics if method.scope == METRICS else [method.scope] for method in methods)
    return list(dict.fromkeys(chain.from_iterable(scopes)))


def _rankings_to_aggregate(
    method: Method,
    tables: ScoreTables,
    columns: Mapping[str, ClusteredScores],
    studies: Mapping[str, RankStudy],
) -> tuple[Integers, Floats]:
    """Return the rankings that a method aggregates, shape (l, k), and their weights, shape (l,).

    `columns` and `studies` hold the scores and the ranking study of each score column, by name.
    """
    names = tables.metrics if method.scope == METRICS else (method.scope,)
    shares = tables.weights if method.scope == METRICS else np.ones(1)
    consistent = [column for column in risk_columns() if column.risk.ssd_consistent]
    lists: list[Integers] = []
    for column in names:
        if method.statistic == MEAN_RISK:
            from riskrank.engine.portfolio.mean_risk import mean_risk  # rarely needed

            scores = columns[column]
            result = mean_risk(scores.values, consistent, weights=scores.weights)
            lists += list(result.rank.T)
        else:
            lists.append(studies[column].rankings[method.statistic].rank)
    # All metrics have equally many rankings, and aggregation uses only the ratios of the weights.
    return np.array(lists), np.repeat(shares, len(lists) // len(names))


@dataclass(frozen=True)
class Stability:
    """Agreement between rankings of random subsamples and the ranking based on all samples.

    Attributes
    ----------
    methods : tuple of m str
        Names of the methods.
    sizes : tuple of s int
        Subsample sizes, increasing.
    tau : ndarray, shape (m, s, r)
        Kendall's tau between the ranking of each of r subsamples and the full ranking; scores break ties in
        rank.
    """

    methods: tuple[str, ...]
    sizes: tuple[int, ...]
    tau: Floats

    @property
    def repeats(self) -> int:
        """Number of subsamples of each size."""
        return self.tau.shape[2]

    @property
    def mean(self) -> Floats:
        """Mean tau over subsamples of the same size, shape (m, s)."""
        return np.array([[taus.mean() for taus in by_size] for by_size in self.tau])

    @property
    def sd(self) -> Floats:
        """Standard deviation of tau over subsamples of the same size, shape (m, s)."""
        return np.array([[taus.std(ddof=1) for taus in by_size] for by_size in self.tau])

    @property
    def by_stability(self) -> Integers:
        """Indices of the methods in decreasing order of tau, averaged over all subsamples, shape (m,)."""
        return np.argsort(-self.mean.mean(axis=1), kind="stable")


def assess_stability(
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
    progress: Progress | None = None,
) -> Stability:
    """Repeat all methods, including portfolios and tests, on random subsamples of the samples.

    Parameters
    ----------
    tables, methods, inference, names, aggregator, by_wins
        See :func:`study_methods`.
    full : MethodStudy
        Results of the same methods on all samples.
    sizes : sequence of int
        Subsample sizes; subsamples are drawn without replacement.
    repeats : int
        Number of subsamples of each size.
    progress : callable, optional
        Called with the number of completed subsamples and the total number.

    Returns
    -------
    Stability
        The result does not depend on the number of jobs.

    Raises
    ------
    UsageError
        If a subsample is larger than the data or too small for a test.
    """
    grid = tuple(sorted(set(sizes)))
    fewest = max(10 if inference.test else 2, tables.fewest_samples)
    for size in grid:
        if not fewest <= size <= tables.samples:
            problem = f"a subsample of {size} samples cannot be drawn"
            detail = f"{tables.samples} samples; the methods need at least {fewest}"
            raise UsageError(problem, found=detail, hint=f"choose sizes from {fewest} to {tables.samples}")
    sequential = replace(inference, jobs=1)
    shared = (tables, tuple(dict.fromkeys(methods)), sequential, tuple(names), aggregator, by_wins)
    streams = {size: np.random.SeedSequence([inference.seed, size]).spawn(repeats) for size in grid}
    tasks = [(size, stream) for size in grid for stream in streams[size]]
    reference, tau = [ranking.positions for ranking in full.rankings.values()], []
    for places in run_tasks(_rank_subsample, shared, tasks, jobs=inference.jobs):
        tau.append([kendall_tau(np.stack(pair))[0, 1] for pair in zip(reference, places, strict=True)])
        if progress is not None:
            progress(len(tau), len(tasks))
    shape = (len(grid), repeats, len(reference))
    return Stability(tuple(full.rankings), grid, np.array(tau).reshape(shape).transpose(2, 0, 1))


def _rank_subsample(
    shared: tuple[ScoreTables, tuple[Method, ...], Inference, tuple[str, ...], str, bool],
    task: tuple[int, np.random.SeedSequence],
) -> list[Integers]:
    """Draw a random subsample, rank its models by every method, and return their positions by method.

    `shared` holds the arguments of `study_methods`, `task` the size of the subsample and its random stream.
    """
    tables, methods, inference, names, aggregator, by_wins = shared
    size, stream = task
    chosen, entropy = stream.spawn(2)
    part = tables.subsample(size, np.random.default_rng(chosen))
    seeded = replace(inference, seed=int(entropy.generate_state(1)[0]))
    study = study_methods(part, methods, seeded, names=names, aggregator=aggregator, by_wins=by_wins)
    return [ranking.positions for ranking in study.rankings.values()]
