"""Table of all export formats, read from ``formats.toml``.

It imports no other module of riskrank, so that the command-line help can list the formats quickly.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Format:
    r"""An export format: the module that reads it, or where a flat file has its scores.

    The fields of a record are named as in a table: nested keys are joined by dots, and an object in a list is
    named by its ``name``, as in ``annotations.accuracy.score``. Several fields are separated by spaces;
    ``a|b`` stands for the first of two fields that is not empty.

    Attributes
    ----------
    text : str
        Line in ``--help``.
    module : str
        Module in this folder that reads the format. A flat format needs none.
    marks : str
        Regular expressions; each must match a field of the file, or the name of its folder with a slash.
    absent : str
        Regular expression of fields that no file of the format has.
    unique : str
        Regular expression of a field that only this format has: a table with it and the marks is an export.
    records : str
        Fields with lists of records. A record also has the fields around its list.
    model, sample : str
        Fields whose values are joined by slashes. Without a model, the file names it; without a sample, the
        row number does.
    run : str
        Fields that name the run of a record, which is the model if neither a label nor several files name it.
    metric : str
        Regular expression of the fields with scores; its group captures the name of the metric.
    higher, lower : str
        Regular expressions of the metrics with this direction.
    auxiliary : str
        Metrics such as time and tokens, where lower is better. They are read only on request.
    bounds : sequence of float, optional
        Smallest and largest score of all metrics.
    columns : mapping of str to str
        Further columns and the fields that they contain.
    choices : mapping of str to str
        Columns whose values the option `filter` selects, with their plurals for messages.
    options : str
        The options ``filter`` and ``split``, as far as the module applies them.
    model_per_file : bool
        Whether several files of a module that do not name a model are one model each, as in flat formats.
    error : str
        Fields with the reason for a missing score; ``{}`` stands for the metric.
    input, output : str
        Fields with the model's input and output, or the beginnings of their names.
    distinct : bool
        Whether records of the same sample are different samples, because a text names them.
    preferred : str
        Field of files that are read instead of others in their folder.
    averages : str
        How to get the scores of samples; files of this format have only averages, and are refused.
    """

    text: str
    module: str = ""
    marks: str = ""
    absent: str = ""
    unique: str = ""
    records: str = ""
    model: str = ""
    sample: str = ""
    run: str = ""
    metric: str = ""
    higher: str = ""
    lower: str = ""
    auxiliary: str = ""
    bounds: Sequence[float] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    options: str = ""
    model_per_file: bool = False
    error: str = "error"
    input: str = "input"
    output: str = "output"
    distinct: bool = False
    preferred: str = ""
    averages: str = ""

    def matches(self, names: Iterable[str], *marks: str) -> bool:
        """Return True if every mark of the format matches one of the given field names.

        `marks` are regular expressions that must match in addition to those of the format.
        """
        lines = "\n".join(names)  # one search over all names, of which there may be thousands
        found = (re.search(f"^(?:{mark})$", lines, re.MULTILINE) for mark in (*self.marks.split(), *marks))
        return all(found) and not (self.absent and re.search(f"^(?:{self.absent})$", lines, re.MULTILINE))

    def direction(self, metric: str) -> str:
        """Return "higher" or "lower" for a metric, or an empty string if the format has no rule."""
        if metric in self.auxiliary.split() or re.fullmatch(self.lower, metric):
            return "lower"
        return "higher" if re.fullmatch(self.higher, metric) else ""


def is_export_table(columns: Iterable[str]) -> bool:
    """Return True if column names occur only in the exports of one known tool."""
    columns = [*columns]
    return any(form.unique and form.matches(columns, form.unique) for form in EXPORTS.values())


_TABLE = Path(__file__).with_name("formats.toml")
EXPORTS = {name: Format(**row) for name, row in tomllib.loads(_TABLE.read_text(encoding="utf-8")).items()}
