"""Ranking by the mean on one metric, with tests of all pairs, findings and sentences."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from riskrank.engine.dominance.ranking import Ranking, rank_by_ratio
from riskrank.engine.evidence.shared_tasks import MIN_SHARED, connected_groups, cyclic_wins, topological_order
from riskrank.engine.family import Answer, Family
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, listing, option
from riskrank.options.interfaces import join_commas
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.detectable_difference import detectable_sentence
from riskrank.studies.findings import Finding, Sentences, untested_finding, vote_findings
from riskrank.studies.means_only import DesignNote, MeanColumn, median_detectable
from riskrank.studies.metric_means import MetricMeans, assumed_costs, pair_figures
from riskrank.studies.wording import join_names, others_phrase


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
    p_adjusted : ndarray, shape (k, k), or None
        Adjusted p-values for the claim that the mean of i exceeds that of j, or None if nothing was tested.
    low, high : ndarray, shape (k,), or None
        Limits of simultaneous intervals of the differences from the first model, larger is better.
    detectable : float or None
        Minimum detectable difference (power 80 %).
    """

    column: MeanColumn
    shared: Integers | None
    means: MetricMeans
    ranking: Ranking
    p_adjusted: Floats | None
    low: Floats | None
    high: Floats | None
    detectable: float | None

    def lead_figures(self, first: int, second: int) -> dict[str, float]:
        """Return the means of two models, and their difference with its interval."""
        sign = (
            -1.0 if self.means.lower_is_better and self.column.statistic == "mean" else 1.0
        )  # in the file's units
        figures = {
            "difference": sign
            * float(self.column.to_display_units(self.column.differences.value)[first, second])
        }
        if self.low is not None and self.high is not None:
            interval = sorted(-sign * float(limits[second]) for limits in (self.low, self.high))
            figures |= dict(zip(("low", "high"), interval, strict=True))
        if self.shared is not None:
            figures["shared"] = int(self.shared[first, second])
        return figures | pair_figures([self.means], first, second)

    @property
    def label(self) -> str:
        """Name of the ranked statistic, such as ``mean accuracy``."""
        if self.column.win_rates is not None:
            return "Bradley–Terry strength"
        return f"{self.column.statistic.replace('-', ' ')} {self.column.name}"

    @property
    def plural_label(self) -> str:
        """Plural name of the ranked statistic, such as ``means of accuracy``."""
        if self.column.win_rates is not None:
            return "Bradley–Terry strengths"
        words = "means" if self.column.statistic == "mean" else "costs per success"
        return f"{words} of {self.column.name}"

    @property
    def differences_from_first(self) -> Floats:
        """Differences from the first model, larger is better, shape (k,)."""
        return self.column.to_display_units(self.column.differences.value[:, self.first])

    @property
    def first(self) -> int:
        """Index of the model with the best mean."""
        return int(self.ranking.order[0])

    def beaten(self, family: Family) -> list[int]:
        """Return the models whose mean is significantly worse than the first model's, in rank order."""
        if self.p_adjusted is None:
            return []
        significant = family.significant(self.p_adjusted[self.first])
        return [i for i in self.ranking.order[1:].tolist() if significant[i]]

    @property
    def not_compared_with_first(self) -> list[int]:
        """Models that have too few samples in common with the first model."""
        return [i for i in self.ranking.order[1:].tolist() if not self.column.compared_pairs[self.first, i]]


def require_common_order(table: ScoreTable, column: MeanColumn, family: Family) -> None:
    """Check that the models can be ranked in one order (method §16).

    This is impossible if groups of models share too few samples, or if significant wins form a cycle.

    Raises
    ------
    InputError
        If there is no such order; the message names the groups or the cycle.
    """
    groups = [[table.models[i] for i in group] for group in connected_groups(column.compared_pairs)]
    if len(groups) > 1:
        raise InputError(
            f"models cannot be ranked across groups that share fewer than {MIN_SHARED} samples",
            found=f"{len(groups)} groups: {'; '.join(listing(group, 4) for group in groups[:4])}",
            hint="rank one group" + (f": {option('models', ','.join(groups[0]))}" if groups[0][1:] else ""),
            suggestions=[
                (option("models", ",".join(map(join_commas, group))), {"models": tuple(group)})
                for group in groups
                if group[1:]
            ],
        )
    cycle = cyclic_wins(family.significant(column.adjusted_p_values(family)))
    if cycle:
        wins = [f"{table.models[i]} is significantly better than {table.models[j]}" for i, j in cycle]
        raise InputError(
            f"no ranking by the mean of {column.name}: the pairwise wins form a cycle",
            found=listing(wins, 6),
            hint="compare two models: " + option("models", join_commas(table.models[i] for i in cycle[0])),
        )


