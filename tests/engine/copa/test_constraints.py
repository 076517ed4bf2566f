import numpy as np
import pytest

from riskrank.engine.copa.constraints import Constraint, feasible_models
from riskrank.errors import InputError

VALUES = np.array([[0.9, 4.0], [0.8, 2.0], [0.5, np.nan], [0.1, 1.0]])
LABELS = {"names": ["a", "b", "c", "d"], "metrics": ["acc", "co2"]}


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("<=", [False, True, False, True]),
        ("<", [False, False, False, True]),
        (">=", [True, True, False, False]),
        (">", [True, False, False, False]),
        ("==", [False, True, False, False]),
        ("!=", [True, False, False, True]),
    ],
)
def test_relations_hold_never_for_missing_values(relation, expected):
    assert feasible_models(VALUES, [Constraint(1, relation, 2.0)], **LABELS).tolist() == expected


def test_all_constraints_must_hold():
    constraints = [Constraint(1, "<=", 2.0), Constraint(0, ">", 0.2)]
    assert feasible_models(VALUES, constraints, **LABELS).tolist() == [False, True, False, False]
    assert feasible_models(VALUES, [], **LABELS).all()


def test_infeasible_constraints_name_the_nearest_model_and_its_distance():
    with pytest.raises(InputError, match=r"no model meets acc >= 0\.85 and co2 <= 1\.5") as caught:
        feasible_models(VALUES, [Constraint(0, ">=", 0.85), Constraint(1, "<=", 1.5)], **LABELS)
    # In ranges of the columns: a 2.5/3, b 0.05/0.8 + 0.5/3, d 0.75/0.8.
    assert caught.value.found == ("the nearest, b, has acc = 0.8, off by 0.05, co2 = 2, off by 0.5")
    assert caught.value.hint == "loosen acc >= 0.85 or co2 <= 1.5"


def test_a_model_without_the_value_is_never_the_nearest():
    with pytest.raises(InputError) as caught:
        feasible_models(VALUES[[2, 0]], [Constraint(1, "<", 0.0)], names=["c", "a"], metrics=["acc", "co2"])
    assert "the nearest, a," in caught.value.found
