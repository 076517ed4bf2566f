"""Designs in which only means can be compared: cross-validation folds (method §13), crossed noise (§15)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from riskrank.engine.evidence.student import Folds
from riskrank.engine.sampling.design import MIN_LEVELS
from riskrank.engine.types import Booleans, Floats, Integers
from riskrank.errors import InputError, UsageError, listing, option
from riskrank.options.reading import SHARED
from riskrank.scores.files.source import Source
from riskrank.scores.names.vocabulary import to_numeric
from riskrank.scores.table.columns import option_columns
from riskrank.scores.table.metric_specs import Specs
from riskrank.scores.table.scores import Scores, crosstab
from riskrank.scores.table.written_numbers import standard_errors

# Name of the samples as a noise source.
ITEM = "item"

# Name of the metric whose means are strengths, fitted to votes (method §19).
STRENGTH = "bradley_terry"

_LEVEL_SEPARATOR = re.compile(r"(?<!\\)\+")


@dataclass(frozen=True, eq=False)
class NoiseDesign:
    """Scores for each model and each combination of a sample with one level per noise source.

    Attributes
    ----------
    factors : dict of str to ndarray of int, shapes (N,)
        Level of each noise source in each combination: samples first, followed by the random sources.
    levels : dict of str to int
        Number of levels of each named noise source.
    values : ndarray, shape (k, N, m)
        Scores by model, combination and metric. Larger is better; NaN if a model has no score.
    """

    factors: dict[str, Integers]
    levels: dict[str, int]
    values: Floats

    @classmethod
    def from_samples(cls, draws: Floats, units: Integers) -> NoiseDesign:
        """Build a design in which samples are the only source of variation.

        Parameters
        ----------
        draws : ndarray, shape (k, N, 1, m)
            Scores by model, sample, repeat and metric; NaN if a model has no score.
        units : ndarray of int, shape (N,)
            Resampling unit of each sample.
        """
        return cls({ITEM: units}, {}, draws[:, :, 0])

    def differences(self, first: int, second: int, metric: int) -> tuple[Floats, Booleans]:
        """Return the differences between two models on a metric, all given by index.

        Only combinations for which both models have a score are included.

        Returns
        -------
        differences : ndarray, shape (n,)
        shared : ndarray of bool, shape (N,)
            Mask of the n shared combinations.
        """
        delta = self.values[first, :, metric] - self.values[second, :, metric]
        shared = np.isfinite(delta)
        return delta[shared], shared

    def counts(self, metric: int = 0) -> Integers:
        """Return the number of combinations that each pair of models shares on a metric, shape (k, k)."""
        scored = np.isfinite(self.values[:, :, metric]).astype(np.int64)
        return scored @ scored.T

    @property
    def samples_only(self) -> bool:
        """True if samples are the only source of variation.

        Each pair of models is then compared on its shared samples.
        """
        return not self.levels

    @property
    def fixed_sources(self) -> list[str]:
        """Noise sources with too few levels to be random effects.

        Scores are averaged over these levels.
        """
        return [name for name, count in self.levels.items() if count < MIN_LEVELS]

    @property
    def sources_with_few_levels(self) -> list[str]:
        """Random noise sources with barely enough levels for random effects."""
        return [name for name, count in self.levels.items() if MIN_LEVELS <= count < MIN_LEVELS + 2]


def reject_tasks_and_time(scores: Scores, time: str = "") -> None:
    """Raise UsageError if samples belong to tasks or are ordered in time.

    Noise sources exclude both. `time` is the time column, or empty.
    """
    named = ",".join(scores.options.noise)
    flag = option("noise", named) if named else option("missing", SHARED)
    if time:
        problem = f"{flag} does not support time-ordered samples"
        hint = f"{option('time', 'none')} ignores the order of the samples"
        raise UsageError(problem, found=f"samples in order of {time}", hint=hint)
    if scores.has_role("task"):
        hint = f"ignore the tasks: {option('task', 'none')}, or select one task with {option('where')}"
        raise UsageError(f"{flag} does not support tasks", found="the table has a task column", hint=hint)


# Minimum number of values of a noise source that two models share: the variation among them is estimated.
_FEWEST_SHARED = 2


def noise_design(scores: Scores, values: Floats) -> NoiseDesign:
    """Average scores over everything except samples and noise sources, and arrange them by both.

    Parameters
    ----------
    scores : Scores
    values : ndarray, shape (rows,)
        Oriented scores; NaN if missing.

    Raises
    ------
    InputError
        If a noise source has only one level, or a different level for every sample, or if two models share
        only one level.
    """
    names, of_samples = scores.names("noise"), scores.codes("sample")
    parts = [_LEVEL_SEPARATOR.split(name) for name in names]
    codes = scores.codes("noise")
    columns, levels = {}, {}
    for index, source in enumerate(scores.options.noise):
        _, numbers = np.unique([part[index] for part in parts], return_inverse=True)
        columns[source] = _align_levels(numbers[codes], scores.codes("model"))
        levels[source] = np.unique(columns[source]).size
        pairs, n_samples = np.unique(np.stack([of_samples, columns[source]]), axis=1), len(scores.samples)
        count = levels[source]
        if count == 1 or (count >= n_samples and pairs.shape[1] <= count):
            problem = f"{option('noise', source)} does not vary independently of the samples"
            detail = f"{count} value{'s' if count > 1 else ''} on {n_samples} samples"
            hint = "name a column with several values per sample, such as judges, prompts or seeds"
            raise InputError(problem, found=detail, hint=hint)
        used = crosstab(scores.codes("model"), columns[source], (len(scores.models), count)) > 0
        few = np.argwhere(np.triu(used.astype(int) @ used.T < _FEWEST_SHARED, 1))
        if few.size:
            a, b = (scores.models[i] for i in few[0])
            problem = f"{a} and {b} have too few values of {source} in common to compare their means"
            hint = (
                f"score both models at the same values of {source}; {option('repeats', 'mean')} averages them"
            )
            shared = int((used[few[0][0]] & used[few[0][1]]).sum())
            raise InputError(problem, found=f"{shared} of {count}", hint=hint)
    _, codes = np.unique(np.stack([*columns.values()]), axis=1, return_inverse=True)
    joint = of_samples * (int(codes.max()) + 1) + codes.ravel()
    _, first, row = np.unique(joint, return_index=True, return_inverse=True)
    k, m, n = len(scores.models), len(scores.metrics), first.size
    cell = (scores.codes("model") * n + row) * m + scores.codes("metric")
    valid = ~np.isnan(values)
    counts = np.bincount(cell[valid], minlength=k * n * m)
    sums = np.bincount(cell[valid], values[valid], minlength=k * n * m)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (sums / np.where(counts > 0, counts, np.nan)).reshape(k, n, m)
    factors = {ITEM: of_samples[first]}
    factors |= {name: column[first] for name, column in columns.items() if levels[name] >= MIN_LEVELS}
    return NoiseDesign(factors, levels, means)


def _align_levels(levels: Integers, model: Integers) -> Integers:
    """Renumber the levels of each model from 0 if no two models share a level.

    Independent levels of different models may be paired in any order.

    Parameters
    ----------
    levels, model : ndarray of int, shape (rows,)
        Level and model of each row.
    """
    pairs = np.unique(np.stack([model, levels]), axis=1)
    if len(np.unique(pairs[1])) < pairs.shape[1]:
        return levels
    place = np.zeros(int(levels.max()) + 1, dtype=np.int64)
    place[pairs[1]] = np.arange(pairs.shape[1]) - np.searchsorted(pairs[0], pairs[0])
    return place[levels]


def published_errors(scores: Scores, specs: Specs) -> Floats:
    """Return the published standard error of each model's only score, shape (k,).

    Raises
    ------
    UsageError
        If there are several scores of a model, or the scores are transformed.
    InputError
        If a model has no standard error, or no positive one.
    """
    names, frame = scores.options.uncertainty, scores.frame
    if frame.height > len(scores.models) or specs[0].transform != "none":
        problem = f"the published uncertainty in {listing(names)} needs one plain score per model"
        detail = f"{frame.height} scores of {len(scores.models)} models, transform {specs[0].transform}"
        hint = f"select one metric without a transform: {option('metric', scores.metrics[0])}"
        raise UsageError(problem, found=detail, hint=hint)
    files = [file.source for file in scores.notes.files]
    parts = [standard_errors([*file.load(names)], decimal_comma=file.decimal_comma) for file in files]
    errors = np.concatenate(parts)[frame["row"].to_numpy()][np.argsort(scores.codes("model"))]
    if (bad := np.flatnonzero(~(errors > 0))).size:
        problem = f"{scores.file_names()}: no published uncertainty of model '{scores.models[bad[0]]}'"
        detail = f"{bad.size} of {len(errors)} models without a positive value in {listing(names)}"
        others = tuple(name for at, name in enumerate(scores.models) if at not in bad)
        hint = "name columns with standard errors or 95 % limits, or select the other models"
        raise InputError(problem, found=detail, hint=hint, suggestions=[("", {"models": others})])
    return errors


@dataclass(frozen=True, eq=False)
class FoldDesign:
    """Cross-validation folds that the samples of a table represent.

    Attributes
    ----------
    folds : tuple of D Folds
        Folds of each data set.
    task_codes : ndarray of int, shape (n,)
        Index of the data set of each sample.
    weights : ndarray, shape (D,)
        Weights of the data sets, with sum 1.
    """

    folds: tuple[Folds, ...]
    task_codes: Integers
    weights: Floats


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

# Larger tables are not searched for columns that determine the fold.
_MAX_ROWS = 1_000_000
# Up to this many folds without repeat numbers are assumed to belong to a single repeat.
_MAX_FOLDS = 20


def fold_columns(sources: Sequence[Source], named: Mapping[str, str]) -> dict[str, str]:
    """Return the columns of a table of cross-validation folds by role.

    A sample column is accepted if it identifies the same units as the folds. The result is empty if no column
    numbers folds. `named` maps roles to the columns that the user chose.
    """
    if "sample" in named:
        return {}
    free = set.intersection(*(set(source.columns) for source in sources)) - set(named.values())
    columns = [name for name in sources[0].columns if name in free]
    repeat = [name for name in columns if _REPEAT.fullmatch(name)][:1]
    data_set = [name for name in columns if _DATA_SET.fullmatch(name)][:1]
    for fold in filter(_FOLD.fullmatch, sources[0].columns):
        if all(_is_fold_column(source, fold, [*repeat, fold, *data_set]) for source in sources):
            tasks = {"task": data_set[0]} if data_set and "task" not in named else {}
            return {"sample": "+".join([*repeat, fold])} | tasks
    return {}


def _is_fold_column(source: Source, fold: str, parts: Sequence[str]) -> bool:
    """Return True if a column numbers folds, and each fold is one sample.

    `parts` are the columns that identify a fold: repeat, fold and data set.
    """
    if "sample" not in source.columns or fold not in source.columns:
        numbered = fold in source.columns and _has_fold_numbers(source, fold)
        return numbered and not _groups_samples(source, fold)
    df = source.load(["sample", *parts]).unique()
    alone = df.n_unique(parts) == df.height and df.n_unique(["sample", fold]) == df["sample"].n_unique()
    return alone and _has_fold_numbers(source, fold)


def _groups_samples(source: Source, fold: str) -> bool:
    """Return True if a column numbers folds that group the samples of another column.

    Each sample then belongs to one fold, and the rows are not unique without the sample column.
    """
    columns = source.load([name for name in source.columns if name]).get_columns()
    if not columns or columns[0].len() > _MAX_ROWS:
        return False
    names = [column for column in columns if not to_numeric(column).dtype.is_float()]
    df = pl.DataFrame([column for column in names if not column.dtype.is_nested()])
    if df.n_unique() < df.height:
        return False
    others = [name for name in df.columns if name != fold]
    determining = [c for c in others if df.n_unique([c, fold]) == df[c].n_unique() < df.height]
    return any(df.drop(name).n_unique() < df.height for name in determining)


def _has_fold_numbers(source: Source, column: str) -> bool:
    """Return True if all values of a column number folds, such as 3 or fold_3."""
    texts = source.load([column])[column].drop_nulls().cast(pl.String, strict=False).unique()
    return not texts.dtype.is_nested() and all(re.fullmatch(r"\D{0,12}\d{1,4}(\.0)?", text) for text in texts)


def fold_design(
    scores: Scores, samples: Sequence[str], task_codes: Integers | None, weights: Floats | None
) -> FoldDesign | None:
    """Return the cross-validation folds that samples represent.

    Samples are recognised as folds by the name of their column or by their own names. Return None if the
    samples are independent rows.

    Parameters
    ----------
    scores : Scores
    samples : sequence of n str
    task_codes : ndarray of int, shape (n,), or None
        Task of each sample. Each task is a data set.
    weights : ndarray, or None
        Weights of the tasks.

    Raises
    ------
    UsageError
        If the requested number of folds does not divide the scores into complete repeats.
    """
    k = scores.options.folds
    column = option_columns(scores.options).get("sample") or scores.notes.files[0].roles.sample or ""
    by_column = any(_FOLD.fullmatch(part) for part in column.split("+"))
    if k is None and not by_column and not all(map(_match_fold_name, samples)):
        return None
    matches = [*map(_match_fold_name, samples)]
    repeats = [_repeat_name(*pair, column) for pair in zip(samples, matches, strict=True)]
    tasks = np.zeros(len(samples), dtype=np.int64) if task_codes is None else task_codes
    used = np.unique(tasks)
    names = [match["fold"] if match else column for match in matches]
    word = "fold" if any(re.search(rf"(?<![a-z])(?:{_FOLDS})", name, re.I) for name in names) else ""
    folds = []
    for task in used:
        labels = [repeats[at] for at in np.flatnonzero(tasks == task)]
        folds.append(Folds(len(labels), k or _folds_per_repeat(labels, word)))
        if k is not None and (k > len(labels) or len(labels) % k):
            problem = f"{option('folds', str(k))}: {len(labels)} scores per model is not a multiple of {k}"
            hint = "state the number of folds per repeat"
            raise UsageError(problem, found=f"{len(labels)} samples: {samples[0]}, …", hint=hint)
    share = np.ones(used.size) if weights is None else weights[used]
    return FoldDesign(tuple(folds), np.searchsorted(used, tasks), share / share.sum())


def _match_fold_name(sample: str) -> re.Match[str] | None:
    """Match a sample name that ends in a fold number, such as fold_3 or rep1_fold_3."""
    return _NAME.fullmatch(re.split(r"[+/]", sample)[-1])


def _repeat_name(name: str, match: re.Match[str] | None, column: str) -> str | None:
    """Return the repeat to which a fold belongs, or None if it is unknown.

    The repeat is part of the sample name, or one of several columns that are joined into the sample name.

    Parameters
    ----------
    name : str
        Name of the sample.
    match : re.Match or None
        Match of the name with the pattern of folds.
    column : str
        Sample column, or several joined by ``+``.
    """
    if match is not None and (match["first"] or match["last"]):
        return match["first"] or match["last"]
    parts, values = column.split("+"), name.split("+")
    # The name may begin with the task. A name with fewer parts comes from a single column.
    pairs = zip(parts, values[-len(parts) :], strict=True) if 1 < len(parts) <= len(values) else ()
    return next((value for part, value in pairs if _REPEAT.fullmatch(part)), None)


def _folds_per_repeat(repeats: Sequence[str | None], word: str) -> int | None:
    """Return the number of folds per repeat, or None if it is unknown or differs between repeats.

    Parameters
    ----------
    repeats : sequence of str or None
        Repeat of each fold.
    word : str
        Empty unless names contain a word for folds. Otherwise, a few folds are assumed to be one repeat.
    """
    sizes = {repeats.count(repeat) for repeat in set(repeats)}
    if None not in repeats:
        return sizes.pop() if len(sizes) == 1 else None
    return len(repeats) if word and len(repeats) <= _MAX_FOLDS else None
