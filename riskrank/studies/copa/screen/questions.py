"""Screens of COPA's questions: comparison with scalarizations, sweeps, and the explanation of one model."""

from collections.abc import Iterable, Iterator

import numpy as np

from riskrank.engine.copa.comparison import ScalarizationComparison
from riskrank.engine.copa.ranking import CopaExplanation
from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.types import Floats
from riskrank.errors import interface_text, listing, option
from riskrank.render import numbers
from riskrank.render.screens import hidden_count_lines
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, Table, build_table
from riskrank.studies.copa import study
from riskrank.studies.copa.objectives import Objectives
from riskrank.studies.copa.screen import objective_cells
from riskrank.studies.wording import typeset

_MOST_ROWS = 20


def comparison_sections(document: study.ComparisonDocument) -> Iterator[Section]:
    """Yield the ranks by every scalarization, their agreement, and the model whose rank changes most."""
    table, comparison, top = document.objectives, document.comparison, document.settings.top
    places = range(min(len(comparison.models), top or _MOST_ROWS))
    yield _rank_table(table, comparison, places)
    yield from hidden_count_lines(len(comparison.models) - len(places), "model", option("top", "N"))
    rows = tuple(
        (study.scalarization_label(name), *("–" if np.isnan(tau) else typeset(f"{tau:.2f}") for tau in row))
        for name, row in zip(comparison.names, comparison.comparison.tau, strict=True)
    )
    heads = Column("", "left"), *_scalarization_headings(comparison)
    yield Table("Kendall's tau-b between the criteria", heads, rows)
    yield from _summary_lines(document)


def _rank_table(table: Objectives, comparison: ScalarizationComparison, places: Iterable[int]) -> Table:
    """Return a table of the ranks by every scalarization.

    `places` has the positions of the models to list.
    """
    rank, movement = comparison.comparison.rank, comparison.comparison.movement
    columns: list[ModelColumn] = [(Column("model", "left"), lambda j: table.name(comparison.models[j]))]
    for m, head in enumerate(_scalarization_headings(comparison)):
        columns.append((head, lambda j, m=m: Cell(str(rank[m, j]), "green" if rank[m, j] == 1 else "")))  # type: ignore[misc]
    columns.append((Column("moves\nby"), lambda j: str(movement[j])))
    return build_table("Ranks by every criterion", columns, places)


def _scalarization_headings(comparison: ScalarizationComparison) -> list[Column]:
    """Return column headings for the scalarizations."""
    return [Column(study.scalarization_label(name).replace(" ", "\n", 1)) for name in comparison.names]


def _summary_lines(document: study.ComparisonDocument) -> Iterator[Line]:
    """Yield lines about the top model of each scalarization, the largest rank change and the exclusions."""
    table, comparison = document.objectives, document.comparison
    rank = comparison.comparison.rank
    winners: dict[str, list[str]] = {}
    for m, name in enumerate(comparison.names):
        for j in np.flatnonzero(rank[m] == 1)[:1]:
            winners.setdefault(table.name(comparison.models[j]), []).append(study.scalarization_label(name))
    text = "; ".join(f"{model} by {listing(names, 12)}" for model, names in winners.items())
    if len(winners) == 1:
        text = f"every criterion puts {next(iter(winners))} first"
    yield Line(f"{text}.", "First:")
    for j in document.movers[:1]:
        best, worst = (
            f"{rank[m, j]:,} by {study.scalarization_label(comparison.names[m])}"
            for m in (np.argmin(rank[:, j]), np.argmax(rank[:, j]))
        )
        text = f"{table.name(comparison.models[j])} has rank {best} and {worst}."
        yield Line(text, "Moves most:", "yellow")
    if comparison.excluded:
        reasons = (text.removeprefix("excluded ") for text in study.exclusion_messages(comparison))
        yield Line("; ".join(reasons) + ".", "Excluded:", "yellow")
    text = (
        "average: weighted sum of the raw values. Δ: relative distance to the best value. min–max: distance "
        "divided by the range of the column. usual p: norm with the weights outside the power. SAW, AHP and "
        "MEW: see docs/copa.md. All use the same weights. tau = 1: the same order."
    )
    yield Line(text, "Reading:")


# Sweeps over thousands of models have hundreds of intervals; only the widest are shown.
_MOST_INTERVALS = 20


