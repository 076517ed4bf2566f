"""Tables of Optuna and Weights & Biases: one value per trial, bookkeeping, and crashed runs."""

import numpy as np
import polars as pl
import pytest

from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores

RNG = np.random.default_rng(5)


def trials(**values):
    """Return a frame like `trials_dataframe`: numeric parameters alongside the values."""
    start = dict.fromkeys(("datetime_start", "datetime_complete"), ["2026-01-01 10:00:00"] * 12)
    parameters = {"params_depth": [1, 2, 3] * 4, "params_lr": RNG.random(12)}
    state = {"state": ["COMPLETE"] * 11 + ["PRUNED"]}
    return pl.DataFrame({"number": range(12)} | values | start | parameters | state)


@pytest.mark.parametrize("names", [("value",), ("values_0", "values_1"), ("values_acc", "values_cost")])
def test_single_value_per_trial_cannot_be_tested(names):
    frame = trials(**{name: RNG.random(12) for name in names})
    with pytest.raises(InputError, match="one value per trial") as raised:
        read_scores([FrameSource(frame)], ReadOptions())
    assert ("copa" in str(raised.value)) == (len(names) > 1)


def test_trials_are_models_with_objectives():
    frame = trials(values_acc=np.linspace(0.5, 0.9, 12), values_cost=np.linspace(9.0, 1.0, 12))
    options = ReadOptions(higher=("values_acc",), lower=("values_cost",), sample_optional=True)
    table = read_scores([FrameSource(frame)], options)
    assert {metric.name: metric.direction for metric in table.metrics} == {
        "values_acc": "higher",
        "values_cost": "lower",
    }
    assert sorted(map(int, table.models)) == [*range(11)], "the last trial was pruned"
    assert any("Read as an Optuna study" in text for text in table.warnings)


@pytest.mark.parametrize(("condition", "reported"), [(None, True), ("\"State\" <> 'crashed'", False)])
def test_crashed_runs_are_reported_and_bookkeeping_excluded(condition, reported):
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
    table = read_scores([FrameSource(pl.DataFrame(columns))], ReadOptions(where=condition))
    assert (table.models, [metric.name for metric in table.metrics]) == (("mlp", "vit"), ["val/acc"])
    note = next(text for text in table.warnings if text.startswith("Read as "))
    assert ("includes 2 rows with State crashed" in note) == reported
    assert "--where" not in note  # what failed says something of who failed
