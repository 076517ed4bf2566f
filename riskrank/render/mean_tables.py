"""What first screens have in common: raw means in the file's units, worst cases, what samples cannot see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from riskrank.engine.dominance.column_tests import DominanceStudy
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.sampling.design import FEWEST_LABELS, ClusteredScores
from riskrank.engine.types import Floats
from riskrank.render.screens import MOST_METRICS, unshown
from riskrank.render.view import Bar, Cell, Column, Line, OfModel, Section, by_row, text_of
from riskrank.studies.document import Document, Provenance
from riskrank.studies.metric_means import MetricMeans, TailMeans, bad_cases
from riskrank.studies.wording import blind_to, counted, design, percent

CORRECTIONS = {
    "bonferroni": "Bonferroni",
    "holm": "Holm",
    "bh": "Benjamini-Hochberg",
    "none": "no correction",
}

# Of an axis with models far away from all others: how much of it these would have.
_CROWDED = 0.1
# How many times its lower end the upper one is on a logarithmic axis, or more.
_LOGARITHMIC = 20.0


@dataclass(frozen=True)
class Axis:
    """What the ends of a column of bars are; ``logarithmic`` where equal ways are equal ratios."""

    low: float
    high: float
    logarithmic: bool = False

    @classmethod
    def over(cls, means: Floats, low: Floats, high: Floats) -> Axis:
        """Reach over some means and their intervals, so that the means can be told apart.

        Up to a third that are far away from all others, on one side, are beyond the end.

        Parameters
        ----------
        means, low, high : ndarray, shape (k,)
            Ends that are not finite are passed over.
        """
        ends = np.array([low, means, high])
        whole = cls._reaching(ends)
        order = np.argsort(means)
        for count in range(1, means.size // 3 + 1):
            for far in (order[-count:], order[:count]):
                near = cls._reaching(np.delete(ends, far, axis=1))
                if 0 < whole._of(near.high) - whole._of(near.low) < _CROWDED:
                    return near
        return whole

    @classmethod
    def _reaching(cls, values: Floats) -> Axis:
        known = values[np.isfinite(values)]
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
        return cls(low, high, logarithmic=low > 0 and high >= _LOGARITHMIC * low)

    def bar(self, at: float, low: float, high: float) -> Bar:
        """A number with its interval; an open end is that of the scale."""
        left = low if np.isfinite(low) else at if np.isnan(low) else self.low
        right = high if np.isfinite(high) else at if np.isnan(high) else self.high
        beyond = int(at > self.high) - int(at < self.low)
        return Bar(self._of(at), self._of(left), self._of(right), beyond)

    def _of(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            return float(np.log(value / self.low) / np.log(self.high / self.low))
        width = self.high - self.low
        return (value - self.low) / width if width > 0 else 0.5


def with_bars(column: OfModel, mean: MetricMeans, shown: Sequence[int]) -> OfModel:
    """A column of raw means with the interval of each beside it.

    Parameters
    ----------
    column : OfModel
    mean : MetricMeans
    shown : sequence of int
        Models with a row.
    """
    low, high = mean.ends
    rows = list(shown)
    scale = Axis.over(mean.mean[rows], low[rows], high[rows])
    kind = ("log",) if scale.logarithmic else ()
    head, cell = column

    def drawn(i: int) -> Cell:
        return Cell(text_of(cell(i)), bar=scale.bar(float(mean.mean[i]), float(low[i]), float(high[i])))

    return replace(head, axis=(mean.said(scale.low), *kind, mean.said(scale.high))), drawn


def head(mean: MetricMeans) -> str:
    """Name and direction; one that nobody declared stands in brackets."""
    arrow = "↓" if mean.lower else "↑"
    return f"{mean.name} {arrow if mean.declared else f'({arrow})'}"


def worst(column: str, metrics: Sequence[MetricMeans], tail: TailMeans) -> list[OfModel]:
    """The worst cases, where they say something: shares of failures for 0/1 scores, nothing of constants."""
    alone = next((mean for mean in metrics if mean.name == column), None)
    if alone is not None and alone.share:
        mean = alone  # bound for the function below
        return [
            (Column("failed"), lambda i: mean.said(float(mean.mean[i] if mean.lower else 1 - mean.mean[i])))
        ]
    if not tail.says_something:
        return []
    of_what = "" if alone is not None or len(metrics) == 1 else "\ncombined"
    return [(Column(f"worst {percent(tail.level)}{of_what}", spare=bool(of_what)), tail.of)]


def side_by_side(
    models: Sequence[str],
    means: Sequence[MetricMeans],
    columns: Sequence[str],
    order: Iterable[int],
    note: Callable[[int, int], str],
    what: str,
) -> list[Section]:
    """Several columns: every model's mean on each with a note, alone where a column is no metric.

    Parameters
    ----------
    models : sequence of k str
    means : sequence of MetricMeans
    columns : sequence of str
        Names; those of metrics have means.
    order : iterable of int
        Models, a row each.
    note : callable
        Of the number of a column, and of a model.
    what : str
        What the notes are.
    """
    by_name, shown = {mean.name: mean for mean in means}, list(order)

    def noted(at: int, mean: MetricMeans, i: int) -> str:
        return f"{mean.of(i)} ({note(at, i)})"

    made: list[OfModel] = [(Column("model", "left"), lambda i: models[i])]
    for at, name in enumerate(columns[:MOST_METRICS]):
        mean = by_name.get(name)
        if mean is None:
            made.append((Column(name), partial(note, at)))
        else:
            made.append(with_bars((Column(f"{head(mean)}\n({what})"), partial(noted, at, mean)), mean, shown))
    return [by_row("", made, shown), *unshown(len(columns) - MOST_METRICS, "metric")]


def seen(scores: ClusteredScores) -> str:
    """How many samples there are, and what they cannot see."""
    blind = blind_to(scores.effective_size)
    few = scores.judged and not bad_cases(FEWEST_LABELS / scores.labelled)
    return f"{design(scores)} ({blind}{'; too few labels for a tail' if few else ''})"


def only_share(study: Document) -> str:
    """The metric, where a study is of one alone and each of its scores is 0 or 1."""
    means: Sequence[MetricMeans] = getattr(study, "means", ())
    return means[0].name if len(means) == 1 and means[0].share else ""


def means_say_it(study: Document, _whole: Document) -> list[Line]:
    """Why there is nothing to see of distributions, where that is so."""
    metric = only_share(study)
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


def score_of(column: str) -> str:
    """A column as the title of a picture names it."""
    return "the combined score" if column in PORTFOLIOS else column


def in_words(column: str) -> str:
    """A column as the title of a table names it, whose small print has no place of its own."""
    return f"{score_of(column)}, {column}" if column in PORTFOLIOS else column


def combined(column: str, document: Document) -> list[Line]:
    """What the combined score is, and how much each metric counts in it, where a column is one.

    Of a suite, whose screen has no line to spare, it is made task by task.
    """
    if column not in PORTFOLIOS:
        return []
    of_task, ends = (" of the task", "") if getattr(document, "suite", None) else ("", " (0 to 1)")
    text = PORTFOLIOS[column].format(of_task, _counting(document.provenance)) + ends
    return [Line(text, "Combined score:")]


def _counting(origin: Provenance) -> str:
    """How much each metric counts in a combined score: the weight of most, and up to three that differ."""
    weights = {one["name"]: one["weight"] for one in origin.metrics if isinstance(one, Mapping)}
    if all(weight is None for weight in weights.values()):
        return "counting alike"
    given = {name: 1.0 if weight is None else float(weight) for name, weight in weights.items()}
    usual = max(given.values(), key=[*given.values()].count)
    other = [f"{name} {weight:g}" for name, weight in given.items() if weight != usual or len(given) < 4]
    rest = f", the others {usual:g}" if len(other) < len(given) else ""
    return f"weighing {', '.join(other)}{rest}" if len(other) < 4 else "as weighed"


def told_apart_line(
    scores: ClusteredScores,
    inference: Inference,
    told: Mapping[str, int],
    pairs: int,
    how: str,
    undecided: int,
    more: str,
) -> Line:
    """Samples and what they cannot see, and how many pairs the tests of every column tell apart.

    Parameters
    ----------
    scores : ClusteredScores
    inference : Inference
    told : mapping of str to int
        Pairs told apart, by column of scores.
    pairs : int
    how : str
        By which tests; of a single column on which.
    undecided : int
        Claims that more resamples would decide.
    more : str
        What could have been shown.
    """
    rule = "k²" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    many = len(told) > 1
    apart = ", ".join(f"{name} {count}" if many else str(count) for name, count in told.items())
    left = f", {undecided} not decided for lack of resamples" if undecided else ""
    text = f"{apart} of {counted(pairs, 'pair')} told apart{left} ({how}, {inference.family.text}, {rule})"
    return Line(f"{seen(scores)}; {text}{more}.")


def inference_line(
    study: DominanceStudy, inference: Inference, models: Sequence[str], scores: ClusteredScores
) -> Line:
    """State the design, the resampling and the family of tests."""
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
