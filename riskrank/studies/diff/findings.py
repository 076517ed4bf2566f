"""What changed between two models, the gravest first, and how each kind of finding is said."""

from riskrank.engine.family import Side
from riskrank.studies.diff.document import DiffDocument
from riskrank.studies.findings import Finding, Sentences
from riskrank.studies.wording import names, p_words


def diff_findings(document: DiffDocument) -> list[Finding]:
    """What changed on the foremost metric, where else more was lost, and what such a list leaves open."""
    first = document.foremost
    figures: dict[str, float] = {"worse": first.worse, "better": first.better, "samples": first.samples}
    figures |= {} if document.clusters is None else {"clusters": document.clusters}
    if first.worse == first.better == 0:
        found = [Finding(kind="unchanged", models=(0, 1), on=first.metric, figures=figures)]
    else:
        side = (
            Side.OPEN if not first.significant else Side.SHOWN if first.better > first.worse else Side.REFUTED
        )
        figures["p_adjusted"] = first.p_adjusted
        found = [Finding(kind="changed", models=(0, 1), on=first.metric, figures=figures, answer=side)]
    found += [Finding(kind="loses-too", models=(0, 1), on=name) for name in _also_lost(document)][:1]
    groups = [one for one in document.changes if one.group and one.metric == first.metric]
    if not first.lost and (losing := _losing(document)):
        figures = {"groups": len(groups), "worse_in": len(losing)}
        found.append(Finding(kind="by-group", models=(0, 1), on=first.metric, figures=figures))
    if first.worse_by_chance is not None and first.worse_in_one_run is not None:
        figures = {"worse_in_one_run": first.worse_in_one_run, "worse_by_chance": first.worse_by_chance}
        figures |= {"shown_worse": first.shown_worse or 0}
        found.append(Finding(kind="runs-differ", models=(0, 1), on=first.metric, figures=figures))
    elif first.worse and not document.repeated:
        found.append(Finding(kind="one-run-each"))
    return found


def _changed(finding: Finding, document: DiffDocument) -> str:
    new, old = document.new, document.old
    worse, better, samples = (int(finding.figures[key]) for key in ("worse", "better", "samples"))
    where = f" ({finding.on})" if len(document.metrics) > 1 else ""
    if finding.kind == "unchanged":
        return f"No case changed between {old} and {new}{where}."
    start = f"{new} is worse than {old} on {worse:,} of {samples:,} cases and better on {better:,}{where}"
    p = f"{document.test}, {p_words(finding.figures['p_adjusted'])}"
    if finding.answer == Side.OPEN:
        return f"{start}: no more on one side than chance alone can make ({p})."
    more = "more worse than better" if worse > better else "more better than worse"
    return f"{start}: {more} ({p})."


def _also_lost(document: DiffDocument) -> list[str]:
    """Other metrics on which more is shown to be lost than won."""
    first = document.foremost
    return [one.metric for one in document.changes if one.group is None and one.lost and one is not first]


def _loses_too(_: Finding, document: DiffDocument) -> str:
    start = "It also" if document.foremost.lost else "But it"
    return f"{start} loses more than it wins on {names(_also_lost(document))}."


def _losing(document: DiffDocument) -> list[str]:
    """Groups of that metric in which more is shown to be lost than won."""
    metric = document.foremost.metric
    return [one.group for one in document.changes if one.group and one.metric == metric and one.lost]


def _runs_differ(finding: Finding, document: DiffDocument) -> str:
    shown = int(finding.figures["shown_worse"])
    return (
        f"One run each would lose about {finding.figures['worse_in_one_run']:.0f} cases, where two runs of "
        f"{document.old} already lose {finding.figures['worse_by_chance']:.0f} to each other; {shown} "
        f"single {'case is' if shown == 1 else 'cases are'} shown to be worse."
    )


SENTENCES: Sentences[DiffDocument] = Sentences(
    {
        "changed": _changed,
        "unchanged": _changed,
        "loses-too": _loses_too,
        "by-group": lambda _, document: f"But it loses more than it wins in {names(_losing(document))}.",
        "runs-differ": _runs_differ,
        "one-run-each": lambda _, _document: (
            "With one run each, a case that flips is no regression yet: runs of one model flip cases, too; "
            "how many, only repeated runs would tell."
        ),
    }
)
"""How each kind of finding is said."""
