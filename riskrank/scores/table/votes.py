"""Files of a judge's pairwise votes: sample, two models, and which one answered better."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import polars as pl

from riskrank.engine.portfolio.judge_votes import VoteScores
from riskrank.errors import InputError, UsageError, option
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.parsing import MISSING_TEXT
from riskrank.scores.files.source import How, InputFile, Paths, Source
from riskrank.scores.names.vocabulary import column_for_role
from riskrank.scores.table.columns import lacking_columns, named_columns, no_column, parse_columns

ROLES = ("sample", "model_a", "model_b", "verdict")


@dataclass(frozen=True, kw_only=True)
class VoteTable:
    """Votes in the order of the files, as they were written there.

    Attributes
    ----------
    frame : DataFrame
        Sample, the two models in the order of presentation, the vote, and where it stands: file and row.
    without_vote : int
        Rows left out because they hold no vote.
    inputs : tuple of InputFile
    sources : tuple of Source
    """

    frame: pl.DataFrame
    without_vote: int
    inputs: tuple[InputFile, ...]
    sources: tuple[Source, ...]

    def columns(self) -> list[list[str]]:
        """Samples, both models and votes."""
        return [self.frame[role].to_list() for role in ROLES]

    def place(self, number: int) -> str:
        """File and row of a vote, counted from 1."""
        file, row = self.frame.select("file", "row").row(number - 1)
        source = self.sources[file]
        return f"{source.file_of(row)}: row {source.row_number(row)}"


def read_votes(paths: Paths, *, columns: str | None = None, how: How | None = None) -> VoteTable:
    """Read votes from one or more files.

    Parameters
    ----------
    paths : sequence of str or Source
        Files, glob patterns, ``-`` for `stdin`, or open sources.
    columns : str, optional
        Roles of columns, ``"sample=question_id,verdict=winner"``.
    how : How, optional
        How files are opened.

    Returns
    -------
    VoteTable

    Raises
    ------
    InputError
        If a file or its columns cannot be used, or a row names no sample or model.
    UsageError
        If `columns` makes no sense.
    """
    named = parse_columns(columns, roles=ROLES)
    sources = open_sources(paths, how)
    for source in sources:
        if source.model_label is not None:
            raise UsageError(
                f"{source.model_label}={source.label}: a file of verdicts cannot be named after one model",
                found="a label before a file that names two models in each row",
                hint=f"name the file alone: {source.label}",
            )
    places = [pl.lit(at).alias("file") for at in range(len(sources))]
    parts = [_load(source, named).with_row_index("row") for source in sources]
    every = pl.concat([part.with_columns(place) for part, place in zip(parts, places, strict=True)])
    inputs = (source.input_files(part.height) for source, part in zip(sources, parts, strict=True))
    frame = every.filter(pl.col("verdict").is_not_null())
    lacking, read = every.height - frame.height, tuple(chain(*inputs))
    found = VoteTable(frame=frame, without_vote=lacking, inputs=read, sources=tuple(sources))
    for role in ROLES[:-1]:
        nameless = frame[role].is_null().arg_true()
        if len(nameless):
            raise InputError(
                f"{found.place(nameless[0] + 1)} has no {role}",
                found=f"an empty cell, one of {len(nameless)}",
                hint="fill it in, or leave the row out",
            )
    return found


def scored_rows(found: VoteScores) -> list[tuple[str, str, float]]:
    """Model, sample and score of all that was judged."""
    judged = np.argwhere(found.judged.T > 0).tolist()
    return [(found.models[i], found.samples[at], float(found.scores[at, i])) for i, at in judged]


def _load(source: Source, named: dict[str, str]) -> pl.DataFrame:
    """The four columns as text without blanks around it, null where there is none."""
    for role, column in named.items():
        if column not in source.columns:
            raise no_column(source, role, [column], column)
    roles = named_columns(source, named, ROLES)
    missing = [role for role in ROLES if role not in roles]
    if missing:
        raise _missing_columns(source, roles, missing)
    frame = source.load([roles[role] for role in ROLES])
    text = [pl.col(roles[role]).cast(pl.String).str.strip_chars().alias(role) for role in ROLES]
    absent = pl.col("*").str.to_lowercase().is_in(MISSING_TEXT)
    return frame.select(text).with_columns(
        pl.when(absent.name.keep()).then(None).otherwise(pl.col("*")).name.keep()
    )


def vote_columns(names: Sequence[str], known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Columns that are called like the roles that lack one, or usually are."""
    guesses: dict[str, str] = {}
    for role in (role for role in ROLES if role not in (known or {})):
        used = {*(known or {}).values(), *guesses.values()}
        guess = column_for_role(role, [column for column in names if column and column not in used])
        if guess is not None:
            guesses[role] = guess
    return guesses


def _missing_columns(source: Source, roles: dict[str, str], missing: Sequence[str]) -> InputError:
    """Say which roles lack a column and guess from names which ones were meant."""
    guesses = vote_columns(source.columns, roles)
    renamed = {role: column for role, column in roles.items() if role != column} | guesses
    renamed |= {role: "…" for role in missing if role not in guesses}
    mapping = ",".join(f"{role}={column}" for role, column in renamed.items())
    named = option("columns", mapping)
    known = len(guesses) == len(missing)
    return lacking_columns(source, missing, f"did you mean {named}?" if known else f"name them: {named}")
