"""What people's scores and a judge's are worth together, and tails in which they are enough to tell."""

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

# So much more than the labels alone are worth is worth a sentence.
GAIN = 1.05

# Correlations so many of their standard errors below 0 are no chance.
_BEYOND_CHANCE = 2.0


@dataclass(frozen=True)
class JudgedModelEntry:
    """A model's means as the file has them: by people, by the judge on their samples and on all, corrected.

    ``low`` and ``high`` are the 95 % interval of the corrected mean by itself. ``power`` is λ, how much of
    the judge is taken; ``slope`` what would be best for this mean alone, before it is cut to [0, 1];
    ``worth`` how many labels would tell as much of the mean. Where the judge is on another scale its means
    are on people's.
    """

    model: str = of(lambda model: model)
    labelled_mean: float = of(lambda one, mean: mean(one.human))
    judge_labelled_mean: float = of(lambda one, mean: mean(one.judge[: len(one.human)]))
    judge_mean: float = of(lambda one, mean: mean(one.judge))
    mean: float = of(lambda one, mean: mean(one.mean))
    low: float = of(lambda ends: ends[0])
    high: float = of(lambda ends: ends[1])
    power: float = of(lambda one: one.power)
    slope: float = of(lambda one: one.slope)
    worth: float = of(lambda one: one.worth)


@dataclass(frozen=True)
class JudgedEntry:
    """A judge corrected by people, model by model.

    ``worth_low`` and ``worth_high`` are the fewest and the most labels that would tell as much of the
    difference of two models' means, over all pairs, of a gate those whose means it claims something of,
    None where there are none; fewer than there are where the judge blurs one. ``chance_p`` is the p-value
    of labels chosen by chance, ``chosen_p`` the same where they do not look so.
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
    """What a document says of a judge and of the people who corrected it.

    ``worths`` are the labels that would tell as much of the difference of two models' means, by pair of
    models; ``otherwise`` is how to declare the judge's direction where its scores go the other way round.
    """

    entry: JudgedEntry
    worths: Mapping[tuple[int, int], float]
    otherwise: str = ""

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return [one.model for one in self.entry.models]

    @property
    def best_alone(self) -> int:
        """The model that comes first by the judge's mean of all samples."""
        means = np.array([one.judge_mean for one in self.entry.models])
        return int(np.argmin(means) if self.entry.lower else np.argmax(means))

    @property
    def taken_for_granted(self) -> str:
        """What every corrected figure rests on, where it does not look so; empty where it may be so."""
        p = self.entry.chosen_p
        return "" if p is None else f"the labels as chosen by chance, which they do not look (p = {p:.2g})"

    @property
    def worth(self) -> str:
        """What labels and judge are worth together, as a sentence; empty where no means are compared."""
        n, least, most = self.entry.labelled, self.entry.worth_low, self.entry.worth_high
        if least is None or most is None:
            return ""
        if most < GAIN * n:
            return f"The judge adds nothing to the {n:,} labels: {self._why_nothing}."
        alone = span(n if n / GAIN < end < n else two_digits(end) for end in (least, most))
        return f"{n:,} labels with the judge tell as much of a difference as {alone} labels alone."

    @property
    def figures(self) -> dict[str, float]:
        """The numbers of that sentence."""
        ends = {"worth_low": self.entry.worth_low, "worth_high": self.entry.worth_high}
        known = {name: end for name, end in ends.items() if end is not None}
        return {"labelled": self.entry.labelled, **known}

    @property
    def _why_nothing(self) -> str:
        models = self.entry.models
        if self.otherwise:
            return f"what it scores better, people score worse; {self.otherwise}"
        if all(model.slope <= 0 for model in models):
            return "its scores do not go with people's"
        if all(model.worth < GAIN * self.entry.labelled for model in models):
            return "it tells too little of people's scores"
        return "it tells too little of how models differ"


def refuse_with_judge(table: ScoreTable, settings: Settings) -> None:
    """Refuse what says nothing of a judge's scores that people's correct.

    Raises
    ------
    UsageError
    """
    if table.judged is None:
        return
    asked = [option("variance", "clt")] if getattr(settings, "variance", "") == "clt" else []
    switches = ("paper_exact", "anytime", "gsd", "copa")
    asked += [option(name, True) for name in switches if getattr(settings, name, False)]
    asked += [option(name) for name in ("stability", "cases") if getattr(settings, name, None)]
    asked += [
        option("on", text) for text in getattr(settings, "on", ()) if text.startswith(("pass^", "pass@"))
    ]
    if asked:
        hint = "leave out one of the two: it says nothing of scores that people's correct"
        contradict(asked[0], option("judge", table.judged.judge), hint)


