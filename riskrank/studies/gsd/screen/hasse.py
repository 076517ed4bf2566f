"""Hasse diagrams: in words for people, as DOT for Graphviz."""

from collections.abc import Sequence

from riskrank.engine.gsd.analysis import GsdAnalysis
from riskrank.render.escapes import visible
from riskrank.render.text_charts import hasse_rows
from riskrank.render.view import Cell, Column, OfModel, Table, by_row


def hasse_table(study: GsdAnalysis, models: Sequence[str], *, title: str) -> Table:
    """A row a node, from the top; models of equal utility share a node."""
    hasse = study.hasse
    names = _node_names(study, models)
    order = sorted(range(len(hasse.nodes)), key=lambda node: (hasse.levels[node], node))
    drawn = dict(zip(order, hasse_rows(hasse.edges, order), strict=True))

    def below(node: int) -> str:
        return ", ".join(names[lower] for upper, lower in hasse.edges if upper == node) or "–"

    columns: list[OfModel] = [
        (Column("level"), lambda node: str(hasse.levels[node] + 1)),
        (Column("model", "left"), lambda node: Cell(names[node], "" if hasse.levels[node] else "bold")),
        (Column("directly over", "left"), below),
        (Column("diagram", "left", only="terminal"), drawn.__getitem__),
    ]
    return by_row(title, columns, order, stub=2)


def to_dot(studies: Sequence[GsdAnalysis], models: Sequence[str]) -> str:
    """Write the diagrams in the DOT language, a graph a threshold.

    Where there are tests, edges that are not significant are dashed.
    """
    return "".join(_graph(study, models) for study in studies)


def _graph(study: GsdAnalysis, models: Sequence[str]) -> str:
    share = study.threshold.share
    title = f"delta = {study.threshold.delta:g}" if share is None else f"regularization = {share:g}"
    lines = [f"digraph {_quoted(title)} {{", "  node [shape = box];", "  edge [dir = none];"]
    lines += [f"  n{node} [label = {_quoted(name)}];" for node, name in enumerate(_node_names(study, models))]
    for (upper, lower), sure in zip(study.hasse.edges, study.significant_edges, strict=True):
        style = " [style = dashed]" if study.tests and not sure else ""
        lines.append(f"  n{upper} -> n{lower}{style};")
    for level in sorted(set(study.hasse.levels)):
        together = " ".join(f"n{node};" for node, at in enumerate(study.hasse.levels) if at == level)
        lines.append(f"  {{ rank = same; {together} }}")
    return "\n".join(lines) + "\n}\n"


def _node_names(study: GsdAnalysis, models: Sequence[str]) -> list[str]:
    return [" = ".join(models[i] for i in node) for node in study.hasse.nodes]


def _quoted(text: str) -> str:
    escaped = visible(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
