"""What ``rank`` finds: a row a method and model, and what the tests and the resamples say of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from riskrank.engine.aggregation.agreement import kendall_tau
from riskrank.engine.dominance.method_rankings import MethodStudy
from riskrank.engine.dominance.ranking import Ranking
from riskrank.engine.judges.tails import tail_values
from riskrank.engine.sampling.design import FEW_SAMPLES
from riskrank.engine.types import Floats, Integers
from riskrank.studies.groups.study import Standing
from riskrank.studies.rank.context import Tail, WorseCases
from riskrank.studies.rank.entries import agreement, hidden_risks, recommendations, separations
from riskrank.studies.rank.leader import Leading
from riskrank.studies.settings import described_aggregation
from riskrank.studies.targets import Units
from riskrank.studies.tested_document import TestedDocument

if TYPE_CHECKING:
    from riskrank.engine.dominance.method_rankings import Stability
    from riskrank.engine.portfolio.summary import Summary


CLEAR, TIED, DISAGREEMENT, FEW, TRADE = "clear", "tied", "disagreement", "too few samples", "trade"
NOT_DECIDED, NOT_TESTED, DOUBTFUL = "not decided", "not tested", "doubtful labels"

MEANING = {
    CLEAR: "the first is significantly better than every other",
    TIED: "not shown who is best: collect more samples before shipping one",
    DISAGREEMENT: "no model is shown to be best: the tests do not agree on the first",
    TRADE: "the tests show differences; which model is best depends on what counts more",
    FEW: f"fewer than {FEW_SAMPLES} do not tell who is best: collect more before shipping one",
    NOT_DECIDED: "more resamples would tell whether the first is ahead",
    NOT_TESTED: "the order is that of these samples, and nothing says how sure it is",
    DOUBTFUL: "the first is ahead if the labels were chosen by chance, and they do not look so",
}
"""Every word with what it says, no more."""


def certainty(columns: Collection[Leading]) -> str:
    """The word for the first models of one or more columns of scores.

    Parameters
    ----------
    columns : collection of Leading
        None where only aggregated ranks are told, which no test is about.

    Returns
    -------
    str
    """
    if not columns or not all(one.tested for one in columns):
        return NOT_TESTED
    refuted = any(one.refuted for one in columns)
    # Models that no first of any column is ahead of: without one, no model can be the first of all.
    left = [{one.first, *one.identical, *one.level, *one.undecided} for one in columns]
    if refuted or not set.intersection(*left):
        return DISAGREEMENT
    if any((one.level and not one.trade) or not one.others for one in columns):
        few = min(one.scores.effective_size for one in columns) < FEW_SAMPLES
        return FEW if few else TIED
    if any(one.undecided or one.undecided_tails for one in columns):
        return NOT_DECIDED
    if any(one.trade for one in columns):
        return TRADE
    return CLEAR if all(one.by_chance for one in columns) else DOUBTFUL


@dataclass(frozen=True, slots=True)
class RankRow:
    """One model's place by one method.

    ``rank_low`` and ``rank_high`` are its rank set; ``mean``, ``tvar`` (the mean of its worst share) and the
    difference of its mean to the method's first model are in the units of the file, or of the portfolio;
    ``group`` is None for all samples together.
    """

    method: str
    model: str
    rank: int
    rank_low: int | None
    rank_high: int | None
    wins: int | None
    losses: int | None
    tier: int | None
    score: float
    mean: float | None
    tvar: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    decided: bool | None
    group: str | None = None


# Fields of a row that are entries of a ranking's arrays of the same name.
PLACES = ("rank", "rank_low", "rank_high", "wins", "losses", "tier", "score")


@dataclass(frozen=True, kw_only=True)
class RankDocument(TestedDocument[RankRow], schema="rank"):
    """Rankings by one or more methods.

    Attributes
    ----------
    study : MethodStudy
    steady : Stability or None
    units : dict of str to Units
        Of the columns of scores that were ranked, and of every metric.
    leading : dict of str to Leading
        By column: its most careful method, and what the evidence says of that method's first model.
    marks : dict of str to dict of int to str
        By column: models to look at twice, and why.
    worse_cases : dict of str to WorseCases or None
        By column: the first's worst cases on a metric, where they speak against it or are hidden.
    tails : dict of str to Tail
        By column: means of the models' worst shares.
    methods_asked : bool
        Whether somebody named methods, so that they are to be seen beside each other.
    top : int or None
        Models shown by each method, where somebody chose.
    """

    study: MethodStudy
    steady: Stability | None
    units: Mapping[str, Units]
    leading: Mapping[str, Leading]
    marks: Mapping[str, Mapping[int, str]]
    worse_cases: Mapping[str, WorseCases | None]
    tails: Mapping[str, Tail]
    methods_asked: bool
    top: int | None

    @property
    def question(self) -> str:
        """Which model."""
        return f"Which of {len(self.about)} models?"

    @property
    def certainty(self) -> str:
        """How sure it is that the first is first."""
        return certainty(self.leading.values())

    @property
    def lead(self) -> Leading:
        """The first column of scores, mostly the only one."""
        return next(iter(self.leading.values()))

    def meta(self) -> Mapping[str, Any]:
        """Certainty, separation, hidden risks, aggregations, agreement, stability and groups."""
        models = self.provenance.models
        return {
            "certainty": self.certainty,
            "recommendations": [*recommendations(self.leading, models, self.units, self.means)],
            "separation": [*separations(self.study)],
            "hidden_risks": [*hidden_risks(self.study, models, self.units)],
            "aggregations": [
                described_aggregation(name, found, models) for name, found in self.study.aggregations.items()
            ],
            "agreement": {
                "methods": list(self.study.rankings),
                "kendall_tau": self.study.agreement.tolist(),
            },
            "stability": None if self.steady is None else [*agreement(self.steady)],
            **super().meta(),
        }

    def curves(self, column: str) -> Summary:
        """Quantile functions of all models on a column, and means of worst shares as tests estimate them."""
        from riskrank.engine.portfolio.summary import curves

        scores = self.study.columns[column]
        found = curves(scores.values, scores.weights)
        if not scores.judged:
            return found
        return replace(found, tail_values=tail_values(scores, np.array(found.levels)))

    def medians(self, column: str) -> Floats:
        """Middle scores of all models on a column, shape (k,)."""
        from riskrank.engine.portfolio.quantiles import quantile

        scores = self.study.columns[column]
        parts = zip(scores.values, scores.weights, strict=True)
        return np.array([float(quantile(own, 0.5, weights)) for own, weights in parts])

    def agreement_with(self, ranking: Ranking) -> dict[str, float]:
        """Kendall's tau of each method's order to that of one ranking of the same models."""
        return {
            name: float(kendall_tau(np.array([found.places, ranking.places]))[0, 1])
            for name, found in self.study.rankings.items()
        }


def standings(document: RankDocument) -> dict[str, Standing]:
    """How each method ranks the models, what a careful reader asks for first: second order."""
    found = {}
    for method in sorted(document.study.rankings, key=lambda name: not name.startswith("R-SSD")):
        statistic, _, scope = method.partition("@")
        tests = None
        if document.inference.test and method not in document.study.aggregations:
            tests = document.study.studies[scope].tests_of(statistic)
        scores = -document.study.rankings[method].rank
        beats, p = (None, None) if tests is None else (tests.dominates, tests.p_value)
        found[method] = Standing(scores, beats, p, document.inference.family)
    return found


@dataclass(frozen=True)
class Trade:
    """What is plotted of m metrics.

    Attributes
    ----------
    pair : (int, int)
    lead, error : ndarray, shape (m,)
        Of the first of the two over the other by its mean, larger is better, and standard errors.
    side : ndarray of int, shape (m,)
        1 where the first is shown to be better, −1 where the other is, 0 where that is open.
    """

    pair: tuple[int, int]
    lead: Floats
    error: Floats
    side: Integers


def trade(document: RankDocument) -> Trade | None:
    """The two models that a verdict on several metrics speaks of; None where nothing was tested of them."""
    found = [*document.leading.values()]
    if len(document.means) < 2 or len(found) != 1 or found[0].recommendation is None or not found[0].others:
        return None
    held, (first, other) = found[0].contrasts, found[0].pair
    # Everybody is held against the first of the ranking, which may be the second of the two.
    at, sign = (other, -1) if held.against == first else (first, 1)
    return Trade((first, other), sign * held.difference[at], held.error[at], sign * held.answers.side[at])
