from dataclasses import replace

import numpy as np
import pytest

from riskrank.engine.copa.population import population
from riskrank.engine.copa.sweep import Sweep
from riskrank.engine.copa.weight_ranges import range_of_choice, sweep_each_weight, weight_ranges


def sweep():
    """Model 2 up to 0.25, model 0 up to 0.5, model 2 again up to 1."""
    return Sweep(
        parameter="alpha",
        objective=0,
        grid=np.linspace(0, 1, 5),
        choice=np.array([2, 0, 0, 2, 2]),
        low=np.array([0.0, 0.25, 0.5]),
        high=np.array([0.25, 0.5, 1.0]),
        model=np.array([2, 0, 2]),
        share=np.array([0.25, 0.0, 0.75]),
        front_size=2,
    )


def test_widths_are_even_where_the_grid_is():
    assert sweep().widths.tolist() == [0.25, 0.25, 0.5]
    over_p = replace(sweep(), parameter="p", low=np.array([1.0, 2.0, 4.0]), high=np.array([2.0, 4.0, np.inf]))
    assert over_p.widths.tolist() == [0.5, 0.25, 0.25]


@pytest.mark.parametrize(
    ("model", "at", "expected"),
    [
        (2, 0.0, (0, 0.25)),
        (2, 0.25, (0, 0.25)),  # at an edge both choices are held to hold
        (0, 0.25, (0.25, 0.5)),
        (0, 0.5, (0.25, 0.5)),
        (2, 0.5, (0.5, 1)),
        (2, 0.7, (0.5, 1)),
        (2, 1.0, (0.5, 1)),
        (2, 0.3, (0.3, 0.3)),  # the choice only between two points of the grid
        (1, 0.3, (0.3, 0.3)),
    ],
)
def test_the_range_around_a_value(model, at, expected):
    assert range_of_choice(sweep(), model, at) == expected


def test_every_weight_is_moved_and_the_others_keep_their_proportions():
    rng = np.random.default_rng(0)
    models = population(rng.normal(size=(9, 3)), names=list("abcdefghi"), metrics=["x", "y", "z"])
    weights = np.array([0.0, 1.0, 0.0])
    sweeps = sweep_each_weight(models, weights, steps=20)
    assert [one.objective for one in sweeps] == [0, 1, 2]
    chosen = int(sweeps[1].choice[-1])  # all the weight on y
    found = weight_ranges(sweeps, chosen, weights)
    assert [one.models_chosen for one in found] == [one.models_chosen for one in sweeps]
    assert all(one.low <= weight <= one.high for one, weight in zip(found, weights, strict=True))
    assert weight_ranges((), chosen, weights) == ()
