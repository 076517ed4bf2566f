"""Notes on a run of GitHub Actions: workflow commands that annotate it."""

from __future__ import annotations

from riskrank.shown.ci_logs import for_ci_log
from riskrank.studies.gate.document import FAIL, INCONCLUSIVE, GateDocument
from riskrank.studies.gate.words import row_sentence


def notes(document: GateDocument) -> list[str]:
    """A line a claim that did not pass."""
    lines = []
    for row in document.rows:
        if row.verdict not in (FAIL, INCONCLUSIVE):
            continue
        lenient = row.verdict == INCONCLUSIVE and document.inconclusive == "pass"
        level = "warning" if lenient else "error"
        # The line is a command, and what it quotes is none.
        message = _escaped(for_ci_log(f"{row.verdict}: {row_sentence(row, document.metrics)}"))
        lines.append(f"::{level} title=riskrank gate::{message}")
    return lines


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
