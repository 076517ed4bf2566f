"""The words of screens, pages and pictures, each in a sentence or two: a page holds them, and the guide."""

from riskrank.errors import option
from riskrank.shown.view import Line

GLOSSARY = {
    "Violation ratio, ε": (
        "How much of the comparison of two models speaks against the one that is ahead: 0 if it is nowhere "
        "behind, 0.5 for a draw, 1 if the other is nowhere behind."
    ),
    "Dominance": (
        "First order: at every share of the samples, counted from the worst, the score is at least as high."
        " Second order: the mean of every worst share is. Who dominates is better for whoever dislikes "
        "risk."
    ),
    "Rank set": (
        "The places a model can have as far as the tests know, from the best to the worst; all sets hold "
        "together with the confidence that is stated. A set of one place is a place that is shown."
    ),
    "Worst x %": (
        "The mean of that share of a model's samples that has its worst scores, TVaR: what happens on a bad "
        "day. Each model has its own worst samples."
    ),
    "Combined score": (
        "One number from 0 to 1 a sample, made of all metrics: the share of scores that are no better, "
        "joined over metrics by their geometric mean with their weights. It has no unit; 0.5 is about "
        "average."
    ),
    "Margin": "How much worse a new model may be and still pass: it is agreed before the scores are seen.",
    "Shown, refuted, open": (
        "Shown: chance alone would hardly look so. Refuted: the opposite is shown. Open: these samples "
        "decide neither; that is no sign of equality. A gate calls them pass, fail and inconclusive."
    ),
    "Interval": (
        "The values that fit the samples. Where one that holds for all questions together lies on one side "
        "of zero, or of the margin, its question is decided; one of a pair or mean alone decides nothing."
    ),
    "Told apart": (
        "A pair of models of which the tests show that one is better, after the number of pairs is allowed "
        "for."
    ),
    "Tier": "Models that follow each other in the ranking, of which its own tests separate no two.",
    "Holm": "A correction for many questions: the chance of any wrong claim in their family stays at α.",
    "R-FSD, R-SSD, P(IC)": (
        "Methods, before @ how and behind it on what. R-FSD, R-SSD: violation ratios of the first and of the "
        "second order, relative to the field; MWR: mean win rate; MRM: mean minus a measure of risk. P(IC): "
        "the combined score, of the independence copula; P(EC): of the empirical one; M: metric by metric."
    ),
    "RA, Kemeny, Borda": (
        "RA(…): several rankings made one. Kemeny: by the order that contradicts the fewest of their pairs; "
        "Borda: by the mean of the ranks."
    ),
    "Judge, λ": (
        "A model that scores all samples, of which people scored some. λ, from 0 to 1: how much of it is "
        "taken; where it errs, people's scores correct it."
    ),
    "Kendall's τ": "How far two orders agree: 1 for the same, 0 for no relation, −1 for the opposite one.",
}
"""What each word means."""

WHERE = Line(f"docs/glossary.md says what they mean, and every page ({option('format', 'html')}).", "Words:")
"""Where a screen that explains itself leads to."""
