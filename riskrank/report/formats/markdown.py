"""A view as Markdown: pipe tables and paragraphs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from riskrank.report.escapes import for_markdown, for_markdown_cell, for_markdown_code
from riskrank.report.view import Line, Section, text_of


def to_markdown(view: Sequence[Section]) -> str:
    """Write a view as Markdown: pipe tables and paragraphs."""
    blocks = []
    for section in view:
        if isinstance(section, Line) and section.verbatim:
            blocks.append("```\n" + for_markdown_code(section.text) + "\n```")
            continue
        if isinstance(section, Line):
            label = f"**{for_markdown(section.label)}** " if section.label else ""
            blocks.append(label + for_markdown(section.text))
            continue
        marks = {"left": ":---", "right": "---:", "center": ":---:"}
        lines = [
            _pipe_row(column.name or column.head.replace("\n", " ") for column in section.columns),
            _pipe_row((marks[column.justify] for column in section.columns), escape=False),
        ]
        lines += [_pipe_row(text_of(cell) for cell in row) for row in section.rows]
        blocks.append(f"### {for_markdown(section.title)}\n\n" + "\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def _pipe_row(cells: Iterable[str], *, escape: bool = True) -> str:
    return "| " + " | ".join(for_markdown_cell(cell) if escape else cell for cell in cells) + " |"
