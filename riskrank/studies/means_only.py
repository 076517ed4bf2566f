"""Comparisons of means for tables that allow nothing else: folds, or several noise sources (method §13)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine import special
from riskrank.engine.evidence.crossed import Components, crossed_difference
from riskrank.engine.evidence.mean_differences import (
    MIN_SHARED,
    PairDifferences,
    additive_means,
    connected_groups,
    cyclic_wins,
    shared_differences,
)
from riskrank.engine.evidence.student import Student, fold_differences, weighted_mean
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.engine.sampling.strata import MIN_TASKS
from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, listing, option
from riskrank.options.interfaces import join_commas
from riskrank.scores.table.columns import option_columns
from riskrank.scores.table.designs import ITEM, STRENGTH, NoiseDesign
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.wording import count_range, counted, format_fixed, join_names

FEWEST_FOLDS = 3
# Largest number of models whose strengths are resampled; with more models, Student's t is used.
_MAX_RESAMPLED = 40


@dataclass(frozen=True, eq=False)
class MeanColumn:
    """Means of one metric for k models, and their differences.

    Attributes
    ----------
    name : str
        Name of the metric.
    means : ndarray, shape (k,)
        Means, larger is better.
    differences : Student
        Differences of all pairs, first minus second, shape (k, k). NaN if two models share too few samples.
    effective_size : float
        Effective sample size; with several sources of noise, the number of items.
    statistic : str
        Name of the statistic, such as ``mean``.
    named : bool
        True if the user named the statistic.
    relative_sign : float
        0 for plain differences. If the differences are those of logarithms, −1 for costs and 1 otherwise.
    unit : str
        What more of would make the differences more precise, such as ``samples``; empty if it is not known.
    """

    name: str
    means: Floats
    differences: Student
    effective_size: float
    statistic: str = "mean"
    named: bool = False
    relative_sign: float = 0.0
    unit: str = ""

    @property
    def win_rates(self) -> Floats | None:
        """Probabilities of winning against a model of average strength; None without strengths."""
        return special.expit(self.means) if self.name == STRENGTH else None

    def to_display_units(self, differences: ArrayLike) -> Floats:
        """Convert an array of differences for display, keeping its shape.

        Differences of logarithms become relative differences.
        """
        values = np.asarray(differences, dtype=np.float64)
        sign = self.relative_sign
        return sign * np.expm1(sign * values) if sign else values

    @property
    def compared_pairs(self) -> Booleans:
        """Mask of the pairs of models that share enough samples, shape (k, k)."""
        return np.isfinite(self.differences.value) & ~np.eye(len(self.means), dtype=bool)

    def adjusted_p_values(self, family: Family) -> Floats:
        """Return adjusted one-sided p-values, shape (k, k), for "the mean of i exceeds that of j"."""
        return family.adjust_pairs(self.differences.p_above(), self.compared_pairs)


def mean_column(table: ScoreTable, metric: int) -> MeanColumn | None:
    """Return all models' means of a metric and their differences, if the table allows only such comparisons.

    Otherwise, the result is None. `metric` is an index.

    Raises
    ------
    InputError
        If there are too few folds to estimate their variance.
    """
    if table.published is not None:
        means, errors = np.concatenate(table.column(metric)), table.published
        between = np.hypot(errors[:, None], errors) * ~np.eye(len(errors), dtype=bool)
        pairs = Student(means[:, None] - means, between, np.full_like(between, np.inf), test="normal tests")
        return MeanColumn(table.metrics[metric].name, means, pairs, np.inf, "score", named=True)
    if table.noise is not None:
        column = _noise_column(table.noise, metric, table.metrics[metric].name)
        return replace(column, unit=sample_unit(table))
    design = table.folds
    if design is None:
        return None
    values = np.array(table.column(metric))
    fewest = min(fold.count for fold in design.folds)
    many = len(design.folds) >= MIN_TASKS
    if fewest < FEWEST_FOLDS and not many:
        problem = f"{counted(fewest, 'fold')} of a data set are too few to estimate their variance"
        detail = f"{len(table.samples)} folds of {counted(len(design.folds), 'data set')}"
        hint = f"split into at least {FEWEST_FOLDS} folds, or use at least {MIN_TASKS} data sets"
        raise InputError(problem, found=detail, hint=hint)
    every = range(len(design.folds))
    data_set_means = np.stack([values[:, design.task_codes == i].mean(axis=1) for i in every], axis=1)
    means = data_set_means @ design.weights
    if many:
        estimates = weighted_mean(data_set_means[:, None] - data_set_means[None], design.weights)
        return MeanColumn(table.metrics[metric].name, means, estimates, float(1 / (design.weights**2).sum()))
    estimates = fold_differences(values, design.task_codes, design.folds, design.weights)
    effective_size = sum(fold.effective_size for fold in design.folds)
    return MeanColumn(table.metrics[metric].name, means, estimates, effective_size)


def require_common_order(table: ScoreTable, column: MeanColumn, family: Family) -> None:
    """Raise an error if the models cannot be ranked in one order (method §16).

    This is so if groups of models share too few samples, or if significant wins form a cycle.

    Raises
    ------
    InputError
        With the groups or the cycle in its message.
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
        problem = f"no ranking by the mean of {column.name}: the pairwise wins form a cycle"
        hint = "compare two models: " + option("models", join_commas(table.models[i] for i in cycle[0]))
        raise InputError(problem, found=listing(wins, 6), hint=hint)


