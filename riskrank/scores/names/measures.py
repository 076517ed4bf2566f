"""What is a score among columns of numbers, and what is bookkeeping beside it."""

from collections.abc import Collection, Mapping

import numpy as np
import polars as pl

from riskrank.errors import listing, option
from riskrank.scores.names.directions import counted_until, is_duration, names_a_metric
from riskrank.scores.names.vocabulary import (
    is_spread,
    known,
    looks_like_an_identifier,
    says,
    vocabulary,
    words,
)

# Words for how something was run, how large it is, or what was used up: no score of anything.
_SETTINGS = known("settings")
# Names that say so as a whole: in others the same words may mean anything.
_WHOLE_NAMES = {*map(words, ("top_p", "p_value", "page", "line", "worker", "year"))}
# Words for what samples are like, whoever answers them, and for the best there is of each.
# What was predicted is no score, nor is what it is called beside that.
_PREDICTED = known("predicted")
_OF_SCORES = vocabulary("score value label grade rating")
_NO_MODELS = _SETTINGS | known("places", "identifier")
# Columns that are scores, and those that are none, with what they are.
Measured = tuple[list[str], dict[str, str]]
NAMES_ROWS = "names or numbers rows"
"""What is said of a column that is no measurement at all."""
# Where nothing but its name tells, an average has at least so many columns to be one of.
_FEWEST_AVERAGED = 3


def scores_and_bookkeeping(
    columns: Mapping[str, np.ndarray],
    series: Mapping[str, pl.Series],
    kept: Collection[str] = (),
    *,
    constant: bool = True,
    models: bool = False,
) -> Measured:
    """Columns of numbers that are scores, and those that are none, with what they are.

    Parameters
    ----------
    columns : mapping of str to ndarray
        Numbers of each, NaN where there is none.
    series : mapping of str to Series
        The same as the file has them.
    kept : collection of str
        Names somebody said something of: these are scores.
    constant : bool
        Whether numbers that are the same in every row may be scores.
    models : bool
        Whether columns may be called like a model: all words of a name have to say that it is none.
    """
    out = {
        name: why
        for name in columns
        if name not in kept and (why := _by_name(name, series[name], whole_name=models))
    }
    durations = {name for name in columns if is_duration(name)}
    left = {name: name in durations for name in columns if name not in out}
    for name in [one for one in left if one not in kept]:
        values = columns[name]
        others = len(left) - sum(left.values()) - (name not in durations)
        if is_spread(name) and others:
            out[name] = "a spread or a count"
        elif says(name, "averages") and _is_average(columns, name, left):
            out[name] = "an average of the others"
        elif models and says(name, "best") and _is_best(columns, name, left):
            out[name] = "the best of the others"
        elif name in durations and others:
            out[name] = "how long it took"
        elif others and not constant and values.size > 1 and (values == values[0]).all():
            out[name] = "the same in every row"
        if name in out:
            del left[name]
    return [name for name in columns if name not in out], out


def left_out(found: Mapping[str, str]) -> str:
    """What is said of columns that are left out."""
    told: dict[str, list[str]] = {}
    for name, why in found.items():
        told.setdefault(why, []).append(name)
    name, one = (next(iter(found)), "it") if len(found) == 1 else ("NAME", "one")
    parts = [f"{listing(names, 6)} ({why})" for why, names in told.items()]
    return "; ".join([*parts, f"{option('metric', name)} takes {one} back"])


def _by_name(name: str, series: pl.Series, *, whole_name: bool) -> str:
    found = words(name)
    if found & _PREDICTED and found <= _PREDICTED | _OF_SCORES and not whole_name:
        return "what was predicted"
    if whole_name and found and found <= known("properties"):
        return "what samples are like"
    if found in _WHOLE_NAMES:
        return "how it was run, or where"
    if whole_name and not found <= _NO_MODELS:
        return ""
    told = names_a_metric(name) and not found & (known("places") | {"id", "ids", "index"})
    if told or "per" in found or counted_until(name):
        return ""
    if found <= known("places"):
        return "a rank"
    if looks_like_an_identifier(name, series) or found & {"id", "ids", "uuid", "timestamp"}:
        return NAMES_ROWS
    if found & _SETTINGS and not found & known("human", "judge"):
        return "how it was run"
    return ""


def _is_average(columns: Mapping[str, np.ndarray], name: str, durations: Mapping[str, bool]) -> bool:
    """Whether a column that is called an average is one, or there is much to be averaged."""
    others = [other for other, is_time in durations.items() if other != name and not is_time]
    if len(others) < 2:
        return False
    if len(others) >= _FEWEST_AVERAGED:
        return True
    with np.errstate(invalid="ignore"):
        mean = np.nanmean(np.array([columns[other] for other in others]), axis=0)
    return bool(np.allclose(mean, columns[name], rtol=0.01, atol=1e-9, equal_nan=True))


def _is_best(columns: Mapping[str, np.ndarray], name: str, left: Collection[str]) -> bool:
    """Whether a column is the largest of the others in every row."""
    others = [columns[other] for other in left if other != name]
    return len(others) > 1 and np.array_equal(np.fmax.reduce(others), columns[name], equal_nan=True)
