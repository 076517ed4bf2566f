"""A ranking and how sure it is: the study behind ``rank``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.dominance.claims import RELATIVE
from riskrank.engine.dominance.effect_sizes import EffectSizes
from riskrank.engine.dominance.hidden_risk import NONE
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.method_rankings import MethodStudy, columns_needed, study_methods
from riskrank.engine.dominance.stability import Stability, stability
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import GateFailed, UsageError, one_of, option
from riskrank.scores.table import ScoreTable
from riskrank.studies.aggregation import described_aggregation
from riskrank.studies.document import Document, Provenance
from riskrank.studies.dominance import most_resamples
from riskrank.studies.gates import GateOutcome, gated, judge_gates, resolve_gates
from riskrank.studies.grouping import Groups, Standing, as_grouped, study_groups
from riskrank.studies.provenance import described_inputs, portfolio_settings, reading_settings
from riskrank.studies.rank_verdict import rank_verdict
from riskrank.studies.ranking_methods import MethodSettings, chosen_methods, gated_columns
from riskrank.studies.runtime import Runtime
from riskrank.studies.settings import whole_numbers
from riskrank.studies.targets import check_portfolio, check_range, score_tables
from riskrank.studies.units import Units, units_of

STABILITY_REPEATS = 5
RANK_BY = ("ratio", "wins")


@dataclass(frozen=True, kw_only=True)
class RankSettings(MethodSettings):
    """What to rank by, and how sure to be.

    Parameters
    ----------
    rank_by : {"ratio", "wins"}
        Order relative methods by the one-versus-all violation ratio, or by significant wins (Borda), as
        [RAB] does.
    top : int, optional
        Only the so many best models by each method.
    stability : sequence of int
        Repeat on random subsamples of these sizes.
    stability_repeats : int, optional
        Subsamples a size; 5 by default.
    """

    default_kinds: ClassVar[tuple[str, ...]] = (RELATIVE,)

    rank_by: str = "ratio"
    top: int | None = None
    stability: tuple[int, ...] = ()
    stability_repeats: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("rank_by", self.rank_by, RANK_BY)
        if self.top is not None and self.top < 1:
            raise UsageError(
                f"{option('top')} must be at least 1", found=str(self.top), hint="leave it out to see all"
            )
        self._normalise("stability", whole_numbers(self.stability, parameter="stability"))
        if self.stability_repeats is not None and not self.stability:
            raise UsageError(
                f"{option('stability_repeats')} goes with {option('stability')}",
                found=option("stability_repeats", self.stability_repeats),
                hint=f"add {option('stability', '100,500')}",
            )


@dataclass(frozen=True, slots=True)
class RankRow:
    """One model's place by one method.

    ``rank_low`` and ``rank_high`` are its rank set; ``mean``, ``tvar`` (the mean of its worst share) and the
    difference of its mean to the method's first model are in the units of the file, or of the portfolio.
    """

    method: str
    model: str
    rank: int
    rank_low: int | None
    rank_high: int | None
    wins: int | None
    losses: int | None
    tier: int | None
    score: float
    mean: float | None
    tvar: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    decided: bool | None


@dataclass(frozen=True, slots=True)
class GroupedRankRow(RankRow):
    """One model's place by one method in a group; null is all samples together."""

    group: str | None


@dataclass(frozen=True, kw_only=True)
class RankDocument(Document[RankRow]):
    """Rankings by one or more methods.

    Attributes
    ----------
    study : MethodStudy
    steady : Stability or None
    inference : Inference
    paired : bool
    scores : dict of str to ClusteredScores
        Every column of scores that was ranked.
    units : dict of str to Units
        Of the same columns.
    top : int
        Models shown by each method.
    gates : GateOutcome
    """

    schema: ClassVar[str] = "rank"
    row_type: ClassVar[type] = RankRow

    study: MethodStudy
    steady: Stability | None
    inference: Inference
    paired: bool
    scores: Mapping[str, ClusteredScores]
    units: Mapping[str, Units]
    top: int
    gates: GateOutcome

    @property
    def failed(self) -> GateFailed | None:
        """The gate that did not hold."""
        return self.gates.failed

    def meta(self) -> Mapping[str, Any]:
        """Separation, hidden risks, aggregations, agreement, stability and gates."""
        models = self.provenance.models
        return {
            "separation": [*_separations(self.study)],
            "hidden_risks": [*_hidden_risks(self.study, models, self.units)],
            "aggregations": [
                described_aggregation(name, found, models) for name, found in self.study.aggregations.items()
            ],
            "agreement": {
                "methods": list(self.study.rankings),
                "kendall_tau": self.study.agreement.tolist(),
            },
            "stability": None if self.steady is None else [*_stability(self.steady)],
            **self.gates.meta(),
        }

    @property
    def aggregations(self) -> list[tuple[str, Aggregation]]:
        """How aggregated rankings were found, by method."""
        return list(self.study.aggregations.items())