def sweep_sections(document: study.SweepDocument) -> Iterator[Section]:
    """Yield a table of intervals for each sweep, and how evenly the chosen models cover the Pareto front."""
    table, sweeps = document.objectives, document.sweeps
    for p, sweep in sweeps:
        yield _sweep_table(table, p, sweep)
        yield from hidden_count_lines(sweep.model.size - _MOST_INTERVALS, "interval", option("format", "csv"))
        text = (
            f"{sweep.models_chosen:,} of the {sweep.front_size:,} Pareto-optimal models are chosen at some "
            f"point ({numbers.format_top_share(sweep.coverage)}); their intervals are as even as "
            f"{sweep.evenness * sweep.front_size:.1f} equal intervals (evenness "
            f"{numbers.format_ratio(sweep.evenness)}; 1: all these models have equal intervals)."
        )
        yield Line(text, "Front:" if p is None else f"Front at p = {numbers.format_order(p)}:")
    objective, reading = sweeps[0][1].objective, "shares refer to 1/p, which is equally spaced."
    if objective is not None:
        other_weights = np.delete(table.weights, objective)
        division = "equally" if np.ptp(other_weights) < 1e-12 else "in proportion to their weights"
        reading = f"the other objectives share 1 − α {division}."
    reading += " The top-% next to each value is the share of other models with a better value."
    yield Line(reading, "Reading:")


def _sweep_table(table: Objectives, p: float | None, sweep: Sweep) -> Table:
    """Return a table of the widest intervals in a sweep.

    `p` is the order of the norm, or None if the sweep varies it.
    """
    widths = sweep.widths
    widest = np.sort(np.argsort(-widths, kind="stable")[:_MOST_INTERVALS])
    if p is None or sweep.objective is None:
        title, parameter, digits = "COPA's choice as p goes from 1 to ∞", "p", ".4g"
    else:
        name = table.population.metrics[sweep.objective]
        title = f"COPA's choice as the weight α of {name} goes from 0 to 1, p = {numbers.format_order(p)}"
        parameter, digits = "α", ".4f"
    value_columns = objective_cells(table, sweep.model[widest].tolist())
    if sweep.objective is not None:  # the swept objective comes first
        value_columns.insert(0, value_columns.pop(sweep.objective))
    columns: list[ModelColumn] = [
        (Column("model", "left"), lambda i: table.name(sweep.model[i])),
        (Column(f"{parameter} from"), lambda i: f"{sweep.low[i]:{digits}}".replace("inf", "∞")),
        (Column("to"), lambda i: f"{sweep.high[i]:{digits}}".replace("inf", "∞")),
        (Column("share"), lambda i: f"{100 * widths[i]:.1f} %"),
    ]
    for head, cell in value_columns:
        columns.append((head, lambda i, cell=cell: cell(sweep.model[i])))  # type: ignore[misc]
    return build_table(title, columns, widest)


_MOST_NAMES = 5


def explanation_sections(document: study.ExplanationDocument) -> Iterator[Section]:
    """Yield the explained model's objectives, the reasons for its rank, and weights that would choose it."""
    table, explanation = document.objectives, document.explanation
    yield _objective_table(document)
    yield Line(_describe_rank(document), "Place:")
    text = listing(table.population.metrics[k] for k in explanation.binding)
    if not (explanation.weighted > 0).any():
        text = "none: no model is better on any objective with a positive weight."
    elif np.isinf(explanation.ranking.p):
        text += ". At p = ∞ only the worst weighted rank counts; others have no effect."
    else:
        share = 100 * explanation.contribution[explanation.binding].sum()
        text += f", {share:.0f} % of the norm; improving there helps most."
    yield Line(text, "Binding:")
    if document.violated_constraints:
        text = f"it does not meet {' and '.join(document.violated_constraints)}, so no weights choose it."
        yield Line(text, "Infeasible:", "yellow")
    if table.population.front[explanation.model]:
        yield Line("no model is at least as good on all objectives and better on one.", "Front:")
        if explanation.model != explanation.ranking.chosen:
            yield from _choosing_lines(document)
    elif not len(explanation.dominators):
        yield Line("no model that meets the constraints dominates it.", "Front:")
    else:
        verb = "is" if len(explanation.dominators) == 1 else "are"
        names = listing((table.name(j) for j in explanation.dominators), _MOST_NAMES)
        text = f"{names} {verb} at least as good on all objectives and better on one."
        text += " Therefore no positive weights choose this model, at any p."
        yield Line(text, "Dominated:", "yellow")
    yield _reading_guide(explanation)


