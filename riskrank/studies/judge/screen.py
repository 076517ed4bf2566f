"""Tables on a judge: each model's mean according to the judge, the labels and the calibrated judge."""

from riskrank.render.numbers import interval_decimals
from riskrank.render.view import Column, Line, RowColumn, Section, Table, build_table, column_heads
from riskrank.studies.judge.section import JudgeAnalysis
from riskrank.studies.wording import format_fixed, two_digits


def lead_lines(chapter: JudgeAnalysis) -> list[Section]:
    """Return a line on the numbers of labels and judge scores, and on the gain from the judge."""
    entry = chapter.entry
    scale = ", mapped to the human scale," if entry.mapped else ""
    scored = f"{entry.judge}{scale} scored all {entry.samples:,} samples, people scored {entry.labelled:,}."
    return [Line(f"{scored} {chapter.gain_sentence}")]


def mean_sections(chapter: JudgeAnalysis) -> list[Section]:
    """Return a table of each model's means, the best first, and a table of effective labels by pair."""
    entry = chapter.entry
    models = sorted(
        entry.models, key=lambda entry_of_model: entry_of_model.mean if entry.lower else -entry_of_model.mean
    )
    decimals = interval_decimals(
        [entry_of_model.low for entry_of_model in models], [entry_of_model.high for entry_of_model in models]
    )

    def format_mean(value: float) -> str:
        return format_fixed(value, decimals)

    columns: list[RowColumn] = [
        (Column("model", "left"), lambda entry_of_model: entry_of_model.model),
        (Column("judge\nalone"), lambda entry_of_model: format_mean(entry_of_model.judge_mean)),
        (Column("labels\nalone"), lambda entry_of_model: format_mean(entry_of_model.labelled_mean)),
        (Column("calibrated"), lambda entry_of_model: format_mean(entry_of_model.mean)),
        (
            Column("95 % interval"),
            lambda entry_of_model: f"{format_mean(entry_of_model.low)} to {format_mean(entry_of_model.high)}",
        ),
        (Column("λ"), lambda entry_of_model: f"{entry_of_model.power:.2f}"),
        (Column("effective\nlabels"), lambda entry_of_model: f"{entry_of_model.effective_labels:,.0f}"),
    ]
    return [build_table(f"Mean {entry.human} by model", columns, models), _READING, _pair_table(chapter)]


def _pair_table(chapter: JudgeAnalysis) -> Table:
    """Return a table of the effective number of labels for each pair of models.

    A long table is folded.
    """
    models = chapter.models
    rows = tuple(
        (f"{models[i]} and {models[j]}", f"{two_digits(labels):,}")
        for (i, j), labels in sorted(chapter.pair_labels.items(), key=lambda item: item[1])
    )
    title = f"Effective labels for differences of means ({chapter.entry.labelled:,} labels and the judge)"
    return Table(title, column_heads("models", right=("labels",)), rows, folded=len(rows) > 10)


_READING = Line(
    "each interval holds for one mean alone. λ is the weight of the judge, chosen for differences of models; "
    "the tail picture and the first table choose it for each worst share, so other pictures may differ "
    "slightly there. Effective labels: number of labels that would estimate this mean equally well without "
    "the judge. The number is different for a difference of two means, because the difficulty of a sample "
    "cancels there.",
    "Reading:",
)
