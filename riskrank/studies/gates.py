"""Gates on tested dominance: conditions a run must meet, and whether it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from riskrank.engine.dominance.claims import ABSOLUTE, DIRECT, PAPER_THRESHOLDS, Claim
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import GateFailed, UsageError, listing, option
from riskrank.studies.gate.claims import BETTER, GateClaim, ScoreColumn, decide
from riskrank.studies.gate.document import FAIL, PASS, GateRow
from riskrank.studies.pairs import resolve_pair
from riskrank.studies.settings import DominanceTestSettings, names
from riskrank.studies.units import Units
from riskrank.studies.wording import claim_words


@dataclass(frozen=True, kw_only=True)
class GateSettings(DominanceTestSettings):
    """Conditions that fail a run.

    Parameters
    ----------
    gate_better : sequence of str
        ``NEW:OLD`` each: fails unless NEW is significantly ahead of OLD.
    gate_not_worse : sequence of str
        ``NEW:OLD`` each: fails if OLD is significantly ahead of NEW.
    """

    gate_better: tuple[str, ...] = ()
    gate_not_worse: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._normalise("gate_better", names(self.gate_better))
        self._normalise("gate_not_worse", names(self.gate_not_worse))
        asked = self.gate_better or self.gate_not_worse
        if asked and self.no_test:
            raise UsageError(
                f"a gate asks for significance, which {option('no_test', True)} leaves out",
                found=f"{option('no_test', True)} with a gate",
                hint=f"leave out {option('no_test')}",
            )
        if asked and self.test == "absolute" and len(self.threshold) != 1:
            raise UsageError(
                "a gate on absolute dominance needs one threshold",
                found=listing(f"{tau:g}" for tau in self.threshold or PAPER_THRESHOLDS),
                hint=f"add one {option('threshold')}, e.g. {option('threshold', 0.25)}, "
                f"or leave out {option('test', 'absolute')}",
            )


@dataclass(frozen=True)
class Gate:
    """One condition: ``kind`` is ``better`` or ``not_worse``, models by number."""

    kind: str
    new: int
    old: int


def resolve_gates(settings: GateSettings, models: Sequence[str]) -> list[Gate]:
    """Gates with their models found, before any work is done.

    Raises
    ------
    UsageError
        If a gate names an unknown model.
    """
    asked = [("better", pair) for pair in settings.gate_better]
    asked += [("not_worse", pair) for pair in settings.gate_not_worse]
    return [Gate(kind, *resolve_pair(pair, models, parameter=f"gate_{kind}")) for kind, pair in asked]


@dataclass(frozen=True)
class GateOutcome:
    """What became of the gates of a command that does something else.

    Attributes
    ----------
    rows : tuple of GateRow
    holds : tuple of bool
        Whether each lets the run pass: ``better`` has to be shown, ``not_worse`` must not be refuted.
    failed : GateFailed or None
        The first that did not hold, with a count of the others.
    """

    rows: tuple[GateRow, ...] = ()
    holds: tuple[bool, ...] = ()
    failed: GateFailed | None = None

    def meta(self) -> dict[str, Any]:
        """Entry of ``meta``, where gates were asked for."""
        if not self.rows:
            return {}
        pairs = zip(self.rows, self.holds, strict=True)
        return {"gates": [asdict(row) | {"holds": holds} for row, holds in pairs]}


def gated(metric: str, scores: ClusteredScores, group: str | None = None) -> ScoreColumn:
    """A column of scores as gates on dominance look at it."""
    return ScoreColumn(metric, scores, Units(1.0, metric), (0.0, 0.0), group)


def judge_gates(
    gates: Sequence[Gate],
    columns: Sequence[ScoreColumn],
    settings: GateSettings,
    inference: Inference,
    models: Sequence[str],
) -> GateOutcome:
    """Decide the gates asked for, and nothing else, as ``riskrank gate`` decides its claims.

    A gate asks for direct dominance, or for absolute dominance where that alone is tested, of the highest
    order: the claim a risk-averse reader would ask for. The family is the gates on all columns, however
    many models are in the table.

    Parameters
    ----------
    gates : sequence of Gate
    columns : sequence of ScoreColumn
        Columns of scores to look at, see :func:`gated`.
    settings : GateSettings
    inference : Inference
        With the level of the whole family.
    models : sequence of str
    """
    if not gates:
        return GateOutcome()
    kind = ABSOLUTE if settings.test == ABSOLUTE else DIRECT
    order = max(settings.orders)
    claim = Claim(order, kind, settings.threshold[0] if kind == ABSOLUTE else None)
    name = ("fsd", "ssd")[order - 1] + (f"({claim.boundary:g})" if kind == ABSOLUTE else "")
    claims = [
        GateClaim(
            gate.kind.replace("_", "-"),
            gate.new,
            gate.old,
            column,
            name,
            dominance=claim,
        )
        for gate in gates
        for column in columns
    ]
    rows, _ = decide(claims, inference, models)
    holds = [row.verdict == PASS if row.claim == BETTER else row.verdict != FAIL for row in rows]
    failed = [row for row, held in zip(rows, holds, strict=True) if not held]
    error = _failure(failed, claim, inference.alpha) if failed else None
    return GateOutcome(tuple(rows), tuple(holds), error)


def _failure(failed: Sequence[GateRow], claim: Claim, alpha: float) -> GateFailed:
    row, rest = failed[0], len(failed) - 1
    refuted = row.verdict == FAIL
    if claim.kind == ABSOLUTE:
        verb = "significantly almost dominates" if refuted else "does not significantly almost dominate"
    else:
        verb = f"is {'' if refuted else 'not '}significantly ahead of"
    winner, loser = (row.old, row.new) if refuted else (row.new, row.old)
    asked = option(f"gate_{row.claim.replace('-', '_')}", f"{row.new}:{row.old}")
    where = f" in {row.group}" if row.group else ""
    more = f" (and {rest} more failure{'s' if rest > 1 else ''})" if rest else ""
    return GateFailed(
        f"gate {asked} failed: {winner} {verb} {loser}{more}",
        found=(
            f"{claim_words(claim)}@{row.metric}{where}, violation ratio {row.estimate:.4g}, "
            f"two-sided adjusted p = {row.p_adjusted:.4g}, alpha = {alpha:g}"
        ),
        hint=f"{row.new} is a step back from {row.old}"
        if refuted
        else f"{row.new} is not shown to be better; more samples narrow the verdict",
    )
