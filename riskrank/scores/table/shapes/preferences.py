"""A row a comparison: two models and who won."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from riskrank.engine.portfolio.judge_votes import VoteScores, score_votes
from riskrank.errors import RiskrankError, listing
from riskrank.scores.files.source import FrameInMemory, InputFile, Source
from riskrank.scores.table.shapes.columns import Columns
from riskrank.scores.table.votes import ROLES, VoteTable, read_votes, vote_columns

METRIC = "verdict"
# The first or the second model won, or none.
_NUMBERED = {"1": "a", "2": "b", "0": "tie"}


class PreferencesSource(FrameInMemory):
    """Scores of wins and losses, a row a model and sample that was judged."""

    def __init__(self, inner: Source, found: VoteScores) -> None:
        super().__init__(inner.label, b"", inner.sha256)
        self._inner = inner
        columns = zip(found.models, found.scores.T.tolist(), (found.judged > 0).T.tolist(), strict=True)
        rows = [
            (model, sample, METRIC, score)
            for model, column, judged in columns
            for sample, score, known in zip(found.samples, column, judged, strict=True)
            if known
        ]
        self._frame = pl.DataFrame(rows, schema=["model", "sample", "metric", "score"], orient="row")
        self._name_columns(self._frame.columns)

    def input_file(self, rows: int) -> InputFile:
        """The provenance of the file of votes."""
        return self._inner.input_file(rows)


def _sides(table: VoteTable, roles: Mapping[str, str]) -> list[str]:
    """Votes as a side each, where they name the model that won, or its column."""
    rows = zip(table.first, table.second, table.votes, strict=True)
    if {"1", "2"} <= {*table.votes} <= {*_NUMBERED}:
        return [_NUMBERED[vote] for vote in table.votes]
    return [
        "a" if vote in (first, roles["model_a"]) else "b" if vote in (second, roles["model_b"]) else vote
        for first, second, vote in rows
    ]


def as_preferences(columns: Columns, source: Source) -> tuple[Source, str] | None:
    """Votes as scores, and what was understood; None where rows are no votes."""
    roles = vote_columns(columns.names)
    if set(roles) != set(ROLES):
        return None
    sides = [set(columns.frame[roles[role]].drop_nulls().cast(pl.String)) for role in ("model_a", "model_b")]
    if any(columns.kind(roles[role]) != "text" for role in ROLES[1:3]) or not sides[0] | sides[1]:
        return None
    text = ",".join(f"{role}={column}" for role, column in roles.items())
    try:
        table = read_votes([source], columns=text)
        found = score_votes(
            table.samples,
            table.first,
            table.second,
            _sides(table, roles),
            place=table.place,
        )
    except RiskrankError:
        return None
    sides_told = f"{roles['model_a']} against {roles['model_b']}, by {roles['verdict']}"
    of = f"of {listing(found.models)} a win counts 2 a {roles['sample']}, a loss -2, a tie 0"
    shares = 0.5 + np.nansum(found.scores, axis=0) / (4 * found.votes)
    rates = (f"{model} {share:.0%}" for model, share in zip(found.models, shares, strict=True))
    said = f"pairwise preferences: {sides_told}; {of}; win rates, ties half: {listing(rates)}"
    return PreferencesSource(source, found), said
