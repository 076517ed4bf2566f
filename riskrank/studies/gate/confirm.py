"""One question to a held-out table: the answer, and nothing else that a search could follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from riskrank.errors import GateInconclusive, RiskrankError
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.document import Gated
from riskrank.studies.findings import stated
from riskrank.studies.gate.document import INCONCLUSIVE, PASS, GateDocument
from riskrank.studies.gate.findings import answered
from riskrank.studies.gate.ledger import digest_of_held_out, opened, write
from riskrank.studies.gate.options import ClaimSettings
from riskrank.studies.pairs import resolve_pair


@dataclass(frozen=True, slots=True)
class ConfirmRow:
    """The answer to one question: whether all of its claims are shown."""

    question: int
    level: float
    claim: str
    verdict: str

    @property
    def name(self) -> str:
        """The claims, as CI servers list them."""
        return self.claim

    @property
    def sentence(self) -> str:
        """The answer in words."""
        shown = "is shown" if self.verdict == PASS else "is not shown"
        return f"question {self.question}, at the level {self.level:.2g}: {self.claim} {shown}"


@dataclass(frozen=True, kw_only=True)
class ConfirmDocument(Gated[ConfirmRow], schema="gate-confirm"):
    """The answer to a question."""

    def meta(self) -> Mapping[str, Any]:
        """The answer."""
        return {"outcome": self.outcome}


def confirm(
    tables: Sequence[ScoreTable],
    settings: ClaimSettings,
    metrics: Sequence[str],
    decide: Callable[[ClaimSettings], GateDocument],
) -> ConfirmDocument:
    """Ask one question, and write it into the ledger before anybody hears the answer.

    Parameters
    ----------
    tables : sequence of ScoreTable
    settings : ClaimSettings
    metrics : sequence of str
        Those that claims are about.
    decide : callable
        The gate, of settings at the level of the question.
    """
    path = settings.confirm
    assert path is not None
    pairs = [(name, pair) for name in ("better", "not_worse") for pair in getattr(settings, name)]
    olds = {resolve_pair(pair, tables[0].models, parameter=name)[1] for name, pair in pairs}
    table = digest_of_held_out(tables, dict.fromkeys(metrics, olds))
    with opened(path, table, settings.alpha) as ledger:
        document = decide(replace(settings, alpha=settings.alpha * ledger.share))
        passed = document.outcome == PASS
        claims = list(dict.fromkeys(row.name for row in document.claims))
        row = ConfirmRow(
            ledger.number, settings.alpha * ledger.share, "; ".join(claims), PASS if passed else INCONCLUSIVE
        )
        write(path, ledger.with_answer(claims, passed=passed))
    origin = replace(document.provenance, warnings=(), scored=(), resamples=None)
    return ConfirmDocument(
        provenance=origin,
        rows=[row],
        **stated((), answered(row.verdict, f"{row.verdict.upper()}: {row.sentence}.", {"level": row.level})),
        outcome=row.verdict,
        failed=None if passed else _failed(row),
        inconclusive=None,
        comment=settings.comment,
    )


def _failed(row: ConfirmRow) -> RiskrankError:
    following = row.question + 1
    return GateInconclusive(
        "the held-out table does not confirm the claim",
        found=row.sentence,
        hint=f"nothing else is told; question {following} has 1/{following * (following + 1)} of the level",
    )