def sample_unit(table: ScoreTable) -> str:
    """Return the plural noun for the samples of a table; empty if they are not the only source of noise."""
    if table.noise is None or not table.noise.samples_only:
        return ""
    named = option_columns(table.options)
    if table.metrics[0].name == STRENGTH and table.options.cluster:
        return f"values of {table.options.cluster}"
    return "tasks" if table.options.matrix is not None and "model" in named else "samples"


@dataclass(frozen=True)
class DesignNote:
    """Sentence about the effective sample size, and the numbers in it."""

    sentence: str
    figures: Mapping[str, float]


def design_note(table: ScoreTable) -> DesignNote:
    """Return a sentence on why only means are compared and on the effective sample size, with its numbers."""
    if table.published is not None:
        columns = join_names([*table.options.uncertainty])
        text = f"The published uncertainty ({columns}) is taken as independent normal errors of the models"
        return DesignNote(f"{text}: standard errors, or 95 % intervals.", {})
    if table.noise is not None:
        return _noise_note(table.noise, sample_unit(table))
    design = table.folds
    assert design is not None
    folds, sets = len(table.samples), len(design.folds)
    size = float(sets if sets >= MIN_TASKS else sum(fold.effective_size for fold in design.folds))
    data_sets = "one data set" if sets == 1 else f"{sets} data sets"
    few = format_fixed(math.floor(10 * size) / 10, 1)
    is_unknown = any(data_set.per_repeat is None for data_set in design.folds)
    unknown = f" ({option('folds', 'K')} sets the folds per repeat)" if is_unknown else ""
    text = (
        f"{folds:,} folds of {data_sets} share training rows, so the effective sample size is {few}{unknown}."
    )
    if sets >= MIN_TASKS:
        text = f"{folds:,} folds of {data_sets} count as {sets} samples, because folds share training rows."
    return DesignNote(text, {"folds": folds, "data_sets": sets, "effective_size": size})


