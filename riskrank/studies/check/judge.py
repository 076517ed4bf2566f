"""Check a judge against human labels, for ``check``: agreement, bias, and the precision that it adds."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from riskrank.engine.judges.inspection import inspect_judge
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import computed, none_if_nan, rows_from_records
from riskrank.studies.judge.section import JudgeAnalysis, JudgedEntry, analyze_judge, describe_agreement
from riskrank.studies.targets import column_units
from riskrank.studies.wording import format_number, join_names, typeset


@dataclass(frozen=True)
class JudgeOfModelEntry:
    """Agreement and bias of a judge on the answers of one model.

    ``agreement`` is Spearman's rank correlation with the human scores. ``same`` is the proportion of equal
    scores, or None if the judge uses another scale. ``bias`` is the judge's mean minus the
    human mean on the labelled samples, in the units of the file; the intervals of all models hold
    simultaneously. ``shift`` is the judge's mean on labelled samples minus its mean on the others.
    ``shift_p`` is the p-value of Welch's t test, adjusted by Holm's method.
    """

    model: str = computed(lambda model: model)
    agreement: float | None = computed(lambda inspection, i: none_if_nan(float(inspection.agreement[i])))
    same: float | None = computed(
        lambda inspection, i: None if inspection.identical is None else float(inspection.identical[i])
    )
    bias: float = computed(lambda bias, i: float(bias[0][i]))
    bias_low: float = computed(lambda bias, i: float(bias[1][i]))
    bias_high: float = computed(lambda bias, i: float(bias[2][i]))
    shift: float = computed(lambda sign, inspection, i: float(sign * inspection.shift[i] + 0.0))
    shift_p: float = computed(lambda inspection, i: float(np.minimum(inspection.shift_p[i], 1.0)))


@dataclass(frozen=True)
class JudgeCheckEntry(JudgedEntry):
    """A judge calibrated on human labels, and its inspection.

    ``separated_by_labels`` and ``separated`` are the numbers of pairs of models whose means differ
    significantly: by the labels alone, and with the judge.
    """

    by_model: Sequence[JudgeOfModelEntry]
    separated_by_labels: int
    separated: int


@dataclass(frozen=True)
class JudgeCheck:
    """Results of checking a judge, with sentences that describe them."""

    entry: JudgeCheckEntry
    section: JudgeAnalysis

    @property
    def agreement(self) -> str:
        """Sentence on how well the judge agrees with human scores."""
        agreements = [model.agreement for model in self.entry.by_model if model.agreement is not None]
        if not agreements:
            return "no rank correlation, because the scores are constant"
        low, high = (typeset(f"{value:.2f}") for value in (min(agreements), max(agreements)))
        text = f"Spearman's rank correlation {low if low == high else f'{low} to {high}'} by model"
        text = f"{describe_agreement(self.entry.agreement)} with human scores, {text}"
        shares = [model.same for model in self.entry.by_model if model.same is not None]
        if not shares:
            return f"{text} on {self.entry.labelled:,} labelled samples."
        low, high = (f"{100 * value:.0f}" for value in (min(shares), max(shares)))
        share = low if low == high else f"{low} to {high}"
        return f"{text}, equal scores on {share} % of {self.entry.labelled:,} labelled samples."

    @property
    def bias(self) -> str:
        """Sentence on the models for which the judge is significantly biased."""
        if self.entry.mapped:
            return "not measurable, because its scores are mapped to the human scale."
        biased = [model for model in self.entry.by_model if model.bias_low > 0 or model.bias_high < 0]
        if not biased:
            return "not significant for any model."
        texts = [
            f"{format_number(model.bias)} for {model.model} "
            f"({format_number(model.bias_low)} to {format_number(model.bias_high)})"
            for model in sorted(biased, key=lambda model: -abs(model.bias))
        ]
        n_other = len(self.entry.by_model) - len(biased)
        others = f"; not significant for {n_other} other{'s' * (n_other > 1)}" if n_other else ""
        return f"{join_names(texts, 3)}{others}."

    @property
    def use(self) -> str:
        """Sentence on how much precision the judge adds to the labels."""
        entry = self.entry
        pairs = len(entry.by_model) * (len(entry.by_model) - 1) // 2
        labels_text = f"the labels alone separate {entry.separated_by_labels} of {pairs} pairs"
        note = "; the labels suffice" if entry.separated_by_labels == pairs else ""
        return (
            f"{self.section.gain_sentence} By means, {labels_text}, with the judge {entry.separated}{note}."
        )

    @property
    def problems(self) -> list[str]:
        """Warning that the judge ranks models in the opposite direction, or an empty list if it does not."""
        if not self.section.direction_hint:
            return []
        text = f"{self.entry.judge} is negatively correlated with human scores for every model"
        return [f"{text}: {self.section.direction_hint}"]


def check_judge(table: ScoreTable) -> JudgeCheck | None:
    """Check the judge of a table against the human labels, or return None if the table has no judge."""
    judged, analysis = table.judged, analyze_judge(table)
    if judged is None or analysis is None:
        return None
    inspection = inspect_judge(judged.corrections, judged.raw, mapped=bool(judged.mapping_reason))
    units, sign = column_units(judged.human, table.metrics), judged.judge_sign
    limits = units.interval_to_file_units(inspection.bias_low, inspection.bias_high)
    bias = (units.to_file_units(inspection.bias), *limits)
    records = ((model, inspection, bias, sign, i) for i, model in enumerate(table.models))
    entry = JudgeCheckEntry(
        **vars(analysis.entry),
        by_model=rows_from_records(JudgeOfModelEntry, "model inspection bias sign i", records),
        separated_by_labels=inspection.separated_by_labels,
        separated=inspection.separated,
    )
    return JudgeCheck(entry, analysis)
