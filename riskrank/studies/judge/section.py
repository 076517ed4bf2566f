"""Results on a judge with human labels: calibrated means, effective numbers of labels, and tail limits."""

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np

from riskrank.engine.judges import JudgeAgreement, labels_for_differences
from riskrank.engine.portfolio.risks import RiskColumn
from riskrank.engine.sampling.design import MIN_LABELS, ClusteredScores
from riskrank.errors import InputError, listing, option
from riskrank.options.option import Settings
from riskrank.options.values import contradict
from riskrank.scores.table.oriented_scores import CalibratedJudge
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import computed, rows_from_records
from riskrank.studies.targets import column_units
from riskrank.studies.wording import count_range, round_two_digits, typeset

# Smallest ratio of effective labels to labels that is reported as a gain.
GAIN = 1.05

# Standard errors below 0 from which a correlation counts as negative.
_BEYOND_CHANCE = 2.0


@dataclass(frozen=True)
class JudgedModelEntry:
    """Means of one model by labels, judge and calibrated judge, in the units of the input file.

    ``low`` and ``high`` are the limits of the pointwise 95 % interval of the calibrated mean. ``power`` is λ,
    the weight of the judge's scores. ``slope`` is the optimal weight for this mean alone, not clipped to [0,
    1]. ``effective_labels`` is the effective number of labels for this mean. If the judge uses another scale,
    its means are mapped to the human scale.
    """

    model: str = computed(lambda model: model)
    labelled_mean: float = computed(lambda correction, mean: mean(correction.human))
    judge_labelled_mean: float = computed(
        lambda correction, mean: mean(correction.judge[: len(correction.human)])
    )
    judge_mean: float = computed(lambda correction, mean: mean(correction.judge))
    mean: float = computed(lambda correction, mean: mean(correction.mean))
    low: float = computed(lambda interval: interval[0])
    high: float = computed(lambda interval: interval[1])
    power: float = computed(lambda correction: correction.judge_weight)
    slope: float = computed(lambda correction: correction.unclipped_weight)
    effective_labels: float = computed(lambda correction: correction.effective_labels)


@dataclass(frozen=True)
class JudgedEntry:
    """Judge scores calibrated on human labels, with results by model.

    ``effective_labels_low`` and ``effective_labels_high`` are the smallest and largest effective number of
    labels for a difference of two means. They cover all pairs or, in a gate, the pairs in its claims on
    means. They are None if there are no pairs, and below the number of labels if the judge reduces the
    precision. ``chance_p`` is the p-value for H₀: labels were chosen at random. ``chosen_p`` is the same if
    H₀ is rejected, else None.
    """

    human: str
    judge: str
    labelled: int
    samples: int
    mapped: bool
    lower: bool
    effective_labels_low: float | None
    effective_labels_high: float | None
    chance_p: float
    chosen_p: float | None
    judge_lower: bool
    agreement: JudgeAgreement
    models: Sequence[JudgedModelEntry]


@dataclass(frozen=True)
class JudgeAnalysis:
    """Results of calibrating a judge on human labels.

    Attributes
    ----------
    entry : JudgedEntry
        Results as stored in the JSON output.
    pair_labels : mapping of (int, int) to float
        Effective number of labels for the difference of two means, by pair of models.
    direction_hint : str
        Option that reverses the judge's direction, if its correlation with the labels is negative for
        all models.
    """

    entry: JudgedEntry
    pair_labels: Mapping[tuple[int, int], float]
    direction_hint: str = ""

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return [entry.model for entry in self.entry.models]

    @property
    def best_alone(self) -> int:
        """Index of the model with the best mean according to the judge alone."""
        means = np.array([entry.judge_mean for entry in self.entry.models])
        return int(np.argmin(means) if self.entry.lower else np.argmax(means))

    @property
    def assumption(self) -> str:
        """Clause that random labelling is assumed, if a test contradicts it; otherwise empty."""
        if (p := self.entry.chosen_p) is None:
            return ""
        return f"that the labels were chosen at random, although a test contradicts this (p = {p:.2g})"

    @property
    def gain_sentence(self) -> str:
        """Sentence on the effective number of labels, or an empty string if no means are compared."""
        entry = self.entry
        n, least, most = entry.labelled, entry.effective_labels_low, entry.effective_labels_high
        if least is None or most is None:
            return ""
        if most < GAIN * n:
            return f"The judge adds no information to the {n:,} labels: {self._reason_for_no_gain}."
        alone = count_range(n if n / GAIN < end < n else round_two_digits(end) for end in (least, most))
        return f"For a difference of means, {n:,} labels and the judge are as precise as {alone} labels."

    @property
    def figures(self) -> dict[str, float]:
        """Effective numbers of labels by name, to store with a finding."""
        names = ("effective_labels_low", "effective_labels_high")
        bounds = {name: getattr(self.entry, name) for name in names}
        finite = {name: bound for name, bound in bounds.items() if bound is not None}
        return {"labelled": self.entry.labelled, **finite}

    @property
    def _reason_for_no_gain(self) -> str:
        """Reason why the judge does not make differences more precise."""
        models = self.entry.models
        if self.direction_hint:
            return f"it is negatively correlated with human scores; {self.direction_hint}"
        if all(model.slope <= 0 for model in models):
            return "it is not positively correlated with human scores"
        if all(model.effective_labels < GAIN * self.entry.labelled for model in models):
            return "it predicts human scores too poorly"
        return "it predicts differences between models too poorly"


