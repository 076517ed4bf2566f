"""Rankings by means only, for tables without independent samples, and by cost per success (method §18)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from riskrank.engine.dominance.effect_sizes import Differences
from riskrank.engine.dominance.ranking import Ranking, rank_by_ratio
from riskrank.engine.evidence.crossed import Components
from riskrank.engine.evidence.mean_differences import (
    MIN_SHARED,
    MeanContrast,
    PairDifferences,
    mean_evidence,
    topological_order,
)
from riskrank.engine.evidence.statistics import percentile_differences, samples_for_percentile
from riskrank.engine.family import Answer, Family
from riskrank.engine.judges import JudgeAgreement
from riskrank.engine.sampling.design import FEW_SAMPLES, require_testable
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.scores.table.designs import ITEM
from riskrank.scores.table.judge_calibration import judge_agreements
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies import findings, means_only, metric_means, wording
from riskrank.studies.checks import require_distributions
from riskrank.studies.document import Document, rows_from_columns
from riskrank.studies.gate.columns import UNBOUNDED, ScoreColumn
from riskrank.studies.gate.derived_columns import derive_columns, log_means
from riskrank.studies.gate.verdicts import finite_or_none
from riskrank.studies.portfolio.options import PortfolioSettings
from riskrank.studies.rank.document import PLACES, RankRow
from riskrank.studies.rank.options import RankSettings
from riskrank.studies.settings import family_from_settings, provenance
from riskrank.studies.statistics import MEAN, Statistic, parse_statistics, plural_statistic, statistic_words
from riskrank.studies.targets import Units, column_units, rescale_tasks, scale_notes, target_columns

_ON_NOTE = "The models are ranked by this statistic alone; distributions and tails are not compared."


def statistic_columns(
    table: ScoreTable, settings: RankSettings
) -> Iterator[tuple[means_only.MeanColumn, metric_means.MetricMeans]]:
    """Yield each requested statistic: its values with pairwise differences, and its values for display.

    Raises
    ------
    UsageError
        If models cannot be ranked by a statistic.
    """
    if table.means_only:
        require_distributions(table, option("on", settings.on[0]), "needs independent samples")
    by_metric = {
        target.name: [
            ScoreColumn(target.name, target.scores, column_units(target.name, table.metrics), UNBOUNDED)
        ]
        for target in target_columns(table, PortfolioSettings(), per_metric=True, suite_settings=settings)
    }
    declared = {metric.name: metric.declared for metric in table.metrics}
    level = family_from_settings(settings).interval_level(1)
    for statistic in parse_statistics(settings.on, [*by_metric]):
        if statistic.dominance is not None or statistic.level is not None:
            problem = f"{option('on', statistic.name)} is not a statistic to rank by"
            detail = "a dominance order or a tail mean, which the default ranking includes"
            raise UsageError(problem, found=detail, hint=f"leave out {option('on')}")
        for column in derive_columns(statistic, by_metric, table.models):
            if not settings.no_test:
                require_testable(column.scores, optional=True)
            yield _statistic_column(column, statistic, level, declared=declared.get(column.name, True))


def _statistic_column(
    column: ScoreColumn, statistic: Statistic, level: float, *, declared: bool
) -> tuple[means_only.MeanColumn, metric_means.MetricMeans]:
    """Compute one statistic for all models: values with pairwise differences, and values for display.

    Parameters
    ----------
    column : ScoreColumn
    statistic : Statistic
    level : float
        Significance level of the intervals.
    declared : bool
        True if the direction of the metric was declared.
    """
    scores, sign = column.scores, column.units.sign
    plain = statistic.name == MEAN or statistic.sums
    name = column.name if plain else f"{statistic_words(statistic.name)} {column.name}"
    level_column = log_means(column) if statistic.sums else column
    if statistic.percentile is None:
        means = [MeanContrast.from_mean(level_column.scores, model) for model in range(scores.models)]
        single, differences = mean_evidence(means), PairDifferences.from_scores(scores)
    else:
        share = statistic.percentile if sign > 0 else 1 - statistic.percentile
        fewest = samples_for_percentile(share)
        if min(scores.cluster_counts) < fewest:
            problem = f"{option('on', statistic.name)} needs at least {fewest:,} independent samples"
            hint = f"score more samples, or use {option('on', 'median')}"
            raise InputError(problem, found=f"{min(scores.cluster_counts):,} on {column.name}", hint=hint)
        single, differences = percentile_differences(scores, share)
    is_share = all(np.isin(np.abs(part), (0, 1)).all() for part in scores.values)
    # A relative change from 1 becomes the statistic itself.
    units, offset = level_column.units, float(level_column.units.relative)
    shown = units.to_file_units(single.estimate) + offset
    low, high = (limit + offset for limit in units.interval_to_file_units(*single.interval(level)))
    errors = shown * single.error if units.relative else single.error
    kind = metric_means.RatioMeans if column.units.relative else metric_means.MetricMeans
    values = single.estimate if level_column is column else sign * shown
    decimals = wording.decimals_from_errors((100 if is_share else 1) * errors)
    size, unit = float(min(scores.effective_sizes)), scores.unit_name
    relative = sign if column.units.relative else 0.0
    ranked = means_only.MeanColumn(
        name, values, differences, size, statistic.name, named=True, relative_sign=relative, unit=unit
    )
    df = single.samples - 1
    return ranked, kind(name, sign < 0, declared, is_share, shown, errors, decimals, df, (low, high))


@dataclass(frozen=True, eq=False)
class MeanRanking:
    """Ranking of k models by their mean on a metric.

    Attributes
    ----------
    column : MeanColumn
    shared : Integers or None
        Number of samples common to each pair of models, shape (k, k), or None if all models have all samples.
    means : MetricMeans
        Means in the units of the file.
    ranking : Ranking
    wins : ndarray of bool, shape (k, k)
        True if the mean of i is significantly better than that of j.
    to_first : Differences
        Differences from the first model, shape (k,), larger is better. Simultaneous intervals if tested.
    detectable : float or None
        Minimum detectable difference (power 80 %), or None if nothing was tested.
    """

    column: means_only.MeanColumn
    shared: Integers | None
    means: metric_means.MetricMeans
    ranking: Ranking
    wins: Booleans
    to_first: Differences
    detectable: float | None

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper limit of the interval for the first model's statistic."""
        low, high = self.means.intervals
        return float(low[self.first]), float(high[self.first])

    def format_interval(self) -> str:
        """Format the interval for the first model's statistic."""
        low, high = self.interval
        if np.isfinite([low, high]).all():
            return f"{self.means.format_value(low)} to {self.means.format_value(high)}"
        if np.isinf(low):
            return f"below {self.means.format_value(high)}"
        return f"above {self.means.format_value(low)}"

    @property
    def tested(self) -> bool:
        """True if the pairs were tested."""
        return self.to_first.low is not None

    @property
    def file_differences(self) -> Differences:
        """Differences from the first model in the units of the input file, where lower may be better."""
        return self.to_first.negated() if self.means.lower_is_better else self.to_first

    def lead_figures(self, second: int) -> dict[str, float]:
        """Return the means of the first model and of `second`, their difference and its interval, by name."""
        lead, figures = self.file_differences.negated(), dict[str, float]()
        if self.column.relative_sign:
            low, high = (None if limit is None else limit / (1 - limit) for limit in (lead.low, lead.high))
            lead = Differences(lead.estimate / (1 - lead.estimate), low, high)
        figures["difference"] = float(lead.estimate[second]) + 0.0
        if lead.low is not None and lead.high is not None:
            figures |= {"low": float(lead.low[second]), "high": float(lead.high[second])}
        if self.shared is not None:
            figures["shared"] = int(self.shared[self.first, second])
        return figures | metric_means.pair_figures([self.means], self.first, second)

    @property
    def label(self) -> str:
        """Name of the ranked statistic, such as ``mean accuracy``."""
        if self.column.win_rates is not None:
            return "Bradley–Terry strength"
        if self.column.named and self.column.statistic != MEAN and "sum(" not in self.column.statistic:
            return self.column.name
        return f"{statistic_words(self.column.statistic)} {self.column.name}"

    @property
    def first(self) -> int:
        """Index of the model with the best mean."""
        return int(self.ranking.order[0])

    @property
    def beaten(self) -> list[int]:
        """Models whose mean is significantly worse than the first model's, in rank order."""
        return [i for i in self.ranking.order[1:].tolist() if self.wins[self.first, i]]

    @property
    def not_compared_with_first(self) -> list[int]:
        """Models that have too few samples in common with the first model."""
        return [i for i in self.ranking.order[1:].tolist() if not self.column.compared_pairs[self.first, i]]


