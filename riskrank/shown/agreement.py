"""How far ranking methods agree, and how steady they are with fewer samples."""

from __future__ import annotations

from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.stability import Stability
from riskrank.shown.view import Column, Table
from riskrank.studies.rounding import typeset


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
