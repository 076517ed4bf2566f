"""Checks that a command supports a table: directions, sampling design, groups, pairs of models."""

from collections.abc import Iterable, Sequence

from riskrank.errors import UsageError, did_you_mean, interface_text, listing, option
from riskrank.options.commands import BY_NAME, grouping_commands
from riskrank.options.interfaces import join_commas
from riskrank.scores.names.directions import has_clear_direction, has_uncertain_direction, looks_like_a_cost
from riskrank.scores.table.metric_specs import MetricSpec
from riskrank.scores.table.metrics import is_undeclared_cost
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.wording import counted, join_names

# Suggested command for tables that other commands reject.
_RANK = ((interface_text("rank", "rr.rank(…)"), None),)


def require_directions(table: ScoreTable, *, command: str, metrics: str) -> None:
    """Raise an error if a metric lacks a direction, that is, whether higher or lower is better.

    A direction is declared, or implied by the name of the metric without doubt.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    command : str
        Command that needs the directions.
    metrics : str
        The command's plural noun for its metrics, such as "criteria".

    Raises
    ------
    UsageError
        If any metric has no direction.
    """
    lacking = [spec.name for spec in table.metrics if not (spec.declared or has_clear_direction(spec.name))]
    if lacking:
        undeclared = (spec.name for spec in table.metrics if not spec.declared)
        less = join_commas(filter(looks_like_a_cost, undeclared))
        likely = " ".join([*([option("lower", less)] if less else []), option("higher", "*")])
        doubtful = any(map(has_uncertain_direction, lacking))
        raise UsageError(
            f"{command} needs a direction for {listing(lacking)}",
            found=f"{len(table.metrics) - len(lacking)} of {len(table.metrics)} {metrics} have a direction, "
            "declared or by their names",
            hint=f"add {option('lower', lacking[0])} or {option('higher', lacking[0])} for each; "
            f"{option('higher', '*')} applies to all that are not listed",
            suggestions=() if doubtful else [(likely, None)],
        )


def refuse_assumed_costs(metrics: Iterable[MetricSpec], *, command: str) -> None:
    """Raise an error if a metric's name suggests a cost, but no direction was declared.

    Otherwise, higher values would count as better, and the answer would be reversed.

    Parameters
    ----------
    metrics : iterable of MetricSpec
        Metrics to check.
    command : str
        Command or claim that needs the directions, for the message.

    Raises
    ------
    UsageError
        If the direction of such a metric is undeclared.
    """
    doubtful = [spec.name for spec in metrics if is_undeclared_cost(spec)]
    if doubtful:
        together = join_commas(doubtful)
        raise UsageError(
            f"{command} needs a direction for {listing(doubtful)}",
            found="no declared direction, but the name suggests that lower is better",
            hint=f"add {option('lower', together)} or {option('higher', together)}",
            suggestions=[(option(way, together), None) for way in ("lower", "higher")],
        )


def require_distributions(table: ScoreTable, command: str, use: str = "compares distributions") -> None:
    """Raise an error if a table allows only comparisons of means: folds, or several sources of noise.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    command : str
        Name of the command, for messages.
    use : str
        How the command uses the scores, for the message.

    Raises
    ------
    UsageError
        If only means can be compared.
    """
    hint = "use riskrank rank or gate, which compare means"
    if table.noise is not None:
        sources = [*table.noise.levels]
        design, found = "sources of noise", "models with different samples"
        if sources:
            found = option("noise", ",".join(sources))
            average = f"{option('repeats', 'mean')} instead of {option('noise')}"
            hint += f"; or restrict the results to these values of {join_names(sources)} only: {average}"
    elif table.folds is not None:
        design = "folds"
        found = f"{len(table.samples):,} folds of {counted(len(table.folds.folds), 'data set')}"
        hint += "; or score every row once, with the model trained without its fold"
    elif table.published is not None:
        design, found, hint = "published means", listing(table.options.uncertainty), "use riskrank rank"
    else:
        return
    problem = f"{command} {use}, but {design} allow only comparisons of means"
    # Options, such as --on, belong to rank and gate themselves.
    raise UsageError(problem, found=found, hint=hint, suggestions=_RANK if command in BY_NAME else ())


