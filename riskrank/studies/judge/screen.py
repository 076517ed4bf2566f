"""Tables on a judge: means by the judge alone, by the labels alone, and by the calibrated judge."""

from riskrank.render.numbers import interval_decimals
from riskrank.render.view import Column, Line, RowColumn, Section, Table, build_table, column_heads
from riskrank.studies.judge.section import JudgedChapter
from riskrank.studies.wording import rounded, two_digits


def lead_lines(chapter: JudgedChapter) -> list[Section]:
    """Return a line on the numbers of scores and the gain from the judge."""
    entry = chapter.entry
    scale = ", mapped onto people's scale," if entry.mapped else ""
    scored = f"{entry.judge}{scale} scored all {entry.samples:,} samples, people {entry.labelled:,} of them."
    return [Line(f"{scored} {chapter.gain_sentence}")]


def mean_sections(chapter: JudgedChapter) -> list[Section]:
    """Return a table of every model's means, the best first, and a table of effective labels by pair."""
    entry = chapter.entry
    models = sorted(
        entry.models, key=lambda entry_of_model: entry_of_model.mean if entry.lower else -entry_of_model.mean
    )
    decimals = interval_decimals(
        [entry_of_model.low for entry_of_model in models], [entry_of_model.high for entry_of_model in models]
    )

    def format_mean(value: float) -> str:
        return rounded(value, decimals)

    columns: list[RowColumn] = [
        (Column("model", "left"), lambda entry_of_model: entry_of_model.model),
        (Column("judge\nalone"), lambda entry_of_model: format_mean(entry_of_model.judge_mean)),
        (Column("labels\nalone"), lambda entry_of_model: format_mean(entry_of_model.labelled_mean)),
        (Column("corrected"), lambda entry_of_model: format_mean(entry_of_model.mean)),
        (
            Column("95 % interval"),
            lambda entry_of_model: f"{format_mean(entry_of_model.low)} to {format_mean(entry_of_model.high)}",
        ),
        (Column("λ"), lambda entry_of_model: f"{entry_of_model.power:.2f}"),
        (Column("worth to its\nmean, labels"), lambda entry_of_model: f"{entry_of_model.worth:,.0f}"),
    ]
    return [
        build_table(f"Mean {entry.human}, model by model", columns, models),
        _READING,
        _pair_table(chapter),
    ]


def _pair_table(chapter: JudgedChapter) -> Table:
    """Return a table of the effective number of labels by pair of models; it is folded for many pairs."""
    models = chapter.models
    rows = tuple(
        (f"{models[i]} and {models[j]}", f"{two_digits(labels):,}")
        for (i, j), labels in sorted(chapter.pair_worths.items(), key=lambda item: item[1])
    )
    title = f"What {chapter.entry.labelled:,} labels and the judge are worth to a difference of two means"
    return Table(title, column_heads("models", right=("labels",)), rows, folded=len(rows) > 10)


_READING = Line(
    "each interval is of its mean by itself. λ is how much of the judge is taken, as much as is good for "
    "differences of models; the picture of the tail and the first table take as much as is good for each "
    "worst share, so that other pictures may differ a little there; worth are the labels "
    "that would tell as much of this mean without the judge. Of a difference of two means they "
    "tell otherwise: what is hard for both models cancels there.",
    "Reading:",
)
