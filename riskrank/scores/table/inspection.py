"""What a table holds and what is wrong with it, for ``check``."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, BinaryIO, TypeVar

import numpy as np

from riskrank.engine.evidence.shared_tasks import FEWEST_SHARED
from riskrank.engine.sampling.design import FEWEST_SAMPLES, ClusteredScores, found_samples, weak_sizes
from riskrank.engine.types import Booleans
from riskrank.errors import InputError, RiskrankError, listing, option
from riskrank.options.reading import SHARED, ReadOptions
from riskrank.scores.files.limits import BeyondLimitError
from riskrank.scores.files.source import InputFile, Paths, Source
from riskrank.scores.table import missing_scores
from riskrank.scores.table.imputation import FILLING, filled
from riskrank.scores.table.judge_calibration import corrected
from riskrank.scores.table.metric_checks import UndeclaredError
from riskrank.scores.table.metrics import resolve_metrics
from riskrank.scores.table.metrics_file import MetricSpec, OfTask, Specs
from riskrank.scores.table.oriented_scores import Rows, ScoreTable
from riskrank.scores.table.reading import read_frame
from riskrank.scores.table.repeats import assemble
from riskrank.scores.table.score_counts import Scored, counts_by, numbered, scored
from riskrank.scores.table.score_table import checked_table
from riskrank.scores.table.scores import Scores, select
from riskrank.scores.table.suggestions import tried_on
from riskrank.scores.table.suite import NO_SUITE, suite_of
from riskrank.scores.table.tasks import of_one_column, of_scored_tasks
from riskrank.scores.table.unassigned_columns import dividing_columns
from riskrank.scores.table.validate import constant_metrics, incomplete_tasks, unusable

_Made = TypeVar("_Made")
# Rows of larger tables are not looked at as tests would: that takes as long as reading them.
_MOST_ROWS = 5_000_000


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something wrong (``error``: the commands would refuse it) or doubtful (``warning``).

    A warning is one sentence in `what`; its `found` and `hint` are empty. `ways` are those of the error.
    """

    severity: str
    what: str
    found: str = ""
    hint: str = ""
    ways: Sequence[tuple[str, object]] = ()


@dataclass(frozen=True, kw_only=True)
class InspectedModel:
    """One model: its number of samples, and of samples no other model has."""

    name: str
    samples: int
    only_here: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """One metric, in the units of the file.

    Attributes
    ----------
    metric, direction, transform, scale : str
    declared : bool
        Whether anybody said which way is better.
    n : int
        Usable scores.
    minimum, maximum, mean : float or None
        Of the usable scores; None if there are none.
    distinct : int
        Different values.
    tied_share : float
        Share of the scores that equal another score of the metric, whichever model's.
    missing : int
        Cells without a usable score, among the models and samples of the table.
    outside_bounds : int
    constant : bool
    """

    metric: str
    direction: str
    declared: bool
    transform: str
    scale: str
    n: int
    minimum: float | None
    maximum: float | None
    mean: float | None
    distinct: int
    tied_share: float
    missing: int
    outside_bounds: int
    constant: bool


@dataclass(frozen=True, kw_only=True)
class InspectedTask:
    """One task of a suite: its samples, of all models together, its share of the weights, and its metrics.

    Attributes
    ----------
    fewest_scores, most_scores : int
        Usable scores a model has.
    """

    name: str
    samples: int
    weight: float
    metrics: tuple[str, ...]
    fewest_scores: int
    most_scores: int


