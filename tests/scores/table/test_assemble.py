"""Repeats, gaps and pairing."""

import io

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from riskrank.errors import InputError, UsageError
from riskrank.options.reading import ReadOptions
from riskrank.scores.table.score_table import read_scores

HEAD = "model,sample,metric,score\n"


def read(write, rows, head=HEAD, **options):
    return read_scores([write("t.csv", head + rows)], ReadOptions(**options))


def values(table):
    return [array.ravel().tolist() for array in table.values]


GAPS = "A,1,m,1\nA,2,m,2\nA,3,m,3\nB,1,m,4\nB,2,m,\nB,4,m,6\n"


def test_missing_drop_unpaired(write):
    table = read(write, GAPS, missing="drop", unpaired=True)
    assert table.samples == ("1", "2", "3", "4")
    assert values(table) == [[1.0, 2.0, 3.0], [4.0, 6.0]]
    assert [codes.tolist() for codes in table.clusters] == [[0, 1, 2], [0, 3]]
    assert not table.paired
    assert table.warnings == ("dropped 1 of 3 samples of B: a score is missing for some metric",)
    with pytest.raises(UsageError, match="the same samples for all models"):
        table.score_array()


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


REPEATED = "A,1,m,3\nA,1,m,1\nA,1,m,2.5\nB,1,m,0.1\nA,2,m,7\nB,2,m,8\nB,2,m,6\n"


def test_sparse_unpaired_tables_stay_small(write):
    """Models have disjoint samples: a dense table would be far larger than the rows."""
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


@pytest.mark.slow
@settings(max_examples=40)
@given(CELLS, st.booleans())
def test_drop_against_brute_force(cells, unpaired):
    models = sorted({key[0] for key in cells})
    metrics = sorted({key[2] for key in cells})

    def complete(model, sample):
        return all(cells.get((model, sample, metric)) is not None for metric in metrics)

    complete_samples = {
        model: [s for s in "1234" if all(complete(m, s) for m in ([model] if unpaired else models))]
        for model in models
    }
    text = HEAD + "".join(f"{m},{s},{t},{'' if x is None else repr(x)}\n" for (m, s, t), x in cells.items())
    options = ReadOptions(
        input_format="csv", missing="drop", unpaired=unpaired, allow_constant=True, min_models=1
    )
    if not all(complete_samples.values()):
        with pytest.raises(InputError):
            read_scores(["-"], options, io.BytesIO(text.encode()))
        return
    table = read_scores(["-"], options, io.BytesIO(text.encode()))
    assert table.models == tuple(models)
    for i, model in enumerate(models):
        assert [table.samples[code] for code in table.clusters[i]] == complete_samples[model]
        expected = [[cells[model, s, t] for t in metrics] for s in complete_samples[model]]
        assert table.values[i].tolist() == expected
