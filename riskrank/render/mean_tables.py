"""Table columns and lines of several first screens: means, tails, sample sizes, tests, sources of noise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.evidence.crossed import Components
from riskrank.engine.sampling.design import MIN_LABELS, ClusteredScores
from riskrank.engine.types import Floats
from riskrank.render import WORDS
from riskrank.render.screens import MOST_METRICS, hidden_count_lines
from riskrank.render.view import Bar, Cell, Column, Line, RowColumn, Section, Table, build_table, cell_text
from riskrank.studies.document import Document
from riskrank.studies.metric_means import MetricMeans, TailMeans, is_bad_case_level
from riskrank.studies.wording import counted, design_words, detection_limit_words, format_percent

CORRECTIONS: dict[str, str] = WORDS["corrections"]

# If the other models use less than this share of an axis, distant models are excluded from it.
_CROWDED = 0.1
# Ratio of upper to lower end from which an axis is logarithmic.
_LOGARITHMIC = 20.0


@dataclass(frozen=True)
class BarScale:
    """Linear or logarithmic scale of a column of bars."""

    low: float
    high: float
    logarithmic: bool = False

    @classmethod
    def from_intervals(cls, means: Floats, low: Floats, high: Floats) -> BarScale:
        """Create a scale that covers the means of k models and their intervals.

        Outlying models that would compress all other means are excluded: at most a third of the models, all
        on the same side.

        Parameters
        ----------
        means, low, high : ndarray, shape (k,)
            Non-finite limits are ignored.
        """
        values = np.array([low, means, high])
        full = cls._from_values(values)
        order = np.argsort(means)
        for count in range(1, means.size // 3 + 1):
            for distant in (order[-count:], order[:count]):
                narrowed = cls._from_values(np.delete(values, distant, axis=1))
                if 0 < full._position(narrowed.high) - full._position(narrowed.low) < _CROWDED:
                    return narrowed
        return full

    @classmethod
    def _from_values(cls, values: Floats) -> BarScale:
        """Create a scale from the smallest to the largest finite value."""
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        return cls(low, high, logarithmic=low > 0 and high >= _LOGARITHMIC * low)

    def bar(self, value: float, low: float, high: float) -> Bar:
        """Return the bar for a value and its interval.

        An infinite limit extends to the end of the scale.
        """
        left = low if np.isfinite(low) else value if np.isnan(low) else self.low
        right = high if np.isfinite(high) else value if np.isnan(high) else self.high
        beyond = int(value > self.high) - int(value < self.low)
        return Bar(self._position(value), self._position(left), self._position(right), beyond)

    def _position(self, value: float) -> float:
        """Return the position of a value on the scale, from 0 to 1."""
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            return float(np.log(value / self.low) / np.log(self.high / self.low))
        width = self.high - self.low
        return (value - self.low) / width if width > 0 else 0.5


def with_interval_bars(column: RowColumn, mean: MetricMeans, models: Sequence[int]) -> RowColumn:
    """Add interval bars to a column of raw means.

    Parameters
    ----------
    column : RowColumn
        Column to which bars are added.
    mean : MetricMeans
        Means of all models on one metric.
    models : sequence of int
        Models that have a row in the table.
    """
    low, high = mean.intervals
    rows = list(models)
    scale = BarScale.from_intervals(mean.mean[rows], low[rows], high[rows])
    axis = (mean.format_value(scale.low), *["log"] * scale.logarithmic, mean.format_value(scale.high))
    head, cell = column

    def cell_with_bar(i: int) -> Cell:
        """Return the cell of a model with a bar of its mean and interval."""
        return Cell(cell_text(cell(i)), bar=scale.bar(float(mean.mean[i]), float(low[i]), float(high[i])))

    return replace(head, axis=axis), cell_with_bar


def mean_columns(means: Iterable[MetricMeans], models: Sequence[int]) -> list[RowColumn]:
    """Return a column of raw means with interval bars for each metric."""
    return [with_interval_bars((Column(metric_head(mean)), mean.format_mean), mean, models) for mean in means]


def metric_head(mean: MetricMeans) -> str:
    """Return a metric's column head: its name, and an arrow for its direction.

    The arrow is in brackets if the direction is assumed.
    """
    arrow = "↓" if mean.lower_is_better else "↑"
    return f"{mean.name} {arrow if mean.declared else f'({arrow})'}"


def tail_columns(column: str, metrics: Sequence[MetricMeans], tail: TailMeans) -> list[RowColumn]:
    """Return a table column of tail means or, for binary scores, of failure rates.

    The list is empty if tail means add no information to the means.

    Parameters
    ----------
    column : str
        Metric or portfolio.
    metrics : sequence of MetricMeans
        Means of all models on each metric.
    tail : TailMeans
        Tail means of all models.
    """
    metric = next((mean for mean in metrics if mean.name == column), None)
    if metric is not None and metric.is_proportion:
        rates = metric.mean if metric.lower_is_better else 1 - metric.mean
        return [(Column("failed"), lambda i: metric.format_value(float(rates[i])))]
    if not tail.is_informative:
        return []
    suffix = "" if metric is not None or len(metrics) == 1 else "\ncombined"
    return [(Column(f"worst {format_percent(tail.level)}{suffix}", optional=bool(suffix)), tail.format_mean)]


def side_by_side_table(
    models: Sequence[str],
    means: Sequence[MetricMeans],
    columns: Sequence[str],
    order: Iterable[int],
    note: Callable[[int, int], str],
    annotation: str,
) -> list[Section]:
    """Return a table of the means of k models by score column, with an annotation of each mean.

    A portfolio has no raw mean, so its column contains only the annotation.

    Parameters
    ----------
    models : sequence of k str
        Names of the models.
    means : sequence of MetricMeans
        Means of all models on each metric.
    columns : sequence of str
        Metrics or portfolios.
    order : iterable of int
        Models, in row order.
    note : callable
        Maps the indices of a column and a model to the annotation.
    annotation : str
        Meaning of the annotations, for the column heads.
    """
    by_name, rows = {mean.name: mean for mean in means}, list(order)

    def annotated_mean(number: int, mean: MetricMeans, i: int) -> str:
        """Format the mean of model `i` in column `number`, followed by its annotation."""
        return f"{mean.format_mean(i)} ({note(number, i)})"

    cells: list[RowColumn] = [(Column("model", "left"), lambda i: models[i])]
    for number, name in enumerate(columns[:MOST_METRICS]):
        if (mean := by_name.get(name)) is None:
            cells.append((Column(name), partial(note, number)))
            continue
        head = Column(f"{metric_head(mean)}\n({annotation})")
        cells.append(with_interval_bars((head, partial(annotated_mean, number, mean)), mean, rows))
    return [build_table("", cells, rows), *hidden_count_lines(len(columns) - MOST_METRICS, "metric")]


def describe_samples(scores: ClusteredScores) -> str:
    """Describe the sample size and the rarest events that it can detect, such as "500 samples (…)"."""
    limit = detection_limit_words(scores.min_effective_size)
    few = scores.judged and not is_bad_case_level(MIN_LABELS / scores.n_labelled)
    return f"{design_words(scores)} ({limit}{'; too few labels for a tail' if few else ''})"


def single_binary_metric(study: Document) -> str:
    """Return the name of a study's metric if it has only one and this one is binary, else an empty string."""
    means: Sequence[MetricMeans] = getattr(study, "means", ())
    return means[0].name if len(means) == 1 and means[0].is_proportion else ""


