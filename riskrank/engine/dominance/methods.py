"""Ranking methods, named as in [RAB]: a statistic and the scope (column of scores) it is computed on.

For example, ``R-SSD@P(IC)`` is a statistic on a portfolio. ``RA(R-SSD@M)`` aggregates the rankings by all
metrics. ``RA(MRM@P(IC))`` aggregates the rankings of all consistent mean-risk models on a portfolio.
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
    """A ranking method: a statistic and its scope.

    Attributes
    ----------
    statistic : str
        ``R-FSD``, ``R-SSD``, ``FSD(τ)``, ``SSD(τ)``, the name of a win rate, or ``MRM`` (mean-risk models).
    scope : str
        ``P(IC)`` or ``P(EC)`` for a portfolio, ``M`` for an aggregation over all metrics, or the name of a
        metric.
    claim : Claim or None
        Claim tested by a dominance statistic; None for other statistics.
    """

    statistic: str
    scope: str
    claim: Claim | None = None

    @property
    def aggregated(self) -> bool:
        """True if the method aggregates several rankings into one."""
        return self.scope == METRICS or self.statistic == MEAN_RISK

    @property
    def name(self) -> str:
        """Full name of the method in the notation of [RAB], such as ``R-SSD@P(IC)``."""
        plain = f"{self.statistic}@{self.scope}"
        return f"RA({plain})" if self.aggregated else plain


def methods_for_scope(
    scope: str, claims: Sequence[Claim], *, paired: bool, mean_risk: bool = False
) -> list[Method]:
    """Return all methods for one scope: tests of all claims, win rates and, if requested, mean-risk models.

    `scope` is a portfolio, ``M`` (all metrics) or a metric. Some win rates are only defined for paired
    samples.
    """
    methods = [Method(claim.method, scope, claim) for claim in claims]
    methods += [Method(rate, scope) for rate in WIN_RATES if paired or rate == MODEL_WIN_RATE]
    return methods + ([Method(MEAN_RISK, scope)] if mean_risk else [])


def parse_method(text: str, *, default_scope: str, metrics: Sequence[str] = ()) -> Method:
    """Parse the name of a ranking method (`text`), such as ``R-SSD@P(IC)``.

    A scope is a portfolio, ``M`` (all metrics) or one of `metrics`. A name without a scope gets
    `default_scope`.

    Raises
    ------
    UsageError
        If there is no method of that name.
    """
    aggregated = _AGGREGATED.fullmatch(text)
    if aggregated:
        statistic, scope = aggregated.groups()
    else:
        statistic, _, scope = text.partition("@")
    method = Method(statistic, scope or default_scope)
    if method.scope not in (INDEPENDENT, EMPIRICAL, METRICS, *metrics):
        raise _unknown_method(text)
    if statistic not in (*WIN_RATES, MEAN_RISK):
        dominance = _DOMINANCE.fullmatch(statistic)
        if dominance is None or bool(dominance[1]) != (dominance[3] is None):
            raise _unknown_method(text)
        try:
            threshold = None if dominance[3] is None else float(dominance[3])
        except ValueError:
            raise _unknown_method(text) from None
        kind = RELATIVE if threshold is None else ABSOLUTE
        claim = Claim(1 if dominance[2] == "F" else 2, kind, threshold)
        method = Method(claim.method, method.scope, claim)
    if bool(aggregated) != method.aggregated and scope:
        raise _unknown_method(text)
    return method


def _unknown_method(text: str) -> UsageError:
    """Return an error for an unknown method name, with a suggestion."""
    examples = ["R-FSD@P(IC)", "R-SSD@P(IC)", "FSD(0.25)@P(IC)", "SSD(0.25)@P(IC)", "R-SSD@P(EC)"]
    examples += ["MWR@P(IC)", "RA(R-SSD@M)", "RA(MWR@M)", "RA(MRM@P(IC))", "RA(MRM@M)"]
    hint = did_you_mean(text, examples, fallback=f"methods: {listing(examples, most=len(examples))}")
    return UsageError(f"{option('method', text)} is not a known method", found=text, hint=hint)
