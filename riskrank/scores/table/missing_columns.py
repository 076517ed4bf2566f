"""Roles without a column: what was probably meant, by the names and contents of columns and by paths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from riskrank.asked.commands import BY_NAME
from riskrank.asked.flags import among_commas, flags
from riskrank.asked.reading import ReadOptions
from riskrank.asked.values import ALL_OTHERS
from riskrank.errors import InputError, as_one_word, by_door, listing, nearest, option
from riskrank.scores.files.guesses import (
    is_spread,
    may_name_samples,
    names_something,
    sample_columns,
    sounds_like_a_role,
    synonym,
    unique_with,
)
from riskrank.scores.files.parsing import column_kind
from riskrank.scores.files.source import Source
from riskrank.scores.table.costs import looks_like_a_cost
from riskrank.scores.table.path_hints import model_by_path
from riskrank.scores.table.written_numbers import reading_query, writing_of

# Columns whose contents are looked at for a guess.
_MOST_CANDIDATES = 20
_MOST_LOOKED_AT = 300


@dataclass(frozen=True, kw_only=True)
class _Guess:
    """What a file probably is.

    Attributes
    ----------
    roles : dict of str to str
        Columns by role, known and guessed.
    unknown : tuple of str
        Roles that are missing, and nothing looks like them.
    candidates : tuple of str
        Columns that might hold the models, of which nothing tells the right one.
    wide : bool
        Whether it looks like one metric a column, and was not said to be.
    measures : tuple of str
        Columns of numbers without a role.
    query : str
        The option that reads numbers which are written with something behind them.
    """

    roles: dict[str, str]
    unknown: tuple[str, ...]
    candidates: tuple[str, ...]
    wide: bool
    measures: tuple[str, ...]
    query: str = ""

    def flags(self, sample: str = "", measures: Sequence[str] = ()) -> str:
        """The options that read the file so."""
        return self.read_as(self.roles | ({"sample": sample} if sample else {}), measures)

    def read_as(self, roles: Mapping[str, str], measures: Sequence[str] = ()) -> str:
        """The options that read the file with other columns; one called like its role needs no naming."""
        named = ",".join(f"{role}={column}" for role, column in roles.items() if role != column)
        found = [option("wide", True)] if self.wide else []
        found += [option("columns", named)] if named else []
        return " ".join(filter(None, [*found, *(option("metric", name) for name in measures), self.query]))

    def means(self) -> tuple[str, ...]:
        """Of a table that has spreads beside its measures, the measures."""
        means = tuple(name for name in self.measures if not is_spread(name))
        return means if 0 < len(means) < len(self.measures) else ()


def missing_columns(
    source: Source,
    roles: Mapping[str, str],
    missing: Sequence[str],
    options: ReadOptions,
    given: Sequence[Source],
) -> InputError:
    """Say which roles lack a column and guess, from names, contents and paths, what was meant."""
    plural = "s" if len(missing) > 1 else ""
    return InputError(
        f"{source.label}: missing column{plural} {listing(repr(role) for role in missing)}",
        found=f"columns: {listing(source.columns, 20)}",
        hint=source.rewritten()
        or _hint(source, _guess(source, roles, missing, options), missing, options, given),
    )


def _hint(
    source: Source, guess: _Guess, missing: Sequence[str], options: ReadOptions, given: Sequence[Source]
) -> str:
    sample, model = guess.roles.get("sample", ""), guess.roles.get("model")
    if "model" in guess.unknown and not guess.candidates:
        by_path = model_by_path(given, sample or "…", guess.flags)
        if by_path:
            return by_path
        if guess.wide and sample and _tells_apart(source, [sample]):
            others = {role: column for role, column in guess.roles.items() if role != "sample"}
            flags = guess.read_as({"model": sample} | others, guess.means())
            return (
                f"if a row is a model, add {flags} and try copa; if a row is a sample and a column a model: "
                f"{option('matrix', 'METRIC')} {option('columns', f'sample={sample}')}"
            )
    if model and guess.unknown == ("sample",):
        keys = [model, *(guess.roles[role] for role in ("metric",) if role in guess.roles)]
        if not _tells_apart(source, keys):
            return f"name the column that tells samples apart: {guess.flags('…')}"
        return (
            f"one row a model cannot be tested; copa can choose among them: "
            f"{_copa(source, guess, options, given)}. If there are samples, name the column that tells "
            f"samples apart: {replace(guess, query='').flags('…')}"
        )
    if guess.unknown:
        return _question(source, guess)
    if guess.wide:
        flags = guess.flags(measures=guess.means())
        return f"with one row per model and sample and a column per metric, add {flags}"
    return f"did you mean {guess.flags()}?"


def _copa(source: Source, guess: _Guess, options: ReadOptions, given: Sequence[Source]) -> str:
    """The command that chooses among means, with the directions that names of metrics suggest."""
    wide = guess.wide or options.wide
    measures = guess.means() if wide and not options.metric else ()
    metric = guess.roles.get("metric")
    names = options.metric or measures or (guess.measures if wide else ())
    if not wide and not names and metric in source.columns:
        names = tuple(map(str, source.load([str(metric)])[str(metric)].unique(maintain_order=True)))
    lower, higher = options.lower, options.higher
    costs: list[str] = []
    if ALL_OTHERS not in (*lower, *higher):
        described = options.metrics_file or options.metrics or options.directions
        costs = [] if described else [name for name in names if looks_like_a_cost(name)]
        lower = (*lower, *(name for name in costs if name not in (*lower, *higher)))
        higher = (*higher, ALL_OTHERS)
    sources = [f"{one.model_label}={one.label}" if one.model_label else one.label for one in given]
    own = replace(options, columns=None, lower=(), higher=(), wide=options.wide and not guess.wide)
    row = BY_NAME["copa"]
    kept = flags(own, {"group_by", *row.lacks, *row.refused})
    command = " ".join(map(as_one_word, ["riskrank", "copa", *sources, *kept]))
    ways = (("lower", lower), ("higher", higher))
    directions = [option(way, ",".join(map(among_commas, of))) for way, of in ways if of]
    if any({"metric", "score"} <= {*one.columns} for one in given):
        guess = replace(guess, wide=False)  # one row a model, as prices are, beside long tables
    asked = " ".join(filter(None, [guess.flags(measures=measures), *directions]))
    rest = "what else" if costs else "what"
    return f"{by_door(f'{command} ', '')}{asked}, with {option('lower')} for {rest} is better if less"


def _question(source: Source, guess: _Guess) -> str:
    """Ask for the columns that nothing tells, with what is known."""
    text = f"say which columns they are: {guess.read_as(guess.roles | dict.fromkeys(guess.unknown, '…'))}"
    if guess.candidates:
        text += f"; the model may be {' or '.join(guess.candidates)}"
    elif guess.unknown == ("model",) and Path(source.label).is_file():
        text += f"; or name the only model of this file: NAME={source.label}"
    return text


def _tells_apart(source: Source, names: Sequence[str]) -> bool:
    """Whether no two rows are the same in some columns."""
    columns = list(dict.fromkeys(part for name in names for part in name.split("+")))
    return set(columns) <= set(source.columns) and bool(source.load(columns).is_unique().all())


def _guess(source: Source, roles: Mapping[str, str], missing: Sequence[str], options: ReadOptions) -> _Guess:
    free = _looked_at([column for column in source.columns if column and column not in roles.values()])
    told = [roles["score"]] if "score" in roles else []
    loaded = source.load([*free, *told]) if free or told else pl.DataFrame()
    written = {name: writing for name in [*free, *told] if (writing := writing_of(loaded[name])) is not None}
    own = source.own_sql or source.queried
    numeric = [
        name
        for name in free
        if column_kind(loaded[name], source.decimal_comma) == "number" or name in written
    ]
    text = [column for column in free if column not in numeric]
    fitting = {"model": text or free, "sample": free, "metric": text, "score": numeric}
    guesses: dict[str, str] = {}
    for role in missing:
        candidates = [column for column in fitting[role] if column not in guesses.values()]
        guess = synonym(role, candidates) or nearest(role, candidates)
        if guess is None and role == "score" and len(candidates) == 1:
            guess = candidates[0]
        if guess is not None:
            guesses[role] = guess
    _refine(source, guesses, roles, text, free)
    known = dict(roles) | guesses
    wide = "metric" in missing and "metric" not in guesses and not options.wide
    scores = [known["score"]] if "score" in known else []
    measures = [*scores, *(column for column in numeric if column not in known.values())]
    wide = wide and bool(measures)
    if wide:
        known.pop("score", None)
    needed = [role for role in missing if not wide or role not in ("metric", "score")]
    unknown = tuple(role for role in needed if role not in known)
    models = _models(source, known, text) if "model" in unknown else []
    if len(models) == 1:
        known["model"] = models.pop()
        unknown = tuple(role for role in unknown if role != "model")
    used = {name: written[name] for name in [*measures, *known.values()] if name in written}
    return _Guess(
        roles=known,
        unknown=unknown,
        candidates=tuple(models),
        wide=wide,
        measures=tuple(measures),
        query=reading_query(used) if used and not own else "",
    )


def _looked_at(columns: Sequence[str]) -> Sequence[str]:
    """All columns; of very many the first, of those first whose names say something."""
    if len(columns) <= _MOST_LOOKED_AT:
        return columns
    first = sorted(columns, key=sounds_like_a_role, reverse=True)[:_MOST_LOOKED_AT]
    chosen = {*first}
    return [column for column in columns if column in chosen]


def _models(source: Source, known: Mapping[str, str], text: Sequence[str]) -> list[str]:
    """Columns of text that may name the models: they tell the rows of a sample apart, and date nothing."""
    others = [known[role] for role in ("sample", "metric") if role in known]
    parts = [part for column in others for part in column.split("+")]
    found = [name for name in text if name not in parts and names_something(name)][:_MOST_CANDIDATES]
    if "sample" not in known or not found or not set(parts) <= set(source.columns):
        return []
    frame = source.load([*parts, *found])
    return [name for name in found if unique_with(frame, [name], parts)]


def _refine(
    source: Source,
    guesses: dict[str, str],
    roles: Mapping[str, str],
    text: Sequence[str],
    free: Sequence[str],
) -> None:
    """Let contents decide among the columns whose names fit: rows differ in model, sample and metric."""
    known = dict(roles) | guesses
    keys = [known[role] for role in ("model", "metric") if role in known]
    taken = {*keys, known.get("score")}
    # Names of far more columns than people give to samples are no evidence.
    left = [name for name in free if name not in taken and may_name_samples(name)][:_MOST_CANDIDATES]
    fitting = [name for name in text if name not in taken and synonym("model", [name])][:_MOST_CANDIDATES]
    frame = source.load(list(dict.fromkeys([*keys, *left, *fitting])))
    if "sample" in guesses:
        found = sample_columns(frame, keys, left)
        guesses["sample"] = "+".join(found) if found else guesses["sample"]
    sample = known["sample"] if "sample" in roles else guesses.get("sample", "")
    parts = sample.split("+")
    if "model" in guesses and set(parts) <= set(frame.columns):
        candidates = [guesses["model"], *(name for name in fitting if name not in parts)]
        others = [*parts, *(known[role] for role in ("metric",) if role in known)]
        guesses["model"] = unique_with(frame, candidates, others) or guesses["model"]
