"""Repeats, gaps and pairing."""

import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.asked.reading import ReadOptions
from riskrank.errors import InputError, UsageError
from riskrank.scores.table.score_table import read_scores

HEAD = "model,sample,metric,score\n"


def read(write, rows, head=HEAD, **options):
    return read_scores([write("t.csv", head + rows)], ReadOptions(**options))


def values(table):
    return [array.ravel().tolist() for array in table.values]


GAPS = "A,1,m,1\nA,2,m,2\nA,3,m,3\nB,1,m,4\nB,2,m,\nB,4,m,6\n"


def test_missing_drop_paired(write):
    table = read(write, GAPS, missing="drop", allow_constant=True)
    assert table.samples == ("1",)
    assert values(table) == [[1.0], [4.0]]
    assert table.warnings == ("dropped 3 of 4 samples: they lack a score for some model or metric",)


def test_missing_drop_unpaired(write):
    table = read(write, GAPS, missing="drop", unpaired=True)
    assert table.samples == ("1", "2", "3", "4")
    assert values(table) == [[1.0, 2.0, 3.0], [4.0, 6.0]]
    assert [codes.tolist() for codes in table.clusters] == [[0, 1, 2], [0, 3]]
    assert not table.paired
    assert table.warnings == ("dropped 1 of 3 samples of B: they lack a score for some metric",)
    with pytest.raises(UsageError, match="the same samples of all models"):
        table.as_draws()


def test_unpaired_models_have_samples_of_their_own(write):
    table = read(write, "A,x,m,1\nA,y,m,2\nB,z,m,3\n", unpaired=True)
    assert table.samples == ("x", "y", "z")
    assert [codes.tolist() for codes in table.clusters] == [[0, 1], [2]]


def test_unpaired_still_refuses_missing_cells(write):
    with pytest.raises(InputError, match="row 6, column score: no score for model 'B', sample '2'"):
        read(write, GAPS, unpaired=True)


def test_missing_keep(write):
    table = read(write, GAPS, missing="keep")
    assert table.samples == ("1", "2", "3", "4")
    np.testing.assert_array_equal(table.as_draws()[:, :, 0, 0], [[1, 2, 3, np.nan], [4, np.nan, np.nan, 6]])
    np.testing.assert_array_equal(table.raw(1)[:, 0], [4, np.nan, np.nan, 6])


@pytest.mark.parametrize("text", ["", "NA", "null", "None", "N/A", "nan", "NaN"])
def test_what_counts_as_missing(write, text):
    table = read(write, f"A,1,m,1\nA,2,m,2\nB,1,m,4\nB,2,m,{text}\n", missing="drop")
    assert values(table) == [[1.0], [4.0]]


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_null_and_nan_in_other_formats(write, suffix):
    for gap in (None, float("nan")):
        frame = pl.DataFrame(
            {"model": ["A", "A", "B", "B"], "sample": [1, 2, 1, 2], "m": [1.0, 2.0, 4.0, gap]}
        )
        if suffix == "jsonl" and gap is not None:
            continue
        table = read_scores([write(f"t.{suffix}", frame)], ReadOptions(wide=True, missing="drop"))
        assert values(table) == [[1.0], [4.0]]


def test_infinity_is_never_missing(write):
    with pytest.raises(InputError, match="infinite"):
        read(write, "A,1,m,1\nA,2,m,2\nB,1,m,inf\nB,2,m,3\n", missing="drop")


REPEATED = "A,1,m,3\nA,1,m,1\nA,1,m,2.5\nB,1,m,0.1\nA,2,m,7\nB,2,m,8\nB,2,m,6\n"


def test_repeats_mean(write):
    table = read(write, REPEATED, repeats="mean")
    assert values(table) == [[6.5 / 3, 7.0], [0.1, 7.0]]
    assert not table.has_draws


