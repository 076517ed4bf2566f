"""Scores that no method can use, each described by the error it would raise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from riskrank.engine.types import Integers
from riskrank.errors import InputError, listing, option
from riskrank.scores.table import parsing
from riskrank.scores.table.entries import Entries
from riskrank.scores.table.metrics_file import MetricSpec

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


def unusable_scores(entries: Entries, *, nan_is_missing: bool) -> Iterator[InputError]:
    """Yield an error for text, infinities and NaN among the scores, each with its first place.

    Parameters
    ----------
    entries : Entries
    nan_is_missing : bool
        Whether NaN is to be taken for a missing score.
    """
    if entries.state is None:
        return
    for kind, (what, hint) in _WRONG.items():
        if kind == parsing.NOT_A_NUMBER and nan_is_missing:
            continue
        at = np.flatnonzero(entries.state == kind)
        if at.size:
            first = int(at[0])
            more = f"; {at.size:,} such scores in all" if at.size > 1 else ""
            yield InputError(
                f"{entries.place(first)}: the score {what}",
                found=f"{entries.score_text(first)!r} for {entries.cell(first)}{more}",
                hint=hint,
            )


def too_large(entries: Entries, largest: float) -> Iterator[InputError]:
    """Yield an error if a score is larger in size than the command can compute with."""
    with np.errstate(invalid="ignore"):
        beyond = np.abs(entries.value) > largest
    if beyond.any():
        yield _wrong_score(
            entries,
            beyond,
            "is too large to compute with",
            f"beyond {largest:g}",
            "leave it empty if it stands for a missing one, or give the metric in a larger unit, "
            "such as thousands",
        )


def out_of_range(entries: Entries, specs: Sequence[MetricSpec]) -> Iterator[InputError]:
    """Yield an error for each metric with scores outside its bounds or without the logarithm it needs."""
    for code, spec in enumerate(specs):
        if spec.bounds is not None:
            low, high = spec.bounds
            outside = (entries.metric == code) & ((entries.value < low) | (entries.value > high))
            if outside.any():
                yield _wrong_score(
                    entries,
                    outside,
                    f"is outside the bounds of metric '{spec.name}'",
                    f"bounds [{low:g}, {high:g}]",
                    "correct the score, or the bounds in the metrics file",
                )
        if spec.transform == "neg_log":
            no_log = (entries.metric == code) & (entries.value <= 0)
            if no_log.any():
                yield _wrong_score(
                    entries,
                    no_log,
                    f"has no logarithm, which transform neg_log of metric '{spec.name}' needs",
                    "not a positive number",
                    "add a small constant to these scores beforehand, or remove the transform",
                )


def constant_metrics(
    entries: Entries, values: np.ndarray, specs: Sequence[MetricSpec]
) -> Iterator[InputError]:
    """Yield an error for each metric that has one value only.

    Parameters
    ----------
    entries : Entries
    values : ndarray of float64, shape (rows, m)
        The scores of all models; NaN is passed over.
    specs : sequence of MetricSpec
    """
    filled = [values[~np.isnan(values[:, code]), code] for code in range(len(specs))]
    constant = [scores.size > 1 and scores.min() == scores.max() for scores in filled]
    others = [spec.name for spec, is_constant in zip(specs, constant, strict=True) if not is_constant]
    for code, spec in enumerate(specs):
        if constant[code]:
            first = int(np.flatnonzero((entries.metric == code) & ~entries.invalid())[0])
            yield InputError(
                f"{entries.files()}: metric '{spec.name}' is constant, it cannot tell the models apart",
                found=f"{entries.value[first]:g} for every model and sample",
                hint="leave it out: " + " ".join(option("metric", name) for name in others[:8])
                if others
                else "score the models with another metric",
            )


def divided_samples(entries: Entries, *, unpaired: bool) -> Iterator[InputError]:
    """Yield an error if a sample lies in two clusters, or in two groups.

    Parameters
    ----------
    entries : Entries
    unpaired : bool
        Whether models have samples of their own, so that equal names mean nothing.
    """
    yield from _divided(entries, entries.cluster, entries.clusters, "cluster", unpaired)
    yield from _divided(entries, entries.group, entries.groups, "group", unpaired)


def _divided(
    entries: Entries, codes: Integers | None, names: Sequence[str], whole: str, unpaired: bool
) -> Iterator[InputError]:
    if codes is None:
        return
    key = entries.model * len(entries.samples) + entries.sample if unpaired else entries.sample
    order = np.argsort(key, kind="stable")
    first = order[np.searchsorted(key[order], key)]
    at = np.flatnonzero(codes[first] != codes)
    if at.size:
        entry, earlier = int(at[0]), int(first[at[0]])
        found = [names[codes[row]] for row in (earlier, entry)]
        yield InputError(
            f"{entries.place(entry)}: sample '{entries.samples[entries.sample[entry]]}' lies in two {whole}s",
            found=f"'{found[1]}' here and '{found[0]}' {entries.near(earlier, entry)}",
            hint=f"a sample belongs to one {whole}, the same for all models: correct the column, or name "
            f"samples so that they differ between {whole}s",
        )


def too_few_models(entries: Entries, least: int) -> Iterator[InputError]:
    """Yield an error if fewer than `least` models are left."""
    if len(entries.models) < least:
        yield InputError(
            f"{entries.files()}: a comparison needs at least {least} models",
            found="; ".join([f"{len(entries.models)} model: {listing(entries.models)}", *entries.notes[:3]]),
            hint="add the scores of another model (several files can be given), "
            f"or select more with {option('models')}",
        )


def _wrong_score(entries: Entries, wrong: np.ndarray, what: str, found: str, hint: str) -> InputError:
    at = np.flatnonzero(wrong)
    first = int(at[0])
    more = f"; {at.size:,} such scores in all" if at.size > 1 else ""
    return InputError(
        f"{entries.place(first)}: the score {what}",
        found=f"{float(entries.value[first])!r} for {entries.cell(first)}, {found}{more}",
        hint=hint,
    )
