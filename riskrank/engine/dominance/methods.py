"""Ranking methods by the names [RAB] gives them: a statistic, and the scores it is computed on.

``R-SSD@P(IC)`` is a statistic on a portfolio; ``RA(R-SSD@M)`` aggregates its rankings on every metric;
``RA(MRM@P(IC))`` aggregates the rankings of all consistent mean-risk models on a portfolio.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from riskrank.engine.dominance.column_ranking import MODEL_WIN_RATE, PAIRWISE_WIN_RATE, SAMPLE_WIN_RATE
from riskrank.engine.dominance.inference import ABSOLUTE, RELATIVE, Claim
from riskrank.engine.portfolio.score_tables import EMPIRICAL, INDEPENDENT
from riskrank.errors import UsageError, did_you_mean, listing, option

MEAN_RISK = "MRM"
METRICS = "M"
WIN_RATES = (MODEL_WIN_RATE, SAMPLE_WIN_RATE, PAIRWISE_WIN_RATE)

_DOMINANCE = re.compile(r"(R-)?([FS])SD(?:\(([0-9.eE+-]+)\))?")
_AGGREGATED = re.compile(r"RA\((.+)@(.+)\)")


@dataclass(frozen=True)
class Method:
    """A statistic and its scope.

    Attributes
    ----------
    statistic : str
        ``R-FSD``, ``R-SSD``, ``FSD(τ)``, ``SSD(τ)``, one of the win rates, or ``MRM``.
    scope : str
        ``P(IC)``, ``P(EC)``, ``M`` for an aggregation over all metrics, or one metric's name.
    claim : Claim or None
        The claim behind a dominance statistic.
    """

    statistic: str
    scope: str
    claim: Claim | None = None

    @property
    def aggregated(self) -> bool:
        """Whether several rankings become one."""
        return self.scope == METRICS or self.statistic == MEAN_RISK

    @property
    def name(self) -> str:
        """Name as the paper writes it."""
        plain = f"{self.statistic}@{self.scope}"
        return f"RA({plain})" if self.aggregated else plain


def methods_on(scope: str, claims: Sequence[Claim], *, paired: bool, mean_risk: bool = False) -> list[Method]:
    """All methods on one scope: every claim, the win rates, and mean-risk models if wanted."""
    found = [Method(claim.method, scope, claim) for claim in claims]
    found += [Method(rate, scope) for rate in WIN_RATES if paired or rate == MODEL_WIN_RATE]
    return found + ([Method(MEAN_RISK, scope)] if mean_risk else [])


def parse_method(text: str, *, default_scope: str, metrics: Sequence[str] = ()) -> Method:
    """Read a method's name; a statistic alone is taken on the default scope.

    A scope is a portfolio, ``M``, or one of ``metrics``.

    Raises
    ------
    UsageError
        If the name is none that [RAB] or riskrank uses.
    """
    aggregated = _AGGREGATED.fullmatch(text)
    if aggregated:
        statistic, scope = aggregated.groups()
    else:
        statistic, _, scope = text.partition("@")
    method = _method(text, statistic, scope or default_scope, metrics)
    if bool(aggregated) != method.aggregated and scope:
        raise _unknown(text)
    return method


def _method(text: str, statistic: str, scope: str, metrics: Sequence[str]) -> Method:
    if scope not in (INDEPENDENT, EMPIRICAL, METRICS, *metrics):
        raise _unknown(text)
    if statistic in (*WIN_RATES, MEAN_RISK):
        return Method(statistic, scope)
    dominance = _DOMINANCE.fullmatch(statistic)
    if dominance is None or bool(dominance[1]) != (dominance[3] is None):
        raise _unknown(text)
    try:
        threshold = None if dominance[3] is None else float(dominance[3])
    except ValueError:
        raise _unknown(text) from None
    kind = RELATIVE if threshold is None else ABSOLUTE
    claim = Claim(1 if dominance[2] == "F" else 2, kind, threshold)
    return Method(claim.method, scope, claim)


def _unknown(text: str) -> UsageError:
    examples = [
        "R-FSD@P(IC)",
        "R-SSD@P(IC)",
        "FSD(0.25)@P(IC)",
        "SSD(0.25)@P(IC)",
        "R-SSD@P(EC)",
        "MWR@P(IC)",
        "RA(R-SSD@M)",
        "RA(MWR@M)",
        "RA(MRM@P(IC))",
        "RA(MRM@M)",
    ]
    return UsageError(
        f"{option('method', text)} is no method",
        found=text,
        hint=did_you_mean(text, examples, otherwise=f"methods: {listing(examples, most=len(examples))}"),
    )