def rank_by_metric(
    table: ScoreTable,
    metric: int,
    column: means_only.MeanColumn,
    means: metric_means.MetricMeans,
    family: Family,
    *,
    tested: bool,
) -> MeanRanking:
    """Rank models by their mean on a metric, and test all pairs if requested.

    Parameters
    ----------
    table : ScoreTable
    metric : int
        Index of the metric.
    column : MeanColumn
    means : MetricMeans
    family : Family
    tested : bool
        True to test the pairs.

    Raises
    ------
    InputError
        If the models cannot be ranked in one order; see `require_common_order`.
    """
    means_only.require_common_order(table, column, family)
    shared = table.noise.counts(metric) if table.noise is not None and table.noise.samples_only else None
    wins: Booleans = np.zeros_like(column.compared_pairs)
    if tested:
        wins = family.significant(column.adjusted_p_values(family))
    score = -column.means
    if shared is not None:
        score = np.argsort(topological_order(wins, column.means)).astype(np.float64)
    ranking = replace(rank_by_ratio(wins, score, tested=tested), score=column.means)
    first, detectable = int(ranking.order[0]), None
    limits: list[Floats | None] = [None, None]
    if tested:
        pairs = int(column.compared_pairs.sum()) // 2
        intervals = column.differences.interval(family.interval_level(pairs))
        limits = [column.to_display_units(limit[:, first]) for limit in intervals]
        detectable = None if column.relative_sign else means_only.median_detectable(column, pairs, family)
    to_first = Differences(column.to_display_units(column.differences.value[:, first]), *limits)
    return MeanRanking(column, shared, means, ranking, wins, to_first, detectable)


