"""Tasks come back in order, from one process or several that stay."""

import os

from riskrank.engine.sampling.processes import Workers


def scaled(shared, task):
    return shared[0] * task, os.getpid()


def test_processes_stay_while_the_data_are_the_same():
    twice, thrice = [2], [3]
    with Workers(1) as workers:
        alone = list(workers.run(scaled, twice, range(5)))
    assert [value for value, _ in alone] == [0, 2, 4, 6, 8]
    assert {process for _, process in alone} == {os.getpid()}
    with Workers(2) as workers:
        first = list(workers.run(scaled, twice, range(40)))
        again = list(workers.run(scaled, twice, range(40)))
        other = list(workers.run(scaled, thrice, range(3)))
    assert [value for value, _ in first] == [value for value, _ in again] == [2 * task for task in range(40)]
    assert [value for value, _ in other] == [0, 3, 6]
    processes = {process for _, process in first + again}
    assert len(processes) <= 2
    assert os.getpid() not in processes
    assert not processes & {process for _, process in other}
