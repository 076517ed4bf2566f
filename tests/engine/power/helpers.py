"""Tables drawn and tested whole, and the closed form of a plan."""

import numpy as np

from riskrank.engine.power.closed_form import ClosedForm
from riskrank.engine.power.planning import streams


def verdicts_of(test, size, tables, *, seed):
    """Draw tables of a size and test them, shape (tables, claims)."""
    return np.array([test(size, stream) for stream in streams(size, tables, seed)], dtype=bool)


def whole_verdicts(plan, size, tables, *, seed):
    """Draw tables of a plan and test them whole."""

    def test(size, stream):
        data, rest = stream.spawn(2)
        return plan.test(plan.sampler.chosen(np.random.default_rng(data), size), rest)

    return verdicts_of(test, size, tables, seed=seed)


def drawn_units(plan, size, tables, seed):
    """The units of the same tables."""
    rngs = [np.random.default_rng(stream.spawn(1)[0]) for stream in streams(size, tables, seed)]
    return [plan.sampler.chosen(rng, size) for rng in rngs]


def closed_verdicts(plan, drawn, size):
    """What the closed form answers in tables of some units, for the pairs of the plan."""
    return ClosedForm(plan, 1).shown_in(drawn, size)
