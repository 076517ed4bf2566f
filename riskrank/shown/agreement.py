"""How far ranking methods agree, and how steady they are with fewer samples."""

from __future__ import annotations

import numpy as np

from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.stability import Stability
from riskrank.shown.view import Column, Table


def agreement_table(study: MethodStudy) -> Table:
    """Kendall's tau between all methods; columns are numbered like the rows."""
    columns = [Column("", "left"), *(Column(str(at + 1)) for at in range(len(study.rankings)))]
    rows = []
    for at, name in enumerate(study.rankings):
        cells = ["·" if at == other else f"{tau:.2f}" for other, tau in enumerate(study.agreement[at])]
        rows.append((f"{at + 1} {name}", *cells))
    return Table("Agreement of the methods' orders (Kendall's tau)", tuple(columns), tuple(rows))


def stability_table(found: Stability) -> Table:
    """Mean and spread of Kendall's tau by method and subsample size."""
    columns = (Column("method", "left"), *(Column(f"n = {size:,}") for size in found.sizes))
    rows = tuple(
        (method, *(_spread(tau) for tau in by_size))
        for method, by_size in zip(found.methods, found.tau, strict=True)
    )
    repeats = found.tau.shape[2]
    title = f"Stability: Kendall's tau to the ranking on all samples, {repeats} subsamples a size (mean ± sd)"
    return Table(title, columns, rows)


def _spread(tau: np.ndarray) -> str:
    return f"{tau.mean():.3f} ± {tau.std(ddof=1):.3f}" if len(tau) > 1 else f"{tau.mean():.3f}"