def rank_by_metric(
    table: ScoreTable, metric: int, column: MeanColumn, means: MetricMeans, family: Family, *, tested: bool
) -> MeanRanking:
    """Rank models by their mean on a metric, and test all pairs.

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
    require_common_order(table, column, family)
    shared = table.noise.counts(metric) if table.noise is not None and table.noise.samples_only else None
    k, pairs = len(column.means), int(column.compared_pairs.sum()) // 2
    p_adjusted = column.adjusted_p_values(family) if tested else None
    wins: Booleans = np.zeros((k, k), dtype=bool) if p_adjusted is None else family.significant(p_adjusted)
    score = -column.means
    if shared is not None:
        score = np.argsort(topological_order(wins, column.means)).astype(np.float64)
    ranking = replace(rank_by_ratio(wins, score, tested=tested), score=column.means)
    if not tested:
        return MeanRanking(column, shared, means, ranking, None, None, None, None)
    first = int(ranking.order[0])
    low, high = (
        column.to_display_units(limit[:, first])
        for limit in column.differences.interval(family.interval_level(pairs))
    )
    visible = median_detectable(column, pairs, family)
    return MeanRanking(column, shared, means, ranking, p_adjusted, low, high, visible)


@dataclass(frozen=True, eq=False)
class MeanCase:
    """Results from which the findings and sentences of a ranking by means are derived."""

    table: ScoreTable
    rankings: Sequence[MeanRanking]
    family: Family
    reason: DesignNote

    @property
    def models(self) -> Sequence[str]:
        """Names of the models."""
        return self.table.models

    def ranking(self, metric: str) -> MeanRanking:
        """Return the ranking by a metric."""
        return next(result for result in self.rankings if result.column.name == metric)


def mean_findings(case: MeanCase) -> Iterator[Finding]:
    """Yield the findings: each metric's leader and lead, sample size, and minimum detectable difference."""
    for result in case.rankings:
        beaten, excluded, on = result.beaten(case.family), result.not_compared_with_first, result.column.name
        compared = named = tuple(i for i in result.ranking.order.tolist() if i not in excluded)
        kind, answer, figures = "first", None, result.lead_figures(*compared[:2])
        if result.p_adjusted is not None and len(beaten) == len(compared) - 1:
            kind, answer = "ahead-of-those-compared" if excluded else "ahead", Answer.SIGNIFICANT
        elif result.p_adjusted is not None:
            kind, answer, named = "level", Answer.UNDECIDED, tuple(i for i in compared if i not in beaten)
        yield Finding(kind, named, on=on, figures=figures, answer=answer)
        if len(case.rankings) == 1:
            yield Finding("gain", compared[:2], on=on, figures=figures)
        if excluded:
            fewest = {"fewest": MIN_SHARED}
            yield Finding("not-compared", (result.first, *excluded), on=on, figures=fewest)
    yield from untested_finding(case.rankings[0].p_adjusted is not None)
    yield from vote_findings(case.table)
    yield Finding(
        "counted-as",
        figures={**case.reason.figures, "effective_size": case.rankings[0].column.effective_size},
    )
    if len(case.rankings) == 1 and case.rankings[0].detectable is not None:
        yield Finding("detectable-difference", figures={"difference": case.rankings[0].detectable})


def _ahead_sentence(finding: Finding, case: MeanCase) -> str:
    """Return a sentence that recommends a leader whose mean is significantly better than all others."""
    label, (first, *rivals) = case.ranking(finding.on).label, (case.models[i] for i in finding.models)
    if assumed_costs([result.means for result in case.rankings]):
        return f"{first} has a significantly better {label} than {others_phrase(rivals)}."
    return f"Ship {first}: its {label} is significantly better than that of {others_phrase(rivals)}."


def _partly_ahead_sentence(finding: Finding, case: MeanCase) -> str:
    """Return a sentence that describes a leader that was not compared with all other models."""
    first, *rivals = (case.models[i] for i in finding.models)
    better = f"{first} has a significantly better {case.ranking(finding.on).label} than {join_names(rivals)}"
    return f"{better}, but was not compared with all others: do not ship it on this result alone."


def _not_compared_sentence(finding: Finding, case: MeanCase) -> str:
    """Return a sentence that names the models that share too few samples with the leader."""
    first, *rivals = (case.models[i] for i in finding.models)
    reason = f"they share fewer than {MIN_SHARED} samples"
    return f"{first} is not compared with {listing(rivals, 4)}, because {reason}."


def _tie_sentence(finding: Finding, case: MeanCase) -> str:
    """Return a sentence that names the models whose means do not differ significantly."""
    tied_models, result = [case.models[i] for i in finding.models], case.ranking(finding.on)
    beats = len(result.beaten(case.family))
    k = len(tied_models) + beats
    suffix = f"; {tied_models[0]} is significantly better than {beats} of {k - 1} others" if beats else ""
    if len(tied_models) == k and k > 2:
        return (
            f"No significant difference. {tied_models[0]} has the best {result.label}, but the tests cannot "
            f"separate it from the other {k - 1} models."
        )
    tied = join_names(tied_models).replace(" and ", " or ")
    return f"{tied}: no test separates their {result.plural_label}{suffix}."


def _first_sentence(finding: Finding, case: MeanCase) -> str:
    """Return a sentence that names the model with the best mean."""
    return f"{case.models[finding.models[0]]} has the best {case.ranking(finding.on).label}."


def _gain_sentence(finding: Finding, case: MeanCase) -> str:
    """Return a sentence that compares the means of the leader and the runner-up."""
    result, (first, second) = case.ranking(finding.on), finding.models
    span, figures = "", finding.figures
    if "low" in figures:
        interval = result.means.format_interval(figures["low"], figures["high"])
        share_text = f" (relative extra cost of {case.models[second]}: {interval})"
        span = f" (difference {interval})" if result.column.statistic == "mean" else share_text
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


SENTENCES: Sentences[MeanCase] = Sentences(
    {
        "ahead": _ahead_sentence,
        "ahead-of-those-compared": _partly_ahead_sentence,
        "not-compared": _not_compared_sentence,
        "level": _tie_sentence,
        "first": _first_sentence,
        "gain": _gain_sentence,
        "counted-as": lambda _, case: case.reason.sentence,
        "detectable-difference": lambda finding, case: detectable_sentence(
            finding.figures["difference"], case.rankings[0].means.is_proportion
        ),
    }
)
"""Sentence of each kind of finding on a ranking by means."""
