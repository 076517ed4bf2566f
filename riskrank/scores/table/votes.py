"""Files of a judge's pairwise votes: sample, two models, and which one answered better."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import polars as pl

from riskrank.errors import InputError, UsageError, listing, option
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.parsing import MISSING_TEXT
from riskrank.scores.files.source import How, InputFile, Source
from riskrank.scores.names.words import synonym
from riskrank.scores.table.columns import named_columns, no_column, parse_columns

ROLES = ("sample", "model_a", "model_b", "verdict")


@dataclass(frozen=True, kw_only=True)
class VoteTable:
    """Votes in the order of the files, as they were written there.

    Attributes
    ----------
    samples, first, second, votes : tuple of str, length r
        Sample, the two models in the order of presentation, and the vote.
    without_vote : int
        Rows left out because they hold no vote.
    inputs : tuple of InputFile
    """

    samples: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    votes: tuple[str, ...]
    without_vote: int
    inputs: tuple[InputFile, ...]
    _sources: tuple[Source, ...]
    _starts: tuple[int, ...]
    _positions: tuple[int, ...]

    def place(self, number: int) -> str:
        """File and row of a vote, counted from 1."""
        at = bisect_right(self._starts, number - 1) - 1
        source = self._sources[at]
        position = self._positions[number - 1]
        return f"{source.file_of(position)}: row {source.row_number(position)}"


def read_votes(
    paths: Sequence[str | Source],
    *,
    columns: str | None = None,
    input_format: str | None = None,
    stdin: BinaryIO | None = None,
) -> VoteTable:
    """Read votes from one or more files.

    Parameters
    ----------
    paths : sequence of str or Source
        Files, glob patterns, ``-`` for `stdin`, or open sources.
    columns : str, optional
        Roles of columns, ``"sample=question_id,verdict=winner"``.
    input_format : {"csv", "tsv", "parquet", "jsonl"}, optional
        Format of every file; needed for standard input.
    stdin : BinaryIO, optional
        Where ``-`` reads from.

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
    sources = open_sources(paths, How(input_format=input_format, stdin=stdin))
    for source in sources:
        if source.model_label is not None:
            raise UsageError(
                f"{source.model_label}={source.label}: a file of verdicts cannot be named after one model",
                found="a label before a file that names two models in each row",
                hint=f"name the file alone: {source.label}",
            )
    parts, starts, left_out = [], [], 0
    inputs: list[InputFile] = []
    positions: list[int] = []
    for source in sources:
        frame = _load(source, named)
        missing = frame["verdict"].is_null()
        for role in ROLES[:-1]:
            nameless = frame[role].is_null() & ~missing
            first = nameless.arg_true()
            if len(first):
                raise InputError(
                    f"{source.file_of(first[0])}: row {source.row_number(first[0])} has no {role}",
                    found=f"an empty cell, one of {nameless.sum()}",
                    hint="fill it in, or leave the row out",
                )
        inputs += source.input_files(frame.height)
        starts.append(len(positions))
        positions += (~missing).arg_true().to_list()
        parts.append(frame.filter(~missing))
        left_out += int(missing.sum())
    table = pl.concat(parts)
    return VoteTable(
        samples=tuple(table["sample"]),
        first=tuple(table["model_a"]),
        second=tuple(table["model_b"]),
        votes=tuple(table["verdict"]),
        without_vote=left_out,
        inputs=tuple(inputs),
        _sources=tuple(sources),
        _starts=tuple(starts),
        _positions=tuple(positions),
    )


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
        guess = synonym(role, [column for column in names if column and column not in used])
        if guess is not None:
            guesses[role] = guess
    return guesses


def _missing_columns(source: Source, roles: dict[str, str], missing: Sequence[str]) -> InputError:
    """Say which roles lack a column and guess from names which ones were meant."""
    guesses = vote_columns(source.columns, roles)
    renamed = {role: column for role, column in roles.items() if role != column} | guesses
    renamed |= {role: "…" for role in missing if role not in guesses}
    mapping = ",".join(f"{role}={column}" for role, column in renamed.items())
    known = len(guesses) == len(missing)
    return InputError(
        f"{source.label}: missing column{'s' if len(missing) > 1 else ''} "
        f"{listing(repr(role) for role in missing)}",
        found=f"columns: {listing(source.columns, 20)}",
        hint=f"did you mean {option('columns', mapping)}?"
        if known
        else f"name them: {option('columns', mapping)}",
    )
