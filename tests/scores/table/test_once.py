"""What a model has once, as a price, in a file without samples: it stands beside each sample of its model."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import riskrank as rr
from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError
from riskrank.scores.files.frames import FrameSource
from riskrank.scores.table.score_table import read_scores

PRICES = {"a": 0.03, "b": 0.01, "c": 0.002}
ONCE = ReadOptions(sample_optional=True, allow_constant=True, missing="keep", lower=("price",), higher=("*",))
WAYS = {"lower": ["price", "seconds"], "higher": ["quality"]}


def scores(tasks=False):
    """Wide scores of three models on 30 samples."""
    rows = []
    for at, model in enumerate(PRICES):
        for sample in range(30):
            row = {
                "model": model,
                "sample": f"s{sample:02}",
                "quality": float((sample * 7 + at) % 10 > 3 + at),
            }
            row["seconds"] = 1.0 + at + (sample * 13 % 17) / 10
            rows.append(row | ({"task": "ab"[sample % 2]} if tasks else {}))
    return pl.DataFrame(rows)


def prices(values=None):
    return pl.DataFrame({"model": [*(values or PRICES)], "price": [*(values or PRICES).values()]})


def long(frame, *names):
    index = [name for name in ("model", "sample", "task") if name in frame.columns]
    return frame.unpivot(names, index=index, variable_name="metric", value_name="score")


def joined(**kinds):
    return scores(**kinds).join(prices(), on="model")


@pytest.mark.parametrize("tasks", [False, True])
def test_prices_of_a_file_are_those_of_a_column(tasks):
    """Row by row the same choice, fronts, ranks and intervals; and a price is known exactly."""
    wanted = rr.copa(joined(tasks=tasks), wide=True, **WAYS).rows
    ways = [
        ([scores(tasks), prices()], {"wide": True}),
        ([prices(), scores(tasks)], {"wide": True}),
        ([long(scores(tasks), "quality", "seconds"), long(prices(), "price")], {}),
        ([long(scores(tasks), "quality", "seconds"), prices()], {}),
        ([scores(tasks).drop("seconds"), prices(), scores(tasks).drop("quality")], {"wide": True}),
    ]
    for frames, layout in ways:
        assert rr.copa(frames, **layout, **WAYS).rows == wanted
    for row in wanted:
        assert row.low["price"] == row.high["price"] == row.values["price"] == PRICES[row.model]


def test_draws_of_a_sample_have_the_price_each():
    again = pl.concat([scores(), scores()])
    sources = [FrameSource(frame) for frame in (again, prices())]
    table = read_scores(sources, replace(ONCE, wide=True, repeats="draws"))
    assert table.has_draws
    for model, values in zip(table.models, table.values, strict=True):
        assert values.shape == (60, 3)
        assert set(values[:, 0]) == {-PRICES[model]}


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (PRICES | {"bb": 1.0}, ("no file has samples of bb", "samples of a, b, c", "did you mean b?")),
        (PRICES | {"other": 1.0}, ("no file has samples of other", "samples of a, b, c", "models")),
        ({"a": 0.03, "b": 0.01}, ("no score for model 'c', metric 'price'", "c/price", "missing")),
    ],
)
def test_prices_of_other_models_are_refused(values, said):
    for frames, layout in (
        ([scores(), prices(values)], {"wide": True}),
        ([long(scores(), "quality", "seconds"), prices(values)], {}),
    ):
        with pytest.raises(InputError) as caught:
            rr.copa(frames, **layout, **WAYS)
        for part, line in zip(said, caught.value.lines(flags=True), strict=True):
            assert part in line


def test_a_list_of_prices_may_be_longer_than_the_models_asked_for():
    frames = [scores(), prices(PRICES | {"other": 1.0})]
    found = rr.copa(frames, wide=True, models=["a", "b"], **WAYS)
    assert {row.model: row.values["price"] for row in found.rows} == {"a": 0.03, "b": 0.01}
    without = rr.copa([scores(), prices({"a": 0.03, "b": 0.01})], wide=True, missing="drop", **WAYS)
    assert {row.model for row in without.rows} == {"a", "b"}


@pytest.mark.parametrize("layout", [{"wide": True}, {}])
def test_two_prices_of_a_model_are_refused_with_both_rows(layout):
    twice = pl.concat([prices(), prices({"a": 0.05})])
    own = scores() if layout else long(scores(), "quality", "seconds")
    with pytest.raises(InputError) as caught:
        rr.copa([own, twice], **layout, **WAYS)
    what, found, hint = caught.value.lines(flags=True)
    assert "a second price of model 'a'" in what
    assert "the first one in row" in found
    assert "--columns sample=…" in hint


def test_a_metric_is_of_samples_or_of_models():
    """A second file of scores whose samples nobody named is no list of prices."""
    with pytest.raises(InputError, match="other files have quality by sample"):
        rr.copa(
            [scores(), prices().rename({"price": "quality"})], wide=True, lower="seconds", higher="quality"
        )


def test_one_row_a_model_alone_is_read_as_it_was():
    """A column a metric is said where no file has samples, and commands that test refuse one row a model."""
    with pytest.raises(InputError, match="missing columns 'metric', 'score'"):
        rr.copa(prices(), lower="price")
    with pytest.raises(InputError, match="missing column 'sample'"):
        rr.rank([scores(), prices()], wide=True, **WAYS)
    with pytest.raises(InputError) as caught:
        rr.rank([long(scores(), "quality", "seconds"), prices()], **WAYS)
    assert "copa can choose among them" in caught.value.hint


@pytest.mark.parametrize("layout", [{"wide": True}, {}])
@pytest.mark.parametrize("sample", ["s00", "run"])
def test_one_reading_with_a_sample_is_not_taken_as_exact(layout, sample):
    """A measurement that was made once may be another the next time; a price has no sample."""
    read = prices().rename({"price": "energy"}).with_columns(sample=pl.lit(sample))
    own = scores() if layout else long(scores(), "quality", "seconds")
    frames = [own, read if layout else long(read, "energy")]
    document = rr.copa(frames, **layout, lower=["seconds", "energy"], higher=["quality"])
    assert all(row.front is None for row in document.rows)
    assert "it takes 10 samples a model, and of energy there is 1 (what is known exactly" in document.verdict
    with pytest.raises(InputError, match="too few samples"):
        rr.copa(frames, **layout, lower=["seconds", "energy"], higher=["quality"], alpha=0.1)


def test_a_price_beside_the_samples_of_one_metric_is_a_price():
    """Another metric may have samples of its own."""
    apart = long(scores(), "seconds").with_columns(sample="t" + pl.col("sample"))
    frames = [long(joined(), "quality", "price"), apart]
    for row in rr.copa(frames, **WAYS).rows:
        assert row.low["price"] == row.high["price"] == PRICES[row.model]