@dataclass(frozen=True, kw_only=True)
class Hole:
    """A task, one of a board's samples, and the models that have no score there."""

    sample: str
    models: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What the files hold.

    Attributes
    ----------
    inputs : tuple of InputFile
    rows : int
        Input rows read.
    models : tuple of InspectedModel
    metrics : tuple of MetricRow
    specs : tuple of MetricSpec
        Of the same metrics.
    samples : int
        Different samples, of all models together.
    common_samples : int
        Samples every model has.
    clusters : int or None
        Clusters the samples belong to; None where nobody named their column.
    tasks : tuple of InspectedTask
        Of a suite; else empty.
    same_samples : bool
        Whether every model has every sample, as a paired comparison needs.
    fewest_repeats, most_repeats : int
        Rows per (model, sample, metric) cell that has any.
    repeated_cells : int
        Cells with more than one row.
    problems : tuple of Problem
        Errors first.
    options : ReadOptions
        How the files were read.
    sources : tuple of str or Source
        As they were given.
    runs : tuple of ClusteredScores
        Per metric of all tasks, where repeats are kept as draws and nothing is wrong; else empty.
    divisions : tuple of str
        Columns that divide the samples into groups, where every model has every sample once.
    scored : tuple of Scored
        Of every model and metric that lacks scores, how many there are and why.
    judged : ScoreTable or None
        A judge's scores corrected by people's, where that was asked for and nothing is wrong.
    folds : bool
        Whether samples are folds of cross-validation.
    worth : int or None
        Independent samples that tests have, where nothing is wrong and they are no folds, nor of tasks.
    holes : tuple of Hole
        Where each pair of models is compared on the samples both have: those that some lack, most first.
    apart : tuple of (str, str)
        Pairs of models that share too few samples for that.
    """

    inputs: tuple[InputFile, ...]
    rows: int
    models: tuple[InspectedModel, ...]
    metrics: tuple[MetricRow, ...]
    specs: Specs
    samples: int
    common_samples: int
    clusters: int | None
    tasks: tuple[InspectedTask, ...]
    same_samples: bool
    fewest_repeats: int
    most_repeats: int
    repeated_cells: int
    problems: tuple[Problem, ...]
    options: ReadOptions
    sources: tuple[str | Source, ...] = ()
    runs: tuple[ClusteredScores, ...] = ()
    divisions: tuple[str, ...] = ()
    scored: tuple[Scored, ...] = ()
    judged: ScoreTable | None = None
    folds: bool = False
    worth: int | None = None
    holes: tuple[Hole, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()


def inspect_scores(
    paths: Paths, options: ReadOptions | None = None, stdin: BinaryIO | None = None
) -> Inspection:
    """Describe the scores of one or more files, and everything that is wrong with them.

    Parameters
    ----------
    paths, options, stdin
        As for `riskrank.scores.table.score_table.read_scores`.

    Returns
    -------
    Inspection

    Raises
    ------
    InputError
        Only if a file or its columns cannot be read at all, or the metrics file cannot.
    UsageError
        If the options contradict each other or name something unknown.
    """
    options = options or ReadOptions()
    # Scores too large to compute with are a problem to be told, not a warning of NumPy's.
    with np.errstate(over="ignore", invalid="ignore"):
        return _inspected(paths, options, stdin)


def _inspected(paths: Paths, options: ReadOptions, stdin: BinaryIO | None) -> Inspection:
    # As whoever weighs tasks, and takes a judge, reads them.
    found = _read(paths, replace(options, weighs_tasks=True, judges=True), stdin)
    asked = found.notes.asked
    options = asked.as_read
    chosen = select(replace(found, options=options))
    # Where a metric of a task is unclear, scores are told as they are.
    scored_tasks, unclear = _tried(of_scored_tasks, chosen)
    read = scored_tasks or chosen
    read_specs, doubts = resolve_metrics(read)
    scores, specs, of_task = of_one_column(read, read_specs)
    means, _ = assemble(_one_by_one(scores), scores.values)
    covered = missing_scores.covered(scores, means.model, means.sample)
    repeats = _rows_per_cell(scores)
    # Of a table with every score once nothing is refused or dropped: large ones are not assembled for that.
    whole = bool(covered.all()) and repeats.max(initial=0) <= 1 and not np.isnan(means.values).any()
    errors: list[RiskrankError] = [*unusable(read, read_specs), *unclear]
    used = scores
    if options.missing in FILLING and not errors:
        without_gaps, errors = _tried(filled, read, read_specs)
        used = of_one_column(without_gaps or read, read_specs)[0]
    # What cannot be filled is told once, and not as gaps besides.
    if options.missing not in FILLING or not errors:
        errors += _incomplete(used, specs, means, whole=whole or bool(unclear))
    judges = asked.corrects_judge and not errors
    judged, errors = _tried(_judged, read, asked) if judges else (None, errors)
    table, errors = _as_tested(found, errors)
    sizes = None if table is None else _sizes(table)
    told = [] if table is None else [*table.warnings, *_said_of(table, sizes)]
    warnings = [*scores.notes.warnings, *doubts, *_undeclared(read_specs, options)]
    warnings += [] if whole else _dropped(used)
    warnings += [text for text in (*(judged.warnings if judged else ()), *told) if text not in warnings]
    return Inspection(
        inputs=scores.notes.inputs,
        rows=scores.notes.rows,
        models=_models(scores, covered),
        metrics=tuple(
            _describe(read, *one)
            for one in zip(read_specs, count(), _missing(scores, read_specs, means, of_task))
        ),
        specs=read_specs,
        samples=len(scores.samples),
        common_samples=int(np.count_nonzero(covered.all(axis=0))),
        clusters=scores.frame["cluster"].n_unique() if scores.has("cluster") else None,
        tasks=_tasks(scores, means, of_task),
        same_samples=bool(covered.all()),
        fewest_repeats=int(repeats.min(initial=repeats.max(initial=0))),
        most_repeats=int(repeats.max(initial=0)),
        repeated_cells=int(np.count_nonzero(repeats > 1)),
        problems=(*map(refusing, errors), *(Problem(severity="warning", what=text) for text in warnings)),
        options=asked,
        sources=tuple(paths),
        runs=() if errors or of_task or asked.corrects_judge else _runs(used, specs),
        scored=() if asked.corrects_judge else tuple(one for one in scored(read) if one.lacks),
        divisions=() if errors or options.group_by or not whole else dividing_columns(read),
        judged=judged,
        folds=table is not None and table.folds is not None,
        worth=None if sizes is None else sizes.effective_size,
        **_holes(scores, means),
    )


def refusing(error: RiskrankError) -> Problem:
    """An error as a problem of the table."""
    return Problem(severity="error", what=error.what, found=error.found, hint=error.hint, ways=error.ways)


def _holes(scores: Scores, means: Rows) -> dict[str, Any]:
    """Samples that some models lack, and pairs of models that share too few, where these are compared so."""
    if scores.options.missing != SHARED:
        return {}
    whole = ~np.isnan(means.values).any(axis=1)
    there = missing_scores.covered(scores, means.model[whole], means.sample[whole])
    lacking = (~there).sum(axis=0)
    holes = [
        Hole(sample=scores.samples[at], models=tuple(np.array(scores.models)[~there[:, at]].tolist()))
        for at in np.argsort(-lacking, kind="stable").tolist()
        if lacking[at]
    ]
    shared = there.astype(np.int64) @ there.T
    few = [(i, j) for i, j in np.argwhere(shared < FEWEST_SHARED).tolist() if i < j]
    return {"holes": tuple(holes), "apart": tuple((scores.models[i], scores.models[j]) for i, j in few)}


def _models(scores: Scores, covered: Booleans) -> tuple[InspectedModel, ...]:
    alone = covered.sum(axis=0) == 1
    return tuple(
        InspectedModel(name=name, samples=int(has.sum()), only_here=int((has & alone).sum()))
        for name, has in zip(scores.models, covered, strict=True)
    )


def _as_tested(found: Scores, errors: list[RiskrankError]) -> tuple[ScoreTable | None, list[RiskrankError]]:
    """The table as whoever tests reads it, and errors with theirs; of large tables and of judges nothing."""
    notes = found.notes
    if notes.rows > _MOST_ROWS or not notes.has_samples or notes.asked.corrects_judge:
        return None, errors
    asked, given = (replace(one, tests=True) for one in (notes.asked, notes.given))
    scores = replace(found, options=asked.as_read, notes=replace(notes, asked=asked, given=given))
    table, refused = _tried(checked_table, scores)
    if any(isinstance(one, UndeclaredError) for one in refused):  # what fits says a guess of it
        return None, errors
    if errors and not {one.what for one in refused} & {errors[0].what}:
        return table, errors
    ways = (one for one in refused if isinstance(one, InputError))
    return table, [*(tried_on(one, scores, checked_table, read_frame) for one in ways), *errors[1:]]


def _said_of(table: ScoreTable, sizes: ClusteredScores | None) -> list[str]:
    """What folds, few samples, or a few large clusters, mean for all that rests on them."""
    if table.folds is not None:
        return ["samples are folds, which share their training rows: only means can be compared"]
    if sizes is None:
        return []
    if sizes.effective_size < FEWEST_SAMPLES:
        many = f"{sizes.unit} a model, and there are {found_samples(sizes)}"
        return [f"a test needs at least {FEWEST_SAMPLES} {many}"]
    return [*weak_sizes(sizes).values()]


def _sizes(table: ScoreTable) -> ClusteredScores | None:
    """Scores of the first metric with what is drawn, where each draw counts alike."""
    if table.suite or table.noise is not None or table.folds is not None:
        return None
    first = [values[:, 0] for values in table.values]
    return ClusteredScores.build(first, table.clusters, samples=table.row_samples, paired=table.paired)


def _judged(scores: Scores, options: ReadOptions) -> ScoreTable:
    """The table of a judge corrected by people."""
    return corrected(checked_table(replace(scores, options=options.as_read)), options)


def _tried(step: Callable[..., _Made], *given: Any) -> tuple[_Made | None, list[RiskrankError]]:
    """What a step gives, or why it gives nothing."""
    try:
        return step(*given), []
    except RiskrankError as error:
        return None, [error]


def _read(paths: Paths, options: ReadOptions, stdin: BinaryIO | None) -> Scores:
    """Read a table; one without a sample column is one row a model, if no model has two."""
    try:
        return read_frame(paths, options, stdin)
    except InputError as error:
        once = "-" in paths or isinstance(error, BeyondLimitError)
        if once or options.sample_optional or options.corrects_judge:
            raise
        try:
            scores = read_frame(paths, replace(options, sample_optional=True), stdin)
        except InputError:
            scores = None
        if scores is None or scores.notes.has_samples or _rows_per_cell(scores).max(initial=0) > 1:
            raise
        return scores


def _one_by_one(scores: Scores) -> Scores:
    """The same scores, of which each model's are averaged and none is refused."""
    return scores.asking(missing="keep", repeats="mean", unpaired=True, noise=(), folds=None)


