"""Tables that nothing explains: what is missing, in the words of the file."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, listing, option
from riskrank.scores.files.source import Source
from riskrank.scores.names.directions import names_a_metric
from riskrank.scores.names.words import vocabulary, words
from riskrank.scores.table.columns import named_columns, named_roles
from riskrank.scores.table.shapes.columns import Columns
from riskrank.scores.table.shapes.reading import written
from riskrank.scores.table.written_numbers import example, refuse_mixed

_ROLES = ("model", "sample", "metric", "score")
# What counts how far a training run is.
_STEPS = vocabulary("global train training step steps epoch epochs iteration iterations iter")


def require_no_curves(columns: Columns, *, of_models: bool = False) -> None:
    """Refuse steps of training, which follow from each other and are no samples.

    Raises
    ------
    InputError
    """
    for name in (one for one in columns.names if words(one) and words(one) <= _STEPS):
        steps = columns.numbers(name) if columns.kind(name) == "number" else np.zeros(0)
        if steps.size > 1 and (of_models or np.all(np.diff(steps) > 0)):
            raise InputError(
                f"{columns.label}: steps of a training run follow from each other, and are no samples",
                found=f"a row a {name}, from {steps.min():g} to {steps.max():g}",
                hint="train each with several seeds, and write a row a run: model, seed and its last score",
            )


def no_reading(columns: Columns, given: Sequence[Source], options: ReadOptions) -> InputError:
    """Say which columns are missing."""
    source = given[0]
    text = [name for name in columns.names if columns.kind(name) == "text" and names_a_metric(name)]
    refuse_mixed(source, columns.frame.select(text), "metric")
    asked = [name for name in columns.names if name in options.metric and columns.kind(name) == "text"]
    if asked:
        return _text_asked(columns, asked[0])
    roles = named_columns(source, named_roles(options), _ROLES)
    numbers = [name for name in columns.names if columns.kind(name) == "number"]
    lacking = [role for role in _ROLES[:2] if role not in roles]
    if "sample" in lacking:
        require_no_curves(columns, of_models=True)
    lacking += [] if options.wide or numbers else ["score"]
    lacking = lacking or ["metric", "score"]
    plural = "s" if len(lacking) > 1 else ""
    return InputError(
        f"{source.label}: missing column{plural} {listing(repr(role) for role in lacking)}",
        found=f"columns: {listing(source.columns, 20)}",
        hint=source.rewritten() or _hint(source, lacking),
    )


def _text_asked(columns: Columns, name: str) -> InputError:
    held = columns.frame[name].unique().sort()
    return InputError(
        f"{columns.label}: column '{name}' is text, no score",
        found=f"{len(held):,} different texts, such as {example(held)}",
        hint="write a number in place of each; two words alone are read as 1 and 0: passed and failed",
    )


def too_many_columns(source: Source, readings: Sequence[ReadOptions], options: ReadOptions) -> InputError:
    """Say that nobody means each of so many columns."""
    return InputError(
        f"{source.label}: {len(source.columns):,} columns, and what they are has to be said",
        found=f"columns: {listing(source.columns, 20)}",
        hint=f"name the metrics, {option('metric', 'NAME')}, or the models, {option('models', 'A,B')}",
        ways=[(way, None) for one in readings if (way := written(one, options))],  # not what was asked
    )


def _hint(source: Source, lacking: Sequence[str]) -> str:
    asked = ",".join(f"{role}=…" for role in lacking)
    told = f"say which columns they are: {option('columns', asked)}" if lacking else "name the metrics"
    if lacking == ["model"] and Path(source.label).is_file():
        told += f"; or name the only model of this file: NAME={source.label}"
    return f"{told}; single values and summaries cannot be tested"
