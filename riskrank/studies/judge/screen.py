"""Tables on a judge: each model's mean according to the judge, the labels and the calibrated judge."""

from collections.abc import Sequence

from riskrank.engine.judges.inspection import JudgeAgreement
from riskrank.render.numbers import interval_decimals
from riskrank.render.view import Column, Line, RowColumn, Section, Table, build_table, column_heads
from riskrank.studies.judge.section import JudgeAnalysis, describe_agreement
from riskrank.studies.wording import format_fixed, round_two_digits


def lead_lines(analysis: JudgeAnalysis) -> list[Section]:
    """Return a line on the numbers of labels and judge scores, and on the gain from the judge."""
    entry = analysis.entry
    scale = ", mapped to the human scale," if entry.mapped else ""
    scored = f"{entry.judge}{scale} scored all {entry.samples:,} samples, people scored {entry.labelled:,}."
    return [Line(f"{scored} {analysis.gain_sentence}")]


def agreement_line(analysis: JudgeAnalysis | None) -> list[Section]:
    """Return a line on the agreement of the judge with the labels, or an empty list without a judge."""
    if analysis is None:
        return []
    entry, text = analysis.entry, describe_agreement(analysis.entry.agreement)
    return [
        Line(f"{text} of {entry.judge} and {entry.human} on {entry.labelled:,} labelled samples.", "Judge:")
    ]


def pair_lines(agreements: Sequence[JudgeAgreement]) -> list[Section]:
    """Return a line on the pairs of judges that agree least and most, or an empty list without pairs."""
    known = sorted((pair for pair in agreements if pair.value is not None), key=lambda pair: pair.value or 0)
    ends = dict.fromkeys((*known[:1], *known[-1:]))
    parts = [f"{pair.first} and {pair.second} {describe_agreement(pair)}" for pair in ends]
    return [Line(f"{'; '.join(parts)}{' (least and most)' * len(known[2:3])}.", "Judges:")] if parts else []


def pair_table(agreements: Sequence[JudgeAgreement]) -> list[Section]:
    """Return a table of the agreement of each pair of judges, or an empty list without pairs."""
    rows = tuple(
        (f"{pair.first} and {pair.second}", describe_agreement(pair), f"{pair.answers:,}")
        for pair in agreements
    )
    heads = column_heads("judges", "agreement, 95 %", right=("answers",))
    return [Table("Agreement of judges", heads, rows)] if rows else []


def mean_sections(analysis: JudgeAnalysis) -> list[Section]:
    """Return a table of each model's means, the best first, and a table of effective labels by pair."""
    entry = analysis.entry
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
    return [build_table(f"Mean {entry.human} by model", columns, models), _READING, _pair_table(analysis)]


def _pair_table(analysis: JudgeAnalysis) -> Table:
    """Return a table of the effective number of labels for each pair of models.

    A long table is folded.
    """
    models = analysis.models
    rows = tuple(
        (f"{models[i]} and {models[j]}", f"{round_two_digits(labels):,}")
        for (i, j), labels in sorted(analysis.pair_labels.items(), key=lambda item: item[1])
    )
    title = f"Effective labels for differences of means ({analysis.entry.labelled:,} labels and the judge)"
    return Table(title, column_heads("models", right=("labels",)), rows, folded=len(rows) > 10)


_READING = Line(
    "each interval holds for one mean alone. λ is the weight of the judge, chosen for differences of models; "
    "the tail picture and the first table choose it for each worst share, so other pictures may differ "
    "slightly there. Effective labels: number of labels that would estimate this mean equally well without "
    "the judge. The number is different for a difference of two means, because the difficulty of a sample "
    "cancels there.",
    "Reading:",
)
