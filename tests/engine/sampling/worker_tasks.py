"""Tasks for worker processes in the tests; workers import this module, so it has few imports."""

import operator
import os
import signal
import sys
import time


def scaled(shared, task):
    return shared[0] * task, os.getpid()


def stumbling(shared, task):
    if task == 3:
        raise shared
    return task


def unspeakable(shared, task):
    raise Unspeakable("one", "two")


def dying(shared, task):
    if task == 1:
        time.sleep(0.2)
        shared()
    return task


def dying_behind_a_long_task(shared, task):
    time.sleep(600 * (task == 0))
    return dying(shared, task)


class Unspeakable(Exception):
    """Object that cannot be unpickled."""

    def __init__(self, first, two):
        super().__init__(first)


class FatalToRead:
    """Object that kills the process that unpickles it while other workers start."""

    def __reduce__(self):
        return by_kill, ()


def by_kill():
    os.kill(os.getpid(), signal.SIGKILL)


def by_exit():
    os._exit(7)


def noisy(shared, task):
    os.write(1, b"a solver prints")
    sys.stdout.write("so does Python")
    sys.stdout.flush()
    return task


def threads(shared, task):
    return os.environ["OPENBLAS_NUM_THREADS"], os.environ["OMP_NUM_THREADS"]


class UnreadableThere:
    """Object that cannot be unpickled in a worker."""

    def __reduce__(self):
        return operator.truediv, (1, 0)
