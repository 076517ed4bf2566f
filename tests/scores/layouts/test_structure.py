"""Readings that follow from the structure of a table: what varies within what, what numbers mean."""

from itertools import product

import numpy as np
import polars as pl
import pytest

import riskrank as rr
from riskrank.errors import InputError, RiskrankError
from riskrank.options.reading import RankReading, ReadOptions
from riskrank.scores.files.source import FrameSource
from riskrank.scores.layouts.column_profiles import Columns
from riskrank.scores.table.inspection import inspect_scores
from riskrank.scores.table.score_table import read_scores
from riskrank.studies.suites.section import suite_outline

RNG = np.random.default_rng(61)
SAMPLES = [f"s{number}" for number in range(20)]


def read(frame, **options):
    return read_scores([FrameSource(frame)], RankReading(tests=True, weighs_tasks=True, **options))


def reasons(**columns):
    """Return the reason to exclude each column."""
    return Columns(pl.DataFrame(columns), [*columns]).split_scores(columns)[1]


def crossed(models, samples, **columns):
    """Return a row for every model and sample, with further columns of values per row."""
    rows = [*product(models, samples)]
    frame = pl.DataFrame({"model": [row[0] for row in rows], "sample": [row[1] for row in rows]})
    return frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()})


def test_numbers_that_are_no_scores_are_recognised_by_value():
    acc = RNG.random(20)
    excluded = reasons(
        accuracy=acc,
        error=1 - acc,
        quality=acc,
        tstamp=1.7e9 + RNG.random(20),
        accuracy_lo=acc - 0.1,
        std_accuracy=acc / 9,
    )
    assert excluded == {
        "error": "a copy of another column",
        "quality": "a copy of another column",
        "tstamp": "a time stamp",
        "accuracy_lo": "a measure of spread or a count",
        "std_accuracy": "a measure of spread or a count",
    }
    assert reasons(memory=1.5e9 + RNG.random(20), f1=acc) == {}


def test_average_is_called_a_mean_only_if_it_is_one():
    a, b = RNG.random(12), RNG.random(12)
    assert reasons(a=a, b=b, average=(a + b) / 2) == {"average": "the mean of other columns"}
    assert reasons(a=a, b=b, c=b * 2, average=a) == {"average": "an average"}


def test_properties_of_models_and_columns_of_some_models_are_no_metrics():
    frame = crossed(
        "ab",
        SAMPLES,
        accuracy=RNG.random(40),
        zeta=[1.0] * 20 + [2.0] * 20,
        eta=[*RNG.random(20), *[None] * 20],
    )
    table = read(frame)
    assert [spec.name for spec in table.metrics] == ["accuracy"]
    assert "zeta (a model setting)" in table.warnings[0]
    assert "eta (not for all models)" in table.warnings[0]


def worst_rows():
    """Return each model's five worst samples, ranked by their error."""
    errors = np.sort(RNG.random((2, 5)), axis=1)[:, ::-1]
    names = [f"u{number}" for number in range(10)]
    columns = {"model": ["a"] * 5 + ["b"] * 5, "clip": names, "rank": [1, 2, 3, 4, 5] * 2}
    return pl.DataFrame(columns | {"wer": errors.ravel()})


def test_samples_selected_by_their_scores_are_not_compared():
    with pytest.raises(InputError, match="selected by their scores") as caught:
        read(worst_rows())
    assert "rank ranks the rows of each model by wer" in caught.value.found


def test_rank_of_shared_samples_is_neither_sample_nor_metric():
    wer = RNG.random((2, 20))
    ranks = wer.argsort(axis=1).argsort(axis=1) + 1
    table = read(crossed("ab", SAMPLES, rank=ranks.ravel(), wer=wer.ravel()).rename({"sample": "clip"}))
    assert ([spec.name for spec in table.metrics], len(table.samples)) == (["wer"], 20)


@pytest.mark.parametrize("name", ["InceptionTime", "PPV_base"])
def test_metric_word_in_one_name_does_not_decide_about_the_others(name):
    models = {column: RNG.random(12) for column in (name, "alpha", "beta", "gamma")}
    table = read(pl.DataFrame({"dataset": SAMPLES[:12], **models}))
    assert len(table.models) == 4


def test_properties_of_data_sets_are_not_models():
    detectors = {name: RNG.random(12) for name in ("LOF", "KNN", "PCA", "MCD")}
    sizes = {"#Samples": RNG.integers(100, 9000, 12), "# Dimensions": RNG.integers(20, 90, 12)}
    with pytest.raises(InputError) as caught:
        read(pl.DataFrame({"Data": SAMPLES[:12]} | sizes | detectors))
    assert len(caught.value.suggestions) == 2  # one reading, in both directions
    assert all("LOF,KNN,PCA,MCD" in text for text, _ in caught.value.suggestions)


