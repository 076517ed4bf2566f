"""A view as LaTeX: tables with booktabs, to be put into a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence

from riskrank.report.escapes import for_latex
from riskrank.report.view import Cell, Column, Line, Section, Table, text_of

_PREAMBLE = "% \\usepackage[T1]{fontenc} \\usepackage{booktabs}"
# Columns beyond which a table needs a smaller font, and less between them, to fit on a page.
_MANY = 8
_MINUS = re.compile(r"(?<!\S)-(?=\d)")


def to_latex(view: Sequence[Section]) -> str:
    """Write a view as LaTeX, a float a table, everything else as text."""
    blocks = [_PREAMBLE]
    for section in view:
        blocks.append(_table(section.shown_in("latex")) if isinstance(section, Table) else _line(section))
    return "\n\n".join(blocks) + "\n"


def _line(line: Line) -> str:
    label = f"\\textbf{{{for_latex(line.label)}}} " if line.label else ""
    text = for_latex(line.text)
    return f"\\noindent {label}" + (f"\\texttt{{{text}}}" if line.verbatim else text)


def _table(table: Table) -> str:
    size = "  \\scriptsize\\setlength{\\tabcolsep}{3pt}\n" if len(table.columns) > _MANY else ""
    places = "".join(column.justify[0] for column in table.columns)
    head = " & ".join(for_latex(column.name or column.head) for column in table.columns)
    rows = [" & ".join(map(_cell, row, table.columns)) for row in table.rows]
    return "\n".join(
        [
            "\\begin{table}",
            "  \\centering",
            f"{size}  \\caption{{{for_latex(table.title)}}}",
            f"  \\begin{{tabular}}{{{places}}}",
            "    \\toprule",
            f"    {head} \\\\",
            "    \\midrule",
            *(f"    {row} \\\\" for row in rows),
            "    \\bottomrule",
            "  \\end{tabular}",
            "\\end{table}",
        ]
    )


def _cell(cell: Cell | str, column: Column) -> str:
    text = for_latex(text_of(cell))
    if column.justify == "right":
        text = _MINUS.sub("$-$", text)
    bold = isinstance(cell, Cell) and "bold" in cell.style
    return f"\\textbf{{{text}}}" if bold else text