def test_repeats_mean_keeps_a_half_missing_cell_missing(write):
    rows = "A,1,m,1\nA,1,m,\nB,1,m,4\nB,1,m,6\n"
    table = read(write, rows, repeats="mean", missing="keep")
    np.testing.assert_array_equal(table.as_draws()[:, 0, 0, 0], [np.nan, 5])


def test_repeats_mean_is_taken_after_the_transform(write):
    metrics = write("m.toml", '[m]\ntransform = "neg_log"')
    table = read(write, REPEATED, repeats="mean", metrics_file=metrics)
    assert table.values[1][1, 0] == pytest.approx(-(np.log(8) + np.log(6)) / 2, rel=1e-15)


def test_mean_of_equal_scores_is_that_score(write):
    table = read(write, "A,1,m,0.1\n" * 3 + "A,2,m,0.7\n" * 6 + "B,1,m,0.1\nB,2,m,0.7\n", repeats="mean")
    assert values(table) == [[0.1, 0.7], [0.1, 0.7]]


def test_the_worst_and_the_best_run(write):
    assert values(read(write, REPEATED, repeats="min")) == [[1.0, 7.0], [0.1, 6.0]]
    assert values(read(write, REPEATED, repeats="max")) == [[3.0, 7.0], [0.1, 8.0]]


@pytest.mark.parametrize("how", ["min", "max"])
def test_runs_that_pass_all_or_once(write, how):
    rows = "A,1,m,1\nA,1,m,0\nA,2,m,1\nA,2,m,1\nA,3,m,0\nA,3,m,0\n"
    rows += rows.replace("A,", "B,").replace("m,0", "m,1")
    passed = values(read(write, rows, repeats=how))
    assert passed == [[0.0, 1.0, 0.0] if how == "min" else [1.0, 1.0, 0.0], [1.0, 1.0, 1.0]]


def test_the_worst_run_of_a_lower_is_better_metric_is_the_largest(write):
    rows = "A,1,latency,3\nA,1,latency,9\nB,1,latency,4\nB,1,latency,5\n"
    table = read(write, rows, repeats="min", lower=("latency",))
    assert [table.raw(model).tolist() for model in range(2)] == [[[9.0]], [[5.0]]]
    table = read(write, rows, repeats="max", lower=("latency",))
    assert [table.raw(model).tolist() for model in range(2)] == [[[3.0]], [[4.0]]]


@pytest.mark.parametrize(("how", "kept"), [("min", 0.9), ("max", 0.1)])
def test_the_worst_run_is_taken_after_the_transform(write, how, kept):
    """A large probability of harm is bad once its logarithm is negated."""
    metrics = write("metrics.toml", '[toxicity]\ntransform = "neg_log"\n')
    rows = "A,1,toxicity,0.1\nA,1,toxicity,0.9\nB,1,toxicity,0.2\nB,1,toxicity,0.2\n"
    table = read(write, rows, repeats=how, metrics_file=metrics)
    assert table.raw(0)[0, 0] == pytest.approx(kept)


@pytest.mark.parametrize("how", ["min", "max"])
def test_a_run_without_a_score_leaves_the_sample_open_unless_dropped(write, how):
    rows = "A,1,m,3\nA,1,m,\nA,2,m,5\nB,1,m,1\nB,2,m,2\n"
    with pytest.raises(InputError, match="no score"):
        read(write, rows, repeats=how)
    table = read(write, rows, repeats=how, missing="drop")
    assert values(table)[0] == [3.0, 5.0]
    assert f"took the {'worst' if how == 'min' else 'best'} run without 1 repeats" in table.warnings[0]


def test_unequal_numbers_of_runs_are_named(write):
    rows = "A,1,m,3\nA,1,m,4\nA,2,m,5\nB,1,m,1\nB,2,m,2\n"
    assert read(write, rows, repeats="mean").warnings == ()
    (text,) = read(write, rows, repeats="min").warnings
    assert text.startswith(
        "the models have 1 to 2 runs a sample: more runs make the worst of them worse; pass^k"
    )
    (text,) = read(write, rows, repeats="max").warnings
    assert "the best of them better; pass@k" in text
    fair = "A,1,m,3\nA,1,m,4\nA,2,m,5\nB,1,m,1\nB,1,m,7\nB,2,m,2\n"
    assert all("the models have" not in text for text in read(write, fair, repeats="min").warnings)
    assert "the models have" in read(write, fair, repeats="min", unpaired=True).warnings[0]


