"""Inspection of a judge with human labels, for ``check``: agreement, bias, and the value of the labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from riskrank.engine.judges.inspection import JudgeInspection, inspect_judge
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import of, rows_from
from riskrank.studies.judge.section import JudgedChapter, JudgedEntry, judged_chapter
from riskrank.studies.targets import units_of
from riskrank.studies.wording import names, number, typeset


@dataclass(frozen=True)
class JudgeOfModelEntry:
    """Inspection of a judge on one model.

    ``agreement`` is Spearman's rank correlation with the human scores. ``bias`` is the judge's mean minus the
    human mean on the labelled samples, in the units of the file; the intervals of all models hold
    simultaneously. ``shift`` is the judge's mean on labelled samples minus its mean on the others, with
    Welch's p-value adjusted by Holm.
    """

    model: str = of(lambda model: model)
    agreement: float | None = of(lambda found, i: _number_or_none(found.agreement[i]))
    same: float | None = of(lambda found, i: None if found.same is None else float(found.same[i]))
    bias: float = of(lambda bias, i: float(bias[0][i]))
    bias_low: float = of(lambda bias, i: float(bias[1][i]))
    bias_high: float = of(lambda bias, i: float(bias[2][i]))
    shift: float = of(lambda sign, found, i: float(sign * found.shift[i] + 0.0))
    shift_p: float = of(lambda found, i: float(np.minimum(found.shift_p[i], 1.0)))


@dataclass(frozen=True)
class JudgeCheckEntry(JudgedEntry):
    """A judge calibrated on human labels, and its inspection.

    ``told_by_labels`` and ``told`` are the numbers of pairs of models whose means differ significantly: by
    the labels alone, and with the judge.
    """

    by_model: Sequence[JudgeOfModelEntry]
    told_by_labels: int
    told: int


@dataclass(frozen=True)
class JudgeCheck:
    """Inspection of a judge, with sentences about it."""

    entry: JudgeCheckEntry
    section: JudgedChapter

    @property
    def agreement(self) -> str:
        """Sentence on the agreement of the judge with human scores."""
        agreements = [model.agreement for model in self.entry.by_model if model.agreement is not None]
        if not agreements:
            return "no rank correlation: scores that are all the same"
        low, high = (typeset(f"{value:.2f}") for value in (min(agreements), max(agreements)))
        text = f"Spearman's rank correlation with people {low if low == high else f'{low} to {high}'}"
        shares = [model.same for model in self.entry.by_model if model.same is not None]
        if not shares:
            return f"{text} on {self.entry.labelled:,} labelled samples."
        low, high = (f"{100 * value:.0f}" for value in (min(shares), max(shares)))
        share = low if low == high else f"{low} to {high}"
        return f"{text}, the same score on {share} % of {self.entry.labelled:,} labelled samples."

    @property
    def bias(self) -> str:
        """Sentence on the models for which the judge is significantly biased."""
        if self.entry.mapped:
            return "its scores are mapped onto people's, so that no bias is left to be seen."
        biased = [model for model in self.entry.by_model if model.bias_low > 0 or model.bias_high < 0]
        if not biased:
            return "not shown for any model."
        texts = [
            f"{number(model.bias)} for {model.model} ({number(model.bias_low)} to {number(model.bias_high)})"
            for model in sorted(biased, key=lambda model: -abs(model.bias))
        ]
        n_other = len(self.entry.by_model) - len(biased)
        return (
            f"{names(texts, 3)}{f'; not shown for {n_other} other' + 's' * (n_other > 1) if n_other else ''}."
        )

    @property
    def use(self) -> str:
        """Sentence on the precision that the judge adds to the labels."""
        entry = self.entry
        pairs = len(entry.by_model) * (len(entry.by_model) - 1) // 2
        labels_text = f"the labels alone tell {entry.told_by_labels} of {pairs} pairs apart"
        note = "; they would do" if entry.told_by_labels == pairs else ""
        return f"{self.section.gain_sentence} By means, {labels_text}, with the judge {entry.told}{note}."

    @property
    def problems(self) -> list[str]:
        """Warnings if the judge ranks in the opposite direction; the table itself checks the labels."""
        if not self.section.direction_hint:
            return []
        text = f"what {self.entry.judge} scores better, people score worse, for every model"
        return [f"{text}: {self.section.direction_hint}"]


def check_judge(table: ScoreTable) -> JudgeCheck | None:
    """Inspect the judge of a table, or return None if it has none."""
    judged, chapter = table.judged, judged_chapter(table)
    if judged is None or chapter is None:
        return None
    inspection = inspect_judge(judged.corrections, judged.raw, mapped=bool(judged.why_mapped))
    entry = JudgeCheckEntry(
        **vars(chapter.entry),
        by_model=_model_entries(inspection, table),
        told_by_labels=inspection.told_by_labels,
        told=inspection.told,
    )
    return JudgeCheck(entry, chapter)


def _model_entries(inspection: JudgeInspection, table: ScoreTable) -> list[JudgeOfModelEntry]:
    assert table.judged is not None
    units, sign = units_of(table.judged.human, table.metrics), table.judged.judge_sign
    bias = (units.of(inspection.bias), *units.ends(inspection.bias_low, inspection.bias_high))
    records = ((model, inspection, bias, sign, i) for i, model in enumerate(table.models))
    return rows_from(JudgeOfModelEntry, "model found bias sign i", records)


def _number_or_none(value: float) -> float | None:
    return None if isnan(value) else float(value)
