import numpy as np

from riskrank.engine.sampling.resamples import Scratch


def test_an_array_lasts_until_its_name_is_asked_for_again():
    scratch = Scratch()
    first, other = scratch.floats("a", 2, 3), scratch.floats("b", 6)
    first[:], other[:] = 1.0, 2.0
    assert np.array_equal(first, np.ones((2, 3)))
    assert np.shares_memory(scratch.floats("a", 5), first)
    assert scratch.floats("a", 4, 4).shape == (4, 4)
    assert np.array_equal(other, np.full(6, 2.0))


def test_kinds_of_numbers_do_not_mix():
    scratch = Scratch()
    assert scratch.integers("a", 2).dtype == np.int64
    assert scratch.floats("b", 2).dtype == np.float64
    assert scratch.numbers(3).tolist() == [0, 1, 2]
    assert scratch.numbers(2).tolist() == [0, 1]