def board(**further):
    tasks = {
        f"{task} WER": 4 + 9 * RNG.random(7) for task in ("ami", "tedlium", "earnings", "ls", "vox", "giga")
    }
    return pl.DataFrame({"model": list("abcdefg"), **further, **tasks})


def test_leaderboard_ignores_what_else_stands_in_it():
    frame = board(RTFx=[300.0, -1, 20, 30, 1000, 5, 7], **{"Avg. WER": RNG.random(7) * 9}, license=["x"] * 7)
    table = read(frame)
    assert ([spec.name for spec in table.metrics], len(table.samples)) == (["wer"], 6)
    assert "RTFx (no wer)" in table.warnings[0]


def test_leaderboard_of_an_unknown_metric_asks_for_its_direction():
    tasks = {f"de_{task}": 3 + RNG.exponential(3, 9) for task in "uvwxyz"}
    frame = pl.DataFrame({"model": list("abcdefghi"), **tasks})
    with pytest.raises(InputError, match="several possible readings") as caught:
        read(frame)
    assert [text.count("lower") for text, _ in caught.value.suggestions] == [1, 0]


def test_submissions_are_models_and_not_their_architectures():
    frame = board(architecture=list("xxyyzzz")).rename({"model": "eval_name"})
    assert len(read(frame).models) == 7


def test_settings_name_models_if_nothing_else_does():
    frame = pl.DataFrame(
        [*product(range(12), (1.0, 2.0), (0.2, 0.5))], schema=["query", "k1", "b"], orient="row"
    )
    frame = frame.with_columns(query=pl.format("q{}", "query"), mrr=RNG.random(48))
    with pytest.raises(InputError) as caught:
        read(frame)
    assert "model=k1+b,sample=query" in caught.value.suggestions[0][0]


def test_summary_with_too_few_rows_says_so():
    with pytest.raises(InputError, match="at least 10 samples") as caught:
        rr.rank(pl.DataFrame({"theme": SAMPLES[:7], "mlp": RNG.random(7), "fcn": RNG.random(7)}))
    assert caught.value.found.startswith("7, with ")


def test_queries_are_samples_and_not_their_folds():
    frame = crossed("ab", SAMPLES, ndcg=RNG.random(40)).rename({"model": "system", "sample": "query_id"})
    table = read(frame.with_columns(fold=pl.Series([number % 5 for number in range(20)] * 2)))
    assert len(table.samples) == 20


def test_segments_numbered_within_data_sets_form_a_suite():
    frame = pl.concat(
        [
            crossed("ab", range(12), comet=RNG.random(24)).with_columns(dataset=pl.lit(name))
            for name in ("x", "y")
        ]
    )
    table = read(frame.rename({"sample": "segment"}))
    assert table.suite.names == ("x", "y")


@pytest.mark.slow
def test_every_column_in_every_role_is_read_or_refused():
    """Joined columns and unusual roles end in a table or in an error of three lines."""
    columns = ["model", "dataset", "segment", "kind", "score"]
    parts = ["model+kind", "dataset+segment", *columns]
    frame = pl.DataFrame(
        [(m, d, s, "xy"[s % 2], RNG.random()) for m, d, s in product("ab", "uvw", range(4))],
        schema=columns,
        orient="row",
    )
    outcomes = set()
    for model, sample, wide in product(parts, parts, (False, True)):
        options = {"columns": f"model={model},sample={sample}", "wide": wide}
        for read_table in (read_scores, inspect_scores):
            try:
                read_table([FrameSource(frame)], ReadOptions(**options))
                outcomes.add("read")
            except RiskrankError:
                outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_few_samples_with_many_runs_are_tasks():
    rows = [*product(["new", "old"], ["ls", "env", "x"], range(12))]
    frame = pl.DataFrame(rows, schema=["branch", "command", "run"], orient="row")
    frame = frame.with_columns(time_s=pl.Series(RNG.random(len(rows))))
    table = read(frame, lower=("time_s",))
    assert table.suite.names == ("env", "ls", "x")
    assert len(table.samples) == 36
    # With fewer runs, no task could be tested.
    few = read(frame.filter(pl.col("run") < 5), lower=("time_s",))
    assert not few.suite
    assert few.has_repeats


