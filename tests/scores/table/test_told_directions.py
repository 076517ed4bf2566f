"""A long table may say itself which way its metrics are better; the caller knows better."""

import polars as pl
import pytest

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError
from riskrank.scores.files.frames import FrameSource
from riskrank.scores.table.score_table import read_scores


def table(ways, name="direction"):
    rows = [(m, s, metric) for m in "AB" for s in range(3) for metric in ("acc", "loss")]
    return {
        "model": [row[0] for row in rows],
        "sample": [row[1] for row in rows],
        "metric": [row[2] for row in rows],
        "score": [0.1 * row[1] + (row[0] == "B") for row in rows],
        name: [ways.get(row[2]) for row in rows],
    }


def directions(*frames, **options):
    found = read_scores([FrameSource(frame) for frame in frames], ReadOptions(**options))
    return {spec.name: (spec.direction, spec.declared) for spec in found.metrics}


BOTH = {"acc": "higher", "loss": "lower"}


def test_the_column_declares():
    assert directions(table(BOTH)) == {"acc": ("higher", True), "loss": ("lower", True)}
    assert directions(table({"loss": "lower"})) == {"acc": ("higher", False), "loss": ("lower", True)}
    assert directions(table({"loss": ""})) == {"acc": ("higher", False), "loss": ("lower", False)}
    assert directions(table(BOTH), where="sample < 2") == directions(table(BOTH))


def test_the_caller_knows_better():
    assert directions(table(BOTH), higher=("loss",))["loss"] == ("higher", True)
    assert directions(table({"acc": "lower"}), higher=("*",)) == {
        "acc": ("lower", True),
        "loss": ("higher", True),
    }


@pytest.mark.parametrize("ways", [{"acc": "up", "loss": "lower"}, {"acc": "Higher"}, {"acc": 1, "loss": 2}])
def test_any_other_column_of_that_name_has_no_say(ways):
    assert directions(table(ways)) == {"acc": ("higher", False), "loss": ("lower", False)}
    assert directions(table(BOTH, name="way")) == {"acc": ("higher", False), "loss": ("lower", False)}


def test_a_role_is_no_direction():
    frame = table(BOTH)
    del frame["metric"]
    frame["direction"] = ["higher", "lower"] * 6
    assert set(directions(frame, columns="metric=direction")) == {"higher", "lower"}


def test_two_directions_are_refused_unless_the_caller_decides(tmp_path):
    frame = table(BOTH)
    frame["direction"][1] = "higher"
    with pytest.raises(InputError, match="metric 'loss' has two directions"):
        directions(frame)
    assert directions(frame, lower=("loss",))["loss"] == ("lower", True)
    one, two = str(tmp_path / "one.csv"), str(tmp_path / "two.csv")
    whole = pl.DataFrame(table(BOTH))
    whole.filter(pl.col("model") == "A").write_csv(one)
    other = whole.filter(pl.col("model") == "B").with_columns(direction=pl.lit("higher"))
    other.write_csv(two)
    with pytest.raises(InputError, match="two directions") as caught:
        read_scores([one, two], ReadOptions())
    assert caught.value.found == f"higher here, and lower in {one}"
    assert read_scores([one, two], ReadOptions(lower=("loss",))).metrics[1].direction == "lower"
