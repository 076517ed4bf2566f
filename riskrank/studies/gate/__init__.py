"""Claims that a run must meet, decided as one family: the study behind ``gate``."""

from riskrank.studies.gate.document import GateDocument, GateRow
from riskrank.studies.gate.study import gate, wanted_metrics

__all__ = ["GateDocument", "GateRow", "gate", "wanted_metrics"]