@dataclass(frozen=True, kw_only=True)
class MeanRankDocument(Document[RankRow], schema="rank-means"):
    """Rankings of the models by their means, one per metric.

    Attributes
    ----------
    rankings : sequence of MeanRanking
    family : Family
    reason : str
        Reason why only means are compared.
    agreements : sequence of JudgeAgreement
        Agreement of each pair of judges, if judges are a source of noise.
    components : Components or None
        Variance components of the difference between the first two models, or None without named sources of
        noise.
    """

    rankings: Sequence[MeanRanking]
    family: Family
    reason: str
    agreements: Sequence[JudgeAgreement] = ()
    components: Components | None = None

    @property
    def question(self) -> str:
        """Question that the document answers."""
        if not self.model_names[1:]:
            return f"How good is {self.model_names[0]}?"
        return f"Which of {len(self.model_names)} models is best?"

    def meta(self) -> Mapping[str, Any]:
        """Return results for the JSON output, such as minimum detectable differences and win rates."""
        rates, models = self.rankings[0].column.win_rates, self.provenance.models
        wins = {} if rates is None else {"win_rates": dict(zip(models, rates.tolist(), strict=True))}
        detectable = {result.column.name: result.detectable for result in self.rankings}
        judges = {"judges": [*map(asdict, self.agreements)]} if self.agreements else {}
        intervals = {r.label: [*map(finite_or_none, r.interval)] for r in self.rankings}
        single = {} if models[1:] else {"intervals": intervals}
        return {"smallest_visible": detectable, **wins, **judges, **single}


