"""Markdown output: pipe tables and paragraphs."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from riskrank.render.escapes import escape_for_markdown, escape_for_markdown_cell, escape_for_markdown_code
from riskrank.render.view import Section, Table, cell_text

# Maximum characters of a comment, and of cells and texts in a longer one. GitHub refuses 65,536 characters.
_MAX_COMMENT, _MAX_CELL, _MAX_TEXT = 30_000, 80, 1_500
_CUT = "\n…: this comment is shortened. The output files of the run are complete.\n"


def to_comment(view: Sequence[Section], marker: str) -> str:
    """Render a view as a comment that begins with a marker.

    To keep it within 30,000 characters, long cells and texts are truncated, and the last rows and sections
    are dropped.
    """
    text = f"{marker}\n\n{to_markdown(view)}"
    if len(text) <= _MAX_COMMENT:
        return text
    text = f"{marker}\n"
    for section in map(_shorten, view):
        block = "\n" + to_markdown([section])
        while isinstance(section, Table) and section.rows and len(text + block + _CUT) > _MAX_COMMENT:
            section = replace(section, rows=section.rows[: len(section.rows) // 2])
            block = "\n" + to_markdown([section])
        if len(text + block + _CUT) > _MAX_COMMENT:
            break
        text += block
    return text + _CUT


def _shorten(section: Section) -> Section:
    """Return a section with its cells and texts cut to a maximum length."""
    if not isinstance(section, Table):
        return replace(section, text=_cut(section.text, _MAX_TEXT), label=_cut(section.label, _MAX_CELL))
    plain = section.plain
    heads = tuple(replace(column, head=_cut(column.head), name=_cut(column.name)) for column in plain.columns)
    rows = tuple(tuple(_cut(cell_text(cell)) for cell in row) for row in plain.rows)
    return replace(plain, title=_cut(plain.title, 2 * _MAX_CELL), columns=heads, rows=rows)


def _cut(text: str, limit: int = _MAX_CELL) -> str:
    """Cut a text to at most `limit` characters, with an ellipsis at the end."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def to_markdown(view: Sequence[Section]) -> str:
    """Render a view as Markdown, with pipe tables and paragraphs."""
    blocks = []
    for section in view:
        if isinstance(section, Table):
            blocks.append(_format_table(section.plain))
            continue
        if section.verbatim:
            blocks.append("```\n" + escape_for_markdown_code(section.text) + "\n```")
            continue
        label = f"**{escape_for_markdown(section.label)}** " if section.label else ""
        blocks.append(label + escape_for_markdown(section.text))
    return "\n\n".join(blocks) + "\n"


def _format_table(table: Table) -> str:
    """Render a table as a Markdown pipe table."""
    marks = {"left": ":---", "right": "---:", "center": ":---:"}
    lines = [
        _pipe_row(column.name or column.head.replace("\n", " ") for column in table.columns),
        _pipe_row((marks[column.justify] for column in table.columns), escape=False),
    ]
    lines += [_pipe_row(cell_text(cell) for cell in row) for row in table.rows]
    return f"### {escape_for_markdown(table.title)}\n\n" + "\n".join(lines)


def _pipe_row(cells: Iterable[str], *, escape: bool = True) -> str:
    """Format texts as a row of a pipe table."""
    return "| " + " | ".join(escape_for_markdown_cell(cell) if escape else cell for cell in cells) + " |"
