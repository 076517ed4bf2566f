"""Generalized stochastic dominance over criteria of mixed scales: the study behind ``gsd``."""

from riskrank.studies.gsd.document import Explanation, GsdDocument, GsdRow
from riskrank.studies.gsd.study import gsd

__all__ = ["Explanation", "GsdDocument", "GsdRow", "gsd"]