def binary_metric_lines(study: Document, _document: Document) -> list[Line]:
    """Return a line that explains why a single binary metric has no plots of distributions.

    The list is empty for other metrics.
    """
    metric = single_binary_metric(study)
    if not metric:
        return []
    text = (
        f"Every score of {metric} is 0 or 1, so the mean describes the full distribution: curves, tails and "
        "risk measures would add nothing."
    )
    return [Line(text)]


PORTFOLIOS = {
    "P(IC)": "share of scores{} no better, geometric mean over metrics, {}",
    "P(EC)": "share of all samples{} that are worse on every metric",
}


def score_title(column: str) -> str:
    """Return the name of a metric, or "the combined score" for a portfolio, for titles of pictures."""
    return "the combined score" if column in PORTFOLIOS else column


def score_label(column: str) -> str:
    """Return the name of a metric, or "the combined score, P(…)" for a portfolio, for titles of tables."""
    return f"{score_title(column)}, {column}" if column in PORTFOLIOS else column


def combined_score_lines(column: str, document: Document) -> list[Line]:
    """Return a line that defines a portfolio score and its weights, or an empty list for a metric."""
    if column not in PORTFOLIOS:
        return []
    metrics = [metric for metric in document.provenance.metrics if isinstance(metric, Mapping)]
    weights, words = {metric["name"]: metric["weight"] for metric in metrics}, "equal weights"
    if any(weight is not None for weight in weights.values()):
        numeric = {name: 1.0 if weight is None else float(weight) for name, weight in weights.items()}
        common = max(numeric.values(), key=[*numeric.values()].count)
        differs = {name: weight != common or len(numeric) < 4 for name, weight in numeric.items()}
        different = [f"{name} {weight:g}" for name, weight in numeric.items() if differs[name]]
        others = f", the others {common:g}" if len(different) < len(numeric) else ""
        words = f"weighted {', '.join(different)}{others}" if len(different) < 4 else "weighted"
    scope, unit = (" of the task", "") if getattr(document, "suite", None) else ("", " (0 to 1)")
    return [Line(PORTFOLIOS[column].format(scope, words) + unit, "Combined score:")]