def refuse_clusters(table: ScoreTable, *, command: str, reason: str, hint: str) -> None:
    """Raise an error if samples are clustered or in time order, which the command does not support.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    command : str
        Name of the command, for messages.
    reason, hint : str
        Explanation and remedy for clusters.

    Raises
    ------
    UsageError
        If the samples are clustered or in time order.
    """
    if table.units is not None:
        raise UsageError(
            f"{command} does not support samples in time order",
            found="sample names that are dates" if table.options.time is None else option("time"),
            hint=f"if their order is irrelevant, use {option('time', 'none')}",
            suggestions=[(option("time", "none"), None)],
        )
    if table.cluster_names is not None:
        problem = f"{command} does not support clusters of samples"
        detail = f"{counted(len(table.cluster_names), 'cluster')}, but {reason}"
        raise UsageError(problem, found=detail, hint=hint, suggestions=_RANK if command == "gsd" else ())


def refuse_groups(table: ScoreTable, command: str) -> None:
    """Raise an error if the option ``group_by`` is set, but the command does not support groups.

    Raises
    ------
    UsageError
        If the table has groups.
    """
    if table.groups is not None:
        problem = f"{command} does not support groups"
        hint = f"{join_names(grouping_commands())} support groups; select one group with {option('where')}"
        raise UsageError(problem, found=option("group_by", table.options.group_by), hint=hint)


def resolve_pair(text: str, models: Sequence[str], *, parameter: str) -> tuple[int, int]:
    """Return the indices of the two models that a text such as ``NEW:OLD`` names.

    `parameter` is the option that contains the text. Model names may contain colons.

    Raises
    ------
    UsageError
        If the text cannot be split into two different known models.
    """
    splits = [(text[:at], text[at + 1 :]) for at, mark in enumerate(text) if mark == ":"]
    valid = [pair for pair in splits if pair[0] in models and pair[1] in models]
    if len(valid) == 1 and valid[0][0] != valid[0][1]:
        return list(models).index(valid[0][0]), list(models).index(valid[0][1])
    if not splits:
        hint = f"write {option(parameter, 'NEW:OLD')} with two of the models"
    elif valid:
        hint = "name two different models"
    else:
        strange = next(name for pair in splits for name in pair if name not in models)
        fallback = f"models: {listing(models)}"
        hint = did_you_mean(
            strange, models, write=lambda near: f"{near} instead of {strange}", fallback=fallback
        )
    raise UsageError(f"{option(parameter, text)} must name two models of the table", found=text, hint=hint)


def require_pair(
    table: ScoreTable, text: str | None, source: str, *, several_metrics: bool = False
) -> tuple[int, int]:
    """Return the indices of the two models of a sample size calculation.

    Parameters
    ----------
    table : ScoreTable
        Scores of all models, with their samples and metrics.
    text : str or None
        Pair such as ``NEW:OLD``; optional if there are exactly two models.
    source : str
        Name of the option that requests the calculation, for messages.
    several_metrics : bool
        True if several metrics are allowed.

    Raises
    ------
    UsageError
        If there are several metrics that are not allowed, or more than two models but no pair.
    """
    if len(table.metrics) > 1 and not several_metrics:
        problem = f"a plan with {source} needs a single metric"
        detail = f"{len(table.metrics)} metrics"
        raise UsageError(problem, found=detail, hint=f"choose one: {option('metric', table.metrics[0].name)}")
    if text is not None:
        return resolve_pair(text, table.models, parameter="pair")
    if len(table.models) > 2:
        problem = f"a plan with {source} compares two models"
        detail = f"{len(table.models)} models and no {option('pair')}"
        raise UsageError(problem, found=detail, hint=f"name them: {option('pair', 'NEW:OLD')}")
    return 0, 1
