"""Layouts of result files that are common in public repositories, with invented numbers."""

import itertools
import json

import numpy as np
import openpyxl
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, spell
from riskrank.options.reading import RankReading, ReadOptions
from riskrank.scores.files.opening import open_sources
from riskrank.scores.files.source import FrameSource
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.score_table import read_scores

RNG = np.random.default_rng(61)


def crossed(**levels):
    """Return a data frame with a row for every combination of values."""
    return pl.DataFrame([*itertools.product(*levels.values())], schema=[*levels], orient="row")


def scored(frame, *names, low=0.0):
    """Return a frame with columns of random scores."""
    return frame.with_columns(pl.Series(name, low + RNG.random(frame.height).round(3)) for name in names)


TABLES = {
    "aspects": scored(crossed(worker=range(8), sentence=range(20), aspect=["fluency", "meaning"]), "rating"),
    "ranks": pl.DataFrame(
        {"type": "a", "case": range(9)} | {f"m{j}": [(i + j) % 2 + 1.0 for i in range(9)] for j in (0, 1)}
    ),
    "experiments": scored(
        crossed(dataset=["d1", "d2", "d3"], model=["x", "y", "z"], activation=[f"f{i}" for i in range(5)]),
        "test_accuracy",
    ).with_columns(experiment_name=pl.concat_str("dataset", "model", "activation", separator="_")),
    "timings": scored(
        crossed(dim=[10, 20, 50, 100], lib=["ant", "bee"]), "Score", "Score Error (99.9%)"
    ).with_columns(Threads=1, Samples=3),
    "means of languages": pl.DataFrame(
        {"codec": list("abc"), "hindi": [0.1, 0.2, 0.6], "tamil": [0.3, 0.4, 0.2], "MEAN": [0.2, 0.3, 0.4]}
    ),
    "evaluators": pl.DataFrame(
        {"index": list("abc"), "Accuracy": [0.8, 0.7, 0.9], "Price": [2.0, 1, 3], "Variance": [0.1, 0.2, 0.3]}
    ),
    "properties": pl.DataFrame(
        {"Dataset": [f"d{i}" for i in range(12)], "Imbalance": RNG.random(12)}
        | {name: RNG.integers(1, 50, 12) for name in ("#instances", "#features", "#classes")}
    ),
    "sizes of models": pl.DataFrame(
        {"model": list("aabc"), "img_size": [224, 384, 224, 224], "top1": [80.5, 81, 79, 60]}
        | {"top5": [95.5, 96, 94, 80]}
    ),
    "names": pl.DataFrame(
        {"name": list("abc"), "win_rate": [50.1, 40, 30], "length_controlled_winrate": [48.2, 41, 30]}
    ),
    "speeds": pl.DataFrame(
        {"model": list("abc"), "samples_per_sec": [9.5, 7, 5], "step_time": [1.5, 2, 3], "gmacs": [9.0, 4, 1]}
    ),
    "repeated timings": pl.DataFrame({"model": ["a"] * 12 + ["b"] * 12, "time": 1 + RNG.random(24)}),
    "failures": scored(
        crossed(solver=["a", "b"], problem=[f"p{i}" for i in range(12)]), "found", "gap"
    ).with_columns(gap=pl.when(pl.int_range(24) % 5 == 0).then(float("inf")).otherwise("gap")),
    "friedman": scored(
        crossed(algorithm=["a", "b"], dataset=[f"d{i}" for i in range(24)]), "r2_test"
    ).with_columns(friedman_dataset=pl.col("dataset").str.contains("[02468]$"))[1:],
}


def refusal(source, **options):
    """Return the error for a table that cannot be tested, and its suggested lines."""
    sources = [FrameSource(source)] if isinstance(source, pl.DataFrame) else [str(source)]
    with pytest.raises(InputError) as caught:
        read_scores(sources, RankReading(tests=True, **options))
    error = caught.value
    return spell(" ".join(error.lines()), flags=True), [
        spell(text, flags=True) for text, _ in error.suggestions
    ]


def reading(frame, **options):
    """Return the table, and the note on its layout."""
    table = read_scores([FrameSource(frame)], RankReading(tests=True, **options))
    return table, next(text for text in table.warnings if text.startswith("Read as "))


def test_aspects_of_a_rating_are_no_models():
    message, lines = refusal(TABLES["aspects"])
    assert "missing columns 'model', 'sample'" in message
    assert not lines


def test_ranks_of_models_are_better_if_lower():
    _, lines = refusal(TABLES["ranks"])
    assert "--lower score" in lines[0]
    ranks = inspect_scores([FrameSource(TABLES["ranks"])], ReadOptions())
    assert [spec.direction for spec in ranks.specs] == ["lower"]


def test_a_name_of_each_row_gives_way_to_columns_that_the_models_share():
    _, note = reading(TABLES["experiments"])
    assert "sample (dataset+activation)" in note


def test_constants_and_errors_of_scores_are_no_metrics():
    _, lines = refusal(TABLES["timings"])
    assert lines[0] == "--columns model=lib,sample=dim --wide --metric Score"


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("means of languages", "copa --higher '*' --columns model=codec"),
        ("evaluators", "copa --lower Price --higher '*'"),
        ("sizes of models", "copa --higher '*' --columns model=model+img_size"),
        ("names", "copa --higher '*' --columns model=name"),
        ("speeds", "copa --lower step_time --lower gmacs --higher '*'"),
    ],
)
def test_tables_of_one_row_per_model_are_offered_to_copa(kind, line):
    message, lines = refusal(TABLES[kind])
    assert "has no samples, so nothing can be tested" in message
    assert [text.replace('"*"', "'*'") for text in lines] == [line]
    words = line.split()[1:]
    options = {}
    for flag, value in zip(words[::2], words[1::2], strict=True):
        name, value = flag[2:], value.strip("'")
        options[name] = value if name == "columns" else [*options.get(name, []), value]
    assert len(rr.copa(TABLES[kind], **options).rows) == TABLES[kind].height