def separation_line(
    scores: ClusteredScores,
    inference: Inference,
    separated: Mapping[str, int],
    pairs: int,
    tests: str,
    undecided: int,
    suffix: str,
) -> Line:
    """Return a line with the sample size, the detection limit and the number of separated pairs of models.

    Parameters
    ----------
    scores : ClusteredScores
        Scores of k models.
    inference : Inference
        Test settings: level, correction, resamples and seed.
    separated : mapping of str to int
        Number of significantly different pairs, by score column.
    pairs : int
        Number of all pairs.
    tests : str
        Phrase that describes the tests.
    undecided : int
        Number of claims that need more resamples.
    suffix : str
        Text to append, such as the smallest detectable difference.
    """
    rule = "k²" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    several = len(separated) > 1
    counts = ", ".join(f"{name} {count}" if several else str(count) for name, count in separated.items())
    open_text = f", {undecided} need{'s' * (undecided == 1)} more resamples" if undecided else ""
    family = inference.family.text
    text = f"{counts} of {counted(pairs, 'pair')} separated{open_text} ({tests}, {family}, {rule})"
    return Line(f"{describe_samples(scores)}; {text}{suffix}.")


def inference_line(
    study: DominanceStudy, inference: Inference, models: Sequence[str], scores: ClusteredScores
) -> Line:
    """Return a line that describes the samples, the resampling and the family of tests."""
    size = design_words(scores)
    if not inference.test:
        return Line(f"{size}; not tested, so the verdicts describe only these samples.", "Data:")
    pairs = len(models) * (len(models) - 1) // 2
    rule = "the paper's k² rule" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    source = "asymptotic standard errors"
    if inference.uses_resampling:
        source = f"{study.resamples or 0:,} bootstrap resamples, seed {inference.seed}"
    level = inference.family.interval_level(1)
    text = (
        f"{size}, {source}; {rule} over the "
        f"{counted(pairs, 'pair')} of each order, test and threshold, level {level:g}."
    )
    return Line(text, "Tests:")


def variance_proportions(components: Components) -> list[tuple[str, int | None, float]]:
    """Return the sources of noise, the largest first.

    Interactions with less than 1 % of the variance are omitted.

    Returns
    -------
    list of (str, int or None, float)
        Name, number of levels (None for an interaction), and proportion of the variance.
    """
    size = dict(zip(components.names, components.levels, strict=True))
    rows = []
    for sources, share in sorted(components.shares.items(), key=lambda item: -item[1]):
        name = " × ".join(item for item in components.names if item in sources) or "rest"
        if share >= 0.01 or name in size:
            rows.append((name, size.get(name), share))
    return rows


def variance_table(components: Components, planned: Mapping[str, int | None] | None = None) -> Table:
    """Return a table of the sources of noise, with their levels and proportions of variance.

    Parameters
    ----------
    components : Components
        Variance components of the difference.
    planned : mapping of str to int or None, optional
        Number of levels required by a plan, by source.
    """
    columns: list[RowColumn | None] = [
        (Column("source", "left"), lambda row: row[0]),
        (Column("levels"), lambda row: f"{row[1]:,}" if row[1] else ""),
        (Column("share of\nvariance"), lambda row: format_percent(row[2]) if row[2] else "0 %"),
        (Column("", "left", medium="terminal"), lambda row: "█" * round(20 * row[2])),
        (Column("planned"), lambda row: f"{planned[row[0]]:,}" if planned.get(row[0]) else "")
        if planned
        else None,
    ]
    return build_table("Sources of noise", columns, variance_proportions(components))


_DISTANCES: dict[str, str] = WORDS["distances"]


def aggregation_lines(aggregations: Mapping[str, Aggregation]) -> list[Line]:
    """Return one line per rank aggregation, with its distance and the aggregate order."""
    lines = []
    for name, aggregation in aggregations.items():
        distance = f"{_DISTANCES[aggregation.method]} (mean {aggregation.mean_distance:.4g})"
        lines.append(Line(f"combines rankings by {distance}. Chosen: {aggregation.choice}.", f"{name}:"))
    return lines