def test_a_named_task_numbers_its_samples():
    rows = [*product(["new", "old"], [f"t{at}" for at in range(12)], range(15))]
    frame = pl.DataFrame(rows, schema=["branch", "scenario", "trial"], orient="row")
    frame = frame.with_columns(time_s=pl.Series(RNG.random(len(rows))))
    table = read(frame, lower=("time_s",), task="scenario")
    assert (len(table.suite.names), len(table.samples)) == (12, 180)


def test_cases_of_several_tasks_count_once_per_task():
    rows = [(m, t, c, RNG.random()) for m, t, c in product("ab", "xyz", range(50)) if t == "z" or c < 30]
    frame = pl.DataFrame(rows, schema=["alg", "task", "case", "value"], orient="row")
    table = read(frame, columns="model=alg,sample=case+task", wide=True, task="task", cluster="case")
    assert suite_outline(table).samples == (30, 30, 50)


def test_time_of_a_column_named_sample_is_refused():
    frame = pl.DataFrame({"sample": [f"u{at // 2}" for at in range(12)], "b": RNG.random(12)})
    with pytest.raises(InputError, match="missing column"):
        rr.check(frame, time="sample")


def test_columns_of_a_single_model_do_not_describe_samples():
    """One declared metric does not exclude the others, which have one value per sample."""
    rng = np.random.default_rng(4)
    columns = {name: rng.random(30).round(3) for name in ("correct", "grade", "latency")}
    frame = pl.DataFrame({"model": ["m"] * 30, "sample": [f"s{i}" for i in range(30)], **columns})
    for rows in (frame, pl.concat([frame, frame[:5]])):
        options = {"metrics": {"latency": {"direction": "lower"}}, "repeats": "mean"}
        assert [row.metric for row in rr.check(rows, **options).rows] == ["correct", "grade", "latency"]


def files_of_prompts(folder, *, number="id", first=(1, 1001), repeated=False):
    """Write two files that number the same prompts differently, and return their paths."""
    prompts = [f"Name the capital of country {number}" for number in range(60)]
    prompts[-1] = prompts[0] if repeated else prompts[-1]
    paths = [f"{folder}/old.csv", f"{folder}/new.csv"]
    for path, start, step in zip(paths, first, (1, 7), strict=True):
        order = [index * step % 60 for index in range(60)]
        columns = {number: range(start, start + 60), "prompt": [prompts[index] for index in order]}
        pl.DataFrame(columns | {"score": [index % 3 / 2 for index in order]}).write_csv(path)
    return paths


@pytest.mark.parametrize("number", ["id", "sample"])
@pytest.mark.parametrize("first", [(1, 1001), (1, 1)])
def test_files_with_other_record_numbers_are_paired_by_their_texts(tmp_path, number, first):
    table = read_scores(files_of_prompts(tmp_path, number=number, first=first), RankReading(tests=True))
    assert f"paired by prompt, as {number} differs between the files" in "".join(table.warnings)
    assert [metric.name for metric in table.metrics] == ["score"]
    old, new = table.values
    np.testing.assert_array_equal(old, new)


def test_files_whose_record_numbers_agree_are_paired_by_number(tmp_path):
    for path in files_of_prompts(tmp_path, repeated=True):
        frame = pl.read_csv(path).with_columns(pl.col("prompt").rank("dense").alias("id"))
        order = frame["prompt"].to_frame().with_row_index("at").sort("prompt", "at")["at"]
        numbers = pl.Series("id", np.argsort(order.to_numpy()))
        token = pl.Series("tokens", 100 + 7 * numbers.to_numpy() + ("new" in path.split("/")[-1]))
        frame.with_columns(numbers, token).write_csv(path)
    table = read_scores([f"{tmp_path}/{name}.csv" for name in ("old", "new")], RankReading(tests=True))
    assert "paired by" not in "".join(table.warnings)
    assert len(table.samples) == 60


def test_rows_of_a_repeated_text_are_averaged(tmp_path):
    table = read_scores(files_of_prompts(tmp_path, repeated=True), RankReading(tests=True))
    assert "paired by prompt, as id differs between the files" in "".join(table.warnings)
    assert "rows with the same prompt are averaged" in "".join(table.warnings)
    assert len(table.samples) == 59


def test_other_record_numbers_without_equal_texts_are_refused_as_samples(tmp_path):
    for name, start in (("old", 0), ("new", 100)):
        texts = [f"{name} {number}" for number in range(20)]
        columns = {"sample": range(start, start + 20), "answer": texts, "score": [0.0, 1.0] * 10}
        pl.DataFrame(columns).write_csv(tmp_path / f"{name}.csv")
    with pytest.raises(InputError, match="not scored on the same samples"):
        read_scores([f"{tmp_path}/{name}.csv" for name in ("old", "new")], RankReading(tests=True))
