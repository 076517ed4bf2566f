"""Screen of COPA's option ``why``: the explanation of one model's rank."""

from collections.abc import Iterator

import numpy as np

from riskrank.engine.copa.explanation import CopaExplanation
from riskrank.engine.types import Floats
from riskrank.errors import interface_text, listing, option
from riskrank.render import numbers
from riskrank.render.view import Cell, Column, Line, ModelColumn, Section, Table, build_table
from riskrank.studies.copa.explanation import ExplanationDocument
from riskrank.studies.copa.objectives import Objectives

_MOST_NAMES = 5


def build_sections(document: ExplanationDocument) -> Iterator[Section]:
    """Yield the objectives of the model, the reasons for its rank, and the weights that would choose it."""
    table, explanation = document.objectives, document.explanation
    yield _objective_table(document)
    yield Line(_describe_rank(document), "Place:")
    yield Line(_describe_binding(table, explanation), "Binding:")
    if document.violated_constraints:
        text = f"it does not meet {' and '.join(document.violated_constraints)}, so no weights choose it."
        yield Line(text, "Infeasible:", "yellow")
    yield _dominance_line(document)
    if explanation.model != explanation.ranking.chosen and table.population.front[explanation.model]:
        yield from _choosing_lines(document)
    yield _reading(explanation)


def _objective_table(document: ExplanationDocument) -> Table:
    """Return a table of the explained model's objectives."""
    table, explanation, i = document.objectives, document.explanation, document.explanation.model
    share = "of the\nlargest" if np.isinf(explanation.ranking.p) else "of the\nnorm^p"
    values, u = table.values[i], table.population.u[i]
    metrics, larger_is_better = table.population.metrics, table.larger_is_better

    def styled(k: int, text: str) -> Cell:
        return Cell(text, "yellow" if k in explanation.binding else "green" if u[k] == 0 else "")

    columns: list[ModelColumn] = [
        (Column("objective", "left"), lambda k: f"{metrics[k]} {'↑' if larger_is_better[k] else '↓'}"),
        (Column("value"), lambda k: "missing" if np.isnan(values[k]) else numbers.format_score(values[k])),
        (Column("top-%"), lambda k: styled(k, numbers.format_top_share(u[k]))),
        (Column("weight"), lambda k: numbers.format_ratio(table.weights[k])),
        (Column("weighted\nrank"), lambda k: numbers.format_score(explanation.weighted[k])),
        (Column(share), lambda k: styled(k, f"{100 * explanation.contribution[k]:.0f} %")),
        (Column("chosen for\nweights", "left"), lambda k: _format_ranges(document, k, 2)),
    ]
    title = f"{table.name(i)}, p = {numbers.format_order(explanation.ranking.p)}"
    return build_table(title, columns, range(len(metrics)))


def _format_ranges(document: ExplanationDocument, k: int, limit: int) -> str:
    """Format the ranges of an objective's weight for which the model is chosen."""
    ranges = [numbers.format_ratio_interval(*interval) for interval in document.intervals(k)]
    return listing(ranges, limit) if ranges else "–"


def _describe_rank(document: ExplanationDocument) -> str:
    """Describe the rank and the norm of the explained model."""
    table, explanation = document.objectives, document.explanation
    i, ranking = explanation.model, explanation.ranking
    norm = numbers.format_score(ranking.norm[i])
    if i == ranking.chosen:
        return f"chosen among {len(ranking.order):,} models, norm {norm}."
    chosen = (
        f"{table.name(ranking.chosen)} is chosen with {numbers.format_score(ranking.norm[ranking.chosen])}"
    )
    if not ranking.rank[i]:
        return f"no rank, because it does not meet the constraints; norm {norm}, {chosen}."
    tied = ranking.tied_with(i)
    text = f"rank {ranking.rank[i]:,} of {len(ranking.order):,}, norm {norm}; {chosen}."
    if len(tied):
        text += f" Models with the same norm: {listing((table.name(j) for j in tied), _MOST_NAMES)}."
    return text


def _describe_binding(table: Objectives, explanation: CopaExplanation) -> str:
    """Describe the objectives that contribute most to the norm."""
    if not (explanation.weighted > 0).any():
        return "none: no model is better on any objective with a positive weight."
    names = listing(table.population.metrics[k] for k in explanation.binding)
    if np.isinf(explanation.ranking.p):
        return f"{names}. At p = ∞ only the worst weighted rank counts; others have no effect."
    share = 100 * explanation.contribution[explanation.binding].sum()
    return f"{names}, {share:.0f} % of the norm; improving there helps most."


def _dominance_line(document: ExplanationDocument) -> Line:
    """Return a line about the models that dominate the explained model."""
    table, explanation = document.objectives, document.explanation
    if table.population.front[explanation.model]:
        return Line("no model is at least as good on all objectives and better on one.", "Front:")
    if not len(explanation.dominators):
        return Line("no model that meets the constraints dominates it.", "Front:")
    verb = "is" if len(explanation.dominators) == 1 else "are"
    names = listing((table.name(j) for j in explanation.dominators), _MOST_NAMES)
    text = (
        f"{names} {verb} at least as good on all objectives and better on one. Therefore "
        "no positive weights choose this model, at any p."
    )
    return Line(text, "Dominated:", "yellow")


def _choosing_lines(document: ExplanationDocument) -> Iterator[Line]:
    """Yield lines about the weights that would choose the model, if it is on the front."""
    table, explanation, p = document.objectives, document.explanation, document.explanation.ranking.p
    if explanation.weights is not None:
        yield Line(_describe_weights(table, explanation.weights, p), "To be chosen:", "green")
    elif document.worst_case_weights is not None:
        alternative = _describe_weights(table, document.worst_case_weights, np.inf)
        yield Line(f"no weights choose it at p = {p:g}, but {alternative}", "To be chosen:", "yellow")
    else:
        text = "no weights choose it, because a model with the same values comes first by name."
        yield Line(text, "To be chosen:", "yellow")
    single_weights = [
        f"{metric} {_format_ranges(document, k, 3)}"
        for k, metric in enumerate(table.population.metrics)
        if document.intervals(k)
    ]
    text = (
        "changing one weight, with the others in proportion, chooses it for "
        + listing(single_weights, 4)
        + "."
    )
    if not single_weights:
        text = "changing one weight, with the others in proportion, never chooses it."
    yield Line(text, "One weight:")


def _describe_weights(table: Objectives, weights: Floats, p: float) -> str:
    """Return the options that set the weights and p, for the command line or for Python."""
    named = [(metric, f"{weight:.6g}") for metric, weight in table.by_objective(weights).items()]
    flags = " ".join(option("weight", f"{metric}={weight}") for metric, weight in named)
    mapping = ", ".join(f"{metric!r}: {weight}" for metric, weight in named)
    return f"for example {option('p', f'{p:g}')} " + interface_text(flags, f"weight={{{mapping}}}")


def _reading(explanation: CopaExplanation) -> Line:
    """Return a line that explains how to read the table."""
    power = "as a share of the norm's p-th power"
    share = "compared with the largest of them" if np.isinf(explanation.ranking.p) else power
    text = (
        "top-% is the share of other models with a better value. Times its weight, it is the weighted rank, "
        f"then {share}. The last column has the weights of the objective for which the model would be "
        "chosen, with the others in proportion."
    )
    return Line(text, "Reading:")
