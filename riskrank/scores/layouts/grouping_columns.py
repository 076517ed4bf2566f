"""Columns that group samples: clusters, subsets, and repeats of a sample."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from riskrank.errors import UsageError
from riskrank.options.baseline import GateReading
from riskrank.options.reading import SHARED, RankReading, ReadOptions
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.names.vocabulary import has_word, names_clusters, parse_vocabulary, vocabulary, words

# If there are more tasks or clusters, their parts are samples.
MAX_SUBSETS, MIN_SUBSET = 20, 10
# Maximum number of clusters, as a share of the number of samples.
_MAX_CLUSTER_SHARE = 0.8
# A column with more values does not name sample kinds.
MAX_KINDS = 8
ALPHA = 1e-4
"""Shares differ significantly below this p-value."""
# Words for subsets of the samples.
_SUBSET_WORDS = vocabulary("whole") - parse_vocabulary("task tasks split subset subject")

# Numbered columns with these words are sample kinds or steps of a longer unit, not repeats.
_NOT_REPEATS = vocabulary("whole", "setting", "judge", "wording") | parse_vocabulary(
    "turn step message utterance sentence paragraph chunk tour turno runde beurt tura"
)


def is_attribute(columns: Columns, name: str, sample: Sequence[str]) -> bool:
    """Return True if a column has one value per sample.

    Parameters
    ----------
    columns : Columns
    name : str
    sample : sequence of str
        Columns that identify samples.
    """
    return columns.is_constant_within(name, sample) and not columns.n_missing(name)


def is_cluster(columns: Columns, name: str, sample: Sequence[str]) -> bool:
    """Return True if both the name and the values of a column suggest clusters of samples."""
    return names_clusters(name) and is_shared(columns, name, sample) and is_attribute(columns, name, sample)


def is_shared(columns: Columns, name: str, sample: Sequence[str]) -> bool:
    """Return True if a column has at least two values, each shared by several samples."""
    return 2 <= columns.n_unique(name) <= _MAX_CLUSTER_SHARE * columns.n_unique(*sample)


def is_partition(columns: Columns, name: str, sample: Sequence[str], by: Sequence[str] = ()) -> bool:
    """Return True if a column divides each model's samples into a few sufficiently large groups.

    The columns `by` identify the models.
    """
    if not 2 <= columns.n_unique(name) <= MAX_SUBSETS or not is_attribute(columns, name, sample):
        return False
    sizes = columns.frame.select({name, *sample, *by}).unique().group_by(name, *by).len()["len"]
    return int(sizes.min() or 0) >= MIN_SUBSET  # type: ignore[arg-type]


def names_subsets(columns: Columns, name: str) -> bool:
    """Return True if a column name suggests subsets of the samples rather than clusters."""
    is_kind = has_word(name, "belonging") and has_word(name, "kinds")  # document_type
    if not (is_kind or names_clusters(name)):
        return bool(words(name) & _SUBSET_WORDS)
    if not (is_kind or has_word(name, "whole")):
        return False
    values = columns.frame[name].cast(pl.String).unique()
    is_small_text = columns.kind(name) == "text" and values.len() <= MAX_KINDS
    return is_small_text and not values.str.contains(r"\d").any()


def composition_differs(columns: Columns, name: str, by: Sequence[str]) -> bool:
    """Return True if models differ significantly in the mix of sample kinds (chi-squared test)."""
    if columns.kind(name) != "text" or not 2 <= columns.n_unique(name) <= MAX_KINDS:
        return False
    counts = columns.frame.group_by(name, *by).len().sort(name, *by)["len"].to_numpy()
    if counts.size < columns.n_unique(name) * columns.n_unique(*by) or counts.min() < MIN_SUBSET:
        return False
    from scipy.special import chdtrc

    table = counts.reshape(columns.n_unique(name), -1)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    return bool(chdtrc(freedom, ((table - expected) ** 2 / expected).sum()) < ALPHA)


def is_repeat_column(columns: Columns, by: Sequence[str], sample: str, name: str) -> bool:
    """Return True if a column numbers repeats of samples.

    Either its name suggests repeats, or it has few distinct numbers, each of which occurs with every
    combination of a sample and the columns `by`.
    """
    if name == sample or has_word(name, "run"):
        return name != sample
    name_words = words(name)
    excluded = name_words & _NOT_REPEATS or name_words <= vocabulary("within") or names_clusters(name)
    if excluded or not columns.n_unique(name) < columns.n_unique(sample) or not is_balanced(columns, name):
        return False
    n_cells = columns.n_unique(*by) * columns.n_unique(sample) * columns.n_unique(name)
    return columns.height == n_cells == columns.n_unique(*by, sample, name)


def is_balanced(columns: Columns, name: str) -> bool:
    """Return True if all distinct values of a column are equally frequent and there are few of them.

    The values must be integers, or numbers after a common prefix.
    """
    if not 2 <= columns.n_unique(name) <= MAX_SUBSETS or columns.n_missing(name):
        return False
    if not columns.is_integer(name):
        stems = columns.frame[name].cast(pl.String).unique().str.extract(r"^(\D*)\d+$")
        if stems.null_count() or stems.n_unique() > 1:
            return False
    counts = columns.frame[name].value_counts()["count"]
    return counts.n_unique() == 1 and counts[0] >= MIN_SUBSET


def cluster_options(clusters: Sequence[str], options: ReadOptions, *, few: bool) -> dict[str, Any]:
    """Return the options that declare clusters.

    Clusters are resampled as units. They are treated as random effects instead if there are few clusters or
    several cluster columns.
    """
    means = isinstance(options, RankReading | GateReading) and options.missing != SHARED
    if (few or len(clusters) > 1) and means and not options.noise:
        with suppress(UsageError):  # the option conflicts with others
            replace(options, noise=tuple(clusters))
            return {"noise": tuple(clusters)}
    return {"cluster": clusters[0]}


def cluster_note(name: str) -> str:
    """Return the note that a column names clusters."""
    return f"each {name} is a cluster, resampled as a unit"
