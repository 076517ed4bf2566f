"""A ranking and how sure it is: the study behind ``rank``."""

from riskrank.studies.rank.document import RankDocument, RankRow
from riskrank.studies.rank.study import rank

__all__ = ["RankDocument", "RankRow", "rank"]
