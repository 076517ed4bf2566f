"""Scores that no method can use, each described by the error it would raise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.errors import InputError, listing, option
from riskrank.scores.table import parsing
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.scores.table.scores import Scores
from riskrank.scores.table.written_numbers import as_numbers, writing_of

_WRONG = {
    parsing.TEXT: (
        "is not a number",
        f"correct it, leave it empty if it is missing, or pick other metrics with {option('metric')}",
    ),
    parsing.INFINITE: (
        "is infinite",
        f"give it a finite value, or leave it empty and use {option('missing', 'drop')}",
    ),
    parsing.NOT_A_NUMBER: (
        "is NaN",
        f"{option('missing', 'drop')} leaves out the samples that have a NaN or a gap",
    ),
}


def unusable(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield an error for each kind of score that nothing can be computed of, with its first place."""
    options = scores.options
    yield from _too_few_models(scores, options.min_models)
    yield from _no_numbers(scores, nan_is_missing=options.missing != "error")
    yield from _too_large(scores, options.largest)
    yield from _out_of_range(scores, specs)
    yield from _divided_samples(scores, unpaired=options.unpaired)


def _no_numbers(scores: Scores, *, nan_is_missing: bool) -> Iterator[InputError]:
    """Text, infinities and NaN among the scores."""
    if scores.states is None:
        return
    for kind, (what, hint) in _WRONG.items():
        if kind == parsing.NOT_A_NUMBER and nan_is_missing:
            continue
        at = np.flatnonzero(scores.states == kind)
        if at.size:
            first = int(at[0])
            more = f"; {at.size:,} such scores in all" if at.size > 1 else ""
            yield InputError(
                f"{scores.place(first)}: the score {what}",
                found=f"{scores.text(first)!r} for {scores.cell(first)}{more}",
                hint=_of_text(scores) if kind == parsing.TEXT else hint,
            )


def _of_text(scores: Scores) -> str:
    """What to do about text among the scores, where all of a long table are written alike and where not."""
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
    if beyond.any():
        yield _wrong_score(
            scores,
            beyond,
            "is too large to compute with",
            f"beyond {largest:g}",
            "leave it empty if it stands for a missing one, or give the metric in a larger unit, "
            "such as thousands",
        )


def _out_of_range(scores: Scores, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Metrics with scores outside their bounds or without the logarithm they need."""
    for code, spec in enumerate(specs):
        if spec.bounds is not None:
            low, high = spec.bounds
            outside = (scores.codes("metric") == code) & ((scores.values < low) | (scores.values > high))
            if outside.any():
                yield _wrong_score(
                    scores,
                    outside,
                    f"is outside the bounds of metric '{spec.name}'",
                    f"bounds [{low:g}, {high:g}]",
                    "correct the score, or the bounds in the metrics file",
                )
        if spec.transform == "neg_log":
            no_log = (scores.codes("metric") == code) & (scores.values <= 0)
            if no_log.any():
                yield _wrong_score(
                    scores,
                    no_log,
                    f"has no logarithm, which transform neg_log of metric '{spec.name}' needs",
                    "not a positive number",
                    "add a small constant to these scores beforehand, or remove the transform",
                )


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
            yield InputError(
                f"{scores.files()}: metric '{spec.name}' is constant, it cannot tell the models apart",
                found=f"{scores.values[first]:g} for every model and sample",
                hint="leave it out: " + " ".join(option("metric", name) for name in others[:8])
                if others
                else "score the models with another metric",
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
        yield InputError(
            f"{scores.files()}: a comparison needs at least {least} models",
            found="; ".join(
                [f"{len(scores.models)} model: {listing(scores.models)}", *scores.notes.warnings[:3]]
            ),
            hint="add the scores of another model (several files can be given), "
            f"or select more with {option('models')}",
        )


def _wrong_score(scores: Scores, wrong: np.ndarray, what: str, found: str, hint: str) -> InputError:
    at = np.flatnonzero(wrong)
    first = int(at[0])
    more = f"; {at.size:,} such scores in all" if at.size > 1 else ""
    return InputError(
        f"{scores.place(first)}: the score {what}",
        found=f"{float(scores.values[first])!r} for {scores.cell(first)}, {found}{more}",
        hint=hint,
    )
