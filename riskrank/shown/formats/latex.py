"""A view as LaTeX: tables with booktabs, to be put into a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence

from riskrank.shown.escapes import for_latex
from riskrank.shown.formats.latex_width import Fitted, fitted, head_lines
from riskrank.shown.view import Cell, Column, Line, Section, Table, as_cell, text_of

_PREAMBLE = """\
% \\usepackage{array,booktabs,iftex,longtable}
% \\iftutex \\usepackage{fontspec} \\else \\usepackage[T1]{fontenc} \\fi
% Names beyond Latin: LuaLaTeX or XeLaTeX, and \\setmainfont{...} of a font that has their letters."""
# Lines beyond which a table goes on over pages, where a float would not fit on one.
_MOST_LINES = 40
_MINUS = re.compile(r"(?<!\S)-(?=\d)")


def to_latex(view: Sequence[Section]) -> str:
    """Write a view as LaTeX, a table a float or over pages, everything else as text."""
    blocks = [_PREAMBLE]
    for section in view:
        if isinstance(section, Table):
            blocks += [_table(part) for part in fitted(section.shown_in("latex"))]
        else:
            blocks.append(_line(section))
    return "\n\n".join(blocks) + "\n"


def _line(line: Line) -> str:
    label = f"\\textbf{{{for_latex(line.label)}}} " if line.label else ""
    text = for_latex(line.text)
    # Long names do not break: a line may rather be loose than reach over the margin.
    return f"{{\\sloppy\\noindent {label}" + (f"\\texttt{{{text}}}" if line.verbatim else text) + "\\par}"


def _table(given: Fitted) -> str:
    table = given.table
    places = "@{}" + "".join(map(_place, table.columns, given.folded)) + "@{}"
    head = " & ".join(map(_head, table.columns, given.folded))
    rows = [" & ".join(map(_cell, row, table.columns)) for row in table.rows]
    size = f"{given.size}\\setlength{{\\tabcolsep}}{{{given.gap:g}pt}}" if given.size else ""
    caption = f"\\caption{{{for_latex(table.title)}}}"
    top = ["    \\toprule", f"    {head} \\\\", "    \\midrule"]
    body = [f"    {row} \\\\" for row in rows]
    legend = [f"\\par\\smallskip\\noindent\\parbox{{\\linewidth}}{{\\raggedright {for_latex(given.legend)}}}"]
    if given.lines > _MOST_LINES:
        lines = [
            f"{{{size}",
            f"  \\begin{{longtable}}{{{places}}}",
            f"    {caption} \\\\",
            *(*top, "    \\endfirsthead"),
            *(*top, "    \\endhead"),
            *("    \\bottomrule", "    \\endfoot"),
            *body,
            "  \\end{longtable}",
            *(legend if given.legend else []),
            "}",
        ]
        return "\n".join(lines)
    lines = ["\\begin{table}", "  \\centering", *([f"  {size}"] if size else []), f"  {caption}"]
    lines += [f"  \\begin{{tabular}}{{{places}}}", *top, *body, "    \\bottomrule", "  \\end{tabular}"]
    return "\n".join([*lines, *(f"  {line}" for line in legend if given.legend), "\\end{table}"])


def _place(column: Column, fold: float | None) -> str:
    """How a column is set: folded words flush on the side of the others."""
    if fold is None:
        return column.justify[0]
    side = "\\raggedleft" if column.justify == "right" else "\\raggedright"
    return f">{{{side}\\arraybackslash}}p{{{fold:.0f}pt}}"


def _head(column: Column, fold: float | None) -> str:
    lines = [for_latex(line) for line in head_lines(column)]
    if len(lines) == 1 or fold is not None:
        return " ".join(lines)
    stacked = "\\\\".join(lines)
    return f"\\shortstack[{column.justify[0]}]{{{stacked}}}"


def _cell(cell: Cell | str, column: Column) -> str:
    text = for_latex(text_of(cell))
    if column.justify == "right":
        text = _MINUS.sub("$-$", text)
    return f"\\textbf{{{text}}}" if "bold" in as_cell(cell).style else text