def test_repeats_draws_of_one_metric(write):
    table = read(write, REPEATED, repeats="draws")
    assert values(table) == [[1.0, 2.5, 3.0, 7.0], [0.1, 6.0, 8.0]]
    assert [codes.tolist() for codes in table.clusters] == [[0, 0, 0, 1], [0, 1, 1]]
    assert table.has_draws
    assert table.paired


def test_draws_of_one_metric_are_sorted_after_orientation(write):
    table = read(write, REPEATED, repeats="draws", lower=("m",))
    assert values(table) == [[-3.0, -2.5, -1.0, -7.0], [-0.1, -8.0, -6.0]]


def test_draws_of_several_metrics_need_a_link(write):
    rows = "A,1,m,1\nA,1,m,2\nA,1,n,3\nA,1,n,4\nB,1,m,5\nB,1,n,6\n"
    with pytest.raises(InputError, match="belong to the same draw") as caught:
        read(write, rows, repeats="draws")
    assert "--columns draw=" in caught.value.lines(flags=True)[2]
    assert values(read(write, rows, repeats="draws", metric=("n",))) == [[3.0, 4.0], [6.0]]
    # Nothing is repeated: there is nothing to link.
    single = "A,1,m,1\nA,1,n,3\nB,1,m,5\nB,1,n,6\n"
    assert values(read(write, single, repeats="draws")) == [[1.0, 3.0], [5.0, 6.0]]


DRAW_HEAD = "model,sample,metric,score,{}\n"
LINKED = "A,1,m,9,x\nA,1,m,2,y\nA,1,n,3,x\nA,1,n,4,y\nB,1,m,5,x\nB,1,n,6,x\n"


@pytest.mark.parametrize(("name", "columns"), [("draw", None), ("run", "draw=run")])
def test_draw_column_links_metrics(write, name, columns):
    table = read(write, LINKED, DRAW_HEAD.format(name), repeats="draws", columns=columns)
    assert values(table) == [[2.0, 4.0, 9.0, 3.0], [5.0, 6.0]]
    assert table.has_draws


def test_draw_column_under_the_other_rules(write):
    with pytest.raises(InputError, match="a second score"):
        read(write, LINKED, DRAW_HEAD.format("draw"))
    table = read(write, LINKED, DRAW_HEAD.format("draw"), repeats="mean")
    assert values(table) == [[5.5, 3.5], [5.0, 6.0]]


def test_draws_with_gaps(write):
    rows = LINKED.replace("A,1,n,4,y", "A,1,n,,y") + "B,2,m,1,x\nA,2,m,1,x\nA,2,n,,x\nB,2,n,1,x\n"
    head = DRAW_HEAD.format("draw")
    with pytest.raises(
        InputError, match="row 5, column score: no score for model 'A', sample '1', metric 'n'"
    ):
        read(write, rows, head, repeats="draws")
    table = read(write, rows, head, repeats="draws", missing="drop")
    assert values(table) == [[9.0, 3.0], [5.0, 6.0]]
    assert table.warnings == (
        "dropped 1 of 2 samples: they lack a score for some model or metric",
        "dropped 1 draws that lack a score for some metric",
    )


def test_mean_with_gaps(write):
    rows = "A,1,m,1\nA,1,m,\nB,1,m,2\n"
    with pytest.raises(InputError, match="row 3, column score: no score"):
        read(write, rows, repeats="mean")
    table = read(write, rows, repeats="mean", missing="drop")
    assert values(table) == [[1.0], [2.0]]
    assert table.warnings == ("averaged without 1 repeats that have no score",)


