"""Shared test set-up: Hypothesis without deadlines, markers for slow tests, and single-process studies."""

import contextlib
import gc
import importlib
import os

import pytest
from hypothesis import HealthCheck, given, settings, strategies

# Picture fixtures, which tests of several folders use.
pytest_plugins = ["tests.pictures"]

# `make test-lowest` and `make test-newest` look at five times as many examples.
for name, examples in (("quick", 20), ("thorough", 100)):
    settings.register_profile(
        name,
        deadline=None,
        derandomize=True,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("quick")


# Fixtures that start the program or copy the package.
STARTING = {"start", "package_copy", "program"}


def _takes_its_time(item) -> bool:
    """Return whether a test starts the program or a copy of it, or draws very many models."""
    if not STARTING.isdisjoint(item.fixturenames):
        return True
    many = getattr(item, "callspec", None) and item.callspec.params.get("count")
    return "legible" in item.fixturenames and isinstance(many, int) and many >= 60


@pytest.fixture(scope="session", autouse=True)
def single_process():
    """Run studies in a single process by default, because other cores run other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
        yield


def pytest_addoption(parser):
    parser.addoption("--write-made", action="store_true", help="rewrite stored screens, warnings and JSON")


@pytest.fixture
def update_stored(request):
    """Return whether stored results are to be overwritten."""
    return request.config.getoption("--write-made")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Disable garbage collection during collection, because almost no imported object is garbage."""
    # Hypothesis searches all objects for its random state at the first draw: draw here, where few exist.
    given(strategies.none())(lambda _: None)()
    gc.disable()
    try:
        _load_share_of_worker(session)
        return (yield)
    finally:
        gc.enable()


def _load_share_of_worker(session):
    """Import different modules first in each worker, so that the other workers find them compiled."""
    config = session.config
    worker = getattr(config, "workerinput", {"workerid": "gw0", "workercount": 1})
    number, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    if count > 1:
        folders = [config.rootpath / path for path in config.args]
        paths = sorted(path for folder in folders for path in folder.rglob("test_*.py"))
        for path in paths[number::count]:
            # The collection of the module reports errors, and skips modules that lack a package.
            with contextlib.suppress(Exception, pytest.skip.Exception):
                importlib.import_module(".".join(path.relative_to(config.rootpath).with_suffix("").parts))


def pytest_collection_finish():
    """Exclude the collected items from garbage collection, because they live until the end."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)  # garbage of tests is small, and looking for it often takes its time


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the markers
def pytest_itemcollected(item):
    if _takes_its_time(item):
        item.add_marker(pytest.mark.slow)
