"""Severity of findings, which determines the order of sentences in documents and verdicts."""

ANSWER = "answer"
"""Placeholder for all kinds that are not listed. These are answers, usually one per verdict."""

_SEVERITY = (
    f"more-failed; worse; worse-than-before; worse-in-earlier-run; scoring-changed; {ANSWER}; "
    # Limits of an answer, and findings against it.
    "votes; worst-on-every-metric; nothing-tested; by-column; not-compared; same-scores; by-seed; few; "
    "unequal-clusters; "
    "loses-too; better; worse-tail-on-a-metric undecided-tail; ahead-in-order-1; "
    "best-mean; best-mean-hides-risk hidden-risk worse-tail; holds-at-every-look; detection-limit; "
    "runs-differ one-run-each; "
    # Further details.
    "judge-alone; judge-gain; by-task; other-scope; gain; best-macro-mean; metric-decides; more-often "
    "more-often-but-worse-tail more-often-but-milder; mean; better-elsewhere; tail tail-of-the-first "
    "untested-tail; first-without; first-by-metrics; choice-reason; counted-as; detectable-difference; "
    "scores-failed; "
    "endless-samples; possible-sizes; floor"
)
_PLACES = {kind: at for at, level in enumerate(_SEVERITY.split(";")) for kind in level.split()}


def severity_rank(kind: str) -> int:
    """Return the severity rank of a kind of finding, 0 for the most severe.

    Findings of equal rank keep the order of the study.
    """
    return _PLACES.get(kind, _PLACES[ANSWER])
