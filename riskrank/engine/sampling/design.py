"""The sampling design: which scores belong to which sample, and which samples are drawn together.

Method §1. A sample (prompt, patient, data set) may hold several draws of a model; they are clustered,
so the unit of resampling is the sample. In a paired design all models share the samples. Samples may belong
together in turn (questions about one document): then the unit of resampling is that larger cluster, and the
number of independent observations is the number of clusters. A suite of tasks weighs its scores by task and
draws within tasks, or draws the tasks (method §8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine.sampling.degrees_of_freedom import kish
from riskrank.engine.sampling.steps import places_of, proper_weights
from riskrank.engine.sampling.strata import UNTOLD, Strata, TaskDesign, nested, unit_numbers
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError

# Below this many samples a test would "find" differences nobody should believe; up to the second
# number the result stands with a warning (method §4).
FEWEST_SAMPLES = 10
FEW_SAMPLES = 30

# Scores of people beside a judge's, of all samples and in the worst share of them (method §12).
FEWEST_LABELS = 20

# Fewer levels of a source of noise are no sample of others like them.
FEWEST_LEVELS = 3


@dataclass(frozen=True)
class ClusteredScores:
    """One score column of every model, with the samples the scores belong to.

    Attributes
    ----------
    values : tuple of k ndarrays, shapes (n_i,)
        Scores, larger is better, grouped by cluster and within it by sample.
    clusters : tuple of k ndarrays of int, shapes (n_i,)
        Unit of resampling of each score: non-decreasing numbers 0, 1, ... without gaps within a model.
    paired : bool
        Whether cluster c, and sample s, are the same for every model.
    samples : tuple of k ndarrays of int, shapes (n_i,)
        Sample of each score, likewise non-decreasing and without gaps; the clusters where each is one sample.
    strata : Strata
        Tasks of the clusters; one where nobody told them apart.
    """

    values: tuple[Floats, ...]
    clusters: tuple[Integers, ...]
    paired: bool
    samples: tuple[Integers, ...] = ()
    strata: Strata = UNTOLD

    def __post_init__(self) -> None:
        if not self.samples:
            object.__setattr__(self, "samples", self.clusters)
        if not self.strata.tasks:
            object.__setattr__(self, "strata", Strata.one(self.clusters))

    @classmethod
    def build(
        cls,
        values: Sequence[ArrayLike],
        clusters: Sequence[ArrayLike] | None = None,
        *,
        samples: Sequence[ArrayLike] | None = None,
        paired: bool = True,
        tasks: TaskDesign | None = None,
    ) -> ClusteredScores:
        """Validate scores and renumber their samples and clusters.

        Parameters
        ----------
        values : sequence of k array_like, shapes (n_i,)
            Scores of each model, larger is better.
        clusters : sequence of k array_like of int, shapes (n_i,), optional
            Cluster of each score, the unit of resampling; by default every score is one of its own, and in
            a paired design equal positions are equal clusters.
        samples : sequence of k array_like of int, shapes (n_i,), optional
            Sample of each score, where a cluster may hold several; by default the cluster.
        paired : bool
            Whether all models were scored on the same samples.
        tasks : TaskDesign, optional
            The task of each score, and how tasks weigh.

        Raises
        ------
        InputError
            If models of a paired design do not share their samples.
        """
        arrays = tuple(np.asarray(value, dtype=np.float64) for value in values)
        given = [np.arange(array.size) for array in arrays] if clusters is None else clusters
        units = [np.asarray(cluster) for cluster in given]
        tasks = None if tasks is None else tasks.present()
        if tasks is not None:
            if tasks.random and samples is None:
                samples = units
            units = tasks.labels(units)
        if samples is not None:
            found = cls(*nested(arrays, units, [np.asarray(sample) for sample in samples], paired))
        else:
            sortings = [np.argsort(unit, kind="stable") for unit in units]
            ordered = tuple(array[sorting] for array, sorting in zip(arrays, sortings, strict=True))
            found = cls(ordered, unit_numbers(units, sortings, paired), paired)
        return found if tasks is None else replace(found, strata=tasks.strata(units))

    def of_models(self, models: Sequence[int]) -> ClusteredScores:
        """The same design of some models alone."""

        def chosen(arrays: tuple[NDArray, ...]) -> tuple[NDArray, ...]:
            return tuple(arrays[model] for model in models)

        return replace(
            self,
            values=chosen(self.values),
            clusters=chosen(self.clusters),
            samples=chosen(self.samples),
            strata=self.strata.of_models(models),
        )

    @property
    def drawn_together(self) -> bool:
        """Whether a resample draws the same units for every model: their samples, or the tasks of a suite."""
        return self.paired or self.strata.random

    @property
    def drawn_tasks(self) -> int:
        """How many tasks are drawn whole; 0 where samples are."""
        return self.strata.tasks if self.strata.random else 0

    @cached_property
    def plain(self) -> bool:
        """Whether all scores of a model weigh the same in every resample: nobody needs to weigh them."""
        return self.strata.plain(self.clusters)

    @cached_property
    def shares(self) -> tuple[Floats, ...]:
        """What each score counts in its model's mean, of sum 1; with a judge some are negative."""
        return tuple(self.strata.shares(*both) for both in enumerate(self.clusters))

    @cached_property
    def weights(self) -> tuple[Floats, ...]:
        """Weight of each score in its model's distribution, of sum 1, none negative."""
        if not self.judged:
            return self.shares
        return tuple(proper_weights(*both) for both in zip(self.values, self.shares, strict=True))

    @property
    def nested(self) -> bool:
        """Whether clusters hold several samples."""
        return any(own[-1] != cluster[-1] for own, cluster in zip(self.samples, self.clusters, strict=True))

    @property
    def judged(self) -> bool:
        """Whether a judge scored all samples, and people some (method §12)."""
        return bool(self.strata.signed)

    @cached_property
    def even(self) -> bool:
        """Whether every resample holds equally many scores of the same weight; others are weighed."""
        return self.plain and all(np.ptp(np.bincount(own)) == 0 for own in self.clusters)

    @cached_property
    def places(self) -> tuple[list[Floats], list[Integers]]:
        """As of :func:`riskrank.engine.sampling.steps.places_of`."""
        return places_of(self.values, self.cluster_counts)

    @property
    def models(self) -> int:
        """Number of models, k."""
        return len(self.values)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of scores of each model."""
        return tuple(value.size for value in self.values)

    @property
    def cluster_counts(self) -> tuple[int, ...]:
        """Number of clusters of each model."""
        return tuple(int(cluster[-1]) + 1 for cluster in self.clusters)

    @cached_property
    def independent(self) -> Floats:
        """Clusters of equal size that tell as much of each model's mean, shape (k,).

        Kish's number (Σm)²/Σm² of the clusters' sizes m, or of their weights: their count where all are of
        one size, little more than 1 where one holds most of the scores (method §4, rule 1). With a judge
        those that people scored.
        """
        if self.judged:
            return np.full(self.models, float(self.labelled))
        if self.plain:
            return np.array([kish(cluster) for cluster in self.clusters])
        sums = [np.bincount(*both) for both in zip(self.clusters, self.weights, strict=True)]
        return np.array([float(own.sum() ** 2 / (own**2).sum()) for own in sums])

    @property
    def labelled(self) -> int:
        """Samples that people scored, where a judge scored all (method §12); 0 of other scores."""
        return int(self.strata.counts(0)[0]) if self.judged else 0

    @property
    def effective_size(self) -> int:
        """Independent clusters behind the least-sampled model, in whole ones."""
        # Weights of sum 1 are sums of rounded numbers: 11.999… tasks are 12.
        return int(self.independent.min() + 1e-9)

    @property
    def lopsided(self) -> bool:
        """Whether few large clusters hold so much that half of all clusters, or more, hardly count."""
        return bool(np.any(self.independent < 0.5 * np.array(self.cluster_counts)))

    @property
    def unit(self) -> str:
        """What is resampled, and counts as independent, in words."""
        if self.strata.random:
            return "tasks"
        if self.judged:
            return "labels"
        return "clusters of samples" if self.nested else "samples"

    def draws_per_sample(self) -> int | None:
        """Scores a unit of resampling holds if that number is the same for all and every model, else None."""
        sizes = {count for cluster in self.clusters for count in np.unique(np.bincount(cluster)).tolist()}
        return sizes.pop() if len(sizes) == 1 else None

    def sample_means(self) -> tuple[Floats, ...]:
        """Mean of the draws of each sample, per model: shapes (number of samples,)."""
        means = []
        for value, sample in zip(self.values, self.samples, strict=True):
            # Scaled by a power of two, the sum of a few draws near the largest double does not overflow.
            exponent = int(np.frexp(np.abs(value).max())[1])
            sums = np.bincount(sample, np.ldexp(value, -exponent))
            means.append(np.ldexp(sums / np.bincount(sample), exponent))
        return tuple(means)

    def sample_clusters(self) -> tuple[Integers, ...]:
        """Cluster of each sample, per model."""
        begins = [np.append(True, sample[1:] != sample[:-1]) for sample in self.samples]
        return tuple(own[begin] for own, begin in zip(self.clusters, begins, strict=True))


def require_testable(scores: ClusteredScores) -> None:
    """Refuse a test on fewer independent samples, or clusters of them, than can carry one.

    Raises
    ------
    InputError
        If a model has fewer than 10; of a suite, if a task has fewer than 2, or fewer than 6 tasks are drawn.
    """
    if scores.strata.several:
        scores.strata.require_testable()
    if scores.strata.random:
        return
    if scores.effective_size < FEWEST_SAMPLES:
        raise InputError(
            f"a dominance test needs at least {FEWEST_SAMPLES} {scores.unit} a model",
            found=found_samples(scores),
            hint="score more samples: of so few nothing says which model is better",
        )


def found_samples(scores: ClusteredScores) -> str:
    """Independent samples of the least-sampled model, and why they are fewer than there are clusters."""
    count, worth = min(scores.cluster_counts), scores.effective_size
    if worth >= FEWEST_SAMPLES or count < FEWEST_SAMPLES:
        return f"{count}"
    return f"{count} of such unequal sizes that they tell no more than {worth} equal ones"


def weak_sizes(scores: ClusteredScores, worth: int | None = None) -> dict[str, str]:
    """What few independent samples, or a few large clusters among many, mean for all that rests on them.

    At most one text each of ``few`` and of ``worth``; samples in order are `worth` fewer than they are.
    """
    count, unit = min(scores.cluster_counts), scores.unit
    worth = scores.effective_size if worth is None else worth
    told = {}
    if worth < FEW_SAMPLES:
        many = f"only {count} {unit}" + f", worth {worth} independent ones" * (count > worth)
        if scores.strata.several and not scores.judged and count > worth:
            many = f"{count} {unit}, weighed by task, tell no more than {worth} of equal weight"
        told["few"] = f"{many}: verdicts below {FEW_SAMPLES} {unit} are fragile"
    if scores.lopsided and not scores.strata.several:
        uneven = f"{count} {unit} of very different sizes tell no more than {worth} of equal size"
        told["worth"] = f"{uneven}: the largest decide"
    return told
