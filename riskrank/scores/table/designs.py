"""Tables of which only means can be compared: folds of cross-validation (method §13), crossed noise (§15)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from riskrank.engine.sampling.design import FEWEST_LEVELS
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, UsageError, option
from riskrank.options.reading import SHARED
from riskrank.scores.files.source import Source
from riskrank.scores.table.columns import named_roles
from riskrank.scores.table.scores import Scores

if TYPE_CHECKING:
    from riskrank.engine.evidence.folds import Folds

ITEM = "item"
"""The samples, as a source of noise."""

_JOINT = re.compile(r"(?<!\\)\+")


@dataclass(frozen=True, eq=False)
class NoiseDesign:
    """Scores by model and by combination of a sample and a level of every source.

    Attributes
    ----------
    factors : dict of str to ndarray of int, shapes (N,)
        Level of each combination, by source; items first, then those that are drawn.
    levels : dict of str to int
        Of every source that was named.
    values : ndarray, shape (k, N, m)
        Larger is better; NaN where a model has no score.
    """

    factors: dict[str, Integers]
    levels: dict[str, int]
    values: Floats

    @classmethod
    def of_samples(cls, draws: Floats, units: Integers) -> NoiseDesign:
        """Samples of some units, of which every model has some: by model, sample, draw (one) and metric."""
        return cls({ITEM: units}, {}, draws[:, :, 0])

    def differences(self, one: int, other: int, metric: int) -> tuple[Floats, Booleans]:
        """Differences of two models on what both were scored on, and which combinations these are."""
        apart = self.values[one, :, metric] - self.values[other, :, metric]
        shared = np.isfinite(apart)
        return apart[shared], shared

    def counts(self, metric: int = 0) -> Integers:
        """Combinations that both models of each pair were scored on, shape (k, k)."""
        there = np.isfinite(self.values[:, :, metric]).astype(np.int64)
        return there @ there.T

    @property
    def shared(self) -> bool:
        """Whether samples are all that varies, and each pair is compared on those both have."""
        return not self.levels

    @property
    def fixed(self) -> list[str]:
        """Sources of too few levels to be a sample of others: they are averaged."""
        return [name for name, count in self.levels.items() if count < FEWEST_LEVELS]

    @property
    def few(self) -> list[str]:
        """Sources that are drawn, of few levels."""
        return [name for name, count in self.levels.items() if FEWEST_LEVELS <= count < FEWEST_LEVELS + 2]


def refuse_more(scores: Scores, time: str = "") -> None:
    """Refuse tasks and an order of time where samples and sources of noise are all that varies.

    Raises
    ------
    UsageError
    """
    named = ",".join(scores.options.noise)
    asked = option("noise", named) if named else option("missing", SHARED)
    if time:
        raise UsageError(
            f"{asked} knows no order of time",
            found=f"samples in the order of {time}",
            hint=f"{option('time', 'none')} says that their order means nothing",
        )
    if scores.has("task"):
        raise UsageError(
            f"{asked} knows no tasks",
            found="samples and the sources that are named are all that varies",
            hint=f"leave the tasks out: {option('task', 'none')}, or compare on one with {option('where')}",
        )


def noise_design(scores: Scores, values: Floats) -> NoiseDesign:
    """Scores by sample and level, averaged over whatever else varies.

    Parameters
    ----------
    scores : Scores
    values : ndarray, shape (rows,)
        Oriented, NaN where there is none.

    Raises
    ------
    InputError
        If a source has one level, or one of its own for every sample.
    """
    names, of_samples = scores.names("noise"), scores.codes("sample")
    parts = [_JOINT.split(name) for name in names]
    codes = scores.codes("noise")
    columns, levels = {}, {}
    for at, source in enumerate(scores.options.noise):
        _, numbers = np.unique([part[at] for part in parts], return_inverse=True)
        columns[source] = _paired(numbers[codes], scores.codes("model"))
        levels[source] = np.unique(columns[source]).size
        met = np.unique(np.stack([of_samples, columns[source]]), axis=1)
        _refuse_no_source(source, levels[source], met.shape[1], scores)
    _, codes = np.unique(np.stack([*columns.values()]), axis=1, return_inverse=True)
    joint = of_samples * (int(codes.max()) + 1) + codes.ravel()
    _, first, row = np.unique(joint, return_index=True, return_inverse=True)
    k, m, n = len(scores.models), len(scores.metrics), first.size
    cell = (scores.codes("model") * n + row) * m + scores.codes("metric")
    valid = ~np.isnan(values)
    counts = np.bincount(cell[valid], minlength=k * n * m)
    sums = np.bincount(cell[valid], values[valid], minlength=k * n * m)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = (sums / np.where(counts > 0, counts, np.nan)).reshape(k, n, m)
    factors = {ITEM: of_samples[first]}
    factors |= {name: own[first] for name, own in columns.items() if levels[name] >= FEWEST_LEVELS}
    return NoiseDesign(factors, levels, found)


def _paired(levels: Integers, model: Integers) -> Integers:
    """Levels, numbered anew where every model has its own: independent ones may be paired in any order."""
    own = np.unique(np.stack([model, levels]), axis=1)
    if len(np.unique(own[1])) < own.shape[1]:
        return levels
    place = np.zeros(int(levels.max()) + 1, dtype=np.int64)
    place[own[1]] = np.arange(own.shape[1]) - np.searchsorted(own[0], own[0])
    return place[levels]


def _refuse_no_source(name: str, levels: int, pairs: int, scores: Scores) -> None:
    samples = len(scores.samples)
    if levels == 1 or (levels >= samples and pairs <= levels):
        raise InputError(
            f"{option('noise', name)} is no source of noise beside the samples",
            found=f"{levels} value{'s' if levels > 1 else ''} on {samples} samples",
            hint="name a column of which every sample has several values: judges, wordings, seeds",
        )


@dataclass(frozen=True, eq=False)
class FoldDesign:
    """Which folds the samples of a table are.

    Attributes
    ----------
    folds : tuple of D Folds
        Of each data set.
    of_sample : ndarray of int, shape (n,)
        Data set of each sample.
    weights : ndarray, shape (D,)
        Of the data sets, of sum 1.
    """

    folds: tuple[Folds, ...]
    of_sample: Integers
    weights: Floats

    @property
    def unknown(self) -> bool:
        """Whether nobody knows how many folds a repeat has."""
        return any(one.known is None for one in self.folds)


_NUMBER = r"(?:[ _.-]?(?:id|no|nr|num|number|idx|index))?"
_FOLDS = "folds?|faltung|plis?|pliegue|dobra|vouw|折"
_FOLD = re.compile(rf"(?:cv|outer|test)?[ _.-]?(?:{_FOLDS}|splits?|resamples?|cv){_NUMBER}", re.I)
_REPEATS = (
    "rep|repeat|repetition|wiederholung|répétition|repetición|ripetizione|repetição|herhaling|重复|繰り返し"
)
_REPEAT = re.compile(rf"(?:cv[ _.-]?)?(?:{_REPEATS})s?{_NUMBER}", re.I)
_DATA_SET = re.compile(r"data(?:[ _.-]?sets?(?:[ _.-]?(?:name|id))?)?|datensatz", re.I)
_NAME = re.compile(
    r"(?:rep(?:eat)?[ _.-]?(?P<first>\d+)[ _./-]*)?(?P<fold>(?:fold|split|resample|cv)[ _.-]?\d+)"
    r"(?:[ _./-]*rep(?:eat)?[ _.-]?(?P<last>\d+))?",
    re.I,
)

# So many numbered folds, and no repeats told, are those of one repeat; more may be several.
_ONE_REPEAT = 20


def columns_of_folds(given: Sequence[Source], named: Mapping[str, str]) -> dict[str, str]:
    """Roles of columns of numbered folds, where a column of samples, if any, names the same; else none."""
    if "sample" in named:
        return {}
    free = set.intersection(*(set(source.columns) for source in given)) - set(named.values())
    columns = [name for name in given[0].columns if name in free]
    repeat = [name for name in columns if _REPEAT.fullmatch(name)][:1]
    of_data = [name for name in columns if _DATA_SET.fullmatch(name)][:1]
    for fold in filter(_FOLD.fullmatch, given[0].columns):
        if all(_are_folds(source, fold, [*repeat, fold, *of_data]) for source in given):
            tasks = {"task": of_data[0]} if of_data and "task" not in named else {}
            return {"sample": "+".join([*repeat, fold])} | tasks
    return {}


def _are_folds(source: Source, fold: str, parts: Sequence[str]) -> bool:
    """Whether a column has numbered folds, and each sample is in one, alone in its repeat and data set."""
    if "sample" not in source.columns or fold not in source.columns:
        return fold in source.columns and _numbered(source, fold)
    met = source.load(["sample", *parts]).unique()
    alone = met.n_unique(parts) == met.height and met.n_unique(["sample", fold]) == met["sample"].n_unique()
    return alone and _numbered(source, fold)


def _numbered(source: Source, column: str) -> bool:
    texts = source.load([column])[column].drop_nulls().cast(pl.String, strict=False).unique()
    return not texts.dtype.is_nested() and all(re.fullmatch(r"\D{0,12}\d{1,4}(\.0)?", text) for text in texts)


def fold_design(
    scores: Scores, samples: Sequence[str], of_task: Integers | None, weights: Floats | None
) -> FoldDesign | None:
    """The folds that samples are by their column or their names; None where they are rows of their own.

    Parameters
    ----------
    scores : Scores
    samples : sequence of n str
    of_task : ndarray of int, shape (n,), or None
        Task of each sample, each a data set.
    weights : ndarray, or None
        Of the tasks.

    Raises
    ------
    UsageError
        If a number of folds is told that there cannot be.
    """
    asked = scores.options.folds
    column = named_roles(scores.options).get("sample") or scores.notes.files[0].roles.sample or ""
    by_column = any(_FOLD.fullmatch(part) for part in column.split("+"))
    if asked is None and not by_column and not all(map(_fold_named, samples)):
        return None
    from riskrank.engine.evidence.folds import Folds

    found = [*map(_fold_named, samples)]
    repeats = [_repeat(*one, column) for one in zip(samples, found, strict=True)]
    tasks = np.zeros(len(samples), dtype=np.int64) if of_task is None else of_task
    used = np.unique(tasks)
    told = [match["fold"] if match else column for match in found]
    word = "fold" if any(re.search(rf"(?<![a-z])(?:{_FOLDS})", one, re.I) for one in told) else ""
    folds = []
    for task in used:
        own = [repeats[at] for at in np.flatnonzero(tasks == task)]
        folds.append(Folds(len(own), asked or _splits(own, word)))
        if asked is not None and (asked > len(own) or len(own) % asked):
            raise UsageError(
                f"{option('folds', str(asked))}: the {len(own)} scores of a model are no whole repeats of it",
                found=f"{len(own)} samples: {samples[0]}, …",
                hint="give the number of folds of one repeat",
            )
    share = np.ones(used.size) if weights is None else weights[used]
    return FoldDesign(tuple(folds), np.searchsorted(used, tasks), share / share.sum())


def _fold_named(sample: str) -> re.Match[str] | None:
    return _NAME.fullmatch(re.split(r"[+/]", sample)[-1])


def _repeat(name: str, match: re.Match[str] | None, column: str) -> str | None:
    """The repeat of a fold, by its name or the columns that name it."""
    if match is not None and (match["first"] or match["last"]):
        return match["first"] or match["last"]
    parts, values = column.split("+"), name.split("+")
    # A name may begin with that of its task; one of fewer parts is that of one column, whatever it is called.
    own = zip(parts, values[-len(parts) :], strict=True) if 1 < len(parts) <= len(values) else ()
    return next((value for part, value in own if _REPEAT.fullmatch(part)), None)


def _splits(repeats: Sequence[str | None], word: str) -> int | None:
    """Folds of a repeat, where repeats are told and have as many each, or there can be but one."""
    sizes = {repeats.count(one) for one in set(repeats)}
    if None not in repeats:
        return sizes.pop() if len(sizes) == 1 else None
    return len(repeats) if word and len(repeats) <= _ONE_REPEAT else None
