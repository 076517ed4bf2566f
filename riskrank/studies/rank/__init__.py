"""A ranking and how sure it is: the study behind ``rank``."""

from riskrank.studies.rank.document import GroupedRankDocument, GroupedRankRow, RankDocument, RankRow
from riskrank.studies.rank.settings import RankSettings
from riskrank.studies.rank.study import rank

__all__ = ["GroupedRankDocument", "GroupedRankRow", "RankDocument", "RankRow", "RankSettings", "rank"]
