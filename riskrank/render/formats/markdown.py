"""Markdown output: pipe tables and paragraphs."""

from collections.abc import Iterable, Sequence

from riskrank.render.escapes import escape_for_markdown, escape_for_markdown_cell, escape_for_markdown_code
from riskrank.render.view import Section, Table, cell_text


def to_markdown(view: Sequence[Section]) -> str:
    """Render a view as Markdown, with pipe tables and paragraphs."""
    blocks = []
    for section in view:
        if isinstance(section, Table):
            blocks.append(_table(section.plain))
            continue
        if section.verbatim:
            blocks.append("```\n" + escape_for_markdown_code(section.text) + "\n```")
            continue
        label = f"**{escape_for_markdown(section.label)}** " if section.label else ""
        blocks.append(label + escape_for_markdown(section.text))
    return "\n\n".join(blocks) + "\n"


def _table(table: Table) -> str:
    """Render a table as a Markdown pipe table."""
    marks = {"left": ":---", "right": "---:", "center": ":---:"}
    lines = [
        _pipe_row(column.name or column.head.replace("\n", " ") for column in table.columns),
        _pipe_row((marks[column.justify] for column in table.columns), escape=False),
    ]
    lines += [_pipe_row(cell_text(cell) for cell in row) for row in table.rows]
    return f"### {escape_for_markdown(table.title)}\n\n" + "\n".join(lines)


def _pipe_row(cells: Iterable[str], *, escape: bool = True) -> str:
    """Render cells as one row of a pipe table."""
    return "| " + " | ".join(escape_for_markdown_cell(cell) if escape else cell for cell in cells) + " |"
