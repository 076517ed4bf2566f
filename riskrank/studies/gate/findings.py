"""What a gate finds, the answer to all claims first, and how each kind of finding is said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from riskrank.asked.tiers import ADVISORY
from riskrank.scores.table.metrics_file import MetricSpec
from riskrank.studies.findings import Finding, Sentences
from riskrank.studies.gate.document import (
    FAIL,
    INCONCLUSIVE,
    PASS,
    VERDICTS,
    GateRow,
    claims_among,
    counts,
    overall,
)
from riskrank.studies.gate.words import deciding_row, row_sentence, unit_of, what_decides
from riskrank.studies.judged.chapter import JudgedChapter, sentences
from riskrank.studies.wording import names

SIDES = {word: side for side, word in VERDICTS.items()}
"""The answer of a test behind what a gate says."""
_FIGURES = ("estimate", "low", "high", "margin", "p_adjusted", "samples")


@dataclass(frozen=True, eq=False)
class GateCase:
    """What findings and sentences of a gate look things up in.

    Attributes
    ----------
    rows : sequence of GateRow
    metrics : sequence of MetricSpec
    models : sequence of str
    unit : str
        What is drawn.
    judged : JudgedChapter or None
    blind : str
        What samples that pass say nothing about, where a score may be as bad as any.
    """

    rows: Sequence[GateRow]
    metrics: Sequence[MetricSpec]
    models: Sequence[str]
    unit: str
    judged: JudgedChapter | None
    blind: str

    @cached_property
    def deciding(self) -> GateRow:
        """The first claim with the answer of all together."""
        return deciding_row(self.rows)

    @property
    def scored(self) -> int | None:
        """Samples that a judge scored."""
        return None if self.judged is None else self.judged.entry.samples

    @property
    def needed(self) -> str:
        """What would decide the claim that decides."""
        return what_decides(self.deciding, self.unit, self.scored)

    @property
    def alike(self) -> list[str]:
        """Tasks with the answer that decides, where it is that of several and no pass."""
        told = self.deciding
        others = [
            str(row.task) for row in self.rows if row.task and row.verdict == told.verdict and row != told
        ]
        return [] if told.verdict == PASS else list(dict.fromkeys(others))


def gate_findings(case: GateCase) -> list[Finding]:
    """The answer to all claims, the claim that decides, what would decide it, and what it does not say."""
    row, outcome = case.deciding, overall(case.rows)
    given = ((name, getattr(row, name)) for name in _FIGURES)
    figures = {name: float(value) for name, value in given if value is not None}
    pair, answer = tuple(case.models.index(model) for model in (row.new, row.old)), SIDES[row.verdict]
    found = [
        Finding(kind="outcome", figures=dict(counts(case.rows)), answer=SIDES[outcome]),
        Finding(kind="deciding", models=pair, on=row.metric, figures=figures, answer=answer),
    ]
    if case.needed:
        count = {} if row.samples_needed is None else {"samples_needed": row.samples_needed}
        found.append(Finding(kind="needed", on=row.metric, figures=count))
    asides = {
        "tasks-alike": case.alike,
        "holds-at-every-look": row.e_value is not None,
        "blind-to": case.blind and outcome == PASS,
        "judge-worth": sentences(case.judged),
    }
    return [*found, *(Finding(kind=kind) for kind, told in asides.items() if told)]


def _outcome(_: Finding, case: GateCase) -> str:
    advisory = [row for row in case.rows if row.tier == ADVISORY]
    claims = [row for row in claims_among(case.rows) if row.tier != ADVISORY]
    found = counts(claims)
    parts = [f"{found[PASS]} of {len(claims)} claim{'s' if len(claims) > 1 else ''} shown"]
    parts += [f"{found[FAIL]} refuted"] if found[FAIL] else []
    parts += [f"{found[INCONCLUSIVE]} inconclusive"] if found[INCONCLUSIVE] else []
    shown = sum(row.verdict == PASS for row in advisory)
    parts += [f"{shown} of {len(advisory)} advisory ones"] if advisory else []
    return f"{overall(case.rows).upper()}: {', '.join(parts)}."


def _deciding(_: Finding, case: GateCase) -> str:
    of_tasks = unit_of(case.deciding, case.unit) == "tasks"
    return f"{'On tasks like these ' if of_tasks else ''}{row_sentence(case.deciding, case.metrics)}."


def _needed(_: Finding, case: GateCase) -> str:
    how = "normal approximation" if case.deciding.e_value is None else "more being like these"
    return f"{case.needed[0].upper()}{case.needed[1:]} would decide that ({how})."


def _tasks_alike(_: Finding, case: GateCase) -> str:
    answer = "Refuted" if case.deciding.verdict == FAIL else "Inconclusive"
    return f"{answer}{' too' if case.deciding.task else ''} on {names(case.alike, 6)}."


SENTENCES: Sentences[GateCase] = Sentences(
    {
        "outcome": _outcome,
        "deciding": _deciding,
        "needed": _needed,
        "tasks-alike": _tasks_alike,
        "holds-at-every-look": lambda _, _case: "It may be looked at again at any time.",
        "blind-to": lambda _, case: case.blind,
        "judge-worth": lambda _, case: " ".join(sentences(case.judged)),
    }
)
"""How each kind of finding is said."""


def answered(
    verdict: str, sentence: str, figures: Mapping[str, float], models: Sequence[int] = ()
) -> tuple[Finding, str]:
    """The answer of a gate that is no family of claims, with its sentence."""
    return Finding(kind="outcome", models=tuple(models), figures=figures, answer=SIDES[verdict]), sentence
