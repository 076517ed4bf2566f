"""A row a comparison: two models and who won."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import scipy  # loads its functions when they are first used

from riskrank.engine.portfolio.judge_votes import FEWEST_IN_PLACE, VoteScores, is_vote, score_votes
from riskrank.engine.sampling.design import FEWEST_SAMPLES
from riskrank.engine.types import Names
from riskrank.errors import InputError, RiskrankError, UsageError, listing, option
from riskrank.options.baseline import GateReading
from riskrank.options.flags import among_commas
from riskrank.options.reading import SHARED, RankReading, ReadOptions
from riskrank.scores.files.source import FrameInMemory, InputFile, Source
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.grouping_columns import NO_CHANCE, as_drawn, belongs, drawn_whole, says_of
from riskrank.scores.layouts.layout import Reading
from riskrank.scores.layouts.leaderboard import pair_by_pair
from riskrank.scores.names.vocabulary import has_word, words
from riskrank.scores.table.columns import Named
from riskrank.scores.table.votes import ROLES, read_votes, scored_rows, vote_columns

METRIC = "verdict"
_TAKEN = ("model", "sample", "metric", "score")
# The first or the second model won, or none.
_NUMBERED = {"1": "a", "2": "b", "0": "tie"}
# Pairs that are named, of those with most votes and of those with fewest.
_MOST_PAIRS = 6
# Votes are weighed by place where that moves a mean by more than this share of its error.
_MATTERS = 0.1
# Models in places that vary stand there by chance above this p-value.
_NO_CHANCE_OF_PLACES = 0.01
# More names are none of models; of more columns of text nobody means each.
_MOST_NAMES, _MOST_TEXTS = 1_000, 12
# Samples, models of both sides and verdicts of all votes, a list each.
_Votes = Sequence[Names]


class PreferencesSource(FrameInMemory):
    """Scores of wins and losses, a row a model and sample that was judged."""

    def __init__(self, inner: Source, found: VoteScores, wholes: pl.DataFrame | None = None) -> None:
        super().__init__(inner.label, b"", inner.sha256)
        self._inner = inner
        rows = [(model, sample, METRIC, score) for model, sample, score in scored_rows(found)]
        self._frame = pl.DataFrame(rows, schema=_TAKEN, orient="row")
        if wholes is not None:
            self._frame = self._frame.join(wholes, on="sample", how="left", maintain_order="left")
        self._name_columns(self._frame.columns)

    def input_file(self, rows: int) -> InputFile:
        """The provenance of the file of votes."""
        return self._inner.input_file(rows)


def _sides(votes: pl.DataFrame, roles: Named) -> list[str]:
    """Votes as a side each, where they name the model that won, or its column."""
    said = {*votes["verdict"]}
    if {"1", "2"} <= said <= {*_NUMBERED}:
        return votes["verdict"].replace(_NUMBERED).to_list()
    named = {vote: _side_by_name(vote, roles) for vote in said}
    return [
        "a" if vote == first else "b" if vote == second else named[vote] or vote
        for first, second, vote in votes.select(ROLES[1:]).iter_rows()
    ]


def _side_by_name(vote: str, roles: Named) -> str:
    """The side whose column alone is called as a vote says; empty where none is."""
    said = words(vote)
    sides = [said and said <= words(roles[role]) for role in ("model_a", "model_b")]
    return "" if sides[0] == sides[1] else "a" if sides[0] else "b"


def _is_whole(columns: Columns, name: str, sample: str) -> bool:
    """Whether samples belong to what a column names, or were judged by whom it names."""
    judged = has_word(name, "judge") and 2 <= columns.count(name) <= columns.count(sample) / 2
    return belongs(columns, name, [sample]) or bool(judged and says_of(columns, name, [sample]))


def _wholes(columns: Columns, roles: Named, asked: str, options: ReadOptions) -> list[str]:
    """Columns of what is drawn whole: what was asked several times, who judged, or what somebody named."""
    own = [name for name in columns.names if name not in _TAKEN and name not in roles.values()]
    if options.cluster is not None:
        return [name for name in own if name == options.cluster]
    return [name for name in own if name == asked or _is_whole(columns, name, roles["sample"])]


def _of_samples(columns: Columns, wholes: Names, sample: str, asked_of: Named) -> pl.DataFrame | None:
    """What samples belong to, by their names."""
    if not wholes:
        return None
    known = columns.frame.select(*wholes, asked=pl.col(sample).cast(pl.String)).unique("asked")
    found = pl.DataFrame([*asked_of.items()], schema=["sample", "asked"], orient="row")
    return found.join(known, on="asked", how="left", maintain_order="left").drop("asked")


def _roles(columns: Columns) -> dict[str, str]:
    """Columns of votes by their names, or by what they hold: two of the same models, and which won."""
    roles = vote_columns(columns.names)
    if {*ROLES[1:]} <= {*roles}:
        return roles
    text = [name for name in columns.of_kind("text") if columns.count(name) <= _MOST_NAMES]
    held = {name: {*columns.frame[name].drop_nulls().cast(pl.String)} for name in text[:_MOST_TEXTS]}
    for one, other in combinations(held, 2):
        models, sides = held[one] | held[other], {"model_a": one, "model_b": other}
        both = 2 * len(held[one] & held[other]) >= len(models)
        if (columns.frame[one] == columns.frame[other]).any():
            continue
        for verdict, votes in held.items():
            named = both or (votes & held[one] and votes & held[other])
            if verdict in (one, other) or not named:
                continue
            if all(vote in models or _side_by_name(vote, sides) or is_vote(vote) for vote in votes):
                told = sides | {"verdict": verdict}
                return told | vote_columns([one for one in columns.names if one not in told.values()], told)
    return roles


def _between(votes: pl.DataFrame, models: Names) -> pl.DataFrame:
    """The votes between models that are named; all votes where none is."""
    among = votes.filter(pl.all_horizontal(pl.col(ROLES[1:3]).is_in(models)))
    known = {*models} <= {*votes["model_a"], *votes["model_b"]}
    return among if known and among.height else votes


def _of_each_pair(samples: Names, first: Names, second: Names) -> tuple[list[str], dict[str, str]]:
    """A sample for each pair of models, where some have votes on several; and what was asked there."""
    pairs = [sorted(pair) for pair in zip(first, second, strict=True)]
    if len({(sample, *pair) for sample, pair in zip(samples, pairs, strict=True)}) == len({*samples}):
        return [*samples], {sample: sample for sample in samples}
    named = [f"{sample} ({' and '.join(pair)})" for sample, pair in zip(samples, pairs, strict=True)]
    return named, dict(zip(named, samples, strict=True))


def _require_all_pairs(source: Source, found: VoteScores, rows: _Votes, options: ReadOptions) -> None:
    """Refuse win rates of models that met different opponents."""
    if not found.missing_pairs:
        return
    met = Counter(tuple(sorted(pair)) for pair in zip(*rows[1:3], strict=True))
    every = sorted(
        combinations(sorted(found.models), 2), key=lambda pair: (met[pair], not {*pair} <= {*options.models})
    )
    whole = int((found.judged == len(found.models) - 1).all(axis=1).sum())
    few = [f"{one} and {other} met {met[one, other]:,} times" for one, other in every]
    raise InputError(
        f"{source.label}: not every sample has votes on every pair: who wins more may have met weaker models",
        found=f"{whole:,} of {len(found.samples):,} samples have votes on all {len(every):,} pairs; "
        f"{listing(few, _MOST_PAIRS)}",
        hint=f"{option('models', 'A,B')} compares two models by the votes between them alone",
        ways=[
            (option("models", among_commas(pair)), {"models": pair})
            for pair in every[: -_MOST_PAIRS - 1 : -1]
            if met[pair] and not isinstance(options, GateReading)
        ],
    )


def _even(found: VoteScores, even: VoteScores) -> bool:
    """Whether it matters to the mean of any model that both places of a pair are to weigh alike."""
    moved = np.abs(np.nanmean(even.scores - found.scores, axis=0))
    error = np.nanstd(found.scores, axis=0) / np.sqrt(found.judged_samples)
    return bool((moved > _MATTERS * error).any())


def _seated(source: Source, rows: _Votes, roles: Named, options: ReadOptions) -> list[str]:
    """Models that stood in one place more often than they do by chance, in words, where that was not mended.

    Where no two models ever change places, their columns may say nothing of places.

    Raises
    ------
    InputError
        Where a claim is to be decided, or places are those that were seen.
    """
    orders = Counter(zip(*rows[1:3], strict=True))
    left = {order: n for order, n in orders.items() if min(n, orders[order[::-1]]) < FEWEST_IN_PLACE}
    places = [sum((Counter({order[at]: n}) for order, n in left.items()), Counter[str]()) for at in (0, 1)]
    every = places[0] + places[1]
    vary = any(order[::-1] in orders for order in orders)
    level = _NO_CHANCE_OF_PLACES / max(len(every), 1) if vary else NO_CHANCE
    found = [
        f"{model} stood in {roles[role]} in {place[model]:,} of {count:,} votes"
        for model, count in every.items()
        for role, place in zip(ROLES[1:3], places, strict=True)
        if 2 * place[model] > count and scipy.special.bdtrc(place[model] - 1, count, 0.5) < level
    ]
    if found and (vary or isinstance(options, GateReading)):
        raise InputError(
            f"{source.label}: {found[0]}, and who judges may like what stands there",
            found="nothing tells a liking for a place from one for a model",
            hint="have both judged in both places, and write the places as they were seen",
        )
    return found


def as_preferences(columns: Columns, source: Source, options: ReadOptions) -> tuple[Source, Reading] | None:
    """Votes as scores, and how they are read; None where rows are no votes.

    Of models that are selected only the votes between them count.

    Raises
    ------
    InputError
        If models met different opponents, or never each other.
    UsageError
        If models are to have samples of their own.
    """
    roles = _roles(columns)
    asked = roles.get("sample", "")
    if not asked or not columns.tell_apart(*(column for role, column in roles.items() if role != "verdict")):
        # Several votes on the same two answers are a sample each, of what was asked.
        own = [name for name in columns.names if name not in roles.values() and columns.tell_apart(name)]
        roles |= {"sample": own[0]} if own else {}
    if set(roles) != set(ROLES):
        return None
    sides = [set(columns.frame[roles[role]].drop_nulls().cast(pl.String)) for role in ("model_a", "model_b")]
    if any(columns.kind(roles[role]) != "text" for role in ROLES[1:3]) or not sides[0] | sides[1]:
        return None
    text = ",".join(f"{role}={column}" for role, column in roles.items())
    try:
        table = read_votes([source], columns=text)
        frame = _between(table.frame, options.models)
        models = options.models if frame.height < table.frame.height else None
        table = replace(table, frame=frame)
        rows = [*table.columns()[:-1], _sides(frame, roles)]
        found = score_votes(*rows, models=models, place=table.place)
        even = score_votes(*rows, models=models, even=True)
    except RiskrankError:
        return None
    if options.unpaired:
        what, unpaired = (
            f"{source.label}: votes compare two models on the same sample",
            option("unpaired", True),
        )
        raise UsageError(what, found=unpaired, hint=f"leave out {unpaired}")
    rule = pair_by_pair(options).get("missing", options.missing)
    by_pair = bool(found.missing_pairs) and rule in (SHARED, "keep")
    asked_of = dict(zip(found.samples, found.samples, strict=True))
    if by_pair:
        rows[0], asked_of = _of_each_pair(*rows[:3])
        found, even = (score_votes(*rows, models=models, even=way) for way in (False, True))
        options = replace(options, missing=rule)
    else:
        _require_all_pairs(source, found, rows, options)
    seated = _seated(source, rows, roles, options)
    weighed = _even(found, even)
    if weighed:  # weighed votes are good for means alone
        found, means = even, isinstance(options, RankReading) and options.missing == "error"
        options = replace(options, missing=SHARED) if means else options
    sides_told = f"{roles['model_a']} against {roles['model_b']}, by {roles['verdict']}"
    of = f"of {listing(found.models)} a win counts 2 a {roles['sample']}, a loss -2, a tie 0"
    shares = 0.5 + np.nansum(found.scores, axis=0) / (4 * found.votes)
    rates = (f"{model} {share:.0%}" for model, share in zip(found.models, shares, strict=True))
    told = "two models by the votes between them" if by_pair else f"win rates, ties half: {listing(rates)}"
    told += f"; both places ({roles['model_a']}, {roles['model_b']}) of a pair weigh alike" if weighed else ""
    told += f"; {listing(seated)}: a liking for that place would look the same" if seated else ""
    said = f"pairwise preferences: {sides_told}; {of}; {told}"
    wholes = _wholes(columns, roles, asked, options)
    few = any(columns.count(name) < FEWEST_SAMPLES for name in wholes)
    options = replace(options, **as_drawn(wholes, options, few=few)) if wholes else options
    said = "; ".join([said, *map(drawn_whole, wholes)])
    of_samples = _of_samples(columns, wholes, roles["sample"], asked_of)
    return PreferencesSource(source, found, of_samples), Reading(said=said, options=options)
