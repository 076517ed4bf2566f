"""Values per model, as a price, in a file without samples: they apply to each sample of the model."""

from dataclasses import replace

import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.score_table import read_scores

PRICES = {"a": 0.03, "b": 0.01, "c": 0.002}
CONSTANT_OPTIONS = ReadOptions(
    sample_optional=True, allow_constant=True, missing="keep", lower=("price",), higher=("*",)
)
DIRECTIONS = {"lower": ["price", "seconds"], "higher": ["quality"]}


def scores(tasks=False):
    """Return wide scores of three models on 30 samples."""
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
def test_price_file_equals_a_price_column(tasks):
    """All rows have the same choice, fronts, ranks and intervals; a price is known exactly."""
    expected = rr.copa(joined(tasks=tasks), wide=True, **DIRECTIONS).rows
    inputs = [
        ([scores(tasks), prices()], {"wide": True}),
        ([prices(), scores(tasks)], {"wide": True}),
        ([long(scores(tasks), "quality", "seconds"), long(prices(), "price")], {}),
        ([long(scores(tasks), "quality", "seconds"), prices()], {}),
        ([scores(tasks).drop("seconds"), prices(), scores(tasks).drop("quality")], {"wide": True}),
    ]
    for frames, layout in inputs:
        assert rr.copa(frames, **layout, **DIRECTIONS).rows == expected
    for row in expected:
        assert row.low["price"] == row.high["price"] == row.values["price"] == PRICES[row.model]


def test_every_repeat_of_a_sample_has_the_price():
    repeated = pl.concat([scores(), scores()])
    sources = [FrameSource(frame) for frame in (repeated, prices())]
    table = read_scores(sources, replace(CONSTANT_OPTIONS, wide=True, repeats="draws"))
    assert table.has_repeats
    for model, values in zip(table.models, table.values, strict=True):
        assert values.shape == (60, 3)
        assert set(values[:, 0]) == {-PRICES[model]}


def test_second_price_of_a_model_is_refused():
    with pytest.raises(InputError) as caught:
        rr.copa([scores(), prices(), prices({"b": 0.01})], wide=True, **DIRECTIONS)
    message, details, hint = caught.value.lines(flags=True)
    assert "a second price for model 'b'" in message
    assert "no sample column" in details
    assert "remove a duplicate file" in hint
    separate = [prices({"a": 0.03}), prices({"b": 0.01, "c": 0.002})]
    assert (
        rr.copa([scores(), *separate], wide=True, **DIRECTIONS).rows
        == rr.copa(joined(), wide=True, **DIRECTIONS).rows
    )


def test_dropping_a_model_without_a_price_keeps_its_samples():
    with pytest.raises(InputError, match="no score for model 'c', metric 'price'") as caught:
        rr.copa([scores(), prices({"a": 0.03, "b": 0.01})], wide=True, **DIRECTIONS)
    assert "30 of 270 scores missing, in 1 of 3" in caught.value.found
    result = rr.copa([scores(), prices({"a": 0.03, "b": 0.01})], wide=True, missing="drop", **DIRECTIONS)
    text = " ".join(str(result).split())
    assert "Scored: c none on price; models with missing scores are excluded (" in text


def test_prices_of_unselected_models_are_ignored():
    frames = [scores(), prices(PRICES | {"other": 1.0})]
    result = rr.copa(frames, wide=True, models=["a", "b"], **DIRECTIONS)
    assert {row.model: row.values["price"] for row in result.rows} == {"a": 0.03, "b": 0.01}
    without = rr.copa([scores(), prices({"a": 0.03, "b": 0.01})], wide=True, missing="drop", **DIRECTIONS)
    assert {row.model for row in without.rows} == {"a", "b"}


def test_price_file_alone_is_a_table_without_samples():
    """Files without samples need a column per metric, and commands that test refuse one row per model."""
    assert rr.copa(prices(), lower="price").document.objectives.values.shape[1] == 1
    with pytest.raises(InputError, match="missing column 'sample'"):
        rr.rank([scores(), prices()], wide=True, **DIRECTIONS)
    with pytest.raises(InputError) as caught:
        rr.rank([long(scores(), "quality", "seconds"), prices()], **DIRECTIONS)
    assert "add these columns to the file" in caught.value.hint