def _runs(scores: Scores, specs: Specs) -> tuple[ClusteredScores, ...]:
    """Scores of every metric with their repeats, if there are any."""
    if scores.options.repeats != "draws" or scores.has("cluster"):
        return ()
    rows, _ = assemble(scores, scores.values)
    cuts = np.searchsorted(rows.model, np.arange(1, len(scores.models)))
    samples = [np.unique(part, return_inverse=True)[1] for part in np.split(rows.sample, cuts)]
    return tuple(
        ClusteredScores.build(np.split(rows.values[:, code], cuts), samples, paired=False)
        for code in range(len(specs))
    )


def _tasks(scores: Scores, means: Rows, of_task: OfTask) -> tuple[InspectedTask, ...]:
    cuts = np.searchsorted(means.model, np.arange(1, len(scores.models)))
    samples = np.split(means.sample, cuts)
    wanted = scores.has("task") or bool(scores.options.task_weight)
    suite = suite_of(scores, scores.samples, samples, of_task) if wanted else NO_SUITE
    if not suite:
        return ()
    names, valid = scores.names("task"), ~scores.invalid()
    shape = (len(names), len(scores.models))
    counts = counts_by(scores.codes("task")[valid], scores.codes("model")[valid], shape)
    own = of_task or {}
    return tuple(
        InspectedTask(
            name=name,
            samples=size,
            weight=weight,
            metrics=(own[name].name,) if name in own else scores.metrics,
            fewest_scores=int(counts[names.index(name)].min()),
            most_scores=int(counts[names.index(name)].max()),
        )
        for name, size, weight in zip(suite.names, suite.sizes.tolist(), suite.weights.tolist(), strict=True)
    )