@dataclass(frozen=True, kw_only=True)
class GroupedRankDocument(RankDocument):
    """Rankings of all samples, and of each group.

    Attributes
    ----------
    groups : Groups
    """

    row_type: ClassVar[type] = GroupedRankRow

    groups: Groups

    def meta(self) -> Mapping[str, Any]:
        """Entries of all samples, and the groups."""
        return {**super().meta(), **self.groups.meta()}


def standings(document: RankDocument) -> dict[str, Standing]:
    """How each method ranks the models, what a careful reader asks for first: second order."""
    found = {}
    for method in sorted(document.study.rankings, key=lambda name: not name.startswith("R-SSD")):
        statistic, _, scope = method.rpartition("@")
        tests = None
        if document.inference.test and method not in document.study.aggregations:
            tests = document.study.studies[scope].tests_of(statistic)
        scores = -document.study.rankings[method].rank
        found[method] = Standing(scores, None if tests is None else tests.dominates)
    return found


def rank(
    table: ScoreTable, settings: RankSettings | None = None, runtime: Runtime | None = None
) -> RankDocument:
    """Rank models by stochastic dominance, next to mean win rates, from one bootstrap.

    Parameters
    ----------
    table : ScoreTable
    settings : RankSettings, optional
    runtime : Runtime, optional

    Returns
    -------
    RankDocument

    Raises
    ------
    InputError
        If a test is asked for on fewer than 10 samples.
    UsageError
        If a method or a gate does not fit the table.
    """
    settings, runtime = settings or RankSettings(), runtime or Runtime()
    if table.groups is not None:
        return _by_group(table, settings, runtime)
    check_portfolio(table, settings, per_metric=settings.folds_nothing)
    gates = resolve_gates(settings, table.models)
    methods = chosen_methods(settings, table)
    looked_at = gated_columns(methods) if gates else []
    tables = score_tables(table, settings)
    for name in columns_needed(methods, tables.metrics):
        if name in tables.metrics:  # portfolios lie between 0 and 1
            check_range(name, tables.column(name), table.models)
    inference = settings.inference(runtime.jobs)
    common: dict[str, Any] = {
        "names": table.models,
        "aggregator": settings.aggregator,
        "by_wins": settings.rank_by == "wins",
    }
    with runtime.progress("resampling") as progress:
        study = study_methods(tables, methods, inference, progress=progress, **common)
    steady = None
    if settings.stability:
        repeats = settings.stability_repeats
        with runtime.progress("subsampling") as progress:
            steady = stability(
                tables,
                methods,
                inference,
                study,
                sizes=settings.stability,
                repeats=STABILITY_REPEATS if repeats is None else repeats,
                progress=progress,
                **common,
            )
    scores = study.columns
    units = {name: units_of(name, table.metrics) for name in study.studies}
    top = len(table.models) if settings.top is None else settings.top
    return RankDocument(
        provenance=_provenance(table, settings, study, inference),
        rows=[*_rows(study, table.models, units, top)],
        verdict=rank_verdict(study, table, inference),
        study=study,
        steady=steady,
        inference=inference,
        paired=table.paired,
        scores=scores,
        units=units,
        top=top,
        gates=judge_gates(
            gates, [gated(name, scores[name]) for name in looked_at], settings, inference, table.models
        ),
    )


def _by_group(table: ScoreTable, settings: RankSettings, runtime: Runtime) -> GroupedRankDocument:
    """Rank all samples and each group; the gates on all of them are one family."""
    gates = resolve_gates(settings, table.models)
    names = gated_columns(chosen_methods(settings, table)) if gates else []
    whole, groups = study_groups(rank, standings, table, settings, runtime)
    documents = {None: whole} | {part.name: part.document for part in groups.parts}
    columns = [gated(name, found.scores[name], group) for group, found in documents.items() for name in names]
    outcome = judge_gates(gates, columns, settings, whole.inference, table.models)
    found: GroupedRankDocument = as_grouped(GroupedRankDocument, whole, GroupedRankRow, groups, gates=outcome)
    return found


