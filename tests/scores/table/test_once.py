"""What a model has once, as a price, in a file without samples: it stands beside each sample of its model."""

from dataclasses import replace

import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError
from riskrank.options.reading import ReadOptions
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


def test_a_price_that_two_files_have_is_refused_as_one_of_a_model():
    with pytest.raises(InputError) as caught:
        rr.copa([scores(), prices(), prices({"b": 0.01})], wide=True, **WAYS)
    what, found, hint = caught.value.lines(flags=True)
    assert "a second price of model 'b'" in what
    assert "no column of samples" in found
    assert "leave out a file that is a copy" in hint
    apart = [prices({"a": 0.03}), prices({"b": 0.01, "c": 0.002})]
    assert rr.copa([scores(), *apart], wide=True, **WAYS).rows == rr.copa(joined(), wide=True, **WAYS).rows


def test_a_model_dropped_for_want_of_a_price_takes_no_samples_with_it():
    with pytest.raises(InputError, match="no score for model 'c', metric 'price'") as caught:
        rr.copa([scores(), prices({"a": 0.03, "b": 0.01})], wide=True, **WAYS)
    assert "30 of 270 scores missing, of 1 of 3" in caught.value.found
    found = rr.copa([scores(), prices({"a": 0.03, "b": 0.01})], wide=True, missing="drop", **WAYS)
    said = " ".join(str(found).split())
    assert "Scored: c none on price; models that lack scores are left out (" in said


def test_a_list_of_prices_may_be_longer_than_the_models_asked_for():
    frames = [scores(), prices(PRICES | {"other": 1.0})]
    found = rr.copa(frames, wide=True, models=["a", "b"], **WAYS)
    assert {row.model: row.values["price"] for row in found.rows} == {"a": 0.03, "b": 0.01}
    without = rr.copa([scores(), prices({"a": 0.03, "b": 0.01})], wide=True, missing="drop", **WAYS)
    assert {row.model for row in without.rows} == {"a", "b"}


def test_one_row_a_model_alone_is_read_as_it_was():
    """A column a metric is said where no file has samples, and commands that test refuse one row a model."""
    assert rr.copa(prices(), lower="price").document.objectives.values.shape[1] == 1
    with pytest.raises(InputError, match="missing column 'sample'"):
        rr.rank([scores(), prices()], wide=True, **WAYS)
    with pytest.raises(InputError) as caught:
        rr.rank([long(scores(), "quality", "seconds"), prices()], **WAYS)
    assert "files of one table have the same columns" in caught.value.hint


def renamed_scores(layout):
    """Scores with columns of other names, and some that say more of their samples."""
    number = pl.col("sample").str.slice(1).cast(pl.Int64)
    found = scores() if layout else long(scores(), "quality", "seconds")
    more = {
        "bench": pl.format("b{}", number % 2),
        "clump": pl.format("c{}", number // 3),
        "lang": pl.when(number < 20).then(pl.lit("de")),
    }
    return found.with_columns(**more).rename({"model": "system", "sample": "doc_id"})


@pytest.mark.parametrize("layout", [{"wide": True}, {}])
@pytest.mark.parametrize(
    "said",
    [
        {},
        {"task": "bench"},
        {"cluster": "clump", "task": "none"},
        {"where": "lang = 'de'"},
        {"where": "lang = 'de' AND system <> 'c'"},
    ],
)
def test_what_is_said_of_samples_is_not_asked_of_prices(layout, said):
    """Renamed columns, tasks, clusters and conditions are those of samples; the models' where it is."""
    asked = {"columns": "model=system,sample=doc_id", **layout, **said, **WAYS}
    own = renamed_scores(layout)
    beside = own.join(prices().rename({"model": "system"}), on="system") if layout else None
    lists = [prices(), prices().rename({"model": "system"})]
    lists += [] if layout else [long(one, "price") for one in lists[:1]]
    asked["resamples"] = 200
    found = [rr.copa([*order], **asked).rows for one in lists for order in ((own, one), (one, own))]
    assert all(rows == found[0] for rows in found)
    assert {row.values["price"] for row in found[0]} <= {*PRICES.values()}
    if beside is not None:
        assert found[0] == rr.copa(beside, **asked).rows


def test_a_condition_on_the_models_is_one_on_prices():
    rows = rr.copa([scores(), prices()], wide=True, where="model <> 'c'", **WAYS).rows
    assert {row.model for row in rows} == {"a", "b"}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"where": "lnag = 'de'"}, "which is no column"),
        ({"where": "price < 0.02"}, "which is no column"),
        ({"columns": "model=system,sample=docid"}, "no column 'docid'"),
        ({"task": "bnech"}, "no column 'bnech'"),
    ],
)
def test_a_column_that_no_file_of_samples_has_is_refused(asked, said):
    with pytest.raises(InputError, match=said):
        rr.copa(
            [prices(), renamed_scores(True)],
            **{"columns": "model=system,sample=doc_id", "wide": True, **WAYS, **asked},
        )


def test_other_scores_whose_samples_are_called_otherwise_are_no_prices():
    """A row a sample is not one a model: what is named has to be there."""
    other = scores().select("model", "sample", "seconds").rename({"sample": "id"})
    with pytest.raises(InputError, match="no column 'doc_id'"):
        rr.copa(
            [scores().drop("seconds").rename({"sample": "doc_id"}), other],
            wide=True,
            columns="sample=doc_id",
            **WAYS,
        )


@pytest.mark.parametrize("layout", [{"wide": True}, {}])
@pytest.mark.parametrize("sample", ["s00", "run"])
def test_one_reading_with_a_sample_is_not_taken_as_exact(layout, sample):
    """A measurement that was made once may be another the next time; a price has no sample."""
    read = prices().rename({"price": "energy"}).with_columns(sample=pl.lit(sample))
    own = scores() if layout else long(scores(), "quality", "seconds")
    frames = [own, read if layout else long(read, "energy")]
    document = rr.copa(frames, **layout, lower=["seconds", "energy"], higher=["quality"])
    assert all(row.front is None for row in document.rows)
    assert "it takes 10 samples a model, and of energy there is 1" in document.verdict
    with pytest.raises(InputError, match="how sure the front is"):
        rr.copa(frames, **layout, lower=["seconds", "energy"], higher=["quality"], alpha=0.1)


def test_a_price_beside_the_samples_of_one_metric_is_a_price():
    """Another metric may have samples of its own."""
    apart = long(scores(), "seconds").with_columns(sample="t" + pl.col("sample"))
    frames = [long(joined(), "quality", "price"), apart]
    for row in rr.copa(frames, **WAYS).rows:
        assert row.low["price"] == row.high["price"] == PRICES[row.model]
