"""Generalized stochastic dominance over criteria of mixed scales: the study behind ``gsd``."""

from riskrank.studies.gsd.document import Explanation, GsdDocument, GsdRow
from riskrank.studies.gsd.settings import GsdSettings
from riskrank.studies.gsd.study import READING, gsd

__all__ = ["READING", "Explanation", "GsdDocument", "GsdRow", "GsdSettings", "gsd"]
