"""Sampling design: the sample and the cluster that each score belongs to (method §1).

A sample (prompt, patient, data set) may have several scores per model, for example from repeated runs. These
are clustered, so the resampling unit is the sample. In a paired design all models share the samples. Samples
may in turn form clusters, such as questions about the same document. Then the resampling unit is the larger
cluster, and the number of independent observations is the number of clusters. In a suite of tasks, scores are
weighted by task. Either samples are resampled within tasks, or tasks are resampled as clusters (method §8).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from riskrank.engine.sampling.degrees_of_freedom import kish_size
from riskrank.engine.sampling.steps import nonnegative_weights, values_and_ranks
from riskrank.engine.sampling.strata import NO_STRATA, Strata, TaskDesign, number_labels, sort_nested
from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, option

# Smallest number of samples for an exact test of means, for other tests, and for a test without a warning
# (method §4).
MIN_EXACT_SAMPLES = 6
MIN_SAMPLES = 10
FEW_SAMPLES = 30

# Smallest number of human labels, in total and in the worst share of the samples (method §12).
MIN_LABELS = 20

# Smallest number of levels of a random factor.
MIN_LEVELS = 3


@dataclass(frozen=True)
class ClusteredScores:
    """Scores of k models on one metric, with the sample and cluster of each score.

    Attributes
    ----------
    values : tuple of k ndarrays, shapes (n_i,)
        Scores (larger is better), sorted by cluster and then by sample.
    clusters : tuple of k ndarrays of int, shapes (n_i,)
        Resampling unit of each score; for each model, non-decreasing integers from 0 without gaps.
    paired : bool
        True if models share clusters and samples: each number refers to the same one for all models.
    samples : tuple of k ndarrays of int, shapes (n_i,)
        Sample of each score, also non-decreasing and without gaps; by default equal to the clusters.
    strata : Strata
        Task of each cluster; by default a single task.
    """

    values: tuple[Floats, ...]
    clusters: tuple[Integers, ...]
    paired: bool
    samples: tuple[Integers, ...] = ()
    strata: Strata = NO_STRATA

    def __post_init__(self) -> None:
        """Use the clusters as samples, and a single task, if these are not given."""
        if not self.samples:
            object.__setattr__(self, "samples", self.clusters)
        if not self.strata.tasks:
            object.__setattr__(self, "strata", Strata.single(self.clusters))

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
        """Validate scores and number their samples and clusters.

        Parameters
        ----------
        values : sequence of k array_like, shapes (n_i,)
            Scores of each model, larger is better.
        clusters : sequence of k array_like of int, shapes (n_i,), optional
            Cluster of each score, the resampling unit. By default every score is a separate cluster; in a
            paired design, models share clusters by position.
        samples : sequence of k array_like of int, shapes (n_i,), optional
            Sample of each score, if clusters may contain several samples; by default the cluster.
        paired : bool
            True if all models were scored on the same samples.
        tasks : TaskDesign, optional
            Task of each score and weights of the tasks.

        Raises
        ------
        InputError
            If the models of a paired design have different samples.
        """
        arrays = tuple(np.asarray(value, dtype=np.float64) for value in values)
        labels = [np.arange(array.size) for array in arrays] if clusters is None else clusters
        units = [np.asarray(cluster) for cluster in labels]
        tasks = None if tasks is None else tasks.drop_empty()
        if tasks is not None:
            if tasks.random and samples is None:
                samples = units
            units = tasks.unit_labels(units)
        if samples is not None:
            scores = cls(*sort_nested(arrays, units, [np.asarray(sample) for sample in samples], paired))
        else:
            sortings = [np.argsort(unit, kind="stable") for unit in units]
            ordered = tuple(array[sorting] for array, sorting in zip(arrays, sortings, strict=True))
            scores = cls(ordered, number_labels(units, sortings, paired), paired)
        return scores if tasks is None else replace(scores, strata=tasks.strata(units))

    def select_models(self, models: Sequence[int]) -> ClusteredScores:
        """Return the scores of the models with the given indices, in that order."""
        return replace(
            self,
            values=tuple(self.values[model] for model in models),
            clusters=tuple(self.clusters[model] for model in models),
            samples=tuple(self.samples[model] for model in models),
            strata=self.strata.select_models(models),
        )

    @property
    def joint_resamples(self) -> bool:
        """True if each resample draws the same units for all models: paired samples, or resampled tasks."""
        return self.paired or self.strata.random

    @property
    def n_random_tasks(self) -> int:
        """Number of tasks if tasks are resampled at random, otherwise 0."""
        return self.strata.tasks if self.strata.random else 0

    @cached_property
    def unweighted(self) -> bool:
        """True if every drawn score of a model counts equally, so that no task weights are needed."""
        return self.strata.is_unweighted(self.clusters)

    @cached_property
    def mean_weights(self) -> tuple[Floats, ...]:
        """Weight of each score in the model's mean. The sum is 1; with a judge, some weights are negative."""
        return tuple(self.strata.mean_weights(*pair) for pair in enumerate(self.clusters))

    @cached_property
    def weights(self) -> tuple[Floats, ...]:
        """Non-negative weight of each score in the model's score distribution; the sum is 1."""
        if not self.judged:
            return self.mean_weights
        return tuple(nonnegative_weights(*pair) for pair in zip(self.values, self.mean_weights, strict=True))

    @property
    def has_nested_samples(self) -> bool:
        """True if clusters can contain several samples."""
        return any(a[-1] != b[-1] for a, b in zip(self.samples, self.clusters, strict=True))

    @property
    def judged(self) -> bool:
        """True if a judge scored all samples and humans labelled only some of them (method §12)."""
        return bool(self.strata.signed)

    @cached_property
    def balanced(self) -> bool:
        """True if every resample has equally many scores, all with the same weight."""
        return self.unweighted and all(np.ptp(np.bincount(cluster)) == 0 for cluster in self.clusters)

    @cached_property
    def values_and_ranks(self) -> tuple[list[Floats], list[Integers]]:
        """Each model's sorted scores, and the rank of every score, grouped by resampling unit.

        See :func:`riskrank.engine.sampling.steps.values_and_ranks`.
        """
        return values_and_ranks(self.values, self.cluster_counts)

    @cached_property
    def sorted_scores(self) -> tuple[Floats, NDArray[np.int32]] | None:
        """Sorted scores of each model, and the unit of each, shapes (k, n); None if sample sizes differ."""
        if len(set(zip(self.sizes, self.cluster_counts, strict=True))) > 1:
            return None
        values, units = np.array(self.values), np.array(self.clusters, dtype=np.int32)
        orders = np.argsort(values, axis=1, kind="stable")
        return np.take_along_axis(values, orders, axis=1), np.take_along_axis(units, orders, axis=1)

    @property
    def models(self) -> int:
        """Number of models, k."""
        return len(self.values)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of scores of each model, as a tuple of k integers."""
        return tuple(value.size for value in self.values)

    @property
    def cluster_counts(self) -> tuple[int, ...]:
        """Number of clusters of each model, as a tuple of k integers."""
        return tuple(int(cluster[-1]) + 1 for cluster in self.clusters)

    @cached_property
    def effective_sizes(self) -> Floats:
        """Effective number of independent clusters behind each model's mean, shape (k,).

        It is Kish's effective number (Σm)²/Σm² for cluster sizes (or weights) m. It equals the number of
        clusters if all have the same size, and is close to 1 if a single cluster holds most scores (method
        §4, rule 1). With a judge it is the number of samples with human labels.
        """
        if self.judged:
            return np.full(self.models, float(self.n_labelled))
        if self.unweighted:
            return np.array([kish_size(cluster) for cluster in self.clusters])
        sums = [np.bincount(*pair) for pair in zip(self.clusters, self.weights, strict=True)]
        return np.array([float(weights.sum() ** 2 / (weights**2).sum()) for weights in sums])

    @property
    def n_labelled(self) -> int:
        """Number of samples with human labels; 0 if the scores have no judge."""
        return int(self.strata.counts(0)[0]) if self.judged else 0

    @property
    def min_effective_size(self) -> int:
        """Smallest effective number of independent clusters over all models, rounded down."""
        # Sums of rounded weights may give 11.999… tasks instead of 12.
        return int(self.effective_sizes.min() + 1e-9)

    @property
    def has_dominant_clusters(self) -> bool:
        """True if a few large clusters dominate: their effective number is below half the actual one."""
        return bool(np.any(self.effective_sizes < 0.5 * np.array(self.cluster_counts)))

    @property
    def unit_name(self) -> str:
        """Plural noun for the resampling unit, such as ``samples`` or ``tasks``."""
        if self.strata.random:
            return "tasks"
        clustered = "clusters of samples" if self.has_nested_samples else "samples"
        return "labels" if self.judged else clustered

    def scores_per_unit(self) -> int | None:
        """Return the number of scores per resampling unit if it is constant, otherwise None."""
        counts = [np.bincount(cluster) for cluster in self.clusters]
        sizes = {int(size) for count in counts for size in (count.min(), count.max())}
        return sizes.pop() if len(sizes) == 1 else None

    def sample_means(self) -> tuple[Floats, ...]:
        """Return each model's mean score on each of its samples; one array per model."""
        means = []
        for value, sample in zip(self.values, self.samples, strict=True):
            # Scaling by a power of two avoids overflow of the sum.
            exponent = int(np.frexp(np.abs(value).max())[1])
            sums = np.bincount(sample, np.ldexp(value, -exponent))
            means.append(np.ldexp(sums / np.bincount(sample), exponent))
        return tuple(means)

    def sample_clusters(self) -> tuple[Integers, ...]:
        """Return the cluster of each sample; one array per model, shape (number of samples,)."""
        starts = [np.append(True, sample[1:] != sample[:-1]) for sample in self.samples]
        return tuple(cluster[start] for cluster, start in zip(self.clusters, starts, strict=True))