def renamed_scores(layout):
    """Return scores with renamed columns, and extra columns about their samples."""
    number = pl.col("sample").str.slice(1).cast(pl.Int64)
    frame = scores() if layout else long(scores(), "quality", "seconds")
    columns = {
        "bench": pl.format("b{}", number % 2),
        "clump": pl.format("c{}", number // 3),
        "lang": pl.when(number < 20).then(pl.lit("de")),
    }
    return frame.with_columns(**columns).rename({"model": "system", "sample": "doc_id"})


@pytest.mark.parametrize(
    ("layout", "options"),
    [
        ({"wide": True}, {}),
        ({}, {"task": "bench"}),
        ({"wide": True}, {"cluster": "clump", "task": "none"}),
        ({}, {"where": "lang = 'de'"}),
        ({"wide": True}, {"where": "lang = 'de' AND system <> 'c'"}),
    ],
)
def test_sample_options_do_not_apply_to_prices(layout, options):
    """Renamed columns, tasks, clusters and conditions apply to samples only."""
    arguments = {"columns": "model=system,sample=doc_id", **layout, **options, **DIRECTIONS}
    frame = renamed_scores(layout)
    combined = frame.join(prices().rename({"model": "system"}), on="system") if layout else None
    price_frames = [prices(), prices().rename({"model": "system"})]
    price_frames += [] if layout else [long(price_frame, "price") for price_frame in price_frames[:1]]
    arguments["resamples"] = 40
    orders = [(frame, price_frame) for price_frame in price_frames] + [(price_frames[0], frame)]
    results = [rr.copa([*order], **arguments).rows for order in orders]
    assert all(rows == results[0] for rows in results)
    assert {row.values["price"] for row in results[0]} <= {*PRICES.values()}
    if combined is not None:
        assert results[0] == rr.copa(combined, **arguments).rows


def test_model_conditions_apply_to_prices():
    rows = rr.copa([scores(), prices()], wide=True, where="model <> 'c'", **DIRECTIONS).rows
    assert {row.model for row in rows} == {"a", "b"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"where": "lnag = 'de'"}, "there is no column"),
        ({"where": "price < 0.02"}, "there is no column"),
        ({"columns": "model=system,sample=docid"}, "no column 'docid'"),
        ({"task": "bnech"}, "no column 'bnech'"),
    ],
)
def test_unknown_sample_columns_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        rr.copa(
            [prices(), renamed_scores(True)],
            **{"columns": "model=system,sample=doc_id", "wide": True, **DIRECTIONS, **options},
        )


def test_scores_with_another_sample_column_are_not_prices():
    """One row per sample is not one per model: the named column has to exist."""
    other = scores().select("model", "sample", "seconds").rename({"sample": "id"})
    with pytest.raises(InputError, match="no column 'doc_id'"):
        rr.copa(
            [scores().drop("seconds").rename({"sample": "doc_id"}), other],
            wide=True,
            columns="sample=doc_id",
            **DIRECTIONS,
        )


@pytest.mark.parametrize("layout", [{"wide": True}, {}])
@pytest.mark.parametrize("sample", ["s00", "run"])
def test_single_measurement_with_a_sample_is_not_exact(layout, sample):
    """A single measurement may differ the next time; a price has no sample."""
    readings = prices().rename({"price": "energy"}).with_columns(sample=pl.lit(sample))
    frame = scores() if layout else long(scores(), "quality", "seconds")
    frames = [frame, readings if layout else long(readings, "energy")]
    document = rr.copa(frames, **layout, lower=["seconds", "energy"], higher=["quality"])
    assert all(row.front is None for row in document.rows)
    assert "tests need 10 samples per model, but energy has 1" in document.verdict
    with pytest.raises(InputError, match="concerns the uncertainty of the front"):
        rr.copa(frames, **layout, lower=["seconds", "energy"], higher=["quality"], alpha=0.1)


def test_constant_metric_column_is_a_price():
    """Another metric may have different samples."""
    seconds = long(scores(), "seconds").with_columns(sample="t" + pl.col("sample"))
    frames = [long(joined(), "quality", "price"), seconds]
    for row in rr.copa(frames, **DIRECTIONS).rows:
        assert row.low["price"] == row.high["price"] == PRICES[row.model]
