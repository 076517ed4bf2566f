"""Roles are given to any columns of small tables: a result or an error, but no internal error."""

from contextlib import suppress

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import RiskrankError

NAMES = ("model", "sample", "metric", "score", "task", "cluster", "a+b", "a", "b", "note", "run", "user id")
ROLES = ("model", "sample", "metric", "score", "cluster", "task", "draw")
OPTIONS = ("cluster", "task", "group_by", "time")
KINDS = (
    lambda rng, n: rng.integers(0, 3, n),
    lambda rng, n: [f"x{value}" for value in rng.integers(0, 4, n)],
    lambda rng, n: rng.normal(size=n).round(2),
    lambda rng, n: np.arange(n),
    lambda rng, n: [f"u{at // 2}" for at in range(n)],
)


def calls(rng, columns):
    """Yield the options of all calls: single roles, joined roles, and combinations."""
    yield from ({"columns": f"{role}={rng.choice(columns)}"} for role in ROLES)
    yield from ({option: str(rng.choice(columns))} for option in OPTIONS)
    one, two, three = rng.permutation(columns)[:3].tolist()
    pair = f"model={one},sample={two}"
    yield {"columns": f"model={one}+{two}", "cluster": one}
    yield {"columns": f"{pair}+{three}", "wide": True, "cluster": three, "missing": "drop"}
    yield {"columns": pair, "wide": True, "repeats": "mean", "group_by": three}
    yield {"columns": f"{pair},cluster={two}+{three}", "wide": True}


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 300))]
)
def test_no_role_of_a_column_is_an_internal_error(seed):
    rng = np.random.default_rng(seed)
    n, names = int(rng.integers(4, 25)), rng.permutation(NAMES)[: rng.integers(3, 8)].tolist()
    frame = pl.DataFrame({name: KINDS[rng.integers(len(KINDS))](rng, n) for name in names})
    for options in calls(rng, names):
        with suppress(RiskrankError):
            rr.check(frame, **options)


def test_plus_signs_in_names_of_joined_columns():
    frame = pl.DataFrame(
        {"metric": [*"xy"] * 4, "a+b": [*"uuuuvvvv"], "note": [*"ppqqppqq"], "score": range(8)}
    )
    with pytest.raises(RiskrankError):
        rr.rank(frame, columns="model=metric")
