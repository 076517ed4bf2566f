"""Minimum detectable differences of means, and their wording (method §15)."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from riskrank.engine.evidence.mean_differences import MeanContrast
from riskrank.engine.evidence.student import Student
from riskrank.engine.family import Family
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.metric_means import MetricMeans
from riskrank.studies.suites.section import SuiteAnalysis
from riskrank.studies.targets import build_task_design
from riskrank.studies.wording import join_names, typeset

# Maximum number of models for which all pairs count. With more, only pairs with the best model count.
_ALL_PAIRS = 8


def detectable_differences(
    table: ScoreTable, suite: SuiteAnalysis | None, family: Family
) -> dict[str, float]:
    """Return each metric's minimum detectable difference (power 80 %), as the median over pairs of models.

    Parameters
    ----------
    table : ScoreTable
    suite : SuiteAnalysis or None
        Results of a suite by task.
    family : Family
        Family of tests of all pairs.

    Returns
    -------
    dict of str to float
        Minimum detectable difference by metric. Metrics scored by a judge and aggregated suite metrics are
        omitted, because their minimum detectable difference is unknown.
    """
    k, result = len(table.models), {}
    level = family.interval_level(k * (k - 1) // 2)
    for at, metric in enumerate(table.metrics):
        if suite is not None and metric.name in suite.columns:
            differences = suite.columns[metric.name].scopes[suite.scope].differences
            result[metric.name] = float(
                np.median(differences.detectable_difference(level)[np.triu_indices(k, 1)])
            )
        elif table.judged is None and build_task_design(table) is None:
            result[metric.name] = _median_detectable(table, at, level)
    return {name: value for name, value in result.items() if 0 < value < math.inf}


def _median_detectable(table: ScoreTable, metric: int, level: float) -> float:
    """Return the minimum detectable difference on one metric, as the median over pairs of models."""
    columns, k = table.column(metric), len(table.models)
    rows = range(k) if k <= _ALL_PAIRS else [int(np.argmax([values.mean() for values in columns]))]
    pairs = [(i, j) for i in rows for j in range(k) if (i < j or len(rows) == 1) and i != j]
    scores = ClusteredScores.build(columns, table.clusters, paired=table.paired)
    error, df = np.array([MeanContrast.from_scores(scores, *pair).error_and_df for pair in pairs]).T
    with np.errstate(over="ignore"):
        return float(np.median(Student(np.zeros(error.size), error, df).detectable_difference(level)))


def format_detectable(difference: float, is_proportion: bool) -> str:
    """Format a minimum detectable difference, rounded up to one significant digit.

    Differences of proportions are in percentage points. Half steps are kept after a leading 1, such as 1.5.
    The text is empty unless the difference is finite and positive.
    """
    scaled = 100 * difference if is_proportion else difference
    if not math.isfinite(scaled) or scaled <= 0:
        return ""
    unit = 10.0 ** math.floor(math.log10(scaled))
    step = unit / 2 if scaled / unit < 2 else unit
    value = math.ceil(scaled / step - 1e-9) * step
    text = f"{value:.1e}"
    if 1e-6 <= value < 1e7:
        text = f"{value:,.10f}".rstrip("0").rstrip(".")
    return f"{typeset(text)} points" if is_proportion else typeset(text)


def detectable_sentence(difference: float, is_proportion: bool) -> str:
    """Return a sentence with the minimum detectable difference, or an empty string if it is unknown."""
    words = format_detectable(difference, is_proportion)
    return f"Smallest detectable difference: {words} (power 80 %)." if words else ""


def detectable_suffix(means: Sequence[MetricMeans], detectable: Mapping[str, float]) -> str:
    """Return a clause with the minimum detectable difference on the only metric.

    The clause is empty if the difference is unknown.
    """
    if len(means) != 1 or means[0].name not in detectable:
        return ""
    words = format_detectable(detectable[means[0].name], means[0].is_proportion)
    return f"; smallest detectable difference: {words} (power 80 %)" if words else ""


def detectable_by_metric(means: Sequence[MetricMeans], detectable: Mapping[str, float]) -> str:
    """Return a phrase with the minimum detectable difference of each metric.

    The phrase is empty if no difference is known.
    """
    parts = [
        f"{words} on {mean.name}"
        for mean in means
        if mean.name in detectable and (words := format_detectable(detectable[mean.name], mean.is_proportion))
    ]
    return f"differences of means of at least {join_names(parts, len(parts))}." if parts else ""
