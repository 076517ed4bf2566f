"""Definitions of the terms in the output, for ``docs/glossary.md`` and HTML pages."""

from riskrank.errors import option
from riskrank.render.view import Line

GLOSSARY = {
    "Violation ratio, ε": (
        "The part of the squared distance between two distributions that contradicts the dominance of one "
        "model over the other: 0 if nothing contradicts it, 0.5 for a draw, 1 if the other model dominates."
    ),
    "Dominance": (
        "First order: the score is at least as good at every quantile. Second order: the mean of the worst "
        "share of the scores is at least as good, for every share. A risk-averse decision maker prefers a "
        "model that dominates in second order."
    ),
    "Rank set": (
        "The places that the tests allow for a model. All rank sets hold simultaneously at the stated "
        "confidence level. If the set has one place, that place is significant."
    ),
    "Worst x %": (
        "The mean of the worst x % of a model's scores (tail value at risk, TVaR). Each model has its own "
        "worst samples."
    ),
    "Combined score": (
        "One number per sample, from 0 to 1, that combines all metrics. Each score is replaced by the share "
        "of all models' scores that are worse or equal. The combined score is the weighted geometric mean "
        "of these shares over the metrics. It has no unit."
    ),
    "Margin": (
        "How much worse a new model may be and still pass. Choose the margin before you see the scores."
    ),
    "Significant, contradicted, undecided": (
        "Significant: the result is unlikely by chance alone. Contradicted: the opposite is significant. "
        "Undecided: these samples support neither, which does not mean that the models are equal. A gate "
        "calls the three pass, fail and inconclusive."
    ),
    "Interval": (
        "A confidence interval. If a simultaneous interval excludes zero, or the margin, the difference is "
        "significant. An interval of a single mean or pair is not corrected for multiple comparisons."
    ),
    "Separated": (
        "Two models are separated if the tests show that one of them is better, corrected for the number of "
        "pairs."
    ),
    "Tier": "Consecutive models of a ranking that its tests do not separate. In a gate: a class of claims.",
    "Holm": (
        "Holm's correction for multiple tests: the probability of any false claim in a family is at most α."
    ),
    "R-FSD, R-SSD, P(IC)": (
        "Names of methods, written as method@scores. R-FSD and R-SSD: mean violation ratio against all "
        "other models, of the first and the second order. MWR: mean win rate. MRM: mean minus risk. P(IC) "
        "and P(EC): the combined score by the independent and by the empirical copula. M: metric by metric."
    ),
    "RA, Kemeny, Borda": (
        "RA(…) aggregates several rankings. Kemeny: the order that reverses the fewest of their pairs. "
        "Borda: the order of the mean ranks."
    ),
    "Judge, λ": (
        "A judge is a model that scores all samples, while people score some of them. λ, from 0 to 1, is "
        "the weight of the judge's scores. The human labels correct the errors of the judge."
    ),
    "Kendall's τ": (
        "Agreement of two rankings: 1 if they are equal, 0 if they are unrelated, −1 if they are opposite."
    ),
}
"""Definitions by term."""

GLOSSARY_HINT = Line(
    f"see docs/glossary.md, or the glossary of any page ({option('format', 'html')}).", "Words:"
)
"""Pointer to the definitions, at the end of an explained screen."""
