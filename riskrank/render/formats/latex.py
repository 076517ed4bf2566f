"""LaTeX output for papers: booktabs tables, and text."""

import re
from collections.abc import Sequence

from riskrank.render.escapes import escape_for_latex
from riskrank.render.view import Cell, Column, Section, Table, as_cell, cell_text

_PREAMBLE = """\
% \\usepackage{booktabs,graphicx,iftex,longtable}
% \\iftutex \\usepackage{fontspec} \\else \\usepackage[T1]{fontenc} \\fi
% Names beyond Latin: LuaLaTeX or XeLaTeX, and \\setmainfont{...} of a font that has their letters."""
# Number of rows beyond which a table spans pages, because a float would not fit on one page.
_MOST_ROWS = 40
# Scale a table that is wider than the text down to its width.
_FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}"
_MINUS = re.compile(r"(?<!\S)-(?=\d)")


def to_latex(view: Sequence[Section]) -> str:
    """Render a view as LaTeX, with floating tables, or longtables if they exceed a page."""
    blocks = [_PREAMBLE]
    for section in view:
        if isinstance(section, Table):
            blocks.append(_format_table(section.for_medium("latex")))
            continue
        label = f"\\textbf{{{escape_for_latex(section.label)}}} " if section.label else ""
        text = escape_for_latex(section.text)
        text = f"\\texttt{{{text}}}" if section.verbatim else text
        # Long names do not break, so allow loose lines.
        blocks.append(f"{{\\sloppy\\noindent {label}{text}\\par}}")
    return "\n\n".join(blocks) + "\n"


def _format_table(table: Table) -> str:
    """Render a table as LaTeX."""
    alignment = "@{}" + "".join(column.justify[0] for column in table.columns) + "@{}"
    heads = []
    for column in table.columns:
        text = column.head if column.head.strip() else column.name
        parts = [escape_for_latex(line) for line in text.split("\n")]
        stacked = "\\\\".join(parts)
        heads.append(f"\\shortstack[{column.justify[0]}]{{{stacked}}}" if len(parts) > 1 else parts[0])
    caption = f"\\caption{{{escape_for_latex(table.title)}}}"
    top = ["    \\toprule", f"    {' & '.join(heads)} \\\\", "    \\midrule"]
    body = [f"    {' & '.join(map(_format_cell, row, table.columns))} \\\\" for row in table.rows]
    if len(body) > _MOST_ROWS:
        lines = [
            "{\\scriptsize\\setlength{\\tabcolsep}{2pt}",
            f"  \\begin{{longtable}}{{{alignment}}}",
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
    lines += [f"  \\begin{{tabular}}{{{alignment}}}", *top, *body, "    \\bottomrule", "  \\end{tabular}}"]
    return "\n".join([*lines, "\\end{table}"])


def _format_cell(cell: Cell | str, column: Column) -> str:
    """Render a table cell as LaTeX."""
    text = escape_for_latex(cell_text(cell))
    if column.justify == "right":
        text = _MINUS.sub("$-$", text)
    return f"\\textbf{{{text}}}" if "bold" in as_cell(cell).style else text
