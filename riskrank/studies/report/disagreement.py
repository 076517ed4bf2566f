"""Where other methods would decide otherwise than the ranking of a report, in a sentence or two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from riskrank.engine.dominance.ranking import Ranking
from riskrank.studies.rank.document import RankDocument
from riskrank.studies.rounding import typeset
from riskrank.studies.wording import names

# Kendall's tau below which two orders have little to do with each other.
_UNRELATED = 0.5


def disagreement(methods: RankDocument, ranking: RankDocument) -> Iterator[str]:
    """Say which other copula, and how many other methods, put another model first or order them otherwise.

    Parameters
    ----------
    methods : RankDocument
        Ranks by every method.
    ranking : RankDocument
        The ranking, by relative second-order dominance.
    """
    leading = next(name for name in ranking.study.rankings if name.startswith("R-SSD@"))
    own, models, rankings = ranking.study.rankings[leading], ranking.provenance.models, methods.study.rankings
    tau = {name: one for name, one in methods.agreement_with(own).items() if name != leading}
    apart = [name for name, one in tau.items() if one < _UNRELATED or rankings[name].rank[own.order[0]] != 1]
    if not apart:
        return
    copulas = [name for name in apart if name.startswith("R-SSD@")]
    for name in copulas:
        yield f"With the other copula {_first_by(name, rankings[name], tau[name], models)}."
    text = f"{len(apart)} of {len(tau)} other methods put another model first or have Kendall's τ below "
    furthest = min(apart, key=lambda name: tau[name])
    most = (
        "" if copulas else f"; furthest off, {_first_by(furthest, rankings[furthest], tau[furthest], models)}"
    )
    yield f"{text}{_UNRELATED:g}{most}."


def _first_by(method: str, found: Ranking, tau: float, models: Sequence[str]) -> str:
    first = [models[i] for i in found.order if found.rank[i] == 1]
    said = typeset(f"{tau:.2f}")
    verb = "ranks" if len(first) == 1 else "rank"
    return f"{names(first, 3)} {verb} first ({method}; Kendall's τ to this ranking {said})"
