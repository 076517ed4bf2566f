"""A judge's votes on pairs of answers become one score per model and sample ([RAB] App. B)."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from riskrank.engine.types import Floats, Integers
from riskrank.errors import InputError, did_you_mean, listing, nearest

VOTES = ("a", "b", "both-good", "both-bad", "tie")
"""First better, second better, equally good, equally bad, equal without saying which."""

SPELLINGS = {
    "a": (
        *("a", "model_a", "a is better", "a better", "a wins", "a>b", "a>>b", "[[a]]", "[[a>b]]", "[[a>>b]]"),
        "1-0",
    ),
    "b": (
        *("b", "model_b", "b is better", "b better", "b wins", "b>a", "b>>a", "[[b]]", "[[b>a]]", "[[b>>a]]"),
        "0-1",
    ),
    "both-good": ("both-good", "same good", "equally good", "both are equally good", "tie (bothgood)"),
    "both-bad": (
        "both-bad",
        "bothbad",
        "same bad",
        "equally bad",
        "both are equally bad",
        "tie (bothbad)",
        "neither",
    ),
    "tie": (
        *("tie", "tied", "draw", "equal", "same", "c", "[[c]]", "a=b", "[[a=b]]", "gleich", "unentschieden"),
        *("1/2-1/2", "½-½", "no difference", "no preference", "none", "undecided", "gleichstand", "égalité"),
        *("keine präferenz", "sans préférence", "sin preferencia", "sem preferência", "geen voorkeur"),
        *("empate", "pareggio", "parità", "nessuna preferenza", "gelijk", "gelijkspel", "remis", "remíza"),
        *("oavgjort", "berabere", "ничья", "平局", "平手", "引き分け", "무승부"),
    ),
}
"""Spellings of arenas, judge prompts, MixInstruct and chess; case is ignored, "_" and "-" are spaces."""

FEWEST_IN_PLACE = 10
"""Votes on a pair in one order of presentation: of fewer nobody knows what that order does."""

# The row's own two models: who won, from the first one's point of view.
_SIGN = {"a": 1, "b": -1, "both-good": 0, "both-bad": 0, "tie": 0}


@dataclass(frozen=True)
class VoteScores:
    """Scores from pairwise votes, and what the judge left out.

    Attributes
    ----------
    models : tuple of str, length k
        Models, in the order given or of first appearance.
    samples : tuple of str, length n
        Samples, in order of first appearance.
    scores : ndarray, shape (n, k)
        s_i = Σ_j (X_ij − X_ji): +2 for each win, −2 for each loss, 0 for ties. NaN where a model was not
        judged on a sample at all.
    judged : ndarray of int, shape (n, k)
        How many opponents each model was judged against on each sample.
    counts : dict of str to int
        How often each of `VOTES` was given.
    expected_pairs, judged_pairs, missing_pairs : int
        Pairs of models times samples; those with a vote; those without one, which count as ties.
    missing_scores : int
        How many scores are NaN.
    swapped_pairs, contradictory_pairs : int
        Pairs judged in both orders of presentation, whose results are averaged; and how many of these
        disagreed.
    """

    models: tuple[str, ...]
    samples: tuple[str, ...]
    scores: Floats
    judged: Integers
    counts: dict[str, int]
    expected_pairs: int
    judged_pairs: int
    missing_pairs: int
    missing_scores: int
    swapped_pairs: int
    contradictory_pairs: int

    @property
    def judged_samples(self) -> Integers:
        """Samples on which each model was judged, shape (k,)."""
        return (self.judged > 0).sum(axis=0)

    @property
    def votes(self) -> Integers:
        """How often each model was judged against another, shape (k,)."""
        return self.judged.sum(axis=0)

    @property
    def mean(self) -> Floats:
        """Mean score of each model on the samples it was judged on, shape (k,); NaN without any."""
        total = np.nansum(self.scores, axis=0)
        many = self.judged_samples
        return np.where(many > 0, total / np.maximum(many, 1), np.nan)


def score_votes(
    samples: Sequence[object],
    first: Sequence[object],
    second: Sequence[object],
    votes: Sequence[object],
    *,
    models: Sequence[str] | None = None,
    place: Callable[[int], str] = "row {}".format,
    even: bool = False,
) -> VoteScores:
    """Turn votes on pairs of models into a score per model and sample.

    Parameters
    ----------
    samples : sequence, length r
        Sample of each vote.
    first, second : sequence, length r
        The two models judged, in the order of presentation.
    votes : sequence, length r
        The votes, in any of `SPELLINGS`.
    models : sequence of str, optional
        All models that may occur; by default those that do.
    place : callable
        Says where the vote of a number, from 1, was found, for messages.
    even : bool
        Let both orders of presentation of a pair weigh alike, where each has enough votes.

    Returns
    -------
    VoteScores

    Raises
    ------
    InputError
        If a vote's spelling or a model is unknown, a model meets itself, a row occurs twice, or there are
        no votes.

    Notes
    -----
    A tie, good or bad, adds the same to X_ij and X_ji and so cancels. A pair judged in both orders, as is
    done against a judge's preference for a position, counts once, with the mean of the two results. Of a pair
    judged n times in one order alone, n_1 and n_2 times in each, a vote weighs n/(2 n_1), or n/(2 n_2):
    in the mean a preference for a position cancels.

    References
    ----------
    [RAB] App. B; method §5 "Judge verdicts".
    """
    rows = [[str(value) for value in column] for column in (samples, first, second)]
    if not len(votes):
        raise InputError("there are no verdicts", found="no rows", hint="check the file and its columns")
    names = _model_names(rows[1], rows[2], models, place)
    kinds = _kinds(votes, place)
    kept = tuple(dict.fromkeys(rows[0]))
    results = _pair_results(rows, kinds, names, place)
    scores = np.zeros((len(kept), len(names)))
    judged = np.zeros(scores.shape, dtype=np.int64)
    weights = _even_weights(results) if even else {}
    for (sample, low, high), signs in results.items():
        won = 2 * sum(signs.values()) / len(signs)
        won *= weights.get(next(iter(signs)), 1.0) if len(signs) == 1 else 1.0
        scores[sample, low] += won
        scores[sample, high] -= won
        judged[sample, [low, high]] += 1
    scores[judged == 0] = np.nan
    both = [signs for signs in results.values() if len(signs) == 2]
    expected = len(kept) * len(names) * (len(names) - 1) // 2
    return VoteScores(
        models=names,
        samples=kept,
        scores=scores,
        judged=judged,
        counts={kind: kinds.count(kind) for kind in VOTES},
        expected_pairs=expected,
        judged_pairs=len(results),
        missing_pairs=expected - len(results),
        missing_scores=int((judged == 0).sum()),
        swapped_pairs=len(both),
        contradictory_pairs=sum(len(set(signs.values())) == 2 for signs in both),
    )


def _even_weights(results: Mapping[Any, Mapping[tuple[int, int], int]]) -> dict[tuple[int, int], float]:
    """What a vote weighs by its order of presentation, where both orders are to weigh alike."""
    counts = Counter(next(iter(signs)) for signs in results.values() if len(signs) == 1)
    both = {order: (count, counts[order[::-1]]) for order, count in counts.items()}
    return {order: sum(two) / (2 * two[0]) for order, two in both.items() if min(two) >= FEWEST_IN_PLACE}


def normalise_vote(vote: object, *, place: str = "") -> str:
    """Which of `VOTES` a spelling means.

    Parameters
    ----------
    vote : object
        The vote as found, usually text.
    place : str
        Where it was found, for the message.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If the spelling is not known.
    """
    kind = _KINDS.get(_folded(vote))
    if kind is None:
        close = nearest(_folded(vote), _KINDS)
        raise InputError(
            f"{place}: unknown verdict" if place else "unknown verdict",
            found=repr(vote),
            hint=(f"did you mean {close!r}? " if close else "") + f"use {listing(VOTES)}",
        )
    return kind


def is_vote(text: str) -> bool:
    """Whether a text is one of `SPELLINGS`."""
    return _folded(text) in _KINDS


def _folded(vote: object) -> str:
    return " ".join(str(vote).casefold().replace("_", " ").replace("-", " ").split())


def _kinds(votes: Sequence[object], place: Callable[[int], str]) -> list[str]:
    # A table holds few spellings, each many times.
    met: dict[object, str] = {}
    for at, vote in enumerate(votes, start=1):
        if vote not in met:
            met[vote] = normalise_vote(vote, place=place(at))
    return [met[vote] for vote in votes]


_KINDS = {_folded(spelling): kind for kind, spellings in SPELLINGS.items() for spelling in spellings}


def _model_names(
    first: Sequence[str], second: Sequence[str], models: Sequence[str] | None, place: Callable[[int], str]
) -> tuple[str, ...]:
    # First appearance row by row, so that a file and its columns swapped name the same models.
    met = tuple(dict.fromkeys(name for pair in zip(first, second, strict=True) for name in pair))
    if models is None:
        return met
    names = tuple(dict.fromkeys(str(name) for name in models))
    for name in met:
        if name not in names:
            row = next(at for at, pair in enumerate(zip(first, second, strict=True), 1) if name in pair)
            raise InputError(
                f"{place(row)}: the judge names an unknown model",
                found=repr(name),
                hint=did_you_mean(name, names, write=repr, otherwise=f"the models are {listing(names)}"),
            )
    return names


def _pair_results(
    rows: Sequence[Sequence[str]], kinds: Sequence[str], models: Sequence[str], place: Callable[[int], str]
) -> dict[tuple[int, int, int], dict[tuple[int, int], int]]:
    """Return, by sample and pair of models, the result per order of presentation: +1 if the lower one won."""
    sample_of = {name: at for at, name in enumerate(dict.fromkeys(rows[0]))}
    model_of = {name: at for at, name in enumerate(models)}
    results: dict[tuple[int, int, int], dict[tuple[int, int], int]] = {}
    for at, (sample, one, other, kind) in enumerate(zip(*rows, kinds, strict=True), start=1):
        if one == other:
            raise InputError(
                f"{place(at)}: a model is judged against itself",
                found=repr(one),
                hint="leave such rows out, or check which columns hold the two models",
            )
        a, b = model_of[one], model_of[other]
        signs = results.setdefault((sample_of[sample], min(a, b), max(a, b)), {})
        if (a, b) in signs:
            raise InputError(
                f"{place(at)}: a verdict is given a second time",
                found=f"sample {sample!r}, {one!r} against {other!r} twice in this order",
                hint="keep one verdict per sample and ordered pair of models",
            )
        signs[a, b] = _SIGN[kind] * (1 if a < b else -1)
    return results
