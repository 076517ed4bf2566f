"""Shared test set-up: Hypothesis without deadlines, as a machine may be busy; what is slow; one process."""

import contextlib
import gc
import importlib
import os

import pytest
from hypothesis import HealthCheck, given, settings, strategies

# Fixtures of pictures, which tests of several rooms draw.
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


# Fixtures that start the program or copy the house.
STARTING = {"start", "house", "program"}


def _takes_its_time(item) -> bool:
    """Whether a test starts the program or a copy of it, or lays out a picture of very many models."""
    if not STARTING.isdisjoint(item.fixturenames):
        return True
    many = getattr(item, "callspec", None) and item.callspec.params.get("count")
    return "legible" in item.fixturenames and isinstance(many, int) and many >= 60


@pytest.fixture(scope="session", autouse=True)
def one_process():
    """A study that is not told otherwise runs in this process: the tests have the other cores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
        yield


def pytest_addoption(parser):
    parser.addoption("--write-made", action="store_true", help="store screens, warnings and JSON anew")


@pytest.fixture
def write_made(request):
    """Whether figures are stored anew."""
    return request.config.getoption("--write-made")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Garbage is not looked for meanwhile: next to nothing of what is imported and collected is any."""
    # Hypothesis looks for who holds its random numbers when a test first draws: that is here, where there is
    # little to look through yet; what is frozen would hide them.
    given(strategies.none())(lambda _: None)()
    gc.disable()
    try:
        _load_own_share(session)
        return (yield)
    finally:
        gc.enable()


def _load_own_share(session):
    """Each worker first loads tests of its own: what one has compiled the others find, and none does all."""
    config = session.config
    given = getattr(config, "workerinput", {"workerid": "gw0", "workercount": 1})
    number, count = int(given["workerid"].removeprefix("gw")), given["workercount"]
    if count > 1:
        folders = [config.rootpath / path for path in config.args]
        found = sorted(path for folder in folders for path in folder.rglob("test_*.py"))
        for path in found[number::count]:
            with contextlib.suppress(Exception):  # it is told when the module is collected
                importlib.import_module(".".join(path.relative_to(config.rootpath).with_suffix("").parts))


def pytest_collection_finish():
    """What is collected stays to the end: garbage is not looked for in it."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)  # garbage of tests is small, and looking for it often takes its time


@pytest.hookimpl(tryfirst=True)  # before pytest looks at the markers
def pytest_itemcollected(item):
    if _takes_its_time(item):
        item.add_marker(pytest.mark.slow)
