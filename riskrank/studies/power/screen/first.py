"""Power by sample size, and the size that is needed, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from riskrank.engine.power.planning import TASKS
from riskrank.engine.power.required_size import SizeInterval
from riskrank.engine.power.study import PowerStudy
from riskrank.errors import option
from riskrank.shown import numbers
from riskrank.shown.numbers import power_share
from riskrank.shown.view import Cell, Column, Line, Section, Table, asked_for
from riskrank.studies.dominance.screen.detail import CORRECTIONS
from riskrank.studies.power.planned import AS_TRUTH
from riskrank.studies.power.study import PowerDocument
from riskrank.studies.power.verdict import pilot_words, unit_words
from riskrank.studies.wording import claim_words, counted

# A longer table hides the pairs that decide.
_MOST_PAIRS = 12


def view(document: PowerDocument) -> list[Section]:
    """Pairs by power, the hardest first, and whose word it is; how it was simulated is for who asks."""
    study, models, pilot = document.study, document.provenance.models, document.metric is not None
    given = "the distributions are taken as given"
    table = _curve_table(document.metric, study, models)
    on = "" if document.metric is None else f" on {document.metric}"
    # Which ratio it is and which test finds it takes words of its own.
    first = replace(table, title=f"How often it is found{on}").with_columns(
        [at for at, column in enumerate(table.columns) if column.head != "ε"]
    )
    return [
        first,
        Line(f"{_shares(study)}; {AS_TRUTH if pilot else given}."),
        *([] if study.interval is None else [Line(_pilot(study, study.interval), "Pilot:")]),
        Line(option("explain", True), "Also:"),
        *asked_for(
            [
                table,
                _reading(study, pilot=pilot, chosen=document.provenance.settings.get("pair") is None),
                _simulated(study, pilot=pilot),
                *([] if document.split is None else [Line(document.split.sentence, "Repeats:")]),
            ]
        ),
    ]


def _shares(study: PowerStudy) -> str:
    """How many tables the shares are of, how they were told, and how often whole tests said the same."""
    said = f"Shares of {study.curve.repeats:,} drawn tables"
    how = "Student's t of macro means" if study.plan.by_means else "what their samples add to the effects"
    found = study.agreement
    agreed = f"{found.agreed:,} of {found.verdicts:,} verdicts of the whole test are the same"
    on = f"{counted(found.tables, 'table')} of {found.size:,} {_counted(study)}"
    return f"{said} by {how}, ± {100 * study.curve.largest_error:.1f} points at most ({agreed}, on {on})"


def _counted(study: PowerStudy) -> str:
    return "tasks" if study.plan.unit == TASKS else study.plan.unit.removesuffix(" a model")


def _curve_table(metric: str | None, study: PowerStudy, models: Sequence[str]) -> Table:
    curve, pairs, ratios = study.curve, study.plan.pairs, study.plan.reference.ratios
    columns = [Column("better", "left"), Column("worse", "left"), Column("ε")]
    columns += [Column(f"n =\n{size:,}") for size in curve.sizes.tolist()]
    by_power = curve.hardest_first
    shown = by_power if len(pairs) <= _MOST_PAIRS + 1 else by_power[:_MOST_PAIRS]
    rows: list[tuple[Cell | str, ...]] = [
        (
            models[pairs[number][0]],
            models[pairs[number][1]],
            numbers.ratio(float(ratios[pairs[number]])),
            *(power_share(share) for share in curve.power[:, number]),
        )
        for number in shown
    ]
    rest = by_power[len(shown) :]
    if len(rest):
        least = (power_share(share) for share in curve.least(rest))
        rows.append((f"{len(rest)} easier pairs", "each at least", "", *least))
    if len(pairs) > 1:
        all_of_them = (power_share(share) for share in curve.together)
        rows.append((Cell(f"all {len(pairs)} pairs", "bold"), "at once", "", *all_of_them))
    name = claim_words(study.plan.claim) + ("" if metric is None else f"@{metric}")
    return Table(f"How often {name} is significant", tuple(columns), tuple(rows), stub=2)


def _pilot(study: PowerStudy, interval: SizeInterval) -> str:
    size, unit = int(study.plan.sampler.units.sum()), study.plan.unit.removeprefix("samples ")
    return pilot_words(interval, f"{size:,} samples", f" {unit}")


def _reading(study: PowerStudy, *, pilot: bool, chosen: bool) -> Line:
    error = 100 * study.curve.largest_error
    parts = [
        f"the share of tables of n {unit_words(study)} in which the dominance is significant; its standard "
        f"error, with what whole tests leave in doubt, is {error:.1f} points at most."
    ]
    if pilot:
        parts.append("ε is the pilot's violation ratio.")
        if chosen:
            parts.append(
                "Pairs were chosen because they are significant in it: that flatters them, beyond what the "
                "interval knows."
            )
    else:
        parts.append("ε is the violation ratio of the distributions.")
    return Line(" ".join(parts), "Reading:")


def _simulated(study: PowerStudy, *, pilot: bool) -> Line:
    inference = study.plan.inference
    if inference.variance == "clt":
        how = "tested by the limit theorem"
    else:
        many = inference.resamples
        how = "tested with as many bootstrap resamples as the family needs"
        if many != "auto":
            how = f"tested with {many:,} bootstrap resamples"
    rule = "the paper's k² rule" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    design = "independent"
    if pilot:
        design = "paired" if study.plan.paired else "unpaired"
    family = (
        "one test asked for" if len(study.plan.family) == 1 else f"{len(study.plan.family)} ordered pairs"
    )
    text = (
        f"{study.curve.repeats:,} {design} tables a size, {study.agreement.tables:,} more {how}, seed "
        f"{inference.seed}; {rule} over the {family}, level {inference.family.level(1):g}."
    )
    return Line(text, "Simulated:")