def _incomplete(scores: Scores, specs: Specs, means: Rows, *, whole: bool) -> Iterable[RiskrankError]:
    if scores.options.missing == SHARED:
        scores = scores.asking(missing="keep")
    scores = scores.over_noise
    absent = [*incomplete_tasks(scores)] or [*incomplete_tasks(scores, means)]
    yield from absent
    kept = scores.asking(missing="keep")
    repeated = [] if whole else _tried(assemble, kept, kept.values)[1]
    yield from repeated
    scores = scores.asking(repeats="mean") if repeated else scores
    refusals: dict[str, RiskrankError] = {}
    # Different sample sets hide missing cells, which the unpaired reading tells apart.
    paired_only = bool(scores.options.noise or scores.options.folds)
    for unpaired in () if whole else sorted({scores.options.unpaired, not paired_only}):
        for refusal in _tried(assemble, scores.asking(unpaired=unpaired), scores.values)[1]:
            refusals.setdefault(refusal.what, refusal)
    yield from () if absent else refusals.values()
    if not scores.options.allow_constant:
        yield from constant_metrics(scores, means.values, specs)


def _undeclared(specs: Specs, options: ReadOptions) -> Iterable[str]:
    """Warn of columns of a wide table that are metrics only because they hold numbers."""
    names = [spec.name for spec in specs if not spec.declared and spec.name not in options.metric]
    if options.wide and options.matrix is None and names:
        yield (
            f"columns taken as metrics, higher is better, though nobody declared them: {listing(names)}; "
            f"{option('metric')} picks the metrics, {option('lower')} and {option('higher')} say which way"
        )


