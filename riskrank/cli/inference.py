"""What ``dominance`` and ``rank`` share: claims, inference, gates, and how they were set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from riskrank.cli.options import DominanceOptions, GateOptions, ResamplingOptions
from riskrank.cli.session import check_resampling, count_jobs
from riskrank.errors import GateFailed, UsageError, listing, nearest

if TYPE_CHECKING:
    from riskrank.engine.dominance.column import Inference
    from riskrank.engine.dominance.tests import Claim, DominanceTests


def check_tests(options: DominanceOptions, resampling: ResamplingOptions, gates: GateOptions) -> None:
    """Refuse contradictions among the options of tests.

    Raises
    ------
    UsageError
    """
    check_resampling(resampling)
    if options.test == "relative" and options.threshold:
        raise UsageError(
            "--threshold belongs to absolute tests",
            found=f"--test relative with --threshold {options.threshold[0]:g}",
            hint="use --test absolute or both, or leave out --threshold",
        )
    if options.no_test and options.paper_exact:
        raise UsageError(
            "--no-test and --paper-exact contradict each other", found="both", hint="leave out one of them"
        )
    if options.paper_exact and options.correction != "bonferroni":
        raise UsageError(
            "--paper-exact brings its own correction, k²",
            found=f"--correction {options.correction}",
            hint="leave out one of the two",
        )
    if options.variance == "clt" and (options.no_test or options.paper_exact):
        other = "--no-test" if options.no_test else "--paper-exact"
        raise UsageError(
            f"--variance clt and {other} contradict each other", found="both", hint="leave out one of them"
        )
    if options.no_test and (gates.gate_better or gates.gate_not_worse):
        raise UsageError(
            "a gate asks for significance, which --no-test leaves out",
            found="--no-test with a gate",
            hint="leave out --no-test",
        )
    asked = gates.gate_better or gates.gate_not_worse
    if asked and options.test == "absolute" and len(options.threshold or ()) != 1:
        raise UsageError(
            "a gate on absolute dominance needs one threshold",
            found=listing(f"{tau:g}" for tau in options.threshold or (0.08, 0.25, 0.4)),
            hint="add one --threshold, e.g. --threshold 0.25, or leave out --test absolute",
        )


def chosen_claims(options: DominanceOptions) -> tuple[Claim, ...]:
    """Claims to test."""
    from riskrank.engine.dominance.tests import PAPER_THRESHOLDS, claims

    orders = (1, 2) if options.order == "both" else (int(options.order),)
    thresholds = tuple(dict.fromkeys(options.threshold or PAPER_THRESHOLDS))
    return claims(
        orders,
        relative=options.test != "absolute",
        thresholds=() if options.test == "relative" else thresholds,
    )


def chosen_inference(options: DominanceOptions, resampling: ResamplingOptions) -> Inference:
    """How to test."""
    from riskrank.engine.dominance.column import Inference

    return Inference(
        resamples=resampling.resamples,
        alpha=resampling.alpha,
        correction=options.correction,
        seed=resampling.seed,
        jobs=count_jobs(resampling),
        test=not options.no_test,
        paper_exact=options.paper_exact,
        variance=options.variance,
    )


def inference_settings(options: DominanceOptions, resampling: ResamplingOptions) -> dict[str, Any]:
    """Settings of the tests that decide the result."""
    claims = chosen_claims(options)
    return {
        "order": options.order,
        "test": options.test,
        "thresholds": sorted({claim.threshold for claim in claims if claim.threshold is not None}),
        "alpha": resampling.alpha,
        "correction": "none" if options.no_test else "k^2" if options.paper_exact else options.correction,
        "family": None if options.no_test else "ordered pairs of one metric, order, test and threshold",
        "variance": None if options.no_test else options.variance,
        "no_test": options.no_test,
        "paper_exact": options.paper_exact,
    }


def resolve_gates(options: GateOptions, models: Sequence[str]) -> list[tuple[str, str, str]]:
    """Gates as (kind, new, old), before any work is done.

    Raises
    ------
    UsageError
        If a gate names an unknown model.
    """
    asked = [("better", pair) for pair in options.gate_better or ()]
    asked += [("not-worse", pair) for pair in options.gate_not_worse or ()]
    return [(kind, *resolve_pair(pair, models, option=f"--gate-{kind}")) for kind, pair in asked]


def resolve_pair(text: str, models: Sequence[str], *, option: str) -> tuple[str, str]:
    """Split ``A:B`` into two known models; names may hold colons themselves.

    Raises
    ------
    UsageError
        If no split gives two different known models.
    """
    splits = [(text[:at], text[at + 1 :]) for at, mark in enumerate(text) if mark == ":"]
    known = [pair for pair in splits if pair[0] in models and pair[1] in models]
    if len(known) == 1 and known[0][0] != known[0][1]:
        return known[0]
    if not splits:
        hint = f"write {option} NEW:OLD with two of the models"
    elif known:
        hint = "name two different models"
    else:
        strange = next(name for pair in splits for name in pair if name not in models)
        close = nearest(strange, models)
        hint = f"did you mean {close} instead of {strange}?" if close else f"models: {listing(models)}"
    raise UsageError(f"{option} {text} does not name two models of the table", found=text, hint=hint)


def check_gates(
    gates: Sequence[tuple[str, str, str]],
    studies: Sequence[tuple[str, Sequence[DominanceTests]]],
    models: Sequence[str],
    alpha: float,
) -> None:
    """Raise unless every gate holds on every metric that was tested.

    A gate looks at second-order dominance where it was tested, and at relative dominance where it was
    tested: the claim a risk-averse reader would ask for.

    Raises
    ------
    GateFailed
        The first gate that failed, with a count of the others.
    """
    failed = [*_failed_gates(gates, studies, models, alpha)]
    if failed:
        first, rest = failed[0], len(failed) - 1
        more = f" (and {rest} more failure{'s' if rest > 1 else ''})" if rest else ""
        raise GateFailed(first.what + more, found=first.found, hint=first.hint)


def _failed_gates(
    gates: Sequence[tuple[str, str, str]],
    studies: Sequence[tuple[str, Sequence[DominanceTests]]],
    models: Sequence[str],
    alpha: float,
) -> Iterator[GateFailed]:
    from riskrank.engine.dominance.column import method_name

    for kind, new, old in gates:
        for metric, tests in studies:
            found = max(tests, key=lambda test: (test.claim.order, test.claim.threshold is None))
            i, j = models.index(new), models.index(old)
            winner, loser = (i, j) if kind == "better" else (j, i)
            holds = bool(found.dominates[winner, loser])
            if holds == (kind == "better"):
                continue
            verb = "does not significantly dominate" if kind == "better" else "significantly dominates"
            yield GateFailed(
                f"gate --gate-{kind} {new}:{old} failed: {models[winner]} {verb} {models[loser]}",
                found=(
                    f"{method_name(found.claim)}@{metric}, violation ratio "
                    f"{found.ratios[winner, loser]:.4g}, adjusted p = "
                    f"{found.p_adjusted[winner, loser]:.4g}, alpha = {alpha:g}"
                ),
                hint=(
                    f"{new} is not shown to be better; more samples narrow the verdict"
                    if kind == "better"
                    else f"{new} is a step back from {old}"
                ),
            )
