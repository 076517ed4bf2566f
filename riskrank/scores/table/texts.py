"""What models were asked and what they answered: beside the scores, read for a few samples only."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
import polars as pl

from riskrank.engine.types import Booleans
from riskrank.scores.files.json_objects import as_text
from riskrank.scores.table.columns import TEXTS
from riskrank.scores.table.scores import FileRead, Scores
from riskrank.scores.table.typed_rows import list_of

# Names by which a column is found that nobody named; two of them in a file could mean either.
_CALLED = {"input": {"input", "question", "prompt"}, "output": {"output", "response", "answer", "completion"}}


@dataclass(frozen=True)
class CaseTexts:
    """Of one sample what was asked, and by model what it answered."""

    input: str | None
    outputs: Mapping[str, str]


@dataclass(frozen=True, eq=False)
class Texts:
    """Where the texts of samples stand; nothing is read before somebody asks for some.

    Attributes
    ----------
    files : sequence of (FileRead, mapping of str to str)
        All files in their order, with the columns of those roles that each has.
    rows : DataFrame
        ``row``, ``model`` and ``sample`` of the scores.
    """

    files: Sequence[tuple[FileRead, Mapping[str, str]]]
    rows: pl.DataFrame

    @property
    def said(self) -> str:
        """Which columns they stand in."""
        columns = {role: dict.fromkeys(of[role] for _, of in self.files if role in of) for role in TEXTS}
        parts = [
            f"{role} from column {' or '.join(map(repr, names))}" for role, names in columns.items() if names
        ]
        return ", ".join(parts) or "as the harness logged them"

    def of(self, models: Sequence[str], samples: Iterable[str]) -> dict[str, CaseTexts]:
        """Texts of some samples; several runs may have answered differently.

        Parameters
        ----------
        models : sequence of str
        samples : iterable of str
        """
        mask = _among(self.rows["model"], models) & _among(self.rows["sample"], samples)
        wanted = self.rows.filter(mask).unique("row").sort("row")
        inputs: dict[str, set[str]] = defaultdict(set)
        outputs: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for model, sample, role, text in self._told(wanted):
            (inputs[sample] if role == "input" else outputs[sample][model]).add(text)
        return {
            sample: CaseTexts(
                _together(inputs[sample]) if sample in inputs else None,
                {model: _together(texts) for model, texts in outputs[sample].items()},
            )
            for sample in {**inputs, **outputs}
        }

    def _told(self, wanted: pl.DataFrame) -> Iterator[tuple[str, str, str, str]]:
        """Model, sample, role and text of some rows, in which somebody wrote one."""
        ends = [*(file.start for file, _ in self.files[1:]), None]
        for (file, columns), end in zip(self.files, ends, strict=True):
            beyond = pl.lit(True) if end is None else pl.col("row") < end
            rows = wanted.filter((pl.col("row") >= file.start) & beyond)
            if not rows.height:
                continue
            positions = rows["row"].to_numpy().astype(np.int64) - file.start
            found = file.source.texts(positions)
            if columns:
                named = file.source.load_rows(list(columns.values()), positions)
                named = named.select(pl.col(column).alias(role) for role, column in columns.items())
                found = named if found is None else found.with_columns(named)
            if found is None:
                continue
            every = zip(rows["model"], rows["sample"], found.iter_rows(named=True), strict=True)
            for model, sample, texts in every:
                cells = ((role, as_text(text)) for role, text in texts.items())
                yield from ((model, sample, role, text) for role, text in cells if text)


def texts_of(scores: Scores) -> Texts | None:
    """Where the texts of the samples stand; None where no file has any."""
    files = [(file, _columns(scores, file)) for file in scores.notes.files]
    if scores.options.from_ is None and not any(columns for _, columns in files):
        return None
    return Texts(files, scores.frame.select("row", "model", "sample"))


def _columns(scores: Scores, file: FileRead) -> dict[str, str]:
    """Columns of texts by role: those named, else in a table of scores those that are called so."""
    named = {role: column for role in TEXTS if (column := getattr(file.roles, role)) is not None}
    if scores.options.from_ is not None:  # its prompt is one of several; what it logged stands elsewhere
        return named
    taken = {getattr(file.roles, one.name) for one in fields(file.roles) if one.name != "values"}
    if scores.options.wide:
        taken |= set(scores.notes.known_metrics)
    for role in (role for role in TEXTS if role not in named):
        free = [name for name in file.source.columns if name.lower() in _CALLED[role] and name not in taken]
        if len(free) == 1:
            named[role] = free[0]
    return {role: named[role] for role in TEXTS if role in named}


def _among(names: pl.Series, wanted: Iterable[str]) -> Booleans:
    """Rows of some names; the column stays numbers, as all names as text need much memory."""
    codes = list_of(names).is_in(list(wanted)).arg_true()
    found: Booleans = np.isin(names.to_physical().to_numpy(), codes.to_numpy())
    return found


def _together(texts: Iterable[str]) -> str:
    """All of several different texts, numbered, in an order that is not that of the rows."""
    found = sorted(texts)
    if len(found) < 2:
        return found[0]
    return "\n".join(f"({number}) {text}" for number, text in enumerate(found, start=1))
