"""A gate on every sample, those that do not pass first."""

from collections.abc import Sequence

from riskrank.shown import numbers
from riskrank.shown.screens import offered, unshown
from riskrank.shown.view import Cell, Column, Line, OfRow, Section, Table, by_row
from riskrank.studies.gate.each_sample import SampleDocument, SampleRow, often, to_decide
from riskrank.studies.gate.screen.first import GRAVITY, STYLES
from riskrank.studies.gate.verdicts import INCONCLUSIVE
from riskrank.studies.wording import span

# Samples a screen has room for.
_ROWS = 10


def view(document: SampleDocument) -> list[Section]:
    """The samples that matter most, how they were tested, what would decide; then all of them."""
    rows = sorted(document.rows, key=lambda row: (GRAVITY[row.verdict], row.share))
    shown = rows[:_ROWS]
    return [
        _table(document, shown),
        *unshown(len(rows) - len(shown), "sample"),
        Line(_tests(document)),
        *_to_do(document),
        *offered([_table(document, rows, all_=True)]),
    ]


def _table(document: SampleDocument, rows: Sequence[SampleRow], *, all_: bool = False) -> Table:
    models = len({row.model for row in document.rows}) > 1
    metrics = len({row.metric for row in document.rows}) > 1
    columns: list[OfRow | None] = [
        (Column("answer", "left"), lambda row: Cell(row.verdict.upper(), STYLES[row.verdict])),
        (Column("model", "left"), lambda row: row.model) if models else None,
        (Column("on", "left"), lambda row: row.metric) if metrics else None,
        (Column("sample", "left"), lambda row: row.sample),
        (Column("passed"), lambda row: f"{row.passed:,} of {row.runs:,}"),
        (Column("interval", "left"), lambda row: f"{row.low:.2f} to {row.high:.2f}"),
        (Column("p"), lambda row: numbers.p_value(row.p_adjusted)) if all_ else None,
        (Column("runs\nneeded", name="runs needed"), lambda row: numbers.count(row.runs_needed))
        if all_
        else None,
    ]
    who = "Every sample" if models else f"Every sample of {document.rows[0].model}"
    title = f"{who} passes at least {often(document.at_least)} of the time"
    return by_row("All samples" if all_ else title, columns, rows, stub=2)


def _tests(document: SampleDocument) -> str:
    rows = document.rows
    runs = f"{span(row.runs for row in rows)} runs"
    together = len(rows) > 1 and document.family.simultaneous
    how = "hold together " if together else ""
    many = f" ({document.family.correction.capitalize()} over {len(rows):,} samples)" if together else ""
    return f"{runs} a sample; exact binomial intervals {how}at {100 * document.family.confidence:g} %{many}."


def _to_do(document: SampleDocument) -> list[Line]:
    """What would decide the samples that are open."""
    if all(row.verdict != INCONCLUSIVE for row in document.rows):
        return []
    text = to_decide(document.rows, document.always, document.inconclusive)
    return [Line(f"{text}.", "To decide:", "yellow")]
