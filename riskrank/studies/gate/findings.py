"""What a gate finds, the answer to all claims first, and how each kind of finding is said."""

from collections.abc import Mapping
from dataclasses import replace

from riskrank.errors import option
from riskrank.options.tiers import ADVISORY
from riskrank.studies.findings import Finding, Sentences, same_distribution
from riskrank.studies.gate.document import GateDocument, GateRow, claims_among
from riskrank.studies.gate.sentences import deciding_row, more_resamples, row_sentence, unit_of, what_decides
from riskrank.studies.gate.verdicts import FAIL, INCONCLUSIVE, PASS, VERDICTS, counts, overall
from riskrank.studies.sample_findings import blind, of_group
from riskrank.studies.wording import names, unseen

SIDES = {word: side for side, word in VERDICTS.items()}
"""The answer of a test behind what a gate says."""
_FIGURES = (
    "estimate",
    "estimate_low",
    "estimate_high",
    "low",
    "high",
    "margin",
    "relative_margin",
    "p_adjusted",
    "samples",
)


def _needed_words(case: GateDocument) -> str:
    """What would decide the claim that decides."""
    return what_decides(deciding_row(case.rows), case.unit, case.scored)


def _alike(case: GateDocument) -> list[str]:
    """Tasks with the answer that decides, where it is that of several and no pass."""
    told, rows = deciding_row(case.rows), (row for row in case.rows if row.task)
    others = [str(row.task) for row in rows if row.verdict == told.verdict and row != told]
    return [] if told.verdict == PASS else list(dict.fromkeys(others))


def gate_findings(case: GateDocument, *, alike: bool, rare: bool, least: str | None = None) -> list[Finding]:
    """The answer to all claims, the claim that decides, what would decide it, and what it does not say.

    Of models that are `alike` on all that is claimed there is nothing to tell; what is `rare` a pass does not
    speak of, of the group of `least` samples least of all.
    """
    row, outcome, models = deciding_row(case.rows), overall(case.rows), case.provenance.models
    given = ((name, getattr(row, name)) for name in _FIGURES)
    figures = {name: float(value) for name, value in given if value is not None}
    if row.statistic.startswith("tvar@"):
        figures["level"] = float(row.statistic.partition("@")[2])
    pair, answer = tuple(models.index(model) for model in (row.new, row.old)), SIDES[row.verdict]
    answers: dict[str, float] = {"claims": len(_claims(case)), **counts(case.rows)}
    found = [
        Finding(kind="outcome", figures=answers, answer=SIDES[outcome]),
        Finding(kind="deciding", models=pair, on=row.metric, figures=figures, answer=answer),
    ]
    if _needed_words(case):
        count = {} if row.samples_needed is None else {"samples_needed": row.samples_needed}
        found.append(Finding(kind="needed", on=row.metric, figures=count))
    waver, resamples = more_resamples(case)
    if waver:
        few = case.provenance.resamples or 0
        figures = {"claims": len(waver), "resamples": few, "resamples_needed": resamples}
        found.append(Finding(kind="by-seed", figures=figures))
    if alike:
        found.append(Finding(kind="same-distribution", models=pair, on=row.metric))
    passed = outcome == PASS
    asides: dict[str, tuple[object, Mapping[str, float]]] = {
        "tasks-alike": (_alike(case), {}),
        "holds-at-every-look": (row.e_value is not None, {}),
        "counted-as": (passed and case.counted_as, case.counted_as.figures if case.counted_as else {}),
        "judge-worth": (
            case.judged and case.judged.gain_sentence,
            case.judged.figures if case.judged else {},
        ),
    }
    found += [Finding(kind=kind, figures=figures) for kind, (told, figures) in asides.items() if told]
    return [*found, replace(blind(case.worth, case.unit), on=least or "")] if passed and rare else found


def _claims(case: GateDocument) -> list[GateRow]:
    """Claims that a gate can fail by."""
    return [row for row in claims_among(case.rows) if row.tier != ADVISORY]


def _outcome(_: Finding, case: GateDocument) -> str:
    advisory = [row for row in case.rows if row.tier == ADVISORY]
    claims = _claims(case)
    found = counts(claims)
    parts = [f"{found[PASS]} of {len(claims)} claim{'s' if len(claims) > 1 else ''} shown"]
    parts += [f"{found[FAIL]} refuted"] if found[FAIL] else []
    parts += [f"{found[INCONCLUSIVE]} inconclusive"] if found[INCONCLUSIVE] else []
    shown = sum(row.verdict == PASS for row in advisory)
    beside = f"; {shown} of {len(advisory)} advisory shown, which fails nothing" if advisory else ""
    return f"{overall(case.rows).upper()}: {', '.join(parts)}{beside}."


def _deciding(_: Finding, case: GateDocument) -> str:
    row = deciding_row(case.rows)
    of_tasks = unit_of(row, case.unit) == "tasks"
    return f"{'On tasks like these ' if of_tasks else ''}{row_sentence(row)}."


def _needed(_: Finding, case: GateDocument) -> str:
    bets, needed = deciding_row(case.rows).e_value is not None, _needed_words(case)
    how = "more being like these" if bets else "normal approximation"
    return f"{needed[0].upper()}{needed[1:]} would decide that ({how})."


def _by_seed(finding: Finding, case: GateDocument) -> str:
    few, claims = finding.figures["resamples"], int(finding.figures["claims"])
    which = "" if len(case.claims) == 1 else f" {claims} of {len(case.claims)} claims"
    settles = "the p-value is at its level, and no number of resamples in reach would settle it"
    if more := int(finding.figures["resamples_needed"]):
        settles = f"{option('resamples', more)} should settle {'it' if claims == 1 else 'them'}"
    return f"At {few:,} resamples another seed may decide{which} otherwise: {settles}."


def _tasks_alike(_: Finding, case: GateDocument) -> str:
    told = deciding_row(case.rows)
    answer = "Refuted" if told.verdict == FAIL else "Inconclusive"
    return f"{answer}{' too' if told.task else ''} on {names(_alike(case), 6)}."


SENTENCES: Sentences[GateDocument] = Sentences(
    {
        "outcome": _outcome,
        "deciding": _deciding,
        "needed": _needed,
        "by-seed": _by_seed,
        "same-distribution": lambda found, case: same_distribution(
            [case.provenance.models[i] for i in found.models], found.on
        ),
        "tasks-alike": _tasks_alike,
        "holds-at-every-look": lambda _, _case: "It may be looked at again at any time.",
        "blind-to": lambda found, case: of_group(found.on or None, unseen(case.worth, case.unit)),
        "counted-as": lambda _, case: case.counted_as.sentence if case.counted_as else "",
        "judge-worth": lambda _, case: case.judged.gain_sentence if case.judged else "",
    }
)
"""How each kind of finding is said."""
