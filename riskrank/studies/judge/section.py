"""Results on a judge with human labels: means, effective numbers of labels, and tails with too few labels."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np

from riskrank.engine.judges.correction import LABELS_ALPHA, worth_of_differences
from riskrank.engine.portfolio.risks import RiskColumn
from riskrank.engine.sampling.design import FEWEST_LABELS, ClusteredScores
from riskrank.errors import InputError, listing, option
from riskrank.options.option import Settings
from riskrank.options.values import contradict
from riskrank.scores.table.oriented_scores import Judged
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import of, rows_from
from riskrank.studies.targets import units_of
from riskrank.studies.wording import p_words, span, two_digits

# Smallest ratio of effective labels to labels that is reported as a gain.
GAIN = 1.05

# Standard errors below 0 from which a correlation counts as negative.
_BEYOND_CHANCE = 2.0


@dataclass(frozen=True)
class JudgedModelEntry:
    """A model's means in the units of the file: by labels, by the judge, and calibrated.

    ``low`` and ``high`` are the limits of the 95 % interval of the calibrated mean alone. ``power`` is λ, the
    weight of the judge's scores. ``slope`` is the optimal weight for this mean alone, not clipped to [0, 1].
    ``worth`` is the effective number of labels for this mean. If the judge uses another scale, its means are
    mapped to the human scale.
    """

    model: str = of(lambda model: model)
    labelled_mean: float = of(lambda correction, mean: mean(correction.human))
    judge_labelled_mean: float = of(lambda correction, mean: mean(correction.judge[: len(correction.human)]))
    judge_mean: float = of(lambda correction, mean: mean(correction.judge))
    mean: float = of(lambda correction, mean: mean(correction.mean))
    low: float = of(lambda interval: interval[0])
    high: float = of(lambda interval: interval[1])
    power: float = of(lambda correction: correction.power)
    slope: float = of(lambda correction: correction.slope)
    worth: float = of(lambda correction: correction.worth)


@dataclass(frozen=True)
class JudgedEntry:
    """A judge calibrated on human labels, model by model.

    ``worth_low`` and ``worth_high`` are the smallest and largest effective number of labels for a
    difference of two means. They cover all pairs or, for a gate, the pairs of its claims on means. They are
    None if there are no pairs, and below the number of labels if the judge makes a difference less precise.
    ``chance_p`` is the p-value of the hypothesis that labels were chosen at random. ``chosen_p`` is the
    same if the hypothesis is rejected, else None.
    """

    human: str
    judge: str
    labelled: int
    samples: int
    mapped: bool
    lower: bool
    worth_low: float | None
    worth_high: float | None
    chance_p: float
    chosen_p: float | None
    judge_lower: bool
    models: Sequence[JudgedModelEntry]


@dataclass(frozen=True)
class JudgedChapter:
    """Results on a judge and the human labels.

    Attributes
    ----------
    entry : JudgedEntry
    pair_worths : mapping of (int, int) to float
        Effective number of labels for the difference of two means, by pair of models.
    direction_hint : str
        Option that reverses the judge's direction, if its scores disagree with the labels for every model.
    """

    entry: JudgedEntry
    pair_worths: Mapping[tuple[int, int], float]
    direction_hint: str = ""

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return [entry.model for entry in self.entry.models]

    @property
    def best_alone(self) -> int:
        """Model with the best mean of the judge over all samples."""
        means = np.array([entry.judge_mean for entry in self.entry.models])
        return int(np.argmin(means) if self.entry.lower else np.argmax(means))

    @property
    def assumption(self) -> str:
        """Assumption of random labels, if a test contradicts it; otherwise empty."""
        p = self.entry.chosen_p
        return "" if p is None else f"the labels as chosen by chance, which they do not look (p = {p:.2g})"

    @property
    def gain_sentence(self) -> str:
        """Sentence on the effective number of labels with the judge; empty if no means are compared."""
        n, least, most = self.entry.labelled, self.entry.worth_low, self.entry.worth_high
        if least is None or most is None:
            return ""
        if most < GAIN * n:
            return f"The judge adds nothing to the {n:,} labels: {self._reason_for_no_gain}."
        alone = span(n if n / GAIN < end < n else two_digits(end) for end in (least, most))
        return f"{n:,} labels with the judge tell as much of a difference as {alone} labels alone."

    @property
    def figures(self) -> dict[str, float]:
        """Numbers in the sentence on the gain."""
        bounds = {"worth_low": self.entry.worth_low, "worth_high": self.entry.worth_high}
        finite = {name: bound for name, bound in bounds.items() if bound is not None}
        return {"labelled": self.entry.labelled, **finite}

    @property
    def _reason_for_no_gain(self) -> str:
        models = self.entry.models
        if self.direction_hint:
            return f"what it scores better, people score worse; {self.direction_hint}"
        if all(model.slope <= 0 for model in models):
            return "its scores do not go with people's"
        if all(model.worth < GAIN * self.entry.labelled for model in models):
            return "it tells too little of people's scores"
        return "it tells too little of how models differ"


def refuse_with_judge(table: ScoreTable, settings: Settings) -> None:
    """Refuse options that do not support judge scores.

    Raises
    ------
    UsageError
    """
    if table.judged is None:
        return
    conflicting = [option("variance", "clt")] if getattr(settings, "variance", "") == "clt" else []
    switches = ("paper_exact", "anytime", "gsd", "copa")
    conflicting += [option(name, True) for name in switches if getattr(settings, name, False)]
    conflicting += [option(name) for name in ("stability", "cases") if getattr(settings, name, None)]
    conflicting += [
        option("on", text) for text in getattr(settings, "on", ()) if text.startswith(("pass^", "pass@"))
    ]
    if conflicting:
        hint = "leave out one of the two: it says nothing of scores that people's correct"
        contradict(conflicting[0], option("judge", table.judged.judge), hint)


def judged_chapter(
    table: ScoreTable, pairs: Collection[tuple[int, int]] | None = None
) -> JudgedChapter | None:
    """Return the results on a table's judge; None if it has none.

    Parameters
    ----------
    table : ScoreTable
    pairs : collection of (int, int), optional
        Pairs of models whose difference is of interest; all by default.
    """
    if (judged := table.judged) is None:
        return None
    units, corrections = (
        units_of(judged.human, table.metrics),
        zip(table.models, judged.corrections, strict=True),
    )

    def mean(values: Any) -> float:
        return float(units.of(np.array(np.mean(values))))

    effective_labels = worth_of_differences(judged.corrections)
    all_pairs = itertools.combinations(range(len(table.models)), 2)
    requested = None if pairs is None else {(min(pair), max(pair)) for pair in pairs}
    pair_worths = {
        pair: float(labels)
        for labels, pair in zip(effective_labels, all_pairs, strict=True)
        if requested is None or pair in requested
    }
    records = (
        (model, correction, mean, sorted(map(mean, correction.interval())))
        for model, correction in corrections
    )
    entry = JudgedEntry(
        human=judged.human,
        judge=judged.judge,
        labelled=len(judged.labelled),
        samples=len(table.samples),
        mapped=bool(judged.why_mapped),
        lower=units.sign < 0,
        worth_low=min(pair_worths.values(), default=None),
        worth_high=max(pair_worths.values(), default=None),
        chance_p=judged.shift.p_value,
        chosen_p=judged.shift.p_value if judged.shift.models else None,
        judge_lower=judged.judge_sign < 0,
        models=rows_from(JudgedModelEntry, "model correction mean interval", records),
    )
    return JudgedChapter(entry, pair_worths, _direction_hint(judged))


def _direction_hint(judged: Judged) -> str:
    """Return the option that reverses the judge's direction.

    It is empty unless judge and labels are significantly negatively correlated for every model.
    """
    n = len(judged.labelled)
    for correction, raw in zip(judged.corrections, judged.raw, strict=True):
        deviations = raw[:n] - raw[:n].mean()
        covariance = float((correction.human - correction.human.mean()) @ deviations)
        if (
            covariance
            >= -_BEYOND_CHANCE / sqrt(n) * float(np.sqrt(correction.human.var() * raw[:n].var())) * n
        ):
            return ""
    if judged.judge_sign < 0:
        return f"{option('higher', judged.judge)} if more of it is better"
    return f"{option('lower', judged.judge)} if less of it is better"


def chance_sentence(judge: Mapping[str, Any]) -> str:
    """Return the sentence on the assumption of random labels, if `JudgedEntry.chosen_p` is None."""
    smallest = p_words(judge["chance_p"])
    return (
        f"labels are taken as drawn by chance: the means of {judge['judge']} on labelled and other samples "
        f"are not shown to differ of any model (Welch's t, Holm, level {LABELS_ALPHA:g}, least {smallest})"
    )


def judged_meta(chapter: JudgedChapter | None) -> Mapping[str, Any]:
    """Return the entry ``judge`` of a document's ``meta``; empty if there is no judge."""
    return {} if chapter is None else {"judge": asdict(chapter.entry)}


def drop_unlabelled_tails(
    columns: Sequence[RiskColumn], scores: ClusteredScores
) -> tuple[tuple[RiskColumn, ...], list[str]]:
    """Drop the risks of tails with too few human labels.

    Returns
    -------
    columns : tuple of RiskColumn
        Remaining risks.
    warnings : list of str
        A warning on the dropped levels, if any.

    Raises
    ------
    InputError
        If no risk remains.
    """
    enough = FEWEST_LABELS - 1e-9
    dropped = {
        column.level
        for column in columns
        if scores.judged and column.level and column.level * scores.labelled < enough
    }
    if not dropped:
        return tuple(columns), []
    remaining = tuple(column for column in columns if column.level not in dropped)
    levels = listing(f"{level:g}" for level in sorted(dropped))
    if remaining:
        few = f"fewer than {FEWEST_LABELS} of {scores.labelled:,} human scores lie in such a tail"
        return remaining, [f"left out level {levels}: {few}"]
    raise InputError(
        f"tails of {scores.labelled:,} human scores hold too few of them",
        found=f"fewer than {FEWEST_LABELS} at levels {levels}",
        hint=f"give {option('level', f'{FEWEST_LABELS / scores.labelled:.2g}')} or more, or have people "
        "score more samples",
    )
