"""How much of what was asked of each model has a score, and why the rest has none."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans, Integers
from riskrank.scores.files.parsing import ABSENT, UNSCORED
from riskrank.scores.files.source import Source
from riskrank.scores.names.vocabulary import has_word
from riskrank.scores.table.scores import Scores

# A table of all that may be is made while it is at most this many times larger than what there is.
DENSE = 4


@dataclass(frozen=True, kw_only=True)
class Scored:
    """Scores of one model on one metric; runs of a sample count one by one.

    Attributes
    ----------
    model, metric : str
    scored, total : int
    why : mapping of str to int
        How many have no score, by reason; less than all where nobody told.
    """

    model: str
    metric: str
    scored: int
    total: int
    why: Mapping[str, int]

    @property
    def lacks(self) -> int:
        """How many have no score."""
        return self.total - self.scored

    @property
    def absent(self) -> bool:
        """Whether there is no score at all, nor a row that would tell why."""
        return not self.scored and self.why.get(ABSENT) == self.total

    @property
    def said(self) -> str:
        """Scored of all, and the reasons: 108 of 120 (9 errors, 3 refusals)."""
        reasons = f" ({_in_words(self.why)})" if self.why else ""
        return f"{self.scored:,} of {self.total:,}{reasons}"


def scored(scores: Scores) -> tuple[Scored, ...]:
    """Of every model and metric how many scores there are and why others lack; empty where none lacks any."""
    cells = len(scores.models) * len(scores.samples) * len(scores.metrics)
    blank = scores.invalid()
    plain = scores.frame.height == cells and scores.options.repeats == "error"
    if not scores.notes.has_samples or (plain and not blank.any()):
        return ()
    absent = np.zeros((len(scores.models), len(scores.metrics)), dtype=np.int64)
    if not scores.options.unpaired:
        lacking_cells = absent_cells(scores)
        absent = counts_by(lacking_cells[:, 0], lacking_cells[:, 2], absent.shape)
    if not blank.any() and not absent.any():
        return ()
    model, metric = scores.codes("model"), scores.codes("metric")
    rows = counts_by(model, metric, absent.shape)
    lacking = counts_by(model[blank], metric[blank], absent.shape)
    why: dict[tuple[int, int], Counter[str]] = {}
    for place, reason in _reasons(scores, blank):
        why.setdefault((int(model[place]), int(metric[place])), Counter())[reason] += 1
    return tuple(
        Scored(
            model=scores.models[who],
            metric=scores.metrics[what],
            scored=int(rows[who, what] - lacking[who, what]),
            total=int(rows[who, what] + absent[who, what]),
            why=dict(sorted(why.get((who, what), {}).items()))
            | ({ABSENT: int(absent[who, what])} if absent[who, what] else {}),
        )
        for who, what in np.argwhere(rows + absent).tolist()
    )


def numbered(keys: Integers, possible: int) -> tuple[Integers, Integers]:
    """The different keys, which are below a number, and the place of each key among them.

    Nothing is sorted where few are lacking.
    """
    if possible > DENSE * keys.size:
        return np.unique(keys, return_inverse=True)
    there = np.zeros(possible, dtype=bool)
    there[keys] = True
    distinct = np.flatnonzero(there)
    return distinct, keys if distinct.size == possible else (np.cumsum(there) - 1)[keys]


def absent_cells(scores: Scores) -> Integers:
    """Model, sample and metric without a row, where another model has one: shape (n, 3), sorted."""
    model, metrics = scores.codes("model"), len(scores.metrics)
    asked = scores.codes("sample") * metrics + scores.codes("metric")
    every = len(scores.samples) * metrics
    # Metrics of few samples each leave most cells empty, and a table of all cells would not fit.
    if len(scores.models) * every <= DENSE * asked.size:
        there = np.zeros((len(scores.models), every), dtype=bool)
        there[model, asked] = True
        who, what = np.nonzero(np.any(there, axis=0) & ~there)
    else:
        known, asked = np.unique(asked, return_inverse=True)
        lacking = [
            np.flatnonzero(np.bincount(asked[model == at], minlength=known.size) == 0)
            for at in range(len(scores.models))
        ]
        who = np.repeat(np.arange(len(lacking)), [len(one) for one in lacking])
        what = known[np.concatenate(lacking)]
    return np.stack([who, what // metrics, what % metrics], axis=1).astype(np.int64)


def states_of(scores: Scores) -> Iterator[tuple[str, pl.Series]]:
    """Columns of all files that say how runs ended, and what they say of each row."""
    files = scores.notes.files
    shared = set.intersection(*(set(file.source.columns) for file in files))
    for name in (one for one in files[0].source.columns if one in shared and has_word(one, "status")):
        if name in files[0].roles.values and name in scores.metrics:
            continue
        said = pl.concat([file.source.load([name])[name].cast(pl.String, strict=False) for file in files])
        if said.len() == scores.notes.rows:
            yield name, said.fill_null("")


def why_missing(scores: Scores, count: int) -> str:
    """Why so many scores of all models and metrics are missing; where runs tell more reasons, by run."""
    why: Counter[str] = Counter()
    for one in scored(scores):
        why.update(one.why)
    del why[ABSENT]
    told = _in_words(why)
    return f"by run {told}" if why.total() > count else told


def _in_words(why: Mapping[str, int]) -> str:
    """Reasons with their counts: 9 errors, 3 refusals."""
    return ", ".join(
        f"{count:,} {reason}{'s' * (count != 1 and reason != ABSENT)}"
        for reason, count in sorted(why.items(), key=lambda item: (-item[1], item[0]))
    )


def counts_by(one: Integers, other: Integers, shape: tuple[int, ...]) -> Integers:
    """How often each pair of codes occurs, in a table of that shape."""
    found: Integers = np.bincount(one * shape[1] + other, minlength=shape[0] * shape[1]).reshape(shape)
    return found


def _reasons(scores: Scores, blank: Booleans) -> Iterator[tuple[int, str]]:
    """Rows without a score whose file tells why, and what it tells."""
    files, starts = scores.notes.files, np.array([file.start for file in scores.notes.files])
    rows = scores.frame["row"].to_numpy().astype(np.int64)
    inside = np.searchsorted(starts, rows, side="right") - 1
    told = [_told(file.source) for file in files]
    tells = np.array([column is not None for column in told])
    for place in np.flatnonzero(blank & tells[inside]).tolist():
        at = inside[place]
        reason = (told[at][int(rows[place] - starts[at])] or "").strip()
        # A column of numbers that happens to be called so says nothing.
        if any(map(str.isalpha, reason)):
            yield place, reason


def _told(source: Source) -> pl.Series | None:
    column = source.load([UNSCORED])[UNSCORED] if UNSCORED in source.columns else None
    return column if column is not None and column.dtype == pl.String else None
