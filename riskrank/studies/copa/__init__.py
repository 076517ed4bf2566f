"""COPA, a choice by objectives that have no common unit: the studies behind ``copa``."""

from riskrank.studies.copa.comparison import ComparisonDocument
from riskrank.studies.copa.explanation import ExplanationDocument
from riskrank.studies.copa.ranking import CopaDocument
from riskrank.studies.copa.study import copa
from riskrank.studies.copa.sweep import OrderSweepDocument, WeightSweepDocument

__all__ = [
    "ComparisonDocument",
    "CopaDocument",
    "ExplanationDocument",
    "OrderSweepDocument",
    "WeightSweepDocument",
    "copa",
]
