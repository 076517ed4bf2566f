"""How grave each kind of finding is: the order in which documents list them, and verdicts say them."""

ANSWER = "answer"
"""In place of all kinds that are not listed: answers, of which a verdict mostly has one."""

_GRAVITY = (
    f"more-failed; worse; worse-than-before; was-worse; ruler-moved; {ANSWER}; "
    # What an answer does not rest on, and what speaks against it.
    "worst-on-every-metric; nothing-tested; by-column; not-compared; same-scores; by-seed; few; worth; "
    "loses-too; better; worse-tail-on-a-metric undecided-tail; ahead-in-order-1; "
    "best-mean; best-mean-hides-risk hidden-risk worse-tail; holds-at-every-look; blind-to; "
    "runs-differ one-run-each; "
    # What else there is to say of it.
    "judge-alone; judge-worth; by-task; other-scope; gain; best-macro-mean; metric-decides; more-often "
    "more-often-but-worse-tail more-often-but-milder; mean; better-elsewhere; tail tail-of-the-first "
    "untested-tail; first-without; first-by-metrics; why-chosen; counted-as; visible; scores-failed; "
    "endless-samples; possible-sizes; floor"
)
_PLACES = {kind: at for at, level in enumerate(_GRAVITY.split(";")) for kind in level.split()}


def gravity(kind: str) -> int:
    """Place of a kind among all, the gravest first; kinds of one place stand as their study lists them."""
    return _PLACES.get(kind, _PLACES[ANSWER])
