"""Shared test set-up: Hypothesis without deadlines, so that a busy machine never fails a test; shares."""

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "riskrank", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("riskrank")


def pytest_addoption(parser):
    parser.addoption("--share", metavar="I/N", help="run every N-th test only, from the I-th on")


@pytest.hookimpl(trylast=True)  # among the tests that the markers left
def pytest_collection_modifyitems(config, items):
    share = config.getoption("--share")
    if share is None:
        return
    first, step = (int(part) for part in share.split("/"))
    if not 1 <= first <= step:
        raise pytest.UsageError(f"--share {share} is no share: 1/2 and 2/2 are the two halves")
    kept = items[first - 1 :: step]
    chosen = {id(item) for item in kept}
    config.hook.pytest_deselected(items=[item for item in items if id(item) not in chosen])
    items[:] = kept
