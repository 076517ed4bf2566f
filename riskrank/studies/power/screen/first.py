"""Plans in words: power by sample size, labels beside a judge, sources of noise."""

from collections.abc import Sequence

from riskrank.engine.power.study import PowerStudy
from riskrank.errors import option
from riskrank.render import numbers
from riskrank.render.mean_tables import CORRECTIONS
from riskrank.render.noise import variance_table
from riskrank.render.numbers import format_power
from riskrank.render.screens import follow_up_sections, hidden_count_lines
from riskrank.render.view import Cell, Column, Line, Section, Table, column_heads
from riskrank.studies.power.labels import LabelsDocument
from riskrank.studies.power.noise import NoisePlanDocument
from riskrank.studies.power.study import PowerDocument
from riskrank.studies.power.verdict import tested_by, unit_words
from riskrank.studies.wording import claim_words, counted

_AS_TRUTH = "the pilot is taken as the truth: what it overstates looks easier to find than it is"

# Pairs that a screen has room for.
_MOST_PAIRS = 12


def view(document: PowerDocument) -> list[Section]:
    """Pairs by power, the hardest first, and whose word it is; how it was simulated is for who asks."""
    study = document.study
    hardest = study.curve.hardest_first.tolist()
    shown = hardest if len(hardest) <= _MOST_PAIRS + 1 else hardest[:_MOST_PAIRS]
    every = [_curve_table(document, hardest)] if len(shown) < len(hardest) else []
    repeats = [] if document.split is None else [Line(document.split.sentence, "Repeats:")]
    given = _AS_TRUTH if document.metric is not None else "the distributions are taken as given"
    return [
        _curve_table(document, shown),
        *hidden_count_lines(len(hardest) - len(shown), "easier pair"),
        Line(f"{_shares(study)}; {given}."),
        *follow_up_sections([*every, _simulated(document), *repeats]),
    ]


def _shares(study: PowerStudy) -> str:
    """How many tables the shares are of, how they were told, and how often whole tests said the same."""
    said = f"Shares of {study.curve.repeats:,} drawn tables as {tested_by(study)}"
    how = "Student's t of macro means" if study.plan.by_means else "what their samples add to the effects"
    found, units = study.agreement, study.plan.unit.removesuffix(" a model")
    agreed = f"{found.agreed:,} of {found.verdicts:,} verdicts of the whole test are the same"
    on = f"{counted(found.tables, 'table')} of {found.size:,} {units}"
    return f"{said}, by {how}, ± {100 * study.largest_error:.1f} points at most ({agreed}, on {on})"


def _curve_table(document: PowerDocument, shown: Sequence[int]) -> Table:
    """How often some of the pairs are found by size, and all of them at once."""
    study, models = document.study, document.provenance.models
    curve, pairs, ratios = study.curve, study.plan.pairs, study.plan.reference.ratios
    columns = column_heads(
        "better", "worse", right=("ε", *(f"n =\n{size:,}" for size in curve.sizes.tolist()))
    )
    rows: list[tuple[Cell | str, ...]] = [
        (
            *(models[model] for model in pairs[number]),
            numbers.format_ratio(float(ratios[pairs[number]])),
            *map(format_power, curve.power[:, number]),
        )
        for number in shown
    ]
    if len(pairs) > 1:
        rows.append(
            (Cell(f"all {len(pairs)} pairs", "bold"), "at once", "", *map(format_power, curve.together))
        )
    on = "" if document.metric is None else f" on {document.metric}"
    return Table(f"How often it is found{on}", columns, tuple(rows), stub=2)


def _simulated(document: PowerDocument) -> Line:
    """How it was done, and what that leaves out."""
    study, inference = document.study, document.study.plan.inference
    how, many, plan = "the limit theorem", inference.resamples, study.plan
    if inference.variance != "clt":
        how = "as many resamples as the family needs" if many == "auto" else f"{many:,} resamples"
    rule = "the paper's k² rule" if inference.paper_exact else CORRECTIONS[inference.family.correction]
    text = (
        f"found is a significant {claim_words(plan.claim)}; ε is the violation ratio of what is drawn from. "
        f"{study.curve.repeats:,} tables of n {unit_words(study)} a size, {study.agreement.tables:,} more "
        f"tested by {how}, seed {inference.seed}; {rule} over {counted(len(plan.family), 'ordered pair')}, "
        f"level {inference.family.level(1):g}."
    )
    if document.metric is not None and document.provenance.settings.get("pair") is None:
        text += " Pairs were chosen as they are significant in the pilot, which flatters them."
    return Line(text, "Simulated:")


def labels_view(document: LabelsDocument) -> list[Section]:
    """How often the gate passes, by labels, and what that rests on."""
    first, alone, endless = document.rows[0], document.without_judge, document.endless_samples
    otherwise = []
    if alone is not None and endless is not None:
        text = f"{alone:,} labels alone, or {endless:,} if the judge scored samples without end."
        otherwise = [Line(text, "As much as:")]
    return [
        Table(
            f"{first.new} {first.claim} on {first.metric}: how often the gate passes",
            (Column("labels"), Column("passes")),
            tuple((f"{row.size:,}", format_power(row.power)) for row in document.rows),
        ),
        Line(f"Of tables with {document.samples:,} samples, by the variance of the difference; {_AS_TRUTH}."),
        *follow_up_sections(otherwise),
    ]


def noise_view(document: NoisePlanDocument) -> list[Section]:
    """Sources with their shares, the levels there are, and those that would do."""
    cost = option("cost", f"{document.components.names[-1]}=20")
    return [
        variance_table(document.components, {row.source: row.needed for row in document.rows}),
        Line(document.why),
        Line(f"{cost} is the cost of a level of it; 1 by default."),
    ]
