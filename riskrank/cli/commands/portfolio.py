"""``riskrank portfolio``: scores can be Parquet, a summary of models cannot."""

from riskrank.asked.output import FORMATS
from riskrank.cli.call import Call
from riskrank.cli.session import Session, settled


def run(call: Call) -> None:
    """Fold, and hand the result out."""
    session = Session(call, formats=FORMATS if call.values.get("summary") else None)
    session.finish(session.study(settled(call)))
