"""Which cases changed between two models: the study behind ``diff``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from riskrank.scores.table.metrics import assumed_against_its_name
from riskrank.scores.table.score_table import ScoreTable
from riskrank.studies.diff.changes import cases_of, change_of, groups_of, rows_of, with_texts
from riskrank.studies.diff.document import CaseRow, Change, DiffDocument
from riskrank.studies.diff.findings import SENTENCES, diff_findings
from riskrank.studies.diff.options import DiffSettings
from riskrank.studies.pairs import resolve_pair
from riskrank.studies.provenance import provenance
from riskrank.studies.runtime import Runtime
from riskrank.studies.said import assumed
from riskrank.studies.settings import family_of
from riskrank.studies.wording import counted


def diff(table: ScoreTable, settings: DiffSettings, _runtime: Runtime | None = None) -> DiffDocument:
    """Compare two models case by case: wins, losses, ties, and the cases that lost most.

    Parameters
    ----------
    table : ScoreTable
    settings : DiffSettings
    _runtime : Runtime, optional

    Returns
    -------
    DiffDocument

    Raises
    ------
    UsageError
        If the pair does not name two models.
    InputError
        If they share no sample.
    """
    assert settings.pair is not None
    new, old = resolve_pair(settings.pair, table.models, parameter="pair")
    groups, family = groups_of(table, new), family_of(settings)
    rows: list[CaseRow] = []
    changes: list[Change] = []
    for metric in range(len(table.metrics)):
        cases = cases_of(table, new, old, metric, family)
        rows += rows_of(table, cases, groups)
        of_case = [groups[sample] for sample in cases.samples.tolist()]
        for group in (None, *sorted({name for name in of_case if name is not None})):
            kept = np.array([group is None or name == group for name in of_case])
            changes.append(change_of(table, cases, kept, group))
    adjusted = family.adjusted([one.p_value for one in changes])
    changes = [
        replace(one, p_adjusted=float(p), significant=bool(family.significant(p)))
        for one, p in zip(changes, adjusted, strict=True)
    ]
    document = DiffDocument(
        provenance=provenance(
            "diff",
            table,
            settings,
            {"family": counted(len(changes), "sign test"), "cases": "Benjamini-Hochberg a metric"},
        ),
        rows=rows,
        new=table.models[new],
        old=table.models[old],
        changes=changes,
        settings=settings,
        metrics=table.metrics,
        texts="" if table.texts is None else table.texts.said,
    )
    document = replace(document, rows=_with_texts(table, document))
    own = table.suite.specs
    unsaid = assumed(
        list(dict.fromkeys(one.name for one in own or table.metrics if assumed_against_its_name(one)))
    )
    about = (document.new, document.old)
    return replace(document, **SENTENCES.told(diff_findings(document), document, about, unsaid))


def _with_texts(table: ScoreTable, document: DiffDocument) -> list[CaseRow]:
    """All cases, those to be shown with their texts: all texts may be more than memory holds."""
    shown = document.lost[: document.cases]
    told = dict(zip(map(id, shown), with_texts(table, shown, document.new, document.old), strict=True))
    return [told.get(id(row), row) for row in document.rows]
