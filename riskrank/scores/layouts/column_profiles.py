"""The columns of a file, looked at once: what each holds, and which of them tell rows apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from riskrank.errors import InputError
from riskrank.scores.files.parsing import MISSING_TEXT, column_kind, parse_scores
from riskrank.scores.files.source import Source
from riskrank.scores.names.directions import (
    is_duration,
    looks_like_a_cost,
    metric_in_file_name,
    clearly_higher_is_better,
    names_a_metric,
)
from riskrank.scores.names.score_columns import ROW_IDENTIFIER, ColumnSplit, split_score_columns
from riskrank.scores.names.vocabulary import (
    is_unnamed,
    vocabulary,
    looks_like_an_identifier,
    has_word,
    suggests_role,
    column_for_role,
    to_numeric,
    words,
)

if TYPE_CHECKING:
    from riskrank.scores.table.written_numbers import Writing

# More rows would take as long as reading them, and tell no more; of more columns nobody means each.
_MOST_ROWS, _MOST_COLUMNS = 2_000_000, 1_000
# Numbers that are kept, as several look at the same columns: 80 MB of them.
_MOST_KEPT = 10_000_000
# A larger share of cells of text is no mistake.
_MISTAKES = 0.1
# What why there is no score may be called.
_STATES = vocabulary("status") - {"outcome"}
# What counts the parts of so many wholes, up to so many, is a place in each.
_FEWEST_WHOLES, _FEWEST_PLACES = 3, 3
# The column of the file a row stands in, where files name their models.
FILE = "\0file"


@dataclass(eq=False)
class Columns:
    """Columns of a table, and what they tell of its rows.

    Parameters
    ----------
    frame : DataFrame
    names : sequence of str
        Columns that are looked at.
    label : str
        What the table is called.
    decimal_comma : bool
    by_file : bool
        Whether labels and files name models where nothing else does.
    all_seen : bool
        Whether no column was passed over.
    asked : collection of str
        Metrics somebody named.
    """

    frame: pl.DataFrame
    names: Sequence[str]
    label: str = ""
    decimal_comma: bool = False
    by_file: bool = False
    all_seen: bool = True
    asked: Collection[str] = ()

    def __post_init__(self) -> None:
        frame, self.names, self.height = self.frame, [*self.names], self.frame.height
        self.measured = metric_in_file_name(Path(self.label).stem)
        self.groups = self.count = cache(self._groups)
        self.held = cache(lambda name: column_kind(frame[name], self.decimal_comma))
        self.kind = cache(self._kind)
        self.numbers = lru_cache(_MOST_KEPT // max(frame.height, 1))(self._numbers)
        # Whether a column holds whole numbers.
        self.whole = cache(lambda name: bool(to_numeric(frame[name]).dtype.is_integer()))
        self.counts_within = cache(self._counts_within)

    @cached_property
    def written(self) -> dict[str, Writing]:
        """Columns of text that write all their numbers with the same sign behind, and scores in words."""
        from riskrank.scores.table.written_numbers import truths_of, writing_of

        text = [name for name in self.names if self.held(name) == "text"]
        found = {name: one for name in text if (one := writing_of(self.frame[name])) is not None}
        # Of several that are called as models are, each holds the outcomes of one: build_41, build_42.
        called = [name for name in text if column_for_role("model", [name]) is not None]
        judged = [name for name in text if len(called) > 1 or name not in called]
        truths = {name: one for name in judged if (one := truths_of(self.frame[name])) is not None}
        if not truths:
            return found
        counts = [name for name in self.names if self.held(name) == "number" and not self._is_role(name)]
        numbers = {name: parse_scores(self.frame[name], self.decimal_comma)[0] for name in counts}
        scores, beside = self._scores_among(numbers)
        there = [parse_scores(found[name].numbers(self.frame[name]), self.decimal_comma)[0] for name in found]
        there += [numbers[name] for name in scores]
        if there:
            # How runs ended is what is measured beside nothing but what they took.
            quality = bool(found) or not all(map(looks_like_a_cost, scores))
            truths = {
                name: one for name, one in truths.items() if name in self.asked or not (quality and one.ends)
            }
            return found | {name: one for name, one in truths.items() if self._is_score(name, one, there)}
        return _asked_about(truths, bool(beside))

    def _is_role(self, name: str) -> bool:
        return suggests_role(name) or looks_like_an_identifier(name, self.frame[name])

    def _is_score(self, name: str, one: Writing, others: Sequence[np.ndarray]) -> bool:
        """Whether truths beside numbers are a score, and neither a flag nor why there are no numbers."""
        if name in self.asked:
            return True
        if words(name) & _STATES:
            failed = one.numbers(self.frame[name]).to_numpy() == 0
            if any(np.isnan(numbers[failed]).mean() > 0.5 for numbers in others):
                return False
        told = has_word(name, "verdict") or (has_word(name, "truths") and clearly_higher_is_better(name))
        return not looks_like_a_cost(name) and (told or (one.truths is not None and one.truths.is_explicit))

    def _kind(self, name: str) -> str:
        """``number``, ``text``, ``empty`` or ``other``."""
        found = self.held(name)
        return "number" if found == "text" and name in self.written else found

    def of_kind(self, kind: str) -> list[str]:
        """Columns that hold numbers, text or something else."""
        return [name for name in self.names if self.kind(name) == kind]

    def _groups(self, *names: str) -> int:
        """How many different values a column has, or several together."""
        if not names:
            return 1
        found = self.frame[[*dict.fromkeys(names)]]
        return int(found.n_unique() if found.width > 1 else found.to_series().n_unique())

    def tell_apart(self, *names: str) -> bool:
        """Whether no two rows are the same in some columns."""
        # Together they have no more values than each times each, which costs far less to count.
        return prod(map(self.count, names)) >= self.height == self.groups(*names)

    def shared(self, name: str, by: Sequence[str]) -> float:
        """Share of the values of a column that occur with everything another column names."""
        if not by:
            return 1.0
        seen = self.frame.lazy().select(name, *by).unique().group_by(name).len().collect()["len"]
        return int((seen == self.groups(*by)).sum()) / max(seen.len(), 1)

    def constant_within(self, name: str, whole: Sequence[str]) -> bool:
        """Whether a column says the same of all rows that agree in others."""
        return self.groups(*whole, name) == self.groups(*whole)

    def in_words(self, name: str) -> str:
        """Whether two words are ``told`` better and worse, ``open``, or mere ``answers``; or nothing."""
        found = self.written[name].truths if name in self.written else None
        return (
            ""
            if found is None
            else "open"
            if found.is_ambiguous
            else "told"
            if found.is_explicit
            else "answers"
        )

    def gaps(self, name: str) -> int:
        """Cells without a value."""
        column, blank = self.frame[name], 0
        if column.dtype == pl.String:
            absent = pl.first().str.strip_chars().str.to_lowercase().is_in([*MISSING_TEXT, "nan"])
            blank = column.to_frame().select(absent.sum()).item()
        return int(column.null_count() + blank)

    def mixed(self, name: str) -> bool:
        """Whether a column of numbers holds much text: more than a mistake here and there."""
        text = np.count_nonzero(np.isnan(self.numbers(name))) - self.gaps(name)
        return name not in self.written and bool(text > _MISTAKES * self.height)

    def _numbers(self, name: str) -> np.ndarray:
        """A column as numbers, NaN where there is none."""
        column = self.frame[name]
        if name in self.written:
            column = self.written[name].numbers(column)
        return parse_scores(column, self.decimal_comma)[0]

    def measures(
        self, names: Iterable[str], kept: Collection[str] = (), *, constant: bool = True, models: bool = False
    ) -> ColumnSplit:
        """Columns of numbers that are scores, and those that are none: as of `scores_and_bookkeeping`."""
        numbers = [name for name in names if self.kind(name) == "number"]
        columns = {name: self.numbers(name) for name in numbers}
        return self._scores_among(columns, kept, constant=constant, models=models)

    def _scores_among(
        self, numbers: Mapping[str, np.ndarray], kept: Collection[str] = (), **how: bool
    ) -> ColumnSplit:
        # How fast they are is half of what solvers are compared on.
        solve = any(has_word(name, "solvers") for name in self.names)
        kept = {*kept, *(filter(is_duration, numbers) if solve else ())}
        places = [name for name in numbers if name not in kept and self.counts_within(name)]
        left = {name: values for name, values in numbers.items() if name not in places}
        scores, gone = split_score_columns(left, {name: self.frame[name] for name in left}, kept, **how)
        return scores, dict.fromkeys(places, ROW_IDENTIFIER) | gone

    def _counts_within(self, name: str) -> int:
        """How often whole numbers count from 0 or 1 on in the order of the file; 0 where they are no places.

        A place may stand in several rows, those of each model, in as many as any other. A rank is none.
        """
        ranks = words(name) & vocabulary("places") - vocabulary("within")
        if ranks or names_a_metric(name) or not self.whole(name) or self.gaps(name):
            return 0
        values = to_numeric(self.frame[name]).to_numpy()
        at = np.flatnonzero(np.diff(values, prepend=values[0] - 1))
        places, starts = values[at], values[at] == values[0]
        follows = starts[1:] | (np.diff(places) == 1)
        same = len({*np.diff(at, append=values.size).tolist()}) == 1
        told = values[0] in (0, 1) and same and follows.all() and np.ptp(values) >= _FEWEST_PLACES - 1
        return int(starts.sum()) if told and starts.sum() >= _FEWEST_WHOLES else 0


def _asked_about(truths: Mapping[str, Writing], beside_numbers: bool) -> dict[str, Writing]:
    """Words that are scores where no numbers are: those that judge, or one column that has to be asked about.

    Beside numbers that are none, such as of words, an answer under a name that says nothing may be a flag.
    """
    known = {name: one for name, one in truths.items() if one.truths and not one.truths.is_ambiguous}
    if known and beside_numbers:
        return {name: one if names_a_metric(name) else one.in_doubt() for name, one in known.items()}
    rest = [name for name in truths if column_for_role("compared", [name]) is None]
    return known or ({rest[0]: truths[rest[0]]} if len(rest) == 1 else {})


def columns_of(sources: Sequence[Source], asked: Collection[str] = ()) -> Columns:
    """Columns that all files of a table have, where some were asked for as metrics.

    Raises
    ------
    InputError
        If none has a name.
    """
    first = sources[0]
    shared = set.intersection(*(set(source.columns) for source in sources))
    named = [name for name in first.columns if name in shared and not is_unnamed(name)]
    names = _looked_at(named)
    if not names:
        raise InputError(
            f"{first.label}: no column has a name",
            found=f"{len(first.columns)} columns without one",
            hint="write a first row of names: model, sample and what is measured",
        )
    frames = [source.load(names).head(_MOST_ROWS) for source in sources]
    if len(frames) > 1:
        at = [pl.lit(place).alias(FILE) for place in range(len(frames))]
        frames = [frame.with_columns(own) for frame, own in zip(frames, at, strict=True)]
    return Columns(
        pl.concat(frames, how="vertical_relaxed") if len(frames) > 1 else frames[0],
        names,
        first.label,
        decimal_comma=first.decimal_comma,
        by_file=all(source.model_label is not None for source in sources),
        all_seen=len(names) == len(named),
        asked=asked,
    )


def _looked_at(names: list[str]) -> list[str]:
    """All columns; of very many the first, of those first whose names say something."""
    if len(names) <= _MOST_COLUMNS:
        return names
    chosen = {*sorted(names, key=suggests_role, reverse=True)[:_MOST_COLUMNS]}
    return [name for name in names if name in chosen]
