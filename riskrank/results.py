"""Results of the Python API: a verdict, rows, and output in every format."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from riskrank.errors import RiskrankError, UsageError, nearest, spell
from riskrank.options.output import FORMATS
from riskrank.studies.document import Document, GatedDocument

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

# Names in other libraries for the members of a result. Modules that render results are imported on use.
_SYNONYMS = tomllib.loads(Path(__file__).with_name("synonyms.toml").read_text(encoding="utf-8"))


_PICTURES = (".svg", ".png", ".pdf")
# Columns that name the two models of a test, and columns that distinguish the tests of a pair.
_PAIRS = (("better", "worse"), ("winner", "loser"), ("new", "old"))
_TEST_KEYS = ("method", "metric", "group", "order", "test", "threshold", "statistic", "task", "claim")


class Result:
    """Result of a command.

    Attributes
    ----------
    verdict : str
        Plain-language summary of the result.
    warnings : tuple of str
    document : Document
        Full result, with provenance, settings and arrays.
    """

    _formats: ClassVar[tuple[str, ...]] = ()

    def __init__(self, document: Document) -> None:
        """Store a document, with verdict and warnings that name parameters as Python keywords."""
        self.document = document
        self.verdict = spell(document.verdict, flags=False)
        self.warnings = tuple(spell(warning, flags=False) for warning in document.provenance.warnings)

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError, with a suggestion for names used by other libraries."""
        text = f"'{type(self).__name__}' has no attribute '{name}'"
        if not name.startswith("_") and "document" in vars(self):
            meant = [f".{ours}" for ours, theirs in _SYNONYMS.items() if name.lower() in theirs.split()]
            close = nearest(name, [attribute for attribute in dir(self) if not attribute.startswith("_")])
            meant = meant or ([f".{close}"] if close else [])
            meant = [f'.frame["{name}"]'] if name in self.frame.columns else meant
            text += f": did you mean {' or '.join(meant)}?" if meant else ": use .verdict, .rows or .frame"
        raise AttributeError(text, name=name, obj=self)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the rows."""
        return iter(self.rows)

    def __getitem__(self, key: Any) -> Any:
        """Return a row by its number, a column by its name, or the rows of a model as a data frame."""
        if not isinstance(key, str):
            return self.rows[key]
        is_model = key not in self.frame.columns and "model" in self.frame.columns
        return self.frame.filter(pl.col("model") == key) if is_model else self.frame[key]

    @property
    def rows(self) -> tuple[Any, ...]:
        """Rows of the result as dataclasses, in the same order as in CSV output."""
        return tuple(self.document.rows)

    @property
    def frame(self) -> pl.DataFrame:
        """Rows of the result as a Polars data frame."""
        return self.document.frame()

    @property
    def best(self) -> str:
        """Model that ranks first. The verdict says whether it is significantly better than the others."""
        if leaders := getattr(self.document, "leaders", None):
            return str(self.document.provenance.models[next(iter(leaders.values())).first])
        if not {"model", "rank"} <= {*self.frame.columns}:
            raise AttributeError("only rankings have a best model")
        return str(self.frame.filter(pl.col("rank") == 1)["model"][0])

    @property
    def pairs(self) -> pl.DataFrame:
        """Tests of ordered pairs of models, with p-values, as a Polars data frame."""
        rows = getattr(self.document, "pair_rows", None)
        frame = self.frame if rows is None else pl.DataFrame([*rows()])
        if rows is None and not any({*pair} <= {*frame.columns} for pair in _PAIRS):
            raise AttributeError("this result has no tests of pairs")
        return frame

    @property
    def p_values(self) -> pl.DataFrame:
        """Adjusted p-values of the first method and metric, with one row and one column per model.

        A small p-value means that the model of the row is significantly better than that of the column.
        """
        frame = self.pairs
        first, second = next(pair for pair in _PAIRS if {*pair} <= {*frame.columns})
        keys = [name for name in _TEST_KEYS if name in frame.columns]
        chosen = frame.filter(pl.all_horizontal(pl.col(key).eq_missing(frame[key][0]) for key in keys))
        return chosen.pivot(second, index=first, values="p_adjusted").rename({first: "model"})

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas data frame.

        Raises
        ------
        UsageError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            hint = "pip install pandas, or use the Polars frame: result.frame"
            raise UsageError("to_pandas() needs pandas", found=str(error), hint=hint) from None
        # Lists instead of arrays: a column may hold lists and mappings, and PyArrow may not be installed.
        return pandas.DataFrame(self.frame.to_dict(as_series=False))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result to a file atomically, in the format of the file's suffix.

        Parameters
        ----------
        path : path
            File name with the suffix ``.html``, ``.json``, ``.jsonl``, ``.csv``, ``.parquet``, ``.md``,
            ``.tex`` or ``.txt``; ``.svg``, ``.png`` and ``.pdf`` draw the main picture. Gate results can also
            be saved as ``.xml`` (JUnit). An existing file is replaced.

        Raises
        ------
        UsageError
            If the suffix is unknown, or the file cannot be written.
        """
        from riskrank.render.files import check_writable, choose_formats, write_all

        file = _check_path(path)
        if file.lower().endswith(_PICTURES):
            self.plot(file)
            return
        (kind,) = choose_formats(None, [file], allowed=(*FORMATS, "parquet", *self._formats))
        inputs = [entry["path"] for entry in self.document.provenance.inputs if entry.get("sha256")]
        check_writable(file, inputs, parameter="path")
        write_all([(file, self._render(kind))], sys.stdout)

    def _render(self, kind: str, *, width: int | None = None, explain: bool = True) -> bytes:
        """Render the document in an output format."""
        from riskrank.render.dispatch import render

        return render(
            self.document, kind, encoding="utf-8", width=width, color=False, flags=False, explain=explain
        )

    def to_json(self) -> str:
        """Return the JSON document, identical to command-line output."""
        return self._render("json").decode("utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document as a dictionary with the keys ``schema``, ``meta`` and ``results``."""
        document: dict[str, Any] = json.loads(self.to_json())
        return document

    def to_jsonl(self) -> str:
        """Return the rows as JSON Lines, one object per row."""
        return self._render("jsonl").decode("utf-8")

    def to_csv(self) -> str:
        """Return the rows as CSV with unrounded numbers."""
        return self._render("csv").decode("utf-8")

    def to_markdown(self) -> str:
        """Return tables and text as Markdown."""
        return self._render("markdown").decode("utf-8")

    def to_html(self) -> str:
        """Return a self-contained HTML page.

        Raises
        ------
        UsageError
            If Jinja2 or Matplotlib is not installed: ``pip install 'riskrank[report]'``.
        """
        return self._render("html").decode("utf-8")

    def to_latex(self) -> str:
        """Return tables and text as LaTeX, for the booktabs package."""
        return self._render("latex").decode("utf-8")

    def to_text(self, width: int | None = None, *, explain: bool = False) -> str:
        """Return the terminal output as plain text.

        Parameters
        ----------
        width : int, optional
            Width in characters; by default, that of the widest table.
        explain : bool
            Whether to append the details: all numbers, and how to read them.
        """
        return self._render("table", width=width, explain=explain).decode("utf-8")

    @property
    def pictures(self) -> dict[str, str]:
        """Captions of the available pictures by name, main picture first; see :meth:`plot`."""
        from riskrank.render.figures.catalogue import pictures

        return {picture.name: picture.caption for picture in pictures(self.document)}

    def plot(self, name: str | None = None) -> Figure:
        """Draw a picture.

        Parameters
        ----------
        name : str, optional
            A name from :attr:`pictures`, or its leading parts; by default, the main picture. A file name with
            the suffix ``.svg``, ``.png`` or ``.pdf`` also writes the main picture, or that of ``NAME:FILE``.

        Returns
        -------
        matplotlib.figure.Figure
            Created without pyplot; ``figure.savefig("ranking.svg")`` writes it.

        Raises
        ------
        UsageError
            If the picture does not exist, or Matplotlib is not installed.
        """
        from riskrank.render.figures.catalogue import draw

        if name is None or not name.lower().endswith(_PICTURES):
            return draw(self.document, name)
        from riskrank.render.files import check_writable, write_all

        picture, _, file = name.rpartition(":")
        picture, file = (picture, file) if len(picture) > 1 else ("", name)  # one letter is a drive
        figure = draw(self.document, picture or None)
        check_writable(file, [], parameter="path")
        write_all([(file, figure.to_bytes(file.rpartition(".")[2].lower()))], sys.stdout)
        return figure

    def __repr__(self) -> str:
        """Return the terminal output as plain text."""
        return self.to_text()

    def _repr_html_(self) -> str:
        """Return the result as HTML for a notebook."""
        from riskrank.render.dispatch import render_notebook

        return render_notebook(self.document)


class GateResult(Result):
    """Result of a gate, which is truthy only if the gate passed.

    Attributes
    ----------
    failed : GateFailed, GateInconclusive or None
        Error that corresponds to the command-line exit status, or None if the gate passed.
    """

    _formats = ("junit",)
    document: GatedDocument[Any]

    def __init__(self, document: GatedDocument[Any]) -> None:
        """Store the document of a gate, and the error for a gate that did not pass."""
        super().__init__(document)
        self.failed: RiskrankError | None = document.failed

    @property
    def status(self) -> str:
        """Overall outcome: ``"pass"``, ``"fail"`` or ``"inconclusive"``."""
        return self.document.outcome

    @property
    def passed(self) -> bool:
        """True if the command-line exit status would be 0. Inconclusive gates pass if so configured."""
        return self.failed is None

    def __bool__(self) -> bool:
        """Return True if the gate passed."""
        return self.passed


def to_result(document: Document) -> Result:
    """Return a document as a `Result`, or as a `GateResult` if it comes from a gate."""
    return GateResult(document) if isinstance(document, GatedDocument) else Result(document)


def _check_path(path: object) -> str:
    """Return a path as text, raising UsageError if the object is not a path."""
    try:
        name = fspath(path)  # type: ignore[call-overload]  # checks the type
    except TypeError:
        name = None
    if not isinstance(name, str) or not name:
        problem = "save() needs the path of a file"
        detail = f"{path!r} of type {type(path).__name__}"
        raise UsageError(problem, found=detail, hint='write result.save("result.html")')
    return name