def rank_by_means(table: ScoreTable, settings: RankSettings) -> MeanRankDocument:
    """Rank models by means or other statistics of single metrics, and test the differences.

    Parameters
    ----------
    table : ScoreTable
        Table that allows only comparisons of means, unless the option ``on`` names statistics.
    settings : RankSettings

    Raises
    ------
    UsageError
        If an option needs the score distributions of single samples.
    """
    of_means = table.means_only and {*settings.on} <= {MEAN}
    several = len(table.models) > 1
    on_note = means_only.DesignNote(_ON_NOTE if several else "", {})
    note = means_only.design_note(table) if of_means else on_note
    _refuse_options(table, settings, note)
    if table.means_only and not several:
        require_distributions(table, "rank with one model", "needs independent samples")
    table = rescale_tasks(table, settings)
    averaged = [metric.name for metric in table.metrics] if MEAN in settings.on else settings.on
    table = replace(table, warnings=(*table.warnings, *scale_notes(table, averaged)))
    family, tested = family_from_settings(settings), several and not settings.no_test
    family = family if several else replace(family, correction="none")
    results = [
        rank_by_metric(table, at, column, means, family, tested=tested)
        for at, (column, means) in enumerate(_mean_columns(table, settings))
    ]
    case = MeanCase(table, results, note, family)
    costs = metric_means.assumed_costs([result.means for result in results])
    assumption = metric_means.assumption_prefix(costs)
    limits = _sample_limits(table, settings, results)
    method_entries = {"per_metric": settings.per_metric, "family": "pairs of models"} | family.settings
    return MeanRankDocument(
        provenance=provenance(
            "rank", table, settings, method_entries, warnings=findings.limit_warnings(limits)
        ),
        rows=[row for result in results for row in _mean_rows(result, table, settings.top)],
        **SENTENCES.fields(mean_findings(case), case, table.models, assumption, limits=limits),
        named=[result.first for result in results[:1] if len(result.beaten) == len(table.models) - 1],
        rankings=results,
        family=family,
        reason=note.sentence,
        agreements=judge_agreements(table.judge_scores),
        components=None
        if table.noise is None or table.noise.samples_only
        else means_only.difference_components(table, tuple(results[0].ranking.order[:2].tolist())),
    )


def _mean_columns(
    table: ScoreTable, settings: RankSettings
) -> Iterator[tuple[means_only.MeanColumn, metric_means.MetricMeans]]:
    """Yield each requested statistic: its values with pairwise differences, and its values for display.

    By default, the statistic is the mean of every metric.
    """
    if settings.on and not (table.means_only and {*settings.on} == {MEAN}):
        yield from statistic_columns(table, settings)
        return
    for at, means in enumerate(metric_means.metric_means(table)):
        column = means_only.mean_column(table, at)
        assert column is not None
        yield column, means


def _sample_limits(
    table: ScoreTable, settings: RankSettings, results: Sequence[MeanRanking]
) -> list[findings.Remark]:
    """Return findings about the limits of the sample size, with their sentences.

    The result is empty for cross-validation folds, because their rows are not samples.
    """
    if settings.on and not table.means_only:
        return findings.table_limits(table, tested=not settings.no_test)
    if table.noise is None or results[0].column.win_rates is not None or results[0].column.unit == "tasks":
        return []
    if table.noise.samples_only:
        return [findings.detection_limit_remark(int(min(result.column.effective_size for result in results)))]
    return [findings.detection_limit_remark(np.unique(table.noise.factors[ITEM]).size, "items")]


def _refuse_options(table: ScoreTable, settings: RankSettings, note: means_only.DesignNote) -> None:
    """Raise a UsageError if an option needs the score distributions of single samples.

    `note` gives the reason why only means are compared.
    """
    options = [option(name, True) for name in ("all_methods", "paper_exact") if getattr(settings, name)]
    options += [option(name) for name in ("method", "stability", "aggregate") if getattr(settings, name)]
    options += [option("group_by")] if table.groups is not None else []
    hint = f"leave out {' and '.join(options)}"
    if len(table.metrics) > 1 and not (settings.per_metric or settings.on):
        suggestion = f"rank each metric by its mean: {option('per_metric', True)}"
        hint = f"{hint}, and {suggestion}" if options else suggestion
        options.append("a combined score of several metrics")
    if options:
        reason = note.sentence.rstrip(".")
        ways = [(option("per_metric", True), {"per_metric": True})] if hint.startswith("rank each") else []
        raise UsageError(f"{options[0]} needs scores by sample", found=reason, hint=hint, suggestions=ways)


