"""What samples belong to, as what is drawn, what divides them into kinds, and what numbers their runs."""

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
from riskrank.scores.names.vocabulary import vocabulary, names_clusters, has_word, parse_vocabulary, words

# Of more tasks and wholes a part counts as samples.
MOST_PARTS, FEWEST_IN_PART = 20, 10
# Samples that belong together are fewer wholes than this share of them.
_SHARED = 0.8
# Kinds of samples are so few.
MOST_KINDS = 8
NO_CHANCE = 1e-4
"""Shares differ beyond chance below this p-value."""
# A model's rows in these are told by other names elsewhere.
_PARTS = vocabulary("whole") - parse_vocabulary("task tasks split subset subject")

# What else tells apart what has the same numbers: kinds of samples, and steps of what is longer.
_NO_RUNS = vocabulary("whole", "setting", "judge", "wording") | parse_vocabulary(
    "turn step message utterance sentence paragraph chunk tour turno runde beurt tura"
)


def says_of(columns: Columns, name: str, own: Sequence[str]) -> bool:
    """Whether a column says one thing of every sample."""
    return columns.constant_within(name, own) and not columns.gaps(name)


def belongs(columns: Columns, name: str, own: Sequence[str]) -> bool:
    """Whether a column says, by its name too, what several samples belong to; `own` names the samples."""
    return names_clusters(name) and repeats(columns, name, own) and says_of(columns, name, own)


def repeats(columns: Columns, name: str, own: Sequence[str]) -> bool:
    """Whether several samples have one value of a column, of which there is more than one."""
    return 2 <= columns.count(name) <= _SHARED * columns.groups(*own)


def divides(columns: Columns, name: str, own: Sequence[str], by: Sequence[str] = ()) -> bool:
    """Whether a column puts samples into a few groups, each of enough of them, of each model in `by`."""
    if not 2 <= columns.count(name) <= MOST_PARTS or not says_of(columns, name, own):
        return False
    sizes = columns.frame.select({name, *own, *by}).unique().group_by(name, *by).len()["len"]
    return int(sizes.min() or 0) >= FEWEST_IN_PART  # type: ignore[arg-type]


def is_part(columns: Columns, name: str) -> bool:
    """Whether a column names parts of all samples; of subjects those of a school, which have no numbers."""
    kinds = has_word(name, "belonging") and has_word(name, "kinds")  # document_type
    if not (kinds or names_clusters(name)):
        return bool(words(name) & _PARTS)
    if not (kinds or has_word(name, "whole")):
        return False
    values = columns.frame[name].cast(pl.String).unique()
    few = columns.kind(name) == "text" and values.len() <= MOST_KINDS
    return few and not values.str.contains(r"\d").any()


def mixed_otherwise(columns: Columns, name: str, by: Sequence[str]) -> bool:
    """Whether models have other shares of a few kinds of samples, beyond chance (Pearson's chi-squared)."""
    if columns.kind(name) != "text" or not 2 <= columns.count(name) <= MOST_KINDS:
        return False
    counts = columns.frame.group_by(name, *by).len().sort(name, *by)["len"].to_numpy()
    if counts.size < columns.count(name) * columns.groups(*by) or counts.min() < FEWEST_IN_PART:
        return False
    from scipy.special import chdtrc

    table = counts.reshape(columns.count(name), -1)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    return bool(chdtrc(freedom, ((table - expected) ** 2 / expected).sum()) < NO_CHANCE)


def numbers_runs_of(columns: Columns, fixed: Sequence[str], sample: str, name: str) -> bool:
    """Whether a column numbers runs of samples: it is called so, or has few numbers, of each all samples."""
    if name == sample or has_word(name, "run"):
        return name != sample
    found = words(name)
    other = found & _NO_RUNS or found <= vocabulary("within") or names_clusters(name)
    if other or not columns.count(name) < columns.count(sample) or not is_numbered(columns, name):
        return False
    crossed = columns.groups(*fixed) * columns.count(sample) * columns.count(name)
    return columns.height == crossed == columns.groups(*fixed, sample, name)


def is_numbered(columns: Columns, name: str) -> bool:
    """Whether a column holds a few numbers, as often each, which may stand behind one word."""
    if not 2 <= columns.count(name) <= MOST_PARTS or columns.gaps(name):
        return False
    if not columns.whole(name):
        stems = columns.frame[name].cast(pl.String).unique().str.extract(r"^(\D*)\d+$")
        if stems.null_count() or stems.n_unique() > 1:
            return False
    counts = columns.frame[name].value_counts()["count"]
    return counts.n_unique() == 1 and counts[0] >= FEWEST_IN_PART


def as_drawn(wholes: Sequence[str], options: ReadOptions, *, few: bool) -> dict[str, Any]:
    """Options that draw wholes; too few to be drawn anew, and several kinds, are noise of means."""
    means = isinstance(options, RankReading | GateReading) and options.missing != SHARED
    if (few or len(wholes) > 1) and means and not options.noise:
        with suppress(UsageError):  # beside what noise is not asked
            replace(options, noise=tuple(wholes))
            return {"noise": tuple(wholes)}
    return {"cluster": wholes[0]}


def drawn_whole(name: str) -> str:
    """What is said of a cluster."""
    return f"each {name} is a cluster, drawn whole"
