"""Labels that a gate needs where a judge scores all samples, in words."""

from __future__ import annotations

from riskrank.errors import option
from riskrank.shown.numbers import power_share
from riskrank.shown.view import Column, Line, Section, Table, asked_for
from riskrank.studies.power.labels import LabelsDocument
from riskrank.studies.power.planned import AS_TRUTH
from riskrank.studies.power.verdict import pilot_words


def view(document: LabelsDocument) -> list[Section]:
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
        Line(option("explain", True), "Also:"),
        *asked_for(
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
