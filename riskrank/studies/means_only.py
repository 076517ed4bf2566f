"""Tables that say nothing of single samples, so that only means can be compared (method §13)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from riskrank.engine.evidence.crossed import Components, crossed_difference
from riskrank.engine.evidence.folds import fold_differences
from riskrank.engine.evidence.shared_tasks import FEWEST_SHARED, additive_means, shared_differences
from riskrank.engine.evidence.student import Student, weighted_mean
from riskrank.engine.family import Family
from riskrank.engine.sampling.strata import FEWEST_TASKS
from riskrank.engine.types import Booleans, Floats
from riskrank.errors import InputError, option
from riskrank.scores.table.designs import ITEM, NoiseDesign
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.wording import counted, names, rounded, span

FEWEST_FOLDS = 3


@dataclass(frozen=True, eq=False)
class MeanColumn:
    """What there is to say of the means of a metric.

    Attributes
    ----------
    name : str
    means : ndarray, shape (k,)
        Larger is better.
    differences : Student
        Of all pairs, first minus second, shape (k, k); NaN where two models share too few samples.
    worth : float
        Independent samples that would tell as much; beside other sources of noise the items.
    statistic : str
        Of the cost per success differences are those of logarithms.
    """

    name: str
    means: Floats
    differences: Student
    worth: float
    statistic: str = "mean"

    def told(self, differences: ArrayLike) -> Floats:
        """Differences as they are told: those of logarithms as shares of the second."""
        apart = np.asarray(differences, dtype=np.float64)
        return apart if self.statistic == "mean" else -np.expm1(-apart)

    @property
    def compared(self) -> Booleans:
        """Pairs that are compared, shape (k, k)."""
        return np.isfinite(self.differences.value) & ~np.eye(len(self.means), dtype=bool)

    def p_pairs(self, family: Family) -> Floats:
        """One-sided p-values of "the mean of i lies above that of j", adjusted over all that are compared."""
        return family.adjusted(self.differences.p_above(), self.compared)


def mean_column(table: ScoreTable, at: int) -> MeanColumn | None:
    """The means of a metric of a table of which only means can be compared; None of other tables.

    Raises
    ------
    InputError
        If there are too few folds to tell how much they vary.
    """
    if table.noise is not None:
        return _of_noise(table.noise, at, table.metrics[at].name)
    design = table.folds
    if design is None:
        return None
    values = np.array(table.column(at))
    fewest = min(one.count for one in design.folds)
    many = len(design.folds) >= FEWEST_TASKS
    if fewest < FEWEST_FOLDS and not many:
        raise InputError(
            f"{counted(fewest, 'fold')} of a data set: too few to tell how much they vary",
            found=f"{len(table.samples)} folds of {counted(len(design.folds), 'data set')}",
            hint=f"split into {FEWEST_FOLDS} folds or more, or add data sets up to {FEWEST_TASKS}",
        )
    every = range(len(design.folds))
    of_data = np.stack([values[:, design.of_sample == one].mean(axis=1) for one in every], axis=1)
    means = of_data @ design.weights
    if many:
        found = weighted_mean(of_data[:, None] - of_data[None], design.weights)
        return MeanColumn(table.metrics[at].name, means, found, float(1 / (design.weights**2).sum()))
    found = fold_differences(values, design.of_sample, design.folds, design.weights)
    return MeanColumn(table.metrics[at].name, means, found, sum(one.worth for one in design.folds))


@dataclass(frozen=True)
class CountedAs:
    """What the rows of a table count as of which only means can be compared: a sentence and its figures."""

    sentence: str
    figures: Mapping[str, float]


def why_means(table: ScoreTable) -> CountedAs:
    """Why only means are compared, and what the rows count as."""
    if table.noise is not None:
        return _sources(table.noise)
    design = table.folds
    assert design is not None
    folds, sets = len(table.samples), len(design.folds)
    worth = float(sets if sets >= FEWEST_TASKS else sum(one.worth for one in design.folds))
    of = "one data set" if sets == 1 else f"{sets} data sets"
    few = rounded(math.floor(10 * worth) / 10, 1)
    unknown = f" ({option('folds', 'K')} says how many a repeat has)" if design.unknown else ""
    told = f"{folds:,} folds of {of} share their training rows: counted as {few} samples{unknown}."
    if sets >= FEWEST_TASKS:
        told = f"{folds:,} folds of {of} count as {sets}: those of one share their training rows."
    return CountedAs(told, {"folds": folds, "data_sets": sets, "worth": worth})


def _of_noise(design: NoiseDesign, at: int, name: str) -> MeanColumn:
    """Means over all rows, and differences over those that both models have."""
    values, factors = design.values[:, :, at], [*design.factors.values()]
    k = len(values)
    pairs = np.triu_indices(k, 1)
    if design.shared:
        found = shared_differences(values, factors[0])
        df = found.df[pairs][np.isfinite(found.df[pairs])]
        return MeanColumn(name, additive_means(values), found, float(np.median(df)) + 1 if df.size else 0.0)
    of_pairs = np.zeros((3, k, k))
    of_pairs[2] = 1.0
    for i, j in np.transpose(pairs).tolist():
        apart, shared = design.differences(i, j, at)
        one = crossed_difference(apart, [own[shared] for own in factors])
        of_pairs[:, i, j] = one.value, one.error, one.df
        of_pairs[:, j, i] = -one.value, one.error, one.df
    return MeanColumn(name, np.nanmean(values, axis=1), Student(*of_pairs), len(np.unique(factors[0])))


def components_of(table: ScoreTable, pair: tuple[int, int], at: int = 0) -> Components:
    """Where the variance of a difference of means of a metric comes from."""
    assert table.noise is not None
    apart, shared = table.noise.differences(*pair, at)
    return Components.of(apart, {name: own[shared] for name, own in table.noise.factors.items()})


def _sources(design: NoiseDesign) -> CountedAs:
    """The sources of noise, and those of few levels."""
    if design.shared:
        counts = design.counts()[np.triu_indices(len(design.values), 1)]
        counts = counts[counts >= min(FEWEST_SHARED, counts.max())]
        least, most, all_of = int(counts.min()), int(counts.max()), design.values.shape[1]
        figures = {"samples": all_of, "shared_low": least, "shared_high": most}
        if least == all_of:
            return CountedAs(f"These {all_of:,} samples are taken as drawn from others like them.", figures)
        return CountedAs(
            f"Each pair is compared on the samples both have, {span((least, most))} of {all_of:,}: what "
            "lacks must not depend on how well a model did.",
            figures,
        )
    drawn = [f"{count} of {name}" for name, count in design.levels.items() if name not in design.fixed]
    items = len(np.unique(design.factors[ITEM]))
    told = f"{items:,} items" + (f", {names(drawn)}, each a sample of others like them" if drawn else "")
    told += f"; few of {names(design.few)}" if design.few else ""
    fixed = [f"these {design.levels[name]} of {name}" for name in design.fixed]
    told = f"{told}; speaks of {names(fixed)} alone." if fixed else f"{told}."
    return CountedAs(told, {ITEM: items, **design.levels})


def visible_of(column: MeanColumn, claims: int, family: Family) -> float:
    """The smallest difference that the median pair could have shown, four times out of five."""
    apart = column.differences.visible(family.level(claims))
    return float(np.nanmedian(apart[np.triu_indices(len(column.means), 1)]))
