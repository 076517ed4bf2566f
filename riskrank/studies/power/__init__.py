"""How many samples a comparison needs: the study behind ``power``."""

from riskrank.studies.power.document import PowerDocument, PowerRow
from riskrank.studies.power.study import power, power_between, refuse_table_options

__all__ = ["PowerDocument", "PowerRow", "power", "power_between", "refuse_table_options"]
