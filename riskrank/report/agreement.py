"""How far ranking methods agree, and how steady they are with fewer samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.stability import Stability
from riskrank.report.view import Column, Table


def agreement_entry(study: MethodStudy) -> dict[str, Any]:
    """Kendall's tau between all methods, for ``meta``."""
    return {"methods": list(study.rankings), "kendall_tau": study.agreement.tolist()}


def agreement_table(study: MethodStudy) -> Table:
    """Kendall's tau between all methods; columns are numbered like the rows."""
    columns = [Column("", "left"), *(Column(str(at + 1)) for at in range(len(study.rankings)))]
    rows = []
    for at, name in enumerate(study.rankings):
        cells = ["·" if at == other else f"{tau:.2f}" for other, tau in enumerate(study.agreement[at])]
        rows.append((f"{at + 1} {name}", *cells))
    return Table("Agreement of the methods' orders (Kendall's tau)", tuple(columns), tuple(rows))


def stability_entries(found: Stability | None) -> list[dict[str, Any]] | None:
    """Mean and spread of the agreement with the full-sample ranking, for ``meta``."""
    if found is None:
        return None
    return [
        {
            "method": method,
            "size": size,
            "kendall_tau_mean": float(tau.mean()),
            "kendall_tau_sd": float(tau.std(ddof=1)) if len(tau) > 1 else None,
            "repeats": len(tau),
        }
        for method, by_size in zip(found.methods, found.tau, strict=True)
        for size, tau in zip(found.sizes, by_size, strict=True)
    ]


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