def test_wide_rows_are_draws(write):
    head = "model,sample,m,o\n"
    rows = "A,1,9,3\nA,1,2,4\nB,1,5,6\n"
    with pytest.raises(InputError, match="row 3, column m: a second score"):
        read(write, rows, head, wide=True)
    table = read(write, rows, head, wide=True, repeats="draws")
    assert values(table) == [[2.0, 4.0, 9.0, 3.0], [5.0, 6.0]]
    assert values(read(write, rows, head, wide=True, repeats="mean")) == [[5.5, 3.5], [5.0, 6.0]]


def test_a_wide_draw_column_is_no_metric(write):
    table = read(write, "A,1,9,1\nA,1,2,2\nB,1,5,1\n", "model,sample,m,draw\n", wide=True, repeats="draws")
    assert [spec.name for spec in table.metrics] == ["m"]
    with pytest.raises(InputError, match="same draw occurs twice"):
        read(write, "A,1,9,1\nA,1,2,1\nB,1,5,1\n", "model,sample,m,draw\n", wide=True, repeats="draws")


def test_wide_index_and_empty_columns_are_ignored(write):
    table = read(write, "0,A,1,9,\n1,B,1,2,\n", ",model,sample,m,hole\n", wide=True)
    assert [spec.name for spec in table.metrics] == ["m"]


def test_model_level_table(write):
    text = "model,acc,co2\nA,1,2\nB,3,4\n"
    table = read_scores([write("t.csv", text)], ReadOptions(wide=True, sample_optional=True))
    assert table.samples == ("",)
    assert table.as_draws()[:, 0, 0].tolist() == [[1.0, -2.0], [3.0, -4.0]]
    with pytest.raises(
        InputError, match="row 4, column acc: a second score for model 'B', metric 'acc'"
    ) as caught:
        read_scores([write("t.csv", text + "B,1,2\n")], ReadOptions(wide=True, sample_optional=True))
    assert "--columns sample=" in caught.value.lines(flags=True)[2]


def test_sparse_unpaired_tables_stay_small(write):
    """Every model has its own samples: the table of all pairs would be far larger than the rows."""
    rows = "".join(f"m{i},m{i}s{j},x,{i + j}\n" for i in range(40) for j in range(50))
    table = read(write, rows, unpaired=True)
    assert [array.shape for array in table.values] == [(50, 1)] * 40
    for i, model in enumerate(table.models):
        for code, value in zip(table.clusters[i], table.values[i][:, 0], strict=True):
            name = table.samples[code]
            assert value == int(model[1:]) + int(name.split("s")[1])


CELLS = st.dictionaries(
    st.tuples(st.sampled_from("ABC"), st.sampled_from("1234"), st.sampled_from("mn")),
    st.one_of(st.none(), st.floats(-5, 5)),
    min_size=8,
)


@settings(max_examples=40)
@given(CELLS, st.booleans())
def test_drop_against_brute_force(cells, unpaired):
    models = sorted({key[0] for key in cells})
    metrics = sorted({key[2] for key in cells})

    def complete(model, sample):
        return all(cells.get((model, sample, metric)) is not None for metric in metrics)

    kept = {
        model: [s for s in "1234" if all(complete(m, s) for m in ([model] if unpaired else models))]
        for model in models
    }
    text = HEAD + "".join(f"{m},{s},{t},{'' if x is None else repr(x)}\n" for (m, s, t), x in cells.items())
    options = ReadOptions(
        input_format="csv", missing="drop", unpaired=unpaired, allow_constant=True, min_models=1
    )
    if not all(kept.values()):
        with pytest.raises(InputError):
            read_scores(["-"], options, io.BytesIO(text.encode()))
        return
    table = read_scores(["-"], options, io.BytesIO(text.encode()))
    assert table.models == tuple(models)
    for i, model in enumerate(models):
        assert [table.samples[code] for code in table.clusters[i]] == kept[model]
        expected = [[cells[model, s, t] for t in metrics] for s in kept[model]]
        assert table.values[i].tolist() == expected
