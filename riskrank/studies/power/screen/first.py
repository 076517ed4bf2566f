"""Plans in words: power by sample size, when a gate stops, labels beside a judge, sources of noise."""

from collections.abc import Sequence
from dataclasses import replace

from riskrank.engine.power.planning import TASKS
from riskrank.engine.power.required_size import SizeInterval
from riskrank.engine.power.study import PowerStudy
from riskrank.errors import option
from riskrank.shown import numbers
from riskrank.shown.means import CORRECTIONS
from riskrank.shown.noise import shares_table
from riskrank.shown.numbers import power_share
from riskrank.shown.screens import offered
from riskrank.shown.view import Cell, Column, Line, OfRow, Section, Table, by_row
from riskrank.studies.power.anytime import AnytimePowerDocument
from riskrank.studies.power.labels import LabelsDocument
from riskrank.studies.power.noise import NoisePlanDocument
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
        *offered(
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
    found, unit = study.agreement, study.plan.unit
    units = "tasks" if unit == TASKS else unit.removesuffix(" a model")
    agreed = f"{found.agreed:,} of {found.verdicts:,} verdicts of the whole test are the same"
    on = f"{counted(found.tables, 'table')} of {found.size:,} {units}"
    return f"{said} by {how}, ± {100 * study.curve.largest_error:.1f} points at most ({agreed}, on {on})"


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
    size, drawn = int(study.plan.sampler.units.sum()), study.plan.drawn
    return pilot_words(interval, f"{size:,} {drawn}", f" {study.plan.unit.removeprefix(f'{drawn} ')}")


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


def labels_view(document: LabelsDocument) -> list[Section]:
    """Shares of simulated gates that pass, by labels, and what they were drawn from."""
    first, curve, required = document.rows[0], document.curve, document.required
    tried = zip(required.sizes.tolist(), required.powers.tolist(), strict=True)
    passed = ", ".join(f"{size:,}: {power_share(power)}" for size, power in tried)
    return [
        Table(
            f"{first.title} on {first.metric}: how often the gate passes",
            (Column("labels"), Column("passes")),
            tuple((f"{row.size:,}", power_share(row.power)) for row in document.rows),
        ),
        Line(f"Shares of {curve.repeats:,} simulated tables of {document.samples:,} samples; {AS_TRUTH}."),
        Line(pilot_words(document.interval, f"{document.labelled:,} labels"), "Pilot:"),
        *offered(
            [
                Line(
                    "samples are drawn from those with labels, the judge is corrected anew in each table, "
                    "and the gate is decided by Student's t, with one sample more that speaks against it. "
                    f"Passed, by labels: {passed}. The standard error of a share is "
                    f"{100 * curve.largest_error:.1f} points at most.",
                    "Simulated:",
                ),
                *_otherwise(document),
            ]
        ),
    ]


def _otherwise(document: LabelsDocument) -> list[Line]:
    """What it would take by another way, as far as any number does."""
    alone, endless = document.without_judge, document.endless
    if alone is None or endless is None:
        return []
    text = f"{alone:,} labels alone, or {endless:,} if the judge scored samples without end."
    return [Line(text, "As much as:")]


def anytime_view(document: AnytimePowerDocument) -> list[Section]:
    """Shares of runs with an answer by size, and what was simulated."""
    rows = document.rows
    fails = any(row.failed for row in rows)
    columns: list[OfRow | None] = [
        (Column("samples"), lambda row: f"{row.size:,}"),
        (Column("passed"), lambda row: power_share(row.passed)),
        (Column("failed"), lambda row: power_share(row.failed)) if fails else None,
    ]
    stops, first = document.stops, rows[0]
    found = stops.by_share(document.target)
    share = f"{100 * document.target:g} %"
    by = f"{share} of runs have an answer by {found or 0:,} samples."
    if found is None:
        by = f"Fewer than {share} of runs have an answer by {stops.limit:,} samples."
    truth = AS_TRUTH
    if document.metric is None:
        truth = "the distributions are taken as given and independent"
    return [
        by_row(f"{first.title}: runs with an answer", columns, rows),
        Line(by),
        Line(
            f"{stops.passed.size:,} runs, looked at every {document.every:,} samples up to {stops.limit:,} "
            f"({option('every')}, {option('limit')}); {truth}."
        ),
    ]


def noise_view(document: NoisePlanDocument) -> list[Section]:
    """Sources with their shares, the levels there are, and those that would do."""
    return [
        shares_table(document.components, {row.source: row.needed for row in document.rows}),
        Line(document.why),
        Line(f"{option('cost', 'item=1,judge=20')} says what a level of each costs; 1 by default."),
    ]
