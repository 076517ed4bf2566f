"""What can be done with a table: the commands that fit it, ready to copy."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from riskrank.asked.reading import ReadOptions
from riskrank.scores.table.inspection import InspectedMetric, Inspection
from riskrank.scores.table.metrics import looks_like_a_cost

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
    base = [*_sources(inspection), *reading_flags(inspection.options)]
    undeclared = [metric.spec.name for metric in inspection.metrics if not metric.spec.declared]
    ways = _directions(inspection, undeclared)
    if undeclared:
        yield _said("Say which way each metric is better, if this guess is right:", "check", base, ways)
    every = [*base, *ways]
    several = len(inspection.metrics) > 1
    if inspection.common_samples <= 1 and inspection.samples <= 1:
        if several:
            yield _said("One row a model: choose by several objectives without a common unit:", "copa", every)
        return
    enough = _fewest(inspection) >= _FEWEST_SAMPLES
    if enough:
        yield _said("Which model to ship, and how sure that is:", "rank", every)
        if len(inspection.models) == 2:
            yield _said("Whether one model is ahead of the other:", "dominance", every)
        if several:
            yield _said("The same for each metric on its own:", "rank", every, ["--per-metric"])
        for column in inspection.divisions[:_MOST_DIVISIONS]:
            yield _said(
                f"Whether the answer is the same for every {column}:", "rank", every, ["--group-by", column]
            )
        yield _said("Once a difference shows, how many samples the next comparison needs:", "power", every)
    else:
        yield _said("Fewer than 10 samples: rankings without tests:", "rank", every, ["--no-test"])
    ratings = [metric.spec.name for metric in inspection.metrics if _looks_ordinal(metric)]
    if ratings and several and not inspection.options.unpaired and inspection.options.cluster is None:
        ordinal = ["--ordinal", ",".join(_csv(name) for name in ratings)]
        yield _said("Ratings beside measurements, without numbers for the ratings:", "gsd", every, ordinal)
    if several:
        output = ["--output", "portfolio.parquet"]
        yield _said("Fold the metrics into one score a sample:", "portfolio", every, output)
        if (
            not inspection.options.unpaired
            and inspection.options.cluster is None
            and inspection.options.missing == "error"
        ):
            # copa compares means, so that it averages runs as it averages samples.
            averaged = ["mean" if word == "draws" else word for word in every]
            yield _said("Choose by several objectives without a common unit:", "copa", averaged)


def reading_flags(options: ReadOptions) -> list[str]:
    """Flags that read a table as it was read."""
    flags: list[str] = []
    single = {
        "--from": options.from_,
        "--columns": options.columns,
        "--cluster": options.cluster,
        "--matrix": options.matrix,
        "--where": options.where,
        "--sql": options.sql,
        "--metrics-file": options.metrics_file,
        "--input-format": options.input_format,
        "--model-from-path": options.model_from_path,
        "--missing": options.missing if options.missing != "error" else None,
        "--repeats": options.repeats if options.repeats != "error" else None,
    }
    for flag, value in single.items():
        flags += [] if value is None else [flag, value]
    # The commands of --matrix read it as a long table already.
    switches = {"--wide": options.wide and options.matrix is None, "--unpaired": options.unpaired}
    switches |= {"--parts": options.parts, "--skip-bad": options.skip_bad}
    flags += [flag for flag, on in switches.items() if on]
    one_by_one = {"--filter": options.filter, "--split": options.split, "--metric": options.metric}
    for flag, values in one_by_one.items():
        flags += [part for value in values for part in (flag, value)]
    together = {"--models": options.models, "--lower": options.lower, "--higher": options.higher}
    for flag, values in together.items():
        flags += [flag, ",".join(map(_csv, values))] if values else []
    return flags


def _directions(inspection: Inspection, undeclared: list[str]) -> list[str]:
    """Flags that declare what nobody declared: costs by their names, the rest as higher-is-better."""
    if not undeclared:
        return []
    lower = [name for name in undeclared if looks_like_a_cost(name)]
    higher = [name for name in undeclared if name not in lower]
    flags = []
    if lower:
        flags += ["--lower", ",".join(map(_csv, lower))]
    if higher:
        flags += ["--higher", ",".join(map(_csv, higher)) if len(higher) <= _MOST_NAMED else "*"]
    return flags


def _sources(inspection: Inspection) -> list[str]:
    named = [source if isinstance(source, str) else "SCORES" for source in inspection.sources]
    # What begins with a dash would be taken for an option.
    return [f"./{name}" if name.startswith("-") and name != "-" else name for name in named]


def _said(purpose: str, command: str, *parts: list[str]) -> Suggestion:
    words = _merged([word for part in parts for word in part])
    return Suggestion(purpose, " ".join(["riskrank", command, *map(shlex.quote, words)]))


def _merged(words: list[str]) -> list[str]:
    """Join the values of --lower and of --higher that are given twice: declared ones and guesses."""
    merged: list[str] = []
    for word in words:
        earlier = merged.index(merged[-1]) if merged and merged[-1] in ("--lower", "--higher") else -1
        if earlier >= 0 and earlier < len(merged) - 1:
            merged.pop()
            merged[earlier + 1] = f"{merged[earlier + 1]},{word}"
        else:
            merged.append(word)
    return merged


def _fewest(inspection: Inspection) -> int:
    """Units of resampling a test would have."""
    if inspection.clusters is not None:
        return inspection.clusters
    if inspection.options.unpaired:
        return min((model.samples for model in inspection.models), default=0)
    return inspection.common_samples


def _looks_ordinal(metric: InspectedMetric) -> bool:
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


def _csv(name: str) -> str:
    """Write a name for an option that takes several, with commas between."""
    return '"' + name.replace('"', '""') + '"' if "," in name or '"' in name else name
