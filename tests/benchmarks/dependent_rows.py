"""Simulate dependent rows (folds, time series, crossed noise), and smallest detectable differences.

Every case gives one outcome per table, with a promised range for the share of outcomes. Learners are equal by
symmetry: each has its own set of features, and all sets are equally informative.
"""

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

import riskrank as rr
from riskrank.engine.evidence.crossed import Components, crossed_difference
from riskrank.engine.sampling.dependence import is_autocorrelated
from riskrank.errors import RiskrankError

# True mean loss that an oracle test, which knows the dependence, detects with power .8.
_ORACLE = 2.802


@dataclass(frozen=True)
class RowCase:
    """Case with the promised range for the share of its outcomes."""

    name: str
    kind: str
    least: float
    most: float
    tables: int
    of: tuple = ()


def outcome_rows(case: RowCase, seeds: Sequence[int]) -> list[list[float]]:
    """Return one outcome per table."""
    return [[float(_KINDS[case.kind](np.random.default_rng([seed, 14]), *case.of))] for seed in seeds]


def _learners(rng: np.random.Generator, learner: str, k: int, rows: int = 100, features: int = 3) -> bool:
    """Return whether any of k equal learners is significantly better on ten repeats of ten folds."""
    inputs = rng.normal(size=(k, rows, features))
    signal = inputs.sum(axis=(0, 2)) / np.sqrt(features * k)
    target = signal + rng.normal(size=rows)
    classes = target > np.median(target)
    scores = []
    for repeat in range(10):
        order = rng.permutation(rows)
        for fold in range(10):
            tested = np.zeros(rows, dtype=bool)
            tested[order[fold::10]] = True
            for model in range(k):
                value = _LEARNERS[learner](inputs[model], target, classes, tested)
                scores.append((f"m{model}", repeat, fold, value))
    frame = pl.DataFrame(scores, schema=["model", "repeat", "fold", "score"], orient="row")
    return any(row.wins for row in rr.rank(frame, wide=True, higher="score").rows)


def _least_squares(x: np.ndarray, target: np.ndarray, _: np.ndarray, tested: np.ndarray) -> float:
    design = np.column_stack([np.ones(len(x)), x])
    fit = np.linalg.lstsq(design[~tested], target[~tested], rcond=None)[0]
    return -float(np.mean((target[tested] - design[tested] @ fit) ** 2))


def _discriminant(x: np.ndarray, _: np.ndarray, classes: np.ndarray, tested: np.ndarray) -> float:
    train, labels = x[~tested], classes[~tested]
    means = [train[labels == side].mean(axis=0) for side in (False, True)]
    within = sum(
        np.cov(train[labels == side].T) * (np.count_nonzero(labels == side) - 1) for side in (False, True)
    )
    weights = np.linalg.solve(within / (len(train) - 2), means[1] - means[0])
    predicted = (x[tested] - (means[0] + means[1]) / 2) @ weights + np.log(
        labels.mean() / (1 - labels.mean())
    ) > 0
    return float(np.mean(predicted == classes[tested]))


def _nearest(count: int) -> Callable[..., float]:
    def learner(x: np.ndarray, _: np.ndarray, classes: np.ndarray, tested: np.ndarray) -> float:
        far = ((x[tested][:, None] - x[~tested][None]) ** 2).sum(axis=2)
        near = np.argsort(far, axis=1, kind="stable")[:, :count]
        return float(np.mean((classes[~tested][near].mean(axis=1) > 0.5) == classes[tested]))

    return learner


_LEARNERS: dict[str, Callable[..., float]] = {
    "least squares": _least_squares,
    "linear discriminant": _discriminant,
    "5 nearest": _nearest(5),
    "1 nearest": _nearest(1),
}


def _series(rng: np.random.Generator, k: int, n: int, autocorrelation: float) -> np.ndarray:
    noise = rng.normal(size=(k, n + 100))
    for at in range(1, n + 100):
        noise[:, at] += autocorrelation * noise[:, at - 1]
    return noise[:, 100:]


def _table(scores: Sequence[np.ndarray], samples: list[str], metric: str) -> pl.DataFrame:
    constants = {"sample": samples, "metric": metric}
    return pl.concat(
        [pl.DataFrame({"model": f"m{i}", **constants, "score": values}) for i, values in enumerate(scores)]
    )


def _days(scores: np.ndarray) -> pl.DataFrame:
    first = datetime.date(2025, 1, 1)
    days = [str(first + datetime.timedelta(days=at)) for at in range(scores.shape[1])]
    return _table([*scores], days, "loss")


def _wins(rng: np.random.Generator, k: int, n: int, autocorrelation: float, method: str = "R-SSD") -> bool:
    """Return whether a ranking separates equal forecasters over days; refusals count as False."""
    try:
        result = rr.rank(
            _days(_series(rng, k, n, autocorrelation)), lower="loss", method=method, resamples=2000
        )
    except RiskrankError:
        return False
    return any(row.wins for row in result.rows)


def _gated(rng: np.random.Generator, n: int, autocorrelation: float, on: str, shift: float = 0.0) -> bool:
    """Return whether a gate decides: an error if the forecasters are equal, correct if one is shifted."""
    scores = _series(rng, 2, n, autocorrelation)
    scores[1] += shift * _ORACLE * np.sqrt(2 / n) / (1 - autocorrelation)
    try:
        row = rr.gate(_days(scores), lower="loss", better="m0:m1", on=on).rows[0]
    except RiskrankError:
        return False
    return row.verdict == "pass" if shift else row.verdict != "inconclusive"


def _noted(rng: np.random.Generator, k: int, n: int) -> bool:
    return is_autocorrelated(rng.normal(size=(k, n)))


