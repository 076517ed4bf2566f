"""Conversion of a judge's pairwise votes to one score per model and sample ([RAB] App. B)."""

import tomllib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, did_you_mean, listing, nearest

# First better, second better, equally good, equally bad, unspecified tie.
VOTES = ("a", "b", "both-good", "both-bad", "tie")

# Spellings of each vote; case is ignored, "_" and "-" are spaces.
SPELLINGS = tomllib.loads(Path(__file__).with_name("votes.toml").read_text(encoding="utf-8"))

# Smallest number of votes in each order of presentation to estimate a position bias.
FEWEST_IN_PLACE = 10

# Result of a vote for the first model of the row.
_SIGN = {"a": 1, "b": -1, "both-good": 0, "both-bad": 0, "tie": 0}


@dataclass(frozen=True)
class VoteScores:
    """Scores from pairwise votes, with counts of missing and contradictory votes.

    Attributes
    ----------
    models : tuple of str, length k
        Models, in the given order or in order of first appearance.
    samples : tuple of str, length n
        Samples, in order of first appearance.
    scores : ndarray, shape (n, k)
        s_i = Σ_j (X_ij − X_ji): +2 for each win, −2 for each loss, 0 for ties. NaN if a model has no vote
        on a sample.
    opponents : ndarray of int, shape (n, k)
        Number of opponents with which each model is compared on each sample.
    vote_counts : dict of str to int
        Number of votes of each kind in `VOTES`.
    expected_pairs, judged_pairs, missing_pairs : int
        Number of model pairs over all samples: in total, with a vote, and without a vote. Pairs without a
        vote count as ties.
    missing_scores : int
        Number of NaN scores.
    swapped_pairs, contradictory_pairs : int
        Number of pairs judged in both orders of presentation, and of those with different results. The two
        results are averaged.
    """

    models: tuple[str, ...]
    samples: tuple[str, ...]
    scores: Floats
    opponents: Integers
    vote_counts: dict[str, int]
    expected_pairs: int
    judged_pairs: int
    missing_pairs: int
    missing_scores: int
    swapped_pairs: int
    contradictory_pairs: int

    @property
    def samples_per_model(self) -> Integers:
        """Number of samples with a vote, per model, shape (k,)."""
        return (self.opponents > 0).sum(axis=0)

    @property
    def votes_per_model(self) -> Integers:
        """Number of votes that involve each model, shape (k,)."""
        return self.opponents.sum(axis=0)

    @property
    def mean(self) -> Floats:
        """Mean score of each model over its judged samples, shape (k,); NaN without judged samples."""
        total = np.nansum(self.scores, axis=0)
        many = self.samples_per_model
        return np.where(many > 0, total / np.maximum(many, 1), np.nan)


def score_votes(
    samples: Sequence[object],
    first: Sequence[object],
    second: Sequence[object],
    votes: Sequence[object],
    *,
    models: Sequence[str] | None = None,
    location: Callable[[int], str] = "row {}".format,
    balance_orders: bool = False,
) -> VoteScores:
    """Convert pairwise votes to one score per model and sample.

    Parameters
    ----------
    samples : sequence, length r
        Sample of each vote.
    first, second : sequence, length r
        The two judged models, in the order of presentation.
    votes : sequence, length r
        The votes, in any of `SPELLINGS`.
    models : sequence of str, optional
        Allowed models; by default all models that occur.
    location : callable
        Maps the row number of a vote, from 1, to a description of its location for error messages.
    balance_orders : bool
        Whether to give both orders of presentation of a pair the same total weight, if each has enough votes.

    Returns
    -------
    VoteScores

    Raises
    ------
    InputError
        If a vote's spelling or a model is unknown, a model is compared with itself, a row occurs twice, or
        there are no votes.

    Notes
    -----
    A tie, good or bad, adds the same number to X_ij and X_ji and cancels. A pair that is judged in both
    orders, to compensate for a position bias of the judge, counts once with the mean of both results. Suppose
    that n = n_1 + n_2 pairs are judged in one order only, n_1 in the first and n_2 in the second. With
    `balance_orders`, their votes have weights n/(2 n_1) and n/(2 n_2), so a position bias cancels on average.

    References
    ----------
    [RAB] App. B; method §5 "Judge verdicts".
    """
    rows = [[str(value) for value in column] for column in (samples, first, second)]
    if not len(votes):
        raise InputError("the file has no verdicts", found="no rows", hint="check the file and its columns")
    names = _model_names(rows[1], rows[2], models, location)
    kinds = _normalise_votes(votes, location)
    sample_names = tuple(dict.fromkeys(rows[0]))
    results = _pair_results(rows, kinds, names, location)
    scores = np.zeros((len(sample_names), len(names)))
    judged = np.zeros(scores.shape, dtype=np.int64)
    single = Counter(next(iter(signs)) for signs in results.values() if len(signs) == 1)
    totals = {order: (count, count + single[order[::-1]]) for order, count in single.items()}
    weights = {
        order: total / (2 * count)
        for order, (count, total) in totals.items()
        if balance_orders and min(count, total - count) >= FEWEST_IN_PLACE
    }
    for (sample, low, high), signs in results.items():
        won = 2 * sum(signs.values()) / len(signs)
        won *= weights.get(next(iter(signs)), 1.0) if len(signs) == 1 else 1.0
        scores[sample, low] += won
        scores[sample, high] -= won
        judged[sample, [low, high]] += 1
    scores[judged == 0] = np.nan
    both = [signs for signs in results.values() if len(signs) == 2]
    expected = len(sample_names) * len(names) * (len(names) - 1) // 2
    return VoteScores(
        models=names,
        samples=sample_names,
        scores=scores,
        opponents=judged,
        vote_counts={kind: kinds.count(kind) for kind in VOTES},
        expected_pairs=expected,
        judged_pairs=len(results),
        missing_pairs=expected - len(results),
        missing_scores=int((judged == 0).sum()),
        swapped_pairs=len(both),
        contradictory_pairs=sum(len(set(signs.values())) == 2 for signs in both),
    )


