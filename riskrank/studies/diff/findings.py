"""Findings of ``diff`` in order of severity, and their sentences."""

from riskrank.engine.family import Answer
from riskrank.studies.diff.document import DiffDocument
from riskrank.studies.findings import Finding, Sentences
from riskrank.studies.wording import join_names, p_value_phrase


def diff_findings(document: DiffDocument) -> list[Finding]:
    """Return the findings: the main metric, losses on other metrics and in groups, and repeats."""
    first = document.main_change
    figures: dict[str, float] = {"worse": first.worse, "better": first.better, "samples": first.samples}
    figures |= {} if document.clusters is None else {"clusters": document.clusters}
    if first.worse == first.better == 0:
        findings = [Finding(kind="unchanged", models=(0, 1), on=first.metric, figures=figures)]
    else:
        side = (
            Answer.UNDECIDED
            if not first.significant
            else Answer.SIGNIFICANT
            if first.better > first.worse
            else Answer.CONTRADICTED
        )
        figures["p_adjusted"] = first.p_adjusted
        findings = [Finding(kind="changed", models=(0, 1), on=first.metric, figures=figures, answer=side)]
    findings += [
        Finding(kind="loses-too", models=(0, 1), on=name) for name in _other_losing_metrics(document)
    ][:1]
    groups = [change for change in document.changes if change.group and change.metric == first.metric]
    if not first.is_loss and (losing := _losing_groups(document)):
        figures = {"groups": len(groups), "worse_in": len(losing)}
        findings.append(Finding(kind="by-group", models=(0, 1), on=first.metric, figures=figures))
    if first.worse_by_chance is not None and first.worse_in_one_run is not None:
        figures = {"worse_in_one_run": first.worse_in_one_run, "worse_by_chance": first.worse_by_chance}
        figures |= {"shown_worse": first.shown_worse or 0}
        findings.append(Finding(kind="runs-differ", models=(0, 1), on=first.metric, figures=figures))
    elif first.worse and not document.has_repeats:
        findings.append(Finding(kind="one-run-each"))
    return findings


def _change_sentence(finding: Finding, document: DiffDocument) -> str:
    """Return the sentence about the numbers of worse and better cases on the main metric."""
    new, old = document.new, document.old
    worse, better, samples = (int(finding.figures[key]) for key in ("worse", "better", "samples"))
    metric_text = f" ({finding.on})" if len(document.metrics) > 1 else ""
    if finding.kind == "unchanged":
        return f"No case changed between {old} and {new}{metric_text}."
    start = (
        f"{new} is worse than {old} on {worse:,} of {samples:,} cases and better on {better:,}{metric_text}"
    )
    p = f"{document.test_name}, {p_value_phrase(finding.figures['p_adjusted'])}"
    if finding.answer == Answer.UNDECIDED:
        return f"{start}: not significant ({p})."
    more = "more losses than gains" if worse > better else "more gains than losses"
    return f"{start}: significantly {more} ({p})."


def _other_losing_metrics(document: DiffDocument) -> list[str]:
    """Return the metrics other than the main one with significantly more losses than gains."""
    first = document.main_change
    return [
        change.metric
        for change in document.changes
        if change.group is None and change.is_loss and change is not first
    ]


def _other_losses_sentence(_: Finding, document: DiffDocument) -> str:
    """Return the sentence that names other metrics with significantly more losses than gains."""
    start = "It also" if document.main_change.is_loss else "But it"
    return f"{start} has more losses than gains on {join_names(_other_losing_metrics(document))}."


def _losing_groups(document: DiffDocument) -> list[str]:
    """Return the groups with significantly more losses than gains on the main metric."""
    metric = document.main_change.metric
    return [
        change.group
        for change in document.changes
        if change.group and change.metric == metric and change.is_loss
    ]


def _repeats_sentence(finding: Finding, document: DiffDocument) -> str:
    """Return the sentence about how many losses are expected by chance between two runs."""
    n_significant = int(finding.figures["shown_worse"])
    return (
        f"With one run each, about {finding.figures['worse_in_one_run']:.0f} cases would get worse, and "
        f"about {finding.figures['worse_by_chance']:.0f} already do between two runs of {document.old}; "
        f"{n_significant} single {'case is' if n_significant == 1 else 'cases are'} significantly worse."
    )


SENTENCES: Sentences[DiffDocument] = Sentences(
    {
        "changed": _change_sentence,
        "unchanged": _change_sentence,
        "loses-too": _other_losses_sentence,
        "by-group": lambda _, document: (
            f"But it has significantly more losses than gains in {join_names(_losing_groups(document))}."
        ),
        "runs-differ": _repeats_sentence,
        "one-run-each": lambda _, _document: (
            "With one run each, a case that got worse need not be a regression: only repeated runs show "
            "how many cases change by chance."
        ),
    }
)
"""Sentence of each kind of finding."""
