"""Findings of a gate, the overall verdict first, and their sentences."""

from collections.abc import Mapping
from dataclasses import replace

from riskrank.errors import option
from riskrank.options.inference import ADVISORY
from riskrank.studies.findings import (
    Finding,
    Sentences,
    detection_limit,
    group_sentence,
    same_distribution_sentence,
)
from riskrank.studies.gate import sentences
from riskrank.studies.gate.claim import FAILED
from riskrank.studies.gate.document import GateDocument, GateRow, claim_rows
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS, VERDICTS, count_verdicts, joint_verdict
from riskrank.studies.wording import counted, detection_limit_sentence, join_names

# Side of a test for each verdict.
SIDES = {word: side for side, word in VERDICTS.items()}
_FIGURES = ["estimate", "estimate_low", "estimate_high", "low", "high", "margin", "relative_margin"]
_FIGURES += ["p_adjusted", "samples"]


def _tasks_with_same_verdict(case: GateDocument) -> list[str]:
    """Return the other tasks with the same verdict as the deciding claim. The list is empty for a pass."""
    deciding = sentences.deciding_row(case.rows)
    tasks = [row.task for row in case.rows if row.verdict == deciding.verdict and row != deciding]
    return [] if deciding.verdict == PASS else list(dict.fromkeys(filter(None, tasks)))


def gate_findings(case: GateDocument, *, same: bool, rare: bool, group: str | None = None) -> list[Finding]:
    """Return the findings: overall verdict, deciding claim, samples needed and limitations.

    Parameters
    ----------
    case : GateDocument
    same : bool
        True if the models have identical score distributions in all claims.
    rare : bool
        True if rare large losses remain possible after a pass.
    group : str, optional
        Group with the smallest effective sample size.
    """
    row, outcome, models = sentences.deciding_row(case.rows), joint_verdict(case.rows), case.provenance.models
    figures = row_figures(row)
    pair = tuple(models.index(model) for model in (row.new, row.old) if model)
    answer = SIDES[row.verdict]
    answers: dict[str, float] = {"claims": len(_blocking_claims(case)), **count_verdicts(case.rows)}
    answers |= {"must_pass": case.required} if case.required else {}
    findings = [
        Finding(kind="outcome", figures=answers, answer=SIDES[outcome]),
        Finding(kind="deciding", models=pair, on=row.metric, figures=figures, answer=answer),
    ]
    if sentences.describe_needed_samples(row, case.unit, case.judged_samples):
        count = {} if row.samples_needed is None else {"samples_needed": row.samples_needed}
        findings.append(Finding(kind="needed", on=row.metric, figures=count))
    by_seed, resamples = sentences.seed_dependent_rows(case)
    if by_seed:
        used = case.provenance.resamples or 0
        figures = {"claims": len(by_seed), "resamples": used, "resamples_needed": resamples}
        findings.append(Finding(kind="by-seed", figures=figures))
    if same:
        findings.append(Finding(kind="same-distribution", models=pair, on=row.metric))
    for tail in case.worse_tails:
        sides = models.index(tail.new), models.index(tail.old)
        words = {"loss": sentences.row_sentence(tail), "claim": _tail_claim(tail, case)}
        finding = Finding(
            kind="worse-tail", models=sides, on=tail.metric, figures=row_figures(tail), words=words
        )
        findings.append(finding)
    passed = outcome == PASS
    optional: dict[str, tuple[object, Mapping[str, float]]] = {
        "tasks-alike": (_tasks_with_same_verdict(case), {}),
        "holds-at-every-look": (row.e_value is not None, {}),
        "counted-as": (passed and case.counted_as, case.counted_as.figures if case.counted_as else {}),
        "judge-gain": (case.judged and case.judged.gain_sentence, case.judged.figures if case.judged else {}),
    }
    findings += [Finding(kind=kind, figures=figures) for kind, (use, figures) in optional.items() if use]
    if passed and rare:
        findings.append(replace(detection_limit(case.effective_size, case.unit), on=group or ""))
    return findings


def _tail_claim(tail: GateRow, case: GateDocument) -> str:
    """Return the options that also gate on the tail of a metric, and the margins that its loss exceeds."""
    names = tail.new, tail.old, tail.metric
    row = next(row for row in case.claims if (row.new, row.old, row.metric) == names and not row.subset)
    claim = f"{option('on', row.statistic)} and {option('on', tail.statistic)}"
    loss = min(abs(bound) for bound in (tail.low, tail.high) if bound is not None)
    if row.relative_margin is not None:
        return f"{claim}, with {option('margin')} in the units of {tail.metric}"
    limit = f", with {option('margin')} below {sentences.format_value(tail, loss)}"
    return f"{claim}{limit if row.margin >= loss else ''}"


