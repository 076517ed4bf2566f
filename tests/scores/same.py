"""Whether two score tables are the same, bit for bit."""


def assert_same(one, other):
    assert one.models == other.models
    assert one.samples == other.samples
    assert one.metrics == other.metrics
    assert one.has_draws == other.has_draws
    for mine, theirs in zip(one.values + one.clusters, other.values + other.clusters, strict=True):
        assert mine.shape == theirs.shape
        assert mine.tobytes() == theirs.tobytes()