def refuse_options_with_judge(table: ScoreTable, settings: Settings) -> None:
    """Raise an error if a judge is combined with an option that does not support judge scores.

    Raises
    ------
    UsageError
        If the table has a judge and such an option is set.
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
        hint = f"leave out one of the two: {conflicting[0]} does not support scores calibrated on labels"
        contradict(conflicting[0], option("judge", table.judged.judge), hint)


def analyze_judge(
    table: ScoreTable, pairs: Collection[tuple[int, int]] | None = None
) -> JudgeAnalysis | None:
    """Calibrate the judge of a table on the human labels, or return None if the table has no judge.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    pairs : collection of (int, int), optional
        Pairs of models for which to report effective labels; all by default.
    """
    if (judged := table.judged) is None:
        return None
    units = column_units(judged.human, table.metrics)
    corrections = zip(table.models, judged.corrections, strict=True)

    def mean_in_file_units(values: Any) -> float:
        """Return the mean of oriented scores in the units and direction of the input file."""
        return float(units.to_file_units(np.array(np.mean(values))))

    effective_labels = labels_for_differences(judged.corrections)
    all_pairs = itertools.combinations(range(len(table.models)), 2)
    requested = None if pairs is None else {(min(pair), max(pair)) for pair in pairs}
    pair_labels = {
        pair: float(labels)
        for labels, pair in zip(effective_labels, all_pairs, strict=True)
        if requested is None or pair in requested
    }
    records = (
        (model, correction, mean_in_file_units, sorted(map(mean_in_file_units, correction.interval())))
        for model, correction in corrections
    )
    # Agreement on the labelled answers of all models, with samples as units.
    n, mapped = len(judged.labelled), bool(judged.mapping_reason)
    human = np.concatenate([correction.human for correction in judged.corrections])
    raw = judged.raw if mapped else [correction.judge for correction in judged.corrections]
    scores, samples = np.concatenate([values[:n] for values in raw]), np.tile(np.arange(n), len(raw))
    names = judged.human, judged.judge
    entry = JudgedEntry(
        human=judged.human,
        judge=judged.judge,
        labelled=n,
        samples=len(table.samples),
        mapped=mapped,
        lower=units.sign < 0,
        effective_labels_low=min(pair_labels.values(), default=None),
        effective_labels_high=max(pair_labels.values(), default=None),
        chance_p=judged.shift.p_value,
        chosen_p=judged.shift.p_value if judged.shift.models else None,
        judge_lower=judged.judge_sign < 0,
        agreement=JudgeAgreement.measure(names, (human, scores), samples, same_scale=not mapped),
        models=rows_from_records(JudgedModelEntry, "model correction mean interval", records),
    )
    return JudgeAnalysis(entry, pair_labels, _direction_hint(judged))


def describe_agreement(agreement: JudgeAgreement) -> str:
    """Return the agreement of two raters with its interval, such as ``weighted κ 0.62 (0.55 to 0.69)``."""
    value, *limits = (
        "" if number is None else typeset(f"{number:.2f}")
        for number in (agreement.value, agreement.low, agreement.high)
    )
    interval = f" ({' to '.join(limits)})" if value and all(limits) else ""
    return f"{agreement.statistic.replace('kappa', 'κ')} {value or '–'}{interval}"


def _direction_hint(judged: CalibratedJudge) -> str:
    """Return the option that reverses the judge's direction, or an empty string.

    It is needed if judge and labels are significantly negatively correlated for every model.
    """
    n = len(judged.labelled)
    for correction, raw in zip(judged.corrections, judged.raw, strict=True):
        deviations = raw[:n] - raw[:n].mean()
        covariance = float((correction.human - correction.human.mean()) @ deviations)
        spread = float(np.sqrt(correction.human.var() * raw[:n].var()))
        if covariance >= -_BEYOND_CHANCE / sqrt(n) * spread * n:
            return ""
    direction, size = ("higher", "larger") if judged.judge_sign < 0 else ("lower", "smaller")
    return f"{option(direction, judged.judge)} if {size} values are better"


def judge_meta(analysis: JudgeAnalysis | None) -> Mapping[str, Any]:
    """Return the results on a judge for the JSON object ``meta``, or an empty dictionary without a judge."""
    return {} if analysis is None else {"judge": asdict(analysis.entry)}


def drop_unlabelled_tails(
    columns: Sequence[RiskColumn], scores: ClusteredScores
) -> tuple[tuple[RiskColumn, ...], list[str]]:
    """Drop the tail risks whose tails contain too few human labels.

    Returns
    -------
    columns : tuple of RiskColumn
        Remaining risks.
    warnings : list of str
        Warning about the dropped tail levels, if any.

    Raises
    ------
    InputError
        If no risk remains.
    """
    enough = MIN_LABELS - 1e-9
    tail_levels = {column.level for column in columns if scores.judged and column.level}
    dropped = {level for level in tail_levels if level * scores.n_labelled < enough}
    if not dropped:
        return tuple(columns), []
    remaining = tuple(column for column in columns if column.level not in dropped)
    levels = listing(f"{level:g}" for level in sorted(dropped))
    if remaining:
        few = f"fewer than {MIN_LABELS} of {scores.n_labelled:,} human scores lie in this tail"
        return remaining, [f"excluded level {levels}: {few}"]
    raise InputError(
        f"the tails contain too few of the {scores.n_labelled:,} human scores",
        found=f"fewer than {MIN_LABELS} at levels {levels}",
        hint=f"use {option('level', f'{MIN_LABELS / scores.n_labelled:.2g}')} or more, or have people "
        "score more samples",
    )
