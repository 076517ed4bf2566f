"""Statistics that claims are about, such as ``mean``, ``p95``, ``share>=4`` or ``sum(a)/sum(b)``.

Costs per success (method §18) are parsed and checked here, too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from riskrank.engine.dominance.inference import DIRECT, Claim
from riskrank.engine.evidence.cost_per_success import MIN_SUCCESSES, Costs
from riskrank.engine.types import Floats
from riskrank.errors import InputError, UsageError, did_you_mean, listing, option
from riskrank.options.inference import RANDOM
from riskrank.options.values import RATIO_OF_SUMS, number_or_nan
from riskrank.studies.targets import no_tasks_error
from riskrank.studies.wording import format_percent

PER_SUCCESS = "cost-per-success"


def parse_cost_per_success(flag: str, text: str, metrics: Sequence[str]) -> tuple[str, str] | None:
    """Parse ``cost-per-success:COST/SUCCESS`` into its two metrics, or return None for any other text.

    Metric names may contain a slash.

    Parameters
    ----------
    flag : str
        Name of the option that contains the text, for messages.
    text : str
        Text to parse.
    metrics : sequence of str
        Names of all metrics.

    Raises
    ------
    UsageError
        If the text does not name two known metrics.
    """
    head, _, names = text.partition(":")
    if head != PER_SUCCESS:
        return None
    for at, sign in enumerate(names):
        both = names[:at], names[at + 1 :]
        if sign == "/" and all(name in metrics for name in both):
            return both
    problem = f"{option(flag, text)} must name a cost metric and a success metric"
    hint = f"write {option(flag, f'{PER_SUCCESS}:COST/SUCCESS')} with two of these"
    raise UsageError(problem, found=f"the metrics are {listing(metrics)}", hint=hint)


def require_costs(
    request: tuple[str, str],
    costs: tuple[bool, Sequence[Floats]],
    successes: tuple[bool, Sequence[Floats]],
    *,
    independent: bool,
) -> None:
    """Raise an error if the cost per success is undefined for the scores.

    Parameters
    ----------
    request : (str, str)
        Name and value of the option, for messages.
    costs, successes : (bool, sequence of ndarray)
        True if lower values are better in the input file, and the scores of each model. The scores are
        oriented so that larger values are better.
    independent : bool
        True if samples are resampled one by one.

    Raises
    ------
    UsageError
        If costs are negative or higher is better, or successes are outside 0 to 1 or lower is better. Also if
        samples are weighted or in time order.
    """
    flag, text = request
    cost, _, success = text.partition(":")[2].partition("/")
    problem: tuple[str, str] | None = None
    if not independent:
        problem = "independent samples", "weighted tasks, folds, or rows in time order"
    elif not costs[0] or any(scores.size and float(scores.max()) > 0 for scores in costs[1]):
        problem = f"costs in {cost}: lower is better, and at least 0", "other scores"
    elif successes[0] or any(
        scores.size and (float(scores.min()) < 0 or float(scores.max()) > 1) for scores in successes[1]
    ):
        problem = f"successes in {success}: higher is better, from 0 to 1", "other scores"
    if problem is not None:
        hint = (
            f"write the cost first, {option(flag, f'{PER_SUCCESS}:COST/SUCCESS')}, and add "
            f"{option('lower', 'COST')}; {option('task', 'none')} pools tasks"
        )
        raise UsageError(f"{option(flag, text)} needs {problem[0]}", found=problem[1], hint=hint)


def require_successes(costs: Costs, model: str, name: str) -> None:
    """Raise an error if a model has too few successes to estimate its cost per success.

    `name` is the name of the cost per success, for the message.

    Raises
    ------
    InputError
    """
    if not costs.has_enough_successes:
        raise InputError(
            f"{model} has fewer than {MIN_SUCCESSES} successes on {name}, too few to estimate the cost per "
            "success",
            found=f"{costs.successes.sum():g} in {costs.successes.size:,} scores",
            hint="score more samples, or compare costs and successes separately",
        )


MEAN, TAIL, GEOMETRIC, MEDIAN = "mean", "tvar", "geomean", "median"
MACRO, TASK = "macro", "task"
# Prefix for the probability that all of k runs pass; pass@ is the probability that any of them does.
ALL_RUNS = "pass^"
# Synonyms: tail value at risk and conditional value at risk.
TAILS = (TAIL, "cvar")
ORDERS = {"fsd": 1, "ssd": 2}
_RUN_STATISTIC = re.compile(r"(pass[\^@])([1-9][0-9]{0,3})")
_PERCENTILE = re.compile(r"p([0-9]{1,2}(?:\.[0-9]+)?)")
_SHARE = re.compile(r"share(>=|<=)([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)")
SUITE_STATISTICS = (MACRO, TASK)
EXAMPLES = (MEAN, MEDIAN, "p95", "share>=4", GEOMETRIC, "tvar@0.05", *ORDERS, "pass^3", "pass@3")
EXAMPLES += ("sum(A)/sum(B)",)

# Factors and metrics of a weighted sum.
Sum = tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Statistic:
    """A statistic to compare, and the metrics on which it is computed.

    Attributes
    ----------
    name : str
        Name of the statistic, such as ``p95``.
    metrics : tuple of str
        Names of the metrics.
    level : float or None
        Proportion of worst scores that a tail mean averages.
    dominance : Claim or None
        Dominance claim to test, instead of a difference.
    runs : (str, int) or None
        ``("pass^", k)`` if all of k runs of a sample must pass, ``("pass@", k)`` if at least one must. None
        if scores are compared as they are.
    percentile : float or None
        Proportion of scores below a percentile.
    share : (str, float) or None
        Comparison, ``>=`` or ``<=``, and the number that scores are compared with.
    sums : (Sum, Sum) or None
        Numerator and denominator of a ratio of sums.
    """

    name: str
    metrics: tuple[str, ...]
    level: float | None = None
    dominance: Claim | None = None
    runs: tuple[str, int] | None = None
    percentile: float | None = None
    share: tuple[str, float] | None = None
    sums: tuple[Sum, Sum] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """Metrics under which the statistic is listed. For a ratio of sums, this is the first one only."""
        return self.metrics[:1] if self.sums else self.metrics

    @property
    def directed(self) -> tuple[str, ...]:
        """Metrics that must have a direction. For a ratio of sums, these are the metrics in the numerator."""
        return tuple(name for _, name in self.sums[0]) if self.sums else self.metrics

    @property
    def label(self) -> str:
        """Name of the metric in the output, or of a ratio of sums, such as ``tokens/success``."""
        return "/".join(map(_format_sum, self.sums)) if self.sums else "/".join(self.metrics)


def parse_statistics(
    texts: Sequence[str], metrics: Sequence[str], *, suite: bool = False, random: bool = False
) -> list[Statistic]:
    """Parse the requested statistics.

    The default is the mean of every metric.

    Parameters
    ----------
    texts : sequence of str
        Values of the option ``on``.
    metrics : sequence of str
        Available metrics.
    suite : bool
        True if the samples belong to tasks.
    random : bool
        True if tasks are a random sample. At least one claim must then be about all tasks.

    Raises
    ------
    UsageError
        If a text is neither a statistic nor a metric, or needs tasks and there are none. Also if tasks are
        random and all statistics are about single tasks.
    """
    parsed = [parse_statistic(text, metrics) for text in texts or (MEAN,)]
    suite_name = next((entry.name for entry in parsed if entry.name in SUITE_STATISTICS), None)
    if suite_name is not None and not suite:
        raise no_tasks_error(option("on", suite_name), f"claim {option('on', MEAN)}")
    if random and all(entry.name == TASK for entry in parsed):
        detail = f"{option('on', TASK)} alone, which makes a separate claim about each task"
        hint = f"claim {option('on', MACRO)} as well, or leave out {option('tasks')}"
        raise UsageError(f"{option('tasks', RANDOM)} is about means over tasks", found=detail, hint=hint)
    if suite:
        parsed = [replace(entry, name=MACRO) if entry.name == MEAN else entry for entry in parsed]
    return list(dict.fromkeys(parsed))


def parse_statistic(text: str, metrics: Sequence[str]) -> Statistic:
    """Parse a statistic such as ``p95`` or ``p95:latency``. A metric name alone means its mean.

    `metrics` has the names of all metrics.

    Raises
    ------
    UsageError
        If the text is neither a statistic nor a metric.
    """
    if pair := parse_cost_per_success("on", text, metrics):
        text = "sum({})/sum({})".format(*pair)
    if match := RATIO_OF_SUMS.fullmatch(text):
        sums = _parse_sum(match[1], text, metrics), _parse_sum(match[2], text, metrics)
        return Statistic(text, tuple(dict.fromkeys(name for terms in sums for _, name in terms)), sums=sums)
    head, separator, metric = text.partition(":")
    single = _statistic_by_name(head, (metric,)) if separator else None
    statistic = single or _statistic_by_name(text, tuple(metrics))
    name = metric if single else text
    if name not in metrics and (single or not statistic):
        detail = f"the metrics are {listing(metrics)}; the statistics are {', '.join(EXAMPLES)}"
        candidates = [*metrics, *EXAMPLES]
        hint = did_you_mean(
            name, candidates, write=lambda near: text.removesuffix(name) + near, fallback="use one of these"
        )
        raise UsageError(f"{option('on', text)} is neither a statistic nor a metric", found=detail, hint=hint)
    return statistic or Statistic(MEAN, (text,))


def _statistic_by_name(text: str, metrics: tuple[str, ...]) -> Statistic | None:
    """Return the statistic of the given metrics with a name such as ``tvar@0.05``, or None if unknown.

    Raises
    ------
    UsageError
        If the level of a tail mean is not between 0 and 1.
    """
    if text in (MEAN, GEOMETRIC, *SUITE_STATISTICS):
        return Statistic(text, metrics)
    if text in ORDERS:
        return Statistic(text, metrics, dominance=Claim(ORDERS[text], DIRECT))
    if match := _RUN_STATISTIC.fullmatch(text):
        return Statistic(text, metrics, runs=(match[1], int(match[2])))
    if text == MEDIAN:
        return Statistic(text, metrics, percentile=0.5)
    if (match := _PERCENTILE.fullmatch(text)) and float(match[1]) > 0:
        return Statistic(text, metrics, percentile=float(match[1]) / 100)
    if match := _SHARE.fullmatch(text):
        return Statistic(text, metrics, share=(match[1], float(match[2])))
    kind, _, share = text.partition("@")
    if kind not in TAILS:
        return None
    level = number_or_nan(share)
    if not 0 < level < 1:
        problem = f"{option('on', text)} needs a share of the worst samples between 0 and 1"
        hint = f"write {option('on', 'tvar@0.05')} for the mean of the worst 5 %"
        raise UsageError(problem, found=share or "no share", hint=hint)
    return Statistic(f"{TAIL}@{level:g}", metrics, level=level)


def _parse_sum(text: str, whole: str, metrics: Sequence[str]) -> Sum:
    """Parse a sum of metrics with whole-number factors, such as ``2*tp+fp+fn``.

    `whole` is the text of the statistic that contains the sum, for messages.

    Raises
    ------
    UsageError
        If a term does not name a metric.
    """
    parts = [text] if text in metrics else [part.strip() for part in text.split("+")]
    terms: list[tuple[int, str]] = []
    for part in parts:
        factor, times, name = part.partition("*")
        term = (int(factor), name) if times and factor.isdecimal() and part not in metrics else (1, part)
        if term[1] not in metrics:
            problem = f"{option('on', whole)} must name metrics"
            fallback = f"write sums of metrics, such as {option('on', 'sum(2*tp)/sum(2*tp+fp+fn)')}"
            hint = did_you_mean(term[1], metrics, write=partial(whole.replace, term[1]), fallback=fallback)
            raise UsageError(problem, found=f"{term[1]!r}; the metrics are {listing(metrics)}", hint=hint)
        terms.append(term)
    return tuple(terms)


def _format_sum(terms: Sum) -> str:
    """Return a sum as text, in parentheses if it has several terms."""
    text = "+".join(f"{factor}*{name}" if factor > 1 else name for factor, name in terms)
    return f"({text})" if len(terms) > 1 else text


def statistic_words(name: str) -> str:
    """Return a statistic in words, such as ``worst 5 %`` or ``geometric mean``."""
    if name.startswith(f"{TAIL}@"):
        return f"worst {format_percent(float(name.partition('@')[2]))}"
    words = {MACRO: "macro mean", "fsd": "first-order dominance", "ssd": "second-order dominance"}
    words |= {GEOMETRIC: "geometric mean"}
    return "ratio of sums" if name.startswith("sum(") else words.get(name, name)


def plural_statistic(name: str) -> str:
    """Return a statistic in the plural, such as ``medians`` or ``values of p95``."""
    words = statistic_words(name)
    if name.startswith("sum("):
        return words.replace("ratio", "ratios")
    return f"{words}s" if words.isalpha() or " mean" in words else f"values of {words}"