def _mean_rows(result: MeanRanking, table: ScoreTable, top: int | None) -> list[RankRow]:
    """Return one row for each of the first `top` models of a ranking, in the units of the input file."""
    ranking, column = result.ranking, result.column
    units = column_units(column.name, table.metrics)
    if column.named:
        units = Units(-1.0 if result.means.lower_is_better else 1.0, result.label)
    estimates = units.estimates(result.to_first)
    return rows_from_columns(
        RankRow,
        ranking.order[:top],
        method=f"{column.statistic}@{column.name}",
        model=np.array(table.models, dtype=object),
        mean=units.to_file_units(column.means)
        if result.shared is None and not column.named
        else result.means.mean,
        decided=True if result.tested else None,
        **{name: getattr(ranking, name) for name in PLACES},
        **dict(zip(("difference", "difference_low", "difference_high"), estimates, strict=True)),
    )


@dataclass(frozen=True, eq=False)
class MeanCase:
    """Results from which the findings and sentences of a ranking by means are derived."""

    table: ScoreTable
    rankings: Sequence[MeanRanking]
    reason: means_only.DesignNote
    family: Family

    @property
    def models(self) -> Sequence[str]:
        """Names of the models."""
        return self.table.models

    def ranking(self, metric: str) -> MeanRanking:
        """Return the ranking by the metric with the given name."""
        return next(result for result in self.rankings if result.column.name == metric)


def mean_findings(case: MeanCase) -> Iterator[findings.Finding]:
    """Yield the findings of a ranking by means: each metric's leader, its lead, and the sample size."""
    first, *more = case.rankings
    if not case.models[1:]:
        for result in case.rankings:
            figures = dict(zip(("low", "high"), result.interval, strict=True))
            figures = {name: limit for name, limit in figures.items() if np.isfinite(limit)}
            figures["mean"] = float(result.means.mean[0])
            yield findings.Finding("alone", (0,), on=result.column.name, figures=figures)
        return
    for result in case.rankings:
        beaten, excluded, on = result.beaten, result.not_compared_with_first, result.column.name
        compared = named = tuple(i for i in result.ranking.order.tolist() if i not in excluded)
        kind, answer, figures = "first", None, result.lead_figures(compared[1])
        if result.tested and len(beaten) == len(compared) - 1:
            kind, answer = "ahead-of-those-compared" if excluded else "ahead", Answer.SIGNIFICANT
        elif result.tested:
            kind, answer, named = "level", Answer.UNDECIDED, tuple(i for i in compared if i not in beaten)
        words = {"statistic": result.label}
        yield findings.Finding(kind, named, on=on, figures=figures, answer=answer, words=words)
        if not more:
            yield findings.Finding("gain", compared[:2], on=on, figures=figures)
        if excluded:
            words = {"rivals": listing([case.models[i] for i in excluded], 4)}
            fewest, models = {"fewest": MIN_SHARED}, (result.first, *excluded)
            yield findings.Finding("not-compared", models, on=on, figures=fewest, words=words)
    yield from _judge_findings(case)
    yield from [*findings.untested_findings(first.tested), *findings.vote_findings(case.table)]
    figures = {**case.reason.figures, "effective_size": first.column.effective_size}
    figures = {name: figure for name, figure in figures.items() if np.isfinite(figure)}
    yield findings.Finding("counted-as", figures=figures, words={"reason": case.reason.sentence})
    if not more and first.detectable is not None:
        words = {"limit": metric_means.detectable_sentence(first.detectable, first.means.is_proportion)}
        yield findings.Finding("detectable-difference", figures={"difference": first.detectable}, words=words)


def _judge_findings(case: MeanCase) -> Iterator[findings.Finding]:
    """Yield a finding if the judges favour different models, or only some of them favour one.

    The judges are compared on the first two models by paired tests, with Holm's correction.
    """
    first, second = case.rankings[0].ranking.order[:2].tolist()
    tests = means_only.judge_differences(case.table, (first, second))
    significant = case.family.significant(
        case.family.adjust_p_values(np.array([p for _, p in tests.values()]))
    )
    means, figures, texts = case.rankings[0].means, dict[str, float](), dict[str, str]()
    for (judge, (difference, _)), clear in zip(tests.items(), significant.tolist(), strict=True):
        figures[judge] = difference
        better = first if (difference > 0) != means.lower_is_better else second
        favourite = case.models[better] if clear else "neither"
        texts[f"{judge} favours {favourite} ({means.format_gap(difference)})"] = favourite
    if len({*texts.values()}) > 1:
        words = {"favourites": wording.join_names([*texts], len(texts))}
        yield findings.Finding("judges-disagree", (first, second), figures=figures, words=words)


