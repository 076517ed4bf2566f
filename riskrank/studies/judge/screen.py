"""What a few labels moved, model by model: means by the judge alone, by the labels alone, and corrected."""

from riskrank.render.numbers import decimals_of_ends
from riskrank.render.view import Column, Line, OfRow, Section, Table, by_row, headed
from riskrank.studies.judge.section import JudgedChapter
from riskrank.studies.wording import rounded, two_digits


def lead(chapter: JudgedChapter) -> list[Section]:
    """What the judge is good for."""
    entry = chapter.entry
    scale = ", mapped onto people's scale," if entry.mapped else ""
    scored = f"{entry.judge}{scale} scored all {entry.samples:,} samples, people {entry.labelled:,} of them."
    return [Line(f"{scored} {chapter.worth}")]


def means(chapter: JudgedChapter) -> list[Section]:
    """Every model's means, the best first, what the judge adds to them, and to differences of two."""
    entry = chapter.entry
    models = sorted(entry.models, key=lambda one: one.mean if entry.lower else -one.mean)
    decimals = decimals_of_ends([one.low for one in models], [one.high for one in models])

    def said(value: float) -> str:
        return rounded(value, decimals)

    columns: list[OfRow] = [
        (Column("model", "left"), lambda one: one.model),
        (Column("judge\nalone"), lambda one: said(one.judge_mean)),
        (Column("labels\nalone"), lambda one: said(one.labelled_mean)),
        (Column("corrected"), lambda one: said(one.mean)),
        (Column("95 % interval"), lambda one: f"{said(one.low)} to {said(one.high)}"),
        (Column("λ"), lambda one: f"{one.power:.2f}"),
        (Column("worth to its\nmean, labels"), lambda one: f"{one.worth:,.0f}"),
    ]
    return [
        by_row(f"Mean {entry.human}, model by model", columns, models),
        _READING,
        _by_pair(chapter),
    ]


def _by_pair(chapter: JudgedChapter) -> Table:
    """What labels and judge are worth to the difference of two models' means; folded where pairs are many."""
    models = chapter.models
    rows = tuple(
        (f"{models[i]} and {models[j]}", f"{two_digits(worth):,}")
        for (i, j), worth in sorted(chapter.worths.items(), key=lambda one: one[1])
    )
    title = f"What {chapter.entry.labelled:,} labels and the judge are worth to a difference of two means"
    return Table(title, headed("models", right=("labels",)), rows, folded=len(rows) > 10)


_READING = Line(
    "each interval is of its mean by itself. λ is how much of the judge is taken, as much as is good for "
    "differences of models; the picture of the tail and the first table take as much as is good for each "
    "worst share, so that other pictures may differ a little there; worth are the labels "
    "that would tell as much of this mean without the judge. Of a difference of two means they "
    "tell otherwise: what is hard for both models cancels there.",
    "Reading:",
)