def _provenance(
    table: ScoreTable, settings: RankSettings, study: MethodStudy, inference: Inference
) -> Provenance:
    advice = list(dict.fromkeys(line for found in study.studies.values() for line in found.dominance.advice))
    if settings.all_methods and any(metric.weight is not None for metric in table.metrics):
        advice.append("P(EC) is left out: the empirical copula has no use for weights")
    described = reading_settings(table.options) | settings.described_tests()
    described |= {"per_metric": settings.per_metric, "methods": list(study.rankings)}
    described |= {"rank_by": settings.rank_by, "top": settings.top}
    described |= {"aggregate": settings.aggregator if study.aggregations else None}
    if len(table.metrics) > 1 and not settings.folds_nothing:
        described |= portfolio_settings(settings, table)
    return Provenance(
        command="rank",
        seed=settings.seed if inference.resampled or settings.stability else None,
        resamples=most_resamples(found.dominance for found in study.studies.values()),
        settings=described,
        warnings=[*table.warnings, *advice],
        **described_inputs(table),
    )


def _rows(
    study: MethodStudy, models: Sequence[str], units: Mapping[str, Units], top: int
) -> Iterator[RankRow]:
    """One row a method and model, methods in the order asked for, models by rank."""
    for method, ranking in study.rankings.items():
        statistic, _, scope = method.rpartition("@")
        column = None if method in study.aggregations else study.studies[scope]
        for i in ranking.order[:top].tolist():
            effects: dict[str, Any] = dict.fromkeys(EFFECTS)
            decided = None
            if column is not None:
                effects = _effects(column.effects[statistic], units[scope], i)
                decided = _decided(column.tests_of(statistic), i)
            yield RankRow(
                method=method,
                model=models[i],
                **{name: _entry(getattr(ranking, name), i) for name in PLACES},
                **effects,
                decided=decided,
            )


EFFECTS = ("mean", "tvar", "difference", "difference_low", "difference_high")
PLACES = ("rank", "rank_low", "rank_high", "wins", "losses", "tier", "score")


def _entry(values: np.ndarray | None, i: int) -> Any:
    return None if values is None else values[i].item()


def _effects(found: EffectSizes, units: Units, i: int) -> dict[str, float | None]:
    """Effect sizes of one model in the units of the file."""
    difference = found.mean_difference
    low, high = units.interval(difference.low, difference.high)
    values = (units.of(found.mean), units.of(found.tail_mean), units.of(difference.estimate), low, high)
    return {name: _entry(value, i) for name, value in zip(EFFECTS, values, strict=True)}


def _decided(tests: DominanceTests | None, i: int) -> bool | None:
    """Whether every claim about a model is decided; None where there are none."""
    if tests is None or tests.p_value is None:
        return None
    return bool(tests.decided[i].all() and tests.decided[:, i].all())


def _separations(study: MethodStudy) -> Iterator[dict[str, Any]]:
    """Pairs of models that the tests of each method tell apart."""
    for metric, found in study.studies.items():
        for name, counted in found.separations.items():
            if f"{name}@{metric}" in study.rankings:
                yield {
                    "method": f"{name}@{metric}",
                    "pairs": counted.pairs,
                    "separated": counted.separated,
                    "neighbours": counted.neighbours,
                    "separated_neighbours": counted.separated_neighbours,
                }


def _hidden_risks(
    study: MethodStudy, models: Sequence[str], units: Mapping[str, Units]
) -> Iterator[dict[str, Any]]:
    """Models whose mean hides a worse tail, and those of which that is not decided."""
    for metric, found in study.studies.items():
        risks = found.hidden_risks
        if risks is None:
            continue
        mean, tail = units[metric].of(risks.mean), units[metric].of(risks.tail_mean)
        for i in np.flatnonzero(risks.status != NONE).tolist():
            other = int(risks.against[i])
            yield {
                "metric": metric,
                "model": models[i],
                "status": str(risks.status[i]),
                "mean": mean[i].item(),
                "tvar": tail[i].item(),
                "level": found.dominance.estimates.tail_level,
                "against": models[other],
                "against_mean": mean[other].item(),
                "against_tvar": tail[other].item(),
                "p_adjusted": risks.p_adjusted[i].item(),
                "decided": bool(risks.decided[i]),
            }


def _stability(found: Stability) -> Iterator[dict[str, Any]]:
    """Mean and spread of the agreement with the full-sample ranking."""
    for method, by_size in zip(found.methods, found.tau, strict=True):
        for size, tau in zip(found.sizes, by_size, strict=True):
            yield {
                "method": method,
                "size": size,
                "kendall_tau_mean": float(tau.mean()),
                "kendall_tau_sd": float(tau.std(ddof=1)) if len(tau) > 1 else None,
                "repeats": len(tau),
            }
