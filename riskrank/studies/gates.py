"""Gates on tested dominance: conditions a run must meet, and whether it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from riskrank.engine.dominance.claims import ABSOLUTE, DIRECT, PAPER_THRESHOLDS, Claim
from riskrank.engine.dominance.column import method_name, study_dominance
from riskrank.engine.dominance.inference import Inference
from riskrank.engine.dominance.tests import DominanceTests
from riskrank.engine.sampling.design import ClusteredScores
from riskrank.errors import GateFailed, UsageError, listing, nearest, option
from riskrank.studies.settings import DominanceTestSettings, names


@dataclass(frozen=True, kw_only=True)
class GateSettings(DominanceTestSettings):
    """Conditions that fail a run.

    Parameters
    ----------
    gate_better : sequence of str
        ``NEW:OLD`` each: fails unless NEW significantly dominates OLD.
    gate_not_worse : sequence of str
        ``NEW:OLD`` each: fails if OLD significantly dominates NEW.
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


def resolve_pair(text: str, models: Sequence[str], *, parameter: str) -> tuple[int, int]:
    """Find the two models of ``A:B``; names may hold colons themselves.

    Raises
    ------
    UsageError
        If no split gives two different known models.
    """
    splits = [(text[:at], text[at + 1 :]) for at, mark in enumerate(text) if mark == ":"]
    known = [pair for pair in splits if pair[0] in models and pair[1] in models]
    if len(known) == 1 and known[0][0] != known[0][1]:
        return list(models).index(known[0][0]), list(models).index(known[0][1])
    if not splits:
        hint = f"write {option(parameter, 'NEW:OLD')} with two of the models"
    elif known:
        hint = "name two different models"
    else:
        strange = next(name for pair in splits for name in pair if name not in models)
        close = nearest(strange, models)
        hint = f"did you mean {close} instead of {strange}?" if close else f"models: {listing(models)}"
    raise UsageError(
        f"{option(parameter, text)} does not name two models of the table", found=text, hint=hint
    )


def failed_gates(
    gates: Sequence[Gate],
    columns: Sequence[tuple[str, ClusteredScores]],
    settings: GateSettings,
    inference: Inference,
    models: Sequence[str],
) -> GateFailed | None:
    """Test the gates asked for, and nothing else, and return the first that does not hold.

    A gate asks for direct dominance, or for absolute dominance where that alone is tested, of the highest
    order: the claim a risk-averse reader would ask for. The family is the gates on all columns, however
    many models are in the table.

    Parameters
    ----------
    gates : sequence of Gate
    columns : sequence of (str, ClusteredScores)
        Columns of scores to look at, by name.
    settings : GateSettings
    inference : Inference
        With the level of the whole family.
    models : sequence of str
    """
    if not gates:
        return None
    kind = ABSOLUTE if settings.test == ABSOLUTE else DIRECT
    claim = Claim(max(settings.orders), kind, settings.threshold[0] if kind == ABSOLUTE else None)
    share = replace(inference, alpha=inference.alpha / len(columns))
    pairs = [(gate.new, gate.old) if gate.kind == "better" else (gate.old, gate.new) for gate in gates]
    failed = []
    for metric, scores in columns:
        (tests,) = study_dominance(scores, [claim], share, pairs=list(dict.fromkeys(pairs))).tests
        failed += [*_failures(gates, metric, tests, models, share.alpha)]
    if not failed:
        return None
    first, rest = failed[0], len(failed) - 1
    more = f" (and {rest} more failure{'s' if rest > 1 else ''})" if rest else ""
    return GateFailed(first.what + more, found=first.found, hint=first.hint)


def _failures(
    gates: Sequence[Gate], metric: str, tests: DominanceTests, models: Sequence[str], alpha: float
) -> Iterator[GateFailed]:
    for gate in gates:
        better = gate.kind == "better"
        winner, loser = (gate.new, gate.old) if better else (gate.old, gate.new)
        if bool(tests.dominates[winner, loser]) == better:
            continue
        verb = "does not significantly dominate" if better else "significantly dominates"
        new, old = models[gate.new], models[gate.old]
        asked = option(f"gate_{gate.kind}", f"{new}:{old}")
        p_value = 1.0 if tests.p_adjusted is None else tests.p_adjusted[winner, loser]
        yield GateFailed(
            f"gate {asked} failed: {models[winner]} {verb} {models[loser]}",
            found=(
                f"{method_name(tests.claim)}@{metric}, violation ratio {tests.ratios[winner, loser]:.4g}, "
                f"adjusted p = {p_value:.4g}, alpha = {alpha:g}"
            ),
            hint=f"{new} is not shown to be better; more samples narrow the verdict"
            if better
            else f"{new} is a step back from {old}",
        )
