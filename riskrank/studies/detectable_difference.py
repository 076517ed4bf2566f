"""The smallest differences of means that a table could have shown, and how that is said (method §15)."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from riskrank.engine.evidence.student import Student, mean_difference
from riskrank.engine.family import Family
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.suites.section import SuiteChapter
from riskrank.studies.targets import tasks_of
from riskrank.studies.wording import names, typeset

# Of more models, differences to the one with the best mean are looked at.
_ALL_PAIRS = 8


def visible_differences(table: ScoreTable, suite: SuiteChapter | None, family: Family) -> dict[str, float]:
    """By metric the difference that the median pair could have shown, four times out of five.

    Parameters
    ----------
    table : ScoreTable
    suite : SuiteChapter or None
        Of a suite, what its tasks say.
    family : Family
        Of all pairs.

    Returns
    -------
    dict of str to float
        Without metrics of which nothing is known: a judge's, and those of a suite that are folded.
    """
    k, found = len(table.models), {}
    level = family.level(k * (k - 1) // 2)
    for at, metric in enumerate(table.metrics):
        if suite is not None and metric.name in suite.columns:
            differences = suite.columns[metric.name].scopes[suite.scope].differences
            found[metric.name] = float(np.median(differences.visible(level)[np.triu_indices(k, 1)]))
        elif table.judged is None and tasks_of(table) is None:
            found[metric.name] = _of_pairs(table, at, level)
    return {name: value for name, value in found.items() if 0 < value < math.inf}


def _of_pairs(table: ScoreTable, at: int, level: float) -> float:
    sides = list(zip(table.column(at), table.clusters, strict=True))
    best = int(np.argmax([float(values.mean()) for values, _ in sides]))
    rows = range(len(sides)) if len(sides) <= _ALL_PAIRS else [best]
    pairs = [(i, j) for i in rows for j in range(len(sides)) if (i < j or len(rows) == 1) and i != j]
    apart = [mean_difference(sides[i], sides[j], paired=table.paired) for i, j in pairs]
    error, df = np.array([(one.error, one.samples - 1) for one in apart]).T
    with np.errstate(over="ignore"):
        return float(np.median(Student(np.zeros(error.size), error, df).visible(level)))


def visible_words(difference: float, share: bool) -> str:
    """One digit of a difference, halves where the first is 1, rounded up; in points if means are shares."""
    scaled = 100 * difference if share else difference
    if not math.isfinite(scaled) or scaled <= 0:
        return ""
    unit = 10.0 ** math.floor(math.log10(scaled))
    step = unit / 2 if scaled / unit < 2 else unit
    value = math.ceil(scaled / step - 1e-9) * step
    text = f"{value:.1e}"
    if 1e-6 <= value < 1e7:
        text = f"{value:,.10f}".rstrip("0").rstrip(".")
    return f"{typeset(text)} points" if share else typeset(text)


def visible_sentence(difference: float, share: bool) -> str:
    """What these samples could have shown, as a sentence; empty where nothing varies."""
    words = visible_words(difference, share)
    return f"They could have shown differences from {words} on." if words else ""


def could_show(means: Sequence[MetricMeans], visible: Mapping[str, float]) -> str:
    """The same of the only metric, as a line of a screen goes on; empty where nothing is known."""
    if len(means) != 1 or means[0].name not in visible:
        return ""
    words = visible_words(visible[means[0].name], means[0].share)
    return f"; could have shown differences from {words} on" if words else ""


def shown_by_metric(means: Sequence[MetricMeans], visible: Mapping[str, float]) -> str:
    """The same metric by metric, as a sentence."""
    told = [
        f"{words} of {one.name}"
        for one in means
        if one.name in visible and (words := visible_words(visible[one.name], one.share))
    ]
    return f"differences of means from {names(told, len(told))} on." if told else ""
