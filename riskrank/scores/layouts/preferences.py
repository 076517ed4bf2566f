"""Pairwise preferences: one row per comparison of two models, and its winner."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np
import polars as pl

from riskrank.engine import special
from riskrank.engine.evidence.bradley_terry import Strengths, fit_strengths, wins_or_ties
from riskrank.engine.evidence.mean_differences import connected_groups, cyclic_wins, transitive_closure
from riskrank.engine.portfolio.judge_votes import (
    FEWEST_IN_PLACE,
    VoteScores,
    is_vote,
    score_votes,
    vote_outcomes,
)
from riskrank.engine.sampling.design import MIN_SAMPLES
from riskrank.engine.types import Floats, Integers, Names
from riskrank.errors import InputError, RiskrankError, UsageError, listing, option
from riskrank.options.baseline import GateReading
from riskrank.options.interfaces import join_commas
from riskrank.options.reading import SHARED, ReadOptions
from riskrank.scores.files.derived import NumberedSource
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.parsing import MISSING_TEXT
from riskrank.scores.files.source import FrameInMemory, InputFile, OpenOptions, Paths, Source
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.layouts.layout import VOTES, Reading, WarningText
from riskrank.scores.layouts.long_and_wide import missing_scores_option
from riskrank.scores.layouts.row_keys import ALPHA, cluster_note, cluster_options, is_cluster, is_per_sample
from riskrank.scores.names.vocabulary import column_for_role, has_word, parse_vocabulary, words
from riskrank.scores.table.columns import (
    NamedColumns,
    columns_by_role,
    missing_columns_error,
    parse_columns,
    unknown_column_error,
)
from riskrank.scores.table.designs import STRENGTH

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
        """Return the samples, first models, second models and votes, one list each."""
        return [self.frame[role].to_list() for role in ROLES]

    def location(self, number: int) -> str:
        """Return the file and row of a vote, given its number from 1."""
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
            problem = f"{source.model_label}={source.label}: pairwise verdicts cannot belong to one model"
            hint = f"give the file without a model name: {source.label}"
            raise UsageError(problem, found="a model name before a file with two models per row", hint=hint)
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
            problem = f"{table.location(nameless[0] + 1)} has no {role}"
            hint = "fill it in, or remove the row"
            raise InputError(problem, found=f"an empty cell; {len(nameless)} in total", hint=hint)
    return table


def scored_rows(votes: VoteScores) -> list[tuple[str, str, float]]:
    """Return (model, sample, score) for each answer that at least one vote compares, model by model."""
    judged = np.argwhere(votes.opponents.T > 0).tolist()
    return [(votes.models[i], votes.samples[at], float(votes.scores[at, i])) for i, at in judged]


def _load_votes(source: Source, named: dict[str, str]) -> pl.DataFrame:
    """Load the sample, both models and the vote of each row as text.

    Surrounding whitespace is removed; missing values are null. `named` maps roles to columns.
    """
    for role, column in named.items():
        if column not in source.columns:
            raise unknown_column_error(source, role, [column], column)
    roles = columns_by_role(source, named, ROLES)
    missing = [role for role in ROLES if role not in roles]
    if missing:
        guesses = guess_columns(source.columns, roles)
        renamed = {role: column for role, column in roles.items() if role != column} | guesses
        renamed |= {role: "…" for role in missing if role not in guesses}
        flag = option("columns", ",".join(f"{role}={column}" for role, column in renamed.items()))
        hint = f"did you mean {flag}?" if len(guesses) == len(missing) else f"name them: {flag}"
        raise missing_columns_error(source, missing, hint)
    frame = source.load([roles[role] for role in ROLES])
    text = [pl.col(roles[role]).cast(pl.String).str.strip_chars().alias(role) for role in ROLES]
    absent = pl.col("*").str.to_lowercase().is_in(MISSING_TEXT)
    return frame.select(text).with_columns(
        pl.when(absent.name.keep()).then(None).otherwise(pl.col("*")).name.keep()
    )


def guess_columns(names: Sequence[str], assigned: Mapping[str, str] | None = None) -> dict[str, str]:
    """Guess from column names which columns of a vote table have the unassigned `ROLES`.

    `assigned` maps roles to columns that are already known. Return the guessed columns by role.
    """
    guesses: dict[str, str] = {}
    for role in (role for role in ROLES if role not in (assigned or {})):
        used = {*(assigned or {}).values(), *guesses.values()}
        guess = column_for_role(role, [column for column in names if column and column not in used])
        if guess is not None:
            guesses[role] = guess
    return guesses


METRIC = "verdict"
_SCORE_COLUMNS = ("model", "sample", "metric", "score")
# Maximum number of votes that are separate samples. More votes are merged in blocks of consecutive votes.
_MAX_UNITS = 4096
# Shares of flipped verdicts, and of votes by one judge, that are reported.
_MIN_FLIPPED, _MAX_BY_JUDGE = 0.1, 0.1
# Codes for a win of the first or second model, or a tie.
_NUMBERED_WINNERS = {"1": "a", "2": "b", "0": "tie"}
# Maximum number of pairs in a message.
_MAX_PAIRS = 6
# Positions are balanced if that shifts a mean by more than this share of its standard error.
_MIN_SHIFT = 0.1
# Above this p-value, positions that vary are consistent with chance.
_POSITION_P_VALUE = 0.01
# Words for positions in columns that name models.
_POSITIONS = parse_vocabulary("first second left right")
# Limits for the search for model columns by content.
_MAX_NAMES, _MAX_TEXT_COLUMNS = 1_000, 12
# First models, second models and outcomes.
_Votes = tuple[Integers, Integers, Floats]


class PreferencesSource(FrameInMemory):
    """Scores from votes, one row per model and sample.

    Parameters
    ----------
    source : Source
        The file of votes.
    rows : sequence of (str, str, str, float)
        Models, samples, metrics and scores.
    clusters : DataFrame
        Samples, and their cluster columns if there are any.
    """

    def __init__(
        self, source: Source, rows: Sequence[tuple[str, str, str, float]], clusters: pl.DataFrame
    ) -> None:
        """Arrange the scores as a table with the clusters of their samples."""
        super().__init__(source.label, b"", source.sha256)
        self._inner = source
        self._frame = pl.DataFrame(rows, schema=_SCORE_COLUMNS, orient="row")
        self._frame = self._frame.join(clusters, on="sample", how="left", maintain_order="left")
        self._name_columns(self._frame.columns)

    def input_file(self, rows: int) -> InputFile:
        """Return the provenance of the file of votes, given its number of rows."""
        return self._inner.input_file(rows)


def _winning_sides(votes: pl.DataFrame, roles: NamedColumns) -> list[str]:
    """Return the winner of each vote as ``a`` (first model) or ``b`` (second).

    A table may name the winning side, the winning model, or the column of the winning model. Other votes,
    such as ties, are returned unchanged. `roles` maps roles to columns.
    """
    verdicts = {*votes["verdict"]}
    if {"1", "2"} <= verdicts <= {*_NUMBERED_WINNERS}:
        return votes["verdict"].replace(_NUMBERED_WINNERS).to_list()
    sides = {vote: _side_by_name(vote, roles) for vote in verdicts}
    return [
        "a" if vote == first else "b" if vote == second else sides[vote] or vote
        for first, second, vote in votes.select(ROLES[1:]).iter_rows()
    ]


def _side_by_name(vote: str, roles: NamedColumns) -> str:
    """Return the side, ``a`` or ``b``, whose column name contains the words of a vote.

    Return an empty string if there is no such side. `roles` maps the roles of both sides to columns.
    """
    vote_words = words(vote)
    matches = [vote_words and vote_words <= words(roles[role]) for role in ("model_a", "model_b")]
    return "" if matches[0] == matches[1] else "a" if matches[0] else "b"


def _vote_clusters(columns: Columns, roles: NamedColumns, question: str, options: ReadOptions) -> list[str]:
    """Return the columns by which the votes of a table are clustered.

    They are the columns that the user chose, or by default repeated questions, judges and clusters of
    samples.

    Parameters
    ----------
    columns : Columns
    roles : mapping of str to str
        Columns by role.
    question : str
        Column that names the judged question.
    options : ReadOptions
    """
    free = [name for name in columns.names if name not in _SCORE_COLUMNS and name not in roles.values()]
    if options.cluster is not None:
        return [name for name in free if name == options.cluster]
    sample = [roles["sample"]]
    few = [name for name in free if 2 <= columns.n_unique(name) <= columns.n_unique(*sample) / 2]
    judges = [name for name in few if has_word(name, "judge") and is_per_sample(columns, name, sample)]
    return [name for name in free if name == question or name in judges or is_cluster(columns, name, sample)]


def _vote_roles(columns: Columns) -> tuple[dict[str, str], str]:
    """Return the columns of a vote table by role, and the column that names the judged question.

    If a question has several votes on the same pair of models, a column that identifies rows becomes the
    sample. Return an empty dictionary and text if the rows are not votes.
    """
    roles = _guess_roles(columns)
    question = roles.get("sample", "")
    if not question or not columns.is_key(*(column for role, column in roles.items() if role != "verdict")):
        row_keys = [name for name in columns.names if name not in roles.values() and columns.is_key(name)]
        roles |= {"sample": row_keys[0]} if row_keys else {}
    sides = [roles[role] for role in ROLES[1:3]] if set(roles) == set(ROLES) else []
    has_models = any(columns.frame[side].drop_nulls().len() for side in sides)
    has_models = has_models and all(columns.kind(side) == "text" for side in sides)
    return (roles, question) if has_models else ({}, "")


def _guess_roles(columns: Columns) -> dict[str, str]:
    """Return the columns of a vote table by role, recognised by name or by content.

    Recognition by content needs two columns of model names and one column of winners.
    """
    # Numbers that identify rows, such as those of the votes, are not verdicts.
    counters = [name for name in columns.by_kind("number") if columns.is_key(name)]
    roles = guess_columns([name for name in columns.names if name not in counters])
    if {*ROLES[1:]} <= {*roles}:
        return roles
    text = [columns.frame[name] for name in columns.by_kind("text") if columns.n_unique(name) <= _MAX_NAMES]
    values = {part.name: {*part.unique().drop_nulls().cast(pl.String)} for part in text[:_MAX_TEXT_COLUMNS]}
    for first, second in combinations(values, 2):
        models, sides = values[first] | values[second], {"model_a": first, "model_b": second}
        same_models = 2 * len(values[first] & values[second]) >= len(models)
        if (columns.frame[first] == columns.frame[second]).any():
            continue
        for verdict, votes in values.items():
            may_decide = same_models or (votes & values[first] and votes & values[second])
            if verdict in (first, second) or not may_decide:
                continue
            if all(vote in models or _side_by_name(vote, sides) or is_vote(vote) for vote in votes):
                roles = sides | {"verdict": verdict}
                free = [name for name in columns.names if name not in roles.values()]
                return roles | guess_columns(free, roles)
    return roles


def _select_models(votes: pl.DataFrame, models: Names) -> pl.DataFrame:
    """Return the votes between the selected models.

    Return all votes if no model is selected, a selected one does not occur, or no vote would remain.
    """
    selected = votes.filter(pl.all_horizontal(pl.col(ROLES[1:3]).is_in(models)))
    complete = {*models} <= {*votes["model_a"], *votes["model_b"]}
    return selected if complete and selected.height else votes


def _require_complete(
    source: Source, scores: VoteScores, orders: Counter[tuple[str, str]], options: ReadOptions
) -> None:
    """Raise InputError if models had different opponents, so that win rates are not comparable.

    `orders` counts the votes for each ordered pair of models.
    """
    if not scores.missing_pairs:
        return
    votes = {pair: orders[pair] + orders[pair[::-1]] for pair in combinations(sorted(scores.models), 2)}
    selected = {*options.models}
    all_pairs = sorted(combinations(sorted(scores.models), 2), key=lambda p: (votes[p], not {*p} <= selected))
    complete = int((scores.opponents == len(scores.models) - 1).all(axis=1).sum())
    counts = [f"{first} and {second}: {votes[first, second]:,} votes" for first, second in all_pairs]
    closest = [] if isinstance(options, GateReading) else all_pairs[: -_MAX_PAIRS - 1 : -1]
    raise InputError(
        f"{source.label}: some samples lack votes on some pairs, so models may have met weaker opponents",
        found=f"{complete:,} of {len(scores.samples):,} samples have votes on all {len(all_pairs):,} pairs; "
        f"{listing(counts, _MAX_PAIRS)}",
        hint=f"{option('models', 'A,B')} compares two models by their direct votes only",
        suggestions=[("", {"models": pair}) for pair in closest if votes[pair]],
    )


def _require_connected(source: Source, models: Names, orders: Counter[tuple[str, str]]) -> None:
    """Raise InputError if the models fall into groups that no vote connects.

    `orders` counts the votes for each ordered pair of models.
    """
    compared = np.array([[orders[a, b] + orders[b, a] > 0 for b in models] for a in models])
    groups = [[models[i] for i in group] for group in connected_groups(compared)]
    if groups[1:]:
        raise InputError(
            f"{source.label}: no votes connect some of the models, so they cannot be ranked together",
            found=f"{len(groups)} groups: {'; '.join(listing(group, 4) for group in groups[:4])}",
            hint=f"rank one group: {option('models', join_commas(groups[0]))}",
            suggestions=[("", {"models": (*group,)}) for group in groups if group[1:]],
        )


def _strength_rows(
    fit: Strengths, models: Names, votes: pl.DataFrame, unit: str
) -> tuple[list[tuple[str, str, str, float]], pl.DataFrame]:
    """Convert fitted strengths to rows of scores, with the strengths as the models' means.

    The deviation of a score from the mean is the influence of the sample's votes, times the number of
    samples. Each added vote is a separate sample, but belongs to clusters of other votes.

    Parameters
    ----------
    fit : Strengths
    models : sequence of str
    votes : DataFrame
        Sample and clusters of each vote.
    unit : str
        Column with the independent units, which become the samples.

    Returns
    -------
    rows : list of (str, str, str, float)
        Models, samples, metrics and scores.
    samples : DataFrame
        Samples with their clusters.
    """
    extra = len(fit.influence) - votes.height
    added = votes[np.linspace(0, votes.height - 1, extra, dtype=np.int64)]
    if unit == "sample":
        added = added.with_columns(sample=pl.Series([f"added vote {number}" for number in range(extra)]))
    votes = pl.concat([votes, added]).with_columns(sample=pl.col(unit).cast(pl.String))
    names, codes = np.unique(votes["sample"].to_numpy(), return_inverse=True)
    width = -(-names.size // _MAX_UNITS) if unit != "sample" or votes.width == 1 else 1
    _, first, blocks = np.unique(codes // width, return_index=True, return_inverse=True)
    shares = np.stack([np.bincount(blocks, column) for column in fit.influence.T])
    values, samples = fit.strength[:, None] + shares * len(first), votes[first]
    rows = [
        (model, sample, STRENGTH, score)
        for model, scores in zip(models, values.tolist(), strict=True)
        for sample, score in zip(samples["sample"], scores, strict=True)
    ]
    return rows, samples


def _vote_checks(
    fit: Strengths, scores: VoteScores, votes: _Votes, judges: pl.DataFrame, roles: NamedColumns
) -> list[WarningText]:
    """Return warnings about votes that depend on positions or a single judge, or whose wins form a cycle.

    Parameters
    ----------
    fit : Strengths
        Bradley–Terry model of the votes.
    scores : VoteScores
    votes : tuple of (first, second, outcome), each of shape (n,)
        Indices of the models in both positions, and the score of the first model.
    judges : DataFrame
        Sample of each vote in the first column, followed by the cluster columns such as the judge.
    roles : mapping of str to str
        Columns by role.
    """
    (first, second, outcome), models = votes, scores.models
    checks: list[WarningText] = []
    decided, swapped, flipped = outcome != 0.5, scores.swapped_pairs, scores.contradictory_pairs
    if fit.position:
        error = float(np.sqrt((fit.position_influence**2).sum()))
        side, won = ("model_a", outcome[decided]) if fit.position > 0 else ("model_b", 1 - outcome[decided])
        if 2 * special.ndtr(-abs(fit.position) / error) < _POSITION_P_VALUE:
            count = f"{won.sum():,.0f} of {won.size:,} votes ({won.mean():.0%})"
            text = f"the judge prefers a position: answers in {roles[side]} won {count}"
            figures = {"won": float(won.sum()), "decided": won.size, "share_won": float(won.mean())}
            checks.append(WarningText(text, VOTES, figures))
    if flipped > _MIN_FLIPPED * swapped:
        text = f"{flipped:,} of {swapped:,} verdicts flip with the order of the answers"
        checks.append(WarningText(text, VOTES, {"flipped": flipped, "swapped": swapped}))
    pairs, k = first * len(models) + second, len(models)
    sums = (np.bincount(pairs, part, k * k).reshape(k, k) for part in (2 * outcome - 1, decided))
    wins, counts = (part + sign * part.T for part, sign in zip(sums, (-1, 1), strict=True))
    beaten = cyclic_wins(special.ndtr(-wins / np.sqrt(np.maximum(counts, 1))) < _POSITION_P_VALUE)
    if beaten:
        cycle = listing((f"{models[i]} beats {models[j]}" for i, j in beaten), _MAX_PAIRS)
        checks.append(WarningText(f"direct votes form a cycle, so no order fits them: {cycle}", VOTES))
    if fit.added:
        reached = transitive_closure(wins_or_ties(first, second, outcome, k))
        groups = [[models[i] for i in group] for group in connected_groups(reached & reached.T)]
        text = " and ".join(listing(group, 4) for group in groups[:4])
        checks.append(WarningText(f"without added votes, the strengths of {text} would be infinite", VOTES))
    for name in judges.columns[1:]:
        judge, most = judges[name].value_counts(sort=True).row(0)
        if most > max(_MAX_BY_JUDGE, 2 / judges[name].n_unique()) * judges.height:
            text = f"{name} {judge} gave {most:,} of {judges.height:,} votes"
            checks.append(WarningText(text, VOTES, {"most_by_one": most, "votes": judges.height}))
    return checks


def _position_imbalance(
    source: Source,
    orders: Counter[tuple[str, str]],
    roles: NamedColumns,
    options: ReadOptions,
    *,
    varies: bool,
) -> list[str]:
    """Return descriptions of models that are in one position more often than by chance.

    Nothing is described if balancing the positions can correct the imbalance. If no pair of models ever swaps
    positions, and the column names do not suggest positions, the columns may not represent positions at all.

    Parameters
    ----------
    source : Source
    orders : Counter
        Number of votes for each ordered pair of models.
    roles : mapping of str to str
        Columns by role.
    options : ReadOptions
    varies : bool
        Whether some pair of models occurs in both orders.

    Raises
    ------
    InputError
        If positions vary or the columns name them, or if a gate decides a claim.
    """
    uneven = {order: n for order, n in orders.items() if min(n, orders[order[::-1]]) < FEWEST_IN_PLACE}
    places = [sum((Counter({order[k]: n}) for order, n in uneven.items()), Counter[str]()) for k in (0, 1)]
    totals = places[0] + places[1]
    named = all(words(roles[role]) & _POSITIONS for role in ROLES[1:3])
    varies = named or varies
    imbalances = [
        f"{model} was in {roles[role]} in {position[model]:,} of {count:,} votes"
        for model, count in totals.items()
        for role, position in zip(ROLES[1:3], places, strict=True)
        if 2 * position[model] > count and special.bdtrc(position[model] - 1, count, 0.5) < ALPHA
    ]
    if imbalances and (varies or isinstance(options, GateReading)):
        problem = f"{source.label}: {imbalances[0]}, so the judge may prefer this position"
        detail = "position bias and preference for a model cannot be separated"
        hint = "have each pair judged in both positions, and record the positions"
        raise InputError(problem, found=detail, hint=hint)
    return imbalances


def _describe_wins(scores: VoteScores, roles: NamedColumns) -> str:
    """Return a note that explains the scores of wins, ties and losses and lists the win rates.

    `roles` maps roles to columns.
    """
    shares = 0.5 + np.nansum(scores.scores, axis=0) / (4 * scores.votes_per_model)
    rates = (f"{model} {share:.0%}" for model, share in zip(scores.models, shares, strict=True))
    note = f"scores of {listing(scores.models)} per {roles['sample']}: win 2, tie 0, loss -2"
    return f"{note}; win rates, ties half: {listing(rates)}"


def _with_questions(columns: Columns, source: Source) -> tuple[Columns, Source]:
    """Number the rows if two models and a winner stand in each, but nothing names questions or votes."""
    is_numbered = "vote" in columns.names or bool(_vote_roles(columns)[0])
    if is_numbered or {*_guess_roles(columns)} != {*ROLES[1:]}:
        return columns, source
    numbers = pl.Series("vote", map(str, range(1, columns.height + 1)))
    frame = columns.frame.with_columns(numbers)
    return replace(columns, frame=frame, names=["vote", *columns.names]), NumberedSource(source, "vote")


def read_preferences(columns: Columns, source: Source, options: ReadOptions) -> tuple[Source, Reading] | None:
    """Convert a table of votes between pairs of models to scores.

    If the options select models, only votes between them count.

    Returns
    -------
    tuple of (Source, Reading), or None
        The scores, and how they were read; None if the rows are not votes.

    Raises
    ------
    InputError
        If models had different opponents, or were never compared.
    UsageError
        If unpaired samples are requested.
    """
    columns, source = _with_questions(columns, source)
    roles, question = _vote_roles(columns)
    if not roles:
        return None
    text = ",".join(f"{role}={column}" for role, column in roles.items())
    try:
        table = read_votes([source], columns=text)
        frame = _select_models(table.frame, options.models)
        models = options.models if frame.height < table.frame.height else None
        table = replace(table, frame=frame)
        rows = [*table.columns()[:-1], _winning_sides(frame, roles)]
        scores = score_votes(*rows, models=models, location=table.location)
        balanced = score_votes(*rows, models=models, balance_orders=True)
    except RiskrankError:
        return None
    if options.unpaired:
        message = f"{source.label}: votes are paired: they compare two models on the same sample"
        flag = option("unpaired", True)
        raise UsageError(message, found=flag, hint=f"remove {flag}")
    orders = Counter(zip(*rows[1:3], strict=True))
    varies = any(order[::-1] in orders for order in orders)
    imbalances = _position_imbalance(source, orders, roles, options, varies=varies)
    shift = np.abs(np.nanmean(balanced.scores - scores.scores, axis=0))
    error = np.nanstd(scores.scores, axis=0) / np.sqrt(scores.samples_per_model)
    biased = bool((shift > _MIN_SHIFT * error).any())
    rule = missing_scores_option(options).get("missing", options.missing)
    ranked = rule == SHARED and bool(biased or scores.missing_pairs)
    if ranked:
        _require_connected(source, scores.models, orders)
    elif rule != "keep":
        _require_complete(source, scores, orders, options)
    first, second = (np.array([*map(scores.models.index, side)]) for side in rows[1:3])
    votes = first, second, vote_outcomes(rows[3])
    fit = fit_strengths(*votes, len(scores.models), position=varies)
    clusters = _vote_clusters(columns, roles, question, options)
    few = any(columns.n_unique(name) < MIN_SAMPLES for name in clusters)
    options = replace(options, **cluster_options(clusters, options, few=few)) if clusters else options
    cells = source.load([roles["verdict"], *clusters])[table.frame["row"]].select(
        pl.Series("sample", rows[0]), *clusters
    )
    checks = _vote_checks(fit, scores, votes, cells, roles)
    if ranked:
        options = replace(options, missing=options.missing if options.noise else SHARED, higher=(STRENGTH,))
        column = str(options.cluster) if options.cluster in clusters else "sample"
        scored, cells = _strength_rows(fit, scores.models, cells, column)
        note = f"strengths estimated from {len(rows[0]):,} votes (Bradley–Terry; a tie counts as half a win)"
        note += f"; advantage of {roles['model_a']} estimated" if varies else ""
        note += "; one win and one loss added for each model" if fit.added else ""
    else:
        scores = balanced if biased else scores
        scored = [(model, sample, METRIC, score) for model, sample, score in scored_rows(scores)]
        cells, note = cells.unique("sample"), _describe_wins(scores, roles)
        note += f"; positions ({roles['model_a']}, {roles['model_b']}) weighted equally" if biased else ""
    note += f"; {listing(imbalances)}: position bias is possible" if imbalances else ""
    summary = f"pairwise preferences: {roles['model_a']} against {roles['model_b']}, by {roles['verdict']}"
    reading = Reading(
        summary="; ".join([summary, note, *map(cluster_note, clusters)]), options=options, checks=(*checks,)
    )
    return PreferencesSource(source, scored, cells), reading
