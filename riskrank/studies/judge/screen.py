"""Tables on a judge: each model's mean according to the judge, the labels and the calibrated judge."""

from collections.abc import Sequence

from riskrank.engine.judges import JudgeAgreement
from riskrank.render.numbers import interval_decimals
from riskrank.render.view import Column, Line, RowColumn, Section, Table, build_table, column_heads
from riskrank.studies.judge.section import JudgeAnalysis, describe_agreement
from riskrank.studies.wording import format_fixed, round_two_digits


def label_lines(analysis: JudgeAnalysis) -> list[Section]:
    """Return a line on the numbers of labels and judge scores, and on the precision gained by the judge."""
    entry = analysis.entry
    scale = ", mapped to the human scale," if entry.mapped else ""
    scored = f"{entry.judge}{scale} scored all {entry.samples:,} samples, people scored {entry.labelled:,}."
    return [Line(f"{scored} {analysis.gain_sentence}")]


def agreement_line(analysis: JudgeAnalysis | None) -> list[Section]:
    """Return a list with a line on the agreement of judge and labels, empty without a judge."""
    if analysis is None:
        return []
    entry = analysis.entry
    text = f"{describe_agreement(entry.agreement)} of {entry.judge} and {entry.human}"
    return [Line(f"{text} on {entry.labelled:,} labelled samples.", "Judge:")]


def pair_lines(agreements: Sequence[JudgeAgreement]) -> list[Section]:
    """Return a list with a line on the pairs of judges that agree least and most, or an empty list."""
    known = sorted((pair for pair in agreements if pair.value is not None), key=lambda pair: pair.value or 0)
    extremes = dict.fromkeys((*known[:1], *known[-1:]))
    parts = [f"{pair.first} and {pair.second} {describe_agreement(pair)}" for pair in extremes]
    return [Line(f"{'; '.join(parts)}{' (least and most)' * len(known[2:3])}.", "Judges:")] if parts else []


def pair_table(agreements: Sequence[JudgeAgreement]) -> list[Section]:
    """Return a list with a table of the agreement of each pair of judges, empty without pairs."""
    rows = tuple(
        (f"{pair.first} and {pair.second}", describe_agreement(pair), f"{pair.answers:,}")
        for pair in agreements
    )
    heads = column_heads("judges", "agreement, 95 %", right=("answers",))
    return [Table("Agreement of judges", heads, rows)] if rows else []


def mean_sections(analysis: JudgeAnalysis) -> list[Section]:
    """Return tables of each model's means and of the effective numbers of labels, with an explanation."""
    entry = analysis.entry
    models = sorted(entry.models, key=lambda model: model.mean if entry.lower else -model.mean)
    decimals = interval_decimals([model.low for model in models], [model.high for model in models])

    def format_mean(value: float) -> str:
        """Format a mean with the number of decimals that all means share."""
        return format_fixed(value, decimals)

    columns: list[RowColumn] = [
        (Column("model", "left"), lambda model: model.model),
        (Column("judge\nalone"), lambda model: format_mean(model.judge_mean)),
        (Column("labels\nalone"), lambda model: format_mean(model.labelled_mean)),
        (Column("calibrated"), lambda model: format_mean(model.mean)),
        (Column("95 % interval"), lambda model: f"{format_mean(model.low)} to {format_mean(model.high)}"),
        (Column("λ"), lambda model: f"{model.power:.2f}"),
        (Column("effective\nlabels"), lambda model: f"{model.effective_labels:,.0f}"),
    ]
    names = analysis.models
    pairs = tuple(
        (f"{names[i]} and {names[j]}", f"{round_two_digits(labels):,}")
        for (i, j), labels in sorted(analysis.pair_labels.items(), key=lambda item: item[1])
    )
    title = f"Effective labels for differences of means ({entry.labelled:,} labels and the judge)"
    return [
        build_table(f"Mean {entry.human} by model", columns, models),
        _READING,
        Table(title, column_heads("models", right=("labels",)), pairs, folded=len(pairs) > 10),
    ]


_READING = Line(
    "each interval holds for one mean alone. λ is the weight of the judge, chosen for differences of models; "
    "the tail picture and the first table choose it for each worst share, so other pictures may differ "
    "slightly there. Effective labels: number of labels that would estimate this mean equally well without "
    "the judge. The number is different for a difference of two means, because the difficulty of a sample "
    "cancels there.",
    "Reading:",
)
