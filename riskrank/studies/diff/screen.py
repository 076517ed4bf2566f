"""Terminal output of ``diff``: counts of changed cases, the largest losses, and a JUnit report."""

from collections.abc import Sequence
from dataclasses import replace
from textwrap import wrap

from riskrank.errors import option, single_line, spell
from riskrank.render import numbers, screens
from riskrank.render.escapes import escape_controls
from riskrank.render.junit import Suite, TestCase
from riskrank.render.view import Cell, Column, Line, RowColumn, Section, Table, build_table
from riskrank.studies.cases import WORSE, CaseRow
from riskrank.studies.diff.study import MOST_CHANGES, Change, DiffDocument
from riskrank.studies.gate.sentences import format_estimate, format_interval, row_statistic
from riskrank.studies.wording import counted

# Maximum number of cases that a page lists in full. Files contain all cases.
_MOST_LISTED = 1_000
# Display width of a text in the table of texts, and maximum length of a text in the log of a CI server.
_TEXT_WIDTH, _MOST_LOG_CHARACTERS = 60, 2_000
# Lines and columns of a small terminal, lines other than counts and cases, and fewest counts shown.
_LINES, _COLUMNS, _FIXED_LINES, _FEWEST_CHANGES = 25, 79, 11, 3


def build_sections(document: DiffDocument) -> list[Section]:
    """Return the sections of the screen: counts and largest losses, then gains and more cases as details."""
    changes, lost = document.changes, document.worse_cases
    n_changes, n_listed = _fit_screen(document)
    displayed = list(changes)
    if len(changes) > n_changes:
        # Counts over all samples come first, then groups by significant losses and p-value.
        groups = [change for change in changes if change.group is not None]
        groups.sort(key=lambda change: (not change.is_loss, change.p_adjusted))
        displayed = [*(change for change in changes if change.group is None), *groups][:n_changes]
    texts = texts_tables(lost[:n_listed], document.new, document.old, document.texts)
    sections: list[Section] = [
        *([_statistics_table(document)] if document.statistics else []),
        _changes_table(document, displayed),
        *screens.hidden_count_lines(len(changes) - len(displayed), "line"),
    ]
    if lost and n_listed:
        title = f"Cases that got worse with {document.new}"
        sections.append(cases_table(lost[:n_listed], document.new, document.old, title))
        sections += _count_unlisted(len(lost) - n_listed, "worse", option("cases", len(lost)))
        sections += texts if document.settings.cases is not None else screens.as_details(texts)
    details = _details(document, n_listed, every_change=len(changes) > len(displayed))
    sections += [*screens.detection_limit_lines(document), _files_line(document)]
    return [*sections, *screens.follow_up_sections(details)]


def _files_line(document: DiffDocument) -> Line:
    """Return a hint on how to write all cases to a file."""
    return Line(screens.rows_hint(f"all {len(document.rows):,} cases") + ".")


def _fit_screen(document: DiffDocument) -> tuple[int, int]:
    """Return how many rows of counts and how many cases to show, so that they fit on a small terminal."""
    requested, n_changes = document.settings.cases, min(len(document.changes), MOST_CHANGES)
    if requested is not None or not document.worse_cases:
        return MOST_CHANGES, document.n_cases
    lines = [
        Line(document.verdict, "Verdict:"),
        *screens.missing_score_lines(document.provenance),
        *screens.detection_limit_lines(document),
    ]
    words = [spell(f"{line.label} {line.text}", flags=True) for line in (*lines, _files_line(document))]
    # The table of statistics has a heading, a line under it and an empty line.
    n_lines = _FIXED_LINES + document.has_repeats + len(document.statistics) + 3 * bool(document.statistics)
    n_lines += sum(len(wrap(text, _COLUMNS)) for text in words)
    while (
        n_cases := _LINES - n_lines - n_changes - 2 * (len(document.changes) > n_changes)
    ) < 1 and n_changes > _FEWEST_CHANGES:
        n_changes -= 1
    # A single remaining case takes the line that would count it.
    n_cases += len(document.worse_cases) == n_cases + 1
    return n_changes, min(max(n_cases, 1), document.n_cases)


