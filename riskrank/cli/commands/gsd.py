"""``riskrank gsd``: its diagram may go to a file beside the result."""

from typing import Any

from riskrank.cli.session import Session, settled
from riskrank.cli.typer_functions import Call
from riskrank.options.output import DiagramOptions
from riskrank.studies.gsd.screen.hasse import to_dot


def run(call: Call) -> None:
    """Study, and write the result with its diagram."""
    session = Session(call)
    output = call.output
    assert isinstance(output, DiagramOptions)
    document: Any = session.study(settled(call))
    beside = {}
    if output.dot is not None:
        beside[output.dot] = to_dot(document.analyses, document.provenance.models).encode("utf-8")
    session.finish(document, beside=beside)
