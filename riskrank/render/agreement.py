"""Tables of the agreement of rankings, their stability under subsampling, and their aggregation."""

from collections.abc import Mapping

from riskrank.engine.aggregation.rank_aggregation import Aggregation
from riskrank.engine.dominance.method_rankings import MethodStudy, Stability
from riskrank.render.view import Column, Line, Table, column_heads
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.wording import typeset

_DISTANCES = {
    "kemeny": "Kemeny's distance",
    "footrule": "Spearman's footrule",
    "pearson": "Pearson's distance",
    "borda": "Borda's squared distance",
}


def agreement_table(study: MethodStudy) -> Table:
    """Return a table of Kendall's tau between all methods, with columns numbered like the rows."""
    columns = [Column("", "left"), *(Column(str(i + 1)) for i in range(len(study.rankings)))]
    rows = []
    for i, name in enumerate(study.rankings):
        cells = [typeset(f"{tau:.2f}") for tau in study.agreement[i]]
        cells[i] = "·"
        rows.append((f"{i + 1} {name}", *cells))
    return Table("Agreement of the methods' rankings (Kendall's tau)", tuple(columns), tuple(rows))


def stability_table(stability: Stability) -> Table:
    """Return a table of the mean and standard deviation of Kendall's tau, by method and subsample size."""
    columns = (Column("method", "left"), *(Column(f"n = {size:,}") for size in stability.sizes))
    mean, sd = stability.mean, stability.sd
    rows = []
    for m, method in enumerate(stability.methods):
        cells = [f"{value:.3f} ± {spread:.3f}" for value, spread in zip(mean[m], sd[m], strict=True)]
        rows.append((method, *map(typeset, cells)))
    repeats = f"{stability.repeats} subsamples per size (mean ± sd)"
    return Table(f"Stability: Kendall's tau with the ranking on all samples, {repeats}", columns, tuple(rows))


def ranking_agreement_table(name: str, ranking: RankDocument, rankings: RankDocument, varied: str) -> Table:
    """Return a table of the agreement between one ranking and other rankings of the same models.

    Each row lists the other ranking's leaders, Kendall's tau, and the number of models whose rank differs.

    Parameters
    ----------
    name : str
        Name of the reference ranking.
    ranking : RankDocument
        Document with the reference ranking.
    rankings : RankDocument
        Document with the rankings to compare.
    varied : {"method", "metric"}
        Property in which the rankings differ.
    """
    reference, models = ranking.study.rankings[name], ranking.provenance.models
    tau = list(rankings.agreement_with(reference).values())
    candidates = {
        label if varied == "method" else label.partition("@")[2]: candidate
        for label, candidate in rankings.study.rankings.items()
    }
    rows = []
    for (label, candidate), agreement in zip(candidates.items(), tau, strict=True):
        first = [models[i] for i in candidate.order if candidate.rank[i] == 1]
        leaders = ", ".join(first[:3]) + (" …" if len(first) > 3 else "")
        rows.append(
            (label, leaders, typeset(f"{agreement:.2f}"), str(int((candidate.rank != reference.rank).sum())))
        )
    columns = column_heads(varied, "first", right=(f"Kendall's τ to\n{name}", "other\nranks"))
    return Table(f"Agreement with the ranking, {varied} by {varied}", columns, tuple(rows))


def aggregation_lines(aggregations: Mapping[str, Aggregation]) -> list[Line]:
    """Return one line per rank aggregation, with its distance and the aggregate order."""
    lines = []
    for name, aggregation in aggregations.items():
        distance = f"{_DISTANCES[aggregation.method]} (mean {aggregation.mean_distance:.4g})"
        lines.append(Line(f"aggregates several rankings by {distance}: {aggregation.choice}.", f"{name}:"))
    return lines