def _dropped(scores: Scores) -> tuple[str, ...]:
    """What is dropped where scores are laid out."""
    laid_out, _ = _tried(assemble, scores, scores.values)
    return laid_out[1] if laid_out else ()


def _rows_per_cell(scores: Scores) -> np.ndarray:
    cell = scores.codes("model") * len(scores.samples) + scores.codes("sample")
    cell = cell * len(scores.metrics) + scores.codes("metric")
    possible = len(scores.models) * len(scores.samples) * len(scores.metrics)
    return np.bincount(numbered(cell, possible)[1])


def _missing(scores: Scores, specs: Specs, means: Rows, of_task: OfTask) -> list[int]:
    """Cells of each metric without a usable score; of a metric of some tasks, among their samples."""
    there, every = ~np.isnan(means.values), np.ones(len(scores.samples), dtype=bool)
    found = []
    for code, spec in enumerate(specs):
        own, column = every, code
        if of_task is not None:
            tasks = [at for at, name in enumerate(scores.names("task")) if of_task.get(name) == spec]
            own, column = np.isin(scores.task_of_samples(), tasks), 0
        rows = own[means.sample]
        cells = rows.sum() if scores.options.unpaired else len(scores.models) * own.sum()
        found.append(int(cells - there[rows, column].sum()))
    return found


def _describe(scores: Scores, spec: MetricSpec, code: int, missing: int) -> MetricRow:
    usable = scores.values[(scores.codes("metric") == code) & ~scores.invalid()] + 0.0
    values, counts = np.unique(usable, return_counts=True)
    low, high = spec.bounds or (-np.inf, np.inf)
    n = usable.size
    # Not a matrix product: its last bit hangs on where in memory the arrays lie.
    mean = float((values * counts).sum() / n) if n else math.nan
    return MetricRow(
        metric=spec.name,
        direction=spec.direction,
        declared=spec.declared,
        transform=spec.transform,
        scale=spec.scale,
        n=n,
        minimum=float(values[0]) if n else None,
        maximum=float(values[-1]) if n else None,
        mean=mean if math.isfinite(mean) else None,
        distinct=values.size,
        tied_share=float(counts[counts > 1].sum() / n) if n else 0.0,
        missing=missing,
        outside_bounds=int(np.count_nonzero((usable < low) | (usable > high))),
        constant=values.size == 1 and n > 1,
    )
