"""Screens of ``power``: power by sample size, claims about statistics, human labels, and noise sources."""

from collections.abc import Sequence

from riskrank.engine.dominance.inference import RELATIVE
from riskrank.engine.power.study import PowerStudy
from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.mean_tables import CORRECTIONS, variance_table
from riskrank.render.numbers import format_power
from riskrank.render.screens import follow_up_sections, hidden_count_lines
from riskrank.render.view import Cell, Column, Line, Section, Table, column_heads
from riskrank.studies.power.plans import ClaimsDocument, LabelsDocument, NoisePlanDocument, describe_unit
from riskrank.studies.power.study import PowerDocument
from riskrank.studies.wording import claim_words, counted

_AS_TRUTH = "effects in the pilot are taken as true, so overestimated ones look too easy to detect"

# Maximum number of pairs on the screen.
_MAX_PAIRS = 12


def build_sections(document: PowerDocument) -> list[Section]:
    """Return the sections of the screen: a table of power, the lowest first, and how it was simulated."""
    study = document.study
    hardest = study.curve.hardest_first.tolist()
    selected = hardest if len(hardest) <= _MAX_PAIRS + 1 else hardest[:_MAX_PAIRS]
    full_table = [_power_table(document, hardest)] if len(selected) < len(hardest) else []
    repeats = [] if document.split is None else [Line(document.split.sentence, "Repeats:")]
    basis = _AS_TRUTH if document.metric is not None else "the distributions are assumed to be known"
    return [
        _power_table(document, selected),
        *hidden_count_lines(len(hardest) - len(selected), "easier pair"),
        Line(f"{_describe_simulated_tables(study)}; {basis}."),
        *follow_up_sections([*full_table, _simulation_line(document), *repeats]),
    ]


def _describe_simulated_tables(study: PowerStudy) -> str:
    """Return a sentence about the simulated tables and the accuracy of their approximate tests."""
    plan, agreement, curve = study.plan, study.agreement, study.curve
    command = "rank" if plan.claim.kind == RELATIVE else "dominance"
    models = "these two models" if plan.scores.models == 2 else f"all {plan.scores.models} models"
    test = "tests of macro means" if plan.needs_means_test else "influence functions"
    error = max(float(curve.standard_error[:, :-1].max()), study.standard_error)
    agreed = f"{agreement.agreed:,} of {agreement.verdicts:,} full tests agree"
    on = f"{counted(agreement.tables, 'table')} of {agreement.size:,} {plan.unit.removesuffix(' per model')}"
    text = f"Shares of {curve.repeats:,} simulated tables, tested as in {command} on {models}, by {test}"
    return f"{text}; standard error at most {100 * error:.1f} points ({agreed}, on {on})"


def _power_table(document: PowerDocument, selected: Sequence[int]) -> Table:
    """Return a table of power by sample size for selected pairs of models, and for all pairs at once.

    `selected` has the numbers of the pairs.
    """
    study, models = document.study, document.provenance.models
    curve, pairs, ratios = study.curve, study.plan.pairs, study.plan.reference.ratios
    right = ("ε", *(f"n =\n{size:,}" for size in curve.sizes.tolist()))
    columns = column_heads("better", "worse", right=right)
    heads: list[tuple[Cell | str, ...]] = [
        (models[i], models[j], numbers.format_ratio(float(ratios[i, j]))) for i, j in pairs
    ]
    heads.append((Cell(f"all {len(pairs)} pairs", "bold"), "at once", ""))
    order = [*selected, len(pairs)] if len(pairs) > 1 else selected
    rows = tuple((*heads[number], *map(format_power, curve.power[:, number])) for number in order)
    on = "" if document.metric is None else f" on {document.metric}"
    return Table(f"Power{on}", columns, rows, stub=2)


def _simulation_line(document: PowerDocument) -> Line:
    """Return a line about how power was simulated, and under which assumptions."""
    study, inference = document.study, document.study.plan.inference
    test, resamples, plan = "the central limit theorem", inference.resamples, study.plan
    if inference.variance != "clt":
        test = "as many resamples as the family needs" if resamples == "auto" else f"{resamples:,} resamples"
    rule = "the paper's k² rule" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    text = (
        f"power is the share of tables with significant {claim_words(plan.claim)}; ε is the violation ratio "
        f"in the population. {study.curve.repeats:,} tables of n {describe_unit(study)} for each size, "
        f"{study.agreement.tables:,} more tested in full by {test}, seed {inference.seed}; {rule} over "
        f"{counted(len(plan.family) // 2, 'pair')}, level {inference.family.interval_level(1):g}."
    )
    if document.metric is not None and document.provenance.settings.get("pair") is None:
        text += " The pairs were selected as significant in the pilot, so their power is overestimated."
    return Line(text, "Simulated:")


def labels_sections(document: LabelsDocument) -> list[Section]:
    """Return a table of the power of a test of means by number of human labels, and the assumptions."""
    first, without_judge, endless = document.rows[0], document.without_judge, document.endless_samples
    extra = []
    if without_judge is not None and endless is not None:
        text = f"{without_judge:,} without the judge, {endless:,} with unlimited samples for the judge."
        extra = [Line(text, "Labels needed:")]
    return [
        Table(
            f"{first.new} {first.claim} on {first.metric}: probability of passing",
            (Column("labels"), Column("passes")),
            tuple((f"{row.size:,}", format_power(row.power)) for row in document.rows),
        ),
        Line(f"For {document.samples:,} samples, from the variance of the difference; {_AS_TRUTH}."),
        *follow_up_sections(extra),
    ]


def claims_sections(document: ClaimsDocument) -> list[Section]:
    """Return a table of the power of each claim by number of samples, and the assumptions."""
    first, sizes = document.rows[0], sorted({row.size for row in document.rows})
    powers = {(row.metric, row.size): format_power(row.power) for row in document.rows}
    columns = column_heads("statistic", right=[f"n =\n{size:,}" for size in sizes])
    rows = tuple((name, *(powers[name, size] for size in sizes)) for name in document.needed)
    return [
        Table(f"{first.new} {first.claim}: probability of passing", columns, rows),
        Line(f"n: {document.unit}. From the standard errors of the pilot; {_AS_TRUTH}."),
    ]


def noise_sections(document: NoisePlanDocument) -> list[Section]:
    """Return a table of the sources of noise: share of the variance, current levels and levels needed."""
    cost = option("cost", f"{document.components.names[-1]}=20")
    return [
        variance_table(document.components, {row.source: row.needed for row in document.rows}),
        Line(document.note),
        Line(f"{cost} sets the cost of one more level of a source, by default 1."),
    ]
