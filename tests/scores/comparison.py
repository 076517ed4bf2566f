"""Comparison of score tables, bit for bit."""


def assert_equal_tables(first, second):
    assert first.models == second.models
    assert first.samples == second.samples
    assert first.metrics == second.metrics
    assert first.has_repeats == second.has_repeats
    for left, right in zip(first.values + first.clusters, second.values + second.clusters, strict=True):
        assert left.shape == right.shape
        assert left.tobytes() == right.tobytes()