def _ahead_sentence(finding: findings.Finding, case: MeanCase) -> str:
    """Return the sentence that recommends the leader, whose mean is significantly better than all others."""
    label, (first, *rivals) = case.ranking(finding.on).label, (case.models[i] for i in finding.models)
    if metric_means.assumed_costs([result.means for result in case.rankings]):
        return f"{first} has a significantly better {label} than {wording.others_phrase(rivals)}."
    return f"Ship {first}: its {label} is significantly better than that of {wording.others_phrase(rivals)}."


def _tie_sentence(finding: findings.Finding, case: MeanCase) -> str:
    """Return a sentence that names the models whose means do not differ significantly."""
    tied_models, result = [case.models[i] for i in finding.models], case.ranking(finding.on)
    beats = len(result.beaten)
    k = len(tied_models) + beats
    suffix = f"; {tied_models[0]} is significantly better than {beats} of {k - 1} others" if beats else ""
    if len(tied_models) == k and k > 2:
        return (
            f"No significant difference. {tied_models[0]} has the best {result.label}, but the tests cannot "
            f"separate it from the other {k - 1} models."
        )
    tied = wording.join_names(tied_models).replace(" and ", " or ")
    statistics = plural_statistic(result.column.statistic)
    plural = f"{statistics} of {finding.on}" if result.column.win_rates is None else f"{result.label}s"
    if result.column.named and result.label == finding.on:
        plural = f"values of {finding.on}"
    if result.column.unit and result.column.effective_size < FEW_SAMPLES:
        size = f"{result.column.effective_size:,.0f} {result.column.unit}"
        return wording.few_samples_sentence(tied_models, size, f" in {plural}") + f"{suffix}."
    return f"{tied}: no test separates their {plural}{suffix}."


def _alone_sentence(finding: findings.Finding, case: MeanCase) -> str:
    """Return a sentence with the statistic of the only model."""
    result = case.ranking(finding.on)
    return f"{case.models[0]}'s {result.label} is {result.means.format_mean(0)} ({result.format_interval()})."


def _gain_sentence(finding: findings.Finding, case: MeanCase) -> str:
    """Return a sentence that compares the means of the leader and the runner-up."""
    result, (first, second) = case.ranking(finding.on), finding.models
    span, figures = "", finding.figures
    if "low" in figures:
        interval = result.means.format_interval(figures["low"], figures["high"])
        span = f" (difference {interval})"
    shared = result.shared
    if shared is not None and shared[first, second] < max(shared[first, first], shared[second, second]):
        gap = float(result.column.differences.value[first, second])
        comparison, rival = "better" if gap >= 0 else "worse", case.models[second]
        size = result.means.format_gap(abs(gap))
        return (
            f"On the {shared[first, second]:,} shared samples, the mean {finding.on} of "
            f"{case.models[first]} is {size} {comparison} than that of {rival}{span}."
        )
    against = result.means.format_comparison(first, second)
    return f"{case.models[first]}'s {result.label} is {against} for {case.models[second]}{span}."


# Sentence of each kind of finding on a ranking by means.
SENTENCES: findings.Sentences[MeanCase] = findings.Sentences(
    {
        "ahead": _ahead_sentence,
        "ahead-of-those-compared": "{0} has a significantly better {statistic} than {others}, but was not "
        "compared with all others: do not ship it on this result alone.",
        "not-compared": "{0} is not compared with {rivals}, because they share fewer than "
        f"{MIN_SHARED} samples.",
        "level": _tie_sentence,
        "first": "{0} has the best {statistic}.",
        "alone": _alone_sentence,
        "gain": _gain_sentence,
        "judges-disagree": "The judges disagree on {0} − {1}: {favourites}.",
        "counted-as": "{reason}",
        "detectable-difference": "{limit}",
    }
)
