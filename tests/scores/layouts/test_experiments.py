"""Tables of Optuna and Weights & Biases: one value a trial, bookkeeping, and runs that did not end."""

import numpy as np
import polars as pl
import pytest

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.frames import FrameSource
from riskrank.scores.table.score_table import read_scores

RNG = np.random.default_rng(5)


def trials(**values):
    """As `trials_dataframe` writes them: parameters are numbers beside the values."""
    start = dict.fromkeys(("datetime_start", "datetime_complete"), ["2026-01-01 10:00:00"] * 12)
    parameters = {"params_depth": [1, 2, 3] * 4, "params_lr": RNG.random(12)}
    state = {"state": ["COMPLETE"] * 11 + ["PRUNED"]}
    return pl.DataFrame({"number": range(12)} | values | start | parameters | state)


@pytest.mark.parametrize("names", [("value",), ("values_0", "values_1"), ("values_acc", "values_cost")])
def test_one_value_a_trial_cannot_be_tested(names):
    frame = trials(**{name: RNG.random(12) for name in names})
    with pytest.raises(InputError, match="one value a trial") as raised:
        read_scores([FrameSource(frame)], ReadOptions())
    assert ("copa" in str(raised.value)) == (len(names) > 1)


def test_trials_are_models_that_are_chosen_by_their_objectives():
    frame = trials(values_acc=np.linspace(0.5, 0.9, 12), values_cost=np.linspace(9.0, 1.0, 12))
    asked = ReadOptions(higher=("values_acc",), lower=("values_cost",), sample_optional=True)
    table = read_scores([FrameSource(frame)], asked)
    assert {metric.name: metric.direction for metric in table.metrics} == {
        "values_acc": "higher",
        "values_cost": "lower",
    }
    assert sorted(map(int, table.models)) == [*range(11)], "the last trial was pruned"
    assert any("Read as an Optuna study" in text for text in table.warnings)


@pytest.mark.parametrize(("where", "told"), [(None, True), ("\"State\" <> 'crashed'", False)])
def test_runs_that_crashed_are_named_and_bookkeeping_left_out(where, told):
    rows = [(model, seed) for model in ("mlp", "vit") for seed in range(12)]
    columns = {
        "Name": [f"run-{place}" for place in range(24)],
        "State": ["crashed"] + ["finished"] * 11 + ["crashed"] + ["finished"] * 11,
        "User": ["ann"] * 24,
        "Created": ["2026-01-02T10:00:00.000Z"] * 24,
        "Runtime": RNG.integers(9, 99, 24),
        "lr": [0.001] * 24,
        "model_type": [model for model, _ in rows],
        "seed": [seed for _, seed in rows],
        "val/acc": RNG.random(24),
        "_step": [1000] * 24,
        "_timestamp": range(1_769_000_000, 1_769_000_024),
    }
    table = read_scores([FrameSource(pl.DataFrame(columns))], ReadOptions(where=where))
    assert (table.models, [metric.name for metric in table.metrics]) == (("mlp", "vit"), ["val/acc"])
    said = next(text for text in table.warnings if text.startswith("Read as "))
    assert ("2 rows whose State is crashed are among them" in said) == told
    assert "--where" not in said  # what failed says something of who failed
