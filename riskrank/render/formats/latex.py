"""A view as LaTeX: tables with booktabs, to be put into a paper."""

import re
from collections.abc import Sequence

from riskrank.render.escapes import for_latex
from riskrank.render.view import Cell, Column, Line, Section, Table, as_cell, text_of

_PREAMBLE = """\
% \\usepackage{booktabs,graphicx,iftex,longtable}
% \\iftutex \\usepackage{fontspec} \\else \\usepackage[T1]{fontenc} \\fi
% Names beyond Latin: LuaLaTeX or XeLaTeX, and \\setmainfont{...} of a font that has their letters."""
# Rows beyond which a table goes on over pages, where a float would not fit on one.
_MOST_ROWS = 40
# A table that is wider than the text is drawn as wide as it.
_FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}"
_MINUS = re.compile(r"(?<!\S)-(?=\d)")


def to_latex(view: Sequence[Section]) -> str:
    """Write a view as LaTeX, a table a float or over pages, everything else as text."""
    blocks = [_PREAMBLE]
    for section in view:
        if isinstance(section, Table):
            blocks.append(_table(section.shown_in("latex")))
        else:
            blocks.append(_line(section))
    return "\n\n".join(blocks) + "\n"


def _line(line: Line) -> str:
    label = f"\\textbf{{{for_latex(line.label)}}} " if line.label else ""
    text = for_latex(line.text)
    # Long names do not break: a line may rather be loose than reach over the margin.
    return f"{{\\sloppy\\noindent {label}" + (f"\\texttt{{{text}}}" if line.verbatim else text) + "\\par}"


def _table(table: Table) -> str:
    places = "@{}" + "".join(column.justify[0] for column in table.columns) + "@{}"
    head = " & ".join(map(_head, table.columns))
    caption = f"\\caption{{{for_latex(table.title)}}}"
    top = ["    \\toprule", f"    {head} \\\\", "    \\midrule"]
    body = [f"    {' & '.join(map(_cell, row, table.columns))} \\\\" for row in table.rows]
    if len(body) > _MOST_ROWS:
        lines = [
            "{\\scriptsize\\setlength{\\tabcolsep}{2pt}",
            f"  \\begin{{longtable}}{{{places}}}",
            f"    {caption} \\\\",
            *(*top, "    \\endfirsthead"),
            *(*top, "    \\endhead"),
            *("    \\bottomrule", "    \\endfoot"),
            *body,
            "  \\end{longtable}",
            "}",
        ]
        return "\n".join(lines)
    lines = ["\\begin{table}", "  \\centering", f"  {caption}", f"  {_FITTED}{{%"]
    lines += [f"  \\begin{{tabular}}{{{places}}}", *top, *body, "    \\bottomrule", "  \\end{tabular}}"]
    return "\n".join([*lines, "\\end{table}"])


def _head(column: Column) -> str:
    lines = [for_latex(line) for line in (column.head.split("\n") if column.head.strip() else [column.name])]
    if len(lines) == 1:
        return lines[0]
    stacked = "\\\\".join(lines)
    return f"\\shortstack[{column.justify[0]}]{{{stacked}}}"


def _cell(cell: Cell | str, column: Column) -> str:
    text = for_latex(text_of(cell))
    if column.justify == "right":
        text = _MINUS.sub("$-$", text)
    return f"\\textbf{{{text}}}" if "bold" in as_cell(cell).style else text