def _changes_table(document: DiffDocument, changes: Sequence[Change], title: str = "") -> Table:
    """Return a table with the numbers of cases that got worse, got better or stayed the same."""
    grouped = any(change.group is not None for change in document.changes)
    several = len({change.metric for change in document.changes}) > 1
    columns: list[RowColumn | None] = [
        (Column("metric", "left"), lambda change: change.metric) if several else None,
        (Column("cases of", "left"), lambda change: change.group or "all together") if grouped else None,
        (Column("worse"), lambda change: Cell(f"{change.worse:,}", "red" if change.is_loss else "")),
        (Column("better"), lambda change: f"{change.better:,}"),
        (Column("same"), lambda change: f"{change.same:,}"),
        (Column("p", name="p, wins and losses"), lambda change: numbers.format_p_value(change.p_adjusted)),
    ]
    if document.has_repeats:
        columns += [
            (
                Column("worse by\nchance", name="worse by chance"),
                lambda row: "–" if row.worse_by_chance is None else f"{row.worse_by_chance:.1f}",
            ),
            (Column("signif.\nworse", name="significantly worse"), lambda row: f"{row.shown_worse or 0:,}"),
        ]
    return build_table(title, columns, changes)


def _statistics_table(document: DiffDocument) -> Table:
    """Return a table of the differences of the requested statistics."""
    columns: list[RowColumn | None] = [
        (Column("statistic", "left"), lambda row: f"{row_statistic(row)} of {row.metric}{row.subset}"),
        (Column(f"{document.new} − {document.old}"), lambda row: format_estimate(row, sign=True)),
        (Column("interval", "left"), lambda row: format_interval(row, "–")),
        (Column("p"), lambda row: numbers.format_p_value(row.p_adjusted)),
    ]
    return build_table("", columns, document.statistics)


def _count_unlisted(count: int, direction: str, option_text: str) -> list[Line]:
    """Return a line with the number of cases that are not listed, and the option that lists them.

    The list is empty if `count` is not positive. The option is left out if the list would be too long to
    read. `direction` is "worse" or "better".
    """
    hint = f": {option_text}" if count <= _MOST_LISTED else ""
    return [Line(f"… {counted(count, 'more case')} that got {direction}{hint}")] if count > 0 else []


def _details(document: DiffDocument, n_listed: int, *, every_change: bool) -> list[Section]:
    """Return the details: all counts if some were omitted, gains, an explanation and further cases.

    `n_listed` is the number of worse cases on the first screen. `every_change` is True to repeat all counts.
    """
    new, lost, won = document.new, document.worse_cases, document.better_cases
    best, other_gains = won[: document.n_cases], won[document.n_cases :]
    sections: list[Section] = []
    if every_change:
        sections.append(_changes_table(document, document.changes, "Changes"))
    if best:
        sections.append(cases_table(best, new, document.old, f"Cases that got better with {new}"))
    if len(other_gains) > _MOST_LISTED:
        sections += _count_unlisted(len(other_gains), "better", "")
    sections.append(Line(_describe_tests(document), "Reading:"))
    sections += _unlisted_cases(document, lost[n_listed:], "worse")
    return sections + _unlisted_cases(document, other_gains, "better")


def _unlisted_cases(document: DiffDocument, cases: Sequence[CaseRow], direction: str) -> list[Section]:
    """Return a folded table of the given cases, or an empty list if there are none or too many.

    `direction` is "worse" or "better".
    """
    if not 0 < len(cases) <= _MOST_LISTED:
        return []
    start = "The other" if document.n_cases else "The"
    title = f"{start} {counted(len(cases), 'case')} that got {direction} with {document.new}"
    return [replace(cases_table(cases, document.new, document.old, title), folded=True)]


def _describe_tests(document: DiffDocument) -> str:
    """Return a sentence about the tests behind the p-values of counts and of single cases."""
    text = f"p of the counts: {document.test_name}, adjusted for {counted(len(document.changes), 'line')}"
    if document.has_repeats:
        text += (
            ". Worse by chance: cases that get worse from one run of the old model to another. p of a case: "
            "exact test of its runs, with the Benjamini-Hochberg correction, so about "
            f"{100 * document.settings.alpha:g} % of the significant cases may be false"
        )
    return f"{text}."