def _objective_table(document: study.ExplanationDocument) -> Table:
    """Return a table of the explained model's objectives."""
    table, explanation, i = document.objectives, document.explanation, document.explanation.model
    share = "of the\nlargest" if np.isinf(explanation.ranking.p) else "of the\nnorm^p"
    values, u, metrics = table.values[i], table.population.u[i], table.population.metrics

    def styled(k: int, text: str) -> Cell:
        """Return a cell with a text, coloured if objective `k` is binding or the model is the best on it."""
        return Cell(text, "yellow" if k in explanation.binding else "green" if u[k] == 0 else "")

    columns: list[ModelColumn] = [
        (Column("objective", "left"), lambda k: f"{metrics[k]} {'↑' if table.larger_is_better[k] else '↓'}"),
        (Column("value"), lambda k: "missing" if np.isnan(values[k]) else numbers.format_score(values[k])),
        (Column("top-%"), lambda k: styled(k, numbers.format_top_share(u[k]))),
        (Column("weight"), lambda k: numbers.format_ratio(table.weights[k])),
        (Column("weighted\nrank"), lambda k: numbers.format_score(explanation.weighted[k])),
        (Column(share), lambda k: styled(k, f"{100 * explanation.contribution[k]:.0f} %")),
        (Column("chosen for\nweights", "left"), lambda k: _format_ranges(document, k, 2)),
    ]
    title = f"{table.name(i)}, p = {numbers.format_order(explanation.ranking.p)}"
    return build_table(title, columns, range(len(metrics)))


def _format_ranges(document: study.ExplanationDocument, k: int, limit: int) -> str:
    """Format the ranges of weight number `k` for which the model is chosen, at most `limit` of them."""
    ranges = [numbers.format_ratio_interval(*interval) for interval in document.intervals(k)]
    return listing(ranges, limit) if ranges else "–"


def _describe_rank(document: study.ExplanationDocument) -> str:
    """Describe the rank and the norm of the explained model."""
    table, explanation = document.objectives, document.explanation
    i, ranking = explanation.model, explanation.ranking
    norm = numbers.format_score(ranking.norm[i])
    if i == ranking.chosen:
        return f"chosen among {len(ranking.order):,} models, norm {norm}."
    best_norm = numbers.format_score(ranking.norm[ranking.chosen])
    chosen = f"{table.name(ranking.chosen)} is chosen with {best_norm}"
    if not ranking.rank[i]:
        return f"no rank, because it does not meet the constraints; norm {norm}, {chosen}."
    tied = ranking.tied_with(i)
    text = f"rank {ranking.rank[i]:,} of {len(ranking.order):,}, norm {norm}; {chosen}."
    if len(tied):
        text += f" Models with the same norm: {listing((table.name(j) for j in tied), _MOST_NAMES)}."
    return text


def _choosing_lines(document: study.ExplanationDocument) -> Iterator[Line]:
    """Yield lines about the weights that would choose the model, which is on the Pareto front."""
    table, explanation, p = document.objectives, document.explanation, document.explanation.ranking.p
    if explanation.weights is not None:
        yield Line(_describe_weights(table, explanation.weights, p), "To be chosen:", "green")
    elif document.worst_case_weights is not None:
        alternative = _describe_weights(table, document.worst_case_weights, np.inf)
        yield Line(f"no weights choose it at p = {p:g}, but {alternative}", "To be chosen:", "yellow")
    else:
        text = "no weights choose this model, because a model with the same values precedes it by name."
        yield Line(text, "To be chosen:", "yellow")
    metrics = enumerate(table.population.metrics)
    weights = [f"{metric} {_format_ranges(document, k, 3)}" for k, metric in metrics if document.intervals(k)]
    effect = f"is chosen for {listing(weights, 4)}" if weights else "is never chosen"
    yield Line(f"if one weight changes and the others keep their proportions, it {effect}.", "One weight:")


def _describe_weights(table: Objectives, weights: Floats, p: float) -> str:
    """Return the options that set the given weights and p, for the command line or for Python."""
    named = [(metric, f"{weight:.6g}") for metric, weight in table.by_objective(weights).items()]
    flags = " ".join(option("weight", f"{metric}={weight}") for metric, weight in named)
    mapping = ", ".join(f"{metric!r}: {weight}" for metric, weight in named)
    return f"for example {option('p', f'{p:g}')} " + interface_text(flags, f"weight={{{mapping}}}")


def _reading_guide(explanation: CopaExplanation) -> Line:
    """Return a line that explains how to read the table."""
    whole = "the largest weighted rank" if np.isinf(explanation.ranking.p) else "the norm's p-th power"
    text = (
        "top-% is the share of the other models with a better value. The weighted rank is this share times "
        f"the weight; the next column gives it in percent of {whole}. The last column has the weights for "
        "which the model would be chosen, if the other weights keep their proportions."
    )
    return Line(text, "Reading:")
