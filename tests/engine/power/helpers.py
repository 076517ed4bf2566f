"""Tables drawn and tested whole, and the closed form of a plan."""

import numpy as np

from riskrank.engine.power.closed_form import ClosedForm
from riskrank.engine.power.planning import table_streams


def collect_verdicts(test, size, tables, *, seed):
    """Draw tables of a size and test them, shape (tables, claims)."""
    return np.array([test(size, stream) for stream in table_streams(size, tables, seed)], dtype=bool)


def full_test_verdicts(plan, size, tables, *, seed):
    """Draw tables of a plan and test them whole."""

    def test(size, stream):
        data, remaining = stream.spawn(2)
        return plan.test(plan.sampler.draw_units(np.random.default_rng(data), size), remaining)

    return collect_verdicts(test, size, tables, seed=seed)


def sample_units(plan, size, tables, seed):
    """The units of the same tables."""
    rngs = [np.random.default_rng(stream.spawn(1)[0]) for stream in table_streams(size, tables, seed)]
    return [plan.sampler.draw_units(rng, size) for rng in rngs]


def closed_verdicts(plan, tables, size):
    """Return the verdicts of the closed form for the pairs of a plan, by table of units."""
    return ClosedForm(plan, 1).significant_pairs_in(tables, size)
