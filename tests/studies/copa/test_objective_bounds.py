"""Bounds as users write them: parsing, and hints for invalid bounds."""

import numpy as np
import pytest

from riskrank.errors import UsageError
from riskrank.studies.copa.objective_columns import parse_constraint

NAMES = ["acc", "cost:total", "pass>=3"]
VALUES = np.array([[0.7, 20.0, 1.0], [0.9, 41.4, np.nan], [0.8, 30.0, 2.0]])


def read(text):
    return parse_constraint(
        text,
        NAMES,
        values=VALUES,
        larger_is_better=np.array([True, False, True]),
        shares=[True, False, False],
    )


@pytest.mark.parametrize(
    ("text", "objective", "relation", "bound"),
    [
        ("acc >= .8", 0, ">=", 0.8),
        (" acc=1 ", 0, "==", 1.0),
        ("cost:total ≤ 1e2", 1, "<=", 100.0),
        ("cost:total<-3", 1, "<", -3.0),
        ("pass>=3 >= 0.5", 2, ">=", 0.5),
    ],
)
def test_bounds_are_parsed(text, objective, relation, bound):
    result = read(text)
    assert (result.objective, result.relation, result.bound) == (objective, relation, bound)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("foo", "needs an objective", 'write require="acc >= 0.8", in quotes'),
        ("", "needs an objective", 'write require="acc >= 0.8", in quotes'),
        ("cost:total <", "needs an objective", 'write require="cost:total <= 30", in quotes'),
        ("csot:total <", "needs an objective", 'write require="acc >= 0.8", in quotes'),
        ("acc << 3", "needs an objective", 'write require="acc >= 0.8", in quotes'),
        ("acc != 3", "needs an objective", 'write require="acc >= 0.8", in quotes'),
        ("1 <= acc", "needs an objective", 'write require="acc >= 0.8", in quotes'),
        ("acc >= 80%", "needs an objective", 'write require="acc >= 0.8", in quotes'),
        (
            "acc > .5 and cost:total < 9",
            "needs an objective",
            '"cost:total <= 30", in quotes, one option per bound',
        ),
        ("Acc > 0.5", "bounds 'Acc', which is not", "did you mean 'acc'?"),
        ("cost <= 3", "bounds 'cost', which is not", "did you mean 'cost:total'?"),
        ("acc:tvar@0.1 > 0", "which is not an objective", 'add objective="acc:tvar@0.1"'),
        ("memory <= 3", "which is not an objective", "or select its metric with metric"),
        ("acc >= 80", "the bound of a proportion must be between 0 and 1", 'write require="acc >= 0.8"'),
        ("acc <= 100", "the bound of a proportion must be between 0 and 1", 'write require="acc <= 1"'),
        ("acc > -1", "the bound of a proportion must be between 0 and 1", 'write require="acc > 0.5"'),
    ],
)
def test_invalid_bound_gets_a_hint(text, message, hint):
    with pytest.raises(UsageError) as error:
        read(text)
    first, _, third = error.value.lines()
    assert message in first
    assert hint in third