def _noise_column(design: NoiseDesign, metric: int, name: str) -> MeanColumn:
    """Return the models' means over all rows, and the differences of means over rows that both models have.

    `metric` is the index and `name` the name of the metric.
    """
    values, factors = design.values[:, :, metric], [*design.factors.values()]
    k = len(values)
    pairs = np.triu_indices(k, 1)
    if name == STRENGTH and design.samples_only and k <= _MAX_RESAMPLED:
        resampled = PairDifferences.from_scores(ClusteredScores.build([*values], [factors[0]] * k))
        # Rounding errors must not order models of equal strength.
        means = np.round(values.mean(axis=1), 12) + 0.0
        return MeanColumn(name, means, resampled, float(resampled.df[pairs].min()) + 1)
    if design.samples_only:
        differences = shared_differences(values, factors[0])
        df = differences.df[pairs][np.isfinite(differences.df[pairs])]
        means = additive_means(values)
        return MeanColumn(name, means, differences, round(float(np.median(df)), 6) + 1 if df.size else 0.0)
    pair_estimates = np.zeros((3, k, k))
    pair_estimates[2] = 1.0
    for i, j in np.transpose(pairs).tolist():
        difference, shared = design.differences(i, j, metric)
        result = crossed_difference(difference, [levels[shared] for levels in factors])
        pair_estimates[:, i, j] = result.value, result.error, result.df
        pair_estimates[:, j, i] = -result.value, result.error, result.df
    return MeanColumn(name, np.nanmean(values, axis=1), Student(*pair_estimates), len(np.unique(factors[0])))


def difference_components(table: ScoreTable, pair: tuple[int, int], metric: int = 0) -> Components:
    """Estimate the variance components of the difference between the means of two models.

    `pair` and `metric` are indices.
    """
    assert table.noise is not None
    values, shared = table.noise.differences(*pair, metric)
    return Components.estimate(values, {name: levels[shared] for name, levels in table.noise.factors.items()})


def judge_differences(table: ScoreTable, pair: tuple[int, int]) -> dict[str, tuple[float, float]]:
    """Return each judge's mean difference between two models, and its two-sided p-value, by judge.

    `pair` has the indices of the models. Judges who scored too few samples of both models are omitted.
    """
    results = {}
    for judge, scores in table.judge_scores.items():
        result = shared_differences(scores[[*pair]], np.arange(scores.shape[1]))
        above = result.p_above()
        if np.isfinite(result.value[0, 1]):
            p_value = min(2 * float(min(above[0, 1], above[1, 0])), 1.0)
            results[judge] = float(result.value[0, 1]), p_value
    return results


def _noise_note(design: NoiseDesign, units: str) -> DesignNote:
    """Return a sentence about the sources of noise, with its numbers.

    `units` is the plural noun for samples.
    """
    if design.samples_only:
        counts = design.counts()[np.triu_indices(len(design.values), 1)]
        counts = counts[counts >= min(MIN_SHARED, counts.max())]
        least, most, total = int(counts.min()), int(counts.max()), design.values.shape[1]
        figures = {"samples": total, "shared_low": least, "shared_high": most}
        if least == total:
            text = f"The results generalise from these {total:,} {units} to similar ones."
            return DesignNote(text, figures)
        return DesignNote(
            f"Each pair is compared on the {units} both have, {count_range((least, most))} of {total:,}. "
            "Missing scores must not depend on how well a model did.",
            figures,
        )
    noise = [f"{n} values of {name}" for name, n in design.levels.items() if name not in design.fixed_sources]
    items = len(np.unique(design.factors[ITEM]))
    text = f"{items:,} items" + (f", {join_names(noise)}, each a random sample" if noise else "")
    if few := design.sources_with_few_levels:
        text += f"; few values of {join_names(few)}"
    fixed = [f"these {design.levels[name]} values of {name}" for name in design.fixed_sources]
    text = f"{text}; valid only for {join_names(fixed)}." if fixed else f"{text}."
    return DesignNote(text, {ITEM: items, **design.levels})


def median_detectable(column: MeanColumn, claims: int, family: Family) -> float:
    """Return the minimum detectable difference (power 80 %), as the median over pairs of models.

    `claims` is the number of simultaneous tests.
    """
    visible = column.differences.detectable_difference(family.interval_level(claims))
    return float(np.nanmedian(visible[np.triu_indices(len(column.means), 1)]))
