"""Prompts and answers stored alongside scores, loaded on demand for a few samples."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans
from riskrank.scores.files.parsing import message_text
from riskrank.scores.table.columns import TEXT_ROLES
from riskrank.scores.table.scores import FileRead, Scores
from riskrank.scores.table.typed_rows import categories

# Usual names of text columns. A role is not assigned if a file has two of its names.
_USUAL = {"input": {"input", "question", "prompt"}, "output": {"output", "response", "answer", "completion"}}


@dataclass(frozen=True)
class SampleTexts:
    """The prompt of a sample, and the answer of each model."""

    input: str | None
    outputs: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Texts:
    """Locations of prompts and answers; nothing is read until texts are requested.

    Attributes
    ----------
    files : sequence of (FileRead, mapping of str to str)
        All files in order, with the text columns of each by role.
    rows : DataFrame
        Columns ``row``, ``model`` and ``sample`` of the scores.
    """

    files: Sequence[tuple[FileRead, Mapping[str, str]]]
    rows: pl.DataFrame

    @property
    def summary(self) -> str:
        """Description of the columns that contain the texts."""
        parts = []
        for role in TEXT_ROLES:
            if names := dict.fromkeys(cols[role] for _, cols in self.files if role in cols):
                parts.append(f"{role} from column {' or '.join(map(repr, names))}")
        return ", ".join(parts) or "as logged by the harness"

    def lookup(self, models: Sequence[str], samples: Iterable[str]) -> dict[str, SampleTexts]:
        """Read the prompt and the answers of some samples; return them by sample.

        If texts differ between runs, they are numbered.

        Parameters
        ----------
        models : sequence of str
        samples : iterable of str
        """
        mask = _is_in(self.rows["model"], models) & _is_in(self.rows["sample"], samples)
        requested = self.rows.filter(mask).unique("row").sort("row")
        inputs: dict[str, set[str]] = defaultdict(set)
        outputs: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for model, sample, role, text in self._iter_texts(requested):
            (inputs[sample] if role == "input" else outputs[sample][model]).add(text)
        return {
            sample: SampleTexts(
                _join_texts(inputs[sample]) if sample in inputs else None,
                {model: _join_texts(texts) for model, texts in outputs[sample].items()},
            )
            for sample in {**inputs, **outputs}
        }

    def _iter_texts(self, requested: pl.DataFrame) -> Iterator[tuple[str, str, str, str]]:
        """Yield model, sample, role (``input`` or ``output``) and text of each requested row with a text.

        `requested` has the columns ``row``, ``model`` and ``sample``, sorted by row.
        """
        stops = [*(file.start for file, _ in self.files[1:]), None]
        for (file, columns), end in zip(self.files, stops, strict=True):
            upper = pl.lit(True) if end is None else pl.col("row") < end
            rows = requested.filter((pl.col("row") >= file.start) & upper)
            if not rows.height:
                continue
            positions = rows["row"].to_numpy().astype(np.int64) - file.start
            frame = file.source.texts(positions)
            if columns:
                named = file.source.load_rows(list(columns.values()), positions)
                named = named.select(pl.col(column).alias(role) for role, column in columns.items())
                frame = named if frame is None else frame.with_columns(named)
            if frame is None:
                continue
            records = zip(rows["model"], rows["sample"], frame.iter_rows(named=True), strict=True)
            for model, sample, texts in records:
                cells = ((role, message_text(text)) for role, text in texts.items())
                yield from ((model, sample, role, text) for role, text in cells if text)


def locate_sample_texts(scores: Scores) -> Texts | None:
    """Find the columns or logs that contain the prompts and answers of samples.

    Return None if no file contains any.
    """
    files = [(file, _text_columns(scores, file)) for file in scores.notes.files]
    if scores.options.from_ is None and not any(columns for _, columns in files):
        return None
    return Texts(files, scores.frame.select("row", "model", "sample"))


def _text_columns(scores: Scores, file: FileRead) -> dict[str, str]:
    """Return the column with prompts and the column with answers, by role.

    They are the columns that the user named, or those with a usual name.
    """
    named = {role: column for role in TEXT_ROLES if (column := getattr(file.roles, role)) is not None}
    if scores.options.from_ is not None:  # harness columns hold prompt identifiers, not texts
        return named
    used = {getattr(file.roles, field.name) for field in fields(file.roles) if field.name != "values"}
    if scores.options.wide:
        used |= set(scores.notes.all_metrics)
    for role in (role for role in TEXT_ROLES if role not in named):
        free = [name for name in file.source.columns if name.lower() in _USUAL[role] and name not in used]
        if len(free) == 1:
            named[role] = free[0]
    return {role: named[role] for role in TEXT_ROLES if role in named}


def _is_in(names: pl.Series, selected: Iterable[str]) -> Booleans:
    """Return a mask of the rows whose name is selected; codes are compared, which is fast."""
    codes = categories(names).is_in(list(selected)).arg_true()
    mask: Booleans = np.isin(names.to_physical().to_numpy(), codes.to_numpy())
    return mask


def _join_texts(texts: Iterable[str]) -> str:
    """Join several distinct texts, sorted and numbered."""
    distinct = sorted(texts)
    if len(distinct) < 2:
        return distinct[0]
    return "\n".join(f"({number}) {text}" for number, text in enumerate(distinct, start=1))
