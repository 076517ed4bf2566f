"""Files of pairwise votes by a judge: a sample, two models, and the preferred model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import polars as pl

from riskrank.engine.portfolio.judge_votes import VoteScores
from riskrank.errors import InputError, UsageError, option
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.parsing import MISSING_TEXT
from riskrank.scores.files.source import InputFile, OpenOptions, Paths, Source
from riskrank.scores.names.vocabulary import column_for_role
from riskrank.scores.table.columns import (
    columns_by_role,
    missing_columns_error,
    parse_columns,
    unknown_column_error,
)

ROLES = ("sample", "model_a", "model_b", "verdict")


@dataclass(frozen=True, kw_only=True)
class VoteTable:
    """Votes in file order, as written in the files.

    Attributes
    ----------
    frame : DataFrame
        Sample, the two models in order of presentation, the vote, and its location (file and row).
    without_vote : int
        Number of rows dropped because they do not contain a vote.
    inputs : tuple of InputFile
    sources : tuple of Source
    """

    frame: pl.DataFrame
    without_vote: int
    inputs: tuple[InputFile, ...]
    sources: tuple[Source, ...]

    def columns(self) -> list[list[str]]:
        """Return samples, first models, second models and votes as lists."""
        return [self.frame[role].to_list() for role in ROLES]

    def location(self, number: int) -> str:
        """Return the file and row of a vote, counted from 1."""
        file, row = self.frame.select("file", "row").row(number - 1)
        source = self.sources[file]
        return f"{source.file_of(row)}: row {source.row_number(row)}"


def read_votes(paths: Paths, *, columns: str | None = None, options: OpenOptions | None = None) -> VoteTable:
    """Read votes from one or more files.

    Parameters
    ----------
    paths : sequence of str or Source
        Files, glob patterns, ``-`` for `stdin`, or open sources.
    columns : str, optional
        Columns by role, as in ``"sample=question_id,verdict=winner"``.
    options : OpenOptions, optional
        Options for opening files.

    Returns
    -------
    VoteTable

    Raises
    ------
    InputError
        If a file or its columns cannot be used, or a row lacks a sample or model.
    UsageError
        If `columns` is invalid, or a file of votes has a model label.
    """
    named = parse_columns(columns, roles=ROLES)
    sources = open_sources(paths, options)
    for source in sources:
        if source.model_label is not None:
            raise UsageError(
                f"{source.model_label}={source.label}: pairwise verdicts cannot belong to one model",
                found="a model name before a file with two models per row",
                hint=f"give the file without a model name: {source.label}",
            )
    file_numbers = [pl.lit(at).alias("file") for at in range(len(sources))]
    parts = [_load_votes(source, named).with_row_index("row") for source in sources]
    rows = pl.concat([part.with_columns(number) for part, number in zip(parts, file_numbers, strict=True)])
    inputs = (source.input_files(part.height) for source, part in zip(sources, parts, strict=True))
    frame = rows.filter(pl.col("verdict").is_not_null())
    lacking, read = rows.height - frame.height, tuple(chain(*inputs))
    table = VoteTable(frame=frame, without_vote=lacking, inputs=read, sources=tuple(sources))
    for role in ROLES[:-1]:
        nameless = frame[role].is_null().arg_true()
        if len(nameless):
            raise InputError(
                f"{table.location(nameless[0] + 1)} has no {role}",
                found=f"an empty cell; {len(nameless)} in total",
                hint="fill it in, or remove the row",
            )
    return table


def scored_rows(votes: VoteScores) -> list[tuple[str, str, float]]:
    """Return the model, sample and score of every judged answer."""
    judged = np.argwhere(votes.opponents.T > 0).tolist()
    return [(votes.models[i], votes.samples[at], float(votes.scores[at, i])) for i, at in judged]


def _load_votes(source: Source, named: dict[str, str]) -> pl.DataFrame:
    """Load the four columns as text without surrounding whitespace, with null for missing values."""
    for role, column in named.items():
        if column not in source.columns:
            raise unknown_column_error(source, role, [column], column)
    roles = columns_by_role(source, named, ROLES)
    missing = [role for role in ROLES if role not in roles]
    if missing:
        raise _missing_columns_error(source, roles, missing)
    frame = source.load([roles[role] for role in ROLES])
    text = [pl.col(roles[role]).cast(pl.String).str.strip_chars().alias(role) for role in ROLES]
    absent = pl.col("*").str.to_lowercase().is_in(MISSING_TEXT)
    return frame.select(text).with_columns(
        pl.when(absent.name.keep()).then(None).otherwise(pl.col("*")).name.keep()
    )


def guess_columns(names: Sequence[str], assigned: Mapping[str, str] | None = None) -> dict[str, str]:
    """Guess the columns for unassigned roles from their names."""
    guesses: dict[str, str] = {}
    for role in (role for role in ROLES if role not in (assigned or {})):
        used = {*(assigned or {}).values(), *guesses.values()}
        guess = column_for_role(role, [column for column in names if column and column not in used])
        if guess is not None:
            guesses[role] = guess
    return guesses


def _missing_columns_error(source: Source, roles: dict[str, str], missing: Sequence[str]) -> InputError:
    """Return the error for roles without a column, with guesses based on column names."""
    guesses = guess_columns(source.columns, roles)
    renamed = {role: column for role, column in roles.items() if role != column} | guesses
    renamed |= {role: "…" for role in missing if role not in guesses}
    mapping = ",".join(f"{role}={column}" for role, column in renamed.items())
    named = option("columns", mapping)
    complete = len(guesses) == len(missing)
    return missing_columns_error(
        source, missing, f"did you mean {named}?" if complete else f"name them: {named}"
    )