def require_testable(scores: ClusteredScores, *, optional: bool = False) -> None:
    """Raise an InputError if there are too few independent samples, clusters or tasks for a test.

    If the test is optional, the error suggests omitting it.

    Raises
    ------
    InputError
        If a model has fewer than 10 independent samples; in a suite, if a task has fewer than 2, or if fewer
        than 6 tasks are resampled.
    """
    if scores.strata.has_several_tasks:
        scores.strata.require_testable()
    if scores.strata.random:
        return
    if scores.min_effective_size < MIN_SAMPLES:
        raise InputError(
            f"a dominance test needs at least {MIN_SAMPLES} {scores.unit_name} per model",
            found=describe_sample_size(scores),
            hint="score more samples: these are too few to show which model is better",
            suggestions=[(option("no_test", True), {"no_test": True})] if optional else [],
        )


def describe_sample_size(scores: ClusteredScores) -> str:
    """Return the smallest number of independent samples over all models, as a phrase for messages.

    If clusters have very unequal sizes, the phrase gives the effective number as well.
    """
    count, effective = min(scores.cluster_counts), scores.min_effective_size
    if effective >= MIN_SAMPLES or count < MIN_SAMPLES:
        return f"{count}"
    return f"{count} of very unequal sizes (effective sample size {effective})"


def size_warnings(scores: ClusteredScores, effective: int | None = None) -> dict[str, str]:
    """Return warnings about too few independent samples, and about clusters that dominate.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    effective : int, optional
        Effective number of samples, if autocorrelation reduces it below that of the design.

    Returns
    -------
    dict of str to str
        Messages by kind; the kinds are ``few`` and ``unequal-clusters``.
    """
    count, unit = min(scores.cluster_counts), scores.unit_name
    effective = scores.min_effective_size if effective is None else effective
    messages = {}
    if effective < FEW_SAMPLES:
        size = f"only {count} {unit}" + f" (effective sample size {effective})" * (count > effective)
        if scores.strata.has_several_tasks and not scores.judged and count > effective:
            size = f"{count} {unit}, weighted by task, have an effective sample size of {effective}"
        messages["few"] = f"{size}: verdicts from fewer than {FEW_SAMPLES} {unit} are fragile"
    if scores.has_dominant_clusters and not scores.strata.has_several_tasks:
        uneven = f"{count} {unit} of very different sizes have an effective sample size of {effective}"
        messages["unequal-clusters"] = f"{uneven}: a few large ones dominate"
    return messages
