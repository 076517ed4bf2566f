"""What a run of a gate ends with where its claims are not all shown: what failed, and what to do about it."""

from __future__ import annotations

from riskrank.errors import RiskrankError, option
from riskrank.studies.gate.claim import BETTER, FAILED, MACRO, NOT_WORSE
from riskrank.studies.gate.document import FAIL, GateDocument, GateRow, counts, ends_with
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.gate.words import by_margin, deciding_row, ranges, row_sentence, unit_of, what_decides


def ending(document: GateDocument, settings: ClaimSettings, *, cases: bool) -> RiskrankError | None:
    """What the run ends with, after its result is written."""
    rows, outcome = document.rows, document.outcome
    found, kind = counts(rows), ends_with(outcome, settings.inconclusive)
    if kind is None:
        return None
    first = deciding_row(rows)
    more = f" (and {found[outcome] - 1} more)" if found[outcome] > 1 else ""
    mean = " mean" if first.statistic == MACRO else ""
    verb = "failed" if outcome == FAIL else "is inconclusive"
    if first.statistic == FAILED:
        return kind(
            f"gate failed: {first.new} has no score more often than {first.old}",
            found=row_sentence(first),
            hint="see why calls failed, and run them again: what did not answer says nothing of the model",
        )
    asked = option(first.claim.replace("-", "_"), f"{first.new}:{first.old}")
    return kind(
        f"gate {asked} {verb} on the {first.statistic}{mean} of {first.metric}{first.place}{more}",
        found=row_sentence(first),
        hint=_advice(first, outcome, unit_of(first, document.unit), document.scored, cases=cases),
    )


def _advice(row: GateRow, outcome: str, unit: str, judged: int | None, *, cases: bool) -> str:
    if outcome == FAIL:
        which = f"; {option('cases', 20)} lists the cases that lost most" if cases else ""
        shown = (
            f"shown not to be better than {row.old}{by_margin(row)}"
            if row.claim == BETTER
            else f"a step back from {row.old}"
        )
        return f"{row.new} is {shown}{which}"
    if row.hangs_on_missing:
        return "what is missing decides it, not more samples: score it"
    if row.chosen_p is not None:
        return (
            "no number of labels chosen so decides it: have people score samples drawn by chance; "
            f"{option('inconclusive', 'pass')} lets it through"
        )
    needed = what_decides(row, unit, judged)
    needed = f"{needed} would decide it; " if needed else ""
    wider = ""
    if row.claim == NOT_WORSE and row.statistic not in ("fsd", "ssd"):
        wider = f"{option('margin')} says which loss does not matter; "
    if ranges(row):
        return "score what is missing: the answer is to hold whatever it is"
    if row.open_loss:
        refused = f"which {option('inconclusive', 'fail')} does not let through"
        return f"{needed}{row.new} is shown to be worse, {refused}"
    return f"{needed}{wider}{option('inconclusive', 'pass')} lets it through"
