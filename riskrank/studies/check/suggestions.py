"""Suggest commands for a score table, ready to copy."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from riskrank.errors import shell_quote
from riskrank.options.commands import BY_NAME
from riskrank.options.interfaces import flag_arguments
from riskrank.options.output import OutputOptions
from riskrank.options.reading import NO_COLUMN, SHARED, ReadOptions
from riskrank.scores.names.directions import looks_like_a_cost
from riskrank.scores.table.inspection import Inspection, MetricRow
from riskrank.studies.gsd.options import CriteriaSettings
from riskrank.studies.rank.options import RankSettings

# Minimum number of samples for tests. With fewer, only descriptive statistics are available.
_FEWEST_SAMPLES = 10
# Numbers of distinct values of a rating. Two values are binary scores, and more are a measurement.
_FEWEST_LEVELS, _MOST_LEVELS = 3, 10
# Maximum number of grouping columns to suggest.
_MOST_DIVISIONS = 2
# Maximum number of metrics to list by name. More metrics are written as ``*``.
_MOST_NAMED = 8


@dataclass(frozen=True)
class Suggestion:
    """A suggested command and its purpose."""

    purpose: str
    command: str


def suggestions(inspection: Inspection) -> tuple[Suggestion, ...]:
    """Return commands that apply to a table, the most useful first.

    The result is empty if the table is invalid.

    Parameters
    ----------
    inspection : Inspection
    """
    if any(problem.severity == "error" for problem in inspection.problems):
        return ()
    return tuple(_fitting_commands(inspection))


def _fitting_commands(inspection: Inspection) -> Iterator[Suggestion]:
    """Yield suggested commands for a valid table, the most useful first."""
    options = inspection.options
    undeclared = [spec.name for spec in inspection.specs if not spec.declared]
    declared = _declare_directions(options, undeclared)
    suggest = partial(_suggestion, _source_arguments(inspection), declared)
    if undeclared:
        yield suggest("Declare the direction of each metric, if this guess is right:", "check")
    if inspection.judged is not None:
        yield suggest("Rank the models by human scores, with tests:", "rank")
        yield suggest("Compare every pair of models:", "dominance")
        return
    several = len(inspection.metrics) > 1 and len({task.metrics for task in inspection.tasks}) < 2
    if inspection.common_samples <= 1 and inspection.samples <= 1:
        if several:
            yield suggest("One row per model: choose by several objectives without a common unit:", "copa")
        return
    if options.missing == SHARED:
        yield suggest("Rank the models, comparing each pair on its common samples:", "rank")
        return
    if inspection.folds or options.noise:
        metric_flags = flag_arguments(RankSettings(per_metric=True)) if several else []
        noise_text = "the dependence of folds" if inspection.folds else "every source of noise"
        yield suggest(f"Rank the models by their means, including {noise_text}:", "rank", *metric_flags)
        return
    if _independent_samples(inspection) >= _FEWEST_SAMPLES:
        yield suggest("Rank the models, with tests:", "rank")
        if len(inspection.models) == 2:
            yield suggest("Test whether one model is better than the other:", "dominance")
        if several:
            yield suggest(
                "Rank the models on each metric separately:",
                "rank",
                *flag_arguments(RankSettings(per_metric=True)),
            )
        for column in inspection.divisions[:_MOST_DIVISIONS]:
            group_flags = flag_arguments(ReadOptions(group_by=column))
            yield suggest(f"Check whether the ranking is the same for every {column}:", "rank", *group_flags)
        yield suggest("Plan the number of samples for the next comparison:", "power")
    else:
        no_test_flags = flag_arguments(RankSettings(no_test=True))
        yield suggest("Rank without tests, because there are fewer than 10 samples:", "rank", *no_test_flags)
    ratings = [metric.metric for metric in inspection.metrics if _looks_ordinal(metric)]
    is_unpaired = options.unpaired or options.cluster not in (None, NO_COLUMN)
    if ratings and several and not is_unpaired and not inspection.tasks:
        ordinal = flag_arguments(CriteriaSettings(ordinal=tuple(ratings)))
        yield suggest("Compare ratings and measurements, using only the order of ratings:", "gsd", *ordinal)
    if several:
        output = flag_arguments(OutputOptions(output=("portfolio.parquet",)))
        yield suggest("Combine the metrics into one score per sample:", "portfolio", *output)
        if not is_unpaired and options.missing == "error":
            # copa compares means, so it can average repeats.
            averaged = replace(declared, repeats="mean") if declared.repeats == "draws" else declared
            purpose = "Choose by several objectives without a common unit:"
            yield _suggestion(_source_arguments(inspection), averaged, purpose, "copa")


def _declare_directions(options: ReadOptions, undeclared: Sequence[str]) -> ReadOptions:
    """Declare every missing direction.

    The direction is lower for metrics whose names suggest a cost, and higher for all others.
    """
    lower = tuple(name for name in undeclared if looks_like_a_cost(name))
    higher = tuple(name for name in undeclared if name not in lower)
    if len(higher) > _MOST_NAMED:
        higher = ("*",)
    return replace(options, lower=options.lower + lower, higher=options.higher + higher)


def _source_arguments(inspection: Inspection) -> list[str]:
    """Return the sources of a table as command-line arguments."""
    named = [source if isinstance(source, str) else "SCORES" for source in inspection.sources]
    # A name with a leading dash would be parsed as an option.
    return [f"./{name}" if name.startswith("-") and name != "-" else name for name in named]


def _suggestion(
    sources: Sequence[str], options: ReadOptions, purpose: str, command: str, *more: str
) -> Suggestion:
    """Build a suggestion whose command line includes the sources and reading options."""
    row = BY_NAME[command]
    # Groups are suggested separately.
    words = [*sources, *flag_arguments(options, {"group_by", *row.excluded, *row.rejected_options}), *more]
    return Suggestion(purpose, " ".join(["riskrank", command, *map(shell_quote, words)]))


def _independent_samples(inspection: Inspection) -> int:
    """Return the number of independent samples or clusters that a test can use."""
    if inspection.effective_size is not None:
        return inspection.effective_size
    if inspection.clusters is not None:
        return inspection.clusters
    if inspection.options.unpaired:
        return min((model.samples for model in inspection.models), default=0)
    return inspection.common_samples


def _looks_ordinal(metric: MetricRow) -> bool:
    """Return True if a metric has few distinct integer values that repeat often, as ratings do."""
    if metric.minimum is None or metric.maximum is None:
        return False
    is_integer = metric.minimum.is_integer() and metric.maximum.is_integer()
    levels = metric.distinct
    return (
        is_integer
        and _FEWEST_LEVELS <= levels <= min(_MOST_LEVELS, metric.maximum - metric.minimum + 1)
        and metric.n >= 5 * levels
    )
