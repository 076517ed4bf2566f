"""What people's scores say of a judge, for ``check``: agreement, bias, choice and use of the labels."""

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
    """A judge of one model.

    ``agreement`` is Spearman's rank correlation with people; ``bias`` is the judge's mean less people's on
    the labelled samples, as the file has them, and its interval holds together with the others; ``shift`` is
    the judge's mean on labelled samples less that on the others, with Welch's p-value, adjusted by Holm.
    """

    model: str = of(lambda model: model)
    agreement: float | None = of(lambda found, i: _known(found.agreement[i]))
    same: float | None = of(lambda found, i: None if found.same is None else float(found.same[i]))
    bias: float = of(lambda bias, i: float(bias[0][i]))
    bias_low: float = of(lambda bias, i: float(bias[1][i]))
    bias_high: float = of(lambda bias, i: float(bias[2][i]))
    shift: float = of(lambda sign, found, i: float(sign * found.shift[i] + 0.0))
    shift_p: float = of(lambda found, i: float(np.minimum(found.shift_p[i], 1.0)))


@dataclass(frozen=True)
class JudgeCheckEntry(JudgedEntry):
    """A judge corrected by people, and what they say of it.

    ``told_by_labels`` and ``told`` are pairs of models whose means differ significantly by the labels alone,
    and with the judge.
    """

    by_model: Sequence[JudgeOfModelEntry]
    told_by_labels: int
    told: int


@dataclass(frozen=True)
class JudgeCheck:
    """A judge in words, too."""

    entry: JudgeCheckEntry
    chapter: JudgedChapter

    @property
    def agreement(self) -> str:
        """Whether the judge and people say the same."""
        found = [one.agreement for one in self.entry.by_model if one.agreement is not None]
        if not found:
            return "no rank correlation: scores that are all the same"
        low, high = (typeset(f"{end:.2f}") for end in (min(found), max(found)))
        text = f"Spearman's rank correlation with people {low if low == high else f'{low} to {high}'}"
        same = [one.same for one in self.entry.by_model if one.same is not None]
        if not same:
            return f"{text} on {self.entry.labelled:,} labelled samples."
        low, high = (f"{100 * end:.0f}" for end in (min(same), max(same)))
        often = low if low == high else f"{low} to {high}"
        return f"{text}, the same score on {often} % of {self.entry.labelled:,} labelled samples."

    @property
    def bias(self) -> str:
        """For whom the judge is shown to be off."""
        if self.entry.mapped:
            return "its scores are mapped onto people's, so that no bias is left to be seen."
        off = [one for one in self.entry.by_model if one.bias_low > 0 or one.bias_high < 0]
        if not off:
            return "not shown for any model."
        told = [
            f"{number(one.bias)} for {one.model} ({number(one.bias_low)} to {number(one.bias_high)})"
            for one in sorted(off, key=lambda one: -abs(one.bias))
        ]
        rest = len(self.entry.by_model) - len(off)
        return f"{names(told, 3)}{f'; not shown for {rest} other' + 's' * (rest > 1) if rest else ''}."

    @property
    def use(self) -> str:
        """What the judge adds to the labels."""
        one = self.entry
        pairs = len(one.by_model) * (len(one.by_model) - 1) // 2
        alone = f"the labels alone tell {one.told_by_labels} of {pairs} pairs apart"
        enough = "; they would do" if one.told_by_labels == pairs else ""
        return f"{self.chapter.worth} By means, {alone}, with the judge {one.told}{enough}."

    @property
    def doubts(self) -> list[str]:
        """Whether the judge goes the other way round; the table itself warns of labels chosen by outcome."""
        if not self.chapter.otherwise:
            return []
        against = f"what {self.entry.judge} scores better, people score worse, for every model"
        return [f"{against}: {self.chapter.otherwise}"]


def judge_check(table: ScoreTable) -> JudgeCheck | None:
    """Look at the judge of a table that has one."""
    judged, chapter = table.judged, judged_chapter(table)
    if judged is None or chapter is None:
        return None
    found = inspect_judge(judged.corrections, judged.raw, mapped=bool(judged.why_mapped))
    entry = JudgeCheckEntry(
        **vars(chapter.entry),
        by_model=_by_model(found, table),
        told_by_labels=found.told_by_labels,
        told=found.told,
    )
    return JudgeCheck(entry, chapter)


def _by_model(found: JudgeInspection, table: ScoreTable) -> list[JudgeOfModelEntry]:
    assert table.judged is not None
    units, sign = units_of(table.judged.human, table.metrics), table.judged.judge_sign
    bias = (units.of(found.bias), *units.ends(found.bias_low, found.bias_high))
    records = ((model, found, bias, sign, i) for i, model in enumerate(table.models))
    return rows_from(JudgeOfModelEntry, "model found bias sign i", records)


def _known(value: float) -> float | None:
    return None if isnan(value) else float(value)
