"""What can be done with a table: the commands that fit it, ready to copy."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from riskrank.errors import as_one_word
from riskrank.options.commands import BY_NAME
from riskrank.options.flags import flags
from riskrank.options.judges import NO_COLUMN
from riskrank.options.output import OutputOptions
from riskrank.options.reading import SHARED, ReadOptions
from riskrank.scores.names.directions import looks_like_a_cost
from riskrank.scores.table.inspection import Inspection, MetricRow
from riskrank.studies.gsd.options import CriteriaSettings
from riskrank.studies.rank.options import RankSettings

# The tests' least number of samples; below it statistics alone are to be had.
_FEWEST_SAMPLES = 10
# Levels of what looks like a rating; more are a measurement, two are a pass or failure.
_FEWEST_LEVELS, _MOST_LEVELS = 3, 10
# Columns of groups that are named.
_MOST_DIVISIONS = 2
# Directions are spelled metric by metric as long as a person would.
_MOST_NAMED = 8


@dataclass(frozen=True)
class Suggestion:
    """What a command is good for, and the command."""

    purpose: str
    command: str


def suggestions(inspection: Inspection) -> tuple[Suggestion, ...]:
    """Commands that fit a table, the most useful first; of a table that is refused, none.

    Parameters
    ----------
    inspection : Inspection
    """
    if any(problem.severity == "error" for problem in inspection.problems):
        return ()
    return tuple(_fitting(inspection))


def _fitting(inspection: Inspection) -> Iterator[Suggestion]:
    options = inspection.options
    undeclared = [spec.name for spec in inspection.specs if not spec.declared]
    told = _with_directions(options, undeclared)
    say = partial(_said, _sources(inspection), told)
    if undeclared:
        yield say("Say which way each metric is better, if this guess is right:", "check")
    if inspection.judged is not None:
        yield say("Which model people would ship, and how sure that is:", "rank")
        yield say("Who is ahead of whom, pair by pair:", "dominance")
        return
    several = len(inspection.metrics) > 1 and len({task.metrics for task in inspection.tasks}) < 2
    if inspection.common_samples <= 1 and inspection.samples <= 1:
        if several:
            yield say("One row a model: choose by several objectives without a common unit:", "copa")
        return
    if options.missing == SHARED:
        yield say("Which model to ship, each pair compared on what both were scored on:", "rank")
        return
    if inspection.folds or options.noise:
        own = flags(RankSettings(per_metric=True)) if several else []
        counted = "what folds share" if inspection.folds else "every source of noise"
        yield say(f"Which model has the better mean, counting {counted}:", "rank", *own)
        return
    if _fewest(inspection) >= _FEWEST_SAMPLES:
        yield say("Which model to ship, and how sure that is:", "rank")
        if len(inspection.models) == 2:
            yield say("Whether one model is ahead of the other:", "dominance")
        if several:
            yield say("The same for each metric on its own:", "rank", *flags(RankSettings(per_metric=True)))
        for column in inspection.divisions[:_MOST_DIVISIONS]:
            by = flags(ReadOptions(group_by=column))
            yield say(f"Whether the answer is the same for every {column}:", "rank", *by)
        yield say("Once a difference shows, how many samples the next comparison needs:", "power")
    else:
        untested = flags(RankSettings(no_test=True))
        yield say("Fewer than 10 samples: rankings without tests:", "rank", *untested)
    ratings = [metric.metric for metric in inspection.metrics if _looks_ordinal(metric)]
    apart = options.unpaired or options.cluster not in (None, NO_COLUMN)
    if ratings and several and not apart and not inspection.tasks:
        ordinal = flags(CriteriaSettings(ordinal=tuple(ratings)))
        yield say("Ratings beside measurements, without numbers for the ratings:", "gsd", *ordinal)
    if several:
        output = flags(OutputOptions(output=("portfolio.parquet",)))
        yield say("Fold the metrics into one score a sample:", "portfolio", *output)
        if not apart and options.missing == "error":
            # copa compares means, so that it averages runs as it averages samples.
            averaged = replace(told, repeats="mean") if told.repeats == "draws" else told
            purpose = "Choose by several objectives without a common unit:"
            yield _said(_sources(inspection), averaged, purpose, "copa")


def _with_directions(options: ReadOptions, undeclared: Sequence[str]) -> ReadOptions:
    """Declare what nobody declared: costs by their names, the rest as higher-is-better."""
    lower = tuple(name for name in undeclared if looks_like_a_cost(name))
    higher = tuple(name for name in undeclared if name not in lower)
    if len(higher) > _MOST_NAMED:
        higher = ("*",)
    return replace(options, lower=options.lower + lower, higher=options.higher + higher)


def _sources(inspection: Inspection) -> list[str]:
    named = [source if isinstance(source, str) else "SCORES" for source in inspection.sources]
    # What begins with a dash would be taken for an option.
    return [f"./{name}" if name.startswith("-") and name != "-" else name for name in named]


def _said(sources: Sequence[str], options: ReadOptions, purpose: str, command: str, *more: str) -> Suggestion:
    row = BY_NAME[command]
    # Groups are asked for where they divide the answer.
    words = [*sources, *flags(options, {"group_by", *row.lacks, *row.refused}), *more]
    return Suggestion(purpose, " ".join(["riskrank", command, *map(as_one_word, words)]))


def _fewest(inspection: Inspection) -> int:
    """Independent units a test would have."""
    if inspection.worth is not None:
        return inspection.worth
    if inspection.clusters is not None:
        return inspection.clusters
    if inspection.options.unpaired:
        return min((model.samples for model in inspection.models), default=0)
    return inspection.common_samples


def _looks_ordinal(metric: MetricRow) -> bool:
    """Whether few whole numbers come back again and again, as those of a rating do."""
    if metric.minimum is None or metric.maximum is None:
        return False
    whole = metric.minimum.is_integer() and metric.maximum.is_integer()
    levels = metric.distinct
    return (
        whole
        and _FEWEST_LEVELS <= levels <= min(_MOST_LEVELS, metric.maximum - metric.minimum + 1)
        and metric.n >= 5 * levels
    )
