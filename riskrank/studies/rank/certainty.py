"""How sure an answer is, in one word: what the tests behind a verdict come to (method §4).

Every word follows from tests that were made, and none says more than they do: *tied* is not *equal*.
"""

from __future__ import annotations

from collections.abc import Collection

from riskrank.engine.sampling.design import FEW_SAMPLES
from riskrank.studies.rank.leading import Leading

CLEAR, TIED, DISAGREEMENT, FEW, TRADE = "clear", "tied", "disagreement", "too few samples", "trade"
NOT_DECIDED, NOT_TESTED, DOUBTFUL = "not decided", "not tested", "doubtful labels"

MEANING = {
    CLEAR: "the first is significantly better than every other",
    TIED: "not shown who is best: collect more samples before shipping one",
    DISAGREEMENT: "the tests do not agree on one first model",
    TRADE: "which model is best depends on what counts more",
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
