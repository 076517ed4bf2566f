"""How far rankings agree, how steady they are with fewer samples, and how several were made one."""

from collections.abc import Mapping

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.dominance.method_rankings import MethodStudy, Stability
from riskrank.render.view import Column, Line, Table, headed
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.wording import typeset

_DISTANCES = {
    "kemeny": "Kemeny's distance",
    "footrule": "Spearman's footrule",
    "pearson": "Pearson's distance",
    "borda": "Borda's squared distance",
}


def agreement_table(study: MethodStudy) -> Table:
    """Kendall's tau between all methods; columns are numbered like the rows."""
    columns = [Column("", "left"), *(Column(str(at + 1)) for at in range(len(study.rankings)))]
    rows = []
    for at, name in enumerate(study.rankings):
        cells = [typeset(f"{tau:.2f}") for tau in study.agreement[at]]
        cells[at] = "·"
        rows.append((f"{at + 1} {name}", *cells))
    return Table("Agreement of the methods' orders (Kendall's tau)", tuple(columns), tuple(rows))


def stability_table(found: Stability) -> Table:
    """Mean and spread of Kendall's tau by method and subsample size."""
    columns = (Column("method", "left"), *(Column(f"n = {size:,}") for size in found.sizes))
    mean, sd = found.mean, found.sd
    rows = []
    for m, method in enumerate(found.methods):
        spread = [""] * len(found.sizes) if sd is None else [f" ± {value:.3f}" for value in sd[m]]
        told = [f"{value:.3f}{more}" for value, more in zip(mean[m], spread, strict=True)]
        rows.append((method, *map(typeset, told)))
    about = f"{found.repeats} subsamples a size (mean ± sd)"
    return Table(f"Stability: Kendall's tau to the ranking on all samples, {about}", columns, tuple(rows))


def agreement_with(name: str, ranking: RankDocument, others: RankDocument, what: str) -> Table:
    """Agreement of one ranking with others, whose ranks a picture shows.

    Parameters
    ----------
    name : str
        Of the one ranking, which gives the order of models.
    ranking, others : RankDocument
    what : str
        What the others differ in: ``method`` or ``metric``.
    """
    own, models = ranking.study.rankings[name], ranking.provenance.models
    tau = list(others.agreement_with(own).values())
    shown = {
        other if what == "method" else other.partition("@")[2]: found
        for other, found in others.study.rankings.items()
    }
    rows = []
    for (other, found), agreement in zip(shown.items(), tau, strict=True):
        first = [models[i] for i in found.order if found.rank[i] == 1]
        leaders = ", ".join(first[:3]) + (" …" if len(first) > 3 else "")
        rows.append((other, leaders, typeset(f"{agreement:.2f}"), str(int((found.rank != own.rank).sum()))))
    columns = headed(what, "first", right=(f"Kendall's τ to\n{name}", "other\nranks"))
    return Table(f"Agreement with the ranking, {what} by {what}", columns, tuple(rows))


def aggregation_lines(aggregations: Mapping[str, Aggregation]) -> list[Line]:
    """One line an aggregation."""
    lines = []
    for name, found in aggregations.items():
        by = f"{_DISTANCES[found.method]} (mean {found.mean_distance:.4g})"
        lines.append(Line(f"joins several orders by {by}: {found.choice}.", f"{name}:"))
    return lines