def cases_table(cases: Sequence[CaseRow], new: str, old: str, title: str) -> Table:
    """Return a table with one row per case. Columns with the same entry in all rows are omitted."""
    several = len({row.metric for row in cases}) > 1
    grouped = len({row.group for row in cases}) > 1
    is_tested = any(row.p_value is not None for row in cases)
    columns: list[RowColumn | None] = [
        (Column("case", "left"), lambda row: row.sample),
        (Column("metric", "left"), lambda row: row.metric) if several else None,
        (Column("of", "left"), lambda row: row.group or "") if grouped else None,
        (Column(old), lambda row: numbers.format_single_score(row.old)),
        (Column(new), lambda row: numbers.format_single_score(row.new)),
        (Column("p"), _p_value_cell) if is_tested else None,
    ]
    return build_table(title, columns, cases)


def texts_tables(cases: Sequence[CaseRow], new: str, old: str, source: str) -> list[Table]:
    """Return a list with a table of the cases' input and output texts; empty if there are no texts.

    `source` describes the origin of the texts.
    """
    rows: list[tuple[str, ...]] = []
    for row in cases:
        lines = [(label, _shorten(text)) for label, text in _texts(row, new, old)]
        rows += [(row.sample if index == 0 else "", *line) for index, line in enumerate(lines)]
    columns = (Column("case", "left"), Column("", "left", name="of"), Column("text", "left"))
    return [Table(f"Texts of these cases: {source}", columns, tuple(rows), stub=1)] if rows else []


def text_lines(row: CaseRow, new: str, old: str) -> tuple[str, ...]:
    """Return the input and outputs of a case as single lines of limited length for a log.

    Each line starts with a label, so that no text can imitate a command to the CI server.
    """
    lines = []
    for label, text in _texts(row, new, old):
        line = single_line(f"{label}: {text[:_MOST_LOG_CHARACTERS]}")
        lines.append(line if len(text) <= _MOST_LOG_CHARACTERS else f"{line}…")
    return tuple(lines)


def _texts(row: CaseRow, new: str, old: str) -> list[tuple[str, str]]:
    """Return the input and outputs of a case as pairs of label and text, without missing ones."""
    texts = (("input", row.input), (old, row.output_old), (new, row.output_new))
    return [(label, text) for label, text in texts if text is not None]


def _shorten(text: str) -> str:
    """Shorten a text to one line of limited display width, without control characters."""
    from rich.cells import cell_len, set_cell_size

    line = escape_controls(single_line(text[: 4 * _TEXT_WIDTH]))
    if cell_len(line) <= _TEXT_WIDTH and len(text) <= 4 * _TEXT_WIDTH:
        return line
    return f"{set_cell_size(line, _TEXT_WIDTH - 1).rstrip()}…"


def _p_value_cell(row: CaseRow) -> Cell | str:
    """Return the cell with the adjusted p-value of a case, red for a significant loss."""
    if row.p_adjusted is None:
        return "–"
    style = "red" if row.significant and row.change == WORSE else ""
    return Cell(numbers.format_p_value(row.p_adjusted), style)


def suite(document: DiffDocument) -> Suite:
    """Return a JUnit suite with one test case per sample and metric.

    A case that got worse is a failure. It is skipped if it has repeats and the loss is not significant.
    """
    cases = []
    for row in document.rows:
        kind = ""
        if row.change == WORSE:
            kind = "skipped" if row.significant is False else "failure"
        name = f"{row.sample} in {row.group}" if row.group else row.sample
        new, old = map(numbers.format_single_score, (row.new, row.old))
        message = f"{row.change}: {document.new} {new}, {document.old} {old} on {row.metric}"
        texts = text_lines(row, document.new, document.old)
        cases.append(TestCase(kind, f"riskrank.diff.{row.metric}", name, message, row.change, texts))
    return Suite("riskrank diff", cases)