def vote_outcomes(votes: Sequence[object]) -> Floats:
    """Convert votes to outcomes for the first model: 1 for a win, 0 for a loss, and ½ for any tie."""
    return np.array([(1 + _SIGN[kind]) / 2 for kind in _normalise_votes(votes, "row {}".format)])


def normalise_vote(vote: object, *, location: str = "") -> str:
    """Convert any accepted spelling of a vote to one of `VOTES`.

    Parameters
    ----------
    vote : object
        The vote as read, usually text.
    location : str
        Location of the vote, for the error message.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If the spelling is unknown.
    """
    kind = _KINDS.get(_normalise_spelling(vote))
    if kind is None:
        close = nearest(_normalise_spelling(vote), _KINDS)
        problem = f"{location}: unknown verdict" if location else "unknown verdict"
        hint = (f"did you mean {close!r}? " if close else "") + f"use {listing(VOTES)}"
        raise InputError(problem, found=repr(vote), hint=hint)
    return kind


def is_vote(text: str) -> bool:
    """Return True if a text is an accepted spelling of a vote, one of `SPELLINGS`."""
    return _normalise_spelling(text) in _KINDS


def _normalise_spelling(vote: object) -> str:
    """Normalise the case, spaces, underscores and hyphens of a vote."""
    return " ".join(str(vote).casefold().replace("_", " ").replace("-", " ").split())


def _normalise_votes(votes: Sequence[object], location: Callable[[int], str]) -> list[str]:
    """Convert every vote to one of `VOTES`.

    `location` maps a row number, from 1, to a description of the row for error messages.
    """
    # A table contains only a few different spellings, so each is normalised only once.
    cache: dict[object, str] = {}
    for row, vote in enumerate(votes, start=1):
        if vote not in cache:
            cache[vote] = normalise_vote(vote, location=location(row))
    return [cache[vote] for vote in votes]


_KINDS = {_normalise_spelling(text): kind for kind, texts in SPELLINGS.items() for text in texts}


def _model_names(
    first: Sequence[str], second: Sequence[str], models: Sequence[str] | None, location: Callable[[int], str]
) -> tuple[str, ...]:
    """Return the names of all models, from `models` if given, otherwise in order of first appearance.

    `first` and `second` hold the two models of each vote. `location` maps a row number, from 1, to a
    description of the row for error messages.

    Raises
    ------
    InputError
        If a vote names a model that is not in `models`.
    """
    # Row by row, so that swapping the two columns does not change the set of first models.
    seen = tuple(dict.fromkeys(name for pair in zip(first, second, strict=True) for name in pair))
    if models is None:
        return seen
    names = tuple(dict.fromkeys(str(name) for name in models))
    for name in seen:
        if name not in names:
            pairs = enumerate(zip(first, second, strict=True), start=1)
            row = next(number for number, pair in pairs if name in pair)
            problem = f"{location(row)}: the judge names an unknown model"
            hint = did_you_mean(name, names, write=repr, fallback=f"the models are {listing(names)}")
            raise InputError(problem, found=repr(name), hint=hint)
    return names


def _pair_results(
    rows: Sequence[Sequence[str]], kinds: Sequence[str], models: Sequence[str], location: Callable[[int], str]
) -> dict[tuple[int, int, int], dict[tuple[int, int], int]]:
    """Collect the results of all votes by sample and pair of models.

    Parameters
    ----------
    rows : sequence of three sequences of str
        Sample, first model and second model of each vote.
    kinds : sequence of str
        Normalised votes.
    models : sequence of str
        Names of all models.
    location : callable
        Maps a row number, from 1, to a description of the row for error messages.

    Returns
    -------
    dict of (sample, low, high) to dict of (first, second) to int
        By sample and pair of models low < high, then by order of presentation, all as indices. The result is
        +1 if the model with the lower index won, −1 if it lost, and 0 for a tie.

    Raises
    ------
    InputError
        If a model is compared with itself, or a row occurs twice.
    """
    sample_of = {name: index for index, name in enumerate(dict.fromkeys(rows[0]))}
    model_of = {name: index for index, name in enumerate(models)}
    results: dict[tuple[int, int, int], dict[tuple[int, int], int]] = {}
    for row, (sample, first, second, kind) in enumerate(zip(*rows, kinds, strict=True), start=1):
        if first == second:
            problem = f"{location(row)}: a model is compared with itself"
            hint = "remove such rows, or check which columns contain the two models"
            raise InputError(problem, found=repr(first), hint=hint)
        a, b = model_of[first], model_of[second]
        signs = results.setdefault((sample_of[sample], min(a, b), max(a, b)), {})
        if (a, b) in signs:
            detail = f"sample {sample!r}, {first!r} against {second!r} twice in this order"
            hint = "keep one verdict per sample and ordered pair of models"
            raise InputError(f"{location(row)}: duplicate verdict", found=detail, hint=hint)
        signs[a, b] = _SIGN[kind] * (1 if a < b else -1)
    return results
