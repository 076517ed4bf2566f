"""Hasse diagrams as terminal tables, and in the DOT language for Graphviz."""

from collections.abc import Sequence

from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.render.escapes import escape_controls
from riskrank.render.text_charts import hasse_rows
from riskrank.render.view import Cell, Column, ModelColumn, Table, build_table


def hasse_table(analysis: GsdAnalysis, models: Sequence[str], *, title: str) -> Table:
    """Return a table with one row per node, from top to bottom.

    Models with equal utility share a node.
    """
    hasse = analysis.hasse
    names = _node_names(analysis, models)
    order = sorted(range(len(hasse.nodes)), key=lambda node: (hasse.levels[node], node))
    diagrams = dict(zip(order, hasse_rows(hasse.edges, order), strict=True))

    def below(node: int) -> str:
        return ", ".join(names[lower] for upper, lower in hasse.edges if upper == node) or "–"

    columns: list[ModelColumn] = [
        (Column("level"), lambda node: str(hasse.levels[node] + 1)),
        (Column("model", "left"), lambda node: Cell(names[node], "" if hasse.levels[node] else "bold")),
        (Column("directly over", "left"), below),
        (Column("diagram", "left", medium="terminal"), diagrams.__getitem__),
    ]
    return build_table(title, columns, order, stub=2)


def to_dot(analyses: Sequence[GsdAnalysis], models: Sequence[str]) -> str:
    """Return the diagrams in the DOT language, one graph per threshold.

    If there are tests, edges that are not significant are dashed.
    """
    return "".join(_graph(analysis, models) for analysis in analyses)


def _graph(analysis: GsdAnalysis, models: Sequence[str]) -> str:
    """Return one Hasse diagram as a DOT graph."""
    share = analysis.threshold.share
    title = f"delta = {analysis.threshold.delta:g}" if share is None else f"regularization = {share:g}"
    lines = [f"digraph {_quote_dot(title)} {{", "  node [shape = box];", "  edge [dir = none];"]
    lines += [
        f"  n{node} [label = {_quote_dot(name)}];" for node, name in enumerate(_node_names(analysis, models))
    ]
    for (upper, lower), significant in zip(analysis.hasse.edges, analysis.significant_edges, strict=True):
        style = " [style = dashed]" if analysis.tests and not significant else ""
        lines.append(f"  n{upper} -> n{lower}{style};")
    for level in sorted(set(analysis.hasse.levels)):
        same_level = " ".join(f"n{node};" for node, at in enumerate(analysis.hasse.levels) if at == level)
        lines.append(f"  {{ rank = same; {same_level} }}")
    return "\n".join(lines) + "\n}\n"


def _node_names(analysis: GsdAnalysis, models: Sequence[str]) -> list[str]:
    """Return the label of each node, such as ``A = B`` for models with equal utility."""
    return [" = ".join(models[i] for i in node) for node in analysis.hasse.nodes]


def _quote_dot(text: str) -> str:
    """Return a text as a quoted DOT string."""
    escaped = escape_controls(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
