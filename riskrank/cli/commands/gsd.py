"""``riskrank gsd``: its diagram may go to a file beside the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from riskrank.asked.output import DiagramOptions
from riskrank.cli.call import Call
from riskrank.cli.session import Session, settled
from riskrank.errors import UsageError
from riskrank.shown.files import check_writable
from riskrank.studies.gsd.screen.hasse import to_dot


def run(call: Call) -> None:
    """Study, and write the result with its diagram."""
    session = Session(call)
    output = call.output
    assert isinstance(output, DiagramOptions)
    check_dot(output, session.named)
    document: Any = session.study(settled(call))
    beside = {}
    if output.dot is not None:
        beside[output.dot] = to_dot(document.analyses, document.provenance.models).encode("utf-8")
    session.finish(document, beside=beside)


def check_dot(output: DiagramOptions, named: Sequence[str]) -> None:
    """Refuse early a file for the diagram that could not be written.

    Raises
    ------
    UsageError
    """
    check_writable(output.dot, named, parameter="dot")
    files = [Path(file).resolve() for file in output.output]
    if output.dot is not None and Path(output.dot).resolve() in files:
        raise UsageError(
            "--dot and --output name the same file",
            found=output.dot,
            hint="write the diagram to a file of its own",
        )
