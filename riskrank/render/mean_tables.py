"""Table columns and lines that several first screens share: raw means, tails, sample sizes and tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.sampling.design import FEWEST_LABELS, ClusteredScores
from riskrank.engine.types import Floats
from riskrank.render.screens import MOST_METRICS, hidden_count_lines
from riskrank.render.view import Bar, Cell, Column, Line, ModelColumn, Section, build_table, cell_text
from riskrank.studies.document import Document, Provenance
from riskrank.studies.metric_means import MetricMeans, TailMeans, bad_cases
from riskrank.studies.wording import blind_to, counted, design, percent

CORRECTIONS = {
    "bonferroni": "Bonferroni",
    "holm": "Holm",
    "bh": "Benjamini-Hochberg",
    "none": "no correction",
}

# If the other models use less than this share of an axis, distant models are excluded from it.
_CROWDED = 0.1
# Ratio of upper to lower end from which an axis is logarithmic.
_LOGARITHMIC = 20.0


@dataclass(frozen=True)
class BarScale:
    """Scale of a column of bars; on a logarithmic scale, equal distances are equal ratios."""

    low: float
    high: float
    logarithmic: bool = False

    @classmethod
    def covering(cls, means: Floats, low: Floats, high: Floats) -> BarScale:
        """Return a scale that covers means and their intervals.

        If a few distant models would squeeze all other means together, the scale excludes them. It excludes
        at most a third of the models, all on the same side.

        Parameters
        ----------
        means, low, high : ndarray, shape (k,)
            Non-finite limits are ignored.
        """
        values = np.array([low, means, high])
        full = cls._spanning(values)
        order = np.argsort(means)
        for count in range(1, means.size // 3 + 1):
            for distant in (order[-count:], order[:count]):
                narrowed = cls._spanning(np.delete(values, distant, axis=1))
                if 0 < full._position(narrowed.high) - full._position(narrowed.low) < _CROWDED:
                    return narrowed
        return full

    @classmethod
    def _spanning(cls, values: Floats) -> BarScale:
        finite = values[np.isfinite(values)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
        return cls(low, high, logarithmic=low > 0 and high >= _LOGARITHMIC * low)

    def bar(self, value: float, low: float, high: float) -> Bar:
        """Return the bar of a value with its interval; an infinite limit extends to the end of the scale."""
        left = low if np.isfinite(low) else value if np.isnan(low) else self.low
        right = high if np.isfinite(high) else value if np.isnan(high) else self.high
        beyond = int(value > self.high) - int(value < self.low)
        return Bar(self._position(value), self._position(left), self._position(right), beyond)

    def _position(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            return float(np.log(value / self.low) / np.log(self.high / self.low))
        width = self.high - self.low
        return (value - self.low) / width if width > 0 else 0.5


def with_interval_bars(column: ModelColumn, mean: MetricMeans, models: Sequence[int]) -> ModelColumn:
    """Add interval bars to a column of raw means.

    Parameters
    ----------
    column : ModelColumn
    mean : MetricMeans
    models : sequence of int
        Models with a row in the table.
    """
    low, high = mean.ends
    rows = list(models)
    scale = BarScale.covering(mean.mean[rows], low[rows], high[rows])
    kind = ("log",) if scale.logarithmic else ()
    head, cell = column

    def cell_with_bar(i: int) -> Cell:
        return Cell(cell_text(cell(i)), bar=scale.bar(float(mean.mean[i]), float(low[i]), float(high[i])))

    return replace(head, axis=(mean.said(scale.low), *kind, mean.said(scale.high))), cell_with_bar


def metric_head(mean: MetricMeans) -> str:
    """Return the name of a metric with an arrow for its direction, in brackets if it is assumed."""
    arrow = "↓" if mean.lower else "↑"
    return f"{mean.name} {arrow if mean.declared else f'({arrow})'}"


def tail_columns(column: str, metrics: Sequence[MetricMeans], tail: TailMeans) -> list[ModelColumn]:
    """Return a column of tail means, or of failure rates for binary scores.

    The list is empty if the tail means carry no information beyond the means.

    Parameters
    ----------
    column : str
        Metric or portfolio.
    metrics : sequence of MetricMeans
    tail : TailMeans
    """
    metric = next((mean for mean in metrics if mean.name == column), None)
    if metric is not None and metric.share:
        mean = metric  # bound for the lambda
        return [
            (Column("failed"), lambda i: mean.said(float(mean.mean[i] if mean.lower else 1 - mean.mean[i])))
        ]
    if not tail.says_something:
        return []
    suffix = "" if metric is not None or len(metrics) == 1 else "\ncombined"
    return [(Column(f"worst {percent(tail.level)}{suffix}", optional=bool(suffix)), tail.of)]


def side_by_side_table(
    models: Sequence[str],
    means: Sequence[MetricMeans],
    columns: Sequence[str],
    order: Iterable[int],
    note: Callable[[int, int], str],
    annotation: str,
) -> list[Section]:
    """Return a table of every model's mean on several columns of scores, each with an annotation.

    A portfolio has no raw mean, so its column has the annotation alone.

    Parameters
    ----------
    models : sequence of k str
    means : sequence of MetricMeans
    columns : sequence of str
        Metrics or portfolios.
    order : iterable of int
        Models in the order of the rows.
    note : callable
        Gets the number of a column and a model, and returns the annotation.
    annotation : str
        Meaning of the annotations, for the column heads.
    """
    by_name, rows = {mean.name: mean for mean in means}, list(order)

    def annotated_mean(number: int, mean: MetricMeans, i: int) -> str:
        return f"{mean.of(i)} ({note(number, i)})"

    cells: list[ModelColumn] = [(Column("model", "left"), lambda i: models[i])]
    for number, name in enumerate(columns[:MOST_METRICS]):
        mean = by_name.get(name)
        if mean is None:
            cells.append((Column(name), partial(note, number)))
        else:
            cells.append(
                with_interval_bars(
                    (Column(f"{metric_head(mean)}\n({annotation})"), partial(annotated_mean, number, mean)),
                    mean,
                    rows,
                )
            )
    return [build_table("", cells, rows), *hidden_count_lines(len(columns) - MOST_METRICS, "metric")]


def describe_samples(scores: ClusteredScores) -> str:
    """Return the sample size and the rarest event that the samples can detect."""
    limit = blind_to(scores.effective_size)
    few = scores.judged and not bad_cases(FEWEST_LABELS / scores.labelled)
    return f"{design(scores)} ({limit}{'; too few labels for a tail' if few else ''})"


def single_binary_metric(study: Document) -> str:
    """Return the name of the metric if a study has a single, binary metric; otherwise an empty string."""
    means: Sequence[MetricMeans] = getattr(study, "means", ())
    return means[0].name if len(means) == 1 and means[0].share else ""


def binary_metric_lines(study: Document, _document: Document) -> list[Line]:
    """Return a line that explains why a binary metric has no distribution plots; empty for other scores."""
    metric = single_binary_metric(study)
    if not metric:
        return []
    text = (
        f"Every score of {metric} is 0 or 1, so a model's mean says all of its scores: curves, tails and "
        "measures of risk would only repeat it."
    )
    return [Line(text)]


PORTFOLIOS = {
    "P(IC)": "share of scores{} no better, geometric mean over metrics {}",
    "P(EC)": "share of all samples{} that are worse on every metric at once",
}


def score_title(column: str) -> str:
    """Return the name of a metric or portfolio for the title of a picture."""
    return "the combined score" if column in PORTFOLIOS else column


def score_label(column: str) -> str:
    """Return the name of a metric or portfolio for the title of a table."""
    return f"{score_title(column)}, {column}" if column in PORTFOLIOS else column


def combined_score_lines(column: str, document: Document) -> list[Line]:
    """Return a line that defines the combined score with its weights; empty if `column` is a metric."""
    if column not in PORTFOLIOS:
        return []
    scope, unit = (" of the task", "") if getattr(document, "suite", None) else ("", " (0 to 1)")
    text = PORTFOLIOS[column].format(scope, _format_weights(document.provenance)) + unit
    return [Line(text, "Combined score:")]


def _format_weights(origin: Provenance) -> str:
    """Return the weights of the metrics in words; at most three that differ from the most common one."""
    weights = {metric["name"]: metric["weight"] for metric in origin.metrics if isinstance(metric, Mapping)}
    if all(weight is None for weight in weights.values()):
        return "counting alike"
    numeric = {name: 1.0 if weight is None else float(weight) for name, weight in weights.items()}
    common = max(numeric.values(), key=[*numeric.values()].count)
    different = [
        f"{name} {weight:g}" for name, weight in numeric.items() if weight != common or len(numeric) < 4
    ]
    remainder = f", the others {common:g}" if len(different) < len(numeric) else ""
    return f"weighing {', '.join(different)}{remainder}" if len(different) < 4 else "as weighed"


def separation_line(
    scores: ClusteredScores,
    inference: Inference,
    separated: Mapping[str, int],
    pairs: int,
    tests: str,
    undecided: int,
    suffix: str,
) -> Line:
    """Return a line with the sample size, its detection limit, and the number of separated pairs per column.

    Parameters
    ----------
    scores : ClusteredScores
    inference : Inference
    separated : mapping of str to int
        Number of significantly different pairs, by column of scores.
    pairs : int
        Number of all pairs.
    tests : str
        Description of the tests.
    undecided : int
        Number of claims that need more resamples.
    suffix : str
        Further text, such as the smallest detectable difference.
    """
    rule = "k²" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    several = len(separated) > 1
    counts = ", ".join(f"{name} {count}" if several else str(count) for name, count in separated.items())
    open_text = f", {undecided} not decided for lack of resamples" if undecided else ""
    family = inference.family.text
    text = f"{counts} of {counted(pairs, 'pair')} told apart{open_text} ({tests}, {family}, {rule})"
    return Line(f"{describe_samples(scores)}; {text}{suffix}.")


def inference_line(
    study: DominanceStudy, inference: Inference, models: Sequence[str], scores: ClusteredScores
) -> Line:
    """Return a line on the design, the resampling and the family of tests."""
    size = design(scores)
    if not inference.test:
        return Line(f"{size}; no test was asked for, verdicts describe these samples only.", "Data:")
    pairs = len(models) * (len(models) - 1)
    rule = "the paper's k² rule" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    source = "asymptotic standard errors"
    if inference.resampled:
        source = f"{study.resamples or 0:,} bootstrap resamples, seed {inference.seed}"
    text = (
        f"{size}, {source}; {rule} over the "
        f"{pairs} ordered pairs of each order, test and threshold, level {inference.family.level(1):g}."
    )
    return Line(text, "Tests:")
