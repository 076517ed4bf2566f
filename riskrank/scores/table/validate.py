"""Scores that no method can use, each described by the error it would raise."""

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.types import Integers
from riskrank.errors import InputError, listing, option
from riskrank.options.flags import among_commas
from riskrank.scores.files import parsing
from riskrank.scores.files.sql_names import leaving_out
from riskrank.scores.table.metric_checks import doubtful_directions, doubtful_numbers
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.missing_scores import way_out
from riskrank.scores.table.oriented_scores import Rows
from riskrank.scores.table.repeats import assemble
from riskrank.scores.table.score_counts import counts_by
from riskrank.scores.table.scores import Scores

# Models and tasks that a message names.
_MOST_NAMED = 4

_WRONG = {
    parsing.TEXT: (
        "is not a number",
        f"correct it, leave it empty if it is missing, or pick other metrics with {option('metric')}",
    ),
    parsing.INFINITE: (
        "is infinite",
        "give it a finite value; where a run did not end, what it had used up by then, or the most there can "
        "be: to leave it out would flatter who failed",
    ),
    parsing.NOT_A_NUMBER: ("is NaN", ""),
}


def unusable(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield an error for each kind of score that nothing can be computed of, with its first place."""
    options = scores.options
    yield from _too_few_models(scores, options.min_models)
    yield from _no_numbers(scores, nan_is_missing=options.missing != "error")
    yield from _too_large(scores, options.largest)
    yield from _out_of_range(scores, specs)
    yield from doubtful_numbers(scores, specs)
    if options.tests:
        yield from doubtful_directions(scores, specs)
    yield from _divided_samples(scores, unpaired=options.unpaired)


def _no_numbers(scores: Scores, *, nan_is_missing: bool) -> Iterator[InputError]:
    """Text, infinities and NaN among the scores."""
    for kind, (what, hint) in _WRONG.items():
        if kind == parsing.NOT_A_NUMBER and nan_is_missing:
            continue
        wrong = scores.states == kind
        if kind == parsing.TEXT and wrong.any():
            hint = _of_text(scores)
        for error in _wrong(scores, wrong, what, "", hint):
            yield _of_nan(scores, error) if kind == parsing.NOT_A_NUMBER else error


def _of_nan(scores: Scores, error: InputError) -> InputError:
    """The error of a NaN, with the way out of the gaps it stands for."""
    rows, _ = assemble(scores.asking(missing="keep", repeats="mean"), scores.values)
    hint, ways = way_out(scores, rows)
    return InputError(error.what, found=error.found, hint=hint, ways=ways)


def _of_text(scores: Scores) -> str:
    """What to do about text among the scores, where all of a long table are written alike and where not."""
    from riskrank.scores.table.written_numbers import as_numbers, writing_of

    columns = {file.roles.score for file in scores.notes.files}
    name = columns.pop()
    sources = [file.source for file in scores.notes.files]
    found = {writing_of(source.load([name])[name]) for source in sources} if name and not columns else {None}
    writing = found.pop()
    if name is None or writing is None or found:
        return _WRONG[parsing.TEXT][1]
    return as_numbers(sources, {name: writing})


def _too_large(scores: Scores, largest: float) -> Iterator[InputError]:
    """A score is larger in size than the command can compute with."""
    with np.errstate(invalid="ignore"):
        beyond = np.abs(scores.values) > largest
    hint = "leave it empty if it stands for a missing one, or give the metric in thousands"
    yield from _wrong(scores, beyond, "is too large to compute with", f"beyond {largest:g}", hint)


def _out_of_range(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Metrics with scores outside their bounds or without the logarithm they need."""
    for code, spec in enumerate(specs):
        name, values = f"metric '{spec.name}'", scores.values
        if spec.bounds is not None:
            low, high = spec.bounds
            outside = (scores.codes("metric") == code) & ((values < low) | (values > high))
            hint = "correct the score, or the bounds in the metrics file"
            yield from _wrong(
                scores, outside, f"is outside the bounds of {name}", f"bounds [{low:g}, {high:g}]", hint
            )
        if spec.transform == "neg_log":
            what = f"has no logarithm, which transform neg_log of {name} needs"
            hint = "add a small constant to these scores beforehand, or remove the transform"
            no_log = (scores.codes("metric") == code) & (values <= 0)
            yield from _wrong(scores, no_log, what, "not a positive number", hint)


def incomplete_tasks(scores: Scores, rows: Rows | None = None) -> Iterator[InputError]:
    """Yield an error if a model has no score of a task, and if a task has too few samples for a spread.

    Parameters
    ----------
    scores : Scores
    rows : Rows, optional
        What is left of the scores; without them a model is missed where it never had a score.
    """
    if not scores.in_tasks:
        return
    if rows is None:
        valid = ~scores.invalid()
        model, task = scores.codes("model")[valid], scores.codes("task")[valid]
    else:
        model, task = rows.model, scores.task_of_samples()[rows.sample]
    shape = (len(scores.models), len(scores.names("task")))
    there = np.unique(scores.codes("task"))
    if there.size < 2:
        return
    counts = counts_by(model, task, shape)[:, there]
    yield from _absent_tasks(scores, there, counts, dropped=rows is not None)
    if rows is not None and scores.options.weighs_tasks:
        _, at = np.unique(rows.model * len(scores.samples) + rows.sample, return_index=True)
        least = counts_by(rows.model[at], task[at], shape)[:, there].min(axis=0)
        if scores.notes.tasks_named or least.max() > 1:
            yield from _small_tasks(scores, there, least)


def constant_metrics(scores: Scores, values: np.ndarray, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield an error for each metric that has one value only.

    Parameters
    ----------
    scores : Scores
    values : ndarray of float64, shape (rows, m)
        The scores of all models; NaN is passed over.
    specs : sequence of MetricSpec
    """
    filled = [values[~np.isnan(values[:, code]), code] for code in range(len(specs))]
    constant = [scores.size > 1 and scores.min() == scores.max() for scores in filled]
    others = [spec.name for spec, is_constant in zip(specs, constant, strict=True) if not is_constant]
    for code, spec in enumerate(specs):
        if constant[code]:
            first = int(np.flatnonzero((scores.codes("metric") == code) & ~scores.invalid())[0])
            rest = " ".join(option("metric", name) for name in others[:8])
            yield InputError(
                f"{scores.files()}: metric '{spec.name}' is constant, it cannot tell the models apart",
                found=f"{scores.values[first]:g} for every model and sample",
                hint=f"leave it out: {rest}" if others else "score the models with another metric",
            )


def _divided_samples(scores: Scores, *, unpaired: bool) -> Iterator[InputError]:
    """A sample lies in two clusters, or in two groups; of unpaired models equal names mean nothing."""
    for whole in filter(scores.has, ("cluster", "group")):
        codes, key = scores.codes(whole), scores.codes("sample")
        if unpaired:
            key += scores.codes("model") * len(scores.samples)
        order = np.argsort(key, kind="stable")
        first = order[np.searchsorted(key[order], key)]
        at = np.flatnonzero(codes[first] != codes)
        if at.size:
            entry, earlier = int(at[0]), int(first[at[0]])
            found = [scores.frame[whole][row] for row in (earlier, entry)]
            yield InputError(
                f"{scores.place(entry)}: sample '{scores.frame['sample'][entry]}' lies in two {whole}s",
                found=f"'{found[1]}' here and '{found[0]}' {scores.near(earlier, entry)}",
                hint=f"a sample belongs to one {whole}, the same for all models: correct the column, or "
                f"name samples so that they differ between {whole}s",
            )


def _too_few_models(scores: Scores, least: int) -> Iterator[InputError]:
    if len(scores.models) < least:
        there = f"{len(scores.models)} model: {listing(scores.models)}"
        found = "; ".join([there, *scores.notes.warnings[:3]])
        select = f"select more with {option('models')}"
        hint = f"add the scores of another model (several files can be given), or {select}"
        what = f"{scores.files()}: a comparison needs at least {least} models"
        yield InputError(what, found=found, hint=hint)


def _wrong(scores: Scores, wrong: np.ndarray, what: str, why: str, hint: str) -> Iterator[InputError]:
    """The error of scores that cannot be used, if there are any, with the first of them."""
    if not wrong.any():
        return
    first, count = int(np.argmax(wrong)), scores.count(wrong)
    # A number as it is computed with; what is none as the file has it.
    text = repr(float(scores.values[first])) if why else repr(scores.text(first))
    more = f"; {count:,} such scores in all" if count > 1 else ""
    found = f"{text} for {scores.cell(first)}{', ' * bool(why)}{why}{more}"
    yield InputError(f"{scores.place(first)}: the score {what}", found=found, hint=hint)


def _absent_tasks(
    scores: Scores, there: Integers, counts: Integers, *, dropped: bool
) -> Iterator[InputError]:
    """Models without a score of a task."""
    lacking = np.argwhere(counts == 0)
    if not lacking.size:
        return
    names = scores.names("task")
    pairs = [(scores.models[model], names[there[task]]) for model, task in lacking.tolist()]
    who, what = pairs[0]
    every = [name for name, row in zip(scores.models, counts, strict=True) if row.all()]
    tasks = list(dict.fromkeys(task for _, task in pairs))
    ways = []
    if len(every) > 1:
        ways.append(f"{option('models', among_commas(every))} compares those that have all tasks")
    if len(tasks) < there.size:
        ways.append(f"{_without_tasks(scores, tasks)} compares on the other tasks")
    lost = f"nothing is left of task '{what}' that all models have"
    said = lost if dropped else f"model '{who}' has no score of task '{what}'"
    empty = listing((f"{model} has no {task}" for model, task in pairs), _MOST_NAMED)
    found = f"{len(pairs)} of {counts.size:,} pairs of model and task are empty: {empty}"
    hint = "; ".join(ways) or f"{option('task', 'none')} pools the samples of all tasks"
    yield InputError(f"{scores.files()}: {said}", found=found, hint=hint)


def _small_tasks(scores: Scores, there: Integers, units: Integers) -> Iterator[InputError]:
    """Tasks with too few samples for a spread."""
    names = scores.names("task")
    small = [names[task] for task, count in zip(there.tolist(), units.tolist(), strict=True) if count < 2]
    if small:
        yield InputError(
            f"{scores.files()}: {'a task has' if len(small) == 1 else 'tasks have'} one sample: no spread",
            found=f"{listing(small)}, of {len(units)} tasks",
            hint=f"leave {'it' if len(small) == 1 else 'them'} out: {_without_tasks(scores, small)}; "
            f"or {option('task', 'none')} pools the samples of all tasks"
            if len(small) < len(units)
            else f"{option('task', 'none')} compares without tasks",
        )


def _without_tasks(scores: Scores, names: Sequence[str]) -> str:
    """How to read a table without some tasks."""
    column = str(scores.notes.files[0].roles.task)
    return option("where", leaving_out(column, names, scores.names("task"), scores.options.where))