def test_counts_of_data_sets_are_no_models():
    message, lines = refusal(TABLES["properties"])
    assert "missing columns" in message
    assert not lines


def test_measurements_without_samples_can_be_numbered():
    _, lines = refusal(TABLES["repeated timings"])
    assert (
        lines == ['--sql "SELECT *, ROW_NUMBER() OVER () AS sample FROM scores" --unpaired']
        or "ROW_NUMBER" in lines[0]
    )


def test_metrics_without_infinite_scores_are_offered():
    _, lines = refusal(TABLES["failures"])
    assert lines
    assert all("--metric found" in line and "--metric gap" not in line for line in lines)


def test_yes_and_no_are_no_tasks_of_a_suite():
    table, _ = reading(TABLES["friedman"])
    assert not table.suite
    assert table.options.missing == "shared"


def test_ranks_within_longer_names_are_no_metrics():
    frame = scored(crossed(model=["a", "b"], qid=range(12)), "mrr").with_columns(
        gold_rank=1 + pl.int_range(24) % 5
    )
    table, note = reading(frame)
    assert [metric.name for metric in table.metrics] == ["mrr"]
    assert "gold_rank (a rank)" in note


def test_means_of_several_quantities_are_no_averages_of_the_others():
    names = ["MSE[mean]", "MSE[0.5]", "MAE[0.5]", "RMSE[mean]", "MASE[0.5]"]
    frame = scored(crossed(model=["a", "b"], dataset=[f"d{i}" for i in range(12)]), *names)
    table, _ = reading(frame)
    assert {metric.name for metric in table.metrics} == {*names}
    board = pl.DataFrame(
        {
            "model": ["a", "b", "c"],
            "acc_mean": [0.8, 0.7, 0.6],
            "acc_std": [0.1] * 3,
            "auc_mean": [0.9, 0.7, 0.8],
        }
    )
    inspection = inspect_scores([FrameSource(board)], ReadOptions(sample_optional=True))
    assert [row.metric for row in inspection.metrics] == ["acc_mean", "auc_mean"]


def test_a_constant_iteration_is_no_step_of_a_training_run():
    frame = scored(crossed(name=["a", "b"], benchmark=["x", "y"], run=[1, 2], iter=[3]), "duration").drop(
        "run"
    )
    assert "steps of a training run" not in refusal(frame)[0]


def test_numbers_of_forecasts_are_no_predictions():
    frame = scored(crossed(model_name=["a", "b"], task=[f"t{i}" for i in range(12)]), "MASE")
    table, _ = reading(frame.with_columns(num_forecasts=pl.int_range(24) + 7, target=pl.lit("load")))
    assert [metric.name for metric in table.metrics] == ["MASE"]


def test_metrics_above_a_second_header_leave_the_models_to_the_rows(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Method", "sMAPE", None, "MASE", None])
    sheet.append(["User ID", "Yearly", "Daily", "Yearly", "Daily"])
    for name in ("Naive", "Theta", "Comb"):
        sheet.append([name, *RNG.random(4).round(3).tolist()])
    book.save(tmp_path / "m.xlsx")
    table = read_scores([f"{tmp_path}/m.xlsx"], ReadOptions())
    assert {*table.models} == {"Naive", "Theta", "Comb"}
    assert {metric.name for metric in table.metrics} == {"sMAPE", "MASE"}


def write_json(folder, document):
    path = folder / "results.json"
    path.write_text(json.dumps(document))
    return path


def test_each_time_of_a_run_is_a_measurement(tmp_path):
    runs = [
        {"command": name, "mean": 1.0, "user": 2.0, "system": 3.0, "times": (at + RNG.random(12)).tolist()}
        for at, name in enumerate(("old --fast", "new --fast"), 1)
    ]
    path = write_json(tmp_path, {"results": runs})
    _, lines = refusal(path)
    assert lines == ["--wide --unpaired"]
    result = rr.rank(str(path), unpaired=True, resamples=200)
    assert result.verdict.startswith("Ship old --fast")


def test_keys_of_objects_with_texts_name_the_rows(tmp_path):
    entry = {"link": "https://a.example", "pass": {"base": 81.5, "plus": 77.5}, "size": 7.0}
    document = {name: entry | {"size": at} for at, name in enumerate(("a", "b", "c"))}
    message, lines = refusal(write_json(tmp_path, document))
    assert "3 rows, one per model (name)" in message
    assert lines == ["copa --higher '*' --columns model=name"]


def test_keys_of_inner_objects_are_kept_as_an_index(tmp_path):
    document = {
        name: {"Arena": "-" if name == "a" else "51.3", "Elo": 1200 + at} for at, name in enumerate("abc")
    }
    (source,) = open_sources([str(write_json(tmp_path, document))])
    assert source.load(["index"])["index"].to_list() == ["Arena", "Elo"]


def test_nested_scores_with_gaps_are_offered_as_models_and_samples(tmp_path):
    document = {f"game{i}": {f"agent{j}": i + j for j in range(4) if (i + j) % 7} for i in range(60)}
    _, lines = refusal(write_json(tmp_path, document))
    assert lines[0] == "--columns model=level_2,sample=level_1 --wide --metric score --missing shared"
