"""Functions that draw tables for a plan, test them, and evaluate its closed form."""

import numpy as np

from riskrank.engine.power.closed_form import ClosedForm
from riskrank.engine.power.planning import table_streams


def collect_verdicts(test, size, tables, *, seed):
    """Draw tables of a given size and test them; return the verdicts, shape (tables, claims)."""
    return np.array([test(size, stream) for stream in table_streams(size, tables, seed)], dtype=bool)


def full_test_verdicts(plan, size, tables, *, seed):
    """Draw tables of a plan and run the complete test on them."""

    def test(size, stream):
        data, remaining = stream.spawn(2)
        return plan.test(plan.sampler.draw_units(np.random.default_rng(data), size), remaining)

    return collect_verdicts(test, size, tables, seed=seed)


def sample_units(plan, size, tables, seed):
    """Return the drawn units of these tables."""
    rngs = [np.random.default_rng(stream.spawn(1)[0]) for stream in table_streams(size, tables, seed)]
    return [plan.sampler.draw_units(rng, size) for rng in rngs]


def closed_verdicts(plan, tables, size):
    """Return the closed-form verdicts on the pairs of a plan, for tables given by their units."""
    return ClosedForm(plan, 1).significant_pairs_in(tables, size)
