"""Notes on a run of GitHub Actions: workflow commands that annotate it."""

from __future__ import annotations

from riskrank.asked.tiers import ADVISORY
from riskrank.shown.ci_logs import for_ci_log
from riskrank.studies.gate.confirm import ConfirmDocument, ConfirmRow
from riskrank.studies.gate.document import FAIL, INCONCLUSIVE, GateDocument, GateRow
from riskrank.studies.gate.each_sample import SampleDocument, SampleRow
from riskrank.studies.gate.words import row_sentence

# Samples that a run is annotated with.
_MOST = 10


def notes(document: GateDocument | SampleDocument | ConfirmDocument) -> list[str]:
    """A line a claim that did not pass; of samples a few, those that fail first."""
    lines = []
    said: list[tuple[GateRow | SampleRow | ConfirmRow, str]]
    if isinstance(document, ConfirmDocument):
        said = [(row, row.sentence) for row in document.rows]
    elif isinstance(document, SampleDocument):
        rows = sorted(document.rows, key=lambda row: (row.verdict != FAIL, row.verdict != INCONCLUSIVE))
        said = [(row, row.sentence) for row in rows[:_MOST]]
    else:
        said = [(row, row_sentence(row)) for row in document.rows]
    for row, sentence in said:
        if row.verdict not in (FAIL, INCONCLUSIVE):
            continue
        lenient = row.verdict == INCONCLUSIVE and document.settings.inconclusive == "pass"
        lenient |= getattr(row, "tier", None) == ADVISORY
        level = "warning" if lenient else "error"
        # The line is a command, and what it quotes is none.
        message = _escaped(for_ci_log(f"{row.verdict}: {sentence}"))
        lines.append(f"::{level} title=riskrank gate::{message}")
    return lines


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
