"""What the functions of the Python door return: a verdict, rows, and every form and file of them."""

from __future__ import annotations

import sys
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from riskrank.errors import RiskrankError, UsageError, nearest, spell
from riskrank.options.output import FORMATS
from riskrank.studies.document import Document, Gated

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


# What shows a result is loaded when somebody looks at it.

# What other libraries call what a result has.
_CALLED = {
    "verdict": "summary conclusion answer winner best decision recommendation message text result",
    "frame": "summary df dataframe to_frame to_df to_polars as_frame table data results ranking values",
    "rows": "records entries items",
    "to_json()": "json to_dict as_dict asdict dict",
    "to_html()": "html show display view",
    "to_text()": "to_string show display view report print",
    "plot()": "figure fig chart plots draw",
    "pictures": "figures plots charts",
    "save(path)": "write export to_file dump",
}


class Result:
    """What a command found.

    Attributes
    ----------
    verdict : str
        What a decision maker reads first.
    warnings : tuple of str
    document : Document
        Everything behind it: provenance, settings, and the engine's arrays.
    """

    _formats: ClassVar[tuple[str, ...]] = ()

    def __init__(self, document: Document) -> None:
        self.document = document
        self.verdict = spell(document.verdict, flags=False)
        self.warnings = tuple(spell(warning, flags=False) for warning in document.provenance.warnings)

    def __getattr__(self, name: str) -> Any:
        """What is meant by an attribute that other libraries have."""
        text = f"'{type(self).__name__}' has no attribute '{name}'"
        if not name.startswith("_") and "document" in vars(self):
            meant = [f".{ours}" for ours, theirs in _CALLED.items() if name.lower() in theirs.split()]
            close = nearest(name, [one for one in dir(self) if not one.startswith("_")])
            meant = meant or ([f".{close}"] if close else [])
            meant = [f'.frame["{name}"]'] if name in self.frame.columns else meant
            text += (
                f": did you mean {' or '.join(meant)}?" if meant else ": .verdict, .rows and .frame are it"
            )
        raise AttributeError(text, name=name, obj=self)

    @property
    def rows(self) -> tuple[Any, ...]:
        """Dataclasses, one a row of the CSV."""
        return tuple(self.document.rows)

    @property
    def frame(self) -> pl.DataFrame:
        """The rows as a Polars data frame."""
        return self.document.frame()

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a pandas data frame.

        Raises
        ------
        UsageError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise UsageError(
                "a data frame of pandas needs pandas",
                found=str(error),
                hint="pip install pandas, or take the Polars frame: result.frame",
            ) from None
        # Of lists and not of arrays: a column may hold lists and mappings, and Arrow need not be there.
        return pandas.DataFrame(self.frame.to_dict(as_series=False))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the result to a file, whole or not at all, in the format its name ends in.

        Parameters
        ----------
        path : path
            ``.html``, ``.json``, ``.jsonl``, ``.csv``, ``.parquet``, ``.md``, ``.tex`` or ``.txt``; of a gate
            also ``.xml``, which is JUnit. A file that is there already is replaced.

        Raises
        ------
        UsageError
            If the name tells no format, or nothing can be written there.
        """
        from riskrank.render.files import check_writable, choose_formats, write_all

        file = _file_name(path)
        (kind,) = choose_formats(None, [file], allowed=(*FORMATS, "parquet", *self._formats))
        inputs = [entry["path"] for entry in self.document.provenance.inputs if entry.get("sha256")]
        check_writable(file, inputs, parameter="path")
        write_all([(file, self._rendered(kind))], sys.stdout)

    def _rendered(self, kind: str, *, width: int | None = None, explain: bool = True) -> bytes:
        from riskrank.render.dispatch import render

        return render(
            self.document, kind, encoding="utf-8", width=width, color=False, flags=False, explain=explain
        )

    def to_json(self) -> str:
        """The JSON document, byte for byte that of the command line."""
        return self._rendered("json").decode("utf-8")

    def to_jsonl(self) -> str:
        """One JSON object a row."""
        return self._rendered("jsonl").decode("utf-8")

    def to_csv(self) -> str:
        """The rows as CSV, numbers unrounded."""
        return self._rendered("csv").decode("utf-8")

    def to_markdown(self) -> str:
        """Tables and words as Markdown."""
        return self._rendered("markdown").decode("utf-8")

    def to_html(self) -> str:
        """The page as one HTML file that needs no other.

        Raises
        ------
        UsageError
            If Jinja2 or Matplotlib is not installed: ``pip install 'riskrank[report]'``.
        """
        return self._rendered("html").decode("utf-8")

    def to_latex(self) -> str:
        """Tables and words as LaTeX, with booktabs."""
        return self._rendered("latex").decode("utf-8")

    def to_text(self, width: int | None = None, *, explain: bool = False) -> str:
        """The page a terminal shows, without colour.

        Parameters
        ----------
        width : int, optional
            Columns of the page; as wide as its tables by default.
        explain : bool
            Whether the page goes on after its first screen, with every figure and how to read it.
        """
        return self._rendered("table", width=width, explain=explain).decode("utf-8")

    @property
    def pictures(self) -> dict[str, str]:
        """What :meth:`plot` can draw: captions by name, the main picture first."""
        from riskrank.render.figures.catalogue import pictures

        return {picture.name: picture.caption for picture in pictures(self.document)}

    def plot(self, name: str | None = None) -> Figure:
        """Draw a picture.

        Parameters
        ----------
        name : str, optional
            One of :attr:`pictures`, or its leading parts; the main picture by default.

        Returns
        -------
        matplotlib.figure.Figure
            Made without pyplot; ``figure.savefig("ranking.svg")`` writes it.

        Raises
        ------
        UsageError
            If there is no such picture, or Matplotlib is not installed.
        """
        from riskrank.render.figures.catalogue import draw

        return draw(self.document, name)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from riskrank.render.dispatch import render_notebook

        return render_notebook(self.document)


class GateResult(Result):
    """What a gate found; false in a condition unless it passed.

    Attributes
    ----------
    failed : GateFailed, GateInconclusive or None
        What the command line would exit with, None where it passed.
    """

    _formats = ("junit",)
    document: Gated[Any]

    def __init__(self, document: Gated[Any]) -> None:
        super().__init__(document)
        self.failed: RiskrankError | None = document.failed

    @property
    def status(self) -> str:
        """What all claims come to: ``"pass"``, ``"fail"`` or ``"inconclusive"``."""
        return self.document.outcome

    @property
    def passed(self) -> bool:
        """Whether it exits with 0 on the command line: what is inconclusive may count as a pass."""
        return self.failed is None

    def __bool__(self) -> bool:
        return self.passed


def result_of(document: Document) -> Result:
    """Wrap a document of any command."""
    return GateResult(document) if isinstance(document, Gated) else Result(document)


def _file_name(path: object) -> str:
    try:
        name = fspath(path)  # type: ignore[call-overload]  # whether it is a path is what is asked
    except TypeError:
        name = None
    if not isinstance(name, str) or not name:
        raise UsageError(
            "a result is saved to a file",
            found=f"{path!r}, which is {type(path).__name__}",
            hint='name it: result.save("result.html")',
        )
    return name