def _crossed(
    rng: np.random.Generator, wordings: int, judges: int, weight: float, missing: float
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    grids = np.meshgrid(np.arange(100), np.arange(wordings), np.arange(judges), indexing="ij")
    i, w, j = (grid.ravel() for grid in grids)
    d = rng.normal(size=100)[i] + weight * rng.normal(size=wordings)[w] + rng.normal(size=i.size)
    # A single judge is not a random factor.
    judged = rng.normal(size=judges)[j] if judges > 1 else 0.0
    d += weight / 2 * (judged + rng.normal(size=(100, wordings))[i, w])
    observed = rng.random(i.size) >= missing
    return d[observed], {"item": i[observed], "wording": w[observed], "judge": j[observed]}


def _covered(rng: np.random.Generator, wordings: int, judges: int, weight: float, missing: float) -> bool:
    d, factors = _crossed(rng, wordings, judges, weight, missing)
    used = [levels for levels in factors.values() if len(np.unique(levels)) > 2]
    low, high = crossed_difference(d, used).interval()
    return bool(low <= 0 <= high)


def _halved(rng: np.random.Generator, wordings: int, judges: int) -> float:
    """Return the ratio of the true standard errors after and before buying the proposed items and levels."""
    components = Components.estimate(*_crossed(rng, wordings, judges, 0.5, 0.0))
    plan = components.cheapest_plan({"item": 1.0, "wording": 10.0, "judge": 10.0})
    if plan is None:
        return np.nan

    def variance(items_bought: int, wordings_bought: int, judges_bought: int) -> float:
        together = 0.0625 / (items_bought * wordings_bought) + 1 / (
            items_bought * wordings_bought * judges_bought
        )
        return 1 / items_bought + 0.25 / wordings_bought + 0.0625 / judges_bought + together

    return float(np.sqrt(variance(*plan) / variance(100, wordings, judges)))


def _visible(
    rng: np.random.Generator, n: int, spread: Callable[[np.random.Generator, int], np.ndarray]
) -> bool:
    """Return whether a gate detects a difference of the reported smallest detectable size."""
    hard, names = rng.normal(size=n), [f"s{at}" for at in range(n)]
    scores = [hard + spread(rng, n) for _ in range(2)]

    def run_gate() -> rr.api.Result:
        return rr.gate(_table(scores, names, "q"), better="m0:m1", time="none")

    scores[0] = scores[0] + run_gate().document.detectable["q"]
    return run_gate().rows[0].verdict == "pass"


def _normal(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=n)


def _skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.exponential(size=n)


_KINDS: dict[str, Callable[..., float]] = {
    "learners": _learners,
    "wins": _wins,
    "gated": _gated,
    "noted": _noted,
    "covered": _covered,
    "halved": _halved,
    "detectable-difference": _visible,
}

OUTCOMES = (
    *(
        RowCase(
            f"100 folds, {name}, k = {k}",
            "learners",
            0.0,
            0.08 if "nearest" in name else 0.05,
            300,
            (name, k),
        )
        for name in _LEARNERS
        for k in (2, 8)
    ),
    RowCase(
        "100 folds, least squares, 54 rows of 30 features",
        "learners",
        0.0,
        0.08,
        200,
        ("least squares", 2, 54, 15),
    ),
    *(
        RowCase(
            f"250 days, AR {autocorrelation}, k = {k}: ranking",
            "wins",
            0.0,
            0.07,
            200,
            (k, 250, autocorrelation),
        )
        for autocorrelation in (0.0, 0.5, 0.7, 0.9)
        for k in (2, 5)
    ),
    RowCase("240 days, AR 0.6, first order", "wins", 0.0, 0.08, 300, (2, 240, 0.6, "R-FSD")),
    RowCase("240 days, AR 0.6, second order", "wins", 0.0, 0.08, 300, (2, 240, 0.6, "R-SSD")),
    RowCase("240 days, AR 0.6, gate on TVaR 5 %", "gated", 0.0, 0.10, 300, (240, 0.6, "tvar@0.05")),
    RowCase("250 days, AR 0.6, gate on means", "gated", 0.0, 0.07, 300, (250, 0.6, "mean")),
    RowCase(
        "250 days, AR 0.6, gate on means, power (oracle: 0.80)",
        "gated",
        0.72,
        1.0,
        300,
        (250, 0.6, "mean", 1.0),
    ),
    *(
        RowCase(f"independent rows, k = {k}, n = {n}: note", "noted", 0.0, 0.011, 2000, (k, n))
        for k in (2, 5, 12)
        for n in (50, 250)
    ),
    *(
        RowCase(
            f"100 items × {w} wordings × {j} judges, {name}: covered",
            "covered",
            0.93,
            0.97,
            1500,
            (w, j, weight, missing),
        )
        for w, j, weight, missing, name in (
            (3, 3, 1.0, 0.0, "matter much"),
            (5, 1, 1.0, 0.0, "matter much"),
            (4, 5, 0.3, 0.0, "matter little"),
            (4, 3, 0.5, 0.3, "30 % missing"),
        )
    ),
    RowCase(
        "bought after a pilot of 4 wordings, 4 judges: error kept, median", "halved", 0.45, 0.55, 400, (4, 4)
    ),
    RowCase(
        "difference said to be visible, n = 60, normal: shown",
        "detectable-difference",
        0.77,
        0.83,
        600,
        (60, _normal),
    ),
    RowCase(
        "difference said to be visible, n = 200, skewed: shown",
        "detectable-difference",
        0.77,
        0.83,
        600,
        (200, _skewed),
    ),
)