def judged_chapter(
    table: ScoreTable, pairs: Collection[tuple[int, int]] | None = None
) -> JudgedChapter | None:
    """What there is to say of a table's judge, and of all or some pairs of models; None where it has none."""
    if (judged := table.judged) is None:
        return None
    units, each = units_of(judged.human, table.metrics), zip(table.models, judged.corrections, strict=True)

    def mean(values: Any) -> float:
        return float(units.of(np.array(np.mean(values))))

    worth = worth_of_differences(judged.corrections)
    every = itertools.combinations(range(len(table.models)), 2)
    asked = None if pairs is None else {(min(pair), max(pair)) for pair in pairs}
    worths = {
        pair: float(own) for own, pair in zip(worth, every, strict=True) if asked is None or pair in asked
    }
    records = ((model, one, mean, sorted(map(mean, one.interval()))) for model, one in each)
    entry = JudgedEntry(
        human=judged.human,
        judge=judged.judge,
        labelled=len(judged.labelled),
        samples=len(table.samples),
        mapped=bool(judged.why_mapped),
        lower=units.sign < 0,
        worth_low=min(worths.values(), default=None),
        worth_high=max(worths.values(), default=None),
        chance_p=judged.shift.p_value,
        chosen_p=judged.shift.p_value if judged.shift.models else None,
        judge_lower=judged.judge_sign < 0,
        models=rows_from(JudgedModelEntry, "model one mean ends", records),
    )
    return JudgedChapter(entry, worths, _otherwise(judged))


def _otherwise(judged: Judged) -> str:
    """How to declare a judge whose scores go against people's for every model, beyond chance."""
    n = len(judged.labelled)
    for one, raw in zip(judged.corrections, judged.raw, strict=True):
        away = raw[:n] - raw[:n].mean()
        together = float((one.human - one.human.mean()) @ away)
        if together >= -_BEYOND_CHANCE / sqrt(n) * float(np.sqrt(one.human.var() * raw[:n].var())) * n:
            return ""
    if judged.judge_sign < 0:
        return f"{option('higher', judged.judge)} if more of it is better"
    return f"{option('lower', judged.judge)} if less of it is better"


def by_chance(judge: Mapping[str, Any]) -> str:
    """What every corrected figure rests on, where `JudgedEntry.chosen_p` is None."""
    least = p_words(judge["chance_p"])
    return (
        f"labels are taken as drawn by chance: the means of {judge['judge']} on labelled and other samples "
        f"are not shown to differ of any model (Welch's t, Holm, level {LABELS_ALPHA:g}, least {least})"
    )


def judged_meta(chapter: JudgedChapter | None) -> Mapping[str, Any]:
    """The entry ``judge`` of a document's ``meta``, where there is a judge."""
    return {} if chapter is None else {"judge": asdict(chapter.entry)}


def with_labels(
    columns: Sequence[RiskColumn], scores: ClusteredScores
) -> tuple[tuple[RiskColumn, ...], list[str]]:
    """Risks without those of tails that hold too few of people's scores, and which tails these are.

    Raises
    ------
    InputError
        If nothing is left.
    """
    enough = FEWEST_LABELS - 1e-9
    gone = {
        one.level for one in columns if scores.judged and one.level and one.level * scores.labelled < enough
    }
    if not gone:
        return tuple(columns), []
    kept = tuple(one for one in columns if one.level not in gone)
    levels = listing(f"{level:g}" for level in sorted(gone))
    if kept:
        few = f"fewer than {FEWEST_LABELS} of {scores.labelled:,} human scores lie in such a tail"
        return kept, [f"left out level {levels}: {few}"]
    raise InputError(
        f"tails of {scores.labelled:,} human scores hold too few of them",
        found=f"fewer than {FEWEST_LABELS} at levels {levels}",
        hint=f"give {option('level', f'{FEWEST_LABELS / scores.labelled:.2g}')} or more, or have people "
        "score more samples",
    )
