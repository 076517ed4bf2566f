"""The ``riskrank gsd`` command, which can also write its Hasse diagram to a file."""

from typing import Any

from riskrank.cli.session import Session, checked_settings
from riskrank.cli.typer_functions import Call
from riskrank.options.output import DiagramOptions
from riskrank.studies.gsd.screen import to_dot


def run(call: Call) -> None:
    """Run the study, and write the result and the diagram."""
    session = Session(call)
    output = call.output
    assert isinstance(output, DiagramOptions)
    document: Any = session.study(checked_settings(call))
    extra_files = {}
    if output.dot is not None:
        extra_files[output.dot] = to_dot(document.analyses, document.provenance.models).encode("utf-8")
    session.finish(document, extra_files=extra_files)