def row_figures(row: GateRow) -> dict[str, float]:
    """Return the numbers of a row by field name, to store with a finding."""
    values = ((name, getattr(row, name)) for name in _FIGURES)
    figures = {name: float(value) for name, value in values if value is not None}
    if row.statistic.startswith("tvar@"):
        figures["level"] = float(row.statistic.partition("@")[2])
    return figures


def _blocking_claims(case: GateDocument) -> list[GateRow]:
    """Return the rows of claims that can fail the gate. These are all except the advisory ones."""
    return [row for row in claim_rows(case.rows) if row.tier != ADVISORY]


def _outcome_sentence(_: Finding, case: GateDocument) -> str:
    """Return the sentence with the overall verdict and the number of claims by verdict."""
    advisory = [row for row in case.rows if row.tier == ADVISORY]
    claims = _blocking_claims(case)
    verdicts = count_verdicts(claims)
    parts = [f"{verdicts[PASS]} of {len(claims)} claim{'s' if len(claims) > 1 else ''} passed"]
    parts += [f"{verdicts[FAIL]} failed"] if verdicts[FAIL] else []
    parts += [f"{verdicts[INCONCLUSIVE]} inconclusive"] if verdicts[INCONCLUSIVE] else []
    outage = any(row.statistic == FAILED and row.tier != ADVISORY for row in case.rows)
    parts += [f"{'but ' * (verdicts[PASS] == len(claims))}too many calls failed"] if outage else []
    lost = max((len(row.lost_samples or ()) for row in case.rows), default=0)
    parts += [f"but {counted(lost, 'sample')} of {case.required:,} that must pass failed"] if lost else []
    passed = sum(row.verdict == PASS for row in advisory)
    note = f"; {passed} of {len(advisory)} advisory passed (they cannot fail the gate)" if advisory else ""
    return f"{joint_verdict(case.rows).upper()}: {', '.join(parts)}{note}."


def _deciding_sentence(_: Finding, case: GateDocument) -> str:
    """Return the sentence about the claim that decides the overall verdict."""
    row = sentences.deciding_row(case.rows)
    of_tasks = sentences.row_unit(row, case.unit) == "tasks"
    sentence = f"{'On tasks like these, ' if of_tasks else ''}{sentences.row_sentence(row)}."
    if row.metric in case.unbounded and row.verdict == INCONCLUSIVE:
        sentence += f" Missing scores of {row.metric}, which has no bounds, could change the answer."
    return sentence


def _needed_sentence(_: Finding, case: GateDocument) -> str:
    """Return the sentence about the number of samples that would decide the inconclusive claim."""
    row = sentences.deciding_row(case.rows)
    needed = sentences.describe_needed_samples(row, case.unit, case.judged_samples)
    basis = "normal approximation" if row.e_value is None else "if further samples are like these"
    return f"{needed[0].upper()}{needed[1:]} would decide this claim ({basis})."


def _seed_sentence(finding: Finding, case: GateDocument) -> str:
    """Return the sentence about verdicts that depend on the random seed."""
    claims = int(finding.figures["claims"])
    scope = "" if len(case.claims) == 1 else f" {claims} of {len(case.claims)} claims"
    remedy = "the p-value is too close to the significance level for any feasible number of resamples"
    if more := int(finding.figures["resamples_needed"]):
        remedy = f"{option('resamples', more)} should settle {'it' if claims == 1 else 'them'}"
    return f"Close: another seed may decide{scope} differently: {remedy}."


def _tasks_sentence(_: Finding, case: GateDocument) -> str:
    """Return the sentence that lists the other tasks with the same verdict."""
    deciding = sentences.deciding_row(case.rows)
    answer = "failed" if deciding.verdict == FAIL else "inconclusive"
    start = f"Also {answer}" if deciding.task else answer.capitalize()
    return f"{start} on {join_names(_tasks_with_same_verdict(case), 6)}."


# Sentence for each kind of finding.
SENTENCES: Sentences[GateDocument] = Sentences(
    {
        "outcome": _outcome_sentence,
        "deciding": _deciding_sentence,
        "needed": _needed_sentence,
        "by-seed": _seed_sentence,
        "worse-tail": lambda finding, _: (
            f"The mean hides this loss: {finding.words['loss']}. To gate on it: {finding.words['claim']}."
        ),
        "same-distribution": lambda finding, case: same_distribution_sentence(
            [case.provenance.models[i] for i in finding.models], finding.on
        ),
        "tasks-alike": _tasks_sentence,
        "holds-at-every-look": lambda _, _case: "The verdict stays valid if you look again at any time.",
        "detection-limit": lambda finding, case: group_sentence(
            finding.on or None, detection_limit_sentence(case.effective_size, case.unit)
        ),
        "counted-as": lambda _, case: case.counted_as.sentence if case.counted_as else "",
    }
)
