"""When gates that are looked at again stop: against the gate itself, look by look."""

import math

import numpy as np
import pytest

from riskrank.engine.evidence.bets import Wagers
from riskrank.engine.power.stops import Stops, simulate_stops, size_of_one_look

PLAIN = {"reach": 1.0, "boundary": -0.05, "level": 0.05, "limit": 12_000, "repeats": 6, "seed": 3}


def differences(shift):
    return lambda rng, count: (rng.random(count) < 0.7 + shift).astype(float) - (rng.random(count) < 0.7)


def by_hand(shift, every):
    """The first look at which the gate's own evidence reaches its level."""
    found = []
    for stream in np.random.SeedSequence(3).spawn(6):
        rng, seen, stop = np.random.default_rng(stream), np.empty(0), (math.inf, math.inf)
        chunk = max(4096 // every, 1) * every
        for start in range(0, 12_000 // every * every, chunk):
            seen = np.append(seen, differences(shift)(rng, min(chunk, 12_000 // every * every - start)))
        for look in range(every, seen.size + 1, every):
            wagers = Wagers.of(seen[:look], 1.0)
            sides = wagers.log_e_value(-0.05), wagers.mirrored.log_e_value(0.05)
            if max(sides) >= math.log(40):
                stop = (look, math.inf) if sides[0] >= sides[1] else (math.inf, look)
                break
        found.append(stop)
    return found


@pytest.mark.parametrize(("shift", "every"), [(0.1, 50), (-0.15, 70), (-0.05, 5000)])
def test_stops_are_those_of_the_gate(shift, every):
    stops = simulate_stops(differences(shift), every=every, **PLAIN)
    assert list(zip(stops.passed, stops.failed, strict=True)) == by_hand(shift, every)


def test_a_certain_win_takes_as_many_samples_as_the_bets_allow():
    stops = simulate_stops(lambda rng, count: np.ones(count), **PLAIN | {"boundary": 0.0}, every=1)
    look = next(n for n in range(1, 50) if Wagers.of(np.ones(n), 1.0).log_e_value(0.0) >= math.log(40))
    assert stops.passed.tolist() == [look] * 6


def test_quantiles_and_the_interval_of_the_median():
    stops = Stops(np.array([*np.arange(50, 4050, 50), *[math.inf] * 20]), np.full(100, math.inf), 4000)
    assert (stops.by_share(0.5), stops.by_share(0.8), stops.by_share(0.9)) == (2500, 4000, None)
    low, high = stops.median_interval()
    # Order statistics 41 and 61 of 100.
    assert (low, high) == (2050, 3050)


def test_a_single_look():
    # 0/1 scores of .75 against .70, half of whose difficulty is shared.
    assert size_of_one_look(0.05, 0.295, 0.0, 0.05, 0.8) == pytest.approx(926, abs=1)
    assert size_of_one_look(0.0, 0.3, 0.0, 0.05, 0.8) is None
